#include "src/base/clock.h"
#include "src/merge/gate_internal.h"
#include "src/store/disk.h"

enum { ROUND_MAX_MS = 20000 };

bool gate_stage_holds(const struct stage_spec *s)
{
	return s->holds_gate || s->database == DATABASE_MIGRATE;
}

void gate_say_holder(struct buf *b, const struct gate_record *r)
{
	char since[CLOCK_TEXT];

	clock_text(r->since, since);
	if (r->who[0])
		buf_addf(b, "'%s', ", r->who);
	buf_addf(b, "process %ld on %s, fence %lld, since %s", (long)r->at.pid, r->at.host,
		(long long)r->fence, since);
}

const char *const *gate_environment(const struct gate *g)
{
	return g->env;
}

int gate_evict(struct arena *a, struct pool *p, const struct process_identity *self,
	struct gate_record *r, bool *gone, struct error *err)
{
	bool lost = false;

	*gone = false;
	if (!r->evicting) {
		r->evicting = true;
		if (gate_put(a, p, r, r->mod, &lost, err) < 0)
			return -1;
		if (lost)
			return 0;
	}
	if (gate_end(r, self, err) < 0 || gate_read(a, p, r, err) < 0)
		return -1;
	*gone = r->held && r->evicting;
	return 0;
}

int64_t gate_fence(const struct gate *g)
{
	return g->r.fence;
}

static int taken_over(struct gate *g, const struct gate_record *now, struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;

	g->lost = true;
	if (now->held && strcmp(now->hold, g->r.hold) != 0)
		gate_say_holder(&holder, now);
	return error_set(err, ERR_STATE, "merge gate of '%s' was lost (fence %lld)%s%s", g->p->dir,
		(long long)g->r.fence, holder.len ? ": now held by " : "",
		holder.len ? holder.s : "");
}

int gate_check(struct gate *g, struct error *err)
{
	struct gate_record now;
	bool lost = true;

	if (gate_read(g->a, g->p, &now, err) < 0)
		return -1;
	while (!g->lost && lost) {
		if (!now.held || now.evicting || strcmp(now.hold, g->r.hold) != 0)
			break;
		now.until = clock_now() + now.ttl_s;
		now.until_ticks = clock_ticks() + (int64_t)now.ttl_s * 1000;
		if (gate_put(g->a, g->p, &now, now.mod, &lost, err) < 0)
			return -1;
		if (!lost)
			g->r = now;
		else if (gate_read(g->a, g->p, &now, err) < 0)
			return -1;
	}
	return lost ? taken_over(g, &now, err) : 0;
}

int gate_round_ms(const struct gate *g)
{
	int ms = g->r.ttl_s * 1000 / 10;

	return ms < ROUND_MAX_MS ? ms : ROUND_MAX_MS;
}

void gate_cancel_on(struct gate *g, int fd)
{
	g->cancel = fd;
}

bool gate_alive(struct gate *g, struct error *err)
{
	if (gate_check(g, err) == 0)
		return true;
	return !g->lost && clock_ticks() < g->r.until_ticks;
}

void gate_drop(struct gate **gp)
{
	struct gate *g = *gp;
	struct gate_record now;
	struct error ignored = {0};
	bool lost = true;

	*gp = NULL;
	if (!g || g->borrowed)
		return;
	for (int i = 0; lost && i < 10; i++) {
		if (gate_read(g->a, g->p, &now, &ignored) < 0 || !now.held ||
			strcmp(now.hold, g->r.hold) != 0)
			break;
		now.held = false;
		if (gate_put(g->a, g->p, &now, now.mod, &lost, &ignored) < 0)
			break;
	}
	disk_lock_drop(&g->lock);
}

static void tell_holder(
	const struct gate_record *r, const struct process_identity *self, struct gate_holder *out)
{
	enum gate_view view = gate_look(r, self);
	bool mine = strcmp(r->at.boot, self->boot) == 0;

	*out = (struct gate_holder){.who = r->who,
		.host = r->at.host,
		.boot = r->at.boot,
		.pid = r->at.pid,
		.start = r->at.start,
		.fence = r->fence,
		.since = r->since,
		.until = r->until,
		.live = view == GATE_HELD || view == GATE_OVER,
		.here = mine && strcmp(r->at.space, self->space) == 0,
		.over = mine ? clock_ticks() >= r->until_ticks : clock_now() >= r->until,
		.evicting = r->evicting};
}

int gate_status(struct arena *a, struct pool *p, struct gate_holder *out, bool *held,
	int64_t *fence, struct error *err)
{
	struct process_identity self;
	struct gate_record r;

	*held = false;
	if (process_identify(a, getpid(), &self, err) < 0 || gate_read(a, p, &r, err) < 0)
		return -1;
	if (fence)
		*fence = r.fence;
	*held = r.held;
	if (r.held) {
		tell_holder(&r, &self, out);
		return 0;
	}
	*out = (struct gate_holder){.who = "", .host = "", .boot = ""};
	if (gate_elsewhere(a, p, &out->elsewhere, err) < 0)
		return -1;
	*held = out->elsewhere != NULL;
	return 0;
}

/* Only a process that has its record can end it. */
static int not_ours(struct arena *a, struct pool *p, struct error *err)
{
	const char *who;

	if (gate_elsewhere(a, p, &who, err) < 0)
		return -1;
	if (!who)
		return 0;
	return error_set(err, ERR_STATE,
		"merge gate of '%s' is held through another state directory (%s); release "
		"it with that directory",
		p->dir, who);
}

static int free_record(
	struct arena *a, struct pool *p, struct gate_record *r, bool *lost, struct error *err)
{
	r->held = false;
	return gate_put(a, p, r, r->mod, lost, err);
}

int gate_force(struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, bool *held,
	struct error *err)
{
	struct process_identity self;
	struct gate_record r;
	bool lost = true, gone;

	*held = false;
	if (process_identify(a, getpid(), &self, err) < 0)
		return -1;
	while (lost) {
		if (gate_read(a, p, &r, err) < 0)
			return -1;
		if (!r.held)
			return not_ours(a, p, err);
		if (fence && r.fence != fence)
			return error_set(err, ERR_STATE,
				"merge gate is held with fence %lld, not %lld", (long long)r.fence,
				(long long)fence);
		tell_holder(&r, &self, was);
		if (gate_evict(a, p, &self, &r, &gone, err) < 0)
			return -1;
		if (gone && free_record(a, p, &r, &lost, err) < 0)
			return -1;
		fence = r.fence; /* a later holder is not meant */
	}
	*held = true;
	return 0;
}
