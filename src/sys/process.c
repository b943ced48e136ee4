#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	CHUNK = 16384,
	ROUND_MS = 5,    /* between two looks at processes that are ending */
	BLIND_MS = 10,   /* poll interval where the kernel has no pidfd */
	REST_MAX = 1024, /* chunks read after the end: a process that survived may write for ever */
	STUCK_MS = 10000, /* after KILL: a process stuck in the kernel is not waited for */
	ERROR_LINES = 5,
	GIT_MESSAGE_LINES = 24, /* as many as a forge prints about a secret in a commit */
	ERROR_TEXT_MAX = 840,
	ERROR_TAIL = 240, /* of a longer text, after what is left out */
};

/* ---- starting a program ---- */

struct running {
	const struct process *p;
	struct process_end *end;
	pid_t pid;  /* also its process group and session */
	int handle; /* pidfd; -1 where the kernel has none */
	int output; /* read end, non-blocking; -1 when the program has p->output itself */
	int errors; /* the same of stderr; -1 unless p->on_output */
	struct subreaper orphans;
	size_t passed; /* bytes that went to p->output */
	bool cut;      /* and there were more than it takes */
	bool ended;
	bool refused;     /* p->on_output returned false */
	int output_errno; /* reading its output failed */
	bool unborn; /* killed before the program began, which says nothing about the program */
};

/* All of these are above 2, so that the child can put them onto 0, 1, 2 in any order. */
struct plumbing {
	int in, out, out_read, err, err_read, report, report_read;
	char **env;
};

enum spawn_stage { SPAWN_SETUP, SPAWN_USER, SPAWN_DIRECTORY, SPAWN_PROGRAM };

/* What the child sends before it gives up. */
struct spawn_failure {
	enum spawn_stage stage;
	int number;
};

static void plumbing_close(struct plumbing *f)
{
	base_close(&f->in);
	base_close(&f->out);
	base_close(&f->out_read);
	base_close(&f->err);
	base_close(&f->err_read);
	base_close(&f->report);
	base_close(&f->report_read);
}

/* Moves a descriptor above the standard ones. */
static int raise_fd(int fd)
{
	int high = fd;

	if (fd >= 0 && fd <= STDERR_FILENO) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(fd);
	}
	return high;
}

static int open_pipe(int *from, int *to)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	*from = raise_fd(fds[0]);
	*to = raise_fd(fds[1]);
	return *from < 0 || *to < 0 ? -1 : 0;
}

/* A pipe whose read end is non-blocking. */
static int open_output(int *from, int *to)
{
	return open_pipe(from, to) < 0 ? -1 : fcntl(*from, F_SETFL, O_NONBLOCK);
}

