/*
 * replay.c: runs the operations of a history again through the engine's public functions, with an
 * environment and a store that answer from the journal. The store compares each transaction with
 * the recorded commit, which is what the next one sees.
 */
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/graph/manifest.h"
#include "src/machine/agents.h"
#include "src/machine/answer.h"
#include "src/machine/engine.h"
#include "src/store/store.h"
#include "src/sys/path.h"
#include "src/verify/item_store.h"
#include "src/verify/replay.h"
#include "src/workflow/workflow.h"
#include "steps/steps.h"

enum { SHOWN_MAX = 300 };

struct replay {
	struct item_store now; /* what the engine works on; the first member, see replay_of() */
	struct store_methods methods;
	struct store *past;  /* of what it did before; NULL: not open */
	struct arena *arena; /* of the result */
	struct replay_result *result;

	struct history recorded;
	struct store_commit next; /* that the store does not have yet, if `more` is 1 */
	int more;                 /* as store_history_next(); -1: *damage says why */
	struct error damage;

	json *note;            /* of the first commit of the operation */
	const char *op;        /* of the note; "": none */
	int64_t part;          /* of the last commit of the operation that the store has; 0: none */
	size_t n;              /* how many it has */
	size_t taken;          /* inputs of the operation */
	struct str admissions; /* the events of `next` behind the last one that was asked for */

	const char *path; /* of the document when the operation was recorded */
	struct arena workflow_arena;
	struct workflow workflow;
	char workflow_sum[64]; /* empty: none is loaded */
	struct context_file file;
	const char *owner;
	struct error err; /* why the operation failed; code 0: it did not */
};

/* ---- the recorded operations ---- */

static const char *op_of(const json *note)
{
	const char *op = json_get_str(note, "op");

	return op ? op : "";
}

static void read_next(struct replay *r)
{
	struct str line, rest;

	r->more = store_history_next(r->recorded.reader, &r->next, &r->damage);
	if (r->more <= 0)
		return;
	r->result->commits++;
	r->admissions = r->next.events;
	for (rest = r->next.events; str_line(&rest, &line);)
		r->result->events++;
}

/* The first commit of an operation is a part of it whatever its number. */
static bool next_is_part(const struct replay *r)
{
	return r->more > 0 && (!r->n || (json_get_int(r->next.note, "part", 1) == r->part + 1 &&
						strcmp(op_of(r->next.note), r->op) == 0));
}

static json *parse_events(struct str events)
{
	json *list = json_array(), *event;

	while ((event = store_next_event(&events, "")))
		json_push(list, event);
	return list;
}

/* ---- the environment ---- */

/* The next input of the operation; NULL: there is none. */
static const json *replay_peek(const struct replay *r)
{
	return next_is_part(r) ? json_at(json_get(r->next.note, "seen"), r->taken) : NULL;
}

/* The same if it is a `what`, else NULL. Its time is the time from now on. */
static const json *replay_take(void *data, const char *what)
{
	struct replay *r = data;
	const json *seen = replay_peek(r);
	const char *at = json_get_str(seen, "at");
	int64_t t;

	if (!json_str_is(seen, "what", what))
		return NULL;
	r->taken++;
	if (at && clock_parse(at, &t) == 0)
		clock_fix(t);
	return seen;
}

/* Of an input that is in the journal only if it is the first one or has changed. */
static const json *replay_take_value(void *data, const char *what)
{
	return json_get(replay_take(data, what), "value");
}

static const json *replay_need(void *data, const char *what, struct error *err)
{
	const json *seen = replay_take(data, what);

	if (!seen)
		error_set(err, ERR_SYSTEM, "the journal has no result of '%s'", what);
	return seen;
}

static int replay_find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const json *seen = replay_need(data, "specs", err), *list = json_get(seen, "value");

	(void)id;
	*paths = (char **)json_dup_texts(a, list, n);
	return seen ? 0 : -1;
}

static int replay_read_input(void *data, struct arena *a, const char *what, const char *path,
	char **text, const char **digest, struct error *err)
{
	const json *value = replay_take_value(data, what);
	const char *old = json_get_str(value, "text");

	(void)path, (void)err;
	*text = value ? arena_dup(a, str_of(old ? old : "")) : NULL;
	*digest = value ? arena_dup(a, str_of(json_get_str(value, "digest"))) : NULL;
	return 0;
}

