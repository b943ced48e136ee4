/* replay.c: runs the operations of a history again and compares what they save. */
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/machine/agents.h"
#include "src/machine/answer.h"
#include "src/machine/engine.h"
#include "src/machine/wait.h"
#include "src/store/store.h"
#include "src/sys/path.h"
#include "src/verify/replay.h"
#include "src/verify/simulator.h"
#include "src/workflow/workflow.h"
#include "steps/steps.h"

enum { SHOWN_MAX = 300 };

struct recorded_commit {
	struct store_commit saved; /* the texts are in the arena */
	struct arena arena;
	json *note;
	const char *op; /* of the note; "": none */
	int64_t part;   /* 1: the first commit of an operation */
};

struct replay {
	struct arena *arena; /* of the result */
	struct replay_result *result;

	/* The recorded side. */
	struct history recorded;
	struct recorded_commit next; /* the commit after the operation, if has_next */
	bool has_next;
	VEC(struct recorded_commit) commits; /* of the operation */

	/* The disk in memory. Before an operation it has the recorded document and keys. */
	struct disk *disk;
	struct buf document; /* before the operation; empty: none */
	bool there;
	size_t end;               /* of the journal before the operation */
	struct history_place now; /* of the document when the operation was recorded */
	int64_t at;               /* the last revision of its store before the operation */
	struct arena paths, workflow_arena;
	struct workflow workflow;
	char workflow_sum[64];    /* empty: none is loaded */
	struct context_file file; /* stays open from one operation to the next */
	struct error err;         /* why the last operation failed; code 0: it did not */
	struct error damage;      /* a recorded change gives no text; code 0: none */
};

/* ---- the recorded operations ---- */

/* Copies what the next read would drop. */
static void keep_commit(struct recorded_commit *to, const struct store_commit *c)
{
	struct arena *a = &to->arena;
	struct store_change *changes;
	const char *op;

	*to = (struct recorded_commit){.saved = *c, .note = c->note ? json_copy(c->note) : NULL};
	op = json_get_str(to->note, "op");
	to->op = op ? op : "";
	to->part = json_get_int(to->note, "part", 1);
	to->saved.note = to->note;
	to->saved.ts = arena_dup(a, str_of(c->ts));
	to->saved.sum = arena_dup(a, str_of(c->sum));
	to->saved.digest = c->digest ? arena_dup(a, str_of(c->digest)) : "";
	to->saved.document = c->document ? arena_dup(a, str_of(c->document)) : NULL;
	to->saved.events = arena_str(a, c->events);
	to->saved.text = arena_str(a, c->text);
	to->saved.change = arena_str(a, c->change);
	to->saved.changes = changes = arena_alloc(a, (c->n_changes + 1) * sizeof(*changes));
	for (size_t i = 0; i < c->n_changes; i++) {
		changes[i] = c->changes[i];
		changes[i].kv.key = arena_str(a, c->changes[i].kv.key);
		changes[i].kv.value = arena_str(a, c->changes[i].kv.value);
	}
}

static void forget_commit(struct recorded_commit *c)
{
	json_free(&c->note);
	arena_release(&c->arena);
}

/* As store_history_next(). */
static int read_next(struct replay *r, struct error *err)
{
	struct store_commit c;
	int rc = store_history_next(r->recorded.reader, &c, err);
	struct str line;

	r->has_next = rc > 0;
	if (!r->has_next)
		return rc;
	keep_commit(&r->next, &c);
	r->result->commits++;
	for (struct str rest = c.events; str_line(&rest, &line);)
		r->result->events++;
	return 1;
}

static const struct recorded_commit *last_commit(const struct replay *r)
{
	return &r->commits.items[r->commits.n - 1];
}

static void forget_operation(struct replay *r)
{
	while (r->commits.n)
		forget_commit(&r->commits.items[--r->commits.n]);
}

/* 1; 0 at the end of the journal; -1. */
static int next_operation(struct replay *r, struct error *err)
{
	int rc;

	forget_operation(r);
	if (!r->has_next)
		return 0;
	do
		vec_push(&r->commits, r->next);
	while ((rc = read_next(r, err)) > 0 && r->next.part == last_commit(r)->part + 1 &&
		strcmp(r->next.op, last_commit(r)->op) == 0);
	return rc < 0 ? -1 : 1;
}

