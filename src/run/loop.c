#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/error.h"
#include "src/machine/agents.h"
#include "src/run/run_internal.h"

/* ---- the actions of one array, each in a child process ---- */

enum { JOBS_MAX = 16 };

struct action_outcome {
	int rc;
	struct error err; /* if rc is -1 */
	char word[WORD_SIZE];
};

struct job {
	const struct run_action *action; /* NULL: the slot is free */
	pid_t pid;
	int report; /* read end of a pipe for one action_outcome, written at once */
};

struct jobs {
	const struct action_context *context;
	const struct run_progress *progress;
	struct job job[JOBS_MAX];
	size_t running;
	bool forwarded; /* the interrupt, to the children */
	int rc;
	struct error *err;
};

_Static_assert(
	sizeof(struct action_outcome) <= 4096, "an outcome must go through a pipe in one piece");

/* The child gets TERM, not KILL, if the parent dies, so that it can end its own program. */
static _Noreturn void child(
	const struct action_context *s, const struct run_action *p, int report, pid_t parent)
{
	struct action_outcome o = {0};
	ssize_t ignored;

	interrupt_child();
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(ERR_SYSTEM);
	o.rc = run_action_execute(s, p, o.word, &o.err);
	ignored = write(report, &o, sizeof(o));
	(void)ignored;
	_exit(0);
}

static int start(struct jobs *j, const struct run_action *p)
{
	struct job *job = j->job;
	pid_t parent = getpid();
	int fds[2];

	while (job->action)
		job++;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(j->err, "cannot make a pipe");
	*job = (struct job){.action = p, .pid = fork(), .report = fds[0]};
	if (job->pid == 0)
		child(j->context, p, fds[1], parent);
	close(fds[1]);
	if (job->pid > 0) {
		j->running++;
		return 0;
	}
	close(fds[0]);
	*job = (struct job){0};
	return error_errno(j->err, "cannot start a process");
}

/* The first failure is reported; a child that was killed has written no outcome. */
static void take_outcome(
	struct jobs *j, struct job *job, const struct action_outcome *o, bool whole)
{
	const char *id = json_get_str(job->action->action, "id");

	if (whole && o->rc == 0) {
		if (j->progress->action)
			j->progress->action(j->progress->data, job->action->action, o->word);
		return;
	}
	if (j->rc == 0 && whole)
		*j->err = o->err;
	else if (j->rc == 0)
		error_set(j->err, ERR_SYSTEM, "the process of action '%s' was killed", id);
	j->rc = -1;
}

