/*
 * git.c: programs as this room runs them, and the worktrees that git knows.
 */
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* STATUS_S: files of an agent can make git wait, a pipe called .gitignore for example. */
enum { ARGS_MAX = 24, LIMIT_S = 3600, STATUS_S = 120 };

int op_run(struct op *o, const char *dir, const char *const *argv, const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const struct git_command c = {.dir = dir,
		.name = name,
		.argv = argv,
		.limit_s = strcmp(name, "git status") == 0 ? STATUS_S : LIMIT_S,
		.inherit = o->p->lock ? disk_lock_descriptor(o->p->lock) : 0};
	struct str rest, first = {0};

	if (git_command(&c, &out, &o->status, o->err) < 0)
		return -1;
	o->output = (struct buf){.s = arena_dup(o->a, buf_str(&out)), .len = out.len};
	buf_utf8_repair(&out);
	rest = buf_str(&out);
	(void)str_line(&rest, &first);
	o->said = arena_dup(o->a, first);
	o->line = o->status == 0 ? o->said : NULL;
	return 0;
}

int op_check(struct op *o, const char *name)
{
	return git_check_status(name, o->status, &o->output, false, o->err);
}

int op_git(struct op *o, const char *at, const char *const *args)
{
	bool hooks = strcmp(args[0], "checkout") == 0 || strcmp(args[0], "worktree") == 0;
	const char *argv[ARGS_MAX + 10] = {"git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", hooks ? "gc.auto=0" : "core.hooksPath=/dev/null"};
	size_t n = 7;

	/* This also finds a repository whose work tree is elsewhere. */
	if (!at)
		argv[n++] = FORMAT("--git-dir=%s", o->p->common);
	for (size_t i = 0; args[i] && i < ARGS_MAX; i++)
		argv[n++] = args[i];
	return op_run(o, at ? at : o->p->common, argv, FORMAT("git %s", args[0]));
}

/* ---- worktrees ---- */

int trees_read(struct op *o)
{
	static const char *const args[] = {"worktree", "list", "--porcelain", NULL};
	struct str rest, line;

	o->trees.n = 0;
	if (op_git(o, NULL, args) < 0 || op_check(o, "git worktree list") < 0)
		return -1;
	rest = buf_str(&o->output);
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
