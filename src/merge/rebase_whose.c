/*
 * Finds out who owns a rebase in progress. After a holder died, a user may have begun a rebase of
 * their own in its worktree, or continued ours by hand: neither is ours to undo.
 */
#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { NOTE_MAX = 4096 };

/* A file that git has not written completely counts as missing. */
static const char *note_of(struct rebasing *w, const char *name)
{
	static const char *const dirs[] = {"rebase-merge", "rebase-apply"};

	for (size_t i = 0; i < COUNT(dirs); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		const char *dir = path_join(w->a, w->git_dir, dirs[i]);
		struct error ignored;

		if (sys_read_file(&text, path_join(w->a, dir, name), NOTE_MAX, NULL, &ignored) ==
				0 &&
			str_trim(buf_str(&text)).n)
			return arena_dup(w->a, str_trim(buf_str(&text)));
	}
	return NULL;
}

static bool is_note(struct rebasing *w, const char *name, const char *wanted)
{
	const char *note = note_of(w, name);

	return note && wanted && strcmp(note, wanted) == 0;
}

/* Every change of HEAD since it left the branch was made by gate_rebase(), according to the reflog.
 * *known false: there is no reflog. */
static int all_ours(struct rebasing *w, bool *known, bool *yes, struct error *err)
{
	static const char *const argv[] = {
		"git", "log", "-g", "-n", "100000", "--format=%gs", "HEAD", "--", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int status;

	*known = *yes = false;
	if (rebase_git(w, argv, "git log", 0, &out, &status, err) < 0)
		return -1;
	for (rest = buf_str(&out); str_line(&rest, &line);) {
		*known = true;
		if (!str_starts(line, REBASE_ACTION))
			return 0;
		if (str_starts(line, REBASE_ACTION " (start)")) {
			*yes = true;
			return 0;
		}
	}
	return 0;
}

/* Beside notes of ours that were left behind. */
static bool merges(struct rebasing *w)
{
	static const char *const names[] = {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (path_exists(path_join(w->a, w->git_dir, names[i])))
			return true;
	return false;
}

int rebase_whose(
	struct rebasing *w, const struct git_head *h, enum rebase_whose *out, struct error *err)
{
	const char *own = arena_printf(w->a, "refs/heads/%s", w->branch), *at, *head;
	bool known, ours, attached = h->branch != NULL, still;

	*out = REBASE_ANOTHERS;
	if (rebase_sha(w, own, &at, err) < 0 || rebase_sha(w, "HEAD", &head, err) < 0)
		return -1;
	still = at && strcmp(at, w->rec.before) == 0;
	if (attached && (strcmp(h->branch, w->branch) != 0 || merges(w)))
		return 0;
	if (!note_of(w, "orig-head")) {
		/* Its first notes were incomplete: nothing had been done to the worktree yet. */
		*out = attached && still && w->rec.onto ? REBASE_UNBEGUN : REBASE_ANOTHERS;
		return 0;
	}
	if (!is_note(w, "orig-head", w->rec.before) || !is_note(w, "onto", w->rec.onto) ||
		!is_note(w, "head-name", own))
		return 0;
	if (attached && still) {
		*out = REBASE_OURS;
		return 0;
	}
	if (all_ours(w, &known, &ours, err) < 0)
		return -1;
	if (!known) /* the branch moves to HEAD in the last step of all */
		ours = still || (!attached && at && head && strcmp(at, head) == 0);
	*out = ours ? REBASE_OURS : REBASE_ANOTHERS;
	return 0;
}
