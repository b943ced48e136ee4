/*
 * session.c: the beginning of a call: its inputs, and whether the session may step. One session at
 * a time holds a work item's lease; a second one is refused. After a take-over every outstanding
 * action is requested again under a new id, so that answers to the old ids are stale.
 */
#include <limits.h>
#include "src/base/json.h"
#include "src/machine/engine_internal.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

/* ---- the lease ---- */

static bool is_finished(const struct engine *e)
{
	return !e->file->created &&
	       engine_is_terminal(e->workflow, context_get(&e->file->doc, "state").p);
}

static const char *machine_session_own_client(const struct engine *e)
{
	const struct environment *env = e->environment;

	const char *client = env->client ? env->client(env->data, &e->file->arena) : NULL;

	if (client)
		context_seen(e->file, "client", json_string(str_of(client)));
	return client;
}

/* A lease whose session cannot use it any more does not count. NULL: it counts. */
static const char *why_over(const struct engine *e, const struct lease_holder *h)
{
	const struct environment *env = e->environment;
	struct arena *a = &e->file->arena;
	const char *own;

	if (!h->live || !h->client || lease_held_by(h, e->owner) || !env->client)
		return NULL;
	if (env->client_ended(env->data, a, h->client))
		return "its client has ended";
	own = e->owner && e->new_session ? env->client(env->data, a) : NULL;
	return own && strcmp(own, h->client) == 0 ? "its client began another session" : NULL;
}

/* Two runs have the same name: each would carry out all actions. */
static bool is_other_run(const struct engine *e, const struct lease_holder *h)
{
	const struct environment *env = e->environment;
	struct arena *a = &e->file->arena;
	const char *own;

	if (!lease_held_by(h, e->owner) || !lease_is_run(h) || !env->client ||
		env->client_ended(env->data, a, h->client))
		return false;
	own = env->client(env->data, a);
	return own && strcmp(own, h->client) != 0;
}

static bool is_holder(const struct engine *e, const struct lease_holder *h)
{
	return lease_held_by(h, e->owner) && !h->other_run;
}

static int machine_session_admit(
	const struct engine *e, const struct lease_holder *h, struct error *err)
{
	if (!h->live || e->take_over || is_holder(e, h) || is_finished(e))
		return 0;
	return lease_refuse(h, e->id, e->owner, true, err);
}

int engine_admit(const struct engine *e, struct error *err)
{
	struct lease_holder h;

	if (lease_read(e->file, &h, err) < 0)
		return -1;
	h.other_run = is_other_run(e, &h);
	return why_over(e, &h) ? 0 : machine_session_admit(e, &h, err);
}

/* The store cannot tell later what the clock and the processes of this time said. */
static void note_holder(struct engine_run *r)
{
	const struct lease_holder *h = &r->holder;

	context_seen(r->e->file, "holder",
		JSON_OBJECT(JSON_INT("live", h->live), JSON_IF(h->over, JSON_TEXT("over", h->over)),
			JSON_IF(h->other_run, JSON_INT("other_run", 1))));
}

bool engine_script_running(const struct engine_run *r, const json *action)
{
	const struct environment *env = r->e->environment;
	const char *id = json_get_str(action, "id");

	/* A guard that has recorded the result still runs for a moment; an older document may not
	 * have it. */
	if (!env->still_running || !json_get(action, "command") ||
		!env->still_running(env->data, r->e->file, id) ||
		answer_is_recorded(r->e->file, id))
		return false;
	context_seen(r->e->file, "running", json_string(str_of(id)));
	return true;
}

/* A running script is not started a second time: it keeps its id, and its result counts. */
static void reissue_all(struct engine_run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a) && !engine_in_progress(r, a))
			engine_dispatch_reissue(r, (json *)a);
	action_store(r->doc, r->outstanding);
}

