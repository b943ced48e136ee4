/*
 * settings.h: the settings of a repository, REPO/.dev-team/config.yaml. `dev-team init` writes it;
 * docs/verbs.md describes its keys.
 */
#ifndef DT_SETTINGS_H
#define DT_SETTINGS_H

#include "src/base/buf.h"

#define SETTINGS_FILE ".dev-team/config.yaml"

/* Each is NULL where it is not set. */
struct settings {
	const char *workflow; /* of items that name none: a name, or a path */
	const char *key;      /* of the ids of new items: SHOP of SHOP-7 */
	const char *specs;    /* directory of new specs, relative to the repository */
	const char *harness;  /* of a `run` without agents: `NAME[,NAME...]` */
};

/* No file: nothing is set. A `workflow` with a `/` in it is completed to an absolute path. -1: also
 * ERR_INPUT with the place. */
int settings_load(struct arena *a, const char *repo, struct settings *out, struct error *err);

/* A letter, then letters, digits and `_`; at most 20 bytes. */
bool settings_key_valid(struct str text);

#endif
