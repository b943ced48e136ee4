#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/run/interrupt.h"
#include "src/run/run_jobs.h"

struct job {
	const struct part *part; /* NULL: the place is free */
	pid_t pid;
	int report; /* read end; an outcome comes through it, in one piece */
};

struct jobs {
	const struct stage *stage;
	struct job job[JOBS_AT_ONCE];
	size_t running;
	bool told; /* the interrupt was passed on */
	part_ended *ended;
	void *data;
	int rc;
	struct error *err;
};

_Static_assert(sizeof(struct outcome) <= 4096, "an outcome must go through a pipe in one piece");

/* TERM, not KILL, when the parent dies: what the child has started is ended by it. */
static _Noreturn void child(const struct stage *s, const struct part *p, int report, pid_t parent)
{
	struct outcome o = {0};
	ssize_t ignored;

	interrupt_child();
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(ERR_SYSTEM);
	o.rc = part_play(s, p, o.word, &o.err);
	ignored = write(report, &o, sizeof(o));
	(void)ignored;
	_exit(0);
}

static int start(struct jobs *j, const struct part *p)
{
	struct job *job = j->job;
	pid_t parent = getpid();
	int fds[2];

	while (job->part)
		job++;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(j->err, "cannot make a pipe");
	*job = (struct job){.part = p, .pid = fork(), .report = fds[0]};
	if (job->pid == 0)
		child(j->stage, p, fds[1], parent);
	close(fds[1]);
	if (job->pid > 0) {
		j->running++;
		return 0;
	}
	close(fds[0]);
	*job = (struct job){0};
	return error_errno(j->err, "cannot start a process");
}

/* The first failure is told; a child that was killed has left no word. */
static void take_outcome(struct jobs *j, struct job *job, const struct outcome *o, bool whole)
{
	const char *id = json_get_str(job->part->action, "id");

	if (whole && o->rc == 0) {
		j->ended(j->data, job->part, o);
		return;
	}
	if (j->rc == 0 && whole)
		*j->err = o->err;
	else if (j->rc == 0)
		error_set(j->err, ERR_SYSTEM, "the process that served '%s' is gone", id);
	j->rc = -1;
}

static void finish(struct jobs *j, struct job *job)
{
	struct outcome o;
	ssize_t n;

	do
		n = read(job->report, &o, sizeof(o));
	while (n < 0 && errno == EINTR);
	close(job->report);
	while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
		;
	take_outcome(j, job, &o, n == sizeof(o));
	*job = (struct job){0};
	j->running--;
}

/* A terminal tells the whole group, but a `kill` tells us alone. */
static void pass_interrupt_on(struct jobs *j)
{
	if (j->told)
		return;
	j->told = true;
	for (size_t i = 0; i < JOBS_AT_ONCE; i++)
		if (j->job[i].part)
			(void)kill(j->job[i].pid, SIGTERM);
}

static void wait_for_one(struct jobs *j)
{
	struct pollfd fds[JOBS_AT_ONCE];

	for (size_t i = 0; i < JOBS_AT_ONCE; i++)
		fds[i] = (struct pollfd){
			.fd = j->job[i].part ? j->job[i].report : -1, .events = POLLIN};
	if (interrupt_caught())
		pass_interrupt_on(j);
	if (poll(fds, JOBS_AT_ONCE, j->told ? -1 : 200) <= 0)
		return;
	for (size_t i = 0; i < JOBS_AT_ONCE; i++)
		if (j->job[i].part && fds[i].revents)
			finish(j, &j->job[i]);
}

int jobs_run(const struct stage *s, const struct part *parts, size_t n, part_ended *ended,
	void *data, struct error *err)
{
	struct jobs j = {.stage = s, .ended = ended, .data = data, .err = err};
	size_t begun = 0;

	while (j.running || begun < n) {
		while (begun < n && j.running < JOBS_AT_ONCE) {
			if (interrupt_caught() || (j.rc == 0 && start(&j, &parts[begun]) < 0))
				j.rc = -1;
			begun = j.rc < 0 ? n : begun + 1;
		}
		if (j.running)
			wait_for_one(&j);
	}
	return j.rc;
}
