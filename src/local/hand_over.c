/*
 * hand_over.c: copies a validation script that the user has not committed into the item's worktree,
 * next to a `.gitignore` that hides both. The repository's info/exclude would hide the user's own
 * file too, because it applies to all worktrees.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "src/base/json.h"
#include "src/local/local.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

#define HIDES "/.gitignore\n/%s\n"

enum { SCRIPT_MAX = 4 << 20 };

/* The first word of the command that is a script of the checkout; NULL: there is none. Other files
 * were built or installed there. */
static const char *find_script(
	struct arena *a, const char *repo, struct str command, struct stat *st)
{
	char real[PATH_MAX];

	while (command.n) {
		size_t n = 0;
		const char *word;

		while (n < command.n && !strchr(" \t\n;&|()", command.p[n]))
			n++;
		word = arena_dup(a, str_sub(command, 0, n));
		command = str_sub(command, n + (n < command.n), command.n);
		word += str_starts(str_of(word), "./") ? 2 : 0;
		if (str_ends(str_of(word), ".sh") && *word != '/' && !strstr(word, "..") &&
			realpath(path_join(a, repo, word), real) &&
			str_starts(str_of(real), arena_printf(a, "%s/", repo)) &&
			stat(real, st) == 0 && S_ISREG(st->st_mode))
			return word;
	}
	return NULL;
}

/* An agent could have made a link that leads out of the worktree. */
static int hand_over_make_directory(
	struct arena *a, const struct item_place *p, const char *dir, struct error *err)
{
	char root[PATH_MAX], real[PATH_MAX];

	if (path_mkdirs(dir, err) < 0)
		return -1;
	if (!realpath(p->directory, root) || !realpath(dir, real))
		return error_errno(err, "cannot find '%s'", dir);
	return strcmp(real, root) == 0 || str_starts(str_of(real), arena_printf(a, "%s/", root))
		       ? 0
		       : error_set(err, ERR_STATE, "'%s' is a link out of the worktree: remove it",
				 dir);
}

static bool hand_over_has_text(const char *file, struct str text)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT;
	struct error ignored;

	return sys_read_file(&old, file, SCRIPT_MAX, NULL, &ignored) == 0 &&
	       str_eq(buf_str(&old), text);
}

static int put_file(const char *file, struct str text, mode_t mode, struct error *err)
{
	CLEANUP(base_close) int fd = -1;

	if (hand_over_has_text(file, text))
		return 0;
	if (unlink(file) == 0 || errno == ENOENT)
		fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	return fd < 0 ? error_errno(err, "cannot write '%s'", file)
		      : sys_write_all(fd, text, file, err);
}

/* What the branch has, or had when it began, is the branch's. */
static int hand_over_is_own(
	struct arena *a, const struct item_place *p, const char *path, bool *own, struct error *err)
{
	const char *head, *base = NULL;

	*own = false;
	if (git_read_file_id(a, p->directory, "HEAD", path, &head, err) < 0 ||
		(p->base && git_read_file_id(a, p->directory, p->base, path, &base, err) < 0))
		return -1;
	*own = head || base;
	return 0;
}

static int copy(struct arena *a, const char *file, const char *ignore, struct str text, mode_t mode,
	struct error *err)
{
	const char *hides = arena_printf(a, HIDES, path_base(file).p);
	struct stat st;

	if (!hand_over_has_text(ignore, str_of(hides)) && lstat(ignore, &st) == 0 && st.st_size)
		return error_set(err, ERR_STATE,
			"the script '%s' is not committed, and its copy in the worktree cannot be "
			"hidden next to '%s': commit the script",
			path_base(file).p, ignore);
	return put_file(ignore, str_of(hides), 0666, err) < 0 ? -1
							      : put_file(file, text, mode, err);
}

int place_copy_script(struct arena *a, const char *repo, const struct item_place *p,
	const char *command, json **copied, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct stat st;
	const char *path = p->in_place ? NULL : find_script(a, repo, str_of(command), &st);
	const char *file = path ? path_join(a, p->directory, path) : NULL, *dir, *ignore;
	char digest[DIGEST_TEXT];
	bool own;

	*copied = NULL;
	if (!path)
		return 0;
	dir = arena_dup(a, path_dir(file));
	ignore = path_join(a, dir, ".gitignore");
	if (path_exists(file) &&
		!hand_over_has_text(ignore, str_of(arena_printf(a, HIDES, path_base(file).p))))
		return 0;
	if (hand_over_is_own(a, p, path, &own, err) < 0 || own)
		return own ? 0 : -1;
	if (sys_read_file(&text, path_join(a, repo, path), SCRIPT_MAX, NULL, err) < 0 ||
		hand_over_make_directory(a, p, dir, err) < 0 ||
		copy(a, file, ignore, buf_str(&text), st.st_mode, err) < 0)
		return -1;
	digest_text(buf_str(&text), digest);
	*copied = JSON_OBJECT(JSON_TEXT("path", path), JSON_TEXT("digest", digest));
	return 0;
}
