#include <poll.h>
#include "src/base/clock.h"
#include "src/merge/gate_internal.h"
#include "src/store/disk.h"

enum { NAP_MAX_MS = 50, LOCK_MS = 2000 };

struct wish {
	const char *who;
	unsigned wait_ms;
	int ttl_s;
	int cancel; /* 0: none */
};

static int timeout(const struct pool *p, const struct gate_record *r, unsigned wait_ms,
	const struct error *why, struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;

	if (r->held)
		gate_say_holder(&holder, r);
	else
		buf_adds(&holder, why->text);
	return error_set(err, ERR_STATE,
		"merge gate of '%s' not free after %u ms: %s %s (MergeGateLockTimeout)", p->dir,
		wait_ms, r->held ? "held by" : "", holder.s);
}

/* Excludes users with different state directories. Not used where locks are not reliable. */
static int lock_directory(struct gate *g, unsigned wait_ms, struct error *err)
{
	struct pool *p = g->p;
	struct disk *disk = disk_real();
	struct error ignored = {0};

	if (pool_make_directory(g->a, p, err) < 0)
		return -1;
	if (g->lock || disk->ops->trusted(disk, p->dir, &ignored) < 0)
		return 0;
	return disk_lock_take(&g->lock, gate_lock_path(g->a, p), wait_ms, err);
}

static void sign(struct gate *g, const struct wish *w, int64_t last)
{
	struct gate_record *r = &g->r;

	*r = (struct gate_record){.fence = last + 1,
		.held = true,
		.who = w->who ? w->who : "",
		.at = g->self,
		.ttl_s = w->ttl_s,
		.since = clock_now()};
	r->until = r->since + w->ttl_s;
	r->until_ticks = clock_ticks() + (int64_t)w->ttl_s * 1000;
	r->hold = arena_printf(g->a, "%lld-%ld-%llu-%.8s", (long long)r->fence, (long)r->at.pid,
		(unsigned long long)r->at.start, strchr(gate_key(g->a, g->p), '/') + 1);
}

static void set_env(struct gate *g)
{
	g->env[0] = arena_printf(g->a, "DEV_TEAM_GATE_FENCE=%lld", (long long)g->r.fence);
	g->env[1] = arena_printf(g->a, "DEV_TEAM_GATE_HOLD=%s", g->r.hold);
}

/* *out: ours now. Processes that the last holder left running are ended before the record is
 * written. */
static int claim(struct gate *g, const struct gate_record *was, const struct wish *w, bool *out,
	struct error *err)
{
	bool lost = false;

	if (was->held && gate_end(was, &g->self, err) < 0)
		return -1;
	sign(g, w, was->fence);
	if (gate_put(g->a, g->p, &g->r, was->mod, &lost, err) < 0)
		return -1;
	*out = !lost;
	return 0;
}

/* The clock of another machine may differ: a lease that is not renewed for its whole length has
 * expired too. */
static enum gate_view view_of(struct gate *g, const struct gate_record *r)
{
	enum gate_view view = gate_look(r, &g->self);

	if (r->mod != g->seen) {
		g->seen = r->mod;
		g->seen_at = clock_ticks();
	}
	if (view != GATE_HELD || strcmp(r->at.boot, g->self.boot) == 0)
		return view;
	return clock_ticks() - g->seen_at > (int64_t)r->ttl_s * 1000 ? GATE_AWAY : GATE_HELD;
}

/* Tries once to take the gate. *busy: why it is not free. */
static int attempt(struct gate *g, struct arena *a, const struct wish *w, struct gate_record *was,
	bool *got, struct error *busy, struct error *err)
{
	enum gate_view view;
	bool gone = true;
	int rc;

	*got = false;
	if (gate_read(a, g->p, was, err) < 0)
		return -1;
	view = view_of(g, was);
	if (view == GATE_HELD)
		return 0;
	if (view == GATE_OVER && gate_evict(a, g->p, &g->self, was, &gone, err) < 0)
		return -1;
	if (!gone)
		return 0;
	if (lock_directory(g, view == GATE_FREE ? 0 : LOCK_MS, busy) < 0) {
		if (busy->code == ERR_STATE)
			return 0;
		*err = *busy;
		return -1;
	}
	rc = claim(g, was, w, got, err);
	if (!*got)
		disk_lock_drop(&g->lock);
	return rc;
}

/* A caller that was interrupted while it waited must not take the gate. */
static int nap(const struct wish *w, int64_t ms, struct error *err)
{
	struct pollfd fd = {.fd = w->cancel ? w->cancel : -1, .events = POLLIN};

	if (poll(&fd, 1, (int)ms) == 1 && fd.revents)
		return error_set(err, ERR_STATE, "interrupted while waiting for the merge gate");
	return 0;
}

static int wait_for(struct gate *g, const struct wish *w, struct error *err)
{
	int64_t until = clock_ticks() + w->wait_ms, pause = 2;
	struct error busy = {0};

	for (;;) {
		CLEANUP(arena_release) struct arena scratch = {0};
		struct gate_record was;
		int64_t left;
		bool got;

		if (nap(w, 0, err) < 0)
			return -1;
		if (attempt(g, &scratch, w, &was, &got, &busy, err) < 0)
			return -1;
		if (got)
			return 0;
		left = until - clock_ticks();
		if (left <= 0)
			return timeout(g->p, &was, w->wait_ms, &busy, err);
		if (nap(w, pause < left ? pause : left, err) < 0)
			return -1;
		pause = pause < NAP_MAX_MS ? pause * 2 : pause;
	}
}

/* Whether the holder has started this process. */
static int borrow(struct gate *g, struct error *err)
{
	const char *hold = getenv("DEV_TEAM_GATE_HOLD");
	struct gate_record r;

	if (!hold || !*hold)
		return 0;
	if (gate_read(g->a, g->p, &r, err) < 0)
		return -1;
	if (r.held && !r.evicting && strcmp(r.hold, hold) == 0) {
		g->r = r;
		g->borrowed = true;
	}
	return 0;
}

static int check_wish(const struct wish *w, struct error *err)
{
	const char *who = w->who;
	int ttl_s = w->ttl_s;

	if (ttl_s < 1 || ttl_s > GATE_TTL_MAX_S)
		return error_set(err, ERR_USAGE, "lease of %d s is not within 1 to %d s", ttl_s,
			GATE_TTL_MAX_S);
	if (who && (strlen(who) > 200 || str_utf8_fault(str_of(who))))
		return error_set(err, ERR_USAGE, "name of a holder is over 200 bytes or not UTF-8");
	return 0;
}

int gate_take_unless(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	int cancel, struct gate **out, struct error *err)
{
	const struct wish w = {who, wait_ms, ttl_s ? ttl_s : GATE_TTL_S, cancel};
	struct gate *g = arena_alloc(a, sizeof(*g));

	*out = NULL;
	g->a = a;
	g->p = p;
	if (check_wish(&w, err) < 0 || process_identify(a, getpid(), &g->self, err) < 0 ||
		borrow(g, err) < 0)
		return -1;
	if (!g->borrowed && wait_for(g, &w, err) < 0)
		return -1;
	set_env(g);
	*out = g;
	return 0;
}

int gate_take(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	struct gate **out, struct error *err)
{
	return gate_take_unless(a, p, who, wait_ms, ttl_s, 0, out, err);
}
