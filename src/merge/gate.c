/*
 * The line at the gate: `.merge-gate` in the pool's directory has a file for each process that
 * holds the gate or waits for it. Its name is the fence, and its process has it locked. The lowest
 * one that is locked has the gate. The kernel drops the lock when the last process that has it has
 * ended, so nothing is repaired: the next one that comes removes files without a lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/merge/gate.h"
#include "src/store/disk.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ORDER_MS = 10000, NAP_MAX_MS = 50, NOTICE_MS = 1000, END_MS = 10000 };
enum { TICKET_BYTES = 2048, WHO_MAX = 200 };
enum { LEASE_KNOWN_S = 86400 }; /* after its end: who comes back learns that it is lost */

bool gate_stage_holds(const struct stage_spec *s)
{
	return s->holds_gate || s->database == DATABASE_MIGRATE;
}

static const char *merge_gate_place_of(struct arena *a, const struct pool *p, const char *name)
{
	return arena_printf(a, "%s/.merge-gate/%s", p->dir, name);
}

static const char *ticket_path(struct arena *a, const struct pool *p, int64_t fence)
{
	return merge_gate_place_of(a, p, arena_printf(a, "%lld", (long long)fence));
}

struct gate_line {
	struct gate_holder *items;
	size_t n, cap;
};

/* One that is being locked has the text of the lock at first: it is read as one of an unknown
 * process. Empty: its process has left, or it was released by force. */
static struct gate_holder read_ticket(
	struct arena *a, const struct pool *p, int64_t fence, bool *empty)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;
	struct gate_holder h = {.who = "", .host = "", .fence = fence, .live = true};
	struct process_info info;
	struct error ignored;
	const char *keeper;
	int rc = sys_read_file(&text, ticket_path(a, p, fence), TICKET_BYTES, NULL, &ignored);

	*empty = rc == 0 && !text.len;
	if (rc < 0 || json_parse(&j, buf_str(&text), &ignored) < 0 || !json_get_str(j, "process"))
		return h;
	h.who = json_dup(a, j, "who");
	h.host = json_dup(a, j, "host");
	h.pid = (pid_t)json_get_int(j, "pid", 0);
	h.since = json_get_int(j, "since", 0);
	keeper = json_get_str(j, "keeper");
	h.lease = json_get(j, "until") && !(keeper && process_name_ended(a, keeper));
	h.until = h.lease ? json_get_int(j, "until", 0) : 0;
	h.live = !process_name_ended(a, json_get_str(j, "process"));
	h.stopped = h.live && process_info(h.pid, &info) && info.state == 'T';
	return h;
}

/* A holder that leaves its lease, or comes back to it, changes both the text and the lock: what was
 * read of one that is not locked counts if it is the same after the look. */
static int look_at_ticket(struct arena *a, const struct pool *p, int64_t fence,
	struct gate_holder *h, struct error *err)
{
	CLEANUP(buf_release) struct buf ignored = BUF_INIT;
	struct gate_holder before;
	bool empty, held;

	do {
		before = read_ticket(a, p, fence, &empty);
		if (disk_lock_look(ticket_path(a, p, fence), &held, &ignored, err) < 0)
			return -1;
		*h = read_ticket(a, p, fence, &empty);
	} while (!held && (h->until != before.until || h->pid != before.pid));
	h->held = held;
	if (h->held)
		h->until = 0;
	h->held = !empty && (h->held || h->until > clock_now());
	return 0;
}

static int by_fence(const void *a, const void *b)
{
	const struct gate_holder *x = a, *y = b;

	return (x->fence > y->fence) - (x->fence < y->fence);
}

/* All files with a fence below `end`, in their order; `held`: only those that hold it or wait. */
static int merge_gate_read_line(struct arena *a, const struct pool *p, int64_t end, bool held,
	struct gate_line *out, struct error *err)
{
	struct directory_names names = {0};
	struct gate_holder h;
	bool missing;

	*out = (struct gate_line){0};
	if (directory_list(a, merge_gate_place_of(a, p, ""), &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++) {
		int64_t fence = (int64_t)number_or(str_of(names.items[i]), JSON_MAX_INT, 0);

		if (!fence /* no number */ || fence >= end)
			continue;
		if (look_at_ticket(a, p, fence, &h, err) < 0)
			return -1;
		if (h.held || !held)
			vec_push_in(a, out, h);
	}
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_fence);
	return 0;
}

/* ---- a place in the line ---- */

