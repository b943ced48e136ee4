/*
 * registry.h: the models that verbs know.
 */
#ifndef DT_CLI_REGISTRY_H
#define DT_CLI_REGISTRY_H

#include "src/config/models.h"

/* Those of the repository around the working directory, else those that are built in. */
int registry_open(struct arena *a, struct model_registry *out, struct error *err);

#endif
