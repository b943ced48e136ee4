#include "src/config/violation.h"
#include "src/verify/explore_graph.h"

struct answer_list {
	struct arena *arena;
	struct explore_answers *out;
};

static struct explore_answer *add(
	struct answer_list *l, const char *name, const char *word, const char *text)
{
	vec_push_in(l->arena, l->out,
		(struct explore_answer){.name = name, .word = word, .text = text});
	return &l->out->items[l->out->n - 1];
}

static struct explore_answer *add_silent(struct answer_list *l, const char *name)
{
	struct explore_answer *answer = add(l, name, NULL, NULL);

	answer->silent = true;
	return answer;
}

const char *explore_expected_text(const char *section)
{
	static const struct {
		const char *section, *text;
	} table[] = {
		{"PR URL", "https://git.example/o/r/pull/1"},
		{"Debug Report", "# Debug report for the work item"},
	};

	for (size_t i = 0; i < COUNT(table); i++)
		if (strcmp(table[i].section, section) == 0)
			return table[i].text;
	return NULL;
}

const char *explore_result_word(struct arena *a, const json *action, size_t i)
{
	struct str rest = str_of(json_get_str(action, "result_format"));

	for (;; i--) {
		size_t end = str_find(rest, STR("|"));

		if (!i)
			return rest.n ? arena_dup(a, str_trim(str_sub(rest, 0, end))) : NULL;
		if (end == rest.n)
			return NULL;
		rest = str_sub(rest, end + 1, rest.n);
	}
}

static void agent_answers(struct answer_list *l, const json *action)
{
	const char *expected = explore_expected_text(json_get_str(action, "write_section")), *word;

	for (size_t i = 0; (word = explore_result_word(l->arena, action, i)); i++)
		add(l, word, word,
			arena_printf(l->arena, "%s%sThe result is %s.", expected ? expected : "",
				expected ? "\n\n" : "", word));
	add_silent(l, "no answer");
	word = explore_result_word(l->arena, action, 0);
	if (expected)
		add(l, arena_printf(l->arena, "%s, without the expected text", word), word,
			"There is a result.");
	add(l, "prose without a verdict", NULL, "There is nothing to report.");
	add(l, "prose that approves", NULL, "Approved.\n\nvalidated");
}

/* The policy denied the command; what that means is up to the policy unless the workflow says. */
static void violation_answers(struct answer_list *l, const json *security)
{
	const char *declared = json_get_str(security, "violation");

	for (int v = VIOLATION_HARD_ABORT; security && v <= VIOLATION_VALIDATION_FAIL; v++) {
		const char *name = violation_name((enum violation)v);

		if (declared && strcmp(declared, name) != 0)
			continue;
		add(l, arena_printf(l->arena, "security violation, %s", name), NULL,
			arena_printf(l->arena,
				"failed \xe2\x80\x94 security violation: write: denied\n\n"
				"{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\","
				"\"reason\":\"denied\"}",
				name));
	}
}

static void script_answers(struct answer_list *l, const json *action)
{
	add(l, "passed", NULL, "passed \xe2\x80\x94 log: /work/logs/script.log");
	add(l, "failed", NULL, "failed \xe2\x80\x94 log: /work/logs/script.log");
	violation_answers(l, json_get(action, "security"));
	add_silent(l, "no answer");
	add_silent(l, "still running")->running = true;
}

/* `change`: one member of `state_changes`, or NULL. */
static void add_decision(
	struct answer_list *l, const char *word, const char *name, const char *change)
{
	const char *text = arena_printf(l->arena,
		"The decision:\n{\"action\": \"%s\", \"reason\": \"explored\"%s%s%s}", word,
		change ? ", \"state_changes\": [" : "", change ? change : "", change ? "]" : "");

	add(l, name, NULL, text)->change = change != NULL;
}

static void add_key_change(struct answer_list *l, const char *key, const char *value)
{
	add_decision(l, "continue", arena_printf(l->arena, "continue, %s = '%s'", key, value),
		arena_printf(l->arena, "{\"key\": \"%s\", \"value\": \"%s\"}", key, value));
}

static void add_section_change(struct answer_list *l, const char *section, const char *text)
{
	add_decision(l, "continue",
		arena_printf(l->arena, "continue, section '%s' %s", section,
			*text ? "written" : "emptied"),
		arena_printf(l->arena, "{\"section\": \"%s\", \"text\": \"%s\"}", section, text));
}

static void change_answers(
	struct answer_list *l, const struct workflow *w, const char *const *sections)
{
	static const char *const counters[] = {"fix_iteration", "review_fix_iteration",
		"signoff_cycle_count", "review_cycle_count", "consecutive_failures",
		"actions_dispatched", "budget_extensions"};

	for (size_t i = 0; i < w->n_states; i++)
		if (strcmp(w->states[i].name, w->initial) != 0)
			add_key_change(l, "state", w->states[i].name);
	for (size_t i = 0; i < COUNT(counters); i++)
		add_key_change(l, counters[i], "0");
	add_key_change(l, "pr_url", "");
	add_key_change(l, "spec_path", "");
	for (; *sections; sections++) {
		add_section_change(l, *sections, "");
		add_section_change(l, *sections, "There is nothing to report.");
	}
}

void explore_answers(struct arena *a, const struct workflow *w, const json *action, bool changes,
	const char *const *sections, struct explore_answers *out)
{
	static const char *const decisions[] = {"continue", "terminate", "needs_user_input"};
	struct answer_list l = {a, out};

	*out = (struct explore_answers){0};
	if (strcmp(json_get_str(action, "action"), "run_script") == 0) {
		script_answers(&l, action);
	} else if (!json_get_str(action, "trigger")) {
		agent_answers(&l, action);
	} else {
		for (size_t i = 0; i < COUNT(decisions); i++)
			add_decision(&l, decisions[i], decisions[i], NULL);
		add_silent(&l, "no answer");
		if (changes)
			change_answers(&l, w, sections);
	}
}
