#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/policy/where.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { PARTS_MAX = 256, TEXT_MAX = 32768 };

/*
 * git runs what its directory says (hooks, filters, editors), and agents, editors and servers what
 * their settings say: who writes these decides what runs next, outside of any policy.
 */
const char *const guarded_names[] = {".git", ".claude", ".mcp.json", ".codex", ".gemini", ".cursor",
	".opencode", "opencode.json", ".aider.conf.yml", ".dev-team", ".vscode", ".idea", ".envrc",
	".husky", ".gitmodules", NULL};
const char *const guarded_workflows = ".github/workflows";

/* ---- parts of paths ---- */

bool path_below(struct str path, struct str dir, struct str *rest)
{
	while (dir.n && dir.p[dir.n - 1] == '/')
		dir.n--;
	if (path.n < dir.n || (dir.n && memcmp(path.p, dir.p, dir.n)))
		return false;
	if (dir.n && path.n > dir.n && path.p[dir.n] != '/')
		return false;
	*rest = str_sub(path, dir.n, path.n);
	while (rest->n && rest->p[0] == '/')
		*rest = str_sub(*rest, 1, rest->n);
	return true;
}

bool path_below_any(struct str path, const char *const *dirs, size_t n)
{
	struct str rest;

	for (size_t i = 0; i < n; i++)
		if (dirs[i] && dirs[i][0] == '/' && path_below(path, str_of(dirs[i]), &rest))
			return true;
	return false;
}

/* ---- where a path leads ---- */

struct trail {
	char real[PATH_MAX]; /* "" when it could not be followed */
	bool exists;         /* all of the path */
	struct stat st;
	char fault[160];
};

static int where_fault(struct trail *t, const char *text)
{
	(void)snprintf(t->fault, sizeof(t->fault), "%s", text);
	return -1;
}

/* What does not exist, behind the deepest directory that does. */
static int where_add_missing(struct trail *t, struct str rest)
{
	size_t n = strlen(t->real);
	struct str part;

	while (str_piece(&rest, '/', &part)) {
		if (str_is(part, ".."))
			return where_fault(t, "'..' behind what does not exist");
		if (str_is(part, "."))
			continue;
		if (n + part.n + 2 > sizeof(t->real))
			return where_fault(t, "path that is too long");
		n = (size_t)snprintf(t->real + (n > 1 ? n : 0), sizeof(t->real) - n, "/%.*s",
			    (int)part.n, part.p) +
		    (n > 1 ? n : 0);
	}
	return 0;
}

/* Links of /proc lead each process elsewhere: not through them, nor to what is there. */
static bool is_kernels(const char *path, const char *real)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	CLEANUP(base_close) int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	struct str rest;

	return fd < 0 || path_below(str_of(real), STR("/proc"), &rest) ||
	       path_below(str_of(real), STR("/sys"), &rest);
}

static int where_follow(const struct root *r, struct str cwd, struct str path, struct trail *t)
{
	bool absolute = path.n && path.p[0] == '/';
	char text[PATH_MAX], whole[PATH_MAX];
	struct stat st;
	size_t n;

	*t = (struct trail){0};
	if (path.n && memchr(path.p, '\0', path.n))
		return where_fault(t, "path with a NUL byte");
	n = (size_t)snprintf(whole, sizeof(whole), "%s%s%.*s%s%.*s", absolute ? "" : r->path,
		absolute ? "" : "/", absolute ? 0 : (int)cwd.n, cwd.p ? cwd.p : "",
		absolute ? "" : "/", (int)path.n, path.p ? path.p : "");
	if (n >= sizeof(whole))
		return where_fault(t, "path that is too long");
	memcpy(text, whole, n + 1);
	t->exists = true;
	for (unsigned parts = 0; !realpath(text, t->real); parts++) {
		int number = errno;

		t->real[0] = '\0';
		if (number != ENOENT) {
			(void)snprintf(t->fault, sizeof(t->fault),
				"path that cannot be followed: %s", strerror(number));
			return -1;
		}
		while (n > 1 && text[n - 1] == '/')
			text[--n] = '\0';
		if (lstat(text, &st) == 0)
			return where_fault(t, "link to a file that does not exist");
		t->exists = false;
		while (n > 1 && text[n - 1] != '/')
			text[--n] = '\0';
		if (parts == PARTS_MAX)
			return where_fault(t, "path of too many parts that do not exist");
	}
	if (is_kernels(text, t->real))
		return where_fault(t, "file of the kernel's own");
	if (stat(t->real, &t->st) < 0)
		return where_fault(t, "path that cannot be followed");
	if (t->exists && (S_ISCHR(t->st.st_mode) || S_ISBLK(t->st.st_mode)))
		return where_fault(t, "device");
	return t->exists ? 0 : where_add_missing(t, str_of(whole + n));
}

