#include "src/event/artifact.h"
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

int live_inside(struct arena *a, const char *dir, const char **who, struct error *err)
{
	struct allocation holder;
	const char *state;
	pid_t pid;

	*who = NULL;
	if (mark_live(a, dir, &holder, &state) && holder.pid != getpid()) {
		*who = arena_printf(
			a, "process %d holds it (state directory '%s')", (int)holder.pid, state);
		return 0;
	}
	if (process_within(dir, &pid) < 0)
		return error_errno(err, "cannot find out which processes use '%s'", dir);
	if (pid)
		*who = arena_printf(a, "process %d uses it", (int)pid);
	return 0;
}

/* state.json of a run names its worktree and, each minute, has a new heartbeat. */
static bool is_running(const struct run_state *s, const struct allocation *of, int64_t now)
{
	if (s->status != RUN_RUNNING) /* a run that waits for an answer has no process */
		return false;
	if (run_state_stale(s, now))
		return false;
	if (s->worktree)
		return strcmp(s->worktree, of->path) == 0;
	return of->run && strcmp(s->issue, of->run) == 0;
}

static int look_at_runs(struct arena *a, struct pool *p, const struct allocation *of,
	const char **who, struct error *err)
{
	struct run_state *list;
	int64_t now = clock_now();
	size_t n = 0;

	if (!p->artifacts)
		return 0;
	if (run_state_list(a, p->artifacts, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !*who; i++)
		if (is_running(&list[i], of, now))
			*who = arena_printf(a, "the run of '%s' is at stage '%s'", list[i].issue,
				list[i].stage ? list[i].stage : "");
	return 0;
}

int pool_live(struct arena *a, struct pool *p, const struct allocation *of, const char **who,
	struct error *err)
{
	*who = NULL;
	if (of->pid != getpid() && record_alive(of)) {
		*who = arena_printf(a, "process %d holds it", (int)of->pid);
		return 0;
	}
	if (look_at_runs(a, p, of, who, err) < 0)
		return -1;
	return *who ? 0 : live_inside(a, of->path, who, err);
}