static int write_ticket(const struct gate *g, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int fd = disk_lock_descriptor(g->lock);

	j = JSON_OBJECT(JSON_TEXT("who", g->ask.who), JSON_TEXT("host", process_host(g->a)),
		JSON_INT("pid", getpid()), JSON_INT("since", clock_now()),
		JSON_TEXT("process", process_own_name(g->a)),
		JSON_IF(g->ask.lease, JSON_INT("until", g->until)),
		JSON_IF(g->ask.keeper, JSON_TEXT("keeper", g->ask.keeper)));
	json_print(&text, j);
	while (text.len < TICKET_BYTES) /* one write replaces all of another one */
		buf_addc(&text, '\n');
	return pwrite(fd, text.s, text.len, 0) == (ssize_t)text.len
		       ? 0
		       : error_errno(err, "cannot write '%s'", g->path);
}

/* Under the lock of the order: `all` are the files. Removes what processes that have ended left,
 * except for the newest, whose fence is the last one, and leases: their holders learn that they are
 * lost. */
static void next_fence(struct gate *g, const struct gate_line *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct gate_holder *h = &all->items[i];

		if (!h->held && i + 1 < all->n &&
			!(h->lease && h->since + LEASE_KNOWN_S > clock_now()))
			(void)unlink(ticket_path(g->a, g->p, h->fence));
	}
	g->fence = all->n ? all->items[all->n - 1].fence + 1 : 1;
}

/* Under the lock of the order, as all that changes a ticket without its lock. *busy: another
 * command of the same holder has it. */
static int merge_gate_resume(
	struct gate *g, const struct gate_holder *h, bool last, bool *busy, struct error *err)
{
	char until[CLOCK_TEXT];

	g->fence = h->fence;
	g->path = ticket_path(g->a, g->p, g->fence);
	*busy = h->held && !h->until;
	if (*busy)
		return error_set(err, ERR_STATE,
			"another command of '%s' has the merge gate (" GATE_TIMEOUT ")",
			g->ask.who);
	if (disk_lock_take(&g->lock, g->path, 0, err) < 0)
		return -1;
	g->until = h->until;
	g->entered = h->until != 0; /* else it was killed, perhaps before its turn */
	if (write_ticket(g, err) < 0)
		return -1;
	if (last || h->until > clock_now())
		return 0;
	clock_text(h->until ? h->until : h->since, until);
	g->lost = true;
	return error_set(err, ERR_STATE,
		"the lease of '%s' on the merge gate, fence %lld, ended at %s, and others have "
		"come since: nothing of this stage may be pushed",
		g->ask.who, (long long)g->fence, until);
}

static int lock_order(
	struct arena *a, const struct pool *p, struct disk_lock **order, struct error *err)
{
	return disk_lock_take(order, merge_gate_place_of(a, p, "order.lock"), ORDER_MS, err);
}

/* A lease of this holder is no new place in the line: of two commands that come at once, the second
 * finds the first. */
static int merge_gate_enter(struct gate *g, bool *busy, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *order = NULL;
	struct disk *disk = disk_real();
	struct gate_line all;

	*busy = false;
	if (pool_make_directory(g->a, g->p, err) < 0 ||
		disk->ops->trusted(disk, g->p->dir, err) < 0 ||
		path_mkdirs(merge_gate_place_of(g->a, g->p, ""), err) < 0 ||
		lock_order(g->a, g->p, &order, err) < 0 ||
		merge_gate_read_line(g->a, g->p, INT64_MAX, false, &all, err) < 0)
		return -1;
	for (size_t i = all.n; g->ask.lease && i-- > 0;)
		if (all.items[i].lease && strcmp(all.items[i].who, g->ask.who) == 0 &&
			(all.items[i].held || !g->ask.keeper)) /* it has lost nothing */
			return merge_gate_resume(g, &all.items[i], i + 1 == all.n, busy, err);
	next_fence(g, &all);
	g->path = ticket_path(g->a, g->p, g->fence);
	if (disk_lock_take(&g->lock, g->path, 0, err) < 0)
		return -1;
	return write_ticket(g, err);
}

static void merge_gate_leave(struct gate *g)
{
	struct error ignored;

	g->until = clock_now() + g->ask.lease_s;
	if (g->lock && !g->lost &&
		(!g->ask.lease || (!g->entered && !g->ask.keeper) || write_ticket(g, &ignored) < 0))
		(void)truncate(g->path, 0);
	disk_lock_drop(&g->lock);
}