static json *parse_events(struct str events)
{
	json *list = json_array(), *event;

	while ((event = store_next_event(&events, "")))
		json_push(list, event);
	return list;
}

/* ---- the environment ---- */

static const json *next_input(struct context_file *f, const char *what, struct error *err)
{
	const json *seen = context_replayed(f, what);

	if (!seen)
		error_set(err, ERR_SYSTEM, "the journal has no result of '%s'", what);
	return seen;
}

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const json *seen = next_input(data, "specs", err);
	const json *list = json_get(seen, "value");

	(void)id;
	if (!seen)
		return -1;
	*n = 0;
	*paths = arena_alloc(a, (json_len(list) + 1) * sizeof(**paths));
	for (const json *i = json_first(list); i; i = json_next(i))
		if (json_text(i))
			(*paths)[(*n)++] = arena_dup(a, str_of(json_text(i)));
	return 0;
}

/* The value of the next input if that is `what`: only what was taken for the first time, or has
 * changed, is in the journal. */
static const json *taken(void *data, const char *what)
{
	const struct context_file *f = data;
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;

	return json_str_is(seen, "what", what) && context_replayed(data, what)
		       ? json_get(seen, "value")
		       : NULL;
}

static int read_input(void *data, struct arena *a, const char *what, const char *path, char **text,
	const char **digest, struct error *err)
{
	const json *value = taken(data, what);
	const char *old = json_get_str(value, "text");

	(void)path, (void)err;
	*text = value ? arena_dup(a, str_of(old ? old : "")) : NULL;
	*digest = value ? arena_dup(a, str_of(json_get_str(value, "digest"))) : NULL;
	return 0;
}

static int carry_out(void *data, const struct effect_kind *kind, const struct item_place *place,
	const char *id, bool *done, struct error *err)
{
	const json *seen = next_input(data, kind->name, err);
	const char *fault;

	(void)place, (void)id;
	fault = json_get_str(json_get(seen, "value"), "fault");
	if (fault)
		return error_set(err, ERR_CHECK, "%s", fault);
	*done = json_str_is(seen, "value", "yes");
	return seen ? 0 : -1;
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const json *seen = next_input(data, "checks", err);
	const char *value = json_get_str(seen, "value");

	(void)pr_url;
	if (seen && !value)
		return error_set(err, ERR_SYSTEM, "the checks could not be read then");
	if (value)
		*text = arena_dup(a, str_of(value));
	return value ? 0 : -1;
}

/* The journal has no comments if no program could read them. */
static int open_comments(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const struct context_file *f = data;
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;
	const char *value = json_get_str(seen, "value");

	(void)pr_url;
	*text = NULL;
	if (!json_str_is(seen, "what", "comments") || !context_replayed(data, "comments"))
		return 0;
	if (!value)
		return error_set(err, ERR_SYSTEM, "the comments could not be read then");
	*text = arena_dup(a, str_of(value));
	return 0;
}

/* Only a place that was chosen, or made again, is in the journal. */
static int enter(void *data, struct arena *a, const char *id, struct item_place *place,
	bool *changed, struct error *err)
{
	const struct context_file *f = data;
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;

	(void)id, (void)err;
	*changed = json_str_is(seen, "what", "place") && context_replayed(data, "place");
	if (*changed)
		place_from_json(a, json_get(seen, "value"), place);
	return 0;
}

/* Without changes there is nothing in the journal. */
static int marks(
	void *data, struct arena *a, const struct item_place *place, json **out, struct error *err)
{
	const struct context_file *f = data;
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;
	bool some = json_str_is(seen, "what", "marks") && context_replayed(data, "marks");

	(void)a, (void)place, (void)err;
	*out = some ? json_copy(json_get(seen, "value")) : json_array();
	return 0;
}

