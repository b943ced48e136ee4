/* request.c: the last request of a work item, and what another attempt requests. */
#include "context/file.h"
#include "src/machine/action.h"
#include "src/machine/failure.h"
#include "src/machine/wait.h"
#include "src/verify/history.h"
#include "steps/steps.h"

/* The last request of a state. */
struct last_request {
	const char *state; /* NULL: any */
	bool agent;        /* not a script's */
	int64_t rev;       /* 0: there was none */
};

/* A context_visit. The troubleshooter is called by itself, if it is needed again. */
static bool find_request(const json *event, void *data)
{
	struct last_request *l = data;
	const char *id = json_get_str(event, "action");

	if (json_str_is(event, "type", "dispatch") && id && !strstr(id, "/troubleshooter/") &&
		(!l->state || json_str_is(event, "state", l->state)) &&
		(!l->agent || json_get(event, "agent")))
		l->rev = json_get_int(event, "rev", 0);
	return !l->rev;
}

int history_last_request(const struct context_file *f, const char *state, bool agent, int64_t *rev,
	struct error *err)
{
	struct last_request last = {.state = state, .agent = agent};

	if (context_read_events(f, "\"dispatch\"", find_request, &last, err) < 0)
		return -1;
	*rev = last.rev;
	return 0;
}

/* ---- another attempt ---- */

/* Keeps the actions that have an answer. Drops those without one, and the questions and waits of
 * the attempt that failed. */
static void reopen(struct context *doc, const json *actions)
{
	static const char *const keys[] = {
		"question", "question_trigger", "troubleshooter_input", "pending_agent"};
	CLEANUP(json_free) json *kept = json_array();

	for (const json *a = json_first(actions); a; a = json_next(a)) {
		json *copy;

		if (action_is_troubleshooter(a) || !action_answered(doc, a) ||
			!context_has_section(doc, json_get_str(a, "write_section")))
			continue;
		copy = json_copy(a);
		JSON_SET(copy, JSON_BOOL("carried", true));
		json_push(kept, copy);
	}
	action_store(doc, kept);
	for (size_t i = 0; i < COUNT(keys); i++)
		context_set(doc, keys[i], (struct str){0});
	wait_drop(doc);
}

static const struct declared_state *ordered_state(
	const char *path, struct str text, const struct workflow *w)
{
	CLEANUP(context_release) struct context doc = {0};
	const struct workflow_state *st = NULL;
	struct error ignored;

	if (context_parse(&doc, path, text, &ignored) == 0)
		st = workflow_state(w, context_get(&doc, "state").p);
	return st && st->declared && st->declared->order && !st->declared->manifest ? st->declared
										    : NULL;
}

/* *text, a request at *rev, becomes the last document in its state. */
static int keep_good(
	const struct history_attempt *h, struct buf *text, int64_t *rev, struct error *err)
{
	const struct history_place *place = &h->place;
	const struct declared_state *d = ordered_state(place->path, buf_str(text), h->workflow);
	CLEANUP(context_release) struct context doc = {0};
	CLEANUP(buf_release) struct buf last = BUF_INIT;
	CLEANUP(json_free) json *actions = NULL;
	struct step_context c = {
		.arena = h->arena, .doc = &doc, .workflow = h->workflow, .declared = d};
	int64_t made;

	if (!d)
		return 0;
	if (history_last_good(place, d->name, &last, &made, err) < 0 ||
		context_parse(&doc, place->path, buf_str(&last), err) < 0 ||
		action_load(&doc, &actions, err) < 0)
		return -1;
	c.actions = actions;
	if (!steps_declared_again(&c))
		return 0;
	reopen(&doc, actions);
	buf_clear(text);
	*rev = made;
	return context_render(&doc, text, NULL, err);
}

/* ---- what people have changed since ---- */

struct edits {
	struct arena *arena;
	const struct context *now;
	struct context *to;    /* what is put back */
	const json *actions;   /* its actions */
	VEC(const char *) own; /* sections that people have added */
};

static bool is_own(const struct edits *e, const char *section)
{
	for (size_t i = 0; i < e->own.n; i++)
		if (strcmp(e->own.items[i], section) == 0)
			return true;
	return context_has_section(e->to, section);
}

/* What an outstanding action is to write would count as its answer; so would, later, a section that
 * an agent has written since, edited or not. */
static void take_sections(struct edits *e, const struct context *before,
	const struct context *after, const struct context *names, const json *asked)
{
	for (size_t i = 0; i < context_sections(names); i++) {
		const char *name = arena_dup(e->arena, context_section_name(names, i));
		struct str text = context_section(after, name);

		if (action_writing(e->actions, name) || action_writing(asked, name) ||
			strcmp(name, CONTEXT_ACTIONS) == 0)
			continue;
		if (text.n && !context_has_section(before, name))
			vec_push_in(e->arena, &e->own, name);
		if (!str_eq(text, context_section(before, name)) &&
			str_eq(text, context_section(e->now, name)) && is_own(e, name))
			context_put(e->to, name, text);
	}
}

/* From a hand edit or a `context set`, what was not changed again. */
static void take_edit(struct edits *e, const struct context *before, const struct context *after)
{
	CLEANUP(json_free) json *asked = NULL;
	struct error ignored;

	(void)action_load(before, &asked, &ignored);
	take_sections(e, before, after, after, asked);
	take_sections(e, before, after, before, asked);
	context_take_keys(e->to, before, after, e->now);
}

/* The edits since `rev`. A document that could not be read was corrected by the next edit. */
static int take_edits(
	const struct history_place *place, int64_t rev, struct edits *e, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	CLEANUP(context_release) struct context before = {0};
	int rc = history_open(&p, place, &(struct store_range){.from = rev, .texts = true}, err);

	while (rc >= 0 && (rc = history_next(&p, err)) > 0) {
		struct context after = {0};
		const char *op = json_get_str(p.commit.note, "op");
		struct error ignored;

		if (p.changed &&
			context_parse(&after, place->path, buf_str(&p.document), &ignored) == 0) {
			if (op && p.commit.rev > rev && (!strcmp(op, "edit") || !strcmp(op, "set")))
				take_edit(e, &before, &after);
			context_release(&before);
			before = after;
		} else {
			context_release(&after);
		}
	}
	return rc;
}

static int keep_edits(const struct history_attempt *h, const struct context *now, int64_t rev,
	struct buf *text, struct error *err)
{
	CLEANUP(context_release) struct context to = {0};
	CLEANUP(json_free) json *actions = NULL;
	struct edits e = {.arena = h->arena, .now = now, .to = &to};

	if (context_parse(&to, h->place.path, buf_str(text), err) < 0 ||
		action_load(&to, &actions, err) < 0)
		return -1;
	e.actions = actions;
	if (take_edits(&h->place, rev, &e, err) < 0)
		return -1;
	if (!to.changed)
		return 0;
	buf_clear(text);
	return context_render(&to, text, NULL, err);
}

int history_put_back(
	const struct history_attempt *h, struct context_file *f, int64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (rev && (history_document(&h->place, rev, &text, NULL, err) < 0 ||
			   (h->workflow && keep_good(h, &text, &rev, err) < 0) ||
			   keep_edits(h, &f->doc, rev, &text, err) < 0))
		return -1;
	return failure_retry(f, rev, buf_str(&text), err);
}
