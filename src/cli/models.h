/*
 * models.h: the parts of `dev-team models`. For the files models*.c alone.
 */
#ifndef DT_CLI_MODELS_H
#define DT_CLI_MODELS_H

#include "src/base/json.h"
#include "src/cli/cli.h"
#include "src/config/models.h"

enum models_option {
	ARTIFACTS,
	RESOURCES,
	MODELS_REGISTRY,
	MODELS_PIPELINE,
	MODELS_ISSUE,
	MODELS_STAGES,
	MODELS_DRY_RUN,
	MODELS_JSON,
};

/* What --registry says, else the repository's, else the one that is built in. */
int models_registry(struct invocation *in, struct model_registry *out, struct error *err);
/* The one that --pipeline names; *out NULL: none was. */
int models_pipeline(struct invocation *in, const struct pipeline **out, struct error *err);
/* null where there is no text, no time. */
void models_put_text(json *object, const char *key, const char *text);
void models_put_time(json *object, const char *key, int64_t t);
/* A line with it. */
void models_put(struct invocation *in, const json *j);

/* Each has the signature of verb.run; words[0] is its own name. */
int models_resolve(struct invocation *in, struct error *err);
int models_bump(struct invocation *in, struct error *err);

#endif
