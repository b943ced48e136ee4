/*
 * required.c: what the workflow requires is fixed when the item begins, because whoever can write
 * the workflow's file could otherwise have claims accepted without a check. A workflow that
 * requires more replaces it; one that requires less does so only if the user accepts it. The key of
 * the store:
 *
 *     {"evidence": [KIND], "command": TEXT, "forge": TEXT, "validate": TEXT, "checks": TEXT,
 *      "allow_secrets": [TEXT]}
 */
#include "src/base/json.h"
#include "src/machine/engine_internal.h"

#define REQUIRED_KEY "required"

static json *required_now(const struct engine *e)
{
	const struct workflow *w = e->workflow;
	unsigned kinds = engine_evidence_required(w, e->step_for);
	json *names = json_array(), *allowed = json_array();

	for (size_t i = 0; i < w->n_allow_secrets; i++)
		json_push_str(allowed, str_of(w->allow_secrets[i]));
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (kinds >> i & 1)
			json_push_str(names, str_of(evidence_name(1u << i)));
	return JSON_OBJECT(JSON_VALUE("evidence", names),
		JSON_IF(w->evidence.command, JSON_TEXT("command", w->evidence.command)),
		JSON_IF(w->forge, JSON_TEXT("forge", w->forge)),
		JSON_IF(w->validate, JSON_TEXT("validate", w->validate)),
		JSON_IF(w->checks, JSON_TEXT("checks", w->checks)),
		JSON_VALUE("allow_secrets", allowed));
}

static bool required_has_text(const json *required, const char *key, const char *text)
{
	for (const json *k = json_first(json_get(required, key)); k; k = json_next(k))
		if (strcmp(json_text(k), text) == 0)
			return true;
	return false;
}

static bool same_text(const json *was, const json *now, const char *key)
{
	const char *one = json_get_str(was, key), *other = json_get_str(now, key);

	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* What is less, or other, than it was; NULL: nothing. A command may be added to the evidence. */
static const char *find_less(struct arena *a, const json *was, const json *now)
{
	static const char *const commands[] = {"forge", "validate", "checks"};

	for (const json *k = json_first(json_get(was, "evidence")); k; k = json_next(k))
		if (!required_has_text(now, "evidence", json_text(k)))
			return arena_printf(a, "does not require '%s'", json_text(k));
	for (const json *k = json_first(json_get(now, "allow_secrets")); k; k = json_next(k))
		if (!required_has_text(was, "allow_secrets", json_text(k)))
			return arena_printf(
				a, "has not the same 'allow_secrets' (%s)", json_text(k));
	if (json_get(was, "command") && !same_text(was, now, "command"))
		return "does not require the same command";
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!same_text(was, now, commands[i]))
			return arena_printf(a, "has not the same '%s'", commands[i]);
	return NULL;
}

static void store_required(struct engine_run *r, const json *now, struct str was)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print(&text, now);
	if (!str_eq(was, buf_str(&text)))
		context_put_key(r->e->file, REQUIRED_KEY, buf_str(&text));
}

int engine_check_required(struct engine_run *r, struct error *err)
{
	CLEANUP(json_free) json *now = required_now(r->e), *was = NULL;
	const char *less = NULL;
	struct str last;

	if (r->e->cancel)
		return 0;
	if (context_get_key(r->e->file, REQUIRED_KEY, &last, err) < 0)
		return -1;
	if (last.n && json_parse(&was, last, err) < 0)
		return error_prefix(err, "key '" REQUIRED_KEY "' of '%s'", r->e->file->path);
	if (was && !r->e->accept_workflow)
		less = find_less(&r->arena, was, now);
	if (less)
		return error_set(err, ERR_STATE,
			"the workflow '%s' %s as when '%s' began: restore it, or accept the "
			"change with 'dev-team step %s --workflow FILE --accept-workflow'",
			r->e->workflow->file, less, r->e->id, r->e->id);
	store_required(r, now, last);
	return 0;
}
