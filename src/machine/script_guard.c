#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/config/violation.h"
#include "src/machine/answer.h"
#include "src/machine/script_internal.h"

/* The lock file */

enum { TEXT_MAX = 2048, SWEEP_MS = 5000 };

/* A guard removes its file while it holds the lock: the file that we locked may have no name. */
static int still_named(int fd, const char *path, struct error *err)
{
	struct stat ours, named = {0};

	if (fstat(fd, &ours) < 0 || (lstat(path, &named) < 0 && errno != ENOENT))
		return error_errno(err, "cannot read lock file '%s'", path);
	return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

int script_lock(const char *path, int *fd, struct error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int rc, named;

	for (;;) {
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (*fd < 0)
			return error_errno(err, "cannot open lock file '%s'", path);
		while ((rc = fcntl(*fd, F_OFD_SETLK, &whole)) < 0 && errno == EINTR)
			;
		if (rc < 0) {
			if (errno == EAGAIN || errno == EACCES)
				return 0;
			error_errno(err, "cannot lock '%s'", path);
			close(*fd);
			*fd = -1;
			return -1;
		}
		named = still_named(*fd, path, err);
		if (named > 0)
			return 1;
		close(*fd);
		*fd = -1;
		if (named < 0)
			return -1;
	}
}

void script_unlock(const char *path, int *fd)
{
	(void)unlink(path);
	base_close(fd);
	*fd = -1;
}

/* True if an earlier guard signed the file and was killed. */
static bool lock_is_used(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_size > 0;
}

static int lock_sign(int fd, const char *path, struct error *err)
{
	struct process_info self;
	char text[64];
	int n;

	if (!process_info(getpid(), &self))
		return error_set(err, ERR_SYSTEM, "cannot read /proc");
	n = snprintf(text, sizeof(text), "%d %" PRIu64 "\n", (int)self.pid, self.start);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return error_errno(err, "cannot write '%s'", path);
	return 0;
}

static bool read_text(int fd, char text[TEXT_MAX])
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool script_lock_read(int fd, struct guard_id *g)
{
	char text[TEXT_MAX];
	int pid;

	if (!read_text(fd, text) || !strchr(text, '\n') ||
		sscanf(text, "%d %" SCNu64, &pid, &g->start) != 2 || pid <= 1)
		return false;
	g->pid = (pid_t)pid;
	return true;
}

/* Best effort: on a full disk the waiting callers learn less. */
static void lock_set_reason(int fd, const char *reason)
{
	struct error ignored;

	if (lseek(fd, 0, SEEK_END) >= 0)
		(void)sys_write_all(fd, str_of(reason), "lock file", &ignored);
}

void script_lock_reason(int fd, char *out, size_t size)
{
	char text[TEXT_MAX], *line;

	out[0] = '\0';
	line = read_text(fd, text) ? strchr(text, '\n') : NULL;
	if (line)
		(void)snprintf(out, size, "%s", line + 1);
}

/* An environment variable of everything that a script starts, to find what a killed guard left. */
static char *script_mark(struct arena *a, const struct script *s)
{
	return arena_printf(a, "DEV_TEAM_EXEC=%s", s->lock);
}

struct leftovers {
	const char *mark;
	size_t n;
};

static void kill_marked(const struct process_info *info, void *arg)
{
	struct leftovers *s = arg;

	if (info->pid == getpid() || info->state == 'Z' || !process_has_env(info->pid, s->mark))
		return;
	s->n++;
	(void)kill(info->pid, SIGKILL);
}

void script_end_leftovers(const struct script *s)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct timespec pause = {.tv_nsec = 2000000};
	int64_t until = clock_ticks() + SWEEP_MS;
	struct leftovers found = {script_mark(&a, s), 1};

	while (found.n && clock_ticks() < until) {
		found.n = 0;
		process_each(kill_marked, &found);
		if (found.n)
			nanosleep(&pause, NULL);
	}
}

/* Running under a policy */

enum { REPORT_MAX = 16 << 20 };

/* The file that this program was started from, even if its name now leads to another. */
const char *script_program = "/proc/self/exe";

