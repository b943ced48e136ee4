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

int history_put_back(
	const struct history_attempt *h, struct context_file *f, int64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (rev && (history_document(&h->place, rev, &text, NULL, err) < 0 ||
			   (h->workflow && keep_good(h, &text, &rev, err) < 0)))
		return -1;
	return failure_retry(f, rev, buf_str(&text), err);
}
