#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { POINTER_MAX = 8192 };

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

bool worktree_pointer(struct arena *a, const char *path, char **to, const char **text)
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