/* A file in memory rather than a pipe: the program may read it late or never. */
static int open_input(struct str text, struct error *err)
{
	int fd;

	if (!text.n)
		return raise_fd(TEMP_FAILURE_RETRY(open("/dev/null", O_RDONLY | O_CLOEXEC)));
	fd = raise_fd(memfd_create("input", MFD_CLOEXEC));
	if (fd >= 0 && (sys_write_all(fd, text, "input", err) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int plumbing_open(const struct process *p, struct plumbing *f, struct error *err)
{
	f->in = open_input(p->input, err);
	if (f->in < 0 || open_pipe(&f->report_read, &f->report) < 0)
		return -1;
	if (p->output >= 0 && !p->output_max) {
		f->out = fcntl(p->output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return f->out < 0 ? -1 : 0;
	}
	if (open_output(&f->out_read, &f->out) < 0)
		return -1;
	return p->on_output && !p->together ? open_output(&f->err_read, &f->err) : 0;
}

static bool is_replaced(const char *entry, const char *const *extra)
{
	size_t n = strcspn(entry, "=");

	for (; extra && *extra; extra++)
		if (strcspn(*extra, "=") == n && memcmp(entry, *extra, n) == 0)
			return true;
	return false;
}

static char **process_environment(const char *const *extra, bool whole)
{
	VEC(char *) env = {0};

	for (char **e = whole ? NULL : environ; e && *e; e++)
		if (!is_replaced(*e, extra))
			vec_push(&env, *e);
	for (const char *const *e = extra; e && *e; e++)
		if (strchr(*e, '='))
			vec_push(&env, (char *)*e);
	vec_push(&env, NULL);
	return env.items;
}

static void process_reset_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)sigaction(n, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Our own descriptors have the flag already; those of libraries and of our caller may not. */
static void close_at_exec(void)
{
	if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void child_fail(const struct plumbing *f, enum spawn_stage stage)
{
	struct spawn_failure failure = {stage, errno};
	ssize_t ignored = write(f->report, &failure, sizeof(failure));

	(void)ignored;
	_exit(127);
}

/* This process goes on without other groups. */
static bool drop_user(unsigned uid, unsigned gid)
{
	if (uid == getuid() && uid == geteuid() && gid == getgid() && gid == getegid())
		return true;
	return setgroups(0, NULL) == 0 && setresgid(gid, gid, gid) == 0 &&
	       setresuid(uid, uid, uid) == 0;
}

static _Noreturn void child_run(const struct process *p, const struct plumbing *f, pid_t parent)
{
	(void)setsid();
	/* The kernel forgets PDEATHSIG when the user changes. */
	if (p->uid && !drop_user(p->uid, p->gid))
		child_fail(f, SPAWN_USER);
	(void)prctl(PR_SET_PDEATHSIG, p->on_death ? p->on_death : SIGKILL);
	if (getppid() != parent)
		_exit(127); /* the parent died before PR_SET_PDEATHSIG took effect */
	process_reset_signals();
	if (dup2(f->in, STDIN_FILENO) < 0 || dup2(f->out, STDOUT_FILENO) < 0 ||
		dup2(f->err >= 0 ? f->err : f->out, STDERR_FILENO) < 0)
		child_fail(f, SPAWN_SETUP);
	close_at_exec();
	if (p->inherit)
		(void)fcntl(p->inherit, F_SETFD, 0);
	if (p->cwd && chdir(p->cwd) < 0)
		child_fail(f, SPAWN_DIRECTORY);
	environ = f->env;
	execvp(p->argv[0], (char *const *)p->argv);
	child_fail(f, SPAWN_PROGRAM);
}

/* Blocks signals, because the caller's handlers must not run in the child. */
static pid_t fork_blocked(void)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid != 0) {
		int saved = errno;

		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		errno = saved;
	}
	return pid;
}

/* A successful exec closes the pipe: then there is nothing to read. */
static int await_exec(const struct running *r, int report, struct error *err)
{
	struct spawn_failure failure;
	ssize_t n;

	do
		n = read(report, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(failure))
		return 0;
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = failure.number;
	if (failure.stage == SPAWN_DIRECTORY)
		return error_errno(err, "cannot enter directory '%s'", r->p->cwd);
	r->end->missing = failure.stage == SPAWN_PROGRAM && failure.number == ENOENT;
	if (r->end->missing)
		return error_set(err, ERR_SYSTEM, "cannot find program '%s'", r->p->argv[0]);
	if (failure.stage == SPAWN_USER)
		return error_errno(err, "cannot run '%s' as user %u, group %u", r->p->argv[0],
			r->p->uid, r->p->gid);
	return error_errno(err, "cannot start '%s'", r->p->argv[0]);
}

/* -1: not started, nothing to clean up. */
static int spawn(struct running *r, struct error *err)
{
	const struct process *p = r->p;
	CLEANUP(plumbing_close) struct plumbing f = {-1, -1, -1, -1, -1, -1, -1, NULL};
	CLEANUP(base_free) char **env = process_environment(p->env, p->env_whole);
	pid_t parent = getpid();

	f.env = env;
	if (plumbing_open(p, &f, err) < 0)
		return error_errno(err, "cannot start '%s'", p->argv[0]);
	r->pid = fork_blocked();
	if (r->pid == 0)
		child_run(p, &f, parent);
	if (r->pid < 0)
		return error_errno(err, "cannot start '%s'", p->argv[0]);
	base_close(&f.report);
	base_close(&f.out);
	base_close(&f.err);
	f.report = f.out = f.err = -1;
	if (await_exec(r, f.report_read, err) < 0)
		return -1;
	r->handle = (int)syscall(SYS_pidfd_open, r->pid, 0);
	r->output = f.out_read;
	r->errors = f.err_read;
	f.out_read = f.err_read = -1;
	return 0;
}

/* ---- running it to its end ---- */

/* Passes on as much as there is room for, and p->output_cut once in place of the rest. A full disk
 * ends nothing. */
static void process_pass_on(struct running *r, struct str bytes)
{
	const struct process *p = r->p;
	size_t room = p->output_max - r->passed;
	struct error ignored;

	if (r->cut)
		return;
	r->cut = bytes.n > room;
	bytes.n = r->cut ? room : bytes.n;
	r->passed += bytes.n;
	(void)sys_write_all(p->output, bytes, "output", &ignored);
	if (r->cut && p->output_cut)
		(void)sys_write_all(p->output, str_of(p->output_cut), "output", &ignored);
}

static void take_bytes(struct running *r, bool errors, struct str bytes)
{
	const struct process *p = r->p;
	size_t room = p->out && p->out->len < p->out_max ? p->out_max - p->out->len : 0;

	if (p->output >= 0)
		process_pass_on(r, bytes);
	else if (p->on_output)
		r->refused = !p->on_output(p->data, errors, bytes) || r->refused;
	else if (room)
		buf_add(p->out, str_sub(bytes, 0, bytes.n < room ? bytes.n : room));
}

static bool process_read_pipe(struct running *r, int *fd)
{
	char bytes[CHUNK];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = TEMP_FAILURE_RETRY(read(*fd, bytes, sizeof(bytes)));
	if (n > 0)
		take_bytes(r, fd == &r->errors, (struct str){bytes, (size_t)n});
	else if (n == 0 || errno != EAGAIN) {
		r->output_errno = n < 0 ? errno : r->output_errno;
		close(*fd);
		*fd = -1;
	}
	return n > 0;
}

/* False: there is nothing more at the moment, or ever. */
static bool read_output(struct running *r)
{
	bool more = process_read_pipe(r, &r->output);

	return process_read_pipe(r, &r->errors) || more;
}

/* The process stays a zombie until its group has been signalled, so that its number is not used
 * again before. */
static bool process_has_ended(struct running *r)
{
	siginfo_t info = {0};
	struct process_info self;

	if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD;
	if (!info.si_pid)
		return false;
	r->end->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	r->unborn = info.si_code != CLD_EXITED && process_info(r->pid, &self) && self.unborn;
	return true;
}

static int poll_ms(const struct running *r, int64_t deadline, int64_t tick)
{
	int64_t until = deadline < 0 || (tick >= 0 && tick < deadline) ? tick : deadline;
	int64_t left = until < 0 ? INT_MAX : until - clock_ticks();

	if (r->handle < 0 && left > BLIND_MS)
		left = BLIND_MS;
	if (left > INT_MAX)
		left = INT_MAX;
	return left < 0 ? 0 : until < 0 && left == INT_MAX ? -1 : (int)left;
}

static void call_tick(const struct process *p, int64_t *next)
{
	if (*next < 0 || clock_ticks() < *next)
		return;
	p->tick(p->data);
	*next = clock_ticks() + p->tick_ms;
}

/* -1: none. */
static int64_t process_earlier(int64_t deadline, const int64_t *until)
{
	return until && *until && (deadline < 0 || *until < deadline) ? *until : deadline;
}

/* Until the program has ended, its time is over, or it is cancelled. */
static void process_await_end(struct running *r)
{
	const struct process *p = r->p;
	int64_t deadline = p->timeout_s ? clock_ticks() + (int64_t)p->timeout_s * 1000 : -1;
	int64_t tick = p->tick && p->tick_ms ? clock_ticks() + p->tick_ms : -1;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = r->handle, .events = POLLIN},
			{.fd = r->output, .events = POLLIN},
			{.fd = r->errors, .events = POLLIN},
			{.fd = p->cancel ? p->cancel : -1, .events = POLLIN},
		};

		if (poll(fds, COUNT(fds), poll_ms(r, process_earlier(deadline, p->until), tick)) <
				0 &&
			errno != EINTR)
			return;
		if (fds[1].revents || fds[2].revents)
			(void)read_output(r);
		call_tick(p, &tick);
		r->ended = process_has_ended(r);
		r->end->cancelled = !r->ended && (fds[3].revents || r->refused);
		r->end->timed_out = !r->ended && process_earlier(deadline, p->until) >= 0 &&
				    clock_ticks() >= process_earlier(deadline, p->until);
		if (r->ended || r->end->cancelled || r->end->timed_out)
			return;
	}
}

