/*
 * run_artifact.h: the artifact of a stage that `run` has served: asked for in the prompt, taken
 * from its file or out of the agent's last message, held to its schema before the answer counts.
 */
#ifndef DT_RUN_ARTIFACT_H
#define DT_RUN_ARTIFACT_H

#include "src/event/artifact_schema.h"
#include "src/config/resource.h"

/* False: the stage (may be NULL) declares none. Texts in the arena. */
bool run_artifact_wanted(struct arena *a, const struct stage_spec *stage, const char *version,
	const char *dir, const char *issue, struct artifact_target *out);
/* What an earlier run left goes; the prompt says what is wanted, and how to hand it over. */
int run_artifact_ask(
	struct arena *a, const struct artifact_target *want, struct buf *prompt, struct error *err);
/*
 * The block of the last message, if there is one, becomes the file. *rest: the message without it.
 */
int run_artifact_take(struct arena *a, const struct artifact_target *want, struct str message,
	struct str *rest, struct error *err);
/* What the agent said goes beside it, for people: plan.md. */
int run_artifact_narrate(
	struct arena *a, const struct artifact_target *want, struct str message, struct error *err);
/* The prompt of the second try, for an agent that knows nothing of the first. */
void run_artifact_again(const struct artifact_target *want, const char *sharpened,
	struct str message, struct buf *prompt);

#endif
