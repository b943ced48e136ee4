#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "tests/model/scenario.h"

enum { JOBS_MAX = 256 };

/* In memory that the processes share. */
struct worker {
	struct simulate_counts counts;
	uint64_t seed; /* of the present run */
	bool finished;
	pid_t pid;
};

struct shared_state {
	_Atomic uint64_t failed; /* number of the first run with a failed check */
	struct worker workers[];
};

const char *const simulate_fault_names[FAULT_KINDS] = {
	[FAULT_KILL] = "kill",
	[FAULT_POWER] = "power cut in a call",
	[FAULT_POWER_CUT] = "power cut",
	[FAULT_EIO] = "EIO",
	[FAULT_ENOSPC] = "ENOSPC",
	[FAULT_HALF] = "half done",
	[FAULT_CLOCK] = "clock jump",
	[FAULT_EFFECT] = "effect failed",
	[FAULT_EDIT] = "edit by hand",
	[FAULT_BREAK] = "broken by hand",
	[FAULT_REMOVE] = "removed by hand",
	[FAULT_SECOND] = "second loop",
	[FAULT_TAKE_OVER] = "take-over",
	[FAULT_SILENT] = "silent",
	[FAULT_MALFORMED] = "malformed",
	[FAULT_LATE] = "late",
	[FAULT_TWICE] = "twice",
	[FAULT_FOREIGN] = "foreign",
};

const char *const simulate_end_names[END_KINDS] = {
	[END_SUCCESS] = "success",
	[END_FAILED] = "failed",
	[END_LIMIT] = "after the limit",
};

static void add_counts(struct simulate_counts *to, const struct simulate_counts *from)
{
	to->runs += from->runs;
	to->calls += from->calls;
	to->actions += from->actions;
	to->answers += from->answers;
	to->refused += from->refused;
	for (int i = 0; i < FAULT_KINDS; i++)
		to->faults[i] += from->faults[i];
	for (int i = 0; i < END_KINDS; i++)
		to->ends[i] += from->ends[i];
}

/* Every `step`th run from `first` on, until this or an earlier run fails. */
static void run_seeds(const struct simulate_plan *plan, struct shared_state *b, struct worker *w,
	uint64_t first, uint64_t step)
{
	char fault[AUDIT_FAULT];

	for (uint64_t i = first; i < plan->runs && i < atomic_load(&b->failed); i += step) {
		uint64_t lowest;

		w->seed = plan->seed + i;
		if (scenario_run(plan, w->seed, &w->counts, NULL, fault))
			continue;
		lowest = atomic_load(&b->failed);
		while (i < lowest && !atomic_compare_exchange_weak(&b->failed, &lowest, i))
			;
		break;
	}
	w->finished = true;
}

static int start_worker(
	const struct simulate_plan *plan, struct shared_state *b, unsigned n, struct error *err)
{
	struct worker *w = &b->workers[n];
	pid_t pid;

	if (plan->jobs == 1) {
		run_seeds(plan, b, w, 0, 1);
		return 0;
	}
	pid = fork();
	if (pid < 0)
		return error_errno(err, "cannot start a process");
	if (pid == 0) {
		run_seeds(plan, b, w, n, plan->jobs);
		_exit(0);
	}
	w->pid = pid;
	return 0;
}

/* A process that died is a failed run. */
static void join_worker(const struct simulate_plan *plan, struct shared_state *b, struct worker *w,
	struct simulate_counts *counts)
{
	int status = 0;

	if (w->pid > 0)
		while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
			;
	add_counts(counts, &w->counts);
	if (w->finished || w->seed - plan->seed >= atomic_load(&b->failed))
		return;
	atomic_store(&b->failed, w->seed - plan->seed);
	if (WIFSIGNALED(status))
		(void)snprintf(counts->fault, sizeof(counts->fault),
			"the process died of signal %d", WTERMSIG(status));
	else
		(void)snprintf(counts->fault, sizeof(counts->fault),
			"the process ended with status %d", WEXITSTATUS(status));
}

/* Repeats the failed run with a trace. */
static void trace_failure(const struct simulate_plan *plan, struct shared_state *b,
	struct simulate_counts *counts, struct buf *trace)
{
	struct simulate_counts ignored = {0};
	char fault[AUDIT_FAULT];

	if (atomic_load(&b->failed) == UINT64_MAX)
		return;
	counts->failed = 1;
	counts->failed_seed = plan->seed + atomic_load(&b->failed);
	if (counts->fault[0])
		return;
	if (scenario_run(plan, counts->failed_seed, &ignored, trace, fault))
		(void)snprintf(fault, sizeof(fault),
			"the run passed when it was repeated: the "
			"model is at fault");
	(void)snprintf(counts->fault, sizeof(counts->fault), "%s", fault);
}

int simulate(const struct simulate_plan *given, struct simulate_counts *counts, struct buf *trace,
	struct error *err)
{
	struct simulate_plan plan = *given;
	int64_t begun = clock_ticks();
	unsigned started = 0;
	struct shared_state *b;
	size_t size;
	int rc = 0;

	plan.jobs = plan.jobs < 1 ? 1 : plan.jobs > JOBS_MAX ? JOBS_MAX : plan.jobs;
	size = sizeof(*b) + plan.jobs * sizeof(b->workers[0]);
	b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		return error_errno(err, "cannot share memory");
	*counts = (struct simulate_counts){0};
	atomic_store(&b->failed, UINT64_MAX);
	while (rc == 0 && started < plan.jobs)
		rc = start_worker(&plan, b, started, err) < 0 ? -1 : (started++, 0);
	for (unsigned i = 0; i < started; i++)
		join_worker(&plan, b, &b->workers[i], counts);
	if (rc == 0)
		trace_failure(&plan, b, counts, trace);
	clock_fix(-1);
	counts->ms = clock_ticks() - begun;
	(void)munmap(b, size);
	return rc;
}
