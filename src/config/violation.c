#include "src/base/json.h"
#include "src/config/violation.h"

static const char *const names[] = {[VIOLATION_HARD_ABORT] = "hard_abort",
	[VIOLATION_VALIDATION_FAIL] = "validation_fail",
	NULL};

const char *violation_name(enum violation v)
{
	return names[v];
}

bool violation_find(const char *name, enum violation *out)
{
	unsigned i;
	bool known = str_index(str_of(name), names, &i);

	*out = known ? (enum violation)i : VIOLATION_HARD_ABORT;
	return known;
}

/* NULL for NULL. */
static const char *violation_line_of(struct arena *a, const char *text)
{
	return text ? arena_printable(a, str_of(text), SIZE_MAX) : NULL;
}

static void take_verdict(struct arena *a, const json *report, struct violation_report *out)
{
	const char *rule = json_get_str(report, "rule"), *reason = json_get_str(report, "reason");

	out->policy = violation_line_of(a, json_get_str(report, "policy"));
	out->rule = violation_line_of(a, rule ? rule : "?");
	out->reason = violation_line_of(a, reason ? reason : "no reason given");
	out->word = violation_line_of(a, json_get_str(report, "word"));
	out->path = violation_line_of(a, json_get_str(report, "path"));
}

int violation_read(struct arena *a, const json *report, const char *wished,
	struct violation_report *out, struct error *err)
{
	const char *verdict = json_is_object(report) ? json_get_str(report, "verdict") : NULL;

	*out = (struct violation_report){0};
	if (verdict && strcmp(verdict, "none") == 0 && json_get_str(report, "error"))
		return error_set(
			err, ERR_SYSTEM, "%s", violation_line_of(a, json_get_str(report, "error")));
	if (!verdict || (strcmp(verdict, "deny") != 0 && strcmp(verdict, "run") != 0))
		return error_set(err, ERR_SYSTEM, "the report of the policy has no verdict");
	(void)violation_find(wished ? wished : json_get_str(report, "violation"), &out->violation);
	if (strcmp(verdict, "deny") == 0)
		take_verdict(a, report, out);
	return out->rule ? 1 : 0;
}

char *violation_line(struct arena *a, const struct violation_report *v)
{
	return arena_printf(a, "%s%s%s%s%s%s: %s", v->rule, v->word ? " '" : "",
		v->word ? v->word : "", v->word ? "'" : "", v->path && *v->path ? " -> " : "",
		v->path ? v->path : "", v->reason);
}

char *violation_json_line(struct arena *a, const json *j)
{
	struct violation_report v = {0};

	take_verdict(a, j, &v);
	return violation_line(a, &v);
}

json *violation_json(const struct violation_report *v)
{
	return JSON_OBJECT(JSON_TEXT("status", "failed"),
		JSON_IF(v->policy, JSON_TEXT("policy", v->policy)),
		JSON_TEXT("violation", violation_name(v->violation)), JSON_TEXT("rule", v->rule),
		JSON_IF(v->word, JSON_TEXT("word", v->word)),
		JSON_IF(v->path, JSON_TEXT("path", v->path)), JSON_TEXT("reason", v->reason));
}