static int replay_carry_out(void *data, const struct effect_kind *kind,
	const struct item_place *place, const char *id, bool *done, struct error *err)
{
	const json *seen = replay_need(data, kind->name, err);
	const char *fault = json_get_str(json_get(seen, "value"), "fault");

	(void)place, (void)id;
	if (fault)
		return error_set(err, ERR_CHECK, "%s", fault);
	*done = json_str_is(seen, "value", "yes");
	return seen ? 0 : -1;
}

/* Without a value: it could not be read then. The journal has nothing if no program could. */
static int replay_read_forge(void *data, struct arena *a, const char *what, const char *pr_url,
	char **text, struct error *err)
{
	const json *seen = replay_take(data, what);
	const char *value = json_get_str(seen, "value");

	(void)pr_url;
	*text = value ? arena_dup(a, str_of(value)) : NULL;
	return seen && !value ? error_set(err, ERR_SYSTEM, "the %s could not be read then", what)
			      : 0;
}

/* Only a place that was chosen, or made again, is in the journal. */
static int replay_enter(void *data, struct arena *a, const char *id, struct item_place *place,
	bool *changed, struct error *err)
{
	const struct replay *r = data;
	const json *value = replay_take_value(data, "place");

	(void)id, (void)err;
	*changed = value != NULL;
	if (value)
		place_from_json(a, value, r->file.dir, place);
	return 0;
}

static int marks(
	void *data, struct arena *a, const struct item_place *place, json **out, struct error *err)
{
	const json *value = replay_take_value(data, "marks");

	(void)a, (void)place, (void)err;
	*out = value ? json_copy(value) : json_array();
	return 0;
}

static int replay_take_script(void *data, struct arena *a, const struct item_place *place,
	const char *command, json **out, struct error *err)
{
	const json *value = replay_take_value(data, "script");

	(void)a, (void)place, (void)command, (void)err;
	*out = value ? json_copy(value) : NULL;
	return 0;
}

static int verify_replay_evidence(void *data, struct arena *a, const struct evidence_query *q,
	struct evidence *out, struct error *err)
{
	const json *seen = replay_need(data, "evidence", err);

	(void)q;
	evidence_from_json(a, json_get(seen, "value"), out);
	return seen ? 0 : -1;
}

static int project(
	void *data, struct arena *a, const struct project_query *q, json **facts, struct error *err)
{
	const json *seen = replay_need(data, "project", err);

	(void)a, (void)q;
	*facts = json_copy(json_get(seen, "value"));
	return seen ? 0 : -1;
}

/* Only a script that was running is in the journal. */
static bool replay_still_running(void *data, const struct context_file *f, const char *id)
{
	(void)f;
	return json_str_is(replay_peek(data), "value", id) && replay_take(data, "running");
}

/* Only a session that took the lease noted its client. */
static const char *client(void *data, struct arena *a)
{
	const json *seen = replay_take(data, "client");

	return seen ? arena_dup(a, str_of(json_get_str(seen, "value"))) : NULL;
}

static bool replay_client_ended(void *data, struct arena *a, const char *client)
{
	(void)a, (void)client;
	return json_str_is(replay_peek(data), "what", "client");
}

/* The engine asks in the order of the events. */
static void may_dispatch(void *data, struct arena *a, const struct context_file *f, const char *id,
	const struct step_request *request, struct admission *out)
{
	struct replay *r = data;
	struct str rest = next_is_part(r) ? r->admissions : (struct str){0};
	CLEANUP(json_free) json *e = store_next_event(&rest, "\"" ADMISSION_EVENT "\"");

	(void)f, (void)request;
	if (e && !json_str_is(e, "action", id))
		return;
	r->admissions = rest;
	admission_from_json(a, e, out);
}

static const char *replay_text_or_null(struct replay *r, const json *value, const char *key)
{
	const char *text = json_get_str(value, key);

	return text && *text ? arena_dup(&r->file.arena, str_of(text)) : NULL;
}

