#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/base/number.h"
#include "src/machine/engine_internal.h"
#include "src/machine/node.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

#define TROUBLESHOOTER "troubleshooter"

static const char *action_id(struct engine_run *r, const char *part, unsigned long attempt)
{
	return arena_printf(&r->arena, "%s/%s/%lu", r->e->id, part, attempt);
}

const char *engine_next_id(struct engine_run *r, const char *part, size_t k)
{
	return action_id(r, part, context_attempts(r->doc, part) + 1 + k);
}

/* Where the script of that state (or declared part) and attempt writes its output, below the
 * directory of the document. */
static char *machine_dispatch_log_path(
	struct engine_run *r, const char *state, unsigned long attempt)
{
	const struct context_file *f = r->e->file;
	char stamp[CLOCK_TEXT];

	clock_stamp(f->now, stamp);
	return arena_printf(&r->arena, "logs/%s-%s-%s-%lu.log", f->name, state, stamp, attempt);
}

static json *security(const struct step_request *q)
{
	return JSON_OBJECT(JSON_TEXT("policy", q->policy),
		JSON_IF(q->violation, JSON_TEXT("violation", q->violation)));
}

static json *first_script(const struct engine_run *r, const struct step_request *q)
{
	return JSON_OBJECT(JSON_TEXT("policy", r->e->workflow->security.policy),
		JSON_TEXT("script", q->first));
}

/* `ID.NAME`, `ID.NAME.2`: each attempt is another item. No state has a name with a dot. */
static const char *child_id(struct engine_run *r, const char *name)
{
	unsigned long attempt =
		context_next_attempt(r->doc, arena_printf(&r->arena, "child.%s", name));

	return attempt == 1 ? arena_printf(&r->arena, "%s.%s", r->e->id, name)
			    : arena_printf(&r->arena, "%s.%s.%lu", r->e->id, name, attempt);
}

/* What an attempt of a node may do, resolved once. Whoever carries it out looks at nothing else. */
static json *execution(const struct engine_run *r, const struct step_request *q)
{
	const struct manifest_persona *p = q->node->actor;
	const struct text_list *tools = q->tools ? q->tools : p && p->tools.n ? &p->tools : NULL;
	const char *violation = r->e->workflow->security.violation;
	const struct manifest *m = engine_declared(r)->manifest;

	return JSON_OBJECT(JSON_TEXT("phase", q->node->id),
		JSON_IF(p, JSON_TEXT("persona", p->name)),
		JSON_TEXT("modelConstraint", p && p->model ? p->model : "inherit"),
		JSON_IF(tools, JSON_VALUE("allowedTools", json_texts(tools->list, tools->n))),
		JSON_VALUE("security",
			JSON_OBJECT(JSON_IF(m->drop_uid, JSON_INT("dropUid", m->drop_uid)),
				JSON_IF(m->drop_uid, JSON_INT("dropGid", m->drop_gid)),
				JSON_TEXT("violation", violation ? violation : "hard_abort"))));
}

/* The members of an action that is an attempt of a node. */
static json *machine_dispatch_add_node(
	struct engine_run *r, const struct step_request *q, json *action)
{
	const struct manifest *m;
	char sum[DIGEST_TEXT];
	json *e;

	if (!q->node)
		return action;
	m = engine_declared(r)->manifest;
	json_put_str(action, "node", str_of(q->node->id));
	if (!q->agent && (!m->drop_uid || !q->command || manifest_node_merges(q->node)))
		return action;
	e = execution(r, q);
	digest_text(json_print_in(&r->arena, json_copy(e)), sum);
	return JSON_ADD(action, JSON_IF(q->prompt, JSON_TEXT("prompt", q->prompt)),
		JSON_IF(q->agent && m->n_events, JSON_VALUE("events", manifest_events_json(m))),
		JSON_VALUE("execution", e), JSON_TEXT("execution_sum", sum));
}

