/*
 * setup.c: what a new worktree gets besides the files of its branch: copies, links to caches, and
 * the results of commands.
 */
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { COPY_S = 3600 };

static int worktree_setup_run(struct op *o, const struct allocation *of, const char *name,
	const char *const *argv, unsigned limit_s)
{
	const char *const env[] = {arena_printf(o->a, "PORT=%u", of->port),
		arena_printf(o->a, "DEV_TEAM_BRANCH=%s", of->branch), NULL};
	const struct git_command c = {
		.dir = of->path, .name = name, .argv = argv, .env = env, .limit_s = limit_s};

	return git_command(&c, NULL, NULL, o->err);
}

/* From the main working tree, by `program`. An agent would commit what git does not ignore, and the
 * worktree would never be clean. */
static int bring(struct op *o, const struct allocation *of, const char *path, const char *key,
	const char *program)
{
	const char *from = path_join(o->a, o->p->repo, path), *to = path_join(o->a, of->path, path);
	const char *const argv[] = {"sh", "-c",
		arena_printf(o->a, "mkdir -p -- \"${2%%/*}\" && %s -- \"$1\" \"$2\"", program),
		"sh", from, to, NULL};
	const char *const ignored[] = {"check-ignore", "--quiet", "--", path, NULL};

	if (strcmp(o->p->repo, o->p->common) == 0 || !path_exists(from))
		return error_set(o->err, ERR_STATE, "'%s' of 'setup.%s' does not exist in '%s'",
			path, key, o->p->repo);
	if (path_exists(to))
		return error_set(o->err, ERR_STATE,
			"'%s' of 'setup.%s' is a file of the branch already", path, key);
	if (worktree_setup_run(
		    o, of, arena_printf(o->a, "setup.%s of '%s'", key, path), argv, COPY_S) < 0 ||
		op_git(o, of->path, ignored) < 0)
		return -1;
	return o->line ? 0
		       : error_set(o->err, ERR_STATE,
				 "git does not ignore '%s' of 'setup.%s': add it to .gitignore, "
				 "without '/' at the end, which does not match a link",
				 path, key);
}

int setup_run(struct op *o, const struct allocation *of)
{
	const struct worktree_setup *s = &o->p->spec.setup;
	int rc = 0;

	for (size_t i = 0; i < s->copy.n && rc == 0; i++)
		rc = bring(o, of, s->copy.list[i], "copy", "cp -R -P -p");
	for (size_t i = 0; i < s->link.n && rc == 0; i++)
		rc = bring(o, of, s->link.list[i], "link", "ln -s");
	for (size_t i = 0; i < s->commands.n && rc == 0; i++) {
		const char *const argv[] = {"sh", "-c", s->commands.list[i], NULL};

		rc = worktree_setup_run(o, of,
			arena_printf(o->a, "setup: %.200s", s->commands.list[i]), argv,
			(unsigned)s->timeout_s);
	}
	return rc;
}