/* A session that was live and stepped itself is not in the journal. */
static int holder(void *data, struct context_file *f, struct lease_holder *h, struct error *err)
{
	struct replay *r = data;
	const json *value;

	if (lease_read(f, h, err) < 0)
		return -1;
	h->live = lease_held_by(h, r->owner);
	if ((value = replay_take_value(r, "holder")))
		*h = (struct lease_holder){.owner = replay_text_or_null(r, value, "owner"),
			.from = replay_text_or_null(r, value, "from"),
			.over = replay_text_or_null(r, value, "over"),
			.fence = json_get_int(value, "fence", 0),
			.live = json_get_int(value, "live", 0) == 1};
	return 0;
}

static const struct environment from_journal = {.find_specs = replay_find_specs,
	.read_input = replay_read_input,
	.enter = replay_enter,
	.marks = marks,
	.take_script = replay_take_script,
	.carry_out = replay_carry_out,
	.read_forge = replay_read_forge,
	.evidence = verify_replay_evidence,
	.project = project,
	.still_running = replay_still_running,
	.client = client,
	.client_ended = replay_client_ended,
	.may_dispatch = may_dispatch,
	.holder = holder};

/* ---- the comparison ---- */

static void count_taken(struct replay *r)
{
	struct replay_result *v = r->result;
	const char *op = *r->op ? r->op : "unknown";
	size_t i = 0;

	while (i < v->taken.n && strcmp(v->taken.items[i].op, op) != 0)
		i++;
	if (i == v->taken.n)
		vec_push_in(r->arena, &v->taken,
			(struct replay_taken){arena_dup(r->arena, str_of(op)), 0});
	v->taken.items[i].n += r->n;
}

static const char *show_line(struct replay *r, struct str line)
{
	return arena_printf(r->arena, "%s%s", arena_printable(r->arena, line, SHOWN_MAX),
		line.n > SHOWN_MAX ? "..." : "");
}

static void add_difference(
	struct replay *r, const char *what, struct str recorded, struct str replayed)
{
	struct replay_difference *d = &r->result->first;
	const char *by = json_get_str(r->next.note, "by");
	struct str a, b;

	if (r->result->differ++)
		return;
	*d = (struct replay_difference){.rev = r->next.rev,
		.op = arena_dup(r->arena, str_of(r->op)),
		.what = arena_dup(r->arena, str_of(what))};
	if (by && strcmp(by, DEV_TEAM_VERSION) != 0)
		d->by = arena_dup(r->arena, str_of(by));
	d->line = history_diff_first(recorded, replayed, &a, &b);
	d->recorded = show_line(r, a);
	d->replayed = show_line(r, b);
}

/* `events` NULL: none. Recorded ones begin with `seq` and `rev`. */
static void compare_events(struct replay *r, const json *events)
{
	CLEANUP(buf_release) struct buf recorded = BUF_INIT, replayed = BUF_INIT;
	struct str rest = r->next.events, line;

	while (str_line(&rest, &line)) {
		line = str_sub(line, str_find(line, STR(",\"rev\":")) + 1, line.n);
		line = str_sub(line, str_find(line, STR(",")) + 1, line.n);
		buf_addf(&recorded, "{%.*s\n", (int)line.n, line.p);
	}
	for (const json *e = json_first(events); e; e = json_next(e)) {
		json_print(&replayed, e);
		buf_addc(&replayed, '\n');
	}
	if (!str_eq(buf_str(&recorded), buf_str(&replayed)))
		add_difference(r, "events", buf_str(&recorded), buf_str(&replayed));
}

/* No document names the place, so the keys of both are compared. */
static void compare_place(struct replay *r, const struct store_txn *t)
{
	struct str recorded = {0}, replayed = {0};

	for (size_t i = 0; i < r->next.n_changes; i++)
		if (str_is(r->next.changes[i].kv.key, PLACE_KEY))
			recorded = r->next.changes[i].kv.value;
	for (size_t i = 0; i < t->n_ops; i++)
		if (strcmp(t->ops[i].key, PLACE_KEY) == 0)
			replayed = t->ops[i].value;
	if (!str_eq(recorded, replayed))
		add_difference(r, "key '" PLACE_KEY "'", recorded, replayed);
}

