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
#include "src/verify/item_store.h"
#include "src/verify/replay.h"
#include "src/workflow/workflow.h"
#include "steps/steps.h"

enum { SHOWN_MAX = 300 };

struct replay {
	struct item_store now; /* what the engine works on; the first member */
	struct store_methods methods;
	struct store *past; /* of what it did before */

	struct history recorded;
	struct store_commit next; /* that the store does not have yet, if `more` is 1 */
	int more;                 /* as store_history_next(); -1: *damage says why */
	struct error damage;
	int64_t commits, events; /* read up to `next` */

	json *note;            /* of the first commit of the operation */
	const char *op;        /* of the note */
	int64_t part;          /* of the operation's commits that the store has, the last one */
	size_t taken;          /* inputs of the operation */
	struct str admissions; /* the events of `next` behind the last one that was asked for */
	struct context_file file;
	const char *owner;
	struct error err; /* why the operation failed; code 0: it did not */

	struct arena workflow_arena;
	struct workflow workflow; /* without states: none is loaded */

	int64_t replayed, differ; /* commits */
	json *as_recorded;        /* their number, by operation */
	json *first;              /* difference; empty: there is none */
};

/* ---- the recorded operations ---- */

static const char *op_of(const json *note)
{
	const char *op = json_get_str(note, "op");

	return op ? op : "unknown";
}

static void read_next(struct replay *r)
{
	struct str line, rest;

	r->more = store_history_next(r->recorded.reader, &r->next, &r->damage);
	if (r->more <= 0)
		return;
	r->commits++;
	r->admissions = r->next.events;
	for (rest = r->next.events; str_line(&rest, &line);)
		r->events++;
}

static bool next_is_part(const struct replay *r)
{
	return r->more > 0 && json_get_int(r->next.note, "part", 1) == r->part + 1 &&
	       strcmp(op_of(r->next.note), r->op) == 0;
}

static bool fix_clock(const char *at)
{
	int64_t t;

	if (!at || clock_parse(at, &t) < 0)
		return false;
	clock_fix(t);
	return true;
}

/* ---- the environment ---- */

/* The next input of the operation; NULL: there is none. */
static const json *replay_peek(const struct replay *r)
{
	return next_is_part(r) ? json_at(json_get(r->next.note, "seen"), r->taken) : NULL;
}

/* The same if it is a `what`, else NULL. Its time is the time from now on. */
static const json *replay_take(struct replay *r, const char *what)
{
	const json *seen = replay_peek(r);

	if (!json_str_is(seen, "what", what))
		return NULL;
	r->taken++;
	(void)fix_clock(json_get_str(seen, "at"));
	return seen;
}

/* Without a value: it could not be read then. An answer that is as before, or that no program could
 * give, is not in the journal. */
static int replay_ask(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	const json *seen = replay_take(data, input->what), *value = json_get(seen, "value");
	const char *fault = json_get_str(value, "fault");

	(void)a;
	if (seen && !value)
		return error_set(err, ERR_SYSTEM, "the %s could not be read then", input->what);
	if (!seen && input->always)
		return error_set(err, ERR_SYSTEM, "the journal has no result of '%s'", input->what);
	*answer = value ? json_copy(value) : NULL;
	return fault ? error_set(err, ERR_CHECK, "%s", fault) : 0;
}

/* Only a script that was running is in the journal. */
static bool replay_still_running(void *data, const struct context_file *f, const char *id)
{
	(void)f;
	return json_str_is(replay_peek(data), "value", id) && replay_take(data, "running");
}

/* Only a session that took the lease noted its client. */
static const char *replay_client(void *data, struct arena *a)
{
	return json_dup(a, replay_take(data, "client"), "value");
}

static bool replay_client_ended(void *data, struct arena *a, const char *client)
{
	(void)a, (void)client;
	return json_str_is(replay_peek(data), "what", "client");
}

/* The engine asks in the order of the events. */
static void replay_may_dispatch(void *data, struct arena *a, const struct context_file *f,
	const char *id, const struct step_request *request, struct admission *out)
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

