/*
 * git.c: git as this room runs it, and the worktrees that git knows.
 */
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/worktree/pool_internal.h"

/* STATUS_S: files of an agent can make git wait, a pipe called .gitignore for example. */
enum { ARGS_MAX = 24, LIMIT_S = 3600, STATUS_S = 120 };

int pool_git(struct pool *p, const char *at, bool hooks, const char *const *args, struct buf *out,
	int *status, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *argv[ARGS_MAX + 10] = {"git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", hooks ? "gc.auto=0" : "core.hooksPath=/dev/null"};
	const struct git_command c = {.dir = at ? at : p->common,
		.name = arena_printf(&a, "git %s", args[0]),
		.argv = argv,
		.limit_s = strcmp(args[0], "status") == 0 ? STATUS_S : LIMIT_S,
		.inherit = p->lock ? disk_lock_descriptor(p->lock) : 0};
	size_t n = 7;

	/* This also finds a repository whose work tree is elsewhere. */
	if (!at)
		argv[n++] = arena_printf(&a, "--git-dir=%s", p->common);
	for (size_t i = 0; args[i] && i < ARGS_MAX; i++)
		argv[n++] = args[i];
	return git_command(&c, out, status, err);
}

int op_git(struct op *o, const char *at, const char *const *args)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, first = {0};
	int status;

	if (pool_git(o->p, at, false, args, &out, &status, o->err) < 0)
		return -1;
	buf_utf8_repair(&out);
	rest = buf_str(&out);
	(void)str_line(&rest, &first);
	o->said = arena_dup(o->a, first);
	o->line = status == 0 ? o->said : NULL;
	return 0;
}

int tree_delete(struct op *o, const char *path)
{
	/* Caches of packages have directories that their owner cannot write. */
	const char *const argv[] = {"sh", "-c",
		"rm -rf -- \"$1\" 2>/dev/null || { chmod -R u+rwx -- \"$1\"; rm -rf -- \"$1\"; }",
		"rm", path, NULL};
	const struct git_command c = {.dir = o->p->common,
		.name = "rm",
		.argv = argv,
		.limit_s = LIMIT_S,
		.inherit = disk_lock_descriptor(o->p->lock)};

	return git_command(&c, NULL, NULL, o->err);
}

/* ---- worktrees ---- */

/* The rest of a line that begins with the word. */
static bool has_word(struct arena *a, struct str line, const char *word, const char **rest)
{
	size_t n = strlen(word);

	if (!str_starts(line, word) || (line.n > n && line.p[n] != ' '))
		return false;
	*rest = arena_dup(a, str_sub(line, line.n > n ? n + 1 : n, line.n));
	return true;
}

/* git stops at a worktree that is half made. Whoever makes one holds the lock, a reader does not.
 */
static int trees_list(struct op *o, struct buf *text)
{
	static const char *const args[] = {"worktree", "list", "--porcelain", NULL};
	struct error why;
	int rc = pool_git(o->p, NULL, false, args, text, NULL, o->err);

	if (rc == 0 || o->p->lock || pool_lock(o->a, o->p, &why) < 0)
		return rc;
	buf_clear(text);
	rc = pool_git(o->p, NULL, false, args, text, NULL, o->err);
	pool_unlock(o->p);
	return rc;
}

int trees_read(struct op *o)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	const char *value;

	o->trees = (struct trees){0};
	if (trees_list(o, &text) < 0)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		struct tree *t = o->trees.n ? &o->trees.items[o->trees.n - 1] : NULL;

		if (has_word(o->a, line, "worktree", &value))
			vec_push_in(
				o->a, &o->trees, (struct tree){.path = path_settle(o->a, value)});
		else if (t && has_word(o->a, line, "HEAD", &value))
			t->head = value;
		else if (t && has_word(o->a, line, "branch", &value))
			t->branch = value + strlen("refs/heads/");
		else if (t && has_word(o->a, line, "locked", &value))
			t->locked = value;
	}
	return 0;
}

const struct tree *trees_at(const struct op *o, const char *path)
{
	for (size_t i = 0; i < o->trees.n; i++)
		if (strcmp(o->trees.items[i].path, path) == 0)
			return &o->trees.items[i];
	return NULL;
}

const struct tree *trees_on(const struct op *o, const char *branch)
{
	for (size_t i = 0; i < o->trees.n; i++)
		if (o->trees.items[i].branch && strcmp(o->trees.items[i].branch, branch) == 0)
			return &o->trees.items[i];
	return NULL;
}
