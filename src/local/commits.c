/* commits.c: which files must not be in what is committed and pushed. */
#include <fnmatch.h>
#include "src/local/local.h"
#include "src/sys/path.h"
#include "src/sys/secrets.h"

int place_note_hidden(struct arena *a, struct item_place *p, struct error *err)
{
	struct git_hidden h;

	if (git_find_hidden(a, p->directory, place_is_sparse(p), &h, err) < 0)
		return -1;
	for (size_t i = 0; i < h.paths.n; i++)
		vec_push_in(a, &p->hidden, h.paths.items[i]);
	for (size_t i = 0; i < h.attributes.n; i++)
		vec_push_in(a, &p->hidden, h.attributes.items[i]);
	for (size_t i = 0; i < h.submodules.n; i++)
		vec_push_in(a, &p->hidden, h.submodules.items[i]);
	return 0;
}

static bool commits_is_allowed(const struct item_place *p, const char *path)
{
	for (size_t i = 0; i < p->n_allow_secrets; i++)
		if (fnmatch(p->allow_secrets[i], path, 0) == 0)
			return true;
	return false;
}

int place_may_hold_secret(
	struct arena *a, const struct item_place *p, const char *path, bool *may, struct error *err)
{
	const char *tracked = NULL;

	*may = secrets_is_file(str_of(path)) && !commits_is_allowed(p, path);
	if (!*may || !p->base)
		return 0;
	if (git_read_file_id(a, p->directory, p->base, path, &tracked, err) < 0)
		return -1;
	*may = !tracked;
	return 0;
}

/* `git push --recurse-submodules=check` looks only at submodules with a remote-tracking branch. One
 * without a repository is found elsewhere. */
static int check_submodule_remote(struct arena *a, const struct item_place *p, const char *path,
	const char **fault, struct error *err)
{
	const char *const refs[] = {"git", "for-each-ref", "--count=1", "refs/remotes", NULL};
	const struct git_command c = {
		.dir = path_join(a, p->directory, path), .name = "git for-each-ref", .argv = refs};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	if (!status && !out.len)
		*fault = arena_printf(a,
			"the submodule '%s' has no branch of a remote, so that its commits are "
			"nowhere else: push them to its remote, and fetch from there",
			path);
	return 0;
}

/* *fault: the commits contain a repository that is inside of the work tree, and nothing says where
 * others get it. git makes such a link without a question. */
static int find_link(struct arena *a, const struct item_place *p, const char *path,
	const char **fault, struct error *err)
{
	const char *const tree[] = {"git", "ls-tree", "HEAD", "--", path, NULL};
	const char *const modules[] = {"git", "config", "-z", "--blob", "HEAD:.gitmodules",
		"--get-regexp", "\\.path$", NULL};
	struct git_command c = {.dir = p->directory, .name = "git ls-tree", .argv = tree};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *entry = arena_printf(a, "\n%s", path);
	int status;

	if (!path_is_directory(path_join(a, p->directory, path)))
		return 0;
	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	if (!str_starts(buf_str(&out), "160000 "))
		return 0;
	buf_clear(&out);
	c.argv = modules;
	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	for (size_t at = 0; at < out.len && !status; at += strlen(out.s + at) + 1)
		if (str_ends(str_of(out.s + at), entry))
			return check_submodule_remote(a, p, path, fault, err);
	*fault = arena_printf(a,
		"'%s' is a repository of its own, and the commits link to it without an entry in "
		"'.gitmodules', so that a clone cannot fetch it: take it out ('git rm -q --cached "
		"%s'), commit that, and have git "
		"ignore it",
		path, path);
	return 0;
}

/* *commit: of the default branch of `origin`; its commits on the item's branch are not the agent's.
 * The agent can move this clone's reference, so `origin` is asked if there are such commits. NULL:
 * there are none. */
static int find_upstream(
	struct arena *a, const struct item_place *p, const char **commit, struct error *err)
{
	const char *newest, *fork, *head = "HEAD";
	struct git_commit at;
	struct git_default of;
	size_t n = 1;

	*commit = NULL;
	if (git_read_default(a, p->directory, &of, err) < 0 ||
		git_read_commits(a, p->directory, &head, 1, &at, err) < 0)
		return -1;
	if (!of.remote || !at.id)
		return 0;
	fork = git_fork_point(a, p->directory, at.id, of.commit);
	if (fork && git_count_commits(p->directory, p->base, fork, &n, err) < 0)
		return -1;
	if (!n)
		return 0;
	newest = git_fetch_newest(a, p->directory);
	*commit = newest ? newest : of.commit;
	return 0;
}

/* They would be in what is pushed also if a later commit has removed them. */
static int find_unwanted(
	struct arena *a, const struct item_place *p, const char **fault, struct error *err)
{
	struct git_paths paths;
	const char *upstream;
	bool may = false;

	if (!p->base)
		return 0;
	if (find_upstream(a, p, &upstream, err) < 0 ||
		git_list_committed(a, p->directory, p->base, upstream, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.list.n; i++) {
		const char *path = paths.list.items[i];

		if (p->script && strcmp(path, p->script) == 0) {
			*fault = arena_printf(a,
				"'%s' is the user's, who has not committed it, and the commits "
				"contain "
				"one in its place: remove it from them ('git reset --soft %.12s', "
				"'git "
				"reset -q -- PATH', and commit the rest)",
				path, p->base);
			return 0;
		}
		if (place_may_hold_secret(a, p, path, &may, err) < 0)
			return -1;
		if (!may && find_link(a, p, path, fault, err) < 0)
			return -1;
		if (*fault)
			return 0;
		if (!may)
			continue;
		*fault = arena_printf(a,
			"'%s' may hold a secret, and the commits contain it: remove it from them "
			"('git reset --soft %.12s', 'git reset -q -- PATH', and commit the rest) "
			"and have git ignore it",
			path, p->base);
		return 0;
	}
	return 0;
}

int place_check_commits(
	struct arena *a, const struct item_place *p, const char **fault, struct error *err)
{
	const char *path = NULL;

	*fault = NULL;
	if (p->in_place && git_find_touched(a, p->directory, p->base, p->dirty.items, p->dirty.n,
				   &path, err) < 0)
		return -1;
	if (path)
		*fault = arena_printf(a,
			"'%s' was changed in the checkout before the item began, and the commits "
			"contain it: remove it from them and keep the file ('git reset "
			"--soft %.12s', 'git reset -q -- PATH', and commit the rest)",
			path, p->base ? p->base : "");
	return path ? 0 : find_unwanted(a, p, fault, err);
}
