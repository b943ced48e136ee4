#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include "context/lease.h"
#include "src/run/run.h"
#include "src/sandbox/sandbox.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ANSWER_S = 10, OUTPUT_MAX = 65536, ENOUGH_MB = 100 };

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct doctor {
	struct arena *arena;
	struct buf *out;
	const char *given_repo; /* --repo; NULL: around the working directory */
	const char *repo;       /* NULL: none found */
	bool failed;
};

static void report(struct doctor *c, enum health health, const char *what, const char *fmt, ...)
	PRINTF(4, 5);

static void report(struct doctor *c, enum health health, const char *what, const char *fmt, ...)
{
	static const char *const names[] = {"ok", "warn", "fail"};
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	buf_addf(c->out, "%-4s  %-12s  %s\n", names[health], what, text);
	c->failed = c->failed || health == HEALTH_FAIL;
}

/* ---- programs ---- */

/* First line of what a program prints, in the arena; NULL when it is missing. *ok: it exited with 0
 * in time. */
static char *ask_program(
	struct arena *a, const char *cwd, const char *const *argv, unsigned timeout_s, bool *ok)
{
	static const char *const env[] = {"GIT_TERMINAL_PROMPT=0", "GH_PROMPT_DISABLED=1",
		"NO_COLOR=1", "GIT_ASKPASS=", "SSH_ASKPASS", "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", "GIT_COMMON_DIR", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct process p = {.argv = argv,
		.cwd = cwd,
		.env = env,
		.output = -1,
		.out = &out,
		.out_max = OUTPUT_MAX,
		.timeout_s = timeout_s};
	struct process_end end;
	struct error err = {0};
	struct str rest, line = {0};

	*ok = false;
	if (process_run(&p, &end, &err) < 0)
		return end.missing ? NULL : arena_dup(a, str_of(err.text));
	*ok = !end.timed_out && end.status == 0;
	if (end.timed_out)
		return arena_printf(a, "no answer within %u s", timeout_s);
	rest = buf_str(&out);
	while (str_line(&rest, &line) && !str_trim(line).n)
		;
	return arena_dup(a, str_trim(line));
}

#define ASK(c, cwd, ok, ...)                                                                       \
	ask_program((c)->arena, cwd, (const char *const[]){__VA_ARGS__, NULL}, ANSWER_S, ok)

static void check_git(struct doctor *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "git", "--version"), *version;
	struct error err = {0};

	if (!said)
		report(c, HEALTH_FAIL, "git", "not found: install git");
	else
		report(c, ok ? HEALTH_OK : HEALTH_FAIL, "git", "%s", said);
	if (git_library_version(c->arena, &version, &err) < 0)
		report(c, HEALTH_FAIL, "libgit2", "%s: install libgit2, or build again", err.text);
	else
		report(c, HEALTH_OK, "libgit2", "%s", version);
}

static void check_gh(struct doctor *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "gh", "--version");

	if (!said) {
		report(c, HEALTH_WARN, "gh",
			"not found: pull requests cannot be made or watched: install the "
			"GitHub CLI");
		return;
	}
	report(c, ok ? HEALTH_OK : HEALTH_FAIL, "gh", "%s", said);
	said = ASK(c, NULL, &ok, "gh", "auth", "status");
	if (ok)
		report(c, HEALTH_OK, "gh login", "logged in");
	else
		report(c, HEALTH_WARN, "gh login", "%s: run 'gh auth login' or set GH_TOKEN",
			said && *said ? said : "not logged in");
}

static void check_claude(struct doctor *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "claude", "--version");

	if (!said)
		report(c, HEALTH_WARN, "claude",
			"not found: the slash commands run in it: install Claude Code");
	else
		report(c, ok ? HEALTH_OK : HEALTH_FAIL, "claude", "%s", said);
}

static void check_programs(struct doctor *c)
{
	check_git(c);
	check_gh(c);
	check_claude(c);
}

/* ---- the state directory ---- */

/* File systems on which a lock or a rename may not be what it seems; numbers from statfs(2). */
static const struct {
	uint32_t magic;
	const char *name;
} remote_ones[] = {
	{0x6969, "NFS"},
	{0x517b, "SMB"},
	{0xff534d42, "CIFS"},
	{0xfe534d42, "SMB2"},
	{0x65735546, "FUSE"},
	{0x01021997, "9P"},
	{0x00c36400, "Ceph"},
	{0x5346414f, "AFS"},
	{0x6b414653, "AFS"},
	{0x73757245, "Coda"},
	{0x0bd00bd0, "Lustre"},
	{0x01161970, "GFS2"},
	{0x7461636f, "OCFS2"},
	{0x786f4256, "a VirtualBox shared folder"},
};