/* ---- what is protected ---- */

/* On some file systems `.GIT` is the same directory. */
static bool where_has_name(struct str rel, const char **by)
{
	struct str part;

	while (str_piece(&rel, '/', &part))
		for (size_t i = 0; guarded_names[i]; i++)
			if (part.n == strlen(guarded_names[i]) &&
				strncasecmp(part.p, guarded_names[i], part.n) == 0) {
				*by = guarded_names[i];
				return true;
			}
	return false;
}

/* `rel` is `kept` or below it, also by what that leads to as a link. */
static bool meets(const struct root *r, struct str rel, const char *kept)
{
	struct trail t;
	struct str rest, real;

	while (str_starts(str_of(kept), "./"))
		kept += 2;
	if (path_below(rel, str_of(kept), &rest))
		return true;
	return where_follow(r, STR(""), str_of(kept), &t) == 0 &&
	       path_below(str_of(t.real), str_of(r->path), &real) && real.n &&
	       path_below(rel, real, &rest);
}

static bool is_guarded(
	const struct root *r, const struct policy *p, struct str rel, const char **by)
{
	struct str rest;

	if (where_has_name(rel, by))
		return true;
	for (size_t i = 0; guarded_names[i]; i++)
		if (meets(r, rel, *by = guarded_names[i]))
			return true;
	if (meets(r, rel, *by = guarded_workflows))
		return true;
	for (size_t i = 0; i < p->protect.n; i++)
		if (meets(r, rel, *by = p->protect.p[i]))
			return true;
	*by = guarded_names[0];
	return r->inner_git && path_below(rel, str_of(r->inner_git), &rest);
}

/* ---- the question ---- */

/* What commands see too, besides the root and the policy's `read`. */
static const char *const system_directories[] = {"/usr", "/opt", "/nix/store"};

static bool may_read(const struct policy *p, const char *real)
{
	char of[PATH_MAX];
	struct str rest;

	if (path_below_any(str_of(real), system_directories, COUNT(system_directories)))
		return true;
	for (size_t i = 0; i < p->read.n; i++)
		if (p->read.p[i][0] == '/' && realpath(p->read.p[i], of) &&
			path_below(str_of(real), str_of(of), &rest))
			return true;
	return false;
}

int where(struct arena *a, const struct root *r, const struct policy *p, struct str cwd,
	struct str path, enum access access, struct span at, struct place *out, struct verdict *v)
{
	static const char *const devices[] = {"/dev/zero", "/dev/urandom", NULL};
	struct trail t;
	struct str full, rel;
	const char *by;

