/*
 * trees.c: git as this room runs it, and the worktrees that git knows.
 */
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { ARGS_MAX = 24, CHECKOUT_S = 3600 };

int pool_git(struct pool *p, const char *at, bool hooks, const char *const *args, struct buf *out,
	int *status, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *argv[ARGS_MAX + 10] = {"git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", hooks ? "gc.auto=0" : "core.hooksPath=/dev/null"};
	const struct git_command c = {.dir = at ? at : p->common,
		.name = arena_printf(&a, "git %s", args[0]),
		.argv = argv,
		.limit_s = CHECKOUT_S,
		.inherit = p->lock ? disk_lock_descriptor(p->lock) : 0};
	size_t n = 7;

	/* This also finds a repository whose work tree is elsewhere. */
	if (!at)
		argv[n++] = arena_printf(&a, "--git-dir=%s", p->common);
	for (size_t i = 0; args[i] && i < ARGS_MAX; i++)
		argv[n++] = args[i];
	return git_command(&c, out, status, err);
}

int pool_git_line(struct arena *a, struct pool *p, const char *at, const char *const *args,
	const char **line, const char **said, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, first = {0};
	int status;

	if (pool_git(p, at, false, args, &out, &status, err) < 0)
		return -1;
	buf_utf8_repair(&out);
	rest = buf_str(&out);
	(void)str_line(&rest, &first);
	*said = arena_dup(a, first);
	*line = status == 0 ? *said : NULL;
	return 0;
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

int trees_read(struct arena *a, struct pool *p, struct trees *out, struct error *err)
{
	static const char *const args[] = {"worktree", "list", "--porcelain", NULL};
	static const char heads[] = "refs/heads/";
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *value;
	struct str rest, line;

	*out = (struct trees){0};
	if (pool_git(p, NULL, false, args, &text, NULL, err) < 0)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		struct tree *t = out->n ? &out->items[out->n - 1] : NULL;

		if (has_word(a, line, "worktree", &value))
			vec_push_in(a, out, (struct tree){.path = path_settle(a, value)});
		else if (t && has_word(a, line, "HEAD", &value))
			t->head = value;
		else if (t && has_word(a, line, "branch", &value))
			t->branch =
				str_starts(str_of(value), heads) ? value + strlen(heads) : value;
		else if (t && has_word(a, line, "locked", &value))
			t->locked = value;
	}
	return 0;
}

const struct tree *trees_at(const struct trees *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->items[i].path, path) == 0)
			return &t->items[i];
	return NULL;
}

const struct tree *trees_on(const struct trees *t, const char *branch)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].branch && strcmp(t->items[i].branch, branch) == 0)
			return &t->items[i];
	return NULL;
}

/* ---- deletion ---- */

int tree_delete(struct pool *p, const char *path, struct error *err)
{
	/* Caches of packages have directories that their owner cannot write. */
	const char *const argv[] = {"sh", "-c",
		"rm -rf -- \"$1\" 2>/dev/null || { chmod -R u+rwx -- \"$1\"; rm -rf -- \"$1\"; }",
		"rm", path, NULL};
	const struct git_command c = {.dir = p->common,
		.name = "rm",
		.argv = argv,
		.limit_s = CHECKOUT_S,
		.inherit = p->lock ? disk_lock_descriptor(p->lock) : 0};

	return git_command(&c, NULL, NULL, err);
}
