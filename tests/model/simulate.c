#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "tests/model/simulate_play.h"

enum { JOBS_MAX = 256 };

/* What the processes share. */
struct worker {
	struct simulate_sums sums;
	uint64_t seed; /* that is being played */
	bool over;
	pid_t pid;
};

struct board {
	_Atomic uint64_t broken; /* number of the first run that broke a promise */
	struct worker workers[];
};

const char *const simulate_fault_names[FAULT_KINDS] = {
	[FAULT_KILL] = "kill",
	[FAULT_POWER] = "power cut in a call",
	[FAULT_BLACKOUT] = "power cut",
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

static void add(struct simulate_sums *to, const struct simulate_sums *from)
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

/* Every `step`th run from the `first` on, until one is broken or an earlier one was elsewhere. */
static void work(const struct simulate_plan *plan, struct board *b, struct worker *w,
	uint64_t first, uint64_t step)
{
	char fault[AUDIT_FAULT];

	for (uint64_t i = first; i < plan->runs && i < atomic_load(&b->broken); i += step) {
		uint64_t lowest;

		w->seed = plan->seed + i;
		if (play(plan, w->seed, &w->sums, NULL, fault))
			continue;
		lowest = atomic_load(&b->broken);
		while (i < lowest && !atomic_compare_exchange_weak(&b->broken, &lowest, i))
			;
		break;
	}
	w->over = true;
}

static int start(const struct simulate_plan *plan, struct board *b, unsigned n, struct error *err)
{
	struct worker *w = &b->workers[n];
	pid_t pid;

	if (plan->jobs == 1) {
		work(plan, b, w, 0, 1);
		return 0;
	}
	pid = fork(); /* not into what they share: both of them would write there */
	if (pid < 0)
		return error_errno(err, "cannot start a process");
	if (pid == 0) {
		work(plan, b, w, n, plan->jobs);
		_exit(0);
	}
	w->pid = pid;
	return 0;
}

/* A process that died has found something too. */
static void finish(const struct simulate_plan *plan, struct board *b, struct worker *w,
	struct simulate_sums *sums)
{
	int status = 0;

	if (w->pid > 0)
		while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
			;
	add(sums, &w->sums);
	if (w->over || w->seed - plan->seed >= atomic_load(&b->broken))
		return;
	atomic_store(&b->broken, w->seed - plan->seed);
	if (WIFSIGNALED(status))
		(void)snprintf(sums->fault, sizeof(sums->fault), "the process died of signal %d",
			WTERMSIG(status));
	else
		(void)snprintf(sums->fault, sizeof(sums->fault), "the process ended with status %d",
			WEXITSTATUS(status));
}

/* Once more, this time told. */
static void tell(const struct simulate_plan *plan, struct board *b, struct simulate_sums *sums,
	struct buf *trace)
{
	struct simulate_sums ignored = {0};
	char fault[AUDIT_FAULT];

	if (atomic_load(&b->broken) == UINT64_MAX)
		return;
	sums->broken = 1;
	sums->broken_seed = plan->seed + atomic_load(&b->broken);
	if (sums->fault[0])
		return;
	if (play(plan, sums->broken_seed, &ignored, trace, fault))
		(void)snprintf(fault, sizeof(fault),
			"a second play of it went well: the "
			"simulation itself is at fault");
	(void)snprintf(sums->fault, sizeof(sums->fault), "%s", fault);
}

int simulate(const struct simulate_plan *given, struct simulate_sums *sums, struct buf *trace,
	struct error *err)
{
	struct simulate_plan plan = *given;
	int64_t begun = clock_ticks();
	unsigned started = 0;
	struct board *b;
	size_t size;
	int rc = 0;

	plan.jobs = plan.jobs < 1 ? 1 : plan.jobs > JOBS_MAX ? JOBS_MAX : plan.jobs;
	size = sizeof(*b) + plan.jobs * sizeof(b->workers[0]);
	b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		return error_errno(err, "cannot share memory");
	*sums = (struct simulate_sums){0};
	atomic_store(&b->broken, UINT64_MAX);
	while (rc == 0 && started < plan.jobs)
		rc = start(&plan, b, started, err) < 0 ? -1 : (started++, 0);
	for (unsigned i = 0; i < started; i++)
		finish(&plan, b, &b->workers[i], sums);
	if (rc == 0)
		tell(&plan, b, sums, trace);
	clock_fix(-1);
	sums->ms = clock_ticks() - begun;
	(void)munmap(b, size);
	return rc;
}
