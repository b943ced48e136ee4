/*
 * The environment of a run: a fixed list. No variable of the caller is passed on, because its
 * effect on programs is unknown. Only the committer's name and address come from the caller.
 */
#include <sys/stat.h>
#include "src/sys/git.h"
#include "src/sandbox/execute.h"

struct list {
	struct arena *arena;
	char **p;
	size_t n, settings;
};

enum { ENTRIES = 48 };

static void add(struct list *l, const char *name, const char *value)
{
	l->p[l->n++] = arena_printf(l->arena, "%s=%s", name, value);
}

/* A setting of git that overrides those of the repository. */
static void add_setting(struct list *l, const char *key, const char *value)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%zu", l->settings);
	add(l, name, key);
	(void)snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%zu", l->settings);
	add(l, name, value);
	l->settings++;
}

static bool is_foreign(const char *path, uid_t uid)
{
	struct stat st;

	return path && lstat(path, &st) == 0 && st.st_uid != uid;
}

/* git works in another user's repository only if it is listed as safe. */
static bool has_other_owner(struct arena *a, const struct execution *x)
{
	const struct root *r = x->root;
	uid_t uid = x->policy->uid ? x->policy->uid : geteuid();

	return x->policy->uid || is_foreign(r->path, uid) ||
	       is_foreign(arena_printf(a, "%s/.git", r->path), uid) ||
	       is_foreign(r->git_dir, uid) || is_foreign(r->common_dir, uid);
}

/* HOME is empty, so git would not know the committer there. */
static void add_identity(struct list *l, const struct execution *x)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	CLEANUP(buf_release) struct buf email = BUF_INIT;

	if (!x->policy->write || !git_config_identity(x->root->path, &name, &email))
		return;
	add_setting(l, "user.name", name.s);
	add_setting(l, "user.email", email.s);
}

static void add_git(struct list *l, const struct execution *x)
{
	char count[24];

	add(l, "GIT_PAGER", "cat");
	add(l, "GIT_EDITOR", "true");
	add(l, "GIT_TERMINAL_PROMPT", "0");
	add(l, "GIT_CONFIG_NOSYSTEM", "1");
	add(l, "GIT_CONFIG_GLOBAL", "/dev/null");
	add_setting(l, "core.hooksPath", "/dev/null");
	add_setting(l, "core.fsmonitor", "false");
	add_setting(l, "protocol.ext.allow", "never");
	add_setting(l, "safe.bareRepository", "explicit");
	add_setting(l, "core.attributesFile", "/dev/null");
	/* Writing the repository's configuration is refused, and would fail half way. */
	add_setting(l, "gc.auto", "0");
	add_setting(l, "branch.autoSetupMerge", "false");
	if (has_other_owner(l->arena, x))
		add_setting(l, "safe.directory", x->root->path);
	add_identity(l, x);
	(void)snprintf(count, sizeof(count), "%zu", l->settings);
	add(l, "GIT_CONFIG_COUNT", count);
}

char **run_environment(
	struct arena *a, const struct execution *x, const char *home, const char *tmp)
{
	struct list l = {.arena = a, .p = arena_alloc(a, ENTRIES * sizeof(*l.p))};

	add(&l, "PATH", "/usr/bin:/bin");
	add(&l, "HOME", home);
	add(&l, "TMPDIR", tmp);
	add(&l, "LANG", "C.UTF-8");
	add(&l, "TERM", "dumb");
	add(&l, "PAGER", "cat");
	/* The leak check uses ptrace, which is refused in a run. */
	add(&l, "ASAN_OPTIONS", "detect_leaks=0");
	add(&l, "LSAN_OPTIONS", "detect_leaks=0");
	add_git(&l, x);
	return l.p;
}