static const char *const *policy_argv(struct arena *a, const struct script *s, const char **report)
{
	const char *const argv[] = {script_program, "policy", "exec", "--policy", s->policy,
		"--cwd", s->directory, "--timeout", arena_printf(a, "%u", s->timeout_s), "--report",
		*report = arena_printf(a, "%s.report", s->lock), "--", s->inner, NULL};
	const char **copy = arena_alloc(a, sizeof(argv));

	memcpy(copy, argv, sizeof(argv));
	return copy;
}

static char *timeout_note(struct arena *a, const struct script *s)
{
	return arena_printf(a, " — timed out after %u s", s->timeout_s);
}

static int read_report(const char *path, json **report, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, path, REPORT_MAX, NULL, err) < 0)
		return -1;
	return json_parse(report, str_trim(buf_str(&text)), err);
}

static char *denied(struct arena *a, const struct script *s, const struct breach *b)
{
	CLEANUP(json_free) json *j = breach_json(b);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "failed — security violation: %s — log: %s\n\n", breach_line(a, b), s->log);
	json_print(&text, j);
	return arena_dup(a, buf_str(&text));
}

/* A line for the log: which kernel layers the script ran under. */
static const char *layers_of(struct arena *a, const struct script *s, const json *report)
{
	const json *layers = json_get(report, "layers");
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!layers)
		return "";
	json_print(&text, layers);
	return arena_printf(
		a, "dev-team: ran under the policy '%s', layers: %s\n", s->policy, text.s);
}

/* The outcome from the report: 1 passed, 0 failed; *text is the answer, *layers a line for the log
 * or
 * "". -1: nothing is known. */
static int policy_outcome(struct arena *a, const struct script *s, const char *path, int status,
	char **text, const char **layers, struct error *err)
{
	CLEANUP(json_free) json *report = NULL;
	struct breach b;
	bool timed_out, passed;
	int rc = read_report(path, &report, err);

	if (rc == 0)
		rc = breach_read(a, report, s->violation, &b, err);
	if (rc < 0 && report && json_get_str(report, "error"))
		return error_prefix(err, "nothing ran under the policy '%.200s'", s->policy);
	if (rc < 0)
		return error_prefix(err,
			"nothing ran under the policy '%.200s' (its message is in the log)",
			s->policy);
	*layers = layers_of(a, s, report);
	if (rc == 1) {
		*text = denied(a, s, &b);
		return 0;
	}
	timed_out = json_is_true(json_get(report, "timed_out"));
	passed = status == 0 && !timed_out;
	*text = arena_printf(a, "%s%s — log: %s", passed ? "passed" : "failed",
		timed_out ? timeout_note(a, s) : "", s->log);
	return passed;
}

/* The guard */

enum {
	LOCK_FD = 3,
	READY_FD = 4,
	LOG_MAX = 64 << 20,
	POLICY_END_S = 30, /* for `policy exec` to end the script after its time limit */
};
static const char log_cut[] = "\n(dev-team: output over 64 MiB is left out)\n";

/* Closes the caller's descriptors: whoever started the caller waits until they are closed. */
static bool settle_descriptors(int lock, int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	lock = fcntl(lock, F_DUPFD_CLOEXEC, READY_FD + 1);
	ready = fcntl(ready, F_DUPFD_CLOEXEC, READY_FD + 1);
	if (null < 0 || lock < 0 || ready < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
		dup2(null, 2) < 0)
		return false;
	if (dup3(lock, LOCK_FD, O_CLOEXEC) < 0 || dup3(ready, READY_FD, O_CLOEXEC) < 0)
		return false;
	if (syscall(SYS_close_range, (unsigned)READY_FD + 1, ~0u, 0u) < 0)
		for (int fd = READY_FD + 1; fd < 1024; fd++)
			close(fd);
	return true;
}

