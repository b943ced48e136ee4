/*
 * locate.h: where things are: the installation, a workflow file, the repository, a work item's
 * document, the directories of artifacts and resources. Paths are absolute and in the arena.
 */
#ifndef DT_RUN_LOCATE_H
#define DT_RUN_LOCATE_H

#include "src/base/buf.h"

/*
 * The folder that holds workflows/, skills/ and so on: `given`, else $DEV_TEAM_ROOT, else by the
 * place of this program: beside it (build tree) or in ../share/dev-team (installed). -1: ERR_STATE.
 */
int plugin_root(struct arena *a, const char *given, char **root, struct error *err);

/* A path as it is, or the name of a shipped workflow (`implement-task`, `implement`, `fix-issue`,
 * `fix`). */
int workflow_path(
	struct arena *a, const char *name, const char *root, char **path, struct error *err);

/* The repository around `given` or around the working directory. */
int repo_root(struct arena *a, const char *given, char **root, struct error *err);

/* `given`, else the computed path of the work item's document. */
int context_file_path(struct arena *a, const char *given, const char *repo, const char *id,
	char **path, struct error *err);

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
