/*
 * The line at the gate: `.merge-gate` in the pool's directory has a file for each process that
 * holds the gate or waits for it. Its name is the fence, and its process has it locked. The lowest
 * one that is locked has the gate. The kernel drops the lock when the last process that has it has
 * ended, so there is nothing to repair: files without a lock are removed by the next one that
 * comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/merge/gate_internal.h"
#include "src/store/disk.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ORDER_MS = 10000, NAP_MAX_MS = 50, NOTICE_MS = 1000, END_MS = 10000 };
enum { TICKET_MAX = 4096, WHO_MAX = 200 };
enum { LOCKING_MS = 50 };       /* one that is locked again has the text of the lock at first */
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

/* 0: it is none. */
static int64_t merge_gate_fence_of(const char *text)
{
	return (int64_t)number_or(str_of(text), JSON_MAX_INT, 0);
}

struct fences {
	int64_t *items;
	size_t n, cap;
};

static int by_fence(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of all files, in their order, locked or not. */
static int list_fences(struct arena *a, const struct pool *p, struct fences *out, struct error *err)
{
	struct directory_names names = {0};
	bool missing;

	*out = (struct fences){0};
	if (directory_list(a, merge_gate_place_of(a, p, ""), &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++)
		if (merge_gate_fence_of(names.items[i]))
			vec_push_in(a, out, merge_gate_fence_of(names.items[i]));
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_fence);
	return 0;
}

static int merge_gate_look(
	struct arena *a, const struct pool *p, int64_t fence, bool *held, struct error *err)
{
	CLEANUP(buf_release) struct buf ignored = BUF_INIT;

	return disk_lock_look(ticket_path(a, p, fence), held, &ignored, err);
}

/* A file that is being written is read as one of an unknown process. */
static struct gate_holder read_ticket(struct arena *a, const struct pool *p, int64_t fence)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;
	struct gate_holder h = {.who = "", .host = "", .fence = fence, .live = true};
	struct process_info info;
	struct error ignored;

	if (sys_read_file(&text, ticket_path(a, p, fence), TICKET_MAX, NULL, &ignored) < 0 ||
		json_parse(&j, buf_str(&text), &ignored) < 0 || !json_get_str(j, "process"))
		return h;
	h.who = json_dup(a, j, "who");
	h.host = json_dup(a, j, "host");
	h.pid = (pid_t)json_get_int(j, "pid", 0);
	h.since = json_get_int(j, "since", 0);
	h.lease = json_get(j, "until") != NULL;
	h.until = json_get_int(j, "until", 0);
	h.live = !process_name_ended(a, json_get_str(j, "process"));
	h.stopped = h.live && process_info(h.pid, &info) && info.state == 'T';
	return h;
}

/* The file is read before its lock is looked at: a lease that is over and not locked afterwards is
 * not taken up again without a look at those who have come since. */
static int merge_gate_is_held(struct arena *a, const struct pool *p, int64_t fence,
	struct gate_holder *h, bool *held, struct error *err)
{
	*h = read_ticket(a, p, fence);
	if (merge_gate_look(a, p, fence, held, err) < 0)
		return -1;
	if (*held)
		h->until = 0;
	*held = *held || h->until > clock_now();
	return 0;
}

struct gate_line {
	struct gate_holder *items;
	size_t n, cap;
};

/* Those with a fence below `end`: the holder first. */
static int merge_gate_read_line(struct arena *a, const struct pool *p, int64_t end,
	struct gate_line *out, struct error *err)
{
	struct gate_holder h;
	struct fences all;
	bool held;

