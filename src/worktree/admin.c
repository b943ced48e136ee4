#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { ARGS_MAX = 32 };

/* Prevents git from starting, or asking, a process that outlives this one. */
static const char *const quiet[] = {"-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c",
	"maintenance.auto=false", "-c", "advice.detachedHead=false"};

int pool_git_env(struct pool *p, const char *at, const char *const *args, const char *const *env,
	unsigned limit_s, struct buf *out, int *status, struct error *err)
{
	struct arena a = {0};
	const char *argv[ARGS_MAX + COUNT(quiet) + 3] = {"git"}, *more[8] = {NULL};
	struct git_command c = {.dir = at ? at : p->common,
		.name = arena_printf(&a, "git %s", args[0]),
		.argv = argv,
		.env = more,
		.limit_s = limit_s};
	size_t n = 1, k = 0;
	int rc;

	for (size_t i = 0; env && env[i] && k + 1 < COUNT(more); i++)
		more[k++] = env[i];
	/* With --git-dir git also finds a bare repository, or a main one whose work tree is
	 * elsewhere. */
	if (!at)
		argv[n++] = arena_printf(&a, "--git-dir=%s", p->common);
	for (size_t i = 0; i < COUNT(quiet); i++)
		argv[n++] = quiet[i];
	for (size_t i = 0; args[i] && i < ARGS_MAX; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	rc = git_command(&c, out, status, err);
	arena_release(&a);
	return rc;
}

int pool_git(struct pool *p, const char *at, const char *const *args, struct buf *out, int *status,
	struct error *err)
{
	return pool_git_env(p, at, args, NULL, GIT_S, out, status, err);
}

int admin_lock(struct pool *p, struct disk_lock **out, struct error *err)
{
	struct arena a = {0};
	int rc = disk_lock_take(out, path_join(&a, p->common, "dev-team-worktrees.lock"),
		pool_lock_wait(POOL_LOCK_MS), err);

	arena_release(&a);
	return rc;
}

static bool is_wanted(struct str name, const char *const *names)
{
	for (; *names; names++)
		if (str_is(name, *names))
			return true;
	return false;
}

static void keep_line(struct arena *a, struct str line, const char *const *names, struct refs *out)
{
	size_t blank = str_find(line, STR(" "));

	if (str_starts(line, names[0]) && line.n > strlen(names[0]) &&
		line.p[strlen(names[0])] == '/')
		out->below = arena_dup(a, str_sub(line, 0, blank));
	/* git also lists the references below a name, and its warnings come with the output. */
	if (blank == line.n || !is_wanted(str_sub(line, 0, blank), names) || out->n == REFS_MAX)
		return;
	out->ref[out->n].name = arena_dup(a, str_sub(line, 0, blank));
	out->ref[out->n++].commit = arena_dup(a, str_sub(line, blank + 1, line.n));
}

int refs_look(struct arena *a, struct pool *p, const char *const *names, struct refs *out,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *args[ARGS_MAX] = {"for-each-ref", "--format=%(refname) %(objectname)"};
	struct str rest, line;
	size_t n = 2;

	*out = (struct refs){0};
	for (size_t i = 0; names[i] && n + 1 < ARGS_MAX; i++)
		args[n++] = names[i];
	if (pool_git(p, NULL, args, &text, NULL, err) < 0)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		keep_line(a, line, names, out);
	return 0;
}

const struct ref *refs_find(const struct refs *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->ref[i].name, name) == 0)
			return &r->ref[i];
	return NULL;
}
