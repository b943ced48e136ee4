#include "src/sys/path.h"
#include "src/verify/memory_disk.h"
#include "context/lease.h"
#include "src/machine/answer.h"
#include "src/machine/agents.h"
#include "src/machine/engine.h"
#include "steps/steps.h"
#include "src/base/clock.h"
#include "src/verify/replay_internal.h"

/* ---- the environment ---- */

/* It may have taken long: what comes after it has the time of then. */
static const json *next(struct context_file *f, const char *what, struct error *err)
{
	const json *seen = context_replayed(f, what);

	if (seen)
		clock_fix(f->now);
	else
		error_set(err, ERR_SYSTEM, "the journal does not say what came of '%s'", what);
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
	const json *seen = next(data, "specs", err);
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
	const json *seen = next(data, kind->name, err);

	(void)id;
	*done = is_yes(seen);
	return seen ? 0 : -1;
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const json *seen = next(data, "checks", err);
	const char *value = json_get_str(seen, "value");

	(void)pr_url;
	if (seen && !value)
		return error_set(err, ERR_SYSTEM, "they could not be asked then");
	if (value)
		*text = arena_dup(a, str_of(value));
	return value ? 0 : -1;
}

/* Only a script that was at work then was noted. */
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

static void set_path(struct replay *r, const char *path)
{
	struct str s = str_of(path);

	r->path = arena_dup(&r->arena, s);
	if (str_ends(s, ".md"))
		s.n -= 3;
	r->journal = arena_printf(&r->arena, "%.*s.events.jsonl", (int)s.n, s.p);
}

void replay_init(struct replay *r, const struct history_place *place)
{
	*r = (struct replay){.place = place, .disk = memory_disk_new()};
	set_path(r, place->path);
}

static void close_document(struct replay *r)
{
	context_close(&r->file);
	r->file = (struct context_file){0};
}