	*out = (struct place){.full = arena_str(a, path), .exists = true, .outside = true};
	/* Exact names, so that nothing has to be followed. */
	if (str_is(path, "/dev/null") || (access == ACCESS_READ && str_in(path, devices)))
		return 0;
	if (where_follow(r, cwd, path, &t) < 0)
		return deny_word(v, RULE_PATH_OUTSIDE, at, path, arena_str(a, str_of(t.real)), "%s",
			t.fault);
	full = arena_str(a, str_of(t.real));
	*out = (struct place){
		.full = full, .exists = t.exists, .folder = t.exists && S_ISDIR(t.st.st_mode)};
	out->outside = !path_below(full, str_of(r->path), &rel);
	if (out->outside)
		return access == ACCESS_READ && may_read(p, t.real)
			       ? 0
			       : deny_word(v, RULE_PATH_OUTSIDE, at, path, full,
					 "path that leads outside the root");
	out->path = rel;
	if (access == ACCESS_WRITE && is_guarded(r, p, rel, &by))
		return deny_word(v, RULE_PATH_PROTECTED, at, path, full,
			"write to what is protected by '%s'", by);
	return 0;
}

/* ---- the root ---- */

/* NULL when it cannot be told. */
static const char *root_real_of(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_dup(a, str_of(real)) : NULL;
}

/*
 * A linked worktree's directory is COMMON/worktrees/NAME, says where COMMON is, and points back at
 * the worktree. All three are asked, since a `.git` file may have been written by anybody: it must
 * not open another repository.
 */
static bool is_linked(struct arena *a, const struct root *r, const char *git, const char *common)
{
	const char *file = sys_read_small(a, path_join(a, git, "gitdir"), TEXT_MAX);
	const char *back = path_join(a, git, arena_dup(a, str_trim(str_of(file)))), *tree;

	tree = root_real_of(a, arena_dup(a, path_dir(back)));
	return tree && strcmp(tree, r->path) == 0 && str_is(path_base(back), ".git") &&
	       str_is(path_dir(git), path_join(a, common, "worktrees"));
}

/* A submodule's directory stands in its superproject's and names the worktree in its settings. */
static bool is_submodule(struct arena *a, const struct root *r, const char *git)
{
	struct git_core core = {0};
	const char *back;

	git_config_core(a, git, &core);
	back = core.worktree ? root_real_of(a, path_join(a, git, core.worktree)) : NULL;
	return back && strcmp(back, r->path) == 0;
}

/* Where `.git` is a directory, there is nothing to find. */
static void find_git(struct arena *a, struct root *r)
{
	const char *git, *common;
	char *own, *shared;
	struct stat st;
	struct str rest;

	if (lstat(path_join(a, r->path, ".git"), &st) < 0 || S_ISDIR(st.st_mode) ||
		!git_directories(a, r->path, &own, &shared) || !(git = root_real_of(a, own)))
		return;
	common = root_real_of(a, shared);
	if (path_below(str_of(git), str_of(r->path), &rest) && rest.n)
		r->inner_git = rest.p;
	if (common && is_linked(a, r, git, common)) {
		r->git_dir = git;
		r->common_dir = common;
	} else if (!r->inner_git && is_submodule(a, r, git)) {
		r->git_dir = git;
	}
}

int root_open(struct arena *a, const char *path, struct root *out, struct error *err)
{
	char real[PATH_MAX];

	*out = (struct root){0};
	if (!realpath(path, real) || !path_is_directory(real)) {
		errno = errno ? errno : ENOTDIR;
		return error_errno(err, "cannot open '%.200s' as the root", path);
	}
	if (!real[1])
		return error_set(err, ERR_INPUT, "'/' cannot be the root");
	out->path = arena_dup(a, str_of(real));
	find_git(a, out);
	return 0;
}

int root_find(struct arena *a, const char *cwd, char **out, struct error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(cwd, real) || !path_is_directory(real))
		return error_errno(err, "cannot enter '%.200s'", cwd);
	for (char *dir = arena_dup(a, str_of(real)); dir[1]; dir = arena_dup(a, path_dir(dir)))
		if (lstat(path_join(a, dir, ".git"), &st) == 0) {
			*out = dir;
			return 0;
		}
	*out = arena_dup(a, str_of(real));
	return 0;
}
