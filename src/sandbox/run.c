/*
 * One run from beginning to end. The directories of a root outlive its runs: the copy of the
 * repository, copies of protected files, and /tmp; and the caches of its repository, which its
 * worktrees share. Caches of different repositories are apart, so that none can plant code for
 * another.
 *
 * Two locks: `mutex` for the moments in which a run begins or ends, whose file has the names that
 * are protected meanwhile (protected.c); `live` is shared by all runs of the root, and whoever gets
 * it exclusively is alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "context/file.h"
#include "src/base/clock.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/digest.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { PROBE_S = 10, SHORT = 12 /* of a digest in /tmp: paths of sockets are short */ };

#define NO_BWRAP                                                                                   \
	"commands cannot be contained: there is no bwrap: install it: apt-get install bubblewrap " \
	"(or your system's package of that name)"

void sandbox_note(struct sandbox *s, const char *fmt, ...)
{
	char text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vec_push_in(s->arena, &s->end->notes, arena_printable(s->arena, str_of(text), SIZE_MAX));
}

/* ---- what this host can do ---- */

bool sandbox_installed(struct arena *a)
{
	bool blocked;

	return path_find_program(a, "bwrap", &blocked) != NULL;
}

int sandbox_probe(struct arena *a, const char **version, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	static const char *const argv[] = {"bwrap", "--ro-bind", "/", "/", "--unshare-pid",
		"--unshare-net", "--proc", "/proc", "--dev", "/dev", "--perms", "0755", "--dir",
		"/dev", "bwrap", "--version", NULL};
	struct process p = {
		.argv = argv, .output = -1, .out = &out, .out_max = 4096, .timeout_s = PROBE_S};
	struct process_end end;
	struct error ignored;
	struct str why; /* its first sentence; references to documentation follow */
	int rc = process_run(&p, &end, &ignored);

	*version = arena_printable(a, str_trim(buf_str(&out)), 200);
	why = str_of(out.len ? *version : "bwrap failed");
	if (rc == 0 && end.status == 0)
		return 0;
	if (rc < 0 && end.missing)
		return error_set(err, ERR_STATE, NO_BWRAP);
	if (str_find(why, STR("Unknown option")) < why.n)
		return error_set(err, ERR_STATE,
			"commands cannot be contained: %s: install bubblewrap 0.5 or later", why.p);
	return error_set(err, ERR_STATE,
		"commands cannot be contained: %.*s; allow user namespaces (sysctl "
		"kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 an AppArmor profile for "
		"bwrap, "
		"see docs/policy.md)",
		(int)str_find(why, STR(". ")), why.p);
}

/* ---- starting bwrap ---- */

struct running {
	pid_t pid;
	int handle; /* pidfd */
	int inside; /* the first process inside sends the broker's socket, then INSIDE_STARTED once
		     * bash has started, and perhaps INSIDE_MISSED_HOST at the end; a byte to it
		     * ends the run */
};

int sandbox_inherit(struct sandbox *s, int fd)
{
	(void)fcntl(fd, F_SETFD, 0);
	vec_push_in(s->arena, &s->inherited, fd);
	return fd;
}

static void sandbox_run_close_inherited(struct sandbox *s)
{
	for (size_t i = 0; i < s->inherited.n; i++)
		close(s->inherited.items[i]);
	s->inherited.n = 0;
}

int sandbox_memory_file(struct sandbox *s, struct str text, struct error *err)
{
	int fd = memfd_create("sandbox", MFD_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "cannot prepare the sandbox");
	(void)sandbox_inherit(s, fd);
	if (sys_write_all(fd, text, "plan", err) < 0)
		return -1;
	return lseek(fd, 0, SEEK_SET) < 0 ? error_errno(err, "cannot prepare the sandbox") : fd;
}

