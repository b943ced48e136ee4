#include "src/base/json.h"
#include "src/base/number.h"
#include "src/machine/engine_internal.h"
#include "src/sys/path.h"
#include "src/sys/digest.h"

/* The store's key for the sum of the workflow text that was used last. */
#define WORKFLOW_KEY "workflow"

static struct json_member text_if_valid(const char *key, const char *value)
{
	return JSON_IF(value && !str_utf8_fault(str_of(value)), JSON_TEXT(key, value));
}

/* The text is kept each time that it changes. */
static int put_workflow(struct engine_run *r, json *op, struct error *err)
{
	const struct workflow *w = r->e->workflow;
	char sum[DIGEST_TEXT];
	struct str last;

	digest_text(w->source, sum);
	json_put_texts(op, "workflow", w->file, "workflow_sum", sum);
	if (context_get_key(r->e->file, WORKFLOW_KEY, &last, err) < 0)
		return -1;
	if (str_is(last, sum))
		return 0;
	json_put_str(op, "workflow_text", w->source);
	context_put_key(r->e->file, WORKFLOW_KEY, str_of(sum));
	if (last.n) /* the run continues with a changed one: its past was decided by the old one */
		json_put_texts(
			context_event(r->e->file, "workflow"), "workflow", w->file, "sum", sum);
	return 0;
}

int engine_note_operation(struct engine_run *r, struct error *err)
{
	const struct engine *e = r->e;
	json *op = JSON_ADD(context_op(e->file, "step"), JSON_TEXT("id", e->id),
		JSON_TEXT("file", e->file->path), JSON_BOOL("created", e->file->created),
		text_if_valid("research_skill", e->research_skill), text_if_valid("repo", e->repo),
		JSON_BOOL("returned", e->returned), text_if_valid("returned_id", e->returned_id),
		text_if_valid("owner", e->owner),
		JSON_IF(e->take_over, JSON_BOOL("take_over", true)));

	return put_workflow(r, op, err);
}

/* ---- keys that people set ---- */

enum { NOTED_MAX = 4096, SHOWN_MAX = 200 };

struct setting {
	const char *key;
	struct str value;
};

/* A context_change. */
static int set_key(struct context_file *f, void *data, struct error *err)
{
	const char *key = ((const struct setting *)data)->key;
	struct str value = ((const struct setting *)data)->value;

	/* A long value is left out: it is in the document that is saved with the operation. */
	JSON_ADD(context_op(f, "set"), JSON_TEXT("key", key),
		JSON_IF(value.n <= NOTED_MAX, JSON_TEXT("value", value.p)));
	context_set(&f->doc, key, value);
	if (!f->doc.changed)
		return 0;
	json_put_texts(context_event(f, "set"), "key", key, "value",
		value.n > SHOWN_MAX ? "(long)" : value.p);
	return context_save(f, err);
}

int engine_set_key(struct context_file *f, const char *key, struct str value, struct error *err)
{
	return context_update(f, set_key, &(struct setting){key, value}, err);
}

int engine_check_key(struct arena *a, const char *key, struct str *value, struct error *err)
{
	struct str name = str_of(key);
	uint64_t count;

	if (value->n && memchr(value->p, 0, value->n))
		return error_set(err, ERR_INPUT, "the value has a NUL byte");
	*value = arena_str(a, *value);
	if (!path_is_id(name) || str_find(name, STR(".")) < name.n)
		return error_set(
			err, ERR_USAGE, "bad key '%.100s': must be letters, digits, '_', '-'", key);
	if (!context_by_hand(key, *value))
		return error_set(err, ERR_INPUT, "'%s' cannot be set by hand", key);
	if (str_utf8_fault(*value))
		return error_set(err, ERR_INPUT, "the value is not UTF-8 text: byte %zu",
			str_utf8_fault(*value));
	if (strcmp(key, "state") == 0 && !value->n)
		return error_set(err, ERR_INPUT, "'state' must not be empty");
	if (context_is_counter(key) && !number_parse(*value, 0, CONTEXT_COUNT_MAX, &count))
		return number_refuse(err, ERR_INPUT, key, *value, 0, CONTEXT_COUNT_MAX);
	return 0;
}