static int take_script(void *data, struct arena *a, const struct item_place *place,
	const char *command, json **out, struct error *err)
{
	const json *value = taken(data, "script");

	(void)a, (void)place, (void)command, (void)err;
	*out = value ? json_copy(value) : NULL;
	return 0;
}

static int evidence(void *data, struct arena *a, const struct evidence_query *q,
	struct evidence *out, struct error *err)
{
	const json *seen = next_input(data, "evidence", err);

	(void)q;
	evidence_from_json(a, json_get(seen, "value"), out);
	return seen ? 0 : -1;
}

/* Only a script that was running is in the journal. */
static bool still_running(void *data, const struct context_file *f, const char *id)
{
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;

	return json_str_is(seen, "what", "running") && json_str_is(seen, "value", id) &&
	       context_replayed(data, "running");
}

/* Only a session that took the lease noted its client. */
static const char *client(void *data, struct arena *a)
{
	const struct context_file *f = data;
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;
	const char *value =
		json_str_is(seen, "what", "client") ? json_get_str(seen, "value") : NULL;

	return value && context_replayed(data, "client") ? arena_dup(a, str_of(value)) : NULL;
}

/* Where the journal has another client, session.c takes it from client(). */
static bool client_ended(void *data, struct arena *a, const char *client)
{
	(void)data, (void)a, (void)client;
	return false;
}

/* ---- the disk ---- */

static void close_document(struct replay *r)
{
	context_close(&r->file);
	r->file = (struct context_file){0};
}

/* The recorded document after the first `n` commits of the operation. */
static struct str recorded_document(struct replay *r, size_t n)
{
	struct str text = buf_str(&r->document);
	struct error err;

	for (size_t i = 0; i < n; i++) {
		struct recorded_commit *c = &r->commits.items[i];
		CLEANUP(buf_release) struct buf after = BUF_INIT;

		if (c->saved.change.n) {
			buf_add(&after, text);
			if (store_history_text(r->recorded.reader, &c->saved, &after, &err) == 0)
				c->saved.text = arena_str(&c->arena, buf_str(&after));
			else
				error_set(&r->damage, err.code, "revision %lld in '%s': %s",
					(long long)c->saved.rev, r->result->place->journal,
					err.text);
			c->saved.change.n = 0;
		}
		text = c->saved.document ? c->saved.text : text;
	}
	return text;
}

/* The store on the disk: the open one, or *own. NULL: there is none. */
static struct store *store_of(struct replay *r, enum store_mode mode, struct store **own)
{
	struct error ignored;

	if (r->file.store)
		return r->file.store;
	return store_open(own, store_files(r->disk), r->now.dir, r->now.name, mode, 0, &ignored) ==
			       0
		       ? *own
		       : NULL;
}

/* What adopt() goes back to. */
static void keep_disk(struct replay *r)
{
	const struct buf *document = simulator_disk_text(r->disk, r->now.path),
			 *journal = simulator_disk_text(r->disk, r->now.journal);

	r->there = document != NULL;
	r->end = journal ? journal->len : 0;
	buf_clear(&r->document);
	if (document)
		buf_add(&r->document, buf_str(document));
}

static void restore_disk(struct replay *r)
{
	struct buf *journal = simulator_disk_text(r->disk, r->now.journal);

	if (r->end)
		buf_cut(journal, r->end);
	else
		simulator_disk_remove(r->disk, r->now.journal);
	if (r->there)
		simulator_disk_put(r->disk, r->now.path, buf_str(&r->document));
	else
		simulator_disk_remove(r->disk, r->now.path);
}

/* Commits to the store on the disk what was recorded. */
static void commit_recorded(struct replay *r, struct store *s, const struct store_commit *c)
{
	CLEANUP(arena_release) struct arena a = {0};
	VEC(struct store_op) ops = {0};
	struct store_txn t = {.note = c->note};
	struct store_result result;
	struct error ignored;
	int64_t at;

	for (size_t i = 0; i < c->n_changes; i++) {
		const struct store_kv *kv = &c->changes[i].kv;
		struct store_op op = {.what = c->changes[i].deleted ? STORE_DEL : STORE_PUT,
			.key = arena_dup(&a, kv->key),
			.value = kv->value,
			.ttl_s = kv->ttl_s};

		if (str_starts(kv->key, "doc/")) {
			op.key = arena_printf(&a, "doc/%s", path_base(r->now.path).p);
			op.value = c->text;
		}
		vec_push_in(&a, &ops, op);
	}
	t.ops = ops.items;
	t.n_ops = ops.n;
	if (clock_parse(c->ts, &at) == 0)
		clock_fix(at);
	(void)store_txn(s, &a, &t, &result, &ignored);
}

