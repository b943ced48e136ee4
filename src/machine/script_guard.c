#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/machine/actions.h"
#include "src/machine/script.h"

enum { LOCK_FD = 3, READY_FD = 4 };
enum { LOG_MAX = 64 << 20 };
static const char log_cut[] = "\n(dev-team: output over 64 MiB is left out)\n";

/* The caller's descriptors must not stay open here: its own caller waits for their end. */
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
	return action_record(&f, s->id, passed ? "passed" : "failed", str_of(text), &fate, err);
}

static int conclude(struct arena *a, const struct script *s, const struct process_end *end, int log,
	struct error *err)
{
	const char *why = "";
	struct error ignored;

	if (end->cancelled) {
		(void)fd_write_all(log, STR("\ndev-team: ended by a signal\n"), s->log, &ignored);
		return error_set(err, ERR_SYSTEM, "the script was ended by a signal");
	}
	if (end->timed_out) {
		why = arena_printf(a, " — timed out after %u s", s->timeout_s);
		(void)fd_write_all(log,
			str_of(arena_printf(a, "\ndev-team: timed out after %u s\n", s->timeout_s)),
			s->log, &ignored);
	}
	if (!end->timed_out && end->status == 0)
		return record(s, true, arena_printf(a, "passed — log: %s", s->log), err);
	return record(s, false, arena_printf(a, "failed%s — log: %s", why, s->log), err);
}

/* The program that applies the policy keeps the time limit: it can end more than a group. */
enum { FAREWELL_S = 30 };

static int run_under(
	struct arena *a, const struct script *s, struct process *p, int log, struct error *err)
{
	struct process_end end;
	const char *report, *layers;
	struct error ignored;
	char *text;
	int rc;

	p->argv = script_argv(a, s, &report);
	p->timeout_s = s->timeout_s + FAREWELL_S;
	(void)unlink(report);
	rc = process_run(p, &end, err);
	if (rc == 0 && (end.cancelled || end.timed_out))
		rc = conclude(a, s, &end, log, err);
	else if (rc == 0) {
		rc = script_judge(a, s, report, end.status, &text, &layers, err);
		if (rc >= 0)
			(void)fd_write_all(log, str_of(layers), s->log, &ignored);
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
	const char *mark = script_mark(&a, s->lock);
	bool used = script_lock_used(LOCK_FD);
	int lock = LOCK_FD;
	int log;

	if (script_lock_sign(LOCK_FD, s->lock, &err) < 0 || (log = open_log(&a, s, &err)) < 0) {
		struct error ignored;

		(void)fd_write_all(READY_FD, str_of(err.text), "pipe", &ignored);
		(void)unlink(s->lock);
		return;
	}
	close(READY_FD);
	if (used)
		script_end_leftovers(mark);
	if (run_and_record(&a, s, mark, log, &err) < 0)
		script_lock_tell(LOCK_FD, err.text);
	script_unlock(s->lock, &lock); /* those who wait have the file open and read the reason */
}

/* Nobody's child, so that what ends a whole tree of processes passes it by. */
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

	if (fd_read_all(&text, fd, sizeof(err->text), "pipe of the guard", err) < 0)
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
