#include "context/lease.h"
#include "src/base/path.h"
#include "src/base/path.h"
#include "src/machine/actions.h"
#include "src/machine/agents_uses.h"
#include "src/machine/edit.h"
#include "src/machine/engine.h"
#include "src/replay/recorded.h"
#include "src/replay/redo.h"
#include "src/replay/restore.h"
#include "src/store/disk_sim.h"
#include "steps/steps.h"

static void set_path(struct redo *r, const char *path)
{
	struct str s = str_of(path);

	r->path = arena_dup(&r->arena, s);
	if (str_ends(s, ".md"))
		s.n -= 3;
	r->journal = arena_printf(&r->arena, "%.*s.events.jsonl", (int)s.n, s.p);
}

void redo_init(struct redo *r, const struct history_place *place)
{
	*r = (struct redo){.place = place, .disk = sim_disk_new(1)};
	set_path(r, place->path);
}

/* The next operation opens it anew. */
static void shut(struct redo *r)
{
	context_close(&r->file);
	r->file = (struct context_file){0};
}

void redo_close(struct redo *r)
{
	shut(r);
	sim_disk_free(&r->disk);
	arena_release(&r->arena);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

/* ---- the disk ---- */

static void close_file(struct disk_file **f)
{
	if (*f)
		(*f)->ops->close(*f);
}

/* Makes the journal the recorded one up to `to`. */
static int lay_journal(struct redo *r, struct str journal, size_t to, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;

	if (r->at == to)
		return 0;
	shut(r);
	if (r->disk->ops->mkdirs(r->disk, arena_dup(&r->arena, path_dir(r->journal)), err) < 0 ||
		r->disk->ops->open(r->disk, r->journal, true, NULL, &f, err) < 0)
		return -1;
	if (f->ops->size(f) > (int64_t)r->at && f->ops->truncate(f, (int64_t)r->at, err) < 0)
		return -1;
	if (r->at < to && f->ops->append(f, str_sub(journal, r->at, to), err) < 0)
		return -1;
	r->at = to;
	return f->ops->sync(f, err);
}

static void lay_document(struct redo *r, bool there, struct str text)
{
	if (there)
		sim_disk_put(r->disk, r->path, text);
	else
		sim_disk_remove(r->disk, r->path);
}

int redo_take(struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const struct once *last = operation_last(op);

	lay_document(r, last->there, buf_str(&last->document));
	return lay_journal(r, journal, last->to, err);
}

int redo_result(struct redo *r, struct buf *out, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;
	int64_t size;

	buf_clear(out);
	if (!r->disk->ops->exists(r->disk, r->journal))
		return 0;
	if (r->disk->ops->open(r->disk, r->journal, false, NULL, &f, err) < 0)
		return -1;
	size = f->ops->size(f);
	if (size <= (int64_t)r->at)
		return 0;
	return f->ops->pread(f, (int64_t)r->at, (size_t)size - r->at, out, err);
}

/* Where the document was: a step says it, of all else the journal has the name alone. */
static const char *path_of(struct redo *r, const struct once *c)
{
	const char *file = strcmp(c->op, "step") == 0 ? json_get_str(c->note, "file") : NULL;
	struct str key = str_of(c->key), base = path_base(r->path);

	if (file || !str_starts(key, "doc/") || str_eq(str_sub(key, 4, key.n), base))
		return file ? file : r->path;
	return arena_printf(&r->arena, "%.*s%s", (int)(base.p - r->path), r->path, c->key + 4);
}

/* The document was moved to another folder or name meanwhile: so it is moved on the disk. */
static int follow(struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const char *path = path_of(r, &op->list[0]);
	CLEANUP(buf_release) struct buf document = BUF_INIT;
	size_t at = r->at;
	bool there;

	if (strcmp(path, r->path) == 0)
		return 0;
	there = sim_disk_get(r->disk, r->path, &document);
	sim_disk_remove(r->disk, r->path);
	shut(r);
	set_path(r, path);
	r->at = 0;
	lay_document(r, there, buf_str(&document));
	return lay_journal(r, journal, at, err);
}

/* ---- the operations ---- */

/* When it began: as its first event says, which may be before what it waited for. */
static int set_clock(const struct once *first)
{
	const char *ts = json_get_str(json_first(first->events), "ts");
	int64_t t;

	if (clock_parse(ts ? ts : first->ts, &t) < 0)
		return -1;
	clock_fix(t);
	return 0;
}

static int open_file(struct redo *r, const struct operation *op)
{
	struct context_file *f = &r->file;
	int rc = f->store ? context_again(f, CONTEXT_MAY_CREATE, &r->err)
			  : context_open_on(f, r->disk, r->path, CONTEXT_MAY_CREATE, &r->err);

	if (rc < 0 && !f->store)
		shut(r);
	f->replay = json_get(operation_last(op)->note, "seen");
	return rc;
}

/* What people did: the next open finds it. */
static int redo_edit(struct redo *r, const struct operation *op)
{
	const struct once *c = &op->list[0];

	lay_document(r, c->there, buf_str(&c->document));
	(void)open_file(r, op);
	return 1;
}

/* 1: there. The text is kept with the first operation that used it. */
static int load_workflow(struct redo *r, const json *note)
{
	const char *text = json_get_str(note, "workflow_text"),
		   *sum = json_get_str(note, "workflow_sum"),
		   *file = json_get_str(note, "workflow");
	struct error ignored;

	if (!sum || !file)
		return 0;
	if (!text)
		return strcmp(r->workflow_sum, sum) == 0;
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

static int redo_step(struct redo *r, const struct operation *op)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = op->list[0].note;
	const char *skill = json_get_str(note, "research_skill"),
		   *repo = json_get_str(note, "repo");
	struct world world;
	struct machine m = {.file = &r->file,
		.workflow = &r->workflow,
		.step_for = step_for,
		.world = &world,
		.id = json_get_str(note, "id"),
		.research_skill = skill ? skill : "",
		.repo = repo ? repo : "",
		.returned = is_true(note, "returned"),
		.returned_id = json_get_str(note, "returned_id"),
		.owner = json_get_str(note, "owner"),
		.take_over = is_true(note, "take_over")};

	if (!m.id || !load_workflow(r, note))
		return 0;
	world_recorded(&world, &r->file);
	if (open_file(r, op) == 0)
		(void)machine_step(&m, &out, &r->err);
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
	sentinel_unescape(text, str_trim(document));
	return true;
}

/* Of a log, the entry of this action. */
static bool entry_of(const struct once *c, const json *action, struct buf *text)
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
static bool answer_of(struct redo *r, const struct once *c, const char *id, struct buf *text)
{
	CLEANUP(json_free) json *actions = NULL;
	struct error ignored;
	const json *action = actions_load(&r->file.doc, &actions, &ignored) == 0
				     ? actions_find(actions, id)
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

/* A scripted agent's turn stands before its answer. */
static void note_turns(struct context_file *f, const struct once *c)
{
	for (const json *e = json_first(c->events); e; e = json_next(e)) {
		const char *entry = json_get_str(e, "entry"), *action = json_get_str(e, "action");

		if (entry && action)
			agents_note(f, entry, action);
	}
}

/* Of an answer that was refused, nothing but its place under logs/ is kept. */
static int redo_record(struct redo *r, const struct operation *op)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct once *c = &op->list[0];
	const char *id = json_get_str(c->note, "action");
	enum answer_fate fate;

	if (!c->changed || !c->there || !id)
		return 0;
	if (open_file(r, op) < 0)
		return 1;
	if (!answer_of(r, c, id, &text))
		return 0;
	note_turns(&r->file, c);
	(void)action_record_by(&r->file, json_get_str(c->note, "owner"), id,
		json_get_str(c->note, "word"), buf_str(&text), &fate, &r->err);
	return 1;
}

static int redo_run(struct redo *r, const struct operation *op)
{

	if (op->list[0].changed)
		return 0;
	if (open_file(r, op) < 0)
		return 1;
	(void)context_op(&r->file, "run");
	note_turns(&r->file, &op->list[0]);
	(void)context_log(&r->file, &r->err);
	return 1;
}

/* A long value is in the document alone. */
static int redo_set(struct redo *r, const struct operation *op)
{
	const struct once *c = &op->list[0];
	const char *key = json_get_str(c->note, "key"), *value = json_get_str(c->note, "value");
	struct context doc = {0};
	struct error ignored;

	if (!key)
		return 0;
	if (!value && context_parse(&doc, "", buf_str(&c->document), &ignored) == 0)
		value = context_get(&doc, key).p;
	if (open_file(r, op) == 0)
		(void)edit_key(&r->file, key, str_of(value), &r->err);
	context_release(&doc);
	return 1;
}

static int redo_restore(struct redo *r, const struct operation *op)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t to = json_get_int(op->list[0].note, "to", 0);

	if (!to || history_document(r->place, to, &text, NULL, &r->err) < 0)
		return 0;
	if (open_file(r, op) < 0 && !r->file.store)
		return 1;
	(void)restore_into(&r->file, to, buf_str(&text), &r->err);
	return 1;
}

static int redo_give_back(struct redo *r, const struct operation *op)
{
	struct holder h;

	if (open_file(r, op) < 0 || lease_read(&r->file, &h, &r->err) < 0)
		return 1;
	(void)context_op(&r->file, "give back");
	lease_give_back(&r->file, &h);
	(void)context_log(&r->file, &r->err);
	return 1;
}

static const struct {
	const char *name;
	int (*redo)(struct redo *r, const struct operation *op);
} kinds[] = {
	{"step", redo_step},
	{"record", redo_record},
	{"run", redo_run},
	{"set", redo_set},
	{"restore", redo_restore},
	{"give back", redo_give_back},
	{"edit", redo_edit},
	{"removed", redo_edit},
};

int redo_operation(
	struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const struct once *first = &op->list[0];

	r->err = (struct error){0};
	if (follow(r, journal, op, err) < 0 || lay_journal(r, journal, first->from, err) < 0)
		return -1;
	if (first->part != 1 || set_clock(first) < 0)
		return 0;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i].name, first->op) == 0)
			return kinds[i].redo(r, op);
	return 0;
}