/* Saved before anything else: even if this call fails, the other session is fenced. */
static int take_from_other(struct engine_run *r, struct error *err)
{
	const char *reason = r->holder.live ? "taken over" : "the lease had expired";

	if (r->holder.over)
		reason = r->holder.over;
	lease_take(r->e->file, &r->holder, r->e->owner, machine_session_own_client(r->e),
		(int)r->e->workflow->limits.lease_minutes * 60);
	JSON_ADD(context_event(r->e->file, "lease"), JSON_TEXT("owner", r->holder.owner),
		JSON_TEXT("from", r->holder.from), JSON_INT("fence", r->holder.fence),
		JSON_TIME("until", r->holder.until), JSON_TEXT("reason", reason));
	reissue_all(r);
	r->returned = false;
	if (action_note(r->e->file, r->outstanding, NULL, err) < 0 ||
		context_save(r->e->file, err) < 0)
		return -1;
	lease_stop_renewing(r->e->file); /* it was renewed just now */
	return 0;
}

static int machine_session_read_holder(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct context_file *f = r->e->file;
	struct lease_holder *h = &r->holder;
	const char *over;

	if ((env->holder ? env->holder(env->data, f, h, err) : lease_read(f, h, err)) < 0)
		return -1;
	over = why_over(r->e, h);
	if (over) {
		h->over = over;
		h->live = false;
	}
	h->other_run |= is_other_run(r->e, h);
	if (h->fence && (over || r->e->owner) && !(h->live && is_holder(r->e, h)))
		note_holder(r);
	return 0;
}

/* A session without a name goes on with what one has left that cannot: nobody has the item then,
 * and its actions keep their ids. */
static void end_lease(struct engine_run *r)
{
	struct lease_holder *h = &r->holder;

	JSON_ADD(context_event(r->e->file, "lease"), JSON_TEXT("from", h->owner),
		JSON_INT("fence", h->fence), JSON_TEXT("reason", h->over));
	lease_release(r->e->file, h);
}

/* The client of a session is another process after the session was resumed. */
static void follow_client(const struct engine *e, struct lease_holder *h)
{
	const struct environment *env = e->environment;
	bool ended = h->client && env->client &&
		     env->client_ended(env->data, &e->file->arena, h->client);
	const char *own = ended || e->new_session ? machine_session_own_client(e) : NULL;

	if (own || e->new_session)
		lease_set_client(e->file, h, own);
}

/* The item has no owner, and waits only for children that have not ended. */
static bool is_idle(const struct engine_run *r)
{
	bool waits = false;

	if (!r->e->idle || r->holder.owner)
		return false;
	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (action_answered(r->doc, a))
			continue;
		if (action_kind(a) != ACTION_CHILD)
			return false;
		waits = true;
	}
	return waits;
}

/* Takes or renews the lease. */
static int machine_session_claim(struct engine_run *r, struct error *err)
{
	struct engine *e = r->e;
	struct lease_holder *h = &r->holder;
	int ttl_s = (int)e->workflow->limits.lease_minutes * 60;

	if (machine_session_read_holder(r, err) < 0)
		return -1;
	/* During a wait a step changes nothing, and needs no lease. */
	if (!(r->waits && !h->other_run) && machine_session_admit(e, h, err) < 0)
		return -1;
	if (!e->owner && h->over)
		end_lease(r);
	if (!e->owner || is_finished(e) || r->waits || is_idle(r) ||
		action_open_approval(r->doc, r->outstanding))
		return 0;
	r->holds = true;
	if (h->owner && !is_holder(e, h))
		return take_from_other(r, err);
	if (!h->live)
		lease_take(e->file, h, e->owner, machine_session_own_client(e), ttl_s);
	else
		follow_client(e, h);
	h->ttl_s = ttl_s;
	h->until = e->file->now + ttl_s;
	lease_renew(e->file, h);
	return 0;
}

void engine_release(struct engine_run *r)
{
	const char *what = json_get_str(json_first(r->print), "action");
	bool others = r->holder.live && !is_holder(r->e, &r->holder);

	if (r->holder.owner && what && strcmp(what, "done") == 0 && (!others || is_finished(r->e)))
		lease_release(r->e->file, &r->holder);
}

