/*
 * leftover.c: commits what an agent has changed in the item's place and left uncommitted. Changes
 * that were there when the action was requested are not the agent's; a mark, a digest of the path
 * and the file's state, tells which they are. A person has seen these alone: only they are
 * committed with an approval.
 */
#include <sys/stat.h>
#include "src/local/local.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

enum { MARK_SIZE = 17, MARKS_MAX = 3001 /* so many: there were more than 3,000 */ };
/* Follows the mark of what is no part of an approval once a script may have made it. */
#define MARK_LOOSE "?"

/* What tells one state of the file from another. That of a repository is its commit: its directory
 * stays as it is when the files in it change. */
static const char *leftover_state_of(struct arena *a, const char *full, const struct git_change *c)
{
	struct git_tip tip = {0};
	struct stat st = {0};
	struct error ignored;

	(void)lstat(full, &st);
	if (S_ISDIR(st.st_mode) && path_exists(path_join(a, full, ".git")) &&
		git_read_tip(a, full, &tip, &ignored) == 0 && tip.commit)
		return arena_printf(a, "%s %d", tip.commit, c->inside);
	return arena_printf(a, "%lld %lld.%09ld %lld.%09ld %llu %o", (long long)st.st_size,
		(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
		st.st_ctim.tv_nsec, (unsigned long long)st.st_ino, (unsigned)st.st_mode);
}

/* Half a digest of a path and the state of its file. */
static char *leftover_mark_of(struct arena *a, const char *directory, const struct git_change *c)
{
	const char *state = leftover_state_of(a, path_join(a, directory, c->path), c);
	char digest[DIGEST_TEXT];

	digest_text(str_of(arena_printf(a, "%s\n%s", c->path, state)), digest);
	return arena_dup(a, (struct str){digest, MARK_SIZE - 1});
}

/* Nothing is committed, staged or changed since the place was chosen. */
static bool is_untouched(struct arena *a, const struct item_place *p)
{
	struct git_tip tip;
	struct error ignored;
	const char *tree = p->tree ? git_unchanged_tree(a, p->directory, true) : NULL;

	return tree && strcmp(tree, p->tree) == 0 &&
	       git_read_tip(a, p->directory, &tip, &ignored) == 0 && tip.commit &&
	       strcmp(tip.commit, p->base) == 0;
}

int place_marks(struct arena *a, const struct item_place *p, json **marks, struct error *err)
{
	struct git_status s;

	*marks = json_array();
	if (is_untouched(a, p))
		return 0;
	if (git_read_status(a, p->directory, &s, err) < 0) {
		err->code = err->code == ERR_CHECK ? ERR_STATE : err->code;
		return -1;
	}
	for (size_t i = 0; i < s.changes.n && i < MARKS_MAX; i++) {
		const struct git_change *c = &s.changes.items[i];
		bool loose = c->untracked || c->inside || place_was_dirty(p, c->path);

		json_push_str(
			*marks, str_of(arena_printf(a, "%s%s", leftover_mark_of(a, p->directory, c),
					loose ? MARK_LOOSE : "")));
	}
	return 0;
}

/* NULL: the change has none. */
static const json *find_mark(
	struct arena *a, const struct item_place *p, const json *marks, const struct git_change *c)
{
	const char *mark = leftover_mark_of(a, p->directory, c);

	for (const json *m = json_first(marks); m; m = json_next(m))
		if (strncmp(json_text(m), mark, MARK_SIZE - 1) == 0)
			return m;
	return NULL;
}

/* The approval is void if the change is gone. */
static bool is_needed(const struct item_place *p, const json *mark)
{
	return (p->fresh && !p->in_place) || !str_ends(str_of(json_text(mark)), MARK_LOOSE);
}

const char *place_find_unseen(
	struct arena *a, const struct item_place *p, const struct git_status *s, bool *gone)
{
	bool full = json_len(p->marks) == MARKS_MAX;
	size_t needed = 0;

	for (const json *m = json_first(p->marks); m; m = json_next(m))
		needed += is_needed(p, m);
	for (size_t i = 0; i < s->changes.n; i++) {
		const struct git_change *c = &s->changes.items[i];
		const json *mark = find_mark(a, p, p->marks, c);

		if (!mark && !(p->in_place && place_was_dirty(p, c->path)) &&
			!(full && c->untracked)) /* more were there than have marks */
			return c->path;
		needed -= mark && is_needed(p, mark);
	}
	*gone = needed > 0;
	return NULL;
}

/* `git status` lists a nested repository with a slash at its end. */
static bool is_repository(const struct git_change *c)
{
	return str_ends(str_of(c->path), "/");
}

/* A refusal is reported to the agent, which can correct it. */
static int refuse_change(
	struct arena *a, const struct item_place *p, const struct git_change *c, struct error *err)
{
	bool secret = false;
	const char *remedy =
		p->in_place ? "it may be the user's: leave it, and" : "remove it, restore it, or";

	if (c->inside)
		return error_set(err, ERR_CHECK,
			"the submodule '%s' has uncommitted files: commit and push them there, or "
			"restore them",
			c->path);
	if (c->conflict)
		return error_set(err, ERR_CHECK, "'%s' has unresolved conflicts", c->path);
	if (is_repository(c))
		return error_set(err, ERR_CHECK,
			"'%s' is a repository of its own and is not committed: %s have git ignore "
			"it",
			c->path, p->in_place ? remedy : "remove it, or");
	if (path_exists(path_join(a, p->directory, c->path)) &&
		place_may_hold_secret(a, p, c->path, &secret, err) < 0)
		return -1;
	if (secret)
		return error_set(err, ERR_CHECK,
			"'%s' may hold a secret and is not committed: %s have git ignore it",
			c->path, remedy);
	return 0;
}

/* Until a script has been requested, only agents can have made it. */
static bool is_of_agents(const struct item_place *p, const struct git_change *c)
{
	return c->untracked && p->fresh && !p->in_place;
}

/* A file that existed before the request is not committed for the agent. If an agent has made it, a
 * validation would use it; so it is refused. */
static int leftover_refuse_old(
	const struct item_place *p, const struct git_change *c, struct error *err)
{
	if (!is_of_agents(p, c))
		return 0;
	return error_set(err, ERR_CHECK,
		"'%s' existed before the request and is not committed: commit it, remove it, or "
		"have git "
		"ignore it",
		c->path);
}

/* What was changed when the approval was requested, but for what is the user's or may be the output
 * of a build. */
static bool is_approved(const struct item_place *p, const struct git_change *c, bool marked)
{
	return marked && !c->inside && !place_was_dirty(p, c->path) &&
	       (!c->untracked || is_of_agents(p, c));
}

struct path_list {
	const char **items;
	size_t n, cap;
};

static int collect_changes(struct arena *a, const struct item_place *p, const json *marks,
	const struct git_status *s, struct path_list *out, struct error *err)
{
	for (size_t i = 0; i < s->changes.n; i++) {
		const struct git_change *c = &s->changes.items[i];
		bool marked = find_mark(a, p, marks, c) != NULL;

		if (p->shown ? !is_approved(p, c, marked)
			     : p->in_place && place_was_dirty(p, c->path))
			continue;
		if (marked && !p->shown) {
			if (leftover_refuse_old(p, c, err) < 0)
				return -1;
			continue;
		}
		if (refuse_change(a, p, c, err) < 0)
			return -1;
		vec_push_in(a, out, c->path);
	}
	return 0;
}

int place_commit_leftovers(const struct item_place *p, const char *id, const json *marks,
	bool *done, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct path_list paths = {0};
	struct git_status s;
	const char *operation;

	*done = false;
	if (git_read_status(&a, p->directory, &s, err) < 0 ||
		collect_changes(&a, p, marks, &s, &paths, err) < 0)
		return -1;
	if (!paths.n)
		return 0;
	if (json_len(marks) == MARKS_MAX)
		return error_set(err, ERR_CHECK,
			"'%s' is not committed, because too many files were changed before: commit "
			"it yourself",
			paths.items[0]);
	if (p->branch && (!s.branch || strcmp(s.branch, p->branch) != 0))
		return error_set(err, ERR_CHECK,
			"HEAD is not on the branch '%s': switch back to it", p->branch);
	if (git_read_operation(p->directory, &operation, err) < 0)
		return -1;
	if (operation)
		return error_set(
			err, ERR_CHECK, "a %s is in progress: finish or abort it", operation);
	if (!p->in_place)
		git_clear_locks(p->directory, p->branch);
	return git_commit_paths(p->directory, paths.items, paths.n,
		arena_printf(&a, "%s: commit what was left uncommitted", id), done, err);
}
