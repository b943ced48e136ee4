/*
 * Who may step. One loop at a time: a second one on the same work item is refused while the first
 * holds it, and when it takes over, what the first was asked to do is asked anew under new ids, so
 * that what still comes of it is stale.
 */
#include "src/base/clock.h"
#include "src/machine/asked.h"
#include "src/machine/engine_internal.h"

static bool at_end(const struct machine *m)
{
	const struct run r = {.m = (struct machine *)m};

	return !m->file->created && run_is_terminal(&r, context_get(&m->file->doc, "state").p);
}

int machine_admit(const struct machine *m, struct error *err)
{
	struct holder h;

	if (lease_read(m->file, &h, err) < 0)
		return -1;
	if (!h.live || m->take_over || holder_is(&h, m->owner) || at_end(m))
		return 0;
	return lease_held(&h, m->id, m->owner, err);
}

static json *text_of(const char *text)
{
	return json_string(str_of(text ? text : ""));
}

/* Whose it was, and whether in time, depends on a clock and on calls that a replay does not see. */
static void see_holder(struct run *r)
{
	const struct holder *h = &r->holder;
	json *value = json_object();

	json_put(value, "owner", text_of(h->owner));
	json_put(value, "from", text_of(h->from));
	json_put_int(value, "fence", h->fence);
	json_put_int(value, "live", h->live);
	context_seen(r->m->file, "holder", value);
}

static const char *text_or_null(struct run *r, const json *value, const char *key)
{
	const char *text = json_get_str(value, key);

	return text && *text ? arena_dup(&r->arena, str_of(text)) : NULL;
}

/* 1: *h is as it was then. 0: no replay, or nothing was noted. */
static int replayed_holder(struct run *r)
{
	const json *seen = context_replayed(r->m->file, "holder");
	const json *value = seen ? json_get(seen, "value") : NULL;

	if (!value)
		return 0;
	r->holder = (struct holder){.owner = text_or_null(r, value, "owner"),
		.from = text_or_null(r, value, "from"),
		.fence = json_get_int(value, "fence", 0),
		.live = json_get_int(value, "live", 0) == 1};
	return 1;
}

bool run_at_work(const struct run *r, const json *action)
{
	const struct world *w = r->m->world;
	const char *id = json_get_str(action, "id");

	if (!w->still_running || !json_get(action, "command") ||
		!w->still_running(w->data, r->m->file, id))
		return false;
	context_seen(r->m->file, "running", json_string(str_of(id)));
	return true;
}

/* `<id>/<part>/<n>`; what somebody wrote otherwise by hand belongs to the state. */
static char *part_of(struct run *r, const char *id)
{
	struct str s = str_of(id);
	size_t from = str_find(s, STR("/")) + 1, n;

	if (from >= s.n)
		return arena_dup(&r->arena, str_of(run_state(r)));
	n = str_find(str_sub(s, from, s.n), STR("/"));
	return arena_dup(&r->arena, str_sub(s, from, from + n));
}

static void ask_anew(struct run *r, json *action)
{
	char *old = arena_dup(&r->arena, str_of(json_get_str(action, "id")));
	char *part = part_of(r, old);
	unsigned long attempt = context_next_attempt(r->doc, part);
	json *event;

	json_set(action, "id",
		json_string(str_of(arena_printf(&r->arena, "%s/%s/%lu", r->m->id, part, attempt))));
	if (json_get(action, "command"))
		json_set(action, "log_file", json_string(str_of(dispatch_log(r, part, attempt))));
	event = dispatch_note(r, action);
	json_put_str(event, "instead_of", str_of(old));
}

/* A script that still runs is not started a second time: it keeps its id, and its result counts. */
static void ask_all_anew(struct run *r)
{
	json *all = json_array();

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		json *copy = json_copy(a);

		if (!action_answered(r->doc, copy) && !run_at_work(r, copy))
			ask_anew(r, copy);
		json_push(all, copy);
	}
	json_free(&r->outstanding);
	r->outstanding = all;
	run_store(r);
}

static void note_lease(struct run *r, bool was_live)
{
	json *event = context_event(r->m->file, "lease");
	char until[CLOCK_TEXT];

	clock_text(r->holder.until, until);
	json_put_str(event, "owner", str_of(r->holder.owner));
	json_put_str(event, "from", str_of(r->holder.from));
	json_put_int(event, "fence", r->holder.fence);
	json_put_str(event, "until", str_of(until));
	json_put_str(event, "reason", was_live ? STR("taken over") : STR("it had run out"));
}

/* On disk before anything else is done: whatever becomes of this call, the other is fenced. */
static int take_from_other(struct run *r, struct error *err)
{
	bool was_live = r->holder.live;

	lease_take(r->m->file, &r->holder, r->m->owner,
		(int)r->m->workflow->limits.lease_minutes * 60);
	note_lease(r, was_live);
	ask_all_anew(r);
	r->returned = false;
	if (asked_note(r->m->file, r->outstanding, err) < 0 || context_save(r->m->file, err) < 0)
		return -1;
	lease_leave(r->m->file); /* renewed a moment ago */
	return 0;
}

static int read_holder(struct run *r, struct error *err)
{
	struct context_file *f = r->m->file;

	if (f->replay && replayed_holder(r)) {
		see_holder(r);
		return 0;
	}
	if (lease_read(f, &r->holder, err) < 0)
		return -1;
	if (!f->replay && r->holder.fence && r->m->owner &&
		!(r->holder.live && holder_is(&r->holder, r->m->owner)))
		see_holder(r);
	return 0;
}

int run_claim(struct run *r, struct error *err)
{
	struct machine *m = r->m;
	struct holder *h = &r->holder;
	int ttl_s = (int)m->workflow->limits.lease_minutes * 60;

	if (!m->file->replay && machine_admit(m, err) < 0)
		return -1;
	if (read_holder(r, err) < 0)
		return -1;
	if (!m->owner || at_end(m))
		return 0;
	r->holds = true;
	if (h->owner && !holder_is(h, m->owner))
		return take_from_other(r, err);
	r->began = !h->owner;
	if (!h->live)
		lease_take(m->file, h, m->owner, ttl_s);
	h->ttl_s = ttl_s;
	h->until = m->file->now + ttl_s;
	lease_renew(m->file, h);
	return 0;
}

void run_give_back(struct run *r)
{
	const char *what = json_get_str(json_first(r->print), "action");

	if (r->holder.owner && what && strcmp(what, "done") == 0)
		lease_give_back(r->m->file, &r->holder);
}

void run_let_go(struct run *r)
{
	struct context_file *f = r->began ? r->m->file : NULL;
	struct error ignored;

	if (!f || !f->saves)
		return;
	context_forget(f);
	lease_give_back(f, &r->holder);
	(void)context_log(f, &ignored);
}
