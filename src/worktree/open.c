#include <limits.h>
#include <sys/stat.h>
#include "src/base/number.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { LINK_MAX_BYTES = 8192, STORE_WAIT_MS = 30000, NAME_DIGITS = 8 };

unsigned pool_lock_wait(unsigned unset_ms)
{
	return (unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, unset_ms);
}

/* ---- the repository ---- */

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The resolved path, in the arena; NULL if it does not exist. */
static char *real(struct arena *a, const char *path)
{
	char out[PATH_MAX];

	return realpath(path, out) ? arena_dup(a, str_of(out)) : NULL;
}

static bool is_git_directory(struct arena *a, const char *dir)
{
	return path_exists(path_join(a, dir, "HEAD")) &&
	       (path_exists(path_join(a, dir, "commondir")) ||
		       (is_directory(path_join(a, dir, "objects")) &&
			       is_directory(path_join(a, dir, "refs"))));
}

/* The git directory that all worktrees of `git_dir` share; NULL when it does not exist. */
static char *common_of(struct arena *a, const char *git_dir)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing = false;
	struct error ignored;

	if (sys_read_file(&text, path_join(a, git_dir, "commondir"), LINK_MAX_BYTES, &missing,
		    &ignored) < 0)
		return missing ? real(a, git_dir) : NULL;
	return real(a, path_join(a, git_dir, arena_dup(a, str_trim(buf_str(&text)))));
}

/* The git directory of `dir` itself, of any kind; NULL: it has none. */
static char *git_directory(struct arena *a, const char *dir)
{
	char *dot = path_join(a, dir, ".git"), *to;
	const char *text;

	if (is_directory(dot))
		return dot;
	if (worktree_pointer(a, dir, &to, &text))
		return to;
	return is_git_directory(a, dir) ? arena_dup(a, str_of(dir)) : NULL;
}

/* The directory around `at` whose `.git` is, or leads to, `common`; NULL: `at` is elsewhere. */
static char *main_tree_around(struct arena *a, char *at, const char *common)
{
	for (;; at = arena_dup(a, path_dir(at))) {
		char *own = strcmp(at, common) == 0 ? NULL : git_directory(a, at);

		own = own ? real(a, own) : NULL;
		if (own && strcmp(own, common) == 0)
			return at;
		if (strcmp(at, "/") == 0)
			return NULL;
	}
}

/*
 * The main working tree. NULL: the repository is bare, or its git directory is in another place
 * (`git init --separate-git-dir`) and `at` is not in the tree: git does not know where it is,
 * either.
 */
static char *main_tree(struct arena *a, char *at, const char *common)
{
	struct git_core core;
	char *around;

	git_config_core(a, common, &core);
	if (core.bare)
		return NULL;
	around = main_tree_around(a, at, common);
	if (around)
		return around;
	if (strcmp(path_base(common).p, ".git") == 0)
		return arena_dup(a, path_dir(common));
	return core.worktree ? real(a, path_join(a, common, core.worktree)) : NULL;
}

static int find_repository(struct arena *a, const char *from, struct pool *p, struct error *err)
{
	char *at = real(a, from && *from ? from : "."), *git_dir = NULL, *tree;

	if (!at)
		return error_errno(err, "cannot find the repository '%s'", from);
	for (; !(git_dir = git_directory(a, at)); at = arena_dup(a, path_dir(at)))
		if (strcmp(at, "/") == 0)
			return error_set(err, ERR_STATE, "'%s' is not in a git repository", from);
	p->common = common_of(a, git_dir);
	if (!p->common || !is_git_directory(a, p->common))
		return error_set(err, ERR_STATE,
			"'%s' is a worktree whose repository '%s' no longer exists", at, git_dir);
	if (str_utf8_fault(str_of(p->common)))
		return error_set(err, ERR_STATE, "the path of the repository is not UTF-8");
	tree = main_tree(a, at, p->common);
	p->repo = tree ? tree : p->common;
	return 0;
}

/* ---- the directory of its worktrees ---- */

enum { NOT_SET = 1 }; /* exit status of `git config --get` */

