/*
 * open.c: the repository of a pool, and the directory that holds its worktrees.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include "src/base/number.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { STORE_WAIT_MS = 30000, NAME_DIGITS = 8, EXCLUDE_MAX = 1 << 20 };

/* ---- the repository ---- */

const char *pool_main_tree(struct arena *a, const char *common)
{
	struct git_core core;

	git_config_core(a, common, &core);
	if (core.bare)
		return common;
	if (core.worktree)
		return path_settle(a, path_join(a, common, core.worktree));
	return strcmp(path_base(common).p, ".git") == 0 ? arena_dup(a, path_dir(common)) : common;
}

static int open_find_repository(
	struct arena *a, const char *from, struct pool *p, struct error *err)
{
	const char *const argv[] = {"git", "-C", from, "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--absolute-git-dir", "--show-toplevel", NULL};
	const struct git_command c = {.name = "git rev-parse", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line[3] = {{0}};
	int status;

	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	rest = buf_str(&out);
	for (size_t i = 0; i < COUNT(line) && str_line(&rest, &line[i]); i++)
		;
	if (status && str_find(buf_str(&out), STR("dubious ownership")) < out.len)
		return error_set(err, ERR_STATE,
			"the repository of '%s' belongs to another user: run 'git config --global "
			"--add safe.directory DIRECTORY' to trust it, DIRECTORY being its working "
			"tree",
			path_absolute(a, from));
	if (!line[0].n || line[0].p[0] != '/')
		return error_set(err, ERR_STATE, "'%s' is not in a git repository: %.*s", from,
			(int)line[0].n, line[0].n ? line[0].p : "");
	p->common = path_settle(a, arena_dup(a, line[0]));
	if (!str_eq(line[0], line[1]))
		p->repo = pool_main_tree(a, p->common);
	else
		p->repo = status == 0 ? path_settle(a, arena_dup(a, line[2])) : p->common;
	return str_utf8_fault(str_of(p->common))
		       ? error_set(err, ERR_STATE, "the path of the repository is not UTF-8")
		       : 0;
}

/* OWNER/REPO of the remote; without one NAME-DIGITS, so that two repositories with the same name
 * differ. NULL: the remote cannot be read, and another name would be another pool. */
static const char *open_name_of(struct op *o)
{
	const char *const args[] = {"config", "--default", "", "--get", "remote.origin.url", NULL};
	CLEANUP(buf_release) struct buf slug = BUF_INIT;
	char digest[DIGEST_TEXT], *name;
	struct error ignored;

	if (op_git(o, NULL, args) < 0)
		return NULL;
	if (!o->line)
		(void)error_set(o->err, ERR_SYSTEM, "cannot read the remote of '%s': %s",
			o->p->repo, o->said);
	if (!o->line || (*o->line && git_slug_of_url(str_of(o->line), &slug)))
		return o->line ? arena_dup(o->a, buf_str(&slug)) : NULL;
	if (pool_slug(o->a, path_base(o->p->repo).p, &name, &ignored) < 0)
		name = arena_dup(o->a, STR("repository"));
	digest_text(str_of(o->p->common), digest);
	return arena_printf(o->a, "local/%s-%.*s", name, NAME_DIGITS, digest);
}

static int open_find_directory(
	struct arena *a, const struct worktree_pool_spec *spec, struct pool *p, struct error *err)
{
	const char *name;

	if (spec->root) /* a relative one is relative to the repository */
		p->dir = path_join(a, p->repo, spec->root);
	else if (spec->repo_local && strcmp(p->repo, p->common) != 0)
		p->dir = path_join(a, p->repo, GIT_WORKTREES);
	else if ((name = open_name_of(&(struct op){.a = a, .p = p, .err = err})))
		p->dir = path_join(a, p->state, arena_printf(a, "worktrees/%s", name));
	else
		return -1;
	p->dir = path_settle(a, p->dir);
	if (str_utf8_fault(str_of(p->dir)))
		return error_set(
			err, ERR_USAGE, "the path of the worktrees' directory is not UTF-8");
	if (strcmp(p->dir, p->repo) == 0 || strcmp(p->dir, p->common) == 0 ||
		(path_beneath(p->common, p->dir) && strcmp(p->repo, p->common) != 0))
		return error_set(err, ERR_STATE,
			"'%s' cannot hold worktrees: it is the repository itself", p->dir);
	return 0;
}

/* ---- several users ---- */

const char *open_owner_of(struct arena *a, const char *path, bool *other)
{
	const struct passwd *owner;
	struct stat st;

	*other = lstat(path, &st) == 0 && st.st_uid != geteuid();
	owner = *other ? getpwuid(st.st_uid) : NULL;
	return owner ? arena_dup(a, str_of(owner->pw_name))
		     : arena_printf(a, "%ld", *other ? (long)st.st_uid : (long)geteuid());
}

/* The records, their lock and the worktrees are for all users of the repository, or for one. */
static int open_check_access(
	struct arena *a, const struct pool *p, const char *dir, struct error *err)
{
	const char *tree = strcmp(p->repo, p->common) == 0 ? p->common : p->repo;
	const char *owner, *share = "";
	bool other;

