/* replay.c: runs the operations of a history again and compares what they save. */
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/machine/agents.h"
#include "src/machine/answer.h"
#include "src/machine/engine.h"
#include "src/store/store.h"
#include "src/sys/path.h"
#include "src/verify/replay.h"
#include "src/verify/simulator.h"
#include "src/workflow/workflow.h"
#include "steps/steps.h"

#define COMMIT "{\"commit\":"
#define CHANGE "{\"change\":"
#define EVENT  "{\"seq\":"

enum { SHOWN_MAX = 300 };

struct recorded_commit {
	struct store_commit saved; /* without its events and document */
	json *head;                /* what `saved` points to */
	const char *op;            /* of the note; "": none */
	int64_t part;              /* 1: the first commit of an operation */
};

struct replay {
	struct arena *arena; /* of the result */
	struct replay_result *result;

	/* The recorded side. */
	struct store_log *log;
	const char *journal; /* its first line */
	struct buf document; /* before the operation; empty: none */
	bool there;
	struct recorded_commit next; /* the commit after the operation, if has_next */
	bool has_next;
	VEC(struct recorded_commit) commits; /* of the operation */

	/* The disk in memory. Before an operation it is as recorded. */
	struct disk *disk;
	struct history_place now; /* of the document when the operation was recorded */
	size_t at;                /* its journal is the recorded one up to here */
	struct arena paths, workflow_arena;
	struct workflow workflow;
	char workflow_sum[64];    /* empty: none is loaded */
	struct context_file file; /* stays open from one operation to the next */
	struct error err;         /* why the last operation failed; code 0: it did not */
};

/* ---- the recorded operations ---- */

/* Cuts the next commit's lines off *rest, a journal's text; false when no whole commit is left. */
static bool next_commit(struct str *rest, struct str *lines)
{
	struct str all = *rest;
	const char *nl;

	while (all.n && (nl = memchr(all.p, '\n', all.n)) != NULL) {
		bool commit = str_starts(all, COMMIT);

		all = str_sub(all, (size_t)(nl - all.p) + 1, all.n);
		if (!commit)
			continue;
		*lines = str_sub(*rest, 0, rest->n - all.n);
		*rest = all;
		return true;
	}
	return false;
}

/* Cuts the lines up to the next event off *lines, which is the last of them. */
static bool next_event(struct str *lines, struct str *event)
{
	while (str_line(lines, event))
		if (str_starts(*event, EVENT))
			return true;
	return false;
}

