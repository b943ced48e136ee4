/*
 * git_commit.c: what has changed in a worktree, and commits of it, by the program git: filters,
 * hooks and the user's settings apply.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	COMMIT_S = 600, /* hooks run tests */
	INDEX_LOCK_MS = 5000,
	NOT_COMMITTED = 1, /* exit status of `git commit`: a hook refuses, or there is nothing */
};

/* Another git, perhaps one of ours that is being ended, may hold the index for a moment. */
static void await_index(const char *git_dir)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int64_t until = clock_ticks() + INDEX_LOCK_MS;
	CLEANUP(arena_release) struct arena a = {0};
	const char *lock = path_join(&a, git_dir, "index.lock");

	while (path_exists(lock) && clock_ticks() < until)
		nanosleep(&moment, NULL);
}

void git_clear_locks(const char *root, const char *branch)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *own, *common, real[PATH_MAX];
	const char *locks[3] = {NULL};
	pid_t worker;

	if (!git_directories(&a, root, &own, &common))
		return;
	locks[0] = path_join(&a, own, "index.lock");
	locks[1] = path_join(&a, own, "HEAD.lock");
	if (branch)
		locks[2] = arena_printf(&a, "%s/refs/heads/%s.lock", common, branch);
	for (size_t i = 0; i < COUNT(locks); i++)
		if (locks[i] && realpath(locks[i], real) && process_abandoned(real) &&
			realpath(root, real) && process_within(real, &worker) == 0 && !worker)
			(void)unlink(locks[i]); /* if it cannot be removed, git reports it */
}

/* `1 XY SUB MODES... PATH`, `u ...`: the path is behind `n` blanks. */
static struct str field_path(struct str entry, unsigned n)
{
	while (n--) {
		size_t blank = str_find(entry, STR(" "));

		entry = str_sub(entry, blank < entry.n ? blank + 1 : blank, entry.n);
	}
	return entry;
}

/* `S<c><m><u>`: a submodule with new commits, changed files, untracked files; `.` where not. */
static void add_inside(struct str field, struct git_change *c)
{
	if (c->untracked || field.n < 4 || field.p[0] != 'S')
		return;
	c->inside = field.p[2] != '.' || field.p[3] != '.';
	c->untracked = c->inside && field.p[1] == '.' && field.p[2] == '.' && !c->staged;
}

static void add_change(struct arena *a, struct git_status *s, struct str entry)
{
	static const char kinds[] = "1u?";
	static const unsigned blanks[] = {8, 10, 1};
	const char *kind = strchr(kinds, entry.p[0]);
	struct git_change c = {.untracked = entry.p[0] == '?',
		.conflict = entry.p[0] == 'u',
		.staged = str_starts(entry, "1 ") && !str_starts(entry, "1 .")};

	if (!kind)
		return;
	add_inside(field_path(entry, 2), &c);
	c.path = arena_dup(a, field_path(entry, blanks[kind - kinds]));
	vec_push_in(a, &s->changes, c);
}

static void git_commit_read_header(struct arena *a, struct git_status *s, struct str entry)
{
	static const char oid[] = "# branch.oid ", head[] = "# branch.head ";

	if (str_starts(entry, oid) && !str_is(entry, "# branch.oid (initial)"))
		s->head = arena_dup(a, str_sub(entry, strlen(oid), entry.n));
	else if (str_starts(entry, head) && !str_is(entry, "# branch.head (detached)"))
		s->branch = arena_dup(a, str_sub(entry, strlen(head), entry.n));
}

/* git has ended fatally, and not for what the disk or the system did. */
static bool is_own_fault(int status, struct str output)
{
	static const int system[] = {EIO, ENOSPC, ENOMEM, EACCES, EPERM, EMFILE, ENFILE, EAGAIN};
	bool own = status == 128;

	for (size_t i = 0; i < COUNT(system); i++)
		own = own && str_find(output, str_of(strerror(system[i]))) == output.n;
	return own;
}

/* git says itself that the repository is damaged. */
static int status_fault(const char *root, int status, struct str output, struct error *err)
{
	struct str rest = output, line = {"no reason given", 15};
	bool damage = is_own_fault(status, output);

	while (str_line(&rest, &line) && !str_starts(line, "fatal: "))
		continue;
	return error_set(err, damage ? ERR_CHECK : ERR_SYSTEM,
		"git cannot read '%s' (status %d): %.*s%s", root, status, (int)line.n, line.p,
		damage ? "; repair it: 'git fsck' shows the damage" : "");
}