	*out = (struct gate_line){0};
	if (list_fences(a, p, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n && all.items[i] < end; i++) {
		if (merge_gate_is_held(a, p, all.items[i], &h, &held, err) < 0)
			return -1;
		if (held)
			vec_push_in(a, out, h);
	}
	return 0;
}

/* ---- a place in the line ---- */

static int write_ticket(const struct gate *g, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int fd = disk_lock_descriptor(g->lock);
	char host[64] = "";

	(void)gethostname(host, sizeof(host) - 1);
	j = JSON_OBJECT(JSON_TEXT("who", g->who), JSON_TEXT("host", host),
		JSON_INT("pid", getpid()), JSON_INT("since", clock_now()),
		JSON_TEXT("process", process_own_name(g->a)),
		JSON_IF(g->lease, JSON_INT("until", g->until)));
	json_print(&text, j);
	buf_addc(&text, '\n');
	if (pwrite(fd, text.s, text.len, 0) != (ssize_t)text.len ||
		ftruncate(fd, (off_t)text.len) < 0)
		return error_errno(err, "cannot write '%s'", g->path);
	return 0;
}

static int64_t last_fence(struct arena *a, const struct pool *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (sys_read_file(&text, merge_gate_place_of(a, p, "last"), TICKET_MAX, NULL, &ignored) < 0)
		return 0;
	return (int64_t)number_or(str_trim(buf_str(&text)), JSON_MAX_INT, 0);
}

/* Under the lock of the order: removes what processes that have ended left. */
static int next_fence(struct gate *g, struct error *err)
{
	struct gate_holder h;
	struct fences all;
	bool held;

	g->fence = last_fence(g->a, g->p);
	if (list_fences(g->a, g->p, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (merge_gate_is_held(g->a, g->p, all.items[i], &h, &held, err) < 0)
			return -1;
		if (!held && !(h.lease && h.since + LEASE_KNOWN_S > clock_now()))
			(void)unlink(ticket_path(g->a, g->p, all.items[i]));
		if (all.items[i] > g->fence)
			g->fence = all.items[i];
	}
	g->fence++;
	return disk_replace(disk_real(), ".new", merge_gate_place_of(g->a, g->p, "last"),
		str_of(arena_printf(g->a, "%lld\n", (long long)g->fence)), err);
}

/* The lease of this holder. *fence 0: there is none. */
static int merge_gate_find_lease(struct gate *g, int64_t *fence, struct error *err)
{
	struct gate_holder h;
	struct fences all;

	*fence = 0;
	if (!g->lease)
		return 0;
	if (list_fences(g->a, g->p, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		h = read_ticket(g->a, g->p, all.items[i]);
		for (int k = 0; k < LOCKING_MS && !h.pid; k++) {
			clock_pause(1);
			h = read_ticket(g->a, g->p, all.items[i]);
		}
		if (h.lease && strcmp(h.who, g->who) == 0)
			*fence = all.items[i];
	}
	return 0;
}

/* *lease: the fence of a lease of this holder, which is no new place in the line; 0. Of two that
 * come at once, the second finds the first. */
static int merge_gate_enter(struct gate *g, int64_t *lease, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *order = NULL;
	struct disk *disk = disk_real();

	if (pool_make_directory(g->a, g->p, err) < 0 ||
		disk->ops->trusted(disk, g->p->dir, err) < 0 ||
		path_mkdirs(merge_gate_place_of(g->a, g->p, ""), err) < 0 ||
		disk_lock_take(
			&order, merge_gate_place_of(g->a, g->p, "order.lock"), ORDER_MS, err) < 0 ||
		merge_gate_find_lease(g, lease, err) < 0)
		return -1;
	if (*lease)
		return 0;
	if (next_fence(g, err) < 0)
		return -1;
	g->path = ticket_path(g->a, g->p, g->fence);
	if (disk_lock_take(&g->lock, g->path, 0, err) < 0)
		return -1;
	return write_ticket(g, err);
}

/* It is locked first: who comes from now on waits. */
static int merge_gate_resume(
	struct gate *g, const struct gate_ask *ask, int64_t fence, struct error *err)
{
	struct gate_holder h;
	char until[CLOCK_TEXT];

	g->fence = fence;
	g->path = ticket_path(g->a, g->p, fence);
	h = read_ticket(g->a, g->p, fence); /* the lock writes its own text */
	if (disk_lock_take(&g->lock, g->path, ask->wait_ms, err) < 0 || gate_check(g, err) < 0)
		return -1;
	g->entered = h.until != 0; /* else it was killed, perhaps before its turn */
	clock_text(h.until ? h.until : h.since, until);
	if (h.until <= clock_now() && last_fence(g->a, g->p) != fence) {
		g->until = h.until; /* for the next command */
		(void)write_ticket(g, err);
		g->lost = true;
		return error_set(err, ERR_STATE,
			"the lease of '%s' on the merge gate, fence %lld, ended at %s, and others "
			"have come since: nothing of this stage may be pushed",
			g->who, (long long)fence, until);
	}
	g->until = h.until;
	return write_ticket(g, err);
}

static void merge_gate_leave(struct gate *g)
{
	struct error ignored;

	g->until = clock_now() + g->lease_s;
	if (g->lock && !g->lost && (!g->entered || !g->lease || write_ticket(g, &ignored) < 0))
		(void)unlink(g->path);
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

static int timed_out(
	const struct gate *g, const struct gate_line *line, unsigned wait_ms, struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;

	say_holder(&holder, &line->items[0]);
	if (line->n > 1)
		buf_addf(&holder, "; %zu waited before this one", line->n - 1);
	return error_set(err, ERR_STATE,
		"merge gate of '%s' not free after %u ms: held by %s (MergeGateLockTimeout)",
		g->p->dir, wait_ms, holder.s);
}

/* Once a second has passed, and whenever the line has moved. */
static void notice(const struct gate_line *line, int64_t waited_ms, int64_t *seen)
{
	static const char *const words[] = {"next", "second", "third", "fourth", "fifth", "sixth",
		"seventh", "eighth", "ninth", "tenth"};
	const struct gate_holder *h = &line->items[0];
	int64_t for_s = clock_now() - h->since, now = h->fence * 10000 + (int64_t)line->n;

	if (waited_ms < NOTICE_MS || now == *seen)
		return;
	*seen = now;
	if (line->n > COUNT(words))
		error_log("dev-team: number %zu in line for the merge gate; '%s' has held it for "
			  "%lld s",
			line->n, h->who, (long long)for_s);
	else
		error_log("dev-team: %s in line for the merge gate; '%s' has held it for %lld s",
			words[line->n - 1], h->who, (long long)for_s);
}

/* A caller that was interrupted while it waited must not take the gate. */
static int nap(const struct gate_ask *ask, int64_t ms, struct error *err)
{
	struct pollfd fd = {.fd = ask->cancel ? ask->cancel : -1, .events = POLLIN};

	if (poll(&fd, 1, (int)ms) == 1 && fd.revents)
		return error_set(err, ERR_STATE, "interrupted while waiting for the merge gate");
	return 0;
}

static int await_turn(struct gate *g, const struct gate_ask *ask, struct error *err)
{
	int64_t began = clock_ticks(), pause = 2, seen = 0;

	for (;;) {
		CLEANUP(arena_release) struct arena scratch = {0};
		int64_t waited = clock_ticks() - began, left = ask->wait_ms - waited;
		struct gate_line line;

		if (nap(ask, 0, err) < 0 ||
			merge_gate_read_line(&scratch, g->p, g->fence, &line, err) < 0)
			return -1;
		if (!line.n)
			return write_ticket(g, err);
		if (left <= 0)
			return timed_out(g, &line, ask->wait_ms, err);
		notice(&line, waited, &seen);
		if (nap(ask, pause < left ? pause : left, err) < 0)
			return -1;
		pause = pause < NAP_MAX_MS ? pause * 2 : pause;
	}
}

/* Whether the holder has started this process. */
static int borrow(struct gate *g, struct error *err)
{
	const char *hold = getenv("DEV_TEAM_GATE_HOLD");
	size_t n = strlen(merge_gate_place_of(g->a, g->p, ""));

	if (!hold || strncmp(hold, merge_gate_place_of(g->a, g->p, ""), n) != 0 ||
		!merge_gate_fence_of(hold + n))
		return 0;
	g->fence = merge_gate_fence_of(hold + n);
	g->path = ticket_path(g->a, g->p, g->fence);
	return merge_gate_look(g->a, g->p, g->fence, &g->borrowed, err);
}

int gate_take(struct arena *a, struct pool *p, const struct gate_ask *ask, struct gate **out,
	struct error *err)
{
	struct gate *g = arena_alloc(a, sizeof(*g));
	int64_t lease = 0;
	int rc;

	*out = NULL;
	*g = (struct gate){.a = a,
		.p = p,
		.who = ask->who ? ask->who : "",
		.lease = ask->lease,
		.lease_s = ask->lease_s};
	if (ask->who && (strlen(ask->who) > WHO_MAX || str_utf8_fault(str_of(ask->who))))
		return error_set(
			err, ERR_USAGE, "name of a holder is over %d bytes or not UTF-8", WHO_MAX);
	if (borrow(g, err) < 0)
		return -1;
	rc = g->borrowed ? 0 : merge_gate_enter(g, &lease, err);
	if (rc == 0 && lease)
		rc = merge_gate_resume(g, ask, lease, err);
	if (rc == 0 && !g->borrowed)
		rc = await_turn(g, ask, err);
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

int64_t gate_fence(const struct gate *g)
{
	return g->fence;
}

const char *const *gate_environment(const struct gate *g)
{
	return g->env;
}

int gate_descriptor(const struct gate *g)
{
	return g->lock ? disk_lock_descriptor(g->lock) : 0;
}

void gate_cancel_on(struct gate *g, int fd)
{
	g->cancel = fd;
}

int gate_check(struct gate *g, struct error *err)
{
	struct stat there, mine;
	int fd = gate_descriptor(g);
	bool gone = !g->lost && stat(g->path, &there) < 0;

	if (gone && errno != ENOENT)
		return error_errno(err, "cannot read '%s'", g->path);
	g->lost = g->lost || gone || (fd && (fstat(fd, &mine) < 0 || mine.st_ino != there.st_ino));
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

	if (merge_gate_read_line(a, p, INT64_MAX, &all, err) < 0)
		return -1;
	*line = all.items;
	*n = all.n;
	*fence = last_fence(a, p);
	return 0;
}

/* ---- by force ---- */

struct ending {
	const char *path;
	size_t others;
	bool self;
};

static void end_holder(const struct process_info *info, void *arg)
{
	struct ending *e = arg;

	if (!process_has_locked(info->pid, e->path))
		return;
	if (info->pid == getpid())
		e->self = true;
	else
		(void)kill(info->pid, SIGKILL);
	e->others += info->pid != getpid();
}

/* Every process that has the lock, until it is free or only this one has it. */
static int merge_gate_end_all(
	struct arena *a, struct pool *p, const struct gate_holder *h, struct error *err)
{
	const char *path = ticket_path(a, p, h->fence);
	int64_t until = clock_ticks() + END_MS;

	for (;;) {
		struct ending e = {.path = path};
		bool held;

		process_each(end_holder, &e);
		if (merge_gate_look(a, p, h->fence, &held, err) < 0)
			return -1;
		if (!held || (e.self && !e.others))
			return 0;
		if (clock_ticks() >= until)
			return error_set(err, ERR_STATE,
				"process %ld of the merge gate's holder on %s cannot be ended from "
				"here",
				(long)h->pid, h->host);
		(void)poll(NULL, 0, 2);
	}
}

int gate_force(struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, bool *held,
	struct error *err)
{
	struct gate_line line;

	*held = false;
	if (merge_gate_read_line(a, p, INT64_MAX, &line, err) < 0 || !line.n)
		return line.n ? -1 : 0;
	*was = line.items[0];
	if (fence && was->fence != fence)
		return error_set(err, ERR_STATE, "merge gate is held with fence %lld, not %lld",
			(long long)was->fence, (long long)fence);
	if (merge_gate_end_all(a, p, was, err) < 0)
		return -1;
	(void)unlink(ticket_path(a, p, was->fence));
	*held = true;
	return 0;
}
