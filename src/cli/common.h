/*
 * common.h: what several verbs need: where the installation is, which file is meant.
 */
#ifndef DT_CLI_COMMON_H
#define DT_CLI_COMMON_H

#include "src/cli/cli.h"

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

/* All of standard input, UTF-8 or not; ERR_USAGE when it is a terminal. */
int read_input(struct buf *out, size_t max, struct error *err);

/* The value `text` of --NAME: a whole number of min..max seconds. -1: ERR_USAGE. */
int read_seconds(
	const char *name, const char *text, long min, long max, long *out, struct error *err);

/* -1 with ERR_USAGE unless option `k` was given. */
int need_option(const struct verb *v, const struct args *args, int k, struct error *err);

#endif