enum { TMPFS = 0x01021994, RAMFS = 0x858458f6 };

/* Where documents are kept. */
static int state_folder(struct arena *a, char **dir, struct error *err)
{
	char *path;

	/* `<base>/<slug>/<id>.md` less two parts */
	if (context_path(a, "slug", "id", &path, err) < 0)
		return -1;
	path = arena_dup(a, path_dir(path));
	*dir = arena_dup(a, path_dir(path));
	return 0;
}

static int lock_file(const char *path)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Really locks, and sees that a second one is refused. */
static const char *lock_fault(const char *path)
{
	CLEANUP(base_close) int first = lock_file(path);
	CLEANUP(base_close) int second = -1;

	if (first < 0)
		return strerror(errno);
	second = lock_file(path);
	if (second >= 0)
		return "a second lock was given";
	return errno == EAGAIN || errno == EACCES ? NULL : strerror(errno);
}

/* -1: nothing can be written there, so the rest cannot be tried. */
static int check_writing(struct doctor *c, const char *dir)
{
	char *path = arena_printf(c->arena, "%s/.doctor.%ld", dir, (long)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *fault;

	if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0) {
		report(c, HEALTH_FAIL, "state folder",
			"'%s' cannot be written: %s: make it writable or set DEV_TEAM_STATE_DIR",
			dir, strerror(errno));
		base_close(&fd);
		(void)unlink(path);
		return -1;
	}
	close(fd);
	report(c, HEALTH_OK, "state folder", "%s", dir);
	fault = lock_fault(path);
	(void)unlink(path);
	if (fault)
		report(c, HEALTH_FAIL, "locks",
			"'%s' cannot be locked: %s: set DEV_TEAM_STATE_DIR to a local disk", dir,
			fault);
	else
		report(c, HEALTH_OK, "locks", "a file there can be locked, once");
	return 0;
}

static void check_file_system(struct doctor *c, const char *dir)
{
	struct statfs fs;
	uint32_t magic;

	if (statfs(dir, &fs) < 0)
		return;
	magic = (uint32_t)fs.f_type;
	for (size_t i = 0; i < COUNT(remote_ones); i++)
		if (remote_ones[i].magic == magic) {
			report(c, HEALTH_WARN, "file system",
				"%s: locks may not hold between machines: set DEV_TEAM_STATE_DIR "
				"to a local disk",
				remote_ones[i].name);
			return;
		}
	if (magic == TMPFS || magic == (uint32_t)RAMFS)
		report(c, HEALTH_WARN, "file system",
			"in memory: lost when the machine stops: set DEV_TEAM_STATE_DIR to a disk");
	else
		report(c, HEALTH_OK, "file system", "local");
}

static void check_space(struct doctor *c, const char *dir)
{
	struct statvfs fs;
	unsigned long long mb;

	if (statvfs(dir, &fs) < 0)
		return;
	mb = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	if (fs.f_files && !fs.f_favail)
		report(c, HEALTH_FAIL, "free space", "no more files can be made there");
	else if (mb < ENOUGH_MB)
		report(c, mb ? HEALTH_WARN : HEALTH_FAIL, "free space",
			"%llu MiB: make room, logs need it", mb);
	else
		report(c, HEALTH_OK, "free space", "%llu MiB", mb);
}

static void check_state(struct doctor *c)
{
	struct error err = {0};
	char *dir = NULL;
	bool was_there = state_folder(c->arena, &dir, &err) == 0 && path_exists(dir);

	if (!dir || path_mkdirs(dir, &err) < 0) {
		report(c, HEALTH_FAIL, "state folder", "%s: set DEV_TEAM_STATE_DIR", err.text);
		return;
	}
	if (check_writing(c, dir) == 0) {
		check_file_system(c, dir);
		check_space(c, dir);
	}
	if (!was_there)
		(void)rmdir(dir); /* to look is not to begin */
}

/* ---- the sandbox ---- */

/* What commands under a policy are bound by: one line for what is there, one for each that lacks.
 */
static void check_layers(struct doctor *c)
{
	CLEANUP(buf_release) struct buf there = BUF_INIT;
	struct host host;

	host_probe(&host);
	for (int l = 0; l < LAYERS; l++) {
		const struct host_layer *layer = &host.layers[l];

		if (layer->state == LAYER_ABSENT) {
			report(c, HEALTH_WARN, "sandbox", "no %s: %s", layer_name((enum layer)l),
				layer->note);
			continue;
		}
		buf_addf(&there, "%s%s", there.len ? ", " : "", layer_name((enum layer)l));
	}
	if (there.len)
		report(c, HEALTH_OK, "sandbox", "%s", there.s);
}