/* ---- the call ---- */

/* The store's key for the sum of the workflow text that was used last. */
#define WORKFLOW_KEY "workflow"

static struct json_member text_if_valid(const char *key, const char *value)
{
	return JSON_IF(value && !str_utf8_fault(str_of(value)), JSON_TEXT(key, value));
}

int engine_workflow_is_new(const struct engine *e, bool *new, struct error *err)
{
	char sum[DIGEST_TEXT];
	struct str last;

	digest_text(e->workflow->source, sum);
	if (context_get_key(e->file, WORKFLOW_KEY, &last, err) < 0)
		return -1;
	*new = !str_is(last, sum);
	return 0;
}

static const char *workflow_name(const struct engine *e)
{
	return e->workflow_name ? e->workflow_name : path_base(e->workflow->file).p;
}

/* The text is kept each time that it changes. */
static int put_workflow(struct engine_run *r, json *op, struct error *err)
{
	const struct workflow *w = r->e->workflow;
	char sum[DIGEST_TEXT];
	struct str last;

	digest_text(w->source, sum);
	json_put_texts(op, "workflow", workflow_name(r->e), "workflow_sum", sum);
	if (context_get_key(r->e->file, WORKFLOW_KEY, &last, err) < 0)
		return -1;
	if (str_is(last, sum))
		return 0;
	json_put_str(op, "workflow_text", w->source);
	context_put_key(r->e->file, WORKFLOW_KEY, str_of(sum));
	/* A run goes on with a changed one; of a fork or an import nothing else names it. */
	if (!r->e->file->created)
		json_put_texts(context_event(r->e->file, "workflow"), "workflow",
			workflow_name(r->e), "sum", sum);
	return 0;
}

/* The switches of a call, as the journal's note has them. */
static const struct {
	const char *key;
	size_t at; /* in struct engine */
} switches[] = {
	{"returned", offsetof(struct engine, returned)},
	{"returned_alone", offsetof(struct engine, returned_alone)},
	{"take_over", offsetof(struct engine, take_over)},
	{"new_session", offsetof(struct engine, new_session)},
	{"cancel", offsetof(struct engine, cancel)},
	{"accept_workflow", offsetof(struct engine, accept_workflow)},
	{"idle", offsetof(struct engine, idle)},
};

static bool *switch_of(struct engine *e, size_t i)
{
	return (bool *)((char *)e + switches[i].at);
}

/* What this call was given, so that `history verify` can repeat it. */
static int machine_session_note_operation(struct engine_run *r, struct error *err)
{
	const struct engine *e = r->e;
	json *op = JSON_ADD(context_op(e->file, "step"), JSON_TEXT("id", e->id),
		JSON_TEXT("file", path_base(e->file->path).p),
		JSON_BOOL("created", e->file->created),
		text_if_valid("research_skill", e->research_skill),
		text_if_valid("returned_id", e->returned_id), text_if_valid("owner", e->owner),
		JSON_IF(e->retry_cap < UINT_MAX, JSON_INT("retry_cap", e->retry_cap)),
		JSON_IF(e->merge_cap < UINT_MAX, JSON_INT("merge_cap", e->merge_cap)),
		JSON_IF(e->parent, JSON_TEXT("parent", e->parent)),
		JSON_IF(e->spec && e->file->created, JSON_TEXT("spec", e->spec)));

	for (size_t i = 0; i < COUNT(switches); i++)
		if (*switch_of(r->e, i))
			json_put_bool(op, switches[i].key, true);
	if (engine_check_required(r, err) < 0)
		return -1;
	return put_workflow(r, op, err);
}

static int create(struct engine_run *r, struct error *err)
{
	const struct engine *e = r->e;

	if (context_create(e->file, e->id, e->workflow->initial, err) < 0)
		return -1;
	if (e->parent)
		context_set(r->doc, "parent", str_of(e->parent));
	if (e->spec)
		context_put(r->doc, CONTEXT_SPEC, str_of(e->spec));
	return 0;
}

