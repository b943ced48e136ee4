#include "src/sys/git.h"
#include "src/worktree/pool_internal.h"

/*
 * Where a new branch begins, in this order: what the caller names; the branch of the same name on
 * the remote; the target on the remote; the local target; without a target, the default branch.
 */

enum { CANDIDATES = 5, ABOVE_MAX = 8 };

static bool is_commit(struct str s)
{
	if (s.n != 40 && s.n != 64)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return true;
}

static int resolve(
	struct arena *a, struct pool *p, const char *name, const char **commit, struct error *err)
{
	const char *const args[] = {"rev-parse", "--verify", "--quiet", "--end-of-options",
		arena_printf(a, "%s^{commit}", name), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str line;
	int status;

	if (pool_git(p, NULL, args, &out, &status, err) < 0)
		return -1;
	line = str_trim(buf_str(&out));
	/* Newer versions of git print the option itself first. */
	if (str_starts(line, "--end-of-options"))
		line = str_trim(str_sub(line, strlen("--end-of-options"), line.n));
	if (status != 0 || !is_commit(line))
		return error_set(err, ERR_STATE,
			"there is no commit '%.200s' in '%s' to begin a branch from", name,
			p->repo);
	*commit = arena_dup(a, line);
	return 0;
}

static const char *short_name(const char *full)
{
	static const char *const prefixes[] = {"refs/heads/", "refs/remotes/"};

	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(str_of(full), prefixes[i]))
			return full + strlen(prefixes[i]);
	return full;
}

static int take(const struct ref *ref, struct base *out)
{
	out->name = short_name(ref->name);
	out->commit = ref->commit;
	return 0;
}

/* The first of these names that exists. */
static int first_of(struct pool *p, const struct refs *refs, const char *const *names,
	struct base *out, struct error *err)
{
	const struct ref *ref;

	for (size_t i = 0; names[i]; i++)
		if ((ref = refs_find(refs, names[i])))
			return take(ref, out);
	return error_set(err, ERR_STATE,
		"there is no branch '%s' in '%s' to begin from: commit and push something, fetch "
		"it, or give --base",
		short_name(names[0]), p->repo);
}

/* git stores branches as files in directories: only one of `a` and `a/b` can exist. */
static int check_room(
	const struct refs *refs, const char *branch, const char *const *above, struct error *err)
{
	const char *in_the_way = refs->below;

	for (; *above && !in_the_way; above++)
		if (refs_find(refs, *above))
			in_the_way = *above;
	if (!in_the_way)
		return 0;
	return error_set(err, ERR_STATE,
		"branch '%s' cannot exist beside '%s': rename that one ('git branch -m')", branch,
		short_name(in_the_way));
}

/* The names, and the branches that would be directories above the first one, in *above. */
static const char **with_above(struct arena *a, const char *const *names, const char ***above)
{
	const char **all = arena_alloc(a, (CANDIDATES + ABOVE_MAX + 1) * sizeof(*all));
	size_t n = 0, end, least = strlen("refs/heads/");

	for (; names[n]; n++)
		all[n] = names[n];
	*above = all + n;
	end = n + ABOVE_MAX;
	for (const char *at = names[0] + least; n < end && (at = strchr(at, '/')); at++)
		all[n++] = arena_dup(a, (struct str){names[0], (size_t)(at - names[0])});
	all[n] = NULL;
	return all;
}

/* The default branch as this clone knows it. */
static int find_default(struct arena *a, struct pool *p, struct base *out, struct error *err)
{
	struct git_default known;

	if (git_read_default(a, p->repo, &known, err) < 0)
		return -1;
	if (!known.ref)
		return error_set(err, ERR_STATE,
			"'%s' has no default branch to begin from: commit and push something, "
			"fetch it, or give --base",
			p->repo);
	*out = (struct base){.name = short_name(known.ref), .commit = known.commit};
	return 0;
}

int base_find(struct arena *a, struct pool *p, const struct allocate_ask *ask, struct base *out,
	struct error *err)
{
	const char *target = ask->target && *ask->target ? ask->target : NULL;
	const char *names[CANDIDATES] = {arena_printf(a, "refs/heads/%s", ask->branch),
		arena_printf(a, "refs/remotes/origin/%s", ask->branch),
		target ? arena_printf(a, "refs/remotes/origin/%s", target) : NULL,
		target ? arena_printf(a, "refs/heads/%s", target) : NULL, NULL};
	const char **above, **all = with_above(a, names, &above);
	const struct ref *own, *theirs;
	struct refs refs;

	*out = (struct base){0};
	if (refs_look(a, p, all, &refs, err) < 0)
		return -1;
	own = refs_find(&refs, names[0]);
	theirs = refs_find(&refs, names[1]);
	if (own) {
		out->exists = true;
		out->commit = own->commit;
		return 0;
	}
	if (check_room(&refs, ask->branch, above, err) < 0)
		return -1;
	if (ask->base && *ask->base) {
		out->name = short_name(ask->base);
		return resolve(a, p, ask->base, &out->commit, err);
	}
	if (theirs)
		return take(theirs, out);
	return target ? first_of(p, &refs, names + 2, out, err) : find_default(a, p, out, err);
}

int sparse_check(
	struct arena *a, struct pool *p, const char *commit, const char *dir, struct error *err)
{
	const char *const args[] = {"cat-file", "-t", arena_printf(a, "%s:%s", commit, dir), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest = str_of(dir);
	int status;

	if (!rest.n || dir[0] == '/' || dir[0] == '-' || dir[0] == '!' ||
		strpbrk(dir, "*?[\\\n\"") || str_utf8_fault(rest))
		return error_set(err, ERR_USAGE,
			"'%.200s' is not a directory of the repository, as --sparse requires", dir);
	if (pool_git(p, NULL, args, &out, &status, err) < 0)
		return -1;
	if (status != 0 || !str_is(str_trim(buf_str(&out)), "tree"))
		return error_set(err, ERR_INPUT, "there is no directory '%.200s' in commit %.12s",
			dir, commit);
	return 0;
}