/* ---- the repository ---- */

static void report_owner(struct doctor *c, const char *path, const char *name)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct lease_holder h;

	if (context_open(&f, path, CONTEXT_READ_ONLY, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live)
		return;
	lease_describe(&text, &h);
	report(c, HEALTH_OK, "at work", "%s: %s", name, text.s);
}

static void check_leases(struct doctor *c, const char *slug)
{
	struct directory_names names;
	struct error ignored;
	bool missing;
	char *any, *dir;

	if (context_path(c->arena, slug, "id", &any, &ignored) < 0)
		return;
	dir = arena_dup(c->arena, path_dir(any));
	if (directory_list(c->arena, dir, &names, &missing, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct str name = str_of(names.items[i]);

		if (name.p[0] != '.' && str_ends(name, ".md"))
			report_owner(c, path_join(c->arena, dir, name.p),
				arena_dup(c->arena, str_sub(name, 0, name.n - 3)));
	}
}

static void check_origin(struct doctor *c)
{
	struct error err = {0};
	char *slug;
	bool ok;

	if (git_slug(c->arena, c->repo, &slug, &err) < 0) {
		report(c, HEALTH_FAIL, "origin", "%s: run 'git remote add origin URL'", err.text);
		return;
	}
	report(c, HEALTH_OK, "origin", "%s", slug);
	check_leases(c, slug);
	(void)ASK(c, c->repo, &ok, "git", "rev-parse", "--verify", "--quiet", "origin/HEAD");
	if (!ok)
		report(c, HEALTH_WARN, "origin/HEAD",
			"not set, so the default branch is a guess: run 'git remote set-head "
			"origin --auto'");
}

static void check_author(struct doctor *c)
{
	bool ok;

	(void)ASK(c, c->repo, &ok, "git", "var", "GIT_COMMITTER_IDENT");
	if (ok)
		report(c, HEALTH_OK, "author", "git knows who commits");
	else
		report(c, HEALTH_FAIL, "author",
			"git does not know who commits: run 'git config --global user.name' and "
			"user.email");
}

static void check_validation(struct doctor *c)
{
	const char *script = path_join(c->arena, c->repo, "scripts/validate.sh");

	if (path_exists(script))
		report(c, HEALTH_OK, "validation", "scripts/validate.sh");
	else
		report(c, HEALTH_WARN, "validation",
			"no scripts/validate.sh: write it, or name a command as 'validate' in a "
			"workflow of your own");
}

static void check_repository(struct doctor *c)
{
	struct error err = {0};
	char *root;

	if (git_root(c->arena, c->given_repo ? c->given_repo : ".", &root, &err) < 0) {
		report(c, c->given_repo ? HEALTH_FAIL : HEALTH_WARN, "repository",
			"%s: run this in the repository to work on", err.text);
		return;
	}
	c->repo = root;
	report(c, HEALTH_OK, "repository", "%s", root);
	check_origin(c);
	check_author(c);
	check_validation(c);
}

static bool on_path(struct arena *a, const char *name)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "");

	while (rest.n) {
		size_t end = str_find(rest, STR(":"));
		const char *dir = arena_dup(a, str_sub(rest, 0, end));

		if (*dir && access(path_join(a, dir, name), X_OK) == 0)
			return true;
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return false;
}

static void check_installation(struct doctor *c)
{
	static const char *const shipped[] = {"implement-task", "fix-issue"};
	struct error err = {0};
	char *root, *path;

	if (locate_plugin(c->arena, NULL, &root, &err) < 0) {
		report(c, HEALTH_FAIL, "workflows", "%s, or set DEV_TEAM_ROOT", err.text);
		return;
	}
	for (size_t i = 0; i < COUNT(shipped); i++)
		if (locate_workflow(c->arena, shipped[i], root, &path, &err) < 0) {
			report(c, HEALTH_FAIL, "workflows", "%s: install again", err.text);
			return;
		}
	report(c, HEALTH_OK, "workflows", "%s/workflows", root);
	if (on_path(c->arena, "dev-team"))
		report(c, HEALTH_OK, "command", "dev-team is on PATH");
	else
		report(c, HEALTH_WARN, "command",
			"dev-team is not on PATH here (in Claude Code the plugin adds it): add "
			"'%s/bin'",
			root);
}

bool doctor_check(struct arena *a, const char *repo, struct buf *out)
{
	static void (*const checks[])(struct doctor * c) = {
		check_programs, check_state, check_layers, check_installation, check_repository};
	struct doctor c = {.arena = a, .out = out, .given_repo = repo};

	for (size_t i = 0; i < COUNT(checks); i++)
		checks[i](&c);
	return !c.failed;
}