static void compare_commit(struct replay *r, const struct store_txn *t)
{
	const struct store_op *d = NULL;
	const struct str none = {0};

	for (size_t i = 0; i < t->n_ops; i++)
		if (str_starts(str_of(t->ops[i].key), "doc/"))
			d = &t->ops[i];
	if (!d != !r->next.document)
		add_difference(r, d ? "it was saved" : "it was not saved", none, none);
	else if (d && !str_eq(d->value, r->next.text))
		add_difference(r, "document", r->next.text, d->value);
	else
		compare_events(r, t->events);
	compare_place(r, t);
}

/* ---- the store ---- */

static struct replay *replay_of(const struct store *s)
{
	return (struct replay *)s->backend;
}

/* The store gets the next commit, as it was recorded. */
static void follow_commit(struct replay *r)
{
	const struct store_commit *c = &r->next;

	r->now.rev = c->rev;
	for (size_t i = 0; i < c->n_changes; i++)
		if (!str_starts(c->changes[i].kv.key, "doc/"))
			item_store_put(&r->now, c->changes[i].kv.key, c->changes[i].kv.value,
				c->changes[i].deleted ? 0 : c->changes[i].rev);
	if (c->document)
		item_store_put(&r->now, STR("doc/"), c->text, c->removed ? 0 : c->rev);
	r->n++;
	r->part = json_get_int(c->note, "part", 1);
	read_next(r);
}

/* After the last recorded commit the process was killed. */
static enum store_status commit_again(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct replay *r = replay_of(s);

	(void)a;
	if (!next_is_part(r))
		return error_set(err, ERR_SYSTEM, "it was killed"), STORE_DOWN;
	compare_commit(r, t);
	follow_commit(r);
	result->rev = r->now.rev;
	return STORE_OK;
}

/* The recorded commits up to the present one, the last one first. */
static enum store_status replay_read_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	struct replay *r = replay_of(s);
	struct store_range past = *range;
	const struct history_place *place = r->recorded.place;

	past.from = r->now.rev;
	if (!r->past && store_open(&r->past, store_backend(), place->dir, place->name,
				STORE_HISTORY, 0, err) < 0)
		return STORE_DOWN;
	return store_history(r->past, &past, out, err);
}

/* ---- operations: true when it was run, whether it succeeded or not ---- */

static bool replay_open_document(struct replay *r)
{
	return context_open_on(&r->file, &r->now.backend, r->path, CONTEXT_MAY_CREATE, &r->err) ==
	       0;
}

/* What people did is an input; the store adds no events to it. */
static bool check_edit(struct replay *r)
{
	compare_events(r, NULL);
	return false;
}

/* The text is kept with the first operation that used it, which may be from another place. */
static bool load_workflow(struct replay *r, const json *note)
{
	const char *text = json_get_str(note, "workflow_text"),
		   *sum = json_get_str(note, "workflow_sum"),
		   *file = json_get_str(note, "workflow");
	struct error ignored;

	if (!sum || !file || (!text && strcmp(r->workflow_sum, sum) != 0))
		return false;
	if (text) {
		arena_release(&r->workflow_arena);
		r->workflow_sum[0] = '\0';
		if (manifest_workflow_parse(
			    &r->workflow_arena, file, str_of(text), &r->workflow, &ignored) < 0)
			return false;
		(void)snprintf(r->workflow_sum, sizeof(r->workflow_sum), "%s", sum);
	}
	r->workflow.file = file;
	return true;
}

static bool replay_step(struct replay *r)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = r->note;
	struct environment environment = from_journal;
	struct engine e = engine_make(
		&r->file, &r->workflow, steps_find, &environment, json_get_str(note, "id"));

	engine_read_call(&e, note);
	if (!e.id || !load_workflow(r, note))
		return false;
	environment.data = r;
	r->owner = e.owner;
	if (replay_open_document(r))
		(void)engine_step(&e, &out, &r->err);
	return true;
}

/* The text as it was given: the document has it without the blanks at its end. */
static bool replay_answer_of(struct replay *r, struct str document, const json *events,
	struct answer_offer *offer, struct buf *text)
{
	CLEANUP(context_release) struct context after = {0};
	CLEANUP(json_free) json *actions = NULL;
	const json *action;
	int64_t bytes = 0;