/* Puts the disk into the recorded state after the operation. */
static void adopt(struct replay *r)
{
	CLEANUP(store_close) struct store *s = NULL;

	close_document(r);
	restore_disk(r);
	if (!store_of(r, STORE_WRITE, &s))
		return;
	(void)recorded_document(r, r->commits.n);
	for (size_t i = 0; i < r->commits.n; i++)
		commit_recorded(r, s, &r->commits.items[i].saved);
	r->at = store_revision(s);
}

/* Where the document was: a step notes its path; other operations only the name. */
static const char *path_of(struct replay *r, const struct recorded_commit *c)
{
	bool is_step = strcmp(c->op, "step") == 0;
	const char *file = is_step ? json_get_str(c->saved.note, "file") : NULL,
		   *key = is_step ? NULL : c->saved.document;
	struct str base = path_base(r->now.path);

	if (file || !key || !str_starts(str_of(key), "doc/") || str_is(base, key + 4))
		return file ? file : r->now.path;
	return arena_printf(&r->paths, "%.*s%s", (int)(base.p - r->now.path), r->now.path, key + 4);
}

/* Moves the document on the disk if it was moved or renamed since the last operation. */
static void follow(struct replay *r)
{
	struct history_place old = r->now;
	const char *path = path_of(r, &r->commits.items[0]);
	struct error ignored;

	if (strcmp(path, old.path) == 0)
		return;
	close_document(r);
	history_set_place(&r->paths, path, &r->now);
	(void)r->disk->ops->rename(r->disk, old.path, r->now.path, &ignored);
	(void)r->disk->ops->rename(r->disk, old.journal, r->now.journal, &ignored);
}

/* ---- operations: true when it was run, whether it succeeded or not ---- */

static bool open_document(struct replay *r)
{
	struct context_file *f = &r->file;
	int rc = f->store ? context_reopen(f, &r->err)
			  : context_open_on(f, store_files(r->disk), r->now.path,
				    CONTEXT_MAY_CREATE, &r->err);

	f->replaying = true;
	f->replay = json_get(last_commit(r)->saved.note, "seen");
	return rc == 0;
}

/* What people did: the next open finds it. */
static bool replay_edit(struct replay *r, const struct recorded_commit *c)
{
	if (c->saved.removed)
		simulator_disk_remove(r->disk, r->now.path);
	else
		simulator_disk_put(r->disk, r->now.path, recorded_document(r, 1));
	(void)open_document(r);
	return true;
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
		if (workflow_parse(&r->workflow_arena, file, str_of(text), &r->workflow, &ignored) <
			0)
			return false;
		(void)snprintf(r->workflow_sum, sizeof(r->workflow_sum), "%s", sum);
	}
	r->workflow.file = file;
	return true;
}

static bool replay_step(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = c->saved.note;
	const char *skill = json_get_str(note, "research_skill"),
		   *repo = json_get_str(note, "repo");
	struct environment environment = {.find_specs = find_specs,
		.read_input = read_input,
		.enter = enter,
		.marks = marks,
		.take_script = take_script,
		.carry_out = carry_out,
		.failing_checks = failing_checks,
		.open_comments = open_comments,
		.evidence = evidence,
		.still_running = still_running,
		.client = client,
		.client_ended = client_ended,
		.data = &r->file};
	struct engine e = {.file = &r->file,
		.workflow = &r->workflow,
		.step_for = steps_find,
		.environment = &environment,
		.id = json_get_str(note, "id"),
		.research_skill = skill ? skill : "",
		.repo = repo ? repo : "",
		.returned = json_is_true(json_get(note, "returned")),
		.returned_id = json_get_str(note, "returned_id"),
		.returned_alone = json_is_true(json_get(note, "returned_alone")),
		.owner = json_get_str(note, "owner"),
		.take_over = json_is_true(json_get(note, "take_over")),
		.new_session = json_is_true(json_get(note, "new_session")),
		.cancel = json_is_true(json_get(note, "cancel")),
		.accept_workflow = json_is_true(json_get(note, "accept_workflow"))};

	if (!e.id || !load_workflow(r, note))
		return false;
	if (open_document(r))
		(void)engine_step(&e, &out, &r->err);
	return true;
}