/* NAME-DIGITS: two repositories with the same name differ. */
static char *own_name(struct arena *a, const struct pool *p)
{
	char digest[DIGEST_TEXT];
	struct error ignored;
	char *name;

	if (pool_slug(a, path_base(p->repo).p, &name, &ignored) < 0)
		name = arena_dup(a, str_of("repository"));
	digest_text(str_of(p->common), digest);
	return arena_printf(a, "local/%s-%.*s", name, NAME_DIGITS, digest);
}

/* OWNER/REPO of the remote, or a name of its own without one; NULL: it cannot be read, and another
 * name would be another pool. */
static char *owner_and_name(struct arena *a, struct pool *p, struct error *err)
{
	static const char *const args[] = {"config", "--get", "remote.origin.url", NULL};
	CLEANUP(buf_release) struct buf url = BUF_INIT, slug = BUF_INIT;
	int status;

	if (!git_config_origin(p->repo, &url)) {
		buf_clear(&url);
		if (pool_git(p, NULL, args, &url, &status, err) < 0)
			return NULL;
		if (status == NOT_SET)
			return own_name(a, p);
		if (status != 0) {
			(void)error_set(err, ERR_SYSTEM, "cannot read the remote of '%s': %s",
				p->repo, url.s);
			return NULL;
		}
	}
	if (!git_slug_of_url(str_trim(buf_str(&url)), &slug))
		return own_name(a, p);
	return arena_dup(a, buf_str(&slug));
}

static int find_directory(
	struct arena *a, const struct worktree_pool_spec *spec, struct pool *p, struct error *err)
{
	char *dir, *name = NULL;

	if (spec->root)
		dir = path_join(
			a, p->repo, spec->root); /* a relative one is relative to the repository */
	else if (spec->repo_local && strcmp(p->repo, p->common) != 0)
		dir = path_join(a, p->repo, GIT_WORKTREES);
	else if ((name = owner_and_name(a, p, err)))
		dir = path_join(a, p->state, arena_printf(a, "worktrees/%s", name));
	else
		return -1;
	if (port_path(a, dir, &dir, err) < 0)
		return -1;
	p->dir = path_settle(a, dir);
	if (str_utf8_fault(str_of(p->dir)))
		return error_set(
			err, ERR_USAGE, "the path of the worktrees' directory is not UTF-8");
	if (strcmp(p->dir, p->repo) == 0 || strcmp(p->dir, p->common) == 0 ||
		(path_beneath(p->common, p->dir) && strcmp(p->repo, p->common) != 0))
		return error_set(err, ERR_STATE,
			"'%s' cannot hold worktrees: it is the repository itself", p->dir);
	return 0;
}

/* ---- opening ---- */

static const struct pool_part *const no_parts[] = {NULL};
static const struct pool_part *const *all_parts = no_parts;

void pool_set_parts(const struct pool_part *const *parts)
{
	all_parts = parts;
}

const struct pool_part *const *pool_parts(void)
{
	return all_parts;
}

static int inspect_parts(struct arena *a, struct pool *p, struct error *err)
{
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		if ((*part)->inspect(a, p, NULL, NULL, err) < 0)
			return -1;
	return 0;
}

int pool_open(struct arena *a, const struct worktree_pool_spec *spec, const char *repo,
	const char *state, const char *artifacts, struct pool *out, struct error *err)
{
	*out = (struct pool){.name = spec->name ? spec->name : "default",
		.state = path_absolute(a, state),
		.artifacts = artifacts ? path_absolute(a, artifacts) : NULL,
		.base_port = spec->base_port,
		.stale_days = spec->stale_days,
		.strict = spec->strict,
		.on_merge = spec->on_merge,
		.on_abort = spec->on_abort,
		.on_timeout = spec->on_timeout,
		.databases = spec->databases,
		.n_databases = spec->n_databases};
	if (boot_read(err) < 0 || find_repository(a, repo ? repo : ".", out, err) < 0 ||
		find_directory(a, spec, out, err) < 0)
		return -1;
	if (store_open(&out->store, store_backend(), out->state, POOL_STORE,
		    STORE_WRITE | STORE_MARKED, pool_lock_wait(STORE_WAIT_MS), err) < 0)
		return -1;
	if (pool_repair(a, out, err) == 0 && inspect_parts(a, out, err) == 0)
		return 0;
	pool_close(out);
	return -1;
}

void pool_close(struct pool *p)
{
	store_close(&p->store);
}
