/*
 * environment.h: what a harness gets of our environment: PATH, HOME, TERM, the language, TMPDIR,
 * proxies and certificates, and the variables of its own adapter; never the keys of another one.
 */
#ifndef DT_HARNESS_ENVIRONMENT_H
#define DT_HARNESS_ENVIRONMENT_H

#include "src/harness/adapter.h"

/* NULL-ended, in the arena, in this order of weight: the input's `env`, PORT and ARTIFACTS_DIR of
 * the input, our own, the adapter's settings. `input` NULL: without credentials, for a probe. */
const char *const *harness_environment(
	struct arena *a, const struct harness *h, const struct harness_input *input);
/* The value of NAME in `env`, or NULL. */
const char *environment_get(const char *const *env, const char *name);

/* Where `binary` is: absolute, in an absolute folder of PATH, since a relative one would mean the
 * folder that the agent works in. NULL: nowhere. *blocked: it is there but may not be run. */
const char *harness_binary(struct arena *a, const char *binary, bool *blocked);

#endif