	if (action_load(&r->file.doc, &actions, &r->err) < 0 ||
		!(action = action_find(actions, offer->id)) ||
		context_parse_sections(&after, document, &r->err) < 0)
		return false;
	buf_add(text, action_text(&after, action));
	for (const json *e = json_first(events); e; e = json_next(e)) {
		bytes = json_get_int(e, "bytes", bytes);
		if (json_get_str(e, "log"))
			offer->log = json_get_str(e, "log");
	}
	while ((int64_t)text->len < bytes)
		buf_addc(text, '\n');
	offer->text = buf_str(text);
	return text->len > 0;
}

/* The turn of a scripted agent and the run of a harness precede the answer. */
static void note_agent_turns(struct context_file *f, const json *events)
{
	for (const json *e = json_first(events); e; e = json_next(e)) {
		const char *entry = json_get_str(e, "entry"), *action = json_get_str(e, "action"),
			   *type = json_get_str(e, "type");

		if (type && strcmp(type, AGENT_RUN) == 0)
			agents_note_run(f, e);
		else if (entry && action)
			agents_note_turn(f, entry, action);
	}
}

/* The text of a refused answer is only under logs/. */
static bool replay_record(struct replay *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *events = NULL;
	const json *note = r->note;
	struct answer_offer offer = {.owner = json_get_str(note, "owner"),
		.id = json_get_str(note, "action"),
		.word = json_get_str(note, "word"),
		.caller = json_get_str(note, "caller"),
		.person = json_get_str(note, "person"),
		.ran = json_is_true(json_get(note, "ran"))};

	if (!r->next.document || r->next.removed || !offer.id)
		return false;
	if (!replay_open_document(r))
		return true;
	events = parse_events(r->next.events);
	if (!replay_answer_of(r, r->next.text, events, &offer, &text))
		return false;
	note_agent_turns(&r->file, events);
	(void)answer_record(&r->file, &offer, &r->err);
	return true;
}

static bool replay_events(struct replay *r)
{
	CLEANUP(json_free) json *events = NULL;

	if (r->next.document)
		return false;
	if (!replay_open_document(r))
		return true;
	events = parse_events(r->next.events);
	(void)context_op(&r->file, "run");
	note_agent_turns(&r->file, events);
	(void)context_log(&r->file, &r->err);
	return true;
}

/* A long value is only in the document. */
static bool replay_set(struct replay *r)
{
	CLEANUP(context_release) struct context doc = {0};
	const char *key = json_get_str(r->note, "key"), *value = json_get_str(r->note, "value");
	struct error ignored;

	if (!key)
		return false;
	if (!value && context_parse(&doc, "", r->next.text, &ignored) == 0)
		value = context_get(&doc, key).p;
	if (replay_open_document(r))
		(void)context_set_key(&r->file, key, str_of(value), &r->err);
	return true;
}

static const struct replay_operation {
	const char *name; /* NULL: any other */
	bool (*run)(struct replay *r);
	const char *taken; /* for people: why commits of the operation are taken as recorded */
} operations[] = {
	{"step", replay_step, "step"},
	{"record", replay_record, "answers that changed nothing"},
	{"run", replay_events, "run"},
	{"set", replay_set, "set"},
	{"retry", NULL, "begun again after a failure"},
	{"wait", NULL, "waits for a usage limit"},
	{"restore", NULL, "restored to an earlier revision"},
	{"give back", NULL, "leases that a session gave back"},
	{"edit", check_edit, "edited by hand"},
	{"removed", check_edit, "removed by hand"},
	{"import", NULL, "taken over without a journal"},
	{"fork", NULL, "the beginning of a fork"},
	{"request", NULL, "what people asked of a run"},
	{"exec", NULL, "calls of exec that renewed a lease"},
	{"keep", NULL, "leases that a run kept"},
	{"clock set back", NULL, "new ends of leases after the clock was set back"},
	{NULL, NULL, NULL},
};

static const struct replay_operation *find_operation(const char *name)
{
	const struct replay_operation *o = operations;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o;
}

/* The operation began at the time that its note has; an edit by hand has none. */
static bool set_clock(const struct replay *r)
{
	const char *at = json_get_str(r->note, "at"), *ts = r->next.ts;
	int64_t t;

	if (clock_parse(at ? at : ts ? ts : "", &t) < 0)
		return false;
	clock_fix(t);
	return true;
}

