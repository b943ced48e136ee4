/*
 * The interpreter's processes: forks, waiting, descriptors that it keeps for itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/sandbox/interpret_internal.h"

/* Set by the handler of TERM: what runs is told by the same signal, nothing new is begun. */
static volatile sig_atomic_t told_to_end;

static void on_term(int number)
{
	(void)number;
	told_to_end = 1;
}

void shell_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, ours = {.sa_handler = on_term};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &usual, NULL);
	(void)sigaction(SIGTERM, &ours, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

bool shell_stopped(const struct shell *sh)
{
	return sh->leaving || sh->skip || told_to_end || shared_denied(sh->shared);
}

void shell_say(const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_addf(&line, "dev-team: %s\n", text);
	for (size_t at = 0; at < line.len;) {
		ssize_t n = write(STDERR_FILENO, line.s + at, line.len - at);

		if (n < 0 && errno != EINTR)
			return;
		at += n > 0 ? (size_t)n : 0;
	}
}

int shell_leave(struct shell *sh, int status)
{
	sh->leaving = true;
	sh->status = status;
	return status;
}

int shell_denied(struct shell *sh, const struct verdict *v)
{
	shared_deny(sh->shared, sh->alarm, v);
	return shell_leave(sh, NOT_RUN);
}

static void child_add(struct shell *sh, pid_t pid)
{
	sh->children = xrealloc(sh->children, (sh->n_children + 1) * sizeof(*sh->children));
	sh->children[sh->n_children++] = (struct child){pid, -1};
}

pid_t shell_fork(struct shell *sh)
{
	pid_t pid;

	if (shell_stopped(sh))
		return -1;
	pid = fork();
	if (pid > 0) {
		child_add(sh, pid);
	} else if (pid == 0) {
		/* The first process lives to the end; what a subshell leaves outlives that. */
		if (!sh->apart)
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		sh->n_children = sh->n_jobs = 0;
	} else {
		shell_say("cannot start a process: %s", strerror(errno));
		(void)shell_leave(sh, 254);
	}
	return pid;
}

static int status_of(int raw)
{
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

static struct child *child_of(struct shell *sh, pid_t pid)
{
	for (size_t i = 0; i < sh->n_children; i++)
		if (sh->children[i].pid == pid)
			return &sh->children[i];
	return NULL;
}

/* The first process of a PID namespace gets orphans too: these are waited for and forgotten. */
int shell_wait(struct shell *sh, pid_t pid)
{
	struct child *c;
	int status;

	while ((c = child_of(sh, pid)) && c->status < 0) {
		int raw;
		pid_t got = waitpid(-1, &raw, 0);
		struct child *ended = got > 0 ? child_of(sh, got) : NULL;

		if (ended)
			ended->status = status_of(raw);
		else if (got < 0 && errno != EINTR)
			c->status = NOT_FOUND;
	}
	if (!c)
		return NOT_FOUND;
	status = c->status;
	*c = sh->children[--sh->n_children];
	return status;
}

void shell_wait_jobs(struct shell *sh)
{
	for (size_t i = 0; i < sh->n_jobs; i++)
		(void)shell_wait(sh, sh->jobs[i]);
	sh->n_jobs = 0;
}

void shell_wait_left(struct shell *sh)
{
	for (unsigned i = 0; i < SHARED_JOBS && i < atomic_load(&sh->shared->n_jobs); i++)
		while (waitpid(sh->shared->jobs[i], NULL, 0) < 0 && errno == EINTR)
			;
}

void shell_set_cwd(struct shell *sh, struct str cwd)
{
	CLEANUP(buf_release) struct buf full = BUF_INIT;
	char *path = xmalloc(cwd.n + 1);

	if (cwd.n)
		memcpy(path, cwd.p, cwd.n);
	path[cwd.n] = '\0';
	free(sh->cwd);
	sh->cwd = path;
	buf_adds(&full, sh->root->path);
	if (cwd.n && full.len > 1)
		buf_addc(&full, '/');
	buf_add(&full, cwd);
	setting_set(&sh->settings, STR("PWD"), buf_str(&full));
}

/* As in a shell, whoever waits for this process does not wait for what it put aside. */
void shell_exit(struct shell *sh, int status)
{
	for (size_t i = 0; i < sh->n_jobs; i++) {
		const struct child *c = child_of(sh, sh->jobs[i]);

		if (c && c->status < 0 && !shared_leave_job(sh->shared, c->pid))
			(void)shell_wait(sh, sh->jobs[i]);
	}
	_exit(status);
}

int shell_lift(int fd)
{
	int high = fd;

	if (fd >= 0 && fd < SHELL_OWN_FD) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, SHELL_OWN_FD);
		close(fd);
	}
	return high;
}

int shell_pipe(int ends[2])
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	ends[0] = shell_lift(fds[0]);
	ends[1] = shell_lift(fds[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	base_close(&ends[0]);
	base_close(&ends[1]);
	return -1;
}