/* What the clock and the processes of that time said of the session that the store names. One that
 * was live and stepped itself is not in the journal. */
static int replay_holder(
	void *data, struct context_file *f, struct lease_holder *h, struct error *err)
{
	const struct replay *r = data;
	const json *value = json_get(replay_take(data, "holder"), "value");

	if (lease_read(f, h, err) < 0)
		return -1;
	h->live = value ? json_get_int(value, "live", 0) == 1 : lease_held_by(h, r->owner);
	h->other_run = json_get_int(value, "other_run", 0) == 1;
	h->over = json_dup(&f->arena, value, "over");
	h->client = value ? NULL : h->client;
	return 0;
}

static const struct environment from_journal = {.find_specs = replay_ask,
	.read_input = replay_ask,
	.enter = replay_ask,
	.marks = replay_ask,
	.take_script = replay_ask,
	.carry_out = replay_ask,
	.read_forge = replay_ask,
	.evidence = replay_ask,
	.project = replay_ask,
	.still_running = replay_still_running,
	.client = replay_client,
	.client_ended = replay_client_ended,
	.may_dispatch = replay_may_dispatch,
	.holder = replay_holder};

/* ---- the comparison ---- */

static struct json_member shown(struct arena *a, const char *key, struct str line)
{
	return JSON_TEXT(key, arena_printf(a, "%s%s", arena_printable(a, line, SHOWN_MAX),
				      line.n > SHOWN_MAX ? "..." : ""));
}

/* `line` 0: nothing was saved, and `what` says why. */
static void note_difference(
	struct replay *r, const char *what, size_t line, struct str recorded, struct str replayed)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *by = json_get_str(r->next.note, "by");

	if (r->differ++)
		return;
	JSON_ADD(r->first, JSON_INT("rev", r->next.rev), JSON_TEXT("op", r->op),
		JSON_TEXT("what", what), JSON_IF(line, JSON_INT("line", line)),
		JSON_IF(line, shown(&a, "recorded", recorded)),
		JSON_IF(line, shown(&a, "replayed", replayed)),
		JSON_IF(by && strcmp(by, DEV_TEAM_VERSION) != 0, JSON_TEXT("by", by)));
}

static bool differs(struct replay *r, const char *what, struct str recorded, struct str replayed)
{
	struct str a, b;
	size_t line;

	if (str_eq(recorded, replayed))
		return false;
	line = history_diff_first(recorded, replayed, &a, &b);
	note_difference(r, what, line, a, b);
	return true;
}

/* ---- the store ---- */

/* The store gets the next commit, as it was recorded. */
static void follow_commit(struct replay *r)
{
	const struct store_commit *c = &r->next;

	r->now.rev = c->rev;
	r->now.seq = r->events;
	r->part++;
	for (size_t i = 0; i < c->n_changes; i++)
		if (!str_starts(c->changes[i].kv.key, ITEM_DOCUMENT))
			item_store_put(&r->now, c->changes[i].kv.key, c->changes[i].kv.value,
				c->changes[i].deleted ? 0 : c->changes[i].rev);
	if (c->document)
		item_store_put(&r->now, STR(ITEM_DOCUMENT), c->text, c->removed ? 0 : c->rev);
}

/* The value of a key, or of the document, once the transaction is committed. */
static struct str value_after(
	struct replay *r, struct arena *a, const struct store_txn *t, const char *key)
{
	struct store_kv kv;
	struct error ignored;

	for (size_t i = 0; i < t->n_ops; i++)
		if (str_starts(str_of(t->ops[i].key), key))
			return t->ops[i].value;
	(void)item_store_methods.get(&r->now.store, a, key, &kv, &ignored);
	return kv.value;
}

/* Commits what was recorded instead. No document names the place, so its key is compared too. After
 * the last recorded commit the process was killed. */