/* By git rather than by the library, so that filters (large files, line ends) apply. git fails as a
 * whole if the `.git` of a submodule leads nowhere or is rubbish, such as after its files were
 * copied. */
static int run_status(
	struct arena *a, const char *root, bool refresh, struct git_status *s, struct error *err)
{
	const char *argv[] = {"git", GIT_FIND_CHANGES, "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=all", "--no-renames", "--ignore-submodules=none", NULL};
	const char *const env[] = {arena_printf(a, "GIT_WORK_TREE=%s", root), NULL};
	const struct git_command c = {
		.dir = root, .name = "git status", .argv = argv, .env = env, .refresh = refresh};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest;
	int status = 0;

	*s = (struct git_status){0};
	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	if (is_own_fault(status, buf_str(&out))) {
		buf_clear(&out);
		argv[COUNT(argv) - 2] = "--ignore-submodules=dirty";
		if (git_command(&c, &out, &status, err) < 0)
			return -1;
	}
	if (status)
		return status_fault(root, status, buf_str(&out), err);
	for (rest = buf_str(&out); rest.n;) {
		struct str entry = str_of(rest.p); /* each ends with a NUL */

		if (entry.n && entry.p[0] == '#')
			git_commit_read_header(a, s, entry);
		else if (entry.n)
			add_change(a, s, entry);
		rest = str_sub(rest, entry.n + 1, rest.n);
	}
	return 0;
}

int git_read_status(struct arena *a, const char *root, struct git_status *s, struct error *err)
{
	return run_status(a, root, false, s, err);
}

int git_refresh_status(struct arena *a, const char *root, struct git_status *s, struct error *err)
{
	return run_status(a, root, true, s, err);
}

int git_read_tip(struct arena *a, const char *root, struct git_tip *out, struct error *err)
{
	struct git_status s;

	if (git_plain_tip(a, root, out))
		return 0;
	if (git_read_status(a, root, &s, err) < 0)
		return -1;
	*out = (struct git_tip){s.branch, s.head};
	return 0;
}

/* True if one of them has changes still. */
static int still_changed(
	const char *root, const char *const *paths, size_t n, bool *yes, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct git_status s;

	*yes = false;
	if (git_read_status(&a, root, &s, err) < 0)
		return -1;
	for (size_t i = 0; i < s.changes.n; i++)
		for (size_t k = 0; k < n; k++)
			*yes |= strcmp(s.changes.items[i].path, paths[k]) == 0;
	return 0;
}

/* In a sparse checkout `git add` refuses files outside of it without this option. */
static const char *sparse_option(const char *root)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *own, *common;

	return git_directories(&a, root, &own, &common) &&
			       path_exists(path_join(&a, own, "info/sparse-checkout"))
		       ? "--sparse"
		       : NULL;
}

/* What else is staged stays staged, and is not committed. */
static int add_and_commit(const char *root, struct str present, struct str paths,
	const char *message, struct error *err)
{
	const char *const add[] = {"git", GIT_FIND_CHANGES, "--literal-pathspecs", "add",
		"--pathspec-from-file=-", "--pathspec-file-nul", sparse_option(root), NULL};
	const char *const commit[] = {"git", GIT_FIND_CHANGES, "-c", "gc.auto=0", "-c",
		"maintenance.auto=false", "commit", "-q", "-m", message, "--only",
		"--pathspec-from-file=-", "--pathspec-file-nul", NULL};
	const struct git_command adding = {
		.dir = root, .name = "git add", .argv = add, .input = present};
	const struct git_command committing = {.dir = root,
		.name = "git commit",
		.argv = commit,
		.input = paths,
		.limit_s = COMMIT_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0;

	if (present.n && git_command(&adding, &out, &status, err) < 0)
		return -1;
	if (status) /* of a file: for example its line endings, with core.safecrlf */
		return git_check_status(
			"git add", status, &out, is_own_fault(status, buf_str(&out)), err);
	if (git_command(&committing, &out, &status, err) < 0)
		return -1;
	if (status == 0)
		return 0;
	return git_check_status("git commit", status, &out, status == NOT_COMMITTED, err);
}

/* A directory above the path is a symbolic link now. */
static bool is_behind_link(struct arena *a, const char *root, const char *path)
{
	struct stat st;

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		const char *above = arena_dup(a, (struct str){path, (size_t)(end - path)});

		if (lstat(path_join(a, root, above), &st) == 0 && S_ISLNK(st.st_mode))
			return true;
	}
	return false;
}