static void say_holder(struct buf *b, const struct gate_holder *h)
{
	char since[CLOCK_TEXT];

	clock_text(h->since, since);
	if (h->who[0])
		buf_addf(b, "'%s', ", h->who);
	buf_addf(b, "process %ld on %s, fence %lld, since %s", (long)h->pid, h->host,
		(long long)h->fence, since);
	if (!h->live && !h->until)
		buf_adds(b, ", which has ended; a process that it started is running");
	if (h->stopped)
		buf_adds(b, ", which is stopped");
	if (h->until) {
		clock_text(h->until, since);
		buf_addf(b, ", leased until %s", since);
	}
}

static int timed_out(const struct gate *g, const struct gate_line *line, struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;

	say_holder(&holder, &line->items[0]);
	if (line->n > 1)
		buf_addf(&holder, "; %zu waited before this one", line->n - 1);
	return error_set(err, ERR_STATE,
		"merge gate of '%s' not free after %u ms: held by %s (" GATE_TIMEOUT ")", g->p->dir,
		g->ask.wait_ms, holder.s);
}

/* Once a second has passed, and whenever the line has moved. */
static void notice(const struct gate_line *line, int64_t waited_ms, int64_t *seen)
{
	static const char *const words[] = {"next", "second", "third", "fourth", "fifth", "sixth",
		"seventh", "eighth", "ninth", "tenth"};
	const struct gate_holder *h = &line->items[0];
	int64_t for_s = clock_now() - h->since, now = h->fence * 10000 + (int64_t)line->n;
	char more[24];

	if (waited_ms < NOTICE_MS || now == *seen)
		return;
	*seen = now;
	(void)snprintf(more, sizeof(more), "%zuth", line->n);
	error_log("dev-team: %s in line for the merge gate; '%s' has held it for %lld s",
		line->n > COUNT(words) ? more : words[line->n - 1], h->who, (long long)for_s);
}

/* A caller that was interrupted while it waited must not take the gate. */
static int nap(const struct gate_ask *ask, int64_t ms, struct error *err)
{
	struct pollfd fd = {.fd = ask->cancel ? ask->cancel : -1, .events = POLLIN};

	if (poll(&fd, 1, (int)ms) == 1 && fd.revents)
		return error_set(err, ERR_STATE, "interrupted while waiting for the merge gate");
	return 0;
}

static int await_turn(struct gate *g, int64_t began, struct error *err)
{
	int64_t pause = 2, seen = 0;

	for (;;) {
		CLEANUP(arena_release) struct arena scratch = {0};
		int64_t waited = clock_ticks() - began, left = g->ask.wait_ms - waited;
		struct gate_line line;

		if (nap(&g->ask, 0, err) < 0 ||
			merge_gate_read_line(&scratch, g->p, g->fence, true, &line, err) < 0)
			return -1;
		if (!line.n)
			return write_ticket(g, err);
		if (left <= 0)
			return timed_out(g, &line, err);
		notice(&line, waited, &seen);
		if (nap(&g->ask, pause < left ? pause : left, err) < 0)
			return -1;
		pause = pause < NAP_MAX_MS ? pause * 2 : pause;
	}
}

/* Whether the holder has started this process. */
static int borrow(struct gate *g, struct error *err)
{
	const char *hold = getenv("DEV_TEAM_GATE_HOLD"), *dir = merge_gate_place_of(g->a, g->p, "");
	struct gate_holder h;

	if (!hold || strncmp(hold, dir, strlen(dir)) != 0)
		return 0;
	g->fence = (int64_t)number_or(str_of(hold + strlen(dir)), JSON_MAX_INT, 0);
	g->path = ticket_path(g->a, g->p, g->fence);
	if (g->fence && look_at_ticket(g->a, g->p, g->fence, &h, err) < 0)
		return -1;
	g->borrowed = g->fence && h.held && !h.until;
	return 0;
}

int gate_take(struct arena *a, struct pool *p, const struct gate_ask *ask, struct gate **out,
	struct error *err)
{
	struct gate *g = arena_alloc(a, sizeof(*g));
	int64_t began = clock_ticks();
	bool busy;
	int rc = 0;

	*out = NULL;
	*g = (struct gate){.a = a, .p = p, .ask = *ask};
	if (!ask->who)
		g->ask.who = "";
	if (ask->who && (strlen(ask->who) > WHO_MAX || str_utf8_fault(str_of(ask->who))))
		return error_set(
			err, ERR_USAGE, "name of a holder is over %d bytes or not UTF-8", WHO_MAX);
	if (borrow(g, err) < 0)
		return -1;
	if (!g->borrowed) {
		while ((rc = merge_gate_enter(g, &busy, err)) < 0 && busy &&
			((ask->keeper && ask->wait_ms) || clock_ticks() - began < ask->wait_ms))
			if (nap(ask, NAP_MAX_MS, err) < 0)
				return -1;
		if (rc == 0)
			rc = await_turn(g, began, err);
	}
	g->entered = g->entered || rc == 0;
	if (rc < 0) {
		merge_gate_leave(g);
		return -1;
	}
	g->env[0] = arena_printf(a, "DEV_TEAM_GATE_FENCE=%lld", (long long)g->fence);
	g->env[1] = arena_printf(a, "DEV_TEAM_GATE_HOLD=%s", g->path);
	*out = g;
	return 0;
}