/* The signals that end the script, as a descriptor. */
static int cancel_descriptor(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	static const int ours[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(ours); i++) {
		sigaddset(&set, ours[i]);
		(void)sigaction(ours[i], &usual, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int open_log(struct arena *a, const struct script *s, struct error *err)
{
	int fd;

	if (path_mkdirs(arena_dup(a, path_dir(s->log)), err) < 0)
		return -1;
	fd = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
	return fd < 0 ? error_errno(err, "cannot open log '%s'", s->log) : fd;
}

static int record(const struct script *s, bool passed, const char *text, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	enum answer_fate fate;

	if (context_open(&f, s->document, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	return answer_record(&f, s->id, passed ? "passed" : "failed", str_of(text), &fate, err);
}

static int conclude(struct arena *a, const struct script *s, const struct process_end *end, int log,
	struct error *err)
{
	const char *why = "";
	struct error ignored;

	if (end->cancelled) {
		(void)sys_write_all(log, STR("\ndev-team: ended by a signal\n"), s->log, &ignored);
		return error_set(err, ERR_SYSTEM, "the script was ended by a signal");
	}
	if (end->timed_out) {
		why = timeout_note(a, s);
		(void)sys_write_all(log,
			str_of(arena_printf(a, "\ndev-team: timed out after %u s\n", s->timeout_s)),
			s->log, &ignored);
	}
	if (!end->timed_out && end->status == 0)
		return record(s, true, arena_printf(a, "passed — log: %s", s->log), err);
	return record(s, false, arena_printf(a, "failed%s — log: %s", why, s->log), err);
}

/* `policy exec` keeps the time limit: it can end more than a process group. */
static int run_under(
	struct arena *a, const struct script *s, struct process *p, int log, struct error *err)
{
	struct process_end end;
	const char *report, *layers = "";
	struct error ignored;
	char *text = NULL;
	int rc;

	p->argv = policy_argv(a, s, &report);
	p->timeout_s = s->timeout_s + POLICY_END_S;
	(void)unlink(report);
	rc = process_run(p, &end, err);
	if (rc == 0 && (end.cancelled || end.timed_out))
		rc = conclude(a, s, &end, log, err);
	else if (rc == 0) {
		rc = policy_outcome(a, s, report, end.status, &text, &layers, err);
		if (rc >= 0)
			(void)sys_write_all(log, str_of(layers), s->log, &ignored);
		rc = rc < 0 ? -1 : record(s, rc == 1, text, err);
	}
	(void)unlink(report);
	return rc;
}

static int run_and_record(
	struct arena *a, const struct script *s, const char *mark, int log, struct error *err)
{
	const char *const argv[] = {"/bin/sh", "-c", s->command, NULL};
	const char *const env[] = {mark, NULL};
	int cancel = cancel_descriptor();
	struct process p = {.argv = argv,
		.env = env,
		.output = log,
		.output_max = LOG_MAX,
		.output_cut = log_cut,
		.timeout_s = s->timeout_s,
		.cancel = cancel > 0 ? cancel : 0};
	struct process_end end;

	if (s->policy)
		return run_under(a, s, &p, log, err);
	if (process_run(&p, &end, err) < 0)
		return -1;
	return conclude(a, s, &end, log, err);
}

static void guard(const struct script *s)
{
	struct arena a = {0};
	struct error err = {0};
	const char *mark = script_mark(&a, s);
	bool used = lock_is_used(LOCK_FD);
	int lock = LOCK_FD;
	int log;

	if (lock_sign(LOCK_FD, s->lock, &err) < 0 || (log = open_log(&a, s, &err)) < 0) {
		struct error ignored;

		(void)sys_write_all(READY_FD, str_of(err.text), "pipe", &ignored);
		(void)unlink(s->lock);
		return;
	}
	close(READY_FD);
	if (used)
		script_end_leftovers(s);
	if (run_and_record(&a, s, mark, log, &err) < 0)
		lock_set_reason(LOCK_FD, err.text);
	script_unlock(s->lock, &lock); /* waiting callers have the file open and read the reason */
}

/* The guard is a child of init, so that ending the caller's process tree does not end it. */
static _Noreturn void detach(const struct script *s, int lock, int ready)
{
	(void)setsid();
	if (fork() == 0 && settle_descriptors(lock, ready))
		guard(s);
	_exit(0);
}

static int await_ready(int fd, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_all(&text, fd, sizeof(err->text), "pipe of the guard", err) < 0)
		return -1;
	return text.len ? error_set(err, ERR_SYSTEM, "%s", text.s) : 0;
}

int guard_start(const struct script *s, int lock, struct error *err)
{
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(err, "cannot start '%.200s'", s->id);
	pid = fork();
	if (pid == 0)
		detach(s, lock, fds[1]);
	close(fds[1]);
	if (pid < 0)
		rc = error_errno(err, "cannot start '%.200s'", s->id);
	else
		rc = await_ready(fds[0], err);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