/* What a parent takes for its child may be an item of somebody else. */
static int check_parent(const struct engine *e, struct error *err)
{
	struct str parent = context_get(&e->file->doc, "parent");

	if (!e->parent || str_is(parent, e->parent))
		return 0;
	return error_set(err, ERR_STATE,
		"'%s' is not the work item of action '%s': its document '%s' names %s%.200s%s; "
		"move it away, or give the child in the workflow another name",
		e->id, e->parent, e->file->path, parent.n ? "the parent '" : "no parent",
		parent.n ? parent.p : "", parent.n ? "'" : "");
}

struct engine engine_make(struct context_file *f, const struct workflow *w,
	const struct step *(*step_for)(const struct workflow *w, const char *state),
	const struct environment *environment, const char *id)
{
	return (struct engine){.file = f,
		.workflow = w,
		.step_for = step_for,
		.environment = environment,
		.id = id,
		.research_skill = w->research_skill ? w->research_skill : ENGINE_RESEARCH_SKILL,
		.repo = "",
		.retry_cap = UINT_MAX,
		.merge_cap = UINT_MAX};
}

void engine_read_call(struct engine *e, const json *note)
{
	const char *skill = json_get_str(note, "research_skill");

	e->research_skill = skill ? skill : "";
	e->workflow_name = json_get_str(note, "workflow");
	for (size_t i = 0; i < COUNT(switches); i++)
		*switch_of(e, i) = json_is_true(json_get(note, switches[i].key));
	e->returned_id = json_get_str(note, "returned_id");
	e->owner = json_get_str(note, "owner");
	e->retry_cap = (unsigned)json_get_int(note, "retry_cap", UINT_MAX);
	e->merge_cap = (unsigned)json_get_int(note, "merge_cap", UINT_MAX);
	e->parent = json_get_str(note, "parent");
	e->spec = json_get_str(note, "spec");
}

/* Where actions wait for each other, agents return one by one: the caller names those that have. */
static void take_returned(struct engine_run *r)
{
	const struct declared_state *d = engine_declared(r);
	struct str rest = str_of(r->e->returned_id ? r->e->returned_id : ""), one;
	const json *named;

	while (str_next_item(&rest, &one))
		vec_push_in(&r->arena, &r->named, arena_dup(&r->arena, one));
	vec_sort(&r->named, vec_by_text);
	named = engine_find_named(r);
	if (r->e->returned_checked && d && d->order && named && !action_is_troubleshooter(named))
		r->e->returned_alone = true;
}

int engine_begin(struct engine_run *r, struct error *err)
{
	struct engine *e = r->e;
	struct str owner;

	if ((e->file->created ? create(r, err) : check_parent(e, err)) < 0)
		return -1;
	if (e->file->created)
		json_put_texts(context_event(e->file, "started"), "workflow", workflow_name(e));
	owner = context_get(r->doc, "work_item_id");
	if (!str_is(owner, e->id))
		return error_set(err, ERR_STATE, "'%s' belongs to work item '%s', not to '%s'",
			e->file->path, owner.p, e->id);
	if (e->cancel && !e->parent && is_finished(e))
		return error_set(err, ERR_STATE, "'%s' has ended already: %s", e->id,
			context_get(r->doc, "outcome").n ? context_get(r->doc, "outcome").p
							 : engine_state(r));
	if (action_load_noted(e->file, &r->outstanding, &r->noted, err) < 0)
		return -1;
	take_returned(r);
	if (machine_session_note_operation(r, err) < 0 ||
		place_load(&r->arena, e->file, &r->place, err) < 0)
		return -1;
	if (!e->cancel && !is_finished(e))
		r->wait = wait_read(r->doc);
	r->waits = r->wait.until > e->file->now;
	return machine_session_claim(r, err);
}
