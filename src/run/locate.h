/*
 * locate.h: where things are: the installation, a workflow file, the repository, a work item's
 * document, the directories of artifacts and resources. Paths are absolute and in the arena.
 */
#ifndef DT_RUN_LOCATE_H
#define DT_RUN_LOCATE_H

#include "src/config/models.h"
#include "src/worktree/pool.h"

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

/* `given`, else the models of the repository around the working directory, else the shipped ones.
 */
int models_locate(
	struct arena *a, const char *given, struct model_registry *out, struct error *err);
/* As resources_folder(); ERR_USAGE when there is none. */
int resources_locate(struct arena *a, const char *given, char **dir, struct error *err);
/* The pipeline `name` of the resources at `resources` (NULL: of the repository). -1: ERR_INPUT
 * when there is none of that name, or the first fault of the resources. */
int pipeline_locate(struct arena *a, const char *resources, const char *name,
	const struct pipeline **out, struct error *err);

/* How a command line names a pool of worktrees; each may be NULL. */
struct pool_choice {
	const char *resources, *repo, *artifacts;
	const char *name; /* NULL: the only pool of the resources, else one of all defaults */
};
int pool_spec_locate(struct arena *a, const struct pool_choice *c, struct worktree_pool_spec *out,
	struct error *err);
/* Opens it; logs what could not be repaired. Close it with pool_close(), also after -1. */
int pool_locate(struct arena *a, const struct pool_choice *c, struct pool *p, struct error *err);

#endif
