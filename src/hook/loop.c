/*
 * loop.c: what both forms of the loop in the client share: finding the item of an event, recording
 * the answers of agents, making the steps between them, and running scripts.
 */
#include "src/base/clock.h"
#include "src/hook/loop.h"
#include "src/local/script.h"
#include "src/machine/place.h"
#include "src/merge/gate.h"
#include "src/run/databases.h"
#include "src/run/run.h"
#include "src/sys/path.h"

bool hook_loop_find(struct hook_loop *l, const char *id)
{
	struct hook_items items;
	struct error ignored;
	size_t longest = 0;

	if (hook_session_items(l->arena, l->session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n && (id || items.n == 1); i++) {
		size_t n = strlen(items.items[i].id);

		if (id && (n < longest || strncmp(id, items.items[i].id, n) != 0 ||
				  (id[n] && id[n] != '/' && id[n] != '.')))
			continue;
		l->item = items.items[i];
		longest = n;
	}
	return longest > 0;
}

const char *hook_loop_document(const struct hook_loop *l, const char *id)
{
	size_t n = strlen(l->item.id);

	if (!id || strncmp(id, l->item.id, n) != 0 || id[n] != '.')
		return l->item.context_file;
	return run_child_document(l->arena, l->item.context_file,
		arena_dup(l->arena, (struct str){id, strcspn(id, "/")}));
}

/* ---- actions ---- */

bool hook_is_script(const json *action)
{
	return action_kind(action) == ACTION_SCRIPT;
}

const char *hook_action_type(struct arena *a, const json *action)
{
	return hook_is_script(action) ? "dev-team:script-runner"
				      : hook_agent_type(a, json_get_str(action, "agent"));
}

void hook_outstanding_free(struct hook_outstanding *o)
{
	run_outstanding_free(&o->all);
}

int hook_outstanding(const char *file, struct hook_outstanding *o, struct error *err)
{
	*o = (struct hook_outstanding){0};
	if (run_outstanding_load(file, &o->all, err) < 0)
		return -1;
	o->array = o->all.open;
	for (const json *a = json_first(o->array); a; a = json_next(a))
		++*(hook_is_script(a) ? &o->n_scripts : &o->n_agents);
	return 0;
}

/* ---- steps ---- */

json *hook_loop_copy_kind(const json *array, bool scripts)
{
	json *some = json_array();

	for (const json *a = json_first(array); a; a = json_next(a))
		if (hook_is_script(a) == scripts)
			json_push(some, json_copy(a));
	return some;
}

/* Starts the scripts and waits for them. *late: one did not end in time. */
int hook_loop_run_scripts(
	struct hook_loop *l, const json *array, bool wait, bool *late, struct error *err)
{
	*late = false;
	for (const json *a = json_first(array); a; a = json_next(a)) {
		int64_t left = (l->until - clock_ticks()) / 1000;
		const char *file = json_get_str(a, "context_file"), *id = json_get_str(a, "id");
		const char *const *env;
		char *line;

		if (!hook_is_script(a))
			continue;
		if (session_databases_environment(l->arena, file, id, &env, err) < 0 ||
			script_run(l->arena, file, id, NULL, env, wait && left > 0 ? (int)left : 0,
				&line, err) < 0)
			return -1;
		*late |= str_starts(str_of(line), "running");
	}
	return 0;
}

/* One step. If it requested only scripts and these have ended, *next stays NULL, and *returned
 * names one of the actions. */
static int make_loop_step(
	struct hook_loop *l, const char **returned, json **next, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *array = NULL;
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct run_step_call call = {.id = l->item.id,
		.workflow = l->item.workflow,
		.context_file = l->item.context_file,
		.repo = l->item.repo,
		.owner = hook_item_owner(&l->item, l->session),
		.returned = *returned,
		.returned_alone = l->others_work};
	bool late;

	*returned = NULL;
	if (run_step_resolve(l->arena, &call, err) < 0 ||
		run_step(l->arena, &call, &text, err) < 0 ||
		json_parse(&array, buf_str(&text), err) < 0)
		return -1;
	if (json_str_is(json_at(array, 0), "action", "done")) {
		*next = json_copy(array);
		/* The calls of agents that still work are denied as long as the session has the
		 * item. */
		return hook_is_end(buf_str(&text)) && !l->others_work
			       ? hook_item_end(l->arena, l->session, &l->item, err)
			       : 0;
	}
	if (hook_outstanding(l->item.context_file, &o, err) < 0 ||
		hook_loop_run_scripts(l, o.array, o.n_agents == 0, &late, err) < 0)
		return -1;
	if (o.n_agents || late)
		*next = hook_loop_copy_kind(o.array, !o.n_agents);
	else
		*returned = arena_dup(l->arena, str_of(json_get_str(json_at(array, 0), "id")));
	return 0;
}

int hook_loop_advance(struct hook_loop *l, const char *returned, json **next, struct error *err)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	bool late = false;

	*next = NULL;
	if (returned && (hook_outstanding(l->item.context_file, &o, err) < 0 ||
				hook_loop_run_scripts(l, o.array, true, &late, err) < 0))
		return -1;
	if (late && !o.n_agents) {
		*next = hook_loop_copy_kind(o.array, true);
		return 0;
	}
	do {
		if (make_loop_step(l, &returned, next, err) < 0) {
			json_free(next);
			return -1;
		}
	} while (returned);
	return 0;
}