static enum store_status commit_again(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	const struct store_txn events = {.events = t->events}, none = {0};
	struct replay *r = (struct replay *)s->backend;
	struct str document = value_after(r, a, t, ITEM_DOCUMENT),
		   place = value_after(r, a, t, PLACE_KEY);

	if (!next_is_part(r))
		return error_set(err, ERR_SYSTEM, "it was killed"), STORE_DOWN;
	buf_clear(&r->now.events);
	r->now.rev = r->next.rev - 1; /* a store of many documents leaves revisions out */
	(void)item_store_methods.txn(s, a, &events, result, err);
	follow_commit(r);
	(void)(differs(r, "document", value_after(r, a, &none, ITEM_DOCUMENT), document) ||
		differs(r, "events", r->next.events, buf_str(&r->now.events)) ||
		differs(r, "key '" PLACE_KEY "'", value_after(r, a, &none, PLACE_KEY), place));
	r->replayed++;
	read_next(r);
	result->rev = r->now.rev;
	return STORE_OK;
}

/* The recorded commits up to the present one, the last one first. */
static enum store_status replay_read_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	const struct replay *r = (const struct replay *)s->backend;
	struct store_range past = *range;

	past.from = r->now.rev;
	return store_history(r->past, &past, out, err);
}

/* ---- operations: true when it was run, whether it succeeded or not ---- */

/* The text is kept with the first operation that used it, which may be from another place. */
static bool load_workflow(struct replay *r)
{
	const char *text = json_get_str(r->note, "workflow_text"),
		   *file = json_get_str(r->note, "workflow");
	struct error ignored;

	if (text) {
		arena_release(&r->workflow_arena);
		if (!file || manifest_workflow_parse(&r->workflow_arena, file, str_of(text),
				     &r->workflow, &ignored) < 0)
			r->workflow.n_states = 0;
	}
	r->workflow.file = file;
	return file && r->workflow.n_states;
}

static bool replay_step(struct replay *r)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct environment environment = from_journal;
	bool loaded = load_workflow(r);
	struct engine e = engine_make(
		&r->file, &r->workflow, steps_find, &environment, json_get_str(r->note, "id"));

	engine_read_call(&e, r->note);
	if (!e.id || !loaded)
		return false;
	environment.data = r;
	r->owner = e.owner;
	(void)engine_step(&e, &out, &r->err);
	return true;
}

/* What a run noted of its agents is an input, before the answer. Returns the length of that. */
static int64_t replay_answer_events(struct replay *r, struct answer_offer *offer)
{
	struct str rest = r->next.events;
	int64_t bytes = 0;

	for (json *e; (e = store_next_event(&rest, "")); json_free(&e)) {
		const char *entry = json_get_str(e, "entry"), *action = json_get_str(e, "action"),
			   *log = json_dup(&r->file.arena, e, "log");

		bytes = json_get_int(e, "bytes", bytes);
		offer->log = log ? log : offer->log;
		if (json_str_is(e, "type", AGENT_RUN))
			agents_note_run(&r->file, e);
		else if (entry && action)
			agents_note_turn(&r->file, entry, action);
	}
	return bytes;
}

/* The text as it was given: the document has it without the blanks at its end. That of a refused
 * answer is only under logs/. */
static bool replay_record(struct replay *r)
{
	CLEANUP(context_release) struct context after = {0};
	CLEANUP(json_free) json *actions = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json *note = r->note, *action;
	struct answer_offer offer = {.owner = json_get_str(note, "owner"),
		.id = json_get_str(note, "action"),
		.word = json_get_str(note, "word"),
		.caller = json_get_str(note, "caller"),
		.person = json_get_str(note, "person"),
		.ms = json_get_int(note, "ms", 0),
		.ran = json_is_true(json_get(note, "ran"))};
	struct error ignored;
	int64_t bytes;

	if (!r->next.text.n || !offer.id || action_load(&r->file.doc, &actions, &ignored) < 0 ||
		!(action = action_find(actions, offer.id)) ||
		context_parse_sections(&after, r->next.text, &ignored) < 0)
		return false;
	bytes = replay_answer_events(r, &offer);
	for (buf_add(&text, action_text(&after, action)); (int64_t)text.len < bytes;)
		buf_addc(&text, '\n');
	offer.text = buf_str(&text);
	if (offer.text.n)
		(void)answer_record(&r->file, &offer, &r->err);
	return offer.text.n > 0;
}