/* False: it cannot be run again, and nothing was done. */
static bool run_operation(struct replay *r)
{
	const struct replay_operation *o = find_operation(r->op);

	return json_get_int(r->note, "part", 1) == 1 && set_clock(r) && o->run && o->run(r);
}

static void verify_operation(struct replay *r)
{
	const struct str none = {0};
	bool was_run;

	json_free(&r->note);
	r->note = r->next.note ? json_copy(r->next.note) : NULL;
	r->op = op_of(r->note);
	r->n = r->taken = 0;
	r->err = (struct error){0};
	was_run = run_operation(r);
	context_close(&r->file);
	r->file = (struct context_file){0};
	while (next_is_part(r)) {
		if (was_run)
			add_difference(
				r, r->err.code ? r->err.text : "nothing was saved", none, none);
		follow_commit(r);
	}
	if (was_run)
		r->result->replayed += r->n;
	else
		count_taken(r);
}

static void replay_close(struct replay *r)
{
	json_free(&r->note);
	store_close(&r->past);
	history_close(&r->recorded);
	item_store_release(&r->now);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

int replay_verify(struct arena *a, const struct history_place *place, struct replay_result *v,
	struct error *err)
{
	CLEANUP(replay_close)
	struct replay r = {
		.methods = item_store_methods, .arena = a, .result = v, .path = place->path};

	*v = (struct replay_result){.place = place};
	item_store_init(&r.now);
	r.methods.txn = commit_again;
	r.methods.history = replay_read_history;
	r.now.store.ops = &r.methods;
	if (history_open(&r.recorded, place, &(struct store_range){.texts = true}, err) < 0)
		return -1;
	for (read_next(&r); r.more > 0;)
		verify_operation(&r);
	*err = r.damage;
	return r.more;
}

/* ---- report ---- */

static void report_difference(const struct replay_difference *d, struct buf *out)
{
	buf_addf(out, "revision %lld (%s)", (long long)d->rev, *d->op ? d->op : "unknown");
	if (d->line)
		buf_addf(out, ", line %zu of the %s:\n  recorded: %s\n  replayed: %s\n", d->line,
			d->what, d->recorded, d->replayed);
	else
		buf_addf(out, ": %s\n", d->what);
	if (d->by)
		buf_addf(out, "  it was written by version %s, this is %s\n", d->by,
			DEV_TEAM_VERSION);
}

static json *difference_json(const struct replay_difference *d)
{
	return JSON_OBJECT(JSON_INT("rev", d->rev), JSON_TEXT("op", d->op),
		JSON_TEXT("what", d->what), JSON_IF(d->line, JSON_INT("line", d->line)),
		JSON_IF(d->line, JSON_TEXT("recorded", d->recorded)),
		JSON_IF(d->line, JSON_TEXT("replayed", d->replayed)),
		JSON_IF(d->by, JSON_TEXT("by", d->by)));
}

static void report_json(const struct replay_result *v, struct buf *out)
{
	json *taken = json_object();

	for (size_t i = 0; i < v->taken.n; i++)
		json_put_int(taken, v->taken.items[i].op, (int64_t)v->taken.items[i].n);
	json_print_line(
		out, JSON_OBJECT(JSON_TEXT("file", v->place->path), JSON_BOOL("same", !v->differ),
			     JSON_INT("commits", v->commits), JSON_INT("events", v->events),
			     JSON_INT("replayed", v->replayed), JSON_VALUE("taken", taken),
			     JSON_INT("differ", v->differ),
			     JSON_VALUE("first",
				     v->differ ? difference_json(&v->first) : json_object())));
}

void replay_report(const struct replay_result *v, bool as_json, struct buf *out)
{
	if (as_json) {
		report_json(v, out);
		return;
	}
	buf_addf(out, "%s: %zu commits, %zu events; %zu replayed, %zu differ\n", v->place->path,
		v->commits, v->events, v->replayed, v->differ);
	for (size_t i = 0; i < v->taken.n; i++) {
		const struct replay_taken *t = &v->taken.items[i];
		const char *text = find_operation(t->op)->taken;

		buf_addf(out, "taken as they are: %zu, %s\n", t->n, text ? text : t->op);
	}
	if (v->differ)
		report_difference(&v->first, out);
}