/* ---- answers ---- */

/* State of the search, which begins at the last event. */
struct last_answer {
	const json *array;
	bool script;
	const char *id; /* of the array's action that was answered last */
};

/* A context_visit. */
static bool is_other(const json *event, void *data)
{
	struct last_answer *s = data;
	const char *id =
		json_str_is(event, "type", "answer") ? json_get_str(event, "action") : NULL;
	const json *action = id ? action_find(s->array, id) : NULL;

	if (!action || hook_is_script(action) != s->script)
		return true;
	s->id = json_get_str(action, "id");
	return false;
}

bool hook_loop_is_last(struct hook_loop *l, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct error ignored;
	struct last_answer last = {0};
	const json *own;

	if (hook_outstanding(l->item.context_file, &o, &ignored) < 0 ||
		context_open(&f, hook_loop_document(l, id), CONTEXT_READ_ONLY, &ignored) < 0 ||
		action_load(&f.doc, &array, &ignored) < 0 || !(own = action_find(array, id)))
		return false;
	last.array = array;
	last.script = hook_is_script(own);
	if (o.n_agents || (last.script && o.n_scripts))
		return false;
	context_each_event(&f, "\"answer\"", is_other, &last);
	return last.id && strcmp(last.id, id) == 0;
}

/* Others need not wait until the lease of an action that is answered is over. */
static void end_gate_lease(struct hook_loop *l, struct context_file *f, const char *id)
{
	struct item_place place = {0};
	struct error ignored;

	if (place_load(l->arena, f, &place, &ignored) == 0 && place.directory && !place.in_place)
		gate_end_lease(l->arena, arena_dup(l->arena, path_dir(place.directory)), id);
}

void hook_loop_note_run(const struct hook_loop *l, const struct agent_run *run)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	if (!run)
		return;
	if (context_open(&f, hook_loop_document(l, run->action), CONTEXT_MUST_EXIST, &err) == 0) {
		(void)context_op(&f, "run");
		agents_note_new(&f, run);
		if (context_log(&f, &err) == 0)
			return;
	}
	error_log("dev-team: what '%s' used is not noted: %s", run->action, err.text);
}

enum hook_recorded hook_loop_record(struct hook_loop *l, const json *call, const char *type,
	struct answer_offer *offer, const char **word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const char *document = hook_loop_document(l, offer->id), *why;
	const json *action;

	*word = NULL;
	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &array, err) < 0)
		return HOOK_REFUSED;
	action = action_find(array, offer->id);
	if (action && action_answered(&f.doc, action))
		*word = arena_dup(l->arena, action_word(&f.doc, action));
	if (action && (hook_is_script(action) ||
			      (*word && (!offer->word || strcmp(*word, offer->word) == 0)))) {
		end_gate_lease(l, &f, offer->id);
		hook_loop_note_run(l, offer->run);
		return HOOK_RECORDED;
	}
	why = action ? hook_agent_fault(l->arena, call, type, json_get_str(action, "agent"),
			       document, offer->id)
		     : NULL;
	if (why) {
		hook_loop_note_run(l, offer->run);
		(void)error_set(err, ERR_STATE, "%s", why);
		return HOOK_REFUSED;
	}
	offer->owner = hook_item_owner(&l->item, l->session);
	if (answer_record_file(l->arena, document, offer, word, err) == 0) {
		end_gate_lease(l, &f, offer->id);
		return HOOK_RECORDED;
	}
	*word = NULL;
	return err->code == ERR_STATE ? HOOK_DISCARDED : HOOK_REFUSED;
}
