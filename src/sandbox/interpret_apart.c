/*
 * What runs in processes of its own: pipelines, subshells, the background; and `time`.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include "src/sandbox/interpret_internal.h"

void run_part(struct shell *sh, const struct node *n, const struct node *feeder)
{
	int status;

	sh->apart = true;
	sh->loops = sh->skip = 0;
	status = n->kind == NODE_COMMAND ? run_command(sh, n, feeder, true) : run_node(sh, n);
	shell_exit(sh, status);
}

struct pipeline {
	pid_t *parts;
	size_t n;
	int from; /* what the next part reads; -1: what this process does */
};

static _Noreturn void begin_part(struct shell *sh, const struct node *n, size_t i, int from, int to)
{
	if ((from >= 0 && dup2(from, STDIN_FILENO) < 0) || (to >= 0 && dup2(to, STDOUT_FILENO) < 0))
		_exit(NOT_RUN);
	base_close(&from);
	base_close(&to);
	run_part(sh, n->children[i], i ? n->children[i - 1] : NULL);
}

/* -1: it could not be started, nor can those after it. */
static int add_part(struct shell *sh, const struct node *n, size_t i, struct pipeline *p)
{
	int ends[2] = {-1, -1};
	pid_t pid;

	if (i + 1 < n->n && shell_pipe(ends) < 0) {
		shell_say("cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	pid = shell_fork(sh);
	if (pid == 0) {
		base_close(&ends[0]);
		begin_part(sh, n, i, p->from, ends[1]);
	}
	base_close(&p->from);
	base_close(&ends[1]);
	p->from = ends[0];
	if (pid < 0)
		return -1;
	p->parts[p->n++] = pid;
	return 0;
}

static void pipeline_release(struct pipeline *p)
{
	base_close(&p->from);
	free(p->parts);
}

int run_pipeline(struct shell *sh, const struct node *n)
{
	CLEANUP(pipeline_release) struct pipeline p = {.from = -1};
	int status = 0, failed = 0;

	p.parts = xmalloc(n->n * sizeof(*p.parts));
	for (size_t i = 0; i < n->n; i++)
		if (add_part(sh, n, i, &p) < 0)
			break;
	base_close(&p.from);
	p.from = -1;
	for (size_t i = 0; i < p.n; i++) {
		status = shell_wait(sh, p.parts[i]);
		failed = status ? status : failed;
	}
	if (p.n < n->n)
		return sh->leaving ? sh->status : shell_leave(sh, NOT_RUN);
	return sh->pipefail ? failed : status;
}

int run_subshell(struct shell *sh, const struct node *n)
{
	pid_t pid = shell_fork(sh);

	if (pid == 0)
		run_part(sh, n->children[0], NULL);
	return pid < 0 ? sh->status : shell_wait(sh, pid);
}

/* Nobody types for it: as a shell without job control does it, its input is empty. */
static _Noreturn void begin_job(struct shell *sh, const struct node *n)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		_exit(NOT_RUN);
	base_close(&fd);
	run_part(sh, n->children[0], NULL);
}

int run_background(struct shell *sh, const struct node *n)
{
	pid_t pid = shell_fork(sh);

	if (pid == 0)
		begin_job(sh, n);
	if (pid < 0)
		return sh->status;
	sh->jobs = xrealloc(sh->jobs, (sh->n_jobs + 1) * sizeof(*sh->jobs));
	sh->jobs[sh->n_jobs++] = pid;
	return 0;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

struct times {
	double real, user, sys;
};

static struct times times_now(void)
{
	struct timespec now;
	struct rusage own, children;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)getrusage(RUSAGE_SELF, &own);
	(void)getrusage(RUSAGE_CHILDREN, &children);
	return (struct times){(double)now.tv_sec + (double)now.tv_nsec / 1e9,
		seconds(own.ru_utime) + seconds(children.ru_utime),
		seconds(own.ru_stime) + seconds(children.ru_stime)};
}

static void show_time(const char *name, double s, bool plain)
{
	if (plain)
		(void)dprintf(STDERR_FILENO, "%s %.2f\n", name, s);
	else
		(void)dprintf(STDERR_FILENO, "%s\t%dm%.3fs\n", name, (int)(s / 60),
			s - 60 * (int)(s / 60));
}

int run_timed(struct shell *sh, const struct node *n)
{
	struct times from = times_now(), to;
	bool plain = n->posix;
	int status = run_node(sh, n->children[0]);

	to = times_now();
	if (shared_denied(sh->shared))
		return status;
	if (!plain)
		(void)dprintf(STDERR_FILENO, "\n");
	show_time("real", to.real - from.real, plain);
	show_time("user", to.user - from.user, plain);
	show_time("sys", to.sys - from.sys, plain);
	return status;
}
