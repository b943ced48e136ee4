/*
 * git.c: git as this room runs it, and the worktrees that git knows.
 */
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* STATUS_S: files of an agent can make git wait, a pipe called .gitignore for example. */
enum { ARGS_MAX = 24, LIMIT_S = 3600, STATUS_S = 120 };

int pool_run(struct pool *p, const char *dir, const char *const *argv, const char *name,
	struct buf *out, int *status, struct error *err)
{
	const struct git_command c = {.dir = dir,
		.name = name,
		.argv = argv,
		.limit_s = strcmp(name, "git status") == 0 ? STATUS_S : LIMIT_S,
		.inherit = p->lock ? disk_lock_descriptor(p->lock) : 0};

	return git_command(&c, out, status, err);
}

int pool_git(struct pool *p, const char *at, bool hooks, const char *const *args, struct buf *out,
	int *status, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *argv[ARGS_MAX + 10] = {"git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", hooks ? "gc.auto=0" : "core.hooksPath=/dev/null"};
	size_t n = 7;

	/* This also finds a repository whose work tree is elsewhere. */
	if (!at)
		argv[n++] = arena_printf(&a, "--git-dir=%s", p->common);
	for (size_t i = 0; args[i] && i < ARGS_MAX; i++)
		argv[n++] = args[i];
	return pool_run(p, at ? at : p->common, argv, arena_printf(&a, "git %s", args[0]), out,
		status, err);
}

void op_hear(struct op *o, struct buf *out, int status)
{
	struct str rest, first = {0};

	buf_utf8_repair(out);
	rest = buf_str(out);
	(void)str_line(&rest, &first);
	o->said = arena_dup(o->a, first);
	o->line = status == 0 ? o->said : NULL;
}

int op_git(struct op *o, const char *at, const char *const *args)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (pool_git(o->p, at, false, args, &out, &status, o->err) < 0)
		return -1;
	op_hear(o, &out, status);
	return 0;
}

int tree_delete(struct op *o, const char *path)
{
	/* Caches of packages have directories that their owner cannot write. */
	const char *const argv[] = {"sh", "-c",
		"rm -rf -- \"$1\" 2>/dev/null || { chmod -R u+rwx -- \"$1\"; rm -rf -- \"$1\"; }",
		"rm", path, NULL};

	return pool_run(o->p, o->p->common, argv, "rm", NULL, NULL, o->err);
}

/* ---- worktrees ---- */

int trees_read(struct op *o)
{
	static const char *const args[] = {"worktree", "list", "--porcelain", NULL};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;

	o->trees.n = 0;
	if (pool_git(o->p, NULL, false, args, &text, NULL, o->err) < 0)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		char *word = arena_dup(o->a, line), *value = word + strcspn(word, " ");
		struct tree *t = o->trees.n ? &o->trees.items[o->trees.n - 1] : NULL;

		if (*value)
			*value++ = '\0';
		if (strcmp(word, "worktree") == 0)
			vec_push_in(o->a, &o->trees, (struct tree){.path = path_real(o->a, value)});
		else if (t && strcmp(word, "HEAD") == 0)
			t->head = value;
		else if (t && strcmp(word, "branch") == 0)
			t->branch = value + strlen("refs/heads/");
		else if (t && strcmp(word, "locked") == 0)
			t->locked = value;
	}
	return 0;
}

const struct tree *trees_find(const struct op *o, const char *path, const char *branch)
{
	for (size_t i = 0; i < o->trees.n; i++) {
		const struct tree *t = &o->trees.items[i];

		if (path ? strcmp(t->path, path) == 0 : t->branch && strcmp(t->branch, branch) == 0)
			return t;
	}
	return NULL;
}
