#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/sys/path.h"
#include "src/sys/spawn.h"

/* All of these are above 2, so that the child can put them onto 0, 1, 2 in any order. */
struct plumbing {
	int in, out, taken, err, err_taken, report, reported;
	char **env;
};

enum fault { FAULT_SETUP, FAULT_FOLDER, FAULT_PROGRAM };

struct report {
	enum fault fault;
	int number;
};

static void plumbing_close(struct plumbing *f)
{
	close_fd(&f->in);
	close_fd(&f->out);
	close_fd(&f->taken);
	close_fd(&f->err);
	close_fd(&f->err_taken);
	close_fd(&f->report);
	close_fd(&f->reported);
}

static int lift(int fd)
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
	*from = lift(fds[0]);
	*to = lift(fds[1]);
	return *from < 0 || *to < 0 ? -1 : 0;
}

/* A file in memory rather than a pipe: the program may read it late or never. */
static int open_input(struct str text, struct error *err)
{
	int fd;

	if (!text.n)
		return lift(open("/dev/null", O_RDONLY | O_CLOEXEC));
	fd = lift(memfd_create("input", MFD_CLOEXEC));
	if (fd >= 0 && (fd_write_all(fd, text, "input", err) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int plumb(const struct process *p, struct plumbing *f, struct error *err)
{
	f->in = open_input(p->input, err);
	if (f->in < 0 || open_pipe(&f->reported, &f->report) < 0)
		return -1;
	if (p->output >= 0 && !p->output_max) {
		f->out = fcntl(p->output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return f->out < 0 ? -1 : 0;
	}
	if (open_pipe(&f->taken, &f->out) < 0 || fcntl(f->taken, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	if (!p->heard)
		return 0;
	if (open_pipe(&f->err_taken, &f->err) < 0)
		return -1;
	return fcntl(f->err_taken, F_SETFL, O_NONBLOCK);
}

static bool same_name(const char *entry, const char *other)
{
	size_t n = strcspn(entry, "=");

	return strcspn(other, "=") == n && memcmp(entry, other, n) == 0;
}

static bool replaced(const char *entry, const char *const *extra)
{
	for (; extra && *extra; extra++)
		if (same_name(entry, *extra))
			return true;
	return false;
}

static char **environment(const char *const *extra, bool whole)
{
	char **ours = whole ? NULL : environ;
	size_t n = 0, k = 0;
	char **env;

	for (char **e = ours; e && *e; e++)
		n++;
	for (const char *const *e = extra; e && *e; e++)
		n++;
	env = xmalloc((n + 1) * sizeof(*env));
	for (char **e = ours; e && *e; e++)
		if (!replaced(*e, extra))
			env[k++] = *e;
	for (const char *const *e = extra; e && *e; e++)
		if (strchr(*e, '='))
			env[k++] = (char *)*e;
	env[k] = NULL;
	return env;
}

static void signals_reset(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)sigaction(n, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Our own descriptors have the flag already; those of the libraries and of our caller may not. */
static void close_at_exec(void)
{
	if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void child_fails(const struct plumbing *f, enum fault fault)
{
	struct report r = {fault, errno};
	ssize_t ignored = write(f->report, &r, sizeof(r));

	(void)ignored;
	_exit(127);
}

static _Noreturn void child(const struct process *p, const struct plumbing *f, pid_t parent)
{
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, p->on_death ? p->on_death : SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it died before it could be watched */
	signals_reset();
	if (dup2(f->in, STDIN_FILENO) < 0 || dup2(f->out, STDOUT_FILENO) < 0 ||
		dup2(f->err >= 0 ? f->err : f->out, STDERR_FILENO) < 0)
		child_fails(f, FAULT_SETUP);
	close_at_exec();
	if (p->cwd && chdir(p->cwd) < 0)
		child_fails(f, FAULT_FOLDER);
	environ = f->env;
	execvp(p->argv[0], (char *const *)p->argv);
	child_fails(f, FAULT_PROGRAM);
}

/* Handlers of the caller's must not run in the child. */
static pid_t fork_quietly(void)
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

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int explain(const struct process *p, struct report r, bool *missing, struct error *err)
{
	errno = r.number;
	if (r.fault == FAULT_FOLDER)
		return error_errno(err, "cannot enter folder '%s'", p->cwd);
	if (r.fault == FAULT_PROGRAM && r.number == ENOENT) {
		*missing = true;
		return error_set(err, ERR_SYSTEM, "cannot find program '%s'", p->argv[0]);
	}
	return error_errno(err, "cannot start '%s'", p->argv[0]);
}

/* The pipe is closed by a successful exec: then there is nothing to read. */
static int await_exec(const struct process *p, struct spawned *s, struct plumbing *f, bool *missing,
	struct error *err)
{
	struct report r;
	ssize_t n;

	do
		n = read(f->reported, &r, sizeof(r));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(r))
		return 0;
	reap(s->pid);
	return explain(p, r, missing, err);
}

int spawn(const struct process *p, struct spawned *s, bool *missing, struct error *err)
{
	CLEANUP(plumbing_close) struct plumbing f = {-1, -1, -1, -1, -1, -1, -1, NULL};
	CLEANUP(free_ptr) char **env = environment(p->env, p->env_whole);
	pid_t parent = getpid();

	f.env = env;
	if (plumb(p, &f, err) < 0)
		return error_errno(err, "cannot start '%s'", p->argv[0]);
	s->pid = fork_quietly();
	if (s->pid == 0)
		child(p, &f, parent);
	if (s->pid < 0)
		return error_errno(err, "cannot start '%s'", p->argv[0]);
	close_fd(&f.report);
	close_fd(&f.out);
	close_fd(&f.err);
	f.report = f.out = f.err = -1;
	if (await_exec(p, s, &f, missing, err) < 0)
		return -1;
	s->handle = (int)syscall(SYS_pidfd_open, s->pid, 0);
	s->output = f.taken;
	s->errors = f.err_taken;
	f.taken = f.err_taken = -1;
	return 0;
}
