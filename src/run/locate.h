/*
 * locate.h: finds the installation, a workflow file, the repository, a work item's document, and
 * the directories of artifacts and resources. Paths are absolute and live in the arena.
 */
#ifndef DT_RUN_LOCATE_H
#define DT_RUN_LOCATE_H

#include "src/config/model.h"
#include "src/worktree/pool.h"

/*
 * The directory with workflows/, skills/ and so on: `given`, else $DEV_TEAM_ROOT, else relative to
 * this program: its build tree or ../share/dev-team. -1: ERR_STATE.
 */
int locate_plugin(struct arena *a, const char *given, const char **root, struct error *err);
/* The client's type of the agents with this role: `dev-team:task-runner` for one without a type. */
const char *locate_agent_type(struct arena *a, const char *root, const char *role);

/* A path as it is, or the name of a shipped workflow (`implement-task`, `implement`, `fix-issue`,
 * `fix`), or of one of the repository: REPO/LOCATE_WORKFLOWS/NAME.md. `repo` NULL: the repository
 * that contains the working directory. */
#define LOCATE_WORKFLOWS ".dev-team/workflows"
int locate_workflow(struct arena *a, const char *name, const char *root, const char *repo,
	const char **path, struct error *err);

/* The same for messages, which show a path as it was given: a bare name is looked up only if there
 * is no such file. */
int locate_workflow_file(
	struct arena *a, const char *name, const char *root, const char **path, struct error *err);

/* The root of the repository that contains `given`, or the working directory. */
int locate_repository(struct arena *a, const char *given, const char **root, struct error *err);

/* `given`, else the path of the work item's document in the state directory. */
int locate_document(struct arena *a, const char *given, const char *repo, const char *id,
	const char **path, struct error *err);

/*
 * `given`, else $ARTIFACTS_DIR, else STATE/SLUG/artifacts; SLUG is `local/NAME-DIGEST` for a
 * repository without an origin. Need not exist. `repo` NULL: the repository that contains the
 * working directory.
 */
int locate_artifacts(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err);

/* `given`, which must exist (ERR_USAGE), else REPO/.dev-team/resources, else REPO/.ai-sdlc; NULL if
 * neither exists or there is no repository. `repo` as above. */
int locate_resources(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err);

/* `given`, else the models of the repository, else the shipped ones. `repo` as above. */
int locate_models(struct arena *a, const char *given, const char *repo, struct model_registry *out,
	struct error *err);
/* As locate_resources(); ERR_USAGE when neither exists. */
int locate_resources_required(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err);

/* How a command line names a pipeline. */
struct pipeline_choice {
	const char *name;
	const char *resources, *repo; /* as for locate_resources() */
	const char *artifacts;        /* for the events of faults; NULL: none are emitted */
	enum err missing;             /* the code when there is none of that name */
	bool file;                    /* the name may be that of a file with one pipeline */
};
/* -1: also the first fault of the resources. */
int locate_pipeline(struct arena *a, const struct pipeline_choice *c, struct resources *r,
	const struct pipeline **out, struct error *err);

/* The pipeline that the settings of the repository name; NULL: they name none. */
int locate_session_pipeline(struct arena *a, const char *repo, struct resources *r,
	const struct pipeline **out, struct error *err);

/* How a command line names a pool of worktrees; each may be NULL. */
struct pool_choice {
	const char *resources, *repo, *artifacts;
	const char *name; /* NULL: as locate_item_pool() chooses */
};
/* Unless it is named: the pool `default`, else the only one. NULL: one of all defaults. */
const struct worktree_pool_spec *locate_item_pool(const struct resources *r);
int locate_pool_spec(struct arena *a, const struct pool_choice *c, struct worktree_pool_spec *out,
	struct error *err);
/* Opens it. Close it with pool_close(), also after -1. */
int locate_pool(struct arena *a, const struct pool_choice *c, struct pool *p, struct error *err);

#endif
