/*
 * names.c: what a worktree is called, and whose it is.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { SLUG_MAX = 190, POINTER_MAX = 8192 }; /* a key of the store has at most 200 bytes */

/* ---- branches and slugs ---- */

static bool slug_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_';
}

/* Replaces every run of other characters, including dashes, by one dash; none at the ends. */
static void squeeze(struct buf *out, const char *branch)
{
	for (const char *p = branch; *p; p++) {
		if (slug_char(*p))
			buf_addc(out, *p);
		else if (out->len && out->s[out->len - 1] != '-')
			buf_addc(out, '-');
	}
	while (out->len && out->s[out->len - 1] == '-')
		buf_cut(out, out->len - 1);
}

/* The worktree of a work item has the item's id as its name. */
static const char *without_prefix(const char *branch)
{
	static const char of_item[] = "dev-team/";

	return str_starts(str_of(branch), of_item) ? branch + strlen(of_item) : branch;
}

int pool_slug(struct arena *a, const char *branch, char **slug, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	squeeze(&out, without_prefix(branch));
	if (!out.len)
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it has no letter or "
			"digit",
			branch);
	/* `.` and `..` would be the pool itself and its parent; hidden names are reserved for the
	 * pool. */
	if (out.s[0] == '.')
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it begins with a dot",
			branch);
	if (str_ends(buf_str(&out), ".lock") || str_ends(buf_str(&out), "."))
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it ends with '%s'", branch,
			str_ends(buf_str(&out), ".") ? "." : ".lock");
	if (out.len > SLUG_MAX)
		return error_set(err, ERR_USAGE,
			"branch '%.60s...' makes a name of more than %d bytes", branch, SLUG_MAX);
	*slug = arena_dup(a, buf_str(&out));
	return 0;
}

int branch_check(const char *branch, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *const argv[] = {
		"git", "check-ref-format", arena_printf(&a, "refs/heads/%s", branch), NULL};
	const struct git_command c = {.name = "git check-ref-format", .argv = argv};
	int status;

	if (str_utf8_fault(str_of(branch)))
		return error_set(err, ERR_USAGE, "the name of the branch is not UTF-8");
	if (git_command(&c, NULL, &status, err) < 0)
		return -1;
	if (status || branch[0] == '-' || strcmp(branch, "@") == 0 || strcmp(branch, "HEAD") == 0)
		return error_set(err, ERR_USAGE, "'%.200s' is not a valid branch name", branch);
	return 0;
}

/* ---- ownership ---- */

const char *owned_word(enum owned reason)
{
	static const char *const words[] = {
		[OWNED_OK] = "ok",
		[OWNED_POINTER_MISSING] = "pointer-missing",
		[OWNED_POINTER_MALFORMED] = "pointer-malformed",
		[OWNED_CROSS_CLONE] = "cross-clone",
	};

	return words[reason];
}

char *path_settle(struct arena *a, const char *path)
{
	char real[PATH_MAX], *plain, *rest = arena_dup(a, str_of(""));
	struct error ignored;

	if (realpath(path, real))
		return arena_dup(a, str_of(real));
	if (port_path(a, path, &plain, &ignored) < 0)
		return arena_dup(a, str_of(path));
	while (!realpath(plain, real)) {
		rest = arena_printf(a, "/%s%s", path_base(plain).p, rest);
		plain = arena_dup(a, path_dir(plain));
	}
	return strcmp(real, "/") == 0 && *rest ? rest : arena_printf(a, "%s%s", real, rest);
}

/* The text after `gitdir:` and blanks; n is 0 when the text is not a pointer. */
static struct str pointer_of(struct str text)
{
	struct str s = str_trim(text);

	if (!str_starts(s, "gitdir:"))
		return (struct str){0};
	s = str_trim(str_sub(s, strlen("gitdir:"), s.n));
	return str_find(s, STR("\n")) < s.n ? (struct str){0} : s;
}

static bool worktree_pointer(struct arena *a, const char *path, char **to, const char **text)
{
	CLEANUP(buf_release) struct buf raw = BUF_INIT;
	const char *file = path_join(a, path, ".git");
	struct error ignored;
	struct stat st;
	struct str s;

	*to = NULL;
	*text = NULL;
	if (lstat(file, &st) < 0 || !S_ISREG(st.st_mode) ||
		sys_read_file(&raw, file, POINTER_MAX, NULL, &ignored) < 0)
		return false;
	buf_addc(&raw, '\0');
	raw.len--;
	buf_utf8_repair(&raw);
	s = pointer_of(buf_str(&raw));
	if (s.n)
		*to = path_settle(a, path_join(a, path, arena_dup(a, s)));
	s = str_trim(buf_str(&raw));
	*text = s.n ? arena_dup(a, s) : NULL;
	return true;
}

int pool_ownership(struct arena *a, const char *path, const char *common, struct ownership *out,
	struct error *err)
{
	const char *text;
	char *to;

	(void)err;
	*out = (struct ownership){.expected = path_settle(a, path_join(a, common, "worktrees"))};
	if (!worktree_pointer(a, path, &to, &text)) {
		out->reason = OWNED_POINTER_MISSING;
		return 0;
	}
	out->actual = to ? to : text;
	if (!to)
		out->reason = OWNED_POINTER_MALFORMED;
	else if (!path_beneath(out->expected, to))
		out->reason = OWNED_CROSS_CLONE;
	return 0;
}

bool path_beneath(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	return strncmp(dir, path, n) == 0 && path[n] == '/' && path[n + 1];
}

bool worktree_there(const char *path)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	struct stat st;

	buf_addf(&file, "%s/.git", path);
	return lstat(file.s, &st) == 0 && S_ISREG(st.st_mode);
}

bool directory_is_empty(const char *path)
{
	CLEANUP(directory_close) struct directory d = {0};
	enum file_type type;
	struct error ignored;

	return directory_open(&d, AT_FDCWD, path, NULL, &ignored) == 0 &&
	       !directory_next(&d, &type);
}