static bool replay_run(struct replay *r)
{
	(void)context_op(&r->file, "run");
	(void)replay_answer_events(r, &(struct answer_offer){0});
	if (!r->next.document)
		(void)context_log(&r->file, &r->err);
	return !r->next.document;
}

/* A long value is only in the document. */
static bool replay_set(struct replay *r)
{
	CLEANUP(context_release) struct context doc = {0};
	const char *key = json_get_str(r->note, "key"), *value = json_get_str(r->note, "value");
	struct error ignored;

	if (key && !value && context_parse(&doc, "", r->next.text, &ignored) == 0)
		value = context_get(&doc, key).p;
	if (key)
		(void)context_set_key(&r->file, key, str_of(value), &r->err);
	return key != NULL;
}

/* The operation began at the time that its note has. False: it cannot be run again, and nothing was
 * done. */
static bool run_operation(struct replay *r)
{
	static const struct {
		const char *op;
		bool (*run)(struct replay *r);
	} operations[] = {{"step", replay_step}, {"record", replay_record}, {"run", replay_run},
		{"set", replay_set}};
	size_t i = 0;

	while (i < COUNT(operations) && strcmp(operations[i].op, r->op) != 0)
		i++;
	if (i == COUNT(operations) || r->part || !fix_clock(json_get_str(r->note, "at")))
		return false;
	return context_open_on(&r->file, &r->now.backend, r->recorded.place->path,
		       CONTEXT_MAY_CREATE, &r->err) < 0 ||
	       operations[i].run(r);
}

static void verify_operation(struct replay *r)
{
	const struct str none = {0};
	bool was_run;

	json_free(&r->note);
	r->note = r->next.note ? json_copy(r->next.note) : NULL;
	r->op = op_of(r->note);
	r->part = json_get_int(r->note, "part", 1) - 1;
	r->taken = 0;
	r->err = (struct error){0};
	was_run = run_operation(r);
	context_close(&r->file);
	r->file = (struct context_file){0};
	for (; next_is_part(r); follow_commit(r), read_next(r)) {
		if (was_run) {
			note_difference(
				r, r->err.code ? r->err.text : "nothing was saved", 0, none, none);
			r->replayed++;
			continue;
		}
		if (strcmp(r->op, "edit") == 0 || strcmp(r->op, "removed") == 0)
			(void)differs(r, "events", r->next.events, none);
		JSON_SET(r->as_recorded,
			JSON_INT(r->op, json_get_int(r->as_recorded, r->op, 0) + 1));
	}
}

static void replay_close(struct replay *r)
{
	json_free(&r->note);
	json_free(&r->as_recorded);
	json_free(&r->first);
	store_close(&r->past);
	history_close(&r->recorded);
	item_store_release(&r->now);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

int replay_verify(const struct history_place *place, json **result, struct error *err)
{
	CLEANUP(replay_close)
	struct replay r = {.methods = item_store_methods,
		.as_recorded = json_object(),
		.first = json_object()};

	item_store_init(&r.now);
	r.methods.txn = commit_again;
	r.methods.history = replay_read_history;
	r.now.store.ops = &r.methods;
	if (history_open(&r.recorded, place, &(struct store_range){.texts = true}, err) < 0 ||
		store_open(&r.past, store_backend(), place->dir, place->name, STORE_HISTORY, 0,
			err) < 0)
		return -1;
	for (read_next(&r); r.more > 0;)
		verify_operation(&r);
	*err = r.damage;
	if (r.more == 0)
		*result = JSON_OBJECT(JSON_TEXT("file", place->path), JSON_BOOL("same", !r.differ),
			JSON_INT("commits", r.commits), JSON_INT("events", r.events),
			JSON_INT("replayed", r.replayed),
			JSON_VALUE("taken", json_copy(r.as_recorded)), JSON_INT("differ", r.differ),
			JSON_VALUE("first", json_copy(r.first)));
	return r.more;
}