	if (!path_exists(dir) || access(dir, R_OK | W_OK | X_OK) == 0)
		return 0;
	owner = open_owner_of(a, dir, &other);
	if (!other)
		return error_errno(err, "cannot write '%s'", dir);
	if (strcmp(dir, tree) == 0 || path_beneath(tree, dir)) {
		share = arena_printf(
			a, "git config -f %s/config core.sharedRepository group && ", p->common);
		dir = tree;
	}
	return error_set(err, ERR_STATE,
		"the user '%s' owns '%s' and does not share it: to share it with a group, "
		"'%s' runs '%schgrp -R GROUP %s && chmod -R g+rwX %s && find %s -type d -exec "
		"chmod g+s {} +'",
		owner, dir, owner, share, dir, dir, dir);
}

static int open_find_access(struct arena *a, const struct pool *p, struct error *err)
{
	const char *dir = p->dir;

	while (!path_exists(dir))
		dir = arena_dup(a, path_dir(dir));
	if (open_check_access(a, p, p->common, err) < 0 ||
		open_check_access(a, p, path_join(a, p->common, "dev-team"), err) < 0 ||
		open_check_access(a, p, dir, err) < 0)
		return -1;
	if (path_is_shared(p->common))
		path_share();
	return 0;
}

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
		.setup = spec->setup,
		.databases = spec->databases,
		.n_databases = spec->n_databases};
	if (process_identify(a, getpid(), &out->self, err) < 0 ||
		open_find_repository(a, repo && *repo ? repo : ".", out, err) < 0 ||
		open_find_directory(a, spec, out, err) < 0 || open_find_access(a, out, err) < 0)
		return -1;
	if (store_open(&out->store, store_backend(), path_join(a, out->common, "dev-team"),
		    "worktrees", STORE_WRITE | STORE_MARKED,
		    (unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, STORE_WAIT_MS), err) < 0)
		return -1;
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		if ((*part)->inspect(a, out, NULL, NULL, err) < 0) {
			pool_close(out);
			return -1;
		}
	return 0;
}

void pool_close(struct pool *p)
{
	pool_unlock(p);
	store_close(&p->store);
}

/* ---- the directory ---- */

/* /PATH/ relative to the repository, as a pattern of gitignore(5). */
static void open_add_pattern(const struct pool *p, struct buf *out)
{
	for (const char *c = p->dir + strlen(p->repo); *c; c++) {
		if (strchr("\\*?[ ", *c))
			buf_addc(out, '\\');
		buf_addc(out, *c);
	}
	buf_adds(out, "/\n");
}

/* Files of the repository there would be hidden too. */
static int open_check_files(struct op *o)
{
	const char *const args[] = {
		"ls-files", "--cached", "--others", "--exclude-standard", "--", o->p->dir, NULL};

	if (op_git(o, o->p->repo, args) < 0)
		return -1;
	if (!o->line || !*o->line || o->line[strlen(o->line) - 1] == '/')
		return 0;
	return error_set(o->err, ERR_STATE,
		"'%s' cannot hold worktrees: it has files of the repository, such as '%s'",
		o->p->dir, o->line);
}

/*
 * A pool inside the repository must not show in its status. A `.gitignore` in the directory would
 * be ignored itself, so that `git clean -x` deletes it. `info/exclude` may be a link to a file that
 * several repositories share.
 */
static int hide(struct arena *a, struct pool *p, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, line = BUF_INIT;
	char *file = path_join(a, p->common, "info/exclude"), real[PATH_MAX];
	bool missing = false;
	size_t at;

	if (sys_read_file(&text, file, EXCLUDE_MAX, &missing, err) < 0 && !missing)
		return -1;
	if (text.len && text.s[text.len - 1] != '\n')
		buf_addc(&text, '\n');
	open_add_pattern(p, &line);
	at = str_find(buf_str(&text), buf_str(&line));
	if (at < text.len && (at == 0 || text.s[at - 1] == '\n'))
		return 0;
	if (open_check_files(&(struct op){.a = a, .p = p, .err = err}) < 0)
		return -1;
	if (mkdir(path_join(a, p->common, "info"), 0777) < 0 && errno != EEXIST)
		return error_errno(err, "cannot create '%s'", file);
	buf_add(&text, buf_str(&line));
	return disk_replace(
		disk_real(), ".dev-team", realpath(file, real) ? real : file, buf_str(&text), err);
}

/* git removes a worktree with all that is in it, also with other worktrees. */
static int check_around(struct op *o)
{
	const char *dir = o->p->dir, *repo = o->p->repo;

	if (trees_read(o) < 0)
		return -1;
	for (size_t i = 1; i < o->trees.n; i++) {
		const char *path = o->trees.items[i].path;

		if (path_beneath(path, dir) && !path_beneath(path, repo))
			return error_set(o->err, ERR_STATE,
				"'%s' cannot hold worktrees: it is in the worktree '%s', with "
				"which git would remove them: choose another 'rootDir'",
				dir, path);
	}
	return 0;
}

int pool_make_directory(struct arena *a, struct pool *p, struct error *err)
{
	bool locked = p->lock != NULL;
	int rc = locked ? 0 : pool_lock(a, p, err);

	/* A bare repository has no status. */
	if (rc == 0 && path_beneath(p->repo, p->dir) && strcmp(p->repo, p->common) != 0)
		rc = hide(a, p, err);
	if (rc == 0 && !path_exists(p->dir))
		rc = check_around(&(struct op){.a = a, .p = p, .err = err}) < 0
			     ? -1
			     : path_mkdirs(p->dir, err);
	if (!locked)
		pool_unlock(p);
	return rc;
}