static void pause_round(struct running *r)
{
	struct pollfd fds[] = {
		{.fd = r->output, .events = POLLIN},
		{.fd = r->errors, .events = POLLIN},
	};

	(void)poll(fds, COUNT(fds), ROUND_MS);
	(void)read_output(r);
}

/* The program itself, with its group. True once it has been reaped. */
static bool end_leader(struct running *r, bool kill_now)
{
	r->ended = r->ended || process_has_ended(r);
	if (kill_now)
		(void)kill(-r->pid, SIGKILL);
	if (!r->ended)
		return false;
	(void)waitpid(r->pid, NULL, 0);
	return true;
}

/* TERM to every process that is left, KILL after the grace period, until none is left. */
static void process_end_all(struct running *r)
{
	int64_t from = clock_ticks();
	int64_t grace = r->p->grace_ms ? r->p->grace_ms : PROCESS_GRACE_MS;
	bool reaped = false;

	(void)kill(-r->pid, SIGTERM);
	(void)kill(-r->pid, SIGCONT);
	for (;;) {
		int64_t passed = clock_ticks() - from;
		bool kill_now = passed >= grace;

		reaped = reaped || end_leader(r, kill_now);
		if (reaped && !subreaper_round(&r->orphans, kill_now))
			return;
		if (passed >= grace + STUCK_MS)
			return;
		pause_round(r);
	}
}