/* The text as it was given: the document has it without the blanks at its end. */
static bool answer_of(struct replay *r, struct str document, const json *events,
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
static bool replay_record(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *events = NULL;
	const json *note = c->saved.note;
	struct answer_offer offer = {.owner = json_get_str(note, "owner"),
		.id = json_get_str(note, "action"),
		.word = json_get_str(note, "word"),
		.caller = json_get_str(note, "caller"),
		.person = json_get_str(note, "person"),
		.ran = json_is_true(json_get(note, "ran"))};

	if (!c->saved.document || c->saved.removed || !offer.id)
		return false;
	if (!open_document(r))
		return true;
	events = parse_events(c->saved.events);
	if (!answer_of(r, recorded_document(r, 1), events, &offer, &text))
		return false;
	note_agent_turns(&r->file, events);
	(void)answer_record(&r->file, &offer, &r->err);
	return true;
}

static bool replay_events(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(json_free) json *events = NULL;

	if (c->saved.document || !open_document(r))
		return !c->saved.document;
	events = parse_events(c->saved.events);
	(void)context_op(&r->file, "run");
	note_agent_turns(&r->file, events);
	(void)context_log(&r->file, &r->err);
	return true;
}

/* A long value is only in the document. */
static bool replay_set(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(context_release) struct context doc = {0};
	const char *key = json_get_str(c->saved.note, "key"),
		   *value = json_get_str(c->saved.note, "value");
	struct error ignored;

	if (!key)
		return false;
	if (!value && context_parse(&doc, "", recorded_document(r, 1), &ignored) == 0)
		value = context_get(&doc, key).p;
	if (open_document(r))
		(void)context_set_key(&r->file, key, str_of(value), &r->err);
	return true;
}

static bool replay_wait(struct replay *r, const struct recorded_commit *c)
{
	if (open_document(r))
		(void)wait_for_limit(&r->file, json_get_int(c->saved.note, "until", 0),
			json_get_str(c->saved.note, "reason"), &r->err);
	return true;
}

static bool replay_restore(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t to = json_get_int(c->saved.note, "to", 0);

	if (!to || history_document(r->result->place, to, &text, NULL, &r->err) < 0)
		return false;
	if (open_document(r) || r->file.store)
		(void)history_restore_into(&r->file, to, buf_str(&text), &r->err);
	return true;
}

static bool replay_give_back(struct replay *r, const struct recorded_commit *c)
{
	struct lease_holder h;

	(void)c;
	if (!open_document(r) || lease_read(&r->file, &h, &r->err) < 0)
		return true;
	(void)context_op(&r->file, "give back");
	lease_release(&r->file, &h);
	(void)context_log(&r->file, &r->err);
	return true;
}

static const struct replay_operation {
	const char *name; /* NULL: any other */
	bool (*run)(struct replay *r, const struct recorded_commit *first);
	const char *taken; /* for people: why commits of the operation are taken as recorded */
} operations[] = {
	{"step", replay_step, "step"},
	{"record", replay_record, "answers that changed nothing"},
	{"run", replay_events, "run"},
	{"set", replay_set, "set"},
	{"wait", replay_wait, "waits for a usage limit"},
	{"restore", replay_restore, "restore"},
	{"give back", replay_give_back, "give back"},
	{"edit", replay_edit, "edited by hand"},
	{"removed", replay_edit, "removed by hand"},
	{"import", NULL, "taken over without a journal"},
	{"fork", NULL, "the beginning of a fork"},
	{"request", NULL, "what people asked of a run"},
	{"exec", NULL, "calls of exec that renewed a lease"},
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
static bool set_clock(const struct recorded_commit *first)
{
	const char *at = json_get_str(first->saved.note, "at"), *ts = first->saved.ts;
	int64_t t;

	if (clock_parse(at ? at : ts ? ts : "", &t) < 0)
		return false;
	clock_fix(t);
	return true;
}

/* False: it cannot be run again, and nothing was done. */
static bool run_operation(struct replay *r)
{
	const struct recorded_commit *first = &r->commits.items[0];
	const struct replay_operation *o;

	r->err = (struct error){0};
	follow(r);
	keep_disk(r);
	if (first->part != 1 || !set_clock(first))
		return false;
	o = find_operation(first->op);
	return o->run && o->run(r, first);
}

/* ---- the comparison ---- */

static void count_taken(struct replay *r)
{
	struct replay_result *v = r->result;
	const char *op = *r->commits.items[0].op ? r->commits.items[0].op : "unknown";
	size_t i = 0;

	while (i < v->taken.n && strcmp(v->taken.items[i].op, op) != 0)
		i++;
	if (i == v->taken.n)
		vec_push_in(r->arena, &v->taken,
			(struct replay_taken){arena_dup(r->arena, str_of(op)), 0});
	v->taken.items[i].n += r->commits.n;
}

static const char *show_line(struct replay *r, struct str line)
{
	return arena_printf(r->arena, "%s%s", arena_printable(r->arena, line, SHOWN_MAX),
		line.n > SHOWN_MAX ? "..." : "");
}

static void add_difference(struct replay *r, const struct recorded_commit *c, const char *what,
	struct str recorded, struct str replayed)
{
	struct replay_difference *d = &r->result->first;
	const char *by = json_get_str(c->saved.note, "by");
	struct str a, b;

	if (r->result->differ++)
		return;
	*d = (struct replay_difference){.rev = c->saved.rev,
		.op = arena_dup(r->arena, str_of(c->op)),
		.what = arena_dup(r->arena, str_of(what))};
	if (by && strcmp(by, DEV_TEAM_VERSION) != 0)
		d->by = arena_dup(r->arena, str_of(by));
	d->line = history_diff_first(recorded, replayed, &a, &b);
	d->recorded = show_line(r, a);
	d->replayed = show_line(r, b);
}

/* Without `seq` and `rev`, which begin each of them. */
static void add_events(struct str events, struct buf *out)
{
	struct str line;

	while (str_line(&events, &line)) {
		size_t at = str_find(line, STR(",\"rev\":"));

		line = str_sub(line, at + 1, line.n);
		line = str_sub(line, str_find(line, STR(",")), line.n);
		buf_addf(out, "%.*s\n", (int)line.n, line.p);
	}
}

/* The text of the document at a revision of the store on the disk. */
static void read_document(struct replay *r, int64_t rev, struct buf *out)
{
	CLEANUP(store_close) struct store *own = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	const struct store_range range = {.from = rev, .backwards = true, .texts = true};
	struct store *s = store_of(r, STORE_HISTORY, &own);
	struct store_commit c;
	struct error ignored;

	if (s && store_history(s, &range, &h, &ignored) == STORE_OK &&
		store_history_next(h, &c, &ignored) > 0)
		buf_add(out, c.text);
}

/* `s`: what the operation saved when it was run again. */
static bool compare_documents(
	struct replay *r, const struct recorded_commit *c, const struct store_commit *s)
{
	const struct str none = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!s->document != !c->saved.document) {
		add_difference(r, c, s->document ? "it was saved" : "it was not saved", none, none);
		return false;
	}
	if (!s->document || strcmp(s->sum, c->saved.sum) == 0)
		return true;
	read_document(r, s->rev, &text);
	add_difference(r, c, "document", c->saved.text, buf_str(&text));
	return false;
}

/* What the commit did to keys, one a line. */
static void add_keys(const struct store_commit *c, struct buf *out)
{
	for (size_t i = 0; i < c->n_changes; i++) {
		const struct store_kv *kv = &c->changes[i].kv;

		buf_addf(out, "\n%.*s %d ", (int)kv->key.n, kv->key.p, c->changes[i].deleted);
		buf_add(out, kv->value);
	}
}

/* True if the store on the disk has what was recorded. A key that differs is no difference that a
 * person can see. */
static bool compare_commit(
	struct replay *r, const struct recorded_commit *c, const struct store_commit *s)
{
	CLEANUP(buf_release) struct buf recorded = BUF_INIT, replayed = BUF_INIT;

	if (!compare_documents(r, c, s))
		return false;
	add_events(c->saved.events, &recorded);
	add_events(s->events, &replayed);
	if (!str_eq(buf_str(&recorded), buf_str(&replayed))) {
		add_difference(r, c, "events", buf_str(&recorded), buf_str(&replayed));
		return false;
	}
	add_keys(&c->saved, &recorded);
	add_keys(s, &replayed);
	return str_eq(buf_str(&recorded), buf_str(&replayed));
}

/* Whether the operation committed what was recorded byte for byte, so that nothing need be read. */
static bool is_identical(struct replay *r, struct store *s)
{
	const struct store_commit *c = &last_commit(r)->saved;
	const char *digest = s && r->commits.n == 1 ? store_digest(s) : NULL;

	if (!digest || strcmp(digest, c->digest) != 0)
		return false;
	r->at = c->rev;
	return true;
}

/* Ignores further commits: the recorded process was killed earlier. True if there are none, and all
 * are the same. */
static bool compare_operation(struct replay *r)
{
	CLEANUP(store_close) struct store *own = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store *s = store_of(r, STORE_HISTORY, &own);
	const struct str none = {0};
	struct store_commit c;
	struct error ignored;
	bool same = true, more;

	if (is_identical(r, s))
		return true;
	(void)recorded_document(r, r->commits.n);
	more = s &&
	       store_history(s, &(struct store_range){.from = r->at + 1}, &h, &ignored) == STORE_OK;
	for (size_t i = 0; i < r->commits.n; i++) {
		const struct recorded_commit *recorded = &r->commits.items[i];

		do /* a new end of a lease may have been committed with the operation */
			more = more && store_history_next(h, &c, &ignored) > 0;
		while (more && json_str_is(c.note, "op", "clock set back"));
		if (more) {
			same = compare_commit(r, recorded, &c) && same;
			r->at = c.rev;
			continue;
		}
		add_difference(
			r, recorded, r->err.code ? r->err.text : "nothing was saved", none, none);
		same = false;
	}
	return same && store_history_next(h, &c, &ignored) == 0;
}

static void verify_operation(struct replay *r)
{
	bool was_run = run_operation(r), same = was_run && compare_operation(r);

	/* An edit by hand is an input, but that the store finds it is verified too. */
	if (was_run && find_operation(r->commits.items[0].op)->run != replay_edit)
		r->result->replayed += r->commits.n;
	else
		count_taken(r);
	if (!same)
		adopt(r);
}

static void replay_close(struct replay *r)
{
	forget_operation(r);
	if (r->has_next)
		forget_commit(&r->next);
	vec_release(&r->commits);
	history_close(&r->recorded);
	buf_release(&r->document);
	close_document(r);
	simulator_disk_free(&r->disk);
	arena_release(&r->paths);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

int replay_verify(struct arena *a, const struct history_place *place, struct replay_result *v,
	struct error *err)
{
	CLEANUP(replay_close) struct replay r = {.arena = a, .result = v};
	int rc;

	*v = (struct replay_result){.place = place};
	r.disk = simulator_disk_new();
	r.now = *place;
	if (history_open(&r.recorded, place, &(struct store_range){.texts = true, .changes = true},
		    err) < 0)
		return -1;
	rc = read_next(&r, err);
	while (rc >= 0 && !r.damage.code && (rc = next_operation(&r, err)) > 0)
		verify_operation(&r);
	if (r.damage.code)
		*err = r.damage;
	return r.damage.code ? -1 : rc;
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
