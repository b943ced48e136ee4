#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	OUTPUT_MAX = 16 << 20,
	LOCAL_S = 120,
	COMMIT_S = 600, /* hooks run tests */
	NETWORK_S = 120,
	LIST_REMOTE_S = 60,
	FETCH_S = 60,
	INDEX_LOCK_MS = 5000,
	PUSH_FAILED = 1,   /* exit status of `git push`: a refusal, or the connection broke */
	NOT_COMMITTED = 1, /* exit status of `git commit`: a hook refuses, or there is nothing */
};

/* git exports them to aliases and hooks. They name the caller's repository. */
#define CALLERS_REPOSITORY                                                                         \
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX",              \
		"GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE",                        \
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_REPLACE_REF_BASE"

/*
 * No prompt, no editor, no window: an empty GIT_ASKPASS has precedence over core.askPass and leaves
 * the credential helpers alone. refs/replace and grafts, which anyone with access to the repository
 * can make, do not replace commits.
 */
static const char *const git_environment[] = {"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
	"GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=", "SSH_ASKPASS",
	"SSH_ASKPASS_REQUIRE=never", CALLERS_REPOSITORY, "GIT_NO_REPLACE_OBJECTS=1",
	"GIT_GRAFT_FILE=/dev/null/none"};

void git_forget_caller(void)
{
	static const char *const names[] = {CALLERS_REPOSITORY};

	for (size_t i = 0; i < COUNT(names); i++)
		(void)unsetenv(names[i]);
}

struct heard {
	struct buf *out, errors;
};

/* What is too much is dropped. */
static void add_output(struct buf *to, struct str text)
{
	size_t room = OUTPUT_MAX - to->len;

	buf_add(to, str_sub(text, 0, text.n < room ? text.n : room));
}

static bool hear(void *data, bool errors, struct str piece)
{
	struct heard *h = data;

	add_output(errors ? &h->errors : h->out, piece);
	return true;
}

/* Another git, or one that was killed, has left a lock file. git's advice does not name it again.
 */
static bool is_locked(const char *name, struct str output, struct error *err)
{
	static const char before[] = "Unable to create '", after[] = ".lock': File exists";
	size_t from = str_find(output, STR(before)), end;
	struct str path;

	if (from == output.n)
		return false;
	path = str_sub(output, from + strlen(before), output.n);
	end = str_find(path, STR(after));
	if (end == path.n || memchr(path.p, '\n', end))
		return false;
	path.n = end + strlen(".lock");
	(void)error_set(err, ERR_SYSTEM,
		"'%s' failed: %s%.*s': File exists: unless a git is running there, remove '%.*s' "
		"and run the same command again",
		name, before, (int)path.n, path.p, (int)path.n, path.p);
	return true;
}

/* TERM at our death: git then removes its lock files. */
static int run(const struct git_command *c, const char *const *env, struct buf *out, int *status,
	struct error *err)
{
	struct heard heard = {.out = out};
	struct process p = {.argv = c->argv,
		.cwd = c->dir,
		.env = env,
		.input = c->input,
		.output = -1,
		.on_output = hear,
		.data = &heard,
		.timeout_s = c->limit_s ? c->limit_s : LOCAL_S,
		.on_death = SIGTERM};
	struct process_end end;
	int rc = process_run(&p, &end, err);

	if (rc == 0 && (c->warnings || end.status || end.timed_out))
		add_output(out, buf_str(&heard.errors));
	buf_release(&heard.errors);
	if (rc < 0)
		return -1;
	if (status && (!end.timed_out || c->late)) {
		*status = end.timed_out ? GIT_LATE : end.status;
		return 0;
	}
	if (end.status && is_locked(c->name, buf_str(out), err))
		return -1;
	return process_check(&p, &end, c->name, buf_str(out), err);
}

int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	VEC(const char *) env = {0};
	int rc;

	for (size_t i = 0; i < COUNT(git_environment); i++)
		vec_push(&env, git_environment[i]);
	/* A broken worktree must not pass for the repository around it. */
	if (c->dir && c->dir[0] == '/')
		vec_push(&env, arena_printf(&a, "GIT_CEILING_DIRECTORIES=%s",
				       arena_dup(&a, path_dir(c->dir))));
	if (c->batch_ssh)
		vec_push(&env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes");
	for (const char *const *e = c->env; e && *e; e++)
		vec_push(&env, *e);
	vec_push(&env, NULL);
	rc = run(c, env.items, out ? out : &own, status, err);
	vec_release(&env);
	return rc;
}