int gate_descriptor(const struct gate *g)
{
	return g->lock ? disk_lock_descriptor(g->lock) : 0;
}

/* What was released by force is empty. */
int gate_check(struct gate *g, struct error *err)
{
	struct stat there, mine;
	int fd = gate_descriptor(g);
	bool gone = !g->lost && stat(g->path, &there) < 0;

	if (gone && errno != ENOENT)
		return error_errno(err, "cannot read '%s'", g->path);
	g->lost = g->lost || gone || !there.st_size ||
		  (fd && (fstat(fd, &mine) < 0 || mine.st_ino != there.st_ino));
	return g->lost ? error_set(err, ERR_STATE, "merge gate of '%s' was lost (fence %lld)",
				 g->p->dir, (long long)g->fence)
		       : 0;
}

void gate_drop(struct gate **gp)
{
	if (*gp)
		merge_gate_leave(*gp);
	*gp = NULL;
}

/* ---- for people ---- */

json *gate_holder_json(const struct gate_holder *h)
{
	return JSON_OBJECT(JSON_TEXT("who", h->who), JSON_INT("pid", h->pid),
		JSON_TEXT("host", h->host), JSON_INT("fence", h->fence),
		JSON_TIME("since", h->since), JSON_BOOL("live", h->live),
		JSON_BOOL("stopped", h->stopped), JSON_IF(h->until, JSON_TIME("until", h->until)));
}

int gate_status(struct arena *a, struct pool *p, struct gate_holder **line, size_t *n,
	int64_t *fence, struct error *err)
{
	struct gate_line all;

	if (merge_gate_read_line(a, p, INT64_MAX, false, &all, err) < 0)
		return -1;
	*line = all.items;
	*fence = all.n ? all.items[all.n - 1].fence : 0;
	*n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].held)
			(*line)[(*n)++] = all.items[i];
	return 0;
}

void gate_end_lease(struct arena *a, const char *dir, const char *who)
{
	CLEANUP(disk_lock_drop) struct disk_lock *order = NULL;
	const struct pool p = {.dir = dir};
	struct gate_line all;
	struct error ignored;

	if (!path_exists(merge_gate_place_of(a, &p, "")) ||
		lock_order(a, &p, &order, &ignored) < 0 ||
		merge_gate_read_line(a, &p, INT64_MAX, false, &all, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].until && strcmp(all.items[i].who, who) == 0)
			(void)truncate(ticket_path(a, &p, all.items[i].fence), 0);
}

/* ---- by force ---- */

static void end_holder(const struct process_info *info, void *path)
{
	if (info->pid != getpid() && process_has_locked(info->pid, path))
		(void)kill(info->pid, SIGKILL);
}

/* Every process that has the lock. */
static int merge_gate_end_all(
	struct arena *a, struct pool *p, const struct gate_holder *h, struct error *err)
{
	char *path = arena_dup(a, str_of(ticket_path(a, p, h->fence)));
	int64_t until = clock_ticks() + END_MS;
	struct gate_holder now;

	for (;;) {
		process_each(end_holder, path);
		if (look_at_ticket(a, p, h->fence, &now, err) < 0)
			return -1;
		if (!now.held || now.until)
			return 0;
		if (clock_ticks() >= until)
			return error_set(err, ERR_STATE,
				"process %ld of the merge gate's holder on %s cannot be ended from "
				"here",
				(long)h->pid, h->host);
		(void)poll(NULL, 0, 2);
	}
}

int gate_force(
	struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *order = NULL;
	struct gate_line line;
	struct error ignored;

	*was = (struct gate_holder){0};
	if (merge_gate_read_line(a, p, INT64_MAX, true, &line, err) < 0 || !line.n)
		return line.n ? -1 : 0;
	*was = line.items[0];
	if (fence && was->fence != fence)
		return error_set(err, ERR_STATE, "merge gate is held with fence %lld, not %lld",
			(long long)was->fence, (long long)fence);
	if (merge_gate_end_all(a, p, was, err) < 0)
		return -1;
	(void)lock_order(a, p, &order, &ignored);
	(void)truncate(ticket_path(a, p, was->fence), 0);
	return 0;
}
