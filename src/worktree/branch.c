#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/*
 * A branch is deleted only by the allocation that created it, and only if it has not moved. Its
 * reflog identifies the allocation by a unique text.
 */

enum { REFLOG_MAX = 4096 };

static char *message(struct arena *a, const struct allocation *of)
{
	char digest[DIGEST_TEXT];

	record_digest(of->path, digest);
	return arena_printf(a, "dev-team: allocated %.12s %lld", digest, (long long)of->created);
}

int branch_make(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *const args[] = {"update-ref", "--create-reflog", "-m", message(a, of),
		arena_printf(a, "refs/heads/%s", of->branch), of->tip, "", NULL};

	return pool_git(p, NULL, args, NULL, NULL, err);
}

int branch_commit(struct arena *a, struct pool *p, const struct allocation *of, const char **commit,
	struct error *err)
{
	const char *const names[] = {arena_printf(a, "refs/heads/%s", of->branch), NULL};
	const struct ref *ref;
	struct refs refs;

	if (refs_look(a, p, names, &refs, err) < 0)
		return -1;
	ref = refs_find(&refs, names[0]);
	*commit = ref ? ref->commit : of->tip;
	return 0;
}

/* The reflog has one line, which is ours. git deletes the reflog before the branch: after a process
 * died in between there may be none. */
static bool is_as_made(struct arena *a, const struct pool *p, const struct allocation *of)
{
	bool missing = false;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *log = arena_printf(a, "%s/logs/refs/heads/%s", p->common, of->branch);
	struct error ignored;
	struct str rest, line, none;

	if (sys_read_file(&text, log, REFLOG_MAX, &missing, &ignored) < 0)
		return missing && of->resumed;
	rest = buf_str(&text);
	return str_line(&rest, &line) && !str_line(&rest, &none) &&
	       str_ends(line, arena_printf(a, "\t%s", message(a, of)));
}

static int is_checked_out(
	struct arena *a, struct pool *p, const struct allocation *of, bool *is, struct error *err)
{
	struct place *list, own;
	size_t n;

	place_look(a, p->common, &own);
	*is = own.branch && strcmp(own.branch, of->branch) == 0;
	if (places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !*is; i++)
		*is = list[i].branch && strcmp(list[i].branch, of->branch) == 0;
	return 0;
}

int branch_drop(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *const args[] = {
		"update-ref", "-d", arena_printf(a, "refs/heads/%s", of->branch), of->tip, NULL};
	bool out;
	int status;

	if (!of->made_branch || !of->tip || !is_as_made(a, p, of))
		return 0;
	if (is_checked_out(a, p, of, &out, err) < 0)
		return -1;
	/* git compares with `tip` once more; a branch that has moved meanwhile is kept. */
	return out ? 0 : pool_git(p, NULL, args, NULL, &status, err);
}

int admin_drop(struct arena *a, struct pool *p, const struct allocation *of, const char *admin,
	struct error *err)
{
	const char *trash = trash_admin_path(a, p, of->path);

	/* Its contents were checked when it was moved there. */
	return trash_delete(trash, err) < 0 ? -1 : trash_move(admin, trash, err);
}