/* A pre-commit hook may have formatted or added files in what is committed, not in our index. */
static int reset_committed(struct arena *a, const char *root, struct error *err)
{
	static const char *const list[] = {"git", "diff-tree", "--root", "--no-commit-id", "-r",
		"--no-renames", "--name-only", "-z", "HEAD", NULL};
	static const char *const reset[] = {"git", "--literal-pathspecs", "reset", "-q",
		"--pathspec-from-file=-", "--pathspec-file-nul", NULL};
	const struct git_command listing = {.dir = root, .name = "git diff-tree", .argv = list};
	struct git_command resetting = {.dir = root, .name = "git reset", .argv = reset};
	CLEANUP(buf_release) struct buf paths = BUF_INIT;
	const char *const head = "HEAD", *tree;
	struct git_commit now;

	if (git_read_commits(a, root, &head, 1, &now, err) < 0)
		return -1;
	tree = now.tree ? git_unchanged_tree(a, root, false) : NULL;
	if (tree && strcmp(tree, now.tree) == 0)
		return 0;
	if (git_command(&listing, &paths, NULL, err) < 0)
		return -1;
	resetting.input = buf_str(&paths);
	return git_command(&resetting, NULL, NULL, err);
}

/* Of the state of the files. */
static uint64_t look_at_files(struct arena *a, const char *root, struct str present)
{
	uint64_t sum = 0;
	struct stat st;

	for (size_t at = 0; at < present.n; at += strlen(present.p + at) + 1)
		if (lstat(path_join(a, root, present.p + at), &st) == 0)
			sum = sum * 31 + (uint64_t)st.st_ino + (uint64_t)st.st_size +
			      (uint64_t)st.st_mtim.tv_sec * 1000000000u +
			      (uint64_t)st.st_mtim.tv_nsec;
	return sum;
}

/* A hook that has repaired the files and refused them takes them the second time. */
static int commit_repaired(struct arena *a, const char *root, struct str present, struct str paths,
	const char *message, struct error *err)
{
	uint64_t before = look_at_files(a, root, present);

	if (add_and_commit(root, present, paths, message, err) == 0)
		return 0;
	if (err->code != ERR_CHECK || look_at_files(a, root, present) == before)
		return -1;
	return add_and_commit(root, present, paths, message, err);
}

int git_commit_paths(const char *root, const char *const *paths, size_t n, const char *message,
	bool *made, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf list = BUF_INIT, present = BUF_INIT;
	char *own, *common;
	struct error why;
	struct stat st;
	bool left;

	for (size_t i = 0; i < n; i++) {
		struct str path = {paths[i], strlen(paths[i]) + 1};
		const char *full = path_join(&a, root, paths[i]);
		bool there = lstat(full, &st) == 0;

		if (!there && errno != ENOENT && errno != ENOTDIR)
			return error_errno(err, "cannot access '%s'", full);
		/* a file that is a directory now: the files in it replace it; a link replaces the
		 * files of a directory */
		if (there && ((S_ISDIR(st.st_mode) && !path_exists(path_join(&a, full, ".git"))) ||
				     is_behind_link(&a, root, paths[i])))
			continue;
		buf_adds(&list, ":(literal)"); /* the option would reach the hooks */
		buf_add(&list, path);
		if (there)
			buf_add(&present, path);
	}
	if (!list.len)
		return error_set(err, ERR_CHECK,
			"'%s' is now a directory, or behind a symbolic link: commit the change",
			paths[0]);
	if (git_directories(&a, root, &own, &common))
		await_index(own);
	*made = commit_repaired(&a, root, buf_str(&present), buf_str(&list), message, &why) == 0;
	if (*made)
		return reset_committed(&a, root, err);
	if (still_changed(root, paths, n, &left, err) < 0)
		return -1;
	if (left)
		*err = why;
	return left ? -1 : 0; /* only line ends had changed, for one */
}

/* Settings of the repository could leave out files. */
#define LOG_SETTINGS "-c", "log.follow=false", "-c", "log.showRoot=true"