static void running_close(struct running *r)
{
	base_close(&r->handle);
	base_close(&r->output);
	base_close(&r->errors);
	subreaper_end(&r->orphans);
}

int process_run(const struct process *p, struct process_end *end, struct error *err)
{
	CLEANUP(running_close)
	struct running r = {.p = p, .end = end, .handle = -1, .output = -1, .errors = -1};
	int64_t from = clock_ticks();

	*end = (struct process_end){0};
	if (path_check_looks(err) < 0)
		return -1;
	subreaper_begin(&r.orphans);
	if (spawn(&r, err) < 0)
		return -1;
	process_await_end(&r);
	process_end_all(&r);
	for (int i = 0; i < REST_MAX && read_output(&r); i++)
		;
	end->ms = clock_ticks() - from;
	if (r.unborn)
		return error_set(err, ERR_SYSTEM, "'%s' was killed before it began", p->argv[0]);
	if (r.output_errno) {
		errno = r.output_errno; /* a part of the output must not pass for the whole */
		return error_errno(err, "cannot read the output of '%s'", p->argv[0]);
	}
	return 0;
}

/* ---- explaining a failure ---- */

/* Without the `user:secret` of a URL. */
static void process_add_word(struct buf *out, struct str word)
{
	size_t scheme = str_find(word, STR("://"));
	struct str rest = scheme < word.n ? str_sub(word, scheme + 3, word.n) : word;
	struct str authority = str_sub(rest, 0, str_find(rest, STR("/")));
	const char *at = scheme < word.n ? memrchr(authority.p, '@', authority.n) : NULL;

	if (!at) {
		buf_add(out, word);
		return;
	}
	buf_add(out, str_sub(word, 0, scheme + 3));
	buf_adds(out, "***");
	buf_add(out, (struct str){at, (size_t)(word.p + word.n - at)});
}

static size_t word_length(struct str s, bool blank)
{
	size_t n = 0;

	while (n < s.n && ((unsigned char)s.p[n] <= ' ') == blank)
		n++;
	return n;
}

