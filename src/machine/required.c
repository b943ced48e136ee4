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

	return JSON_OBJECT(JSON_VALUE("evidence", engine_evidence_names(kinds)),
		JSON_IF(w->evidence.command, JSON_TEXT("command", w->evidence.command)),
		JSON_IF(w->forge, JSON_TEXT("forge", w->forge)),
		JSON_IF(w->validate, JSON_TEXT("validate", w->validate)),
		JSON_IF(w->checks, JSON_TEXT("checks", w->checks)),
		JSON_VALUE("allow_secrets", json_texts(w->allow_secrets, w->n_allow_secrets)));
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
		if (!json_has_text(json_get(now, "evidence"), json_text(k)))
			return arena_printf(a, "does not require '%s'", json_text(k));
	for (const json *k = json_first(json_get(now, "allow_secrets")); k; k = json_next(k))
		if (!json_has_text(json_get(was, "allow_secrets"), json_text(k)))
			return arena_printf(
				a, "has not the same 'allow_secrets' (%s)", json_text(k));
	if (json_get(was, "command") && !same_text(was, now, "command"))
		return "does not require the same command";
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!same_text(was, now, commands[i]))
			return arena_printf(a, "has not the same '%s'", commands[i]);
	return NULL;
}

int engine_check_required(struct engine_run *r, struct error *err)
{
	CLEANUP(json_free) json *now = required_now(r->e), *was = NULL;
	CLEANUP(buf_release) struct buf one = BUF_INIT, other = BUF_INIT;
	const char *less = NULL;

	if (r->e->cancel)
		return 0;
	if (context_get_json(r->e->file, REQUIRED_KEY, &was, err) < 0)
		return -1;
	if (was && !r->e->accept_workflow)
		less = find_less(&r->arena, was, now);
	if (less)
		return error_set(err, ERR_STATE,
			"the workflow '%s' %s as when '%s' began: restore it, or accept the "
			"change with 'dev-team step %s --workflow FILE --accept-workflow'",
			r->e->workflow->file, less, r->e->id, r->e->id);
	json_print(&one, now);
	if (was)
		json_print(&other, was);
	if (!str_eq(buf_str(&one), buf_str(&other)))
		context_put_json(r->e->file, REQUIRED_KEY, now);
	return 0;
}
