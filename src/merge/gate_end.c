/*
 * Ends a hold: its process, its descendants, and every process with the hold's name in its
 * environment. They are stopped first and killed when no more are found: a child of a process that
 * is killed while others run could no longer be identified.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/merge/gate_internal.h"

enum { END_MS = 10000 };

struct victim {
	pid_t pid;
	uint64_t start;
};

struct ending {
	const struct gate_record *r;
	const char *entry; /* of the environment */
	struct victim *list;
	size_t n;
	bool more;
};

static bool listed(const struct ending *e, pid_t pid, uint64_t start)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->list[i].pid == pid && (!start || e->list[i].start == start))
			return true;
	return false;
}

/* The handle ensures that the number still belongs to that process when it is checked again. */
static void send(struct victim v, int number)
{
	int handle = (int)syscall(SYS_pidfd_open, v.pid, 0);

	if (handle < 0 && errno != ENOSYS)
		return;
	if (process_lives(v.pid, v.start)) {
		if (handle >= 0)
			(void)syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
		else
			(void)kill(v.pid, number);
	}
	base_close(&handle);
}

static void find(const struct process_info *info, void *arg)
{
	struct ending *e = arg;
	struct victim v = {info->pid, info->start};
	bool holder = info->pid == e->r->at.pid && info->start == e->r->at.start;

	if (info->pid == getpid() || strchr("ZXx", info->state) || listed(e, v.pid, v.start))
		return;
	if (!holder && !listed(e, info->parent, 0) && !process_has_env(info->pid, e->entry))
		return;
	e->list = xrealloc(e->list, (e->n + 1) * sizeof(*e->list));
	e->list[e->n++] = v;
	e->more = true;
	send(v, SIGSTOP);
}

static const struct victim *survivor(const struct ending *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (process_lives(e->list[i].pid, e->list[i].start))
			return &e->list[i];
	return NULL;
}

static void stop_all(struct ending *e)
{
	do {
		e->more = false;
		process_each(find, e);
	} while (e->more);
}

static void release(struct ending *e)
{
	free(e->list);
}

int gate_end(const struct gate_record *r, const struct process_identity *self, struct error *err)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	CLEANUP(release) struct ending e = {.r = r};
	int64_t until = clock_ticks() + END_MS;
	const struct victim *v;
	char entry[200];

	if (strcmp(r->at.boot, self->boot) != 0 || strcmp(r->at.space, self->space) != 0)
		return 0;
	(void)snprintf(entry, sizeof(entry), "DEV_TEAM_GATE_HOLD=%s", r->hold);
	e.entry = entry;
	for (stop_all(&e); (v = survivor(&e)); stop_all(&e)) {
		if (clock_ticks() >= until)
			return error_set(err, ERR_STATE,
				"process %ld of the merge gate's holder cannot be ended",
				(long)v->pid);
		for (size_t i = 0; i < e.n; i++)
			send(e.list[i], SIGKILL);
		(void)nanosleep(&moment, NULL);
	}
	return 0;
}
