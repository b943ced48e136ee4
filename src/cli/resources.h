/*
 * resources.h: what the parts of `dev-team resources` share.
 */
#ifndef DT_CLI_RESOURCES_H
#define DT_CLI_RESOURCES_H

#include "src/cli/cli.h"
#include "src/config/kinds.h"
#include "src/config/parallelism.h"

enum { ARTIFACTS, RESOURCES, JSON, MARKDOWN };

enum parallelism_mode resources_mode(void); /* of the environment */
/* Those that the options name; -1 with the first fault. */
int resources_good(struct invocation *in, struct resources *r, struct error *err);
/* The same; none at all where there is no folder of them and no option. */
int resources_any(struct invocation *in, struct resources *r, struct error *err);
/* A path may be of any bytes; what is no UTF-8 becomes `?`. */
void resources_put_path(json *j, const char *key, const char *path);
/* What the models of stages are: faults of aliases that there are not, or no longer. */
int resources_check_models(struct invocation *in, struct resources *r, struct error *err);
int resources_show(struct invocation *in, struct error *err);

#endif
