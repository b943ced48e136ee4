#include "src/base/clock.h"
#include "src/machine/engine_internal.h"

struct wait wait_read(const struct context *c)
{
	struct str until = context_get(c, "wait_until"), reason = context_get(c, "wait_reason");
	struct wait w = {.reason = reason.n ? reason.p : "it waits for a time"};

	if (until.n && clock_parse_rfc3339(until, &w.until) && w.until < 1)
		w.until = 1;
	return w;
}

bool wait_is_open(const struct context *c, int64_t now)
{
	return wait_read(c).until > now;
}

void wait_drop(struct context *c)
{
	context_set(c, "wait_until", (struct str){0});
	context_set(c, "wait_reason", (struct str){0});
}

/* ---- a usage limit ---- */

struct limit {
	int64_t until;
	const char *reason;
};

void engine_wait_begin(struct context_file *f, int64_t until, const char *reason)
{
	char text[CLOCK_TEXT];

	clock_text(until, text);
	context_set(&f->doc, "wait_until", str_of(text));
	context_set(&f->doc, "wait_reason", str_of(reason));
	json_put_texts(context_event(f, "wait"), "until", text, "reason", reason);
}

static int64_t unknown_end(const struct context_file *f)
{
	int64_t wait_s = WAIT_UNKNOWN_S;

	for (unsigned long n = context_count(&f->doc, "usage_waits");
		n && wait_s < WAIT_UNKNOWN_MAX_S; n--)
		wait_s *= 2;
	return f->now + (wait_s < WAIT_UNKNOWN_MAX_S ? wait_s : WAIT_UNKNOWN_MAX_S);
}

/* A context_change. The actions of one array reach the same limit: that is one wait. */
static int wait_begin(struct context_file *f, void *data, struct error *err)
{
	const struct limit *l = data;
	struct context *c = &f->doc;
	bool open = wait_is_open(c, f->now), known = l->until > f->now;
	int64_t until = known ? l->until : unknown_end(f);

	JSON_ADD(context_op(f, "wait"), JSON_TEXT("reason", l->reason),
		JSON_IF(l->until > 0, JSON_INT("until", l->until)));
	if (!context_has_section(c, CONTEXT_ACTIONS))
		return 0;
	if (open && (!known || wait_read(c).until >= until))
		return 0;
	if (!open)
		context_set_count(c, "usage_waits", context_count(c, "usage_waits") + 1);
	engine_wait_begin(f, until, l->reason);
	return context_save(f, err);
}

int wait_for_limit(struct context_file *f, int64_t until, const char *reason, struct error *err)
{
	return context_update(f, wait_begin, &(struct limit){until, reason}, err);
}

/* ---- the engine ---- */

enum advance engine_wait(struct engine_run *r)
{
	const char *reason = arena_dup(&r->arena, str_of(r->wait.reason));
	char until[CLOCK_TEXT];

	if (!r->wait.until)
		return ADVANCE_ON;
	clock_text(r->wait.until, until);
	if (r->waits) {
		engine_dispatch_waiting(r, reason, until);
		return ADVANCE_STOP;
	}
	json_put_texts(context_event(r->e->file, "wait_over"), "until", until, "reason", reason);
	wait_drop(r->doc);
	r->wait = (struct wait){0};
	r->returned = false; /* what has no answer was held up */
	return ADVANCE_ON;
}