/* Word by word, with one blank between two. */
static void process_add_line(struct buf *out, struct str line)
{
	if (out->len)
		buf_adds(out, "; ");
	while (line.n) {
		size_t n = word_length(line, false);

		if (n)
			process_add_word(out, str_sub(line, 0, n));
		line = str_sub(line, n, line.n);
		n = word_length(line, true);
		if (n && line.n > n)
			buf_addc(out, ' ');
		line = str_sub(line, n, line.n);
	}
}

static bool is_relevant(struct str line)
{
	return line.n && !str_starts(line, "hint:") && !str_starts(line, "remote: Resolving") &&
	       !str_is(line, "remote:");
}

/* Where the explanation begins. What git reports as a fault is followed by advice, and what a
 * remote says by git's own words. */
static bool process_is_fault(struct str line)
{
	return str_starts(line, "fatal: ") || str_starts(line, "error: ") ||
	       str_starts(line, "remote: ");
}

static void cut_middle(struct buf *text)
{
	char tail[ERROR_TAIL];

	if (text->len <= ERROR_TEXT_MAX)
		return;
	memcpy(tail, text->s + text->len - sizeof(tail), sizeof(tail));
	buf_cut(text, ERROR_TEXT_MAX - sizeof(tail));
	buf_adds(text, " ... ");
	buf_add(text, (struct str){tail, sizeof(tail)});
}

/* The last lines; also the first fault, and all that follows it if that is a message of git. */
static void add_last_lines(struct str output, struct buf *out)
{
	struct str last[GIT_MESSAGE_LINES], line, rest = output, fault = {0};
	size_t n = 0, fault_at = 0, from;

	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n > ERROR_TEXT_MAX)
			line.n = ERROR_TEXT_MAX; /* at once: a line may be the whole output */
		if (!is_relevant(line))
			continue;
		if (!fault.n && process_is_fault(line)) {
			fault = line;
			fault_at = n;
		}
		last[n++ % GIT_MESSAGE_LINES] = line;
	}
	from = n > ERROR_LINES ? n - ERROR_LINES : 0;
	if (fault.n && fault_at < from && n - fault_at <= GIT_MESSAGE_LINES)
		from = fault_at;
	else if (fault.n && fault_at < from)
		process_add_line(out, fault);
	for (size_t i = from; i < n; i++)
		process_add_line(out, last[i % GIT_MESSAGE_LINES]);
	cut_middle(out);
	buf_utf8_repair(out);
}

int process_become(const char *const *argv, const char *const *env, struct error *err)
{
	process_reset_signals();
	close_at_exec();
	environ = process_environment(env, false);
	execvp(argv[0], (char *const *)argv);
	return error_errno(err, "cannot run '%s'", argv[0]);
}

/* The child in between ends at once, so that the program is nobody's child. */
void process_leave(const char *const *argv)
{
	pid_t pid = fork();
	int null;

	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (pid != 0)
		return;
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	process_reset_signals();
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	close_at_exec();
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

int process_check(const struct process *p, const struct process_end *end, const char *name,
	struct str output, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (end->timed_out)
		return error_set(
			err, ERR_SYSTEM, "'%s' did not end within %u s", name, p->timeout_s);
	if (!end->status)
		return 0;
	add_last_lines(output, &text);
	if (!text.len)
		return error_set(err, ERR_SYSTEM, "'%s' failed with status %d", name, end->status);
	return error_set(err, ERR_SYSTEM, "'%s' failed: %s", name, text.s);
}

int process_remove_tree(const char *path, int inherit, struct error *err)
{
	static const char script[] = "rm -rf -- \"$0\" 2>/dev/null || { chmod -R u+rwX -- \"$0\"; "
				     "rm -rf -- \"$0\"; }";
	const char *const argv[] = {"/bin/sh", "-c", script, path, NULL};
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	struct process p = {.argv = argv,
		.cwd = "/",
		.output = -1,
		.out = &said,
		.out_max = 4096,
		.inherit = inherit};
	struct process_end end;

	if (process_run(&p, &end, err) < 0)
		return -1;
	return process_check(&p, &end, "rm", buf_str(&said), err);
}
