/*
 * place.c: the directories of a root, which outlive its runs: the copy of the repository, copies of
 * protected files, and /tmp; and the caches of its repository, which its worktrees share. Caches of
 * different repositories are apart, so that none can plant code for another.
 *
 * Two locks: `mutex` for the moments in which a run begins or ends, whose file has the names that
 * are protected meanwhile (protected.c); `live` is shared by all runs of the root, and whoever gets
 * it exclusively is alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "context/file.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/digest.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

enum { SHORT = 12 }; /* of a digest in /tmp: paths of sockets are short */

/* Removes the directories of roots that are gone. */
static void prune_roots(struct sandbox *s, const char *all)
{
	struct directory_names names;
	struct error ignored;
	struct stat st;
	bool missing;

	if (directory_list(s->arena, all, &names, &missing, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *dir = path_join(s->arena, all, names.items[i]);
		const char *root = path_join(s->arena, dir, "root");

		if (lstat(root, &st) == 0 && !path_exists(root))
			sandbox_remove_tree(dir);
	}
}

static int make_state(struct sandbox *s, const char *state, struct error *err)
{
	const char *all = path_join(s->arena, state, "sandbox/roots"), *link;
	char digest[DIGEST_TEXT];

	s->state = state;
	/* Those that only read share nothing with those that write. */
	digest_two(str_of(s->x->root->path), s->x->policy->write ? STR("") : STR("\n"), digest);
	s->dir = path_join(s->arena, all, digest);
	link = path_join(s->arena, s->dir, "root");
	if (path_mkdirs(s->dir, err) < 0)
		return -1;
	if (symlink(s->x->root->path, link) == 0)
		prune_roots(s, all);
	else if (errno != EEXIST)
		return error_errno(err, "cannot make '%s'", link);
	digest_text(str_of(s->view.common ? s->view.common : s->x->root->path), digest);
	s->caches = arena_printf(s->arena, "%s/sandbox/caches/%s", state, digest);
	return path_mkdirs(s->caches, err);
}

/* Of this user alone: others could put links there. */
static int make_temporary(struct sandbox *s, struct error *err)
{
	const char *own = arena_printf(s->arena, "/tmp/dev-team-%u", (unsigned)geteuid());
	char digest[DIGEST_TEXT];
	struct stat st;

	digest_text(str_of(s->dir), digest);
	if ((mkdir(own, 0700) < 0 && errno != EEXIST) || lstat(own, &st) < 0 ||
		!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return error_set(err, ERR_STATE,
			"'%s' must be a directory that only you can use: remove it", own);
	s->tmp = arena_printf(s->arena, "%s/%.*s", own, SHORT, digest);
	return path_mkdirs(s->tmp, err);
}

static int sandbox_place_lock_file(const struct sandbox *s, const char *name, struct error *err)
{
	const char *path = path_join(s->arena, s->dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? error_errno(err, "cannot open '%s'", path) : fd;
}

/* A root that holds HOME or our state would let the command write both. */
static int check_root(const struct sandbox *s, const char *state, struct error *err)
{
	const char *const inside[] = {getenv("HOME"), state};
	char real[PATH_MAX];
	struct str rest;

	for (size_t i = 0; i < COUNT(inside); i++)
		if (inside[i] && realpath(inside[i], real) &&
			path_below(str_of(real), str_of(s->x->root->path), &rest))
			return error_set(err, ERR_STATE,
				"'%.200s' contains '%.200s', which commands must not write: work "
				"in a directory of its own",
				s->x->root->path, real);
	return 0;
}

int sandbox_place_open(struct sandbox *s, struct error *err)
{
	char *state;

	if (context_state_directory(s->arena, &state, err) < 0 || path_mkdirs(state, err) < 0 ||
		check_root(s, state, err) < 0 || make_state(s, state, err) < 0 ||
		make_temporary(s, err) < 0 ||
		(s->mutex = sandbox_place_lock_file(s, "mutex", err)) < 0)
		return -1;
	return (s->live = sandbox_place_lock_file(s, "live", err)) < 0 ? -1 : 0;
}

/* Afterwards the run counts as live, and s->alone says whether it is the only one. */
void sandbox_place_lock(struct sandbox *s)
{
	(void)TEMP_FAILURE_RETRY(flock(s->mutex, LOCK_EX));
	s->alone = flock(s->live, LOCK_EX | LOCK_NB) == 0;
}

void sandbox_place_unlock(struct sandbox *s)
{
	(void)TEMP_FAILURE_RETRY(flock(s->live, LOCK_SH));
	(void)flock(s->mutex, LOCK_UN);
}

void sandbox_place_close(struct sandbox *s)
{
	base_close(&s->live);
	base_close(&s->mutex);
	s->live = s->mutex = -1;
}