int git_find_touched(struct arena *a, const char *root, const char *base, const char *const *paths,
	size_t n, const char **touched, struct error *err)
{
	const char *const log[] = {"git", LOG_SETTINGS, "--literal-pathspecs", "log",
		"--full-history", "-c", "--no-renames", "--no-show-signature",
		"--ignore-submodules=none", "--format=", "--name-only", "-z",
		base ? arena_printf(a, "%s..HEAD", base) : "HEAD", "--"};
	const char **argv = arena_alloc(a, (COUNT(log) + n + 1) * sizeof(*argv));
	const struct git_command c = {.dir = root, .name = "git log", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t at = 0;

	*touched = NULL;
	memcpy(argv, log, sizeof(log));
	for (size_t i = 0; i < n; i++) { /* `sub/` is a repository, which a commit has as `sub` */
		size_t length = strlen(paths[i]);

		argv[COUNT(log) + i] = arena_dup(
			a, str_sub(str_of(paths[i]), 0, length - str_ends(str_of(paths[i]), "/")));
	}
	argv[COUNT(log) + n] = NULL;
	if (n && git_command(&c, &out, NULL, err) < 0)
		return -1;
	while (at < out.len && !out.s[at])
		at++;
	if (at < out.len)
		*touched = arena_dup(a, str_of(out.s + at));
	return 0;
}

int git_list_committed(struct arena *a, const char *root, const char *base, const char *without,
	struct git_paths *out, struct error *err)
{
	const char *const argv[] = {"git", LOG_SETTINGS, "log", "--full-history", "-c",
		"--no-renames", "--no-show-signature", "--ignore-submodules=none",
		"--format=", "--name-only", "--diff-filter=d", "-z",
		arena_printf(a, "%s..HEAD", base), "--not", without ? without : base, "--", NULL};
	const struct git_command c = {.dir = root, .name = "git log", .argv = argv};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	*out = (struct git_paths){0};
	if (git_command(&c, &text, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < text.len; at += strlen(text.s + at) + 1)
		if (text.s[at])
			vec_push_in(a, &out->list, arena_dup(a, str_of(text.s + at)));
	return 0;
}

static int git_commit_by_path(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

int git_find_differing(struct arena *a, const char *root, const char *from, const char *to,
	const char *const *paths, size_t n, const char **found, struct error *err)
{
	const char *const argv[] = {"git", "diff-tree", "-r", "--no-renames", "--name-only", "-z",
		from, to, "--", NULL};
	const struct git_command c = {.dir = root, .name = "git diff-tree", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	*found = NULL;
	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < out.len && !*found; at += strlen(out.s + at) + 1)
		if (bsearch(out.s + at, paths, n, sizeof(*paths), git_commit_by_path))
			*found = arena_dup(a, str_of(out.s + at));
	return 0;
}

/* ---- after others have moved the branch ---- */

/* It compares times of files, which a copy or a build may have touched: they are read first. */
const char *git_follow_branch(
	struct arena *a, const char *dir, const char *branch, const char *from, const char *to)
{
	const char *const refresh[] = {GIT_QUIET, "update-index", "-q", "--refresh", NULL};
	const char *const reset[] = {GIT_QUIET, "reset", "--keep", "--quiet", to, NULL};
	struct git_command c = {
		.dir = dir, .name = "git update-index", .argv = refresh, .limit_s = COMMIT_S};
	struct error why = {0};
	struct git_tip tip;

	if (strcmp(from, to) == 0)
		return NULL;
	if (git_read_tip(a, dir, &tip, &why) < 0)
		return arena_dup(a, str_of(why.text));
	if (!tip.branch || strcmp(tip.branch, branch) != 0)
		return arena_printf(a, "'%s' is not checked out there", branch);
	if (!tip.commit || strcmp(tip.commit, from) != 0)
		return "it has got commits meanwhile";
	git_clear_locks(dir, branch); /* of a git that was killed */
	(void)git_command(&c, NULL, NULL, &why);
	c.name = "git reset";
	c.argv = reset;
	return git_command(&c, NULL, NULL, &why) < 0 ? arena_dup(a, str_of(why.text)) : NULL;
}

/* No program that the repository configures runs, and no file is written. */
const char *git_compare_changes(struct arena *a, const char *root, const char *base,
	const char *was, const char *from, const char *to)
{
	static const char script[] =
		"p() { git diff --no-color --no-ext-diff --no-textconv \"$@\" -- | "
		"sed '/^index /d; s/^@@ [^@]*@@/@@/'; }; p \"$1\" \"$2\" | { p \"$3\" \"$4\" | "
		"diff -u --label approved --label now /dev/fd/3 -; } 3<&0 | head -c 4000";
	const char *const argv[] = {"sh", "-c", script, "sh", base, was, from, to, NULL};
	const struct git_command c = {.dir = root, .name = "git diff", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error ignored;

	if (git_command(&c, &out, NULL, &ignored) < 0)
		return NULL;
	buf_utf8_repair(&out);
	return arena_dup(a, str_trim(buf_str(&out)));
}
