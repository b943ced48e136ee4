#include "steps/steps.h"

#define RESULT STEPS_VALIDATION

static void validating_request(struct step_context *c)
{
	const struct workflow *w = c->workflow;
	struct step_request *r = steps_request_command(c, "validate", steps_validate_command(c),
		w->validate_timeout_s ? w->validate_timeout_s : STEPS_VALIDATE_S, RESULT);

	if (r)
		r->message = arena_printf(c->arena, "Validating %s", c->id);
}

/* From the result, `... log: PATH`, else from the action. */
static const char *validating_log_path(struct step_context *c, struct str result)
{
	size_t at = str_find(result, STR("log: ")), end;

	if (at < result.n) {
		struct str path = str_sub(result, at + 5, result.n);

		end = str_find(path, STR("\n"));
		return arena_dup(c->arena, str_trim(str_sub(path, 0, end)));
	}
	for (const json *a = json_first(c->actions); a; a = json_next(a))
		if (json_get_str(a, "log_file"))
			return json_get_str(a, "log_file");
	return "";
}

static void validating_decide(struct step_context *c)
{
	struct str result = context_section(c->doc, RESULT);
	const char *log = validating_log_path(c, result);
	bool passed = steps_answer_is(c, RESULT, "passed");

	steps_set_trigger(c, passed ? "clean" : "build_failed");
	c->effects = passed ? EFFECT_PUSH : EFFECT_NONE;
	if (passed && !steps_claim(c, RESULT, EVIDENCE_TREE))
		return;
	context_set(c->doc, "build_log", str_of(log));
	if (passed)
		context_remove(c->doc, CONTEXT_LAST_FAILURE);
	else
		context_put(c->doc, CONTEXT_LAST_FAILURE,
			str_of(arena_printf(c->arena, "Validation failed. Log: %s\n\n%s", log,
				steps_clip(c, result).p)));
	context_remove(c->doc, RESULT);
}

const struct step step_validating = {
	.state = "validating",
	.about = "run the repository's own checks",
	.pending = "validate",
	.triggers = (const char *const[]){"clean", "build_failed", NULL},
	.verdicts = (const char *const[]){RESULT, NULL},
	.evidence = EVIDENCE_TREE,
	.request = validating_request,
	.decide = validating_decide,
};
