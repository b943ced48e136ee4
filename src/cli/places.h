/*
 * places.h: the folders that several verbs take as an option: where artifacts go, where resources
 * are.
 */
#ifndef DT_CLI_PLACES_H
#define DT_CLI_PLACES_H

#include "src/cli/common.h"

/* The rows of an option table for them; the verb's enum has ARTIFACTS, RESOURCES. */
#define ARTIFACTS_OPTION                                                                           \
	[ARTIFACTS] = {"artifacts", "DIR",                                                         \
		"folder of the artifacts; default: $ARTIFACTS_DIR, or one in the state folder",    \
		false}
#define RESOURCES_OPTION                                                                           \
	[RESOURCES] = {"resources", "DIR",                                                         \
		"folder (or file) of the resources; default: .dev-team/resources or .ai-sdlc of "  \
		"the repository",                                                                  \
		false}

/*
 * `given`, else $ARTIFACTS_DIR, else STATE/SLUG/artifacts; SLUG is `local/NAME-DIGEST` of a
 * repository without an origin. Absolute; need not be there. `repo` NULL: the one around the
 * working directory.
 */
int artifacts_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err);

/* `given`, which must be there (ERR_USAGE), else REPO/.dev-team/resources, else REPO/.ai-sdlc; NULL
 * when there is none of them. `repo` as above; not being in one is no error. */
int resources_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err);

#endif
