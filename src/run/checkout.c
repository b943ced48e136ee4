/*
 * checkout.c: work in the user's checkout, by one item at a time. The store `checkouts` in the
 * state directory records which. A claim is valid while the item's document exists and the item has
 * not ended, so it needs no release.
 */
#include "context/file.h"
#include "src/run/run_internal.h"
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

#define STORE_NAME "checkouts"
enum { LOCK_WAIT_MS = 30000, DIRTY_MAX = 32 << 10 };

/* ---- the claim ---- */

/* -1: another item is in progress there, or has used this branch. */
static int check_other(struct arena *a, const struct run_entry *e, const struct item_place *place,
	struct str value, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *path = arena_dup(a, value);
	struct item_place other = {0};
	struct error ignored;

	if (!value.n || strcmp(path, e->document) == 0 ||
		context_open(&f, path, CONTEXT_READ_ONLY, &ignored) < 0)
		return 0;
	if (!new_item_ended(&f.doc))
		return error_set(err, ERR_STATE,
			"'%s' is in use by '%s': finish that item first, or work without "
			"--in-place",
			place->directory, path);
	if (str_eq(path_base(path), path_base(e->document)) || /* the item was reset */
		place_load(a, &f, &other, &ignored) < 0 || !other.branch ||
		strcmp(other.branch, place->branch) != 0)
		return 0;
	return error_set(err, ERR_STATE,
		"the branch '%s' has the work of '%s': switch to another branch", place->branch,
		path);
}

/* *s: the claims, NULL: there are none; *claim: that of the directory. */
static int open_claims(struct arena *a, const char *directory, enum store_mode mode,
	struct store **s, struct store_kv *claim, struct error *err)
{
	char key[DIGEST_TEXT], *state;
	bool there;

	digest_text(str_of(directory), key);
	if (context_state_directory(a, &state, err) < 0 ||
		store_exists(store_backend(), state, STORE_NAME, "none", &there, err) < 0)
		return -1;
	if (!there && mode == STORE_READ)
		return 0;
	return store_open(s, store_backend(), state, STORE_NAME, mode, LOCK_WAIT_MS, err) < 0 ||
			       store_get(*s, a, key, claim, err) != STORE_OK
		       ? -1
		       : 0;
}

static int claim_checkout(struct arena *a, const struct run_entry *e,
	const struct item_place *place, struct error *err)
{
	CLEANUP(store_close) struct store *s = NULL;
	char key[DIGEST_TEXT];
	const struct store_op op = {.what = STORE_PUT, .key = key, .value = str_of(e->document)};
	const struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result;
	struct store_kv claim;

	digest_text(str_of(place->directory), key);
	if (open_claims(a, place->directory, STORE_HOLD, &s, &claim, err) < 0 ||
		check_other(a, e, place, claim.value, err) < 0)
		return -1;
	if (str_is(claim.value, e->document))
		return 0;
	return store_txn(s, a, &t, &result, err) == STORE_OK ? 0 : -1;
}

int checkout_check_free(struct arena *a, const struct run_entry *e, struct error *err)
{
	const struct item_place place = {.directory = e->repo, .branch = ""};
	CLEANUP(store_close) struct store *s = NULL;
	struct store_kv claim = {0};

	return open_claims(a, e->repo, STORE_READ, &s, &claim, err) < 0
		       ? -1
		       : check_other(a, e, &place, claim.value, err);
}

bool checkout_is_copied(struct arena *a, const char *document, const char *directory)
{
	CLEANUP(store_close) struct store *s = NULL;
	struct store_kv claim = {0};
	struct error ignored;
	const char *other;

	if (open_claims(a, directory, STORE_READ, &s, &claim, &ignored) < 0 || !claim.value.n)
		return false;
	other = arena_dup(a, claim.value);
	return str_eq(path_base(other), path_base(document)) && path_exists(other) &&
	       strcmp(path_real(a, other), path_real(a, document)) != 0;
}

/* ---- the branch and what is there ---- */

/* Whether the document can keep them. */
static bool names_fit(const char *const *names, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += strlen(names[i]);
		if (bytes > DIRTY_MAX || str_utf8_fault(str_of(names[i])))
			return false;
	}
	return true;
}

static int choose_checkout(struct arena *a, const struct run_entry *e, const char *id,
	struct item_place *place, struct error *err)
{
	struct git_head head;
	struct git_status s;

	if (git_read_head(a, e->repo, &head, err) < 0 ||
		preflight_check_head(&head, e->repo, id, err) < 0 ||
		git_read_status(a, e->repo, &s, err) < 0 ||
		preflight_check_clean(e->repo, e->call->allow_dirty, &s, err) < 0) {
		err->code = err->code == ERR_CHECK ? ERR_STATE : err->code;
		return -1;
	}
	*place = (struct item_place){
		.directory = e->repo, .branch = head.branch, .base = s.head, .in_place = true};
	for (size_t i = 0; i < s.changes.n; i++)
		vec_push_in(a, &place->dirty, s.changes.items[i].path);
	if (!names_fit(place->dirty.items, place->dirty.n))
		return error_set(err, ERR_STATE,
			"'%s' has too many uncommitted changes (%zu), or one of a file whose name "
			"is not UTF-8: commit or stash them",
			e->repo, s.changes.n);
	/* Files whose changes git does not show, as the user wants it. */
	if (git_read_identity(a, place->directory, &place->identity, err) < 0 ||
		place_note_hidden(a, place, err) < 0)
		return -1;
	if (!names_fit(place->hidden.items, place->hidden.n))
		return error_set(err, ERR_STATE,
			"'%s' has too many files marked 'assume-unchanged' or 'skip-worktree', or "
			"one whose name is not UTF-8: work in a worktree, without --in-place",
			place->directory);
	return 0;
}

/* A commit on another branch would belong to another item. */
static int checkout_check_head(
	struct arena *a, const struct item_place *place, const char *id, struct error *err)
{
	const char *now;

	if (git_read_branch(a, place->directory, &now, err) < 0)
		return -1;
	if (now && strcmp(now, place->branch) == 0)
		return 0;
	return error_set(err, ERR_STATE,
		"'%s' is on %s%s%s, but the branch of '%s' is '%s': run 'git switch %s'",
		place->directory, now ? "'" : "", now ? now : "no branch", now ? "'" : "", id,
		place->branch, place->branch);
}

int checkout_enter(struct arena *a, const struct run_entry *e, const char *id,
	struct item_place *place, bool *changed, struct error *err)
{
	if (place->directory) {
		if (claim_checkout(a, e, place, err) < 0)
			return -1;
		return checkout_check_head(a, place, id, err);
	}
	if (e->call->worktree && (e->call->worktree->slots || e->call->worktree->parent))
		return error_set(err, ERR_USAGE,
			"--slots and --parent need a worktree, but this item works in the "
			"checkout");
	if (choose_checkout(a, e, id, place, err) < 0)
		return -1;
	*changed = true;
	return claim_checkout(a, e, place, err);
}
