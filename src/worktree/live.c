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
			a, "process %d holds it (state folder '%s')", (int)holder.pid, state);
		return 0;
	}
	if (process_within(dir, &pid) < 0)
		return error_errno(err, "cannot tell who works in '%s'", dir);
	if (pid)
		*who = arena_printf(a, "process %d works in it", (int)pid);
	return 0;
}

/* A run tells by state.json where it works and, each minute, that it still does. */
static bool is_running(const struct run_state *s, const struct allocation *of, int64_t now)
{
	if (s->status != RUN_RUNNING) /* one that waits to go on has nobody at work */
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