static json *request_to_action(struct engine_run *r, const struct step_request *q)
{
	const char *part = q->trigger ? TROUBLESHOOTER : q->node ? q->node->id : engine_state(r);
	unsigned long attempt = context_next_attempt(r->doc, part);
	bool child = q->kind == ACTION_CHILD;

	return machine_dispatch_add_node(r, q,
		JSON_OBJECT(JSON_TEXT("action", action_rows[q->kind].name),
			JSON_TEXT("id", action_id(r, part, attempt)),
			JSON_TEXT("message", q->message),
			JSON_IF(child, JSON_TEXT("item", child ? child_id(r, q->child) : "")),
			JSON_IF(child, JSON_TEXT("workflow", q->child_workflow)),
			JSON_IF(q->task, JSON_TEXT("task", q->task)),
			JSON_IF(q->approve, JSON_TEXT("approve", q->approve)),
			JSON_IF(q->agent, JSON_TEXT("agent", q->agent)),
			JSON_IF(q->agent && q->skill, JSON_TEXT("skill", q->skill)),
			JSON_IF(q->agent && q->args && *q->args, JSON_TEXT("args", q->args)),
			JSON_IF(q->trigger, JSON_TEXT("trigger", q->trigger)),
			JSON_IF(q->trigger, JSON_INT("cycle_count", q->cycle_count)),
			JSON_IF((q->agent || child) && !q->trigger,
				JSON_VALUE(
					"read_sections", json_texts(q->reads.items, q->reads.n))),
			JSON_TEXT("write_section", q->writes),
			JSON_TEXT("result_format", q->format),
			JSON_IF(q->command, JSON_TEXT("command", q->command)),
			JSON_IF(q->command,
				JSON_TEXT("log_file", machine_dispatch_log_path(r, part, attempt))),
			JSON_IF(q->command, JSON_INT("timeout_s", q->timeout_s)),
			JSON_IF(q->first, JSON_VALUE("first", first_script(r, q))),
			JSON_IF(q->policy, JSON_VALUE("security", security(q)))));
}

/* Notes and counts an action that is outstanding from now on. */
static json *note_dispatch(struct engine_run *r, const json *action)
{
	const char *id = json_get_str(action, "id"), *trigger = json_get_str(action, "trigger"),
		   *node = json_get_str(action, "node"),
		   *sum = json_get_str(action, "execution_sum"),
		   *who = action_rows[action_kind(action)].subject;
	const struct environment *env = r->e->environment;

	/* An agent knows the next id and could have left a result under it. */
	if (env->discard && json_get(action, "command"))
		env->discard(r->e->file, id);
	context_set_count(
		r->doc, "actions_dispatched", context_count(r->doc, "actions_dispatched") + 1);
	return JSON_ADD(context_event(r->e->file, "dispatch"), JSON_TEXT("action", id),
		JSON_TEXT("state", engine_state(r)), JSON_TEXT(who, json_get_str(action, who)),
		JSON_IF(trigger, JSON_TEXT("trigger", trigger)),
		JSON_IF(node, JSON_TEXT("node", node)),
		JSON_IF(sum, JSON_TEXT("execution_sum", sum)),
		JSON_INT("attempt", number_or(str_of(strrchr(id, '/') + 1), INT64_MAX, 0)),
		JSON_IF(r->holds, JSON_TEXT("owner", r->holder.owner)),
		JSON_IF(r->holds, JSON_INT("fence", r->holder.fence)),
		JSON_IF(r->holds, JSON_TIME("deadline", r->e->file->now + r->holder.ttl_s)));
}

/* Newer requests for a section replace an older one. All at once: the array may be long. */
static void drop_replaced(struct engine_run *r, const struct step_request *requests, size_t n)
{
	VEC(const char *) sections = {0};

	for (size_t i = 0; i < n; i++)
		vec_push_in(&r->arena, &sections, requests[i].writes);
	vec_sort(&sections, vec_by_text);
	engine_drop_sections(r, sections.items, n);
}

static void print_action(struct engine_run *r, const json *action)
{
	struct item_place place = r->place;

	place.repo = r->e->repo;
	json_push(r->print, action_complete(r->e->file, &place, action));
}

static void machine_dispatch_one(struct engine_run *r, json *action)
{
	(void)note_dispatch(r, action);
	print_action(r, action);
	json_push(r->outstanding, action);
}

static void print_open(struct engine_run *r, bool all)
{
	r->print = json_array();
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a) && (all || !json_len(r->print)))
			print_action(r, a);
}

/* The only object of the array. */
static json *print_done(struct engine_run *r, const char *result, const char *reason)
{
	json *done = JSON_OBJECT(JSON_TEXT("action", "done"), JSON_TEXT("result", result),
		JSON_TEXT("reason", reason));

	json_free(&r->print);
	r->print = json_array();
	json_push(r->print, done);
	return done;
}