static int plan_file(struct sandbox *s, struct error *err)
{
	const struct policy_limits *l = &s->x->policy->limits;
	CLEANUP(buf_release) struct buf plan = BUF_INIT;

	buf_add(&plan, (struct str){(const char *)l, sizeof(*l)});
	for (size_t i = 0; i < s->routes.n; i++)
		buf_addf(&plan, "%s%s:%u", i ? " " : "", s->routes.items[i].at,
			s->routes.items[i].port);
	buf_addc(&plan, '\n');
	buf_add(&plan, s->x->text);
	return sandbox_memory_file(s, buf_str(&plan), err);
}

/* No fork: a copy of this process would take longer than to start bwrap. */
pid_t sandbox_spawn(const char *path, const char *const *argv, const char *const *environment,
	bool inside, bool give_stdin)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults, none;
	int fault;
	pid_t pid;

	(void)(inside ? sigfillset(&defaults) : sigemptyset(&defaults));
	sigaddset(&defaults, SIGPIPE);
	sigemptyset(&none);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(
		&attributes, POSIX_SPAWN_SETSIGDEF | (inside ? POSIX_SPAWN_SETSIGMASK : 0));
	(void)posix_spawnattr_setsigdefault(&attributes, &defaults);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawn_file_actions_init(&actions);
	if (!give_stdin)
		(void)posix_spawn_file_actions_addopen(
			&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (inside)
		(void)posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	fault = posix_spawn(&pid, path, &actions, &attributes, (char *const *)(uintptr_t)argv,
		(char *const *)(uintptr_t)environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	errno = fault;
	return fault ? -1 : pid;
}

static int sandbox_run_start(struct sandbox *s, struct running *r, struct error *err)
{
	int given[4], ends[2];
	char fds[4][16];
	const char *const argv[] = {"bwrap", "--args", fds[0], "--", BOX_PROGRAM, "sandbox-run",
		fds[1], fds[2], fds[3], NULL};

	if (sandbox_arguments(s, err) < 0 ||
		(given[0] = sandbox_memory_file(s, buf_str(&s->arguments), err)) < 0 ||
		(given[1] = plan_file(s, err)) < 0 || sandbox_network_open(s, &given[3], err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, "cannot start the sandbox");
	r->inside = ends[0];
	given[2] = sandbox_inherit(s, ends[1]);
	for (size_t i = 0; i < COUNT(fds); i++)
		(void)snprintf(fds[i], sizeof(fds[i]), "%d", given[i]);
	r->pid = sandbox_spawn(s->bwrap, argv, sandbox_environment(s), false, s->x->give_stdin);
	if (r->pid < 0)
		return error_errno(err, "cannot start the sandbox");
	sandbox_run_close_inherited(s);
	r->handle = (int)syscall(SYS_pidfd_open, r->pid, 0);
	return r->handle < 0 ? error_errno(err, "cannot start the sandbox") : 0;
}

/* ---- watching it ---- */

/* Waits until bwrap has ended, or `until` (-1: for ever), serving the broker. */
static bool sandbox_run_wait_until(struct sandbox *s, struct running *r, int64_t until)
{
	struct pollfd fds[] = {{.fd = r->handle, .events = POLLIN},
		{.fd = s->broker < 0 ? r->inside : s->broker, .events = POLLIN},
		{.fd = s->x->cancel, .events = POLLIN}};

	if (s->end->cancelled)
		fds[2].fd = -1;
	for (;;) {
		int64_t left = until < 0 ? -1 : until - clock_ticks();

		if (until >= 0 && left <= 0)
			return false;
		if (poll(fds, COUNT(fds), left > INT_MAX ? INT_MAX : (int)left) < 0)
			continue;
		if (fds[0].revents)
			return true;
		if (fds[2].revents) {
			s->end->cancelled = true;
			return false;
		}
		if (fds[1].revents && s->broker < 0)
			fds[1].fd = s->broker = sandbox_pass_socket(r->inside, -1);
		else if (fds[1].revents)
			sandbox_broker_serve(s);
	}
}

static void watch(struct sandbox *s, struct running *r)
{
	unsigned limit = s->x->timeout_s ? s->x->timeout_s : s->x->policy->limits.timeout_s;
	int64_t begun = clock_ticks();
	bool missed_host = false;
	int status;
	char byte;

	if (!sandbox_run_wait_until(s, r, limit ? begun + (int64_t)limit * 1000 : -1)) {
		s->end->timed_out = !s->end->cancelled;
		/* TERM to all processes inside; KILL ends them with the first. */
		if (send(r->inside, "", 1, MSG_NOSIGNAL) < 0 ||
			!sandbox_run_wait_until(s, r, clock_ticks() + PROCESS_GRACE_MS))
			(void)kill(r->pid, SIGKILL);
	}
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	s->end->ms = clock_ticks() - begun;
	/* If the broker's socket was not received, the byte that was sent with it comes first. */
	while (read(r->inside, &byte, 1) == 1) {
		s->end->started |= byte == *INSIDE_STARTED;
		missed_host |= byte == *INSIDE_MISSED_HOST;
	}
	s->end->status = s->end->timed_out   ? SANDBOX_TIMED_OUT
			 : WIFEXITED(status) ? WEXITSTATUS(status)
					     : 128 + WTERMSIG(status);
	if (s->end->status && s->x->policy->network == NETWORK_NONE && missed_host)
		sandbox_note(s,
			"the command tried to reach a host, and has no network: 'hosts' of the "
			"policy '%s' names those that it reaches",
			s->x->policy->name);
}

/* ---- the directories of a root, and its locks ---- */

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

static int sandbox_place_open(struct sandbox *s, struct error *err)
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
static void sandbox_place_lock(struct sandbox *s)
{
	(void)TEMP_FAILURE_RETRY(flock(s->mutex, LOCK_EX));
	s->alone = flock(s->live, LOCK_EX | LOCK_NB) == 0;
}

static void sandbox_place_unlock(struct sandbox *s)
{
	(void)TEMP_FAILURE_RETRY(flock(s->live, LOCK_SH));
	(void)flock(s->mutex, LOCK_UN);
}

static void sandbox_place_close(struct sandbox *s)
{
	base_close(&s->live);
	base_close(&s->mutex);
	s->live = s->mutex = -1;
}

/* ---- the run ---- */

const char *sandbox_common_of(struct arena *a, const struct root *r)
{
	return r->common_dir ? r->common_dir
	       : r->git_dir  ? r->git_dir
			     : path_join(a, r->path, ".git");
}

static int run_find_repository(struct sandbox *s, struct error *err)
{
	const struct root *r = s->x->root;
	struct verdict v = {0};
	struct str cwd = {0};

	if (s->x->cwd && policy_cwd(s->arena, r, s->x->cwd, &cwd, &v) < 0)
		return error_set(err, ERR_INPUT, "'%.200s': %s", s->x->cwd, v.reason);
	s->cwd = cwd.n ? path_join(s->arena, r->path, arena_dup(s->arena, cwd)) : r->path;
	s->view.own = r->common_dir ? r->git_dir : NULL;
	s->view.common = sandbox_common_of(s->arena, r);
	if (!path_is_directory(s->view.common))
		s->view.common = NULL;
	s->view.write = s->view.own && s->x->policy->write;
	return 0;
}

/* *err says why there are no namespaces, unless there is no bwrap. */
static int run_without_bwrap(struct sandbox *s, struct error *err)
{
	if (!s->bwrap)
		(void)error_set(err, ERR_STATE, NO_BWRAP);
	if (!sandbox_landlock_serves(s->x))
		return -1;
	if (s->x->give_stdin)
		return error_prefix(err, "a command has standard input only in namespaces");
	*err = (struct error){0};
	return sandbox_landlock_run(s, err);
}

static int run_inside(struct sandbox *s, struct error *err)
{
	struct running r = {.handle = -1, .inside = -1};
	const char *version;
	struct error ignored;
	int rc;

	s->brokered = sandbox_broker_wanted(s);
	if (sandbox_network_plan(s, err) < 0)
		return -1;
	sandbox_place_lock(s);
	if (sandbox_protected_begin(s, err) < 0 || sandbox_git_begin(s, err) < 0 ||
		sandbox_protected_begun(s, err) < 0)
		return -1;
	rc = sandbox_run_start(s, &r, err);
	sandbox_place_unlock(s); /* the arguments were written under the lock */
	if (rc == 0)
		watch(s, &r);
	base_close(&r.handle);
	base_close(&r.inside);
	base_close(&s->broker);
	sandbox_network_close(s);
	sandbox_place_lock(s);
	sandbox_protected_end(s);
	if (sandbox_git_end(s, rc < 0 ? &ignored : err) < 0)
		rc = -1;
	sandbox_submodules_end(s);
	sandbox_place_close(s);
	if (rc < 0 || s->end->started || s->end->cancelled || s->end->timed_out)
		return rc;
	return sandbox_probe(s->arena, &version, err) == 0
		       ? error_set(err, ERR_SYSTEM, "the sandbox could not be started")
		       : run_without_bwrap(s, err);
}

int sandbox_run(struct arena *a, const struct sandbox_command *x, struct sandbox_end *end,
	struct error *err)
{
	struct sandbox s = {.arena = a, .x = x, .end = end, .broker = -1, .mutex = -1, .live = -1};
	bool blocked;
	int rc = -1;

	*end = (struct sandbox_end){0};
	s.bwrap = path_find_program(a, "bwrap", &blocked);
	if (run_find_repository(&s, err) == 0 && sandbox_place_open(&s, err) == 0)
		rc = s.bwrap ? run_inside(&s, err) : run_without_bwrap(&s, err);
	sandbox_run_close_inherited(&s);
	buf_release(&s.arguments);
	sandbox_place_close(&s);
	return rc;
}

/* ---- its report ---- */

int sandbox_report_try(struct arena *a, const char *path, struct error *err)
{
	if (!path)
		return 0;
	if (access(arena_dup(a, path_dir(path)), W_OK) < 0)
		return error_errno(err, "cannot write '%s'", path);
	(void)unlink(path); /* one that is there is of another run */
	return 0;
}

static json *sandbox_report_of(struct arena *a, const struct sandbox_report *o)
{
	json *j =
		o->verdict ? verdict_object(o->verdict) : JSON_OBJECT(JSON_TEXT("verdict", "none"));

	if (o->policy) {
		json_put_str(j, "policy", str_of(o->policy->name));
		json_put_str(j, "violation", str_of(violation_name(o->policy->violation)));
	}
	json_put_bool(j, "started", o->end && o->end->started);
	json_put(j, "notes",
		o->end ? json_texts(o->end->notes.items, o->end->notes.n) : json_array());
	if (o->end)
		JSON_ADD(j, JSON_INT("status", o->end->status),
			JSON_BOOL("timed_out", o->end->timed_out),
			JSON_BOOL("cancelled", o->end->cancelled), JSON_INT("ms", o->end->ms));
	if (o->error)
		json_put_str(
			j, "error", str_of(arena_printable(a, str_of(o->error->text), SIZE_MAX)));
	return j;
}

int sandbox_report_write(
	struct arena *a, const char *path, const struct sandbox_report *o, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *fresh = path ? arena_printf(a, "%s.new", path) : NULL;

	if (!path)
		return 0;
	json_print_line(&text, sandbox_report_of(a, o));
	(void)unlink(fresh);
	if (sandbox_write_file(fresh, buf_str(&text), 0600, err) < 0)
		return -1;
	return rename(fresh, path) < 0 ? error_errno(err, "cannot write '%s'", path) : 0;
}
