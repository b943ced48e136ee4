#include "context/lease.h"
#include "src/machine/answer.h"
#include "src/machine/agent_events.h"
#include "src/machine/engine.h"
#include "src/verify/recorded.h"
#include "src/verify/redo_internal.h"
#include "src/verify/restore.h"
#include "steps/steps.h"

static int open_file(struct redo *r, const struct operation *op)
{
	struct context_file *f = &r->file;
	int rc = f->store ? context_again(f, CONTEXT_MAY_CREATE, &r->err)
			  : context_open_on(f, r->disk, r->path, CONTEXT_MAY_CREATE, &r->err);

	if (rc < 0 && !f->store)
		redo_shut(r);
	f->replay = json_get(operation_last(op)->note, "seen");
	return rc;
}

/* What people did: the next open finds it. */
static int redo_edit(struct redo *r, const struct operation *op)
{
	const struct once *c = &op->list[0];

	redo_lay_document(r, c->there, buf_str(&c->document));
	(void)open_file(r, op);
	return 1;
}

/* The same text as before, perhaps from another place. */
static int same_workflow(struct redo *r, const char *sum, const char *file)
{
	if (strcmp(r->workflow_sum, sum) != 0)
		return 0;
	if (strcmp(r->workflow.file, file) != 0)
		r->workflow.file = arena_dup(&r->workflow_arena, str_of(file));
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

static int redo_step(struct redo *r, const struct operation *op)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const json *note = op->list[0].note;
	const char *skill = json_get_str(note, "research_skill"),
		   *repo = json_get_str(note, "repo");
	struct environment environment;
	struct engine m = {.file = &r->file,
		.workflow = &r->workflow,
		.step_for = step_for,
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
	environment_recorded(&environment, &r->file);
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
static void note_turns(struct context_file *f, const struct once *c)
{
	for (const json *e = json_first(c->events); e; e = json_next(e)) {
		const char *entry = json_get_str(e, "entry"), *action = json_get_str(e, "action"),
			   *type = json_get_str(e, "type");

		if (type && strcmp(type, AGENT_RUN) == 0)
			agent_run_note(f, e);
		else if (entry && action)
			agent_turn_note(f, entry, action);
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
	(void)answer_record_by(&r->file, json_get_str(c->note, "owner"), id,
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
		(void)engine_set_key(&r->file, key, str_of(value), &r->err);
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

int redo_by_kind(struct redo *r, const struct operation *op)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i].name, op->list[0].op) == 0)
			return kinds[i].redo(r, op);
	return 0;
}