/* An approval is no action of the loop: the item waits for a person. */
static void print_approval(struct engine_run *r)
{
	static const char *const members[] = {
		"id", "context_file", "directory", "write_section", "result_format"};
	const json *a = action_open_approval(r->doc, r->print);
	json *array = r->print, *done;

	if (!a)
		return;
	r->print = NULL;
	done = print_done(r, "waiting",
		arena_printf(&r->arena, "a person must approve: %s", json_get_str(a, "approve")));
	json_put_texts(done, "for", "approval");
	for (size_t i = 0; i < COUNT(members); i++)
		if (json_get_str(a, members[i]))
			json_put_str(done, members[i], str_of(json_get_str(a, members[i])));
	json_free(&array);
}

/* Of an ordered state: which actions were dispatched together. */
static void mark_array(struct engine_run *r, size_t n)
{
	size_t first = json_len(r->outstanding) - n;
	int64_t array = (int64_t)context_count(r->doc, "actions_dispatched");

	for (const json *a = json_at(r->outstanding, first); a; a = json_next(a))
		json_put_int((json *)a, "array", array);
	engine_carry_answers(r);
}

void engine_dispatch(struct engine_run *r, const struct step *step, const struct step_context *c)
{
	if (c->open)
		print_open(r, true);
	else
		r->print = json_array();
	drop_replaced(r, c->requests.items, c->requests.n);
	for (size_t i = 0; i < c->requests.n; i++)
		machine_dispatch_one(r, request_to_action(r, &c->requests.items[i]));
	context_set(r->doc, "pending_agent", str_of(step->pending));
	if (c->declared && c->declared->order)
		mark_array(r, c->requests.n);
	action_store(r->doc, r->outstanding);
	print_approval(r);
}

/* The middle of `<work item>/<part>/<n>`; an id of another form belongs to the state. */
static char *machine_dispatch_part_of(struct engine_run *r, const char *id)
{
	struct str s = str_of(id);
	size_t from = str_find(s, STR("/")) + 1, n;

	if (from >= s.n)
		return arena_dup(&r->arena, str_of(engine_state(r)));
	n = str_find(str_sub(s, from, s.n), STR("/"));
	return arena_dup(&r->arena, str_sub(s, from, from + n));
}

void engine_dispatch_reissue(struct engine_run *r, json *action)
{
	char *old = arena_dup(&r->arena, str_of(json_get_str(action, "id")));
	char *part = machine_dispatch_part_of(r, old);
	unsigned long attempt = context_next_attempt(r->doc, part);

	json_set(action, "id", json_string(str_of(action_id(r, part, attempt))));
	if (json_get(action, "command"))
		json_set(action, "log_file",
			json_string(str_of(machine_dispatch_log_path(r, part, attempt))));
	json_put_str(note_dispatch(r, action), "instead_of", str_of(old));
}

bool engine_dispatch_troubleshooter(
	struct engine_run *r, const char *trigger, unsigned long count, const char *failed)
{
	struct step_request request = {.kind = ACTION_AGENT,
		.message = arena_printf(
			&r->arena, "Calling the troubleshooter for %s: %s", r->e->id, trigger),
		.agent = TROUBLESHOOTER,
		.skill = TROUBLESHOOTER,
		.trigger = trigger,
		.cycle_count = count,
		.failed = failed,
		.writes = CONTEXT_TROUBLE_LOG,
		.format = "continue | terminate | needs_user_input"};
	json *action, *reached;

	if (!engine_admit_requests(r, TROUBLESHOOTER, &request, 1, false))
		return false;
	action = request_to_action(r, &request);
	if (context_get(r->doc, "troubleshooter_input").n)
		json_put_bool(action, "user_answered", true);
	if (strcmp(trigger, "consecutive_failures") == 0 && (reached = engine_reached(r)))
		json_put(action, "failed", reached);
	engine_drop_unanswered(r);
	drop_replaced(r, &request, 1);
	r->print = json_array();
	machine_dispatch_one(r, action);
	context_set(r->doc, "pending_agent", STR(TROUBLESHOOTER));
	action_store(r->doc, r->outstanding);
	return true;
}

void engine_dispatch_again(struct engine_run *r, bool together)
{
	bool some = false;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		some |= action_answered(r->doc, a);
	print_open(r, together || !some);
	print_approval(r);
}

void engine_dispatch_done(
	struct engine_run *r, const char *result, const char *reason, const char *question)
{
	json *done = print_done(r, result, reason);

	if (question)
		json_put_texts(done, "question", question, "context_file", r->e->file->path);
}

void engine_dispatch_waiting(struct engine_run *r, const char *reason, const char *until)
{
	json_put_texts(print_done(r, "waiting", reason), "until", until);
}
