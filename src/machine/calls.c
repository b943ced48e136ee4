/*
 * Calls from outside that name a document by its path: an answer, a script, a key.
 */
#include "context/lease.h"
#include "src/machine/answer.h"
#include "src/machine/engine.h"
#include "src/machine/script.h"
#include "src/sys/path.h"

/* ---- an answer ---- */

/* The result word in the document: given by the caller, or read from the text. */
static const char *recorded_word(struct arena *a, const struct context_file *f, const char *id)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;
	const json *action =
		action_load(&f->doc, &array, &ignored) == 0 ? action_find(array, id) : NULL;
	const char *word = action ? json_get_str(action, "answered") : NULL;

	return word ? arena_dup(a, str_of(word)) : "";
}

/* The lock was busy for too long; the agent's work is kept all the same. */
static int keep_unrecorded(struct context_file *f, struct str text, struct error *err)
{
	char *stem = arena_printf(&f->doc.arena, "%s-unrecorded", f->name), *path;
	struct error second;
	size_t n = strlen(err->text);

	if (context_keep(f, stem, text, &path, &second) < 0)
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; what was offered is not kept: %.300s", second.text);
	else
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; nothing is recorded, what was offered is kept in %.400s", path);
	return -1;
}

int answer_record_file(struct arena *a, const char *context_file, const char *owner, const char *id,
	const char *word, struct str text, const char **recorded, enum answer_fate *fate,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (context_open(&f, context_file, CONTEXT_MUST_EXIST, err) < 0)
		return err->code == ERR_STATE && text.n ? keep_unrecorded(&f, text, err) : -1;
	if (answer_record_by(&f, owner, id, word, text, fate, err) < 0)
		return -1;
	*recorded = recorded_word(a, &f, id);
	return 0;
}

/* ---- a script ---- */

static int note_refusal(struct context_file *f, const char *id, struct error *err)
{
	json *event = context_event(f, "refusal");
	struct error ignored;

	json_put_str(event, "action", str_of(id));
	json_put_str(event, "reason", str_of(err->text));
	(void)context_log(f, &ignored);
	return -1;
}

int script_admit(const char *context_file, const char *action, const char *owner, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (lease_check_owner(owner, err) < 0 ||
		context_open(&f, context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	(void)context_op(&f, "exec");
	if (lease_admit(&f, context_get(&f.doc, "work_item_id").p, owner, err) == 0)
		return context_log(&f, err);
	return err->code == ERR_STATE ? note_refusal(&f, action, err) : -1;
}

/* ---- a key ---- */

static int check_count(const char *key, struct str value, struct error *err)
{
	bool digits = value.n > 0;

	for (size_t i = 0; i < value.n; i++)
		digits = digits && value.p[i] >= '0' && value.p[i] <= '9';
	if (!digits)
		return error_set(
			err, ERR_INPUT, "'%s' must be a whole number, not '%.60s'", key, value.p);
	if (value.n > 9)
		return error_set(err, ERR_INPUT, "'%s' must be at most 999999999", key);
	return 0;
}

int engine_check_key(struct arena *a, const char *key, struct str *value, struct error *err)
{
	struct str name = str_of(key);

	if (value->n && memchr(value->p, 0, value->n))
		return error_set(err, ERR_INPUT, "the value has a NUL byte");
	*value = arena_str(a, *value);
	if (!path_is_id(name) || str_find(name, STR(".")) < name.n)
		return error_set(
			err, ERR_USAGE, "bad key '%.100s': must be letters, digits, '_', '-'", key);
	if (strcmp(key, "work_item_id") == 0 || strcmp(key, "revision") == 0 ||
		strcmp(key, "attempts") == 0)
		return error_set(err, ERR_INPUT, "'%s' is not to be set", key);
	if (str_utf8_fault(*value))
		return error_set(err, ERR_INPUT, "the value is not UTF-8 text: byte %zu",
			str_utf8_fault(*value));
	if (strcmp(key, "state") == 0 && !value->n)
		return error_set(err, ERR_INPUT, "'state' must not be empty");
	return context_is_counter(key) ? check_count(key, *value, err) : 0;
}