/* *yes: the command's exit status is 0. */
static int ask_git(const struct git_command *c, bool *yes, struct error *err)
{
	int status = 1, rc = git_command(c, NULL, &status, err);

	*yes = status == 0;
	return rc;
}

/* What a hook or a remote refuses is a fault of the commits. -1 unless the status is 0. */
static int check_status(
	const char *name, int status, const struct buf *output, bool refused, struct error *err)
{
	if (status && is_locked(name, buf_str(output), err))
		return -1;
	if (process_check(&(struct process){0}, &(struct process_end){.status = status}, name,
		    buf_str(output), err) == 0)
		return 0;
	err->code = refused ? ERR_CHECK : ERR_SYSTEM;
	return -1;
}

/* ---- commits ---- */

static bool has(struct str text, const char *what)
{
	return str_find(text, str_of(what)) < text.n;
}

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

static void read_header(struct arena *a, struct git_status *s, struct str entry)
{
	static const char oid[] = "# branch.oid ", head[] = "# branch.head ";

	if (str_starts(entry, oid) && !str_is(entry, "# branch.oid (initial)"))
		s->head = arena_dup(a, str_sub(entry, strlen(oid), entry.n));
	else if (str_starts(entry, head) && !str_is(entry, "# branch.head (detached)"))
		s->branch = arena_dup(a, str_sub(entry, strlen(head), entry.n));
}

/* Whoever works in the repository can write its configuration, which must not decide what has
 * changed. */
#define FIND_CHANGES                                                                               \
	"-c", "core.fsmonitor=false", "-c", "core.trustctime=true", "-c",                          \
		"core.checkStat=default", "-c", "core.untrackedCache=false", "-c",                 \
		"diff.ignoreSubmodules=none"

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
 * whole if a submodule has no repository any more, such as after its files were copied. */