void replay_close(struct replay *r)
{
	close_document(r);
	memory_disk_free(&r->disk);
	arena_release(&r->arena);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

static void close_file(struct disk_file **f)
{
	if (*f)
		(*f)->ops->close(*f);
}

/* Makes the journal the recorded one up to `to`. */
static int put_journal(struct replay *r, struct str journal, size_t to, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;
	int64_t size;

	if (r->at == to)
		return 0;
	close_document(r);
	if (r->disk->ops->mkdirs(r->disk, arena_dup(&r->arena, path_dir(r->journal)), err) < 0 ||
		r->disk->ops->open(r->disk, r->journal, true, NULL, &f, err) < 0)
		return -1;
	if (f->ops->size(f, &size, err) < 0)
		return -1;
	if (size > (int64_t)r->at && f->ops->truncate(f, (int64_t)r->at, err) < 0)
		return -1;
	if (r->at < to && f->ops->append(f, str_sub(journal, r->at, to), err) < 0)
		return -1;
	r->at = to;
	return f->ops->sync(f, err);
}

static void put_document(struct replay *r, bool there, struct str text)
{
	if (there)
		memory_disk_put(r->disk, r->path, text);
	else
		memory_disk_remove(r->disk, r->path);
}

int replay_adopt(struct replay *r, struct str journal, const struct recorded_operation *op,
	struct error *err)
{
	const struct recorded_commit *last = recorded_last(op);

	put_document(r, last->there, buf_str(&last->document));
	return put_journal(r, journal, last->to, err);
}

int replay_written(struct replay *r, struct buf *out, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;
	int64_t size;
	bool there;

	buf_clear(out);
	if (r->disk->ops->exists(r->disk, r->journal, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	if (r->disk->ops->open(r->disk, r->journal, false, NULL, &f, err) < 0)
		return -1;
	if (f->ops->size(f, &size, err) < 0)
		return -1;
	if (size <= (int64_t)r->at)
		return 0;
	return f->ops->pread(f, (int64_t)r->at, (size_t)size - r->at, out, err);
}

/* Where the document was: a step says it, of all else the journal has the name alone. */
static const char *path_of(struct replay *r, const struct recorded_commit *c)
{
	const char *file = strcmp(c->op, "step") == 0 ? json_get_str(c->note, "file") : NULL;
	struct str key = str_of(c->key), base = path_base(r->path);

	if (file || !str_starts(key, "doc/") || str_eq(str_sub(key, 4, key.n), base))
		return file ? file : r->path;
	return arena_printf(&r->arena, "%.*s%s", (int)(base.p - r->path), r->path, c->key + 4);
}

/* The document was moved to another folder or name meanwhile: so it is moved on the disk. */
static int follow(struct replay *r, struct str journal, const struct recorded_operation *op,
	struct error *err)
{
	const char *path = path_of(r, &op->list[0]);
	CLEANUP(buf_release) struct buf document = BUF_INIT;
	size_t at = r->at;
	bool there;

	if (strcmp(path, r->path) == 0)
		return 0;
	there = memory_disk_get(r->disk, r->path, &document);
	memory_disk_remove(r->disk, r->path);
	close_document(r);
	set_path(r, path);
	r->at = 0;
	put_document(r, there, buf_str(&document));
	return put_journal(r, journal, at, err);
}

/* When it began: as its first event says, which may be before what it waited for. */
static int set_clock(const struct recorded_commit *first)
{
	const char *ts = json_get_str(json_first(first->events), "ts");
	int64_t t;

	if (clock_parse(ts ? ts : first->ts, &t) < 0)
		return -1;
	clock_fix(t);
	return 0;
}

/* ---- operations ---- */

static int open_file(struct replay *r, const struct recorded_operation *op)
{
	struct context_file *f = &r->file;
	int rc = f->store ? context_reopen(f, CONTEXT_MAY_CREATE, &r->err)
			  : context_open_on(f, r->disk, r->path, CONTEXT_MAY_CREATE, &r->err);

	if (rc < 0 && !f->store)
		close_document(r);
	f->replay = json_get(recorded_last(op)->note, "seen");
	return rc;
}

/* What people did: the next open finds it. */
static int replay_edit(struct replay *r, const struct recorded_operation *op)
{
	const struct recorded_commit *c = &op->list[0];

	put_document(r, c->there, buf_str(&c->document));
	(void)open_file(r, op);
	return 1;
}

/* The same text as before, perhaps from another place. */
static int same_workflow(struct replay *r, const char *sum, const char *file)
{
	if (strcmp(r->workflow_sum, sum) != 0)
		return 0;
	if (strcmp(r->workflow.file, file) != 0)
		r->workflow.file = arena_dup(&r->workflow_arena, str_of(file));
	return 1;
}

/* 1: there. The text is kept with the first operation that used it. */
static int load_workflow(struct replay *r, const json *note)
{
	const char *text = json_get_str(note, "workflow_text"),
		   *sum = json_get_str(note, "workflow_sum"),
		   *file = json_get_str(note, "workflow");
	struct error ignored;

	if (!sum || !file)
		return 0;
	if (!text)
		return same_workflow(r, sum, file);
	arena_release(&r->workflow_arena);
	r->workflow_arena = (struct arena){0};
	r->workflow_sum[0] = '\0';
	file = arena_dup(&r->workflow_arena, str_of(file));
	if (workflow_parse(&r->workflow_arena, file, str_of(text), &r->workflow, &ignored) < 0)
		return 0;
	(void)snprintf(r->workflow_sum, sizeof(r->workflow_sum), "%s", sum);
	return 1;
}

static bool is_true(const json *note, const char *key)
{
	return json_is_true(json_get(note, key));
}

static int replay_step(struct replay *r, const struct recorded_operation *op)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = op->list[0].note;
	const char *skill = json_get_str(note, "research_skill"),
		   *repo = json_get_str(note, "repo");
	struct environment environment;
	struct engine m = {.file = &r->file,
		.workflow = &r->workflow,
		.step_for = steps_find,
		.environment = &environment,
		.id = json_get_str(note, "id"),
		.research_skill = skill ? skill : "",
		.repo = repo ? repo : "",
		.returned = is_true(note, "returned"),
		.returned_id = json_get_str(note, "returned_id"),
		.owner = json_get_str(note, "owner"),
		.take_over = is_true(note, "take_over")};

	if (!m.id || !load_workflow(r, note))
		return 0;
	recorded_environment(&environment, &r->file);
	if (open_file(r, op) == 0)
		(void)engine_step(&m, &out, &r->err);
	return 1;
}

/*
 * What the section `name` of a document says, found without reading the rest of it. It is as it was
 * written, so it is not between the lines of another one.
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

/* Of a log, the entry of this action. */
static bool entry_of(const struct recorded_commit *c, const json *action, struct buf *text)
{
	struct context doc = {0};
	struct error ignored;
	bool good = context_parse(&doc, "", buf_str(&c->document), &ignored) == 0;

	if (good)
		buf_add(text, action_text(&doc, action));
	context_release(&doc);
	return good;
}

/* The text as it was given: what is kept of it is without the blank around it. */
static bool answer_of(
	struct replay *r, const struct recorded_commit *c, const char *id, struct buf *text)
{
	CLEANUP(json_free) json *actions = NULL;
	struct error ignored;
	const json *action = action_load(&r->file.doc, &actions, &ignored) == 0
				     ? action_find(actions, id)
				     : NULL;
	int64_t bytes = 0;

	if (!action)
		return false;
	if (!(action_is_troubleshooter(action)
			    ? entry_of(c, action, text)
			    : section_of(buf_str(&c->document),
				      json_get_str(action, "write_section"), text)))
		return false;
	for (const json *e = json_first(c->events); e; e = json_next(e))
		bytes = json_get_int(e, "bytes", bytes);
	while ((int64_t)text->len < bytes)
		buf_addc(text, '\n');
	return true;
}

/* A scripted agent's turn, and what a harness did, stand before the answer. */
static void note_agent_turns(struct context_file *f, const struct recorded_commit *c)
{
	for (const json *e = json_first(c->events); e; e = json_next(e)) {
		const char *entry = json_get_str(e, "entry"), *action = json_get_str(e, "action"),
			   *type = json_get_str(e, "type");

		if (type && strcmp(type, AGENT_RUN) == 0)
			agents_note_run(f, e);
		else if (entry && action)
			agents_note_turn(f, entry, action);
	}
}

/* Of an answer that was refused, nothing but its place under logs/ is kept. */
static int replay_record(struct replay *r, const struct recorded_operation *op)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct recorded_commit *c = &op->list[0];
	const char *id = json_get_str(c->note, "action");
	enum answer_fate fate;

	if (!c->changed || !c->there || !id)
		return 0;
	if (open_file(r, op) < 0)
		return 1;
	if (!answer_of(r, c, id, &text))
		return 0;
	note_agent_turns(&r->file, c);
	(void)answer_record_by(&r->file, json_get_str(c->note, "owner"), id,
		json_get_str(c->note, "word"), buf_str(&text), &fate, &r->err);
	return 1;
}

static int replay_events(struct replay *r, const struct recorded_operation *op)
{

	if (op->list[0].changed)
		return 0;
	if (open_file(r, op) < 0)
		return 1;
	(void)context_op(&r->file, "run");
	note_agent_turns(&r->file, &op->list[0]);
	(void)context_log(&r->file, &r->err);
	return 1;
}

/* A long value is in the document alone. */
static int replay_set(struct replay *r, const struct recorded_operation *op)
{
	const struct recorded_commit *c = &op->list[0];
	const char *key = json_get_str(c->note, "key"), *value = json_get_str(c->note, "value");
	struct context doc = {0};
	struct error ignored;

	if (!key)
		return 0;
	if (!value && context_parse(&doc, "", buf_str(&c->document), &ignored) == 0)
		value = context_get(&doc, key).p;
	if (open_file(r, op) == 0)
		(void)engine_set_key(&r->file, key, str_of(value), &r->err);
	context_release(&doc);
	return 1;
}

static int replay_restore(struct replay *r, const struct recorded_operation *op)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t to = json_get_int(op->list[0].note, "to", 0);

	if (!to || history_document(r->place, to, &text, NULL, &r->err) < 0)
		return 0;
	if (open_file(r, op) < 0 && !r->file.store)
		return 1;
	(void)history_restore_into(&r->file, to, buf_str(&text), &r->err);
	return 1;
}

