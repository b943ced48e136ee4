/*
 * pool.c: the repository of a pool, the directory that holds its worktrees, what one is called, and
 * whose it is.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/base/number.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { STORE_WAIT_MS = 30000, NAME_DIGITS = 8, POINTER_MAX = 8192 };
enum { SLUG_MAX = 190 }; /* a key of the store has at most 200 bytes */

const struct pool_part *pool_part;

void pool_set_part(const struct pool_part *part)
{
	pool_part = part;
}

/* ---- the repository ---- */

bool pool_is_bare(const struct pool *p)
{
	return strcmp(p->repo, p->common) == 0;
}

static int open_find_directory(struct arena *a, struct pool *p, struct error *err)
{
	struct str base = path_base(p->repo);
	char digest[DIGEST_TEXT];

	digest_text(str_of(p->common), digest);
	if (p->spec.root) /* a relative one is relative to the repository */
		p->dir = path_join(a, p->repo, p->spec.root);
	else if (p->spec.repo_local && !pool_is_bare(p))
		p->dir = path_join(a, p->repo, GIT_WORKTREES);
	else /* two repositories with the same name differ in their digits */
		p->dir = arena_printf(a, "%s/worktrees/%s-%.*s", p->state,
			path_is_id(base) ? base.p : "repository", NAME_DIGITS, digest);
	p->dir = path_real(a, p->dir);
	if (str_utf8_fault(str_of(p->dir)) || str_utf8_fault(str_of(p->common)))
		return error_set(err, ERR_USAGE,
			"the path of the repository or of the worktrees' directory is not UTF-8");
	if (strcmp(p->dir, p->repo) == 0 || strcmp(p->dir, p->common) == 0 ||
		(path_is_below(p->common, p->dir) && !pool_is_bare(p)))
		return error_set(err, ERR_STATE,
			"'%s' cannot hold worktrees: it is the repository itself", p->dir);
	return 0;
}

int pool_open(struct arena *a, const struct worktree_pool_spec *spec, const char *repo,
	const char *state, const char *artifacts, struct pool *out, struct error *err)
{
	*out = (struct pool){.spec = *spec,
		.state = path_absolute(a, state),
		.artifacts = artifacts ? path_absolute(a, artifacts) : NULL,
		.self = process_own_name(a)};
	if (!out->spec.name)
		out->spec.name = "default";
	if (!out->self)
		return error_set(err, ERR_SYSTEM, "cannot read the processes in '/proc'");
	if (git_find_repository(a, repo && *repo ? repo : ".", &out->repo, &out->common, err) < 0 ||
		open_find_directory(a, out, err) < 0)
		return -1;
	if (path_is_shared(out->common))
		path_share();
	if (store_open(&out->store, store_backend(), path_join(a, out->common, "dev-team"),
		    "worktrees", STORE_WRITE | STORE_MARKED,
		    (unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, STORE_WAIT_MS), err) < 0)
		return -1;
	if (!pool_part || pool_part->inspect(a, out, NULL, NULL, err) == 0)
		return 0;
	pool_close(out);
	return -1;
}

void pool_close(struct pool *p)
{
	pool_unlock(p);
	store_close(&p->store);
}

/* ---- the directory ---- */

int pool_make_directory(struct arena *a, struct pool *p, struct error *err)
{
	/* It must not show in the repository's status, which a bare one has not. A `.gitignore` in
	 * it would be ignored itself, so that `git clean -x` deletes it. */
	if (path_is_below(p->repo, p->dir) && !pool_is_bare(p) &&
		git_add_exclude(a, p->common, p->dir + strlen(p->repo), err) < 0)
		return -1;
	return path_mkdirs(p->dir, err);
}

/* ---- names ---- */

/* Every run of other characters than `A-Za-z0-9._`, including dashes, becomes one dash; none is at
 * the ends. */
int pool_slug(struct arena *a, const char *branch, char **slug, struct error *err)
{
	static const char kept[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
	/* The worktree of a work item has the item's id as its name. */
	const char *p = strncmp(branch, "dev-team/", 9) == 0 ? branch + 9 : branch;
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	while (*p) {
		size_t n = strspn(p, kept), skip = strcspn(p + n, kept);

		buf_add(&out, (struct str){p, n});
		if (out.len && skip && p[n + skip])
			buf_addc(&out, '-');
		p += n + skip;
	}
	/* `.` and `..` would be the pool itself and its parent; hidden names are reserved. */
	if (!out.len || out.s[0] == '.' || str_ends(buf_str(&out), ".lock") ||
		str_ends(buf_str(&out), ".") || out.len > SLUG_MAX)
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make the name of a directory: it has no letter "
			"or digit, begins with a dot, ends with a dot or '.lock', or has more than "
			"%d bytes",
			branch, SLUG_MAX);
	*slug = arena_dup(a, buf_str(&out));
	return 0;
}

/* ---- ownership ---- */

static struct ownership read_pointer(struct arena *a, const char *path, const char *common)
{
	struct ownership own = {.reason = "pointer-missing",
		.remedy = "",
		.expected = path_real(a, path_join(a, common, "worktrees"))};
	CLEANUP(buf_release) struct buf raw = BUF_INIT;
	struct error ignored;
	struct str s;

	if (!worktree_there(path) ||
		sys_read_file(&raw, path_join(a, path, ".git"), POINTER_MAX, NULL, &ignored) < 0)
		return own;
	buf_utf8_repair(&raw);
	s = str_trim(buf_str(&raw));
	own.reason = "pointer-malformed";
	own.actual = s.n ? arena_dup(a, s) : NULL;
	if (!str_starts(s, "gitdir:") || str_find(s, STR("\n")) < s.n)
		return own;
	s = str_trim(str_sub(s, strlen("gitdir:"), s.n));
	if (!s.n)
		return own;
	own.actual = path_real(a, path_join(a, path, arena_dup(a, s)));
	own.ok = path_is_below(own.expected, own.actual);
	own.reason = own.ok ? "ok" : "cross-clone";
	return own;
}

struct ownership pool_ownership(struct arena *a, const char *path, const char *common)
{
	struct ownership own = read_pointer(a, path, common);

	if (!own.ok && own.actual && !path_exists(own.actual))
		own.remedy = arena_printf(
			a, "; if the repository was moved, run 'git worktree repair %s'", path);
	return own;
}

bool worktree_there(const char *path)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	struct stat st;

	buf_addf(&file, "%s/.git", path);
	return lstat(file.s, &st) == 0 && S_ISREG(st.st_mode);
}