static void finish(struct jobs *j, struct job *job)
{
	struct action_outcome o;
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

/* A terminal signals the whole process group, `kill` only this process. */
static void forward_interrupt(struct jobs *j)
{
	if (j->forwarded)
		return;
	j->forwarded = true;
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (j->job[i].action)
			(void)kill(j->job[i].pid, SIGTERM);
}

static void wait_for_one(struct jobs *j)
{
	struct pollfd fds[JOBS_MAX];

	for (size_t i = 0; i < JOBS_MAX; i++)
		fds[i] = (struct pollfd){
			.fd = j->job[i].action ? j->job[i].report : -1, .events = POLLIN};
	if (interrupt_caught())
		forward_interrupt(j);
	if (poll(fds, JOBS_MAX, j->forwarded ? -1 : 200) <= 0)
		return;
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (j->job[i].action && fds[i].revents)
			finish(j, &j->job[i]);
}

/* Carries all of them out. A failure does not stop those that run; -1 has the first one. After an
 * interrupt no more are started, and those that run are ended. */
static int run_actions(
	const struct run_loop *l, const struct run_action *actions, size_t n, struct error *err)
{
	struct jobs j = {.context = &l->context, .progress = &l->progress, .err = err};
	size_t started = 0;

	while (j.running || started < n) {
		while (started < n && j.running < JOBS_MAX) {
			if (interrupt_caught() || (j.rc == 0 && start(&j, &actions[started]) < 0))
				j.rc = -1;
			started = j.rc < 0 ? n : started + 1;
		}
		if (j.running)
			wait_for_one(&j);
	}
	return j.rc;
}

/* ---- one work item ---- */

static int plan_one(struct run_loop *l, const json *action, struct run_action *p, struct error *err)
{
	size_t uses;

	*p = (struct run_action){.action = action};
	if (agents_find(&l->agents, action, &p->entry, err) < 0)
		return -1;
	if (!p->entry)
		return 0;
	if (agents_count_turns(l->call.context_file, p->entry->key, json_get_str(action, "id"),
		    &uses, err) < 0)
		return -1;
	return agents_turn(&l->agents, p->entry, uses, action, &p->turn, err);
}

/* No action of an array starts before all of them can. */
static int plan(struct arena *a, struct run_loop *l, struct run_action **actions, struct error *err)
{
	size_t n = json_len(l->array), i = 0;

	*actions = arena_alloc(a, n * sizeof(**actions));
	for (const json *action = json_first(l->array); action; action = json_next(action))
		if (plan_one(l, action, &(*actions)[i++], err) < 0)
			return -1;
	if (l->started + n > l->max)
		return error_set(err, ERR_STATE, "stopped after %lu actions (see --max-actions)",
			l->started);
	l->started += n;
	return 0;
}

static int carry_out(struct run_loop *l, struct error *err)
{
	struct arena a = {0};
	struct run_action *actions;
	int rc = plan(&a, l, &actions, err);

	if (rc == 0)
		rc = run_actions(l, actions, json_len(l->array), err);
	arena_release(&a);
	l->call.returned = true;
	l->call.take_over = false;
	return rc;
}

static bool is_done(const json *array)
{
	return strcmp(json_get_str(json_first(array), "action"), "done") == 0;
}

/* 1: continue. 0: done, and l->line has the last array. */
static int run_round(struct run_loop *l, bool *good, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	struct arena a = {0};
	int rc;

	buf_clear(&l->line);
	rc = step_run(&a, &l->call, &l->line, err);
	arena_release(&a);
	if (rc < 0 || json_parse(&array, buf_str(&l->line), err) < 0)
		return -1;
	l->array = array;
	if (is_done(array)) {
		if (l->progress.done)
			l->progress.done(l->progress.data, json_first(array));
		*good = strcmp(json_get_str(json_first(array), "result"), "success") == 0;
		if (l->context.config)
			run_write_state(&l->config, "done", *good ? RUN_SUCCESS : RUN_FAILURE);
		return 0;
	}
	return interrupt_caught() || carry_out(l, err) < 0 ? -1 : 1;
}

/* Recorded answers are kept; the caller sees a program that the signal ended. */
static void raise_again(int signal)
{
	error_log("dev-team: interrupted; the same command continues");
	(void)raise(signal);
}

int run_loop_finish(struct run_loop *l, struct buf *out, struct error *err)
{
	bool good = false;
	int rc, signal;

	if (interrupt_begin(&l->context.cancel, err) < 0)
		return -1;
	if (l->context.config)
		run_write_state(&l->config, "init", RUN_RUNNING);
	do
		rc = run_round(l, &good, err);
	while (rc > 0);
	signal = rc < 0 ? interrupt_caught() : 0;
	interrupt_end();
	if (rc < 0)
		step_release_lease(&l->call);
	if (rc < 0 && l->context.config)
		run_write_state(&l->config, "stopped",
			!signal && err->code == ERR_CHECK ? RUN_FAILURE : RUN_PENDING);
	if (signal) {
		raise_again(signal);
		return error_set(err, ERR_STATE, "interrupted by signal %d", signal);
	}
	if (rc < 0)
		return -1;
	buf_add(out, buf_str(&l->line));
	buf_addc(out, '\n');
	return good ? 0 : ERR_CHECK;
}