/* As store_log_next(). */
static int read_next(struct replay *r, struct error *err)
{
	struct recorded_commit *c = &r->next;
	int rc = store_log_next_head(r->log, &c->saved, &c->head, err);
	struct str lines, event;
	const char *op;

	r->has_next = rc > 0;
	if (!r->has_next)
		return rc;
	op = json_get_str(c->saved.note, "op");
	c->op = op ? op : "";
	c->part = json_get_int(c->saved.note, "part", 1);
	r->result->commits++;
	for (lines = c->saved.lines; next_event(&lines, &event);)
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
		json_free(&r->commits.items[--r->commits.n].head);
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

/* The lines of the journal from `from` to the end of the operation. */
static struct str lines_from(const struct replay *r, const char *from)
{
	struct str last = last_commit(r)->saved.lines;

	return (struct str){from, (size_t)(last.p + last.n - from)};
}

/* Turns the document into the one after the commit with these lines; true if they change it. */
static bool apply_change(struct str lines, struct buf *document)
{
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(json_free) json *change = NULL;
	const json *delta;
	struct error ignored;
	struct str line;

	while (!change && str_line(&lines, &line))
		if (str_starts(line, CHANGE))
			(void)json_parse(&change, line, &ignored);
	if (!change)
		return false;
	before = *document;
	*document = (struct buf)BUF_INIT;
	delta = json_get(change, "delta");
	if (delta)
		(void)delta_apply(delta, buf_str(&before), document, &ignored);
	return true;
}

static json *parse_events(struct str lines)
{
	json *list = json_array(), *event;
	struct error ignored;
	struct str line;

	while (next_event(&lines, &line))
		if (json_parse(&event, line, &ignored) == 0)
			json_push(list, event);
	return list;
}

/* ---- the environment ---- */

/* Sets the clock too: what comes after a slow input has its time. */
static const json *next_input(struct context_file *f, const char *what, struct error *err)
{
	const json *seen = context_replayed(f, what);

	if (seen)
		clock_fix(f->now);
	else
		error_set(err, ERR_SYSTEM, "the journal has no result of '%s'", what);
	return seen;
}

static bool is_yes(const json *seen)
{
	const char *value = json_get_str(seen, "value");

	return value && strcmp(value, "yes") == 0;
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

static int carry_out(
	void *data, const struct effect_kind *kind, const char *id, bool *done, struct error *err)
{
	const json *seen = next_input(data, kind->name, err);

	(void)id;
	*done = is_yes(seen);
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

/* Only a script that was running is in the journal. */
static bool still_running(void *data, const struct context_file *f, const char *id)
{
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;
	const char *what = json_get_str(seen, "what"), *value = json_get_str(seen, "value");

	return what && value && strcmp(what, "running") == 0 && strcmp(value, id) == 0 &&
	       context_replayed(data, "running");
}

static void recorded_environment(struct environment *w, struct context_file *f)
{
	*w = (struct environment){.find_specs = find_specs,
		.carry_out = carry_out,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.data = f};
}

/* ---- the disk ---- */

static void close_document(struct replay *r)
{
	context_close(&r->file);
	r->file = (struct context_file){0};
}

static void put_document(struct replay *r, bool there, struct str text)
{
	if (there)
		simulator_disk_put(r->disk, r->now.path, text);
	else
		simulator_disk_remove(r->disk, r->now.path);
}

static void keep_document(struct replay *r)
{
	const struct buf *text = simulator_disk_text(r->disk, r->now.path);

	r->there = text != NULL;
	buf_clear(&r->document);
	if (text)
		buf_add(&r->document, buf_str(text));
}

/* The recorded document after the operation's first commit. */
static void first_document(const struct replay *r, struct buf *out)
{
	buf_add(out, buf_str(&r->document));
	(void)apply_change(r->commits.items[0].saved.lines, out);
}

/* Puts the disk into the recorded state after the operation. */
static void adopt(struct replay *r)
{
	struct str journal = lines_from(r, r->journal);

	close_document(r);
	put_document(r, r->there, buf_str(&r->document));
	simulator_disk_put(r->disk, r->now.journal, journal);
	r->at = journal.n;
}

/* What the operation has added to the journal on the disk. */
static struct str written(const struct replay *r)
{
	const struct buf *text = simulator_disk_text(r->disk, r->now.journal);

	return text ? str_sub(buf_str(text), r->at, text->len) : (struct str){0};
}

/* Where the document was: a step notes its path; other operations only the name. */
static const char *path_of(struct replay *r, const struct recorded_commit *c)
{
	bool is_step = strcmp(c->op, "step") == 0;
	const char *file = is_step ? json_get_str(c->saved.note, "file") : NULL,
		   *key = is_step ? NULL : c->saved.document_key;
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
			  : context_open_on(f, r->disk, r->now.path, CONTEXT_MAY_CREATE, &r->err);

	if (rc < 0 && !f->store)
		close_document(r);
	f->replaying = true;
	f->replay = json_get(last_commit(r)->saved.note, "seen");
	return rc == 0;
}

/* What people did: the next open finds it. */
static bool replay_edit(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	first_document(r, &text);
	put_document(r, !c->saved.removed, buf_str(&text));
	(void)open_document(r);
	return true;
}

/* The same text as before, perhaps from another place. */
static bool same_workflow(struct replay *r, const char *sum, const char *file)
{
	if (strcmp(r->workflow_sum, sum) != 0)
		return false;
	if (strcmp(r->workflow.file, file) != 0)
		r->workflow.file = arena_dup(&r->workflow_arena, str_of(file));
	return true;
}

/* The text is kept with the first operation that used it. */
static bool load_workflow(struct replay *r, const json *note)
{
	const char *text = json_get_str(note, "workflow_text"),
		   *sum = json_get_str(note, "workflow_sum"),
		   *file = json_get_str(note, "workflow");
	struct error ignored;

	if (!sum || !file)
		return false;
	if (!text)
		return same_workflow(r, sum, file);
	arena_release(&r->workflow_arena);
	r->workflow_arena = (struct arena){0};
	r->workflow_sum[0] = '\0';
	file = arena_dup(&r->workflow_arena, str_of(file));
	if (workflow_parse(&r->workflow_arena, file, str_of(text), &r->workflow, &ignored) < 0)
		return false;
	(void)snprintf(r->workflow_sum, sizeof(r->workflow_sum), "%s", sum);
	return true;
}

static bool replay_step(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = c->saved.note;
	const char *skill = json_get_str(note, "research_skill"),
		   *repo = json_get_str(note, "repo");
	struct environment environment;
	struct engine e = {.file = &r->file,
		.workflow = &r->workflow,
		.step_for = steps_find,
		.environment = &environment,
		.id = json_get_str(note, "id"),
		.research_skill = skill ? skill : "",
		.repo = repo ? repo : "",
		.returned = json_is_true(json_get(note, "returned")),
		.returned_id = json_get_str(note, "returned_id"),
		.owner = json_get_str(note, "owner"),
		.take_over = json_is_true(json_get(note, "take_over"))};

	if (!e.id || !load_workflow(r, note))
		return false;
	recorded_environment(&environment, &r->file);
	if (open_document(r))
		(void)engine_step(&e, &out, &r->err);
	return true;
}

/*
 * The text of the section `name`, found without parsing the document. It was escaped when it was
 * written, so no text of another section looks like its sentinel.
 */
static bool section_of(struct str document, const char *name, struct buf *text)
{
	CLEANUP(buf_release) struct buf head = BUF_INIT;
	size_t at;

	buf_addf(&head, "\n<!-- section:%s -->", name);
	at = str_find(document, buf_str(&head));
	if (at == document.n)
		return false;
	document = str_sub(document, at + head.len, document.n);
	document = str_sub(document, 0, str_find(document, STR("\n<!-- section:")));
	context_unescape(text, str_trim(document));
	return true;
}

/* The action's entry in the troubleshooter's log. */
static bool entry_of(struct str document, const json *action, struct buf *text)
{
	CLEANUP(context_release) struct context doc = {0};
	struct error ignored;

	if (context_parse(&doc, "", document, &ignored) < 0)
		return false;
	buf_add(text, action_text(&doc, action));
	return true;
}

/* The text as it was given: the document has it without the blanks at its end. */
static bool answer_of(
	struct replay *r, struct str document, const json *events, const char *id, struct buf *text)
{
	CLEANUP(json_free) json *actions = NULL;
	const json *action;
	int64_t bytes = 0;

	if (action_load(&r->file.doc, &actions, &r->err) < 0 ||
		!(action = action_find(actions, id)))
		return false;
	if (!(action_is_troubleshooter(action)
			    ? entry_of(document, action, text)
			    : section_of(document, json_get_str(action, "write_section"), text)))
		return false;
	for (const json *e = json_first(events); e; e = json_next(e))
		bytes = json_get_int(e, "bytes", bytes);
	while ((int64_t)text->len < bytes)
		buf_addc(text, '\n');
	return true;
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
	CLEANUP(buf_release) struct buf text = BUF_INIT, document = BUF_INIT;
	CLEANUP(json_free) json *events = NULL;
	const char *id = json_get_str(c->saved.note, "action");
	enum answer_outcome outcome;

	if (!c->saved.document_key || c->saved.removed || !id)
		return false;
	first_document(r, &document);
	if (!open_document(r))
		return true;
	events = parse_events(c->saved.lines);
	if (!answer_of(r, buf_str(&document), events, id, &text))
		return false;
	note_agent_turns(&r->file, events);
	(void)answer_record(&r->file, json_get_str(c->saved.note, "owner"), id,
		json_get_str(c->saved.note, "word"), buf_str(&text), &outcome, &r->err);
	return true;
}

static bool replay_events(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(json_free) json *events = NULL;

	if (c->saved.document_key)
		return false;
	if (!open_document(r))
		return true;
	events = parse_events(c->saved.lines);
	(void)context_op(&r->file, "run");
	note_agent_turns(&r->file, events);
	(void)context_log(&r->file, &r->err);
	return true;
}

/* A long value is only in the document. */
static bool replay_set(struct replay *r, const struct recorded_commit *c)
{
	CLEANUP(context_release) struct context doc = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *key = json_get_str(c->saved.note, "key"),
		   *value = json_get_str(c->saved.note, "value");
	struct error ignored;

	if (!key)
		return false;
	if (!value)
		first_document(r, &text);
	if (!value && context_parse_buf(&doc, "", &text, &ignored) == 0)
		value = context_get(&doc, key).p;
	if (open_document(r))
		(void)engine_set_key(&r->file, key, str_of(value), &r->err);
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
	{"restore", replay_restore, "restore"},
	{"give back", replay_give_back, "give back"},
	{"edit", replay_edit, "edited by hand"},
	{"removed", replay_edit, "removed by hand"},
	{"import", NULL, "taken over without a journal"},
	{"fork", NULL, "the beginning of a fork"},
	{"exec", NULL, "calls of exec that renewed a lease"},
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
	keep_document(r);
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

static void add_events(struct str lines, struct buf *out)
{
	struct str event;

	while (next_event(&lines, &event))
		buf_addf(out, "%.*s\n", (int)event.n, event.p);
}

/* What the commit saved when it was run again is cut off *rest; *document is then the document
 * before it, and becomes the one after it. r->document is the recorded one. */
static void compare_commit(struct replay *r, const struct recorded_commit *c, bool changed,
	struct str *rest, struct buf *document)
{
	CLEANUP(buf_release) struct buf events = BUF_INIT, new_events = BUF_INIT;
	const struct str none = {0};
	struct str lines;
	bool saved;

	if (!next_commit(rest, &lines)) {
		add_difference(r, c, r->err.code ? r->err.text : "nothing was saved", none, none);
		return;
	}
	saved = apply_change(lines, document);
	add_events(c->saved.lines, &events);
	add_events(lines, &new_events);
	if (!str_eq(buf_str(&r->document), buf_str(document)))
		add_difference(r, c, "document", buf_str(&r->document), buf_str(document));
	else if (saved != changed)
		add_difference(r, c, saved ? "it was saved" : "it was not saved", none, none);
	else if (!str_eq(buf_str(&events), buf_str(&new_events)))
		add_difference(r, c, "events", buf_str(&events), buf_str(&new_events));
}

/* An edit by hand is an input, but that the store finds it is verified too. */
static bool is_by_hand(const struct recorded_commit *c)
{
	return strcmp(c->op, "edit") == 0 || strcmp(c->op, "removed") == 0;
}

/* The same lines have the same checksums, so the documents are rebuilt only where they are not.
 * Ignore extra commits: the recorded process was killed earlier. */
static void verify_operation(struct replay *r)
{
	CLEANUP(buf_release) struct buf document = BUF_INIT;
	bool was_run = run_operation(r);
	struct str recorded = lines_from(r, r->commits.items[0].saved.lines.p), rest = written(r);

	if (was_run && !is_by_hand(&r->commits.items[0]))
		r->result->replayed += r->commits.n;
	else
		count_taken(r);
	if (was_run && str_eq(rest, recorded)) {
		r->at += recorded.n;
		return;
	}
	buf_add(&document, buf_str(&r->document));
	for (size_t i = 0; i < r->commits.n; i++) {
		const struct recorded_commit *c = &r->commits.items[i];
		bool changed = apply_change(c->saved.lines, &r->document);

		r->there = changed ? !c->saved.removed : r->there;
		if (was_run)
			compare_commit(r, c, changed, &rest, &document);
	}
	adopt(r);
}

static void replay_close(struct replay *r)
{
	forget_operation(r);
	if (r->has_next)
		json_free(&r->next.head);
	vec_release(&r->commits);
	store_log_close(&r->log);
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
	if (store_log_open(&r.log, disk_real(), place->dir, place->name, err) < 0)
		return -1;
	rc = read_next(&r, err);
	r.journal = r.next.saved.lines.p;
	while (rc >= 0 && (rc = next_operation(&r, err)) > 0)
		verify_operation(&r);
	return rc;
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
	json *taken = json_object(), *j;

	for (size_t i = 0; i < v->taken.n; i++)
		json_put_int(taken, v->taken.items[i].op, (int64_t)v->taken.items[i].n);
	j = JSON_OBJECT(JSON_TEXT("file", v->place->path), JSON_BOOL("same", !v->differ),
		JSON_INT("commits", v->commits), JSON_INT("events", v->events),
		JSON_INT("replayed", v->replayed), JSON_VALUE("taken", taken),
		JSON_INT("differ", v->differ),
		JSON_VALUE("first", v->differ ? difference_json(&v->first) : json_object()));
	json_print(out, j);
	buf_addc(out, '\n');
	json_free(&j);
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
