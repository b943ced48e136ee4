/*
 * names.c: what a worktree is called, and whose it is.
 */
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { SLUG_MAX = 190, POINTER_MAX = 8192 }; /* a key of the store has at most 200 bytes */

/* ---- branches and slugs ---- */

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

/* As git-check-ref-format(1) has it. */
int branch_check(const char *branch, struct error *err)
{
	static const char *const never[] = {"..", "@{", "//", "/.", ".lock/"};
	struct str s = str_of(branch);
	bool bad = !*branch || strchr("-/.", *branch) || str_is(s, "@") || str_is(s, "HEAD") ||
		   str_ends(s, "/") || str_ends(s, ".") || str_ends(s, ".lock") ||
		   strpbrk(branch, " ~^:?*[\\\x7f") || str_utf8_fault(s);

	for (size_t i = 0; i < COUNT(never); i++)
		bad |= strstr(branch, never[i]) != NULL;
	for (size_t i = 0; i < s.n; i++)
		bad |= (unsigned char)s.p[i] < ' ';
	return bad ? error_set(err, ERR_USAGE, "'%.200s' is not a valid branch name", branch) : 0;
}

/* ---- ownership ---- */

/* Without following links, so that the port of a path is the same before and after the directory
 * is created. */
char *port_path(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (path = path_absolute(a, path); *path;) {
		struct str part = {path, strcspn(path, "/")};
		const char *slash = text.len ? strrchr(text.s, '/') : NULL;

		path += part.n + (path[part.n] == '/');
		if (str_is(part, ".."))
			buf_cut(&text, slash ? (size_t)(slash - text.s) : 0);
		else if (part.n && !str_is(part, "."))
			buf_addf(&text, "/%.*s", (int)part.n, part.p);
	}
	return arena_dup(a, text.len ? buf_str(&text) : STR("/"));
}

char *path_settle(struct arena *a, const char *path)
{
	char real[PATH_MAX], *plain = port_path(a, path), *rest = arena_dup(a, str_of(""));

	if (realpath(path, real))
		return arena_dup(a, str_of(real));
	while (!realpath(plain, real)) {
		rest = arena_printf(a, "/%s%s", path_base(plain).p, rest);
		plain = arena_dup(a, path_dir(plain));
	}
	return strcmp(real, "/") == 0 && *rest ? rest : arena_printf(a, "%s%s", real, rest);
}

struct ownership pool_ownership(struct arena *a, const char *path, const char *common)
{
	struct ownership own = {.reason = "pointer-missing",
		.expected = path_settle(a, path_join(a, common, "worktrees"))};
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
	own.actual = path_settle(a, path_join(a, path, arena_dup(a, s)));
	own.ok = path_beneath(own.expected, own.actual);
	own.reason = own.ok ? "ok" : "cross-clone";
	return own;
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
