#include "steps/steps.h"
#include "src/machine/verdict.h"

#define RESULT "Validate Result"

enum { DEFAULT_TIMEOUT_S = 1800 };

static void ask(struct moment *m)
{
	const struct workflow *w = m->workflow;

	if (!context_has_section(m->doc, RESULT))
		ask_command(m, "validate", w->validate ? w->validate : "bash scripts/validate.sh",
			w->validate_timeout_s ? w->validate_timeout_s : DEFAULT_TIMEOUT_S, RESULT)
			->message = arena_printf(m->arena, "Validating %s", m->id);
}

/* `... log: PATH` names it; else the action that was asked for does. */
static const char *log_path(struct moment *m, struct str result)
{
	size_t at = str_find(result, STR("log: ")), end;

	if (at < result.n) {
		struct str path = str_sub(result, at + 5, result.n);

		end = str_find(path, STR("\n"));
		return arena_dup(m->arena, str_trim(str_sub(path, 0, end)));
	}
	for (const json *a = json_first(m->outstanding); a; a = json_next(a))
		if (json_get_str(a, "log_file"))
			return json_get_str(a, "log_file");
	return "";
}

static void decide(struct moment *m)
{
	struct str result = context_section(m->doc, RESULT);
	const char *word = answer_word(m, RESULT), *log = log_path(m, result);
	bool passed = verdict_passed(result) && strcmp(word, "failed") != 0;

	context_set(m->doc, "build_log", str_of(log));
	if (passed) {
		m->effects = EFFECT_COMMIT_PUSH;
		context_put(m->doc, "Last Failure", (struct str){0});
	} else {
		context_put(m->doc, "Last Failure",
			str_of(arena_printf(m->arena, "Validation failed. Log: %s\n\n%s", log,
				clipped(m, result).p)));
	}
	context_put(m->doc, RESULT, (struct str){0});
	gives(m, passed ? "clean" : "build_failed");
}

const struct step step_validating = {
	.state = "validating",
	.about = "run the repository's own checks",
	.pending = "validate",
	.triggers = (const char *const[]){"clean", "build_failed", NULL},
	.ask = ask,
	.decide = decide,
};