int git_read_status(struct arena *a, const char *root, struct git_status *s, struct error *err)
{
	const char *argv[] = {"git", FIND_CHANGES, "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=all", "--no-renames", "--ignore-submodules=none", NULL};
	const char *const env[] = {arena_printf(a, "GIT_WORK_TREE=%s", root), NULL};
	const struct git_command c = {.dir = root, .name = "git status", .argv = argv, .env = env};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest;
	int status = 0;

	*s = (struct git_status){0};
	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	if (status && has(buf_str(&out), "not a git repository: ")) {
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
			read_header(a, s, entry);
		else if (entry.n)
			add_change(a, s, entry);
		rest = str_sub(rest, entry.n + 1, rest.n);
	}
	return 0;
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

/* What else is staged stays staged, and is not committed. */
static int add_and_commit(const char *root, struct str present, struct str paths,
	const char *message, struct error *err)
{
	static const char *const add[] = {"git", FIND_CHANGES, "--literal-pathspecs", "add",
		"--pathspec-from-file=-", "--pathspec-file-nul", NULL};
	const char *const commit[] = {"git", FIND_CHANGES, "-c", "gc.auto=0", "-c",
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
		return check_status(
			"git add", status, &out, is_own_fault(status, buf_str(&out)), err);
	if (git_command(&committing, &out, &status, err) < 0)
		return -1;
	if (status == 0)
		return 0;
	return check_status("git commit", status, &out, status == NOT_COMMITTED, err);
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
	const char *const head = "HEAD";
	struct git_commit now;

	if (git_read_commits(a, root, &head, 1, &now, err) < 0)
		return -1;
	if (now.tree && git_is_unchanged(root, now.tree))
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

int git_find_touched(struct arena *a, const char *root, const char *base, const char *const *paths,
	size_t n, const char **touched, struct error *err)
{
	const char *const log[] = {"git", "-c", "log.follow=false", "--literal-pathspecs", "log",
		"--full-history", "-c", "--no-renames", "--no-show-signature",
		"--format=", "--name-only", "-z", base ? arena_printf(a, "%s..HEAD", base) : "HEAD",
		"--"};
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

int git_list_committed(struct arena *a, const char *root, const char *base, struct git_paths *out,
	struct error *err)
{
	const char *argv[] = {"git", "-c", "log.follow=false", "log", "--full-history", "-c",
		"--no-renames", "--no-show-signature", "--format=", "--name-only",
		"--diff-filter=d", "-z", arena_printf(a, "%s..HEAD", base), "--", NULL, NULL};
	const struct git_command c = {.dir = root, .name = "git log", .argv = argv};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct git_default upstream;

	*out = (struct git_paths){0};
	if (git_read_default(a, root, &upstream, err) < 0)
		return -1;
	if (upstream.remote) {
		argv[COUNT(argv) - 3] = arena_printf(a, "^%s", upstream.commit);
		argv[COUNT(argv) - 2] = "--";
	}
	if (git_command(&c, &text, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < text.len; at += strlen(text.s + at) + 1)
		if (text.s[at])
			vec_push_in(a, &out->list, arena_dup(a, str_of(text.s + at)));
	return 0;
}

static int by_path(const void *key, const void *item)
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
		if (bsearch(out.s + at, paths, n, sizeof(*paths), by_path))
			*found = arena_dup(a, str_of(out.s + at));
	return 0;
}

/* ---- the remote ---- */

/* An ssh command that the user has set stays as it is. */
static bool uses_plain_ssh(const struct git_head *h)
{
	return !h->own_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

/* `ref: refs/heads/trunk TAB HEAD` and, for each branch, `ID TAB refs/heads/NAME`. */
struct remote_refs {
	struct str head; /* its default branch; empty: not known */
	struct str tip;  /* commit of the requested branch; empty: there is no such branch */
	struct str at;   /* commit of the default branch; empty: not known */
	bool any;        /* it has branches */
};

static void parse_refs(struct str output, const char *branch, struct remote_refs *r)
{
	static const char head[] = "ref: refs/heads/", named[] = "\trefs/heads/";
	struct str line;

	while (str_line(&output, &line)) {
		size_t tab = str_find(line, STR("\t"));
		struct str first = str_sub(line, 0, tab), name = str_sub(line, tab, line.n);

		if (str_is(name, "\tHEAD") && str_starts(first, head))
			r->head = str_sub(first, strlen(head), first.n);
		else if (str_is(name, "\tHEAD"))
			r->at = first;
		if (!str_starts(name, named))
			continue;
		r->any = true;
		if (str_is(str_sub(name, strlen(named), name.n), branch))
			r->tip = first;
	}
}

static int head_is_in(const char *root, struct str commit, bool *yes, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *const argv[] = {
		"git", "merge-base", "--is-ancestor", "HEAD", arena_dup(&a, commit), NULL};

	return ask_git(&(struct git_command){.dir = root, .name = "git merge-base", .argv = argv},
		yes, err);
}

static int apply_refs(
	const char *root, struct str output, struct git_head *h, bool *known, struct error *err)
{
	struct remote_refs r = {0};
	bool pushed = false;

	parse_refs(output, h->branch, &r);
	*known = r.head.n || !r.any;
	if (!r.head.n || !r.tip.n || !str_is(r.head, h->branch))
		return 0;
	if (!h->unborn && head_is_in(root, r.tip, &pushed, err) < 0)
		return -1;
	h->on_default = true;
	h->ahead = !pushed;
	return 0;
}

/*
 * Asks the remote whether this branch is its default branch. If it does not say, it is treated as
 * one, except for branches that we create; an empty remote has no default branch to protect.
 */
static int resolve_default(const char *root, struct git_head *h, struct error *err)
{
	static const char *const argv[] = {
		"git", "ls-remote", "--symref", "origin", "HEAD", "refs/heads/*", NULL};
	const struct git_command c = {.dir = root,
		.name = "git ls-remote",
		.argv = argv,
		.limit_s = LIST_REMOTE_S,
		.batch_ssh = uses_plain_ssh(h)};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool known = false;
	int status = 0;

	if (!h->unsure || str_starts(str_of(h->branch), "dev-team/"))
		return 0;
	if (git_command(&c, &out, &status, err) == 0 && status == 0 &&
		apply_refs(root, buf_str(&out), h, &known, err) < 0)
		return -1;
	if (!known && !h->guessed)
		h->on_default = h->ahead = true;
	return 0;
}

int git_read_remote_branch(struct arena *a, const char *root, const char *branch, const char **id,
	const char **others, struct error *err)
{
	const char *ref = arena_printf(a, "refs/heads/%s", branch);
	const char *const argv[] = {"git", "ls-remote", "origin", "HEAD", ref, NULL};
	const struct git_command c = {
		.dir = root, .name = "git ls-remote", .argv = argv, .limit_s = LIST_REMOTE_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct remote_refs r = {0};

	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	parse_refs(buf_str(&out), branch, &r);
	*id = r.tip.n ? arena_dup(a, r.tip) : NULL;
	*others = r.at.n ? arena_dup(a, r.at) : NULL;
	return 0;
}

int git_fetch_branch(const char *root, const char *branch, bool *fetched, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *const argv[] = {"git", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		"origin", arena_printf(&a, "+refs/heads/%s:refs/remotes/origin/%s", branch, branch),
		NULL};
	const struct git_command c = {.dir = root,
		.name = "git fetch",
		.argv = argv,
		.limit_s = FETCH_S,
		.late = true,
		.batch_ssh = !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH")};
	int status = 0;

	*fetched = false;
	if (git_command(&c, NULL, &status, err) < 0)
		return -1;
	*fetched = status == 0;
	return 0;
}

struct push_result {
	int status; /* exit status of `git push` */
	struct buf output;
};

/* `lease`: the commit that the remote's branch must have, to be replaced by another history; NULL:
 * the push must be a fast-forward. */
static int run_push(const char *root, const struct git_head *h, const char *lease,
	struct push_result *out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *argv[] = {"git", "-c", "gc.auto=0", "push", "--recurse-submodules=check",
		"origin", "HEAD",
		lease ? arena_printf(&a, "--force-with-lease=refs/heads/%s:%s", h->branch, lease)
		      : NULL,
		NULL};
	/* no translation: is_refusal() reads the output */
	static const char *const env[] = {"LANGUAGE=en", NULL};
	const struct git_command c = {.dir = root,
		.name = "git push",
		.argv = argv,
		.env = env,
		.limit_s = NETWORK_S,
		.batch_ssh = uses_plain_ssh(h)};

	buf_clear(&out->output);
	return git_command(&c, &out->output, &out->status, err);
}

/* The remote or a hook says no. Else git did not get as far as that: no network, no permission. */
static bool is_refusal(const struct push_result *p)
{
	struct str text = buf_str(&p->output);

	if (p->status != PUSH_FAILED)
		return false;
	return has(text, "[rejected]") || has(text, "[remote rejected]") ||
	       !(has(text, "fatal: ") || has(text, "RPC failed") || has(text, "[remote failure]"));
}

#define NOWHERE "not be found on any remote:\n"

/* The branch names commits of submodules that nobody else could get. */
static int submodules_error(struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf paths = BUF_INIT;
	struct str rest = str_sub(text, str_find(text, STR(NOWHERE)) + strlen(NOWHERE), text.n),
		   line;

	while (str_line(&rest, &line) && str_starts(line, "  ")) {
		buf_adds(&paths, paths.len ? "', '" : "'");
		buf_add(&paths, str_trim(line));
	}
	return error_set(err, ERR_CHECK,
		"the branch names commits of the submodules %s' that are on none of their remotes: "
		"push them there first",
		paths.s);
}

static int push_error(const struct push_result *p, struct error *err)
{
	struct str text = buf_str(&p->output);

	if (p->status && has(text, NOWHERE))
		return submodules_error(text, err);
	return check_status("git push", p->status, &p->output, is_refusal(p), err);
}

/* Commits that were pushed may have been amended or rebased since. If the remote has got others
 * meanwhile, the first refusal says more. */
static int push_branch(const char *root, const struct git_head *h, const char *lease,
	struct push_result *out, struct error *err)
{
	if (run_push(root, h, NULL, out, err) < 0)
		return -1;
	if (push_error(out, err) == 0)
		return 0;
	if (!lease || err->code != ERR_CHECK || !has(buf_str(&out->output), "[rejected]"))
		return -1;
	if (run_push(root, h, lease, out, err) < 0)
		return -1;
	return has(buf_str(&out->output), "(stale info)") ? -1 : push_error(out, err);
}

static int push_head(
	const char *root, const struct git_head *h, const char *lease, struct error *err)
{
	struct push_result p = {0};
	int rc;

	if (!h->branch)
		return error_set(err, ERR_STATE, "no branch is checked out in '%s'", root);
	if (h->unborn)
		return error_set(err, ERR_STATE, "no commit on branch '%s' yet", h->branch);
	if (h->on_default && h->unsure)
		return error_set(err, ERR_STATE,
			"'%s' may be the default branch of 'origin': nothing is pushed to it: run "
			"'git remote set-head origin --auto'",
			h->branch);
	if (h->on_default)
		return error_set(err, ERR_STATE,
			"'%s' is the default branch of 'origin': nothing is pushed to it",
			h->branch);
	rc = push_branch(root, h, lease, &p, err);
	buf_release(&p.output);
	return rc;
}

int git_push(const char *root, const char *lease, bool *skipped, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct git_head h;
	int rc = git_read_head(&a, root, &h, err);

	if (rc == 0 && h.branch && !h.unborn)
		rc = resolve_default(root, &h, err);
	*skipped = rc == 0 && (!h.origin || (h.on_default && !h.ahead));
	return rc == 0 && !*skipped ? push_head(root, &h, lease, err) : rc;
}
