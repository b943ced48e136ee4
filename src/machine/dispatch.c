#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/machine/engine_internal.h"

static const char *action_id(struct engine_run *r, const char *part, unsigned long attempt)
{
	return arena_printf(&r->arena, "%s/%s/%lu", r->m->id, part, attempt);
}

static json *read_sections(const struct step_request *q)
{
	json *list = json_array();

	for (size_t i = 0; i < q->reads.n; i++)
		json_push_str(list, str_of(q->reads.items[i]));
	return list;
}

/* Where the script of that state (or declared part) and attempt writes its output. */
static char *log_path(struct engine_run *r, const char *state, unsigned long attempt)
{
	const struct context_file *f = r->m->file;
	char stamp[CLOCK_TEXT];

	clock_stamp(f->now, stamp);
	return arena_printf(
		&r->arena, "%s/logs/%s-%s-%s-%lu.log", f->dir, f->name, state, stamp, attempt);
}

static json *security(const struct step_request *q)
{
	json *j = json_object();

	json_put_str(j, "policy", str_of(q->policy));
	if (q->violation)
		json_put_str(j, "violation", str_of(q->violation));
	json_put_texts(j, "folder", q->directory, "script", q->script);
	return j;
}

static void put_script(
	struct engine_run *r, json *j, const struct step_request *q, unsigned long attempt)
{
	json_put_texts(j, "command", q->command, "log_file", log_path(r, engine_state(r), attempt));
	json_put_int(j, "timeout_s", q->timeout_s);
	if (q->policy)
		json_put(j, "security", security(q));
}

static json *action_new(struct engine_run *r, const struct step_request *q)
{
	const char *part = q->trigger ? "troubleshooter" : engine_state(r);
	unsigned long attempt = context_next_attempt(r->doc, part);
	json *j = json_object();

	json_put_texts(j, "action", q->agent ? "spawn_agent" : "run_script", "id",
		action_id(r, part, attempt), "message", q->message);
	if (q->agent) {
		json_put_texts(j, "agent", q->agent, "skill", q->skill);
		if (q->args && *q->args)
			json_put_str(j, "args", str_of(q->args));
	}
	if (q->trigger) {
		json_put_str(j, "trigger", str_of(q->trigger));
		json_put_int(j, "cycle_count", (int64_t)q->cycle_count);
	}
	json_put_str(j, "context_file", str_of(r->m->file->path));
	if (q->agent && !q->trigger)
		json_put(j, "read_sections", read_sections(q));
	json_put_texts(j, "write_section", q->writes, "result_format", q->format);
	if (!q->agent)
		put_script(r, j, q, attempt);
	return j;
}

static void put_owner(const struct engine_run *r, json *event)
{
	char deadline[CLOCK_TEXT];

	if (!r->holds)
		return;
	clock_text(r->m->file->now + r->holder.ttl_s, deadline);
	json_put_str(event, "owner", str_of(r->holder.owner));
	json_put_int(event, "fence", r->holder.fence);
	json_put_str(event, "deadline", str_of(deadline));
}

/* Notes and counts an action that is outstanding from now on. */
static json *note_dispatch(struct engine_run *r, const json *action)
{
	json *event = context_event(r->m->file, "dispatch");
	const char *agent = json_get_str(action, "agent"), *id = json_get_str(action, "id"),
		   *trigger = json_get_str(action, "trigger");

	json_put_texts(event, "action", id, "state", engine_state(r));
	json_put_str(event, agent ? "agent" : "command",
		str_of(agent ? agent : json_get_str(action, "command")));
	if (trigger)
		json_put_str(event, "trigger", str_of(trigger));
	json_put_int(
		event, "attempt", (int64_t)number_or(str_of(strrchr(id, '/') + 1), INT64_MAX, 0));
	put_owner(r, event);
	context_set_count(
		r->doc, "actions_dispatched", context_count(r->doc, "actions_dispatched") + 1);
	return event;
}

/* A newer request for a section replaces an older one. */
static void dispatch(struct engine_run *r, json *action)
{
	(void)note_dispatch(r, action);
	json_push(r->print, json_copy(action));
	engine_drop_section(r, json_get_str(action, "write_section"));
	json_push(r->outstanding, action);
}

void engine_dispatch(struct engine_run *r, const struct step *step, const struct step_context *c)
{
	r->print = json_array();
	for (size_t i = 0; i < c->requests.n; i++)
		dispatch(r, action_new(r, &c->requests.items[i]));
	context_set(r->doc, "pending_agent", str_of(step->pending));
	engine_store(r);
}

/* The middle of `<work item>/<part>/<n>`; an id of another form belongs to the state. */
static char *part_of(struct engine_run *r, const char *id)
{
	struct str s = str_of(id);
	size_t from = str_find(s, STR("/")) + 1, n;

	if (from >= s.n)
		return arena_dup(&r->arena, str_of(engine_state(r)));
	n = str_find(str_sub(s, from, s.n), STR("/"));
	return arena_dup(&r->arena, str_sub(s, from, from + n));
}

void engine_dispatch_renew(struct engine_run *r, json *action)
{
	char *old = arena_dup(&r->arena, str_of(json_get_str(action, "id")));
	char *part = part_of(r, old);
	unsigned long attempt = context_next_attempt(r->doc, part);
	json *event;

	json_set(action, "id", json_string(str_of(action_id(r, part, attempt))));
	if (json_get(action, "command"))
		json_set(action, "log_file", json_string(str_of(log_path(r, part, attempt))));
	event = note_dispatch(r, action);
	json_put_str(event, "instead_of", str_of(old));
}

void engine_dispatch_troubleshooter(struct engine_run *r, const char *trigger, unsigned long count)
{
	const struct step_request request = {
		.message = arena_printf(
			&r->arena, "Calling the troubleshooter for %s: %s", r->m->id, trigger),
		.agent = "troubleshooter",
		.skill = "troubleshooter",
		.trigger = trigger,
		.cycle_count = count,
		.writes = "Troubleshooter Log",
		.format = "continue | terminate | needs_user_input"};
	json *action = action_new(r, &request);

	engine_keep_answers(r);
	r->print = json_array();
	dispatch(r, action);
	context_set(r->doc, "pending_agent", STR("troubleshooter"));
	engine_store(r);
}

void engine_dispatch_again(struct engine_run *r)
{
	bool some = false;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		some |= action_answered(r->doc, a);
	r->print = json_array();
	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		json *copy;

		if (action_answered(r->doc, a) || (some && json_len(r->print)))
			continue;
		copy = json_copy(a);
		json_set(copy, "context_file", json_string(str_of(r->m->file->path)));
		json_push(r->print, copy);
	}
}

void engine_dispatch_done(
	struct engine_run *r, const char *result, const char *reason, const char *question)
{
	json *j = json_object();

	json_put_texts(j, "action", "done", "result", result, "reason", reason);
	if (question) {
		json_put_texts(j, "question", question, "context_file", r->m->file->path);
	}
	r->print = json_array();
	json_push(r->print, j);
}