static int replay_give_back(struct replay *r, const struct recorded_operation *op)
{
	struct lease_holder h;

	if (open_file(r, op) < 0 || lease_read(&r->file, &h, &r->err) < 0)
		return 1;
	(void)context_op(&r->file, "give back");
	lease_release(&r->file, &h);
	(void)context_log(&r->file, &r->err);
	return 1;
}

static const struct {
	const char *name;
	int (*redo)(struct replay *r, const struct recorded_operation *op);
} kinds[] = {
	{"step", replay_step},
	{"record", replay_record},
	{"run", replay_events},
	{"set", replay_set},
	{"restore", replay_restore},
	{"give back", replay_give_back},
	{"edit", replay_edit},
	{"removed", replay_edit},
};

static int run_by_kind(struct replay *r, const struct recorded_operation *op)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i].name, op->list[0].op) == 0)
			return kinds[i].redo(r, op);
	return 0;
}

int replay_run(struct replay *r, struct str journal, const struct recorded_operation *op,
	struct error *err)
{
	const struct recorded_commit *first = &op->list[0];

	r->err = (struct error){0};
	if (follow(r, journal, op, err) < 0 || put_journal(r, journal, first->from, err) < 0)
		return -1;
	if (first->part != 1 || set_clock(first) < 0)
		return 0;
	return run_by_kind(r, op);
}
