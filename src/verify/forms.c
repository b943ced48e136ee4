#include "src/config/violation.h"
#include "src/verify/forms.h"

#define JSON_OF(a, key, word) arena_printf(a, "It is so.\n{\"" key "\": \"%s\"}", word)

struct lister {
	struct arena *a;
	struct forms *out;
};

static struct form *add(struct lister *l, const char *name)
{
	struct forms *f = l->out;

	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 16;
		struct form *more = arena_alloc(l->a, cap * sizeof(*more));

		if (f->n)
			memcpy(more, f->list, f->n * sizeof(*more));
		f->list = more;
		f->cap = cap;
	}
	f->list[f->n] = (struct form){.name = name};
	return &f->list[f->n++];
}

static void add_answer(struct lister *l, const char *name, const char *word, const char *text)
{
	struct form *f = add(l, name);

	f->word = word;
	f->text = text;
}

static void all_plain(struct lister *l)
{
	for (size_t i = 0; i < l->out->n; i++)
		l->out->list[i].plain = true;
}

/* What a step looks for in the text beside the word. */
static const char *text_for(const char *section)
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

/* The `i`th word of "a | b | c", or NULL. */
static const char *word_at(struct arena *a, const json *action, size_t i)
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

static void add_again(struct lister *l, const char *name, const char *word, const char *text)
{
	add_answer(l, name, word, text);
	l->out->list[l->out->n - 1].again = true;
}

static void agent_forms(struct lister *l, const json *action)
{
	const char *special = text_for(json_get_str(action, "write_section")), *word;

	for (size_t i = 0; (word = word_at(l->a, action, i)); i++)
		add_answer(l, word, word,
			special ? arena_printf(l->a, "%s\n\nSo it is: %s.", special, word)
				: arena_printf(l->a, "So it is: %s.", word));
	add(l, "no answer")->silent = true;
	all_plain(l);
	word = word_at(l->a, action, 0);
	if (special)
		add_answer(l, arena_printf(l->a, "%s, without what the text should have", word),
			word, "So it is.");
	add_answer(l, "prose without a verdict", NULL, "There is nothing to be told about it.");
	add_answer(l, "prose that approves", NULL, "Approved.\n\nvalidated");
	for (size_t i = 0; (word = word_at(l->a, action, i)); i++)
		add_again(l, arena_printf(l->a, "json: %s", word), NULL,
			arena_printf(l->a, "%s%s%s", special ? special : "", special ? "\n\n" : "",
				JSON_OF(l->a, "status", word)));
}

/* The policy stopped it, and what that means is the policy's to say unless the workflow does. */
static void violation_form(struct lister *l, const char *meaning)
{
	add_answer(l, arena_printf(l->a, "security violation, %s", meaning), NULL,
		arena_printf(l->a,
			"failed \xe2\x80\x94 security violation: write: so it is\n\n"
			"{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\","
			"\"reason\":\"so it is\"}",
			meaning));
}

static void violation_forms(struct lister *l, const json *security)
{
	const char *said = json_get_str(security, "violation");

	for (int v = VIOLATION_HARD_ABORT; security && v <= VIOLATION_VALIDATION_FAIL; v++)
		if (!said || strcmp(said, violation_name((enum violation)v)) == 0)
			violation_form(l, violation_name((enum violation)v));
}

static void script_forms(struct lister *l, const json *action)
{
	add_answer(l, "passed", NULL, "passed \xe2\x80\x94 log: /stage/logs/script.log");
	add_answer(l, "failed", NULL, "failed \xe2\x80\x94 log: /stage/logs/script.log");
	violation_forms(l, json_get(action, "security"));
	add(l, "no answer")->silent = true;
	all_plain(l);
	add(l, "still running")->silent = true;
	l->out->list[l->out->n - 1].running = true;
	add_again(l, "timed out", NULL,
		"failed \xe2\x80\x94 timed out after 600 s \xe2\x80\x94 log: "
		"/stage/logs/script.log");
}

static void decision(struct lister *l, const char *word, const char *name, const char *change)
{
	add_answer(l, name, NULL,
		arena_printf(l->a,
			"It is so.\n{\"action\": \"%s\", \"reason\": \"it is so\"%s%s%s}", word,
			change ? ", \"state_changes\": [" : "", change ? change : "",
			change ? "]" : ""));
	l->out->list[l->out->n - 1].change = change != NULL;
	l->out->list[l->out->n - 1].plain = true;
}

static void key_change(struct lister *l, const char *key, const char *value)
{
	decision(l, "continue", arena_printf(l->a, "continue, %s = '%s'", key, value),
		arena_printf(l->a, "{\"key\": \"%s\", \"value\": \"%s\"}", key, value));
}

static void section_change(struct lister *l, const char *section, const char *text)
{
	decision(l, "continue",
		arena_printf(
			l->a, "continue, section '%s' %s", section, *text ? "written" : "emptied"),
		arena_printf(l->a, "{\"section\": \"%s\", \"text\": \"%s\"}", section, text));
}

static void change_forms(struct lister *l, const struct workflow *w, const char *const *sections)
{
	static const char *const counters[] = {"fix_iteration", "review_fix_iteration",
		"signoff_cycle_count", "review_cycle_count", "consecutive_failures",
		"actions_dispatched", "budget_extensions"};

	for (size_t i = 0; i < w->n_states; i++)
		if (strcmp(w->states[i].name, w->initial) != 0)
			key_change(l, "state", w->states[i].name);
	for (size_t i = 0; i < COUNT(counters); i++)
		key_change(l, counters[i], "0");
	key_change(l, "pr_url", "");
	key_change(l, "spec_path", "");
	for (; *sections; sections++) {
		section_change(l, *sections, "");
		section_change(l, *sections, "There is nothing to be told about it.");
	}
}

static void troubleshooter_forms(struct lister *l)
{
	decision(l, "continue", "continue", NULL);
	decision(l, "terminate", "terminate", NULL);
	decision(l, "needs_user_input", "needs_user_input", NULL);
	add(l, "no answer")->silent = true;
	all_plain(l);
	add_again(l, "continue, in prose", "continue", "It is so.");
	add_again(l, "terminate, in prose", "terminate", "It is so.");
	add_again(l, "needs_user_input, in prose", "needs_user_input", "It is so.");
}

void forms_of(struct arena *a, const struct workflow *w, const json *action, bool changes,
	const char *const *sections, struct forms *out)
{
	struct lister l = {a, out};

	*out = (struct forms){0};
	if (strcmp(json_get_str(action, "action"), "run_script") == 0) {
		script_forms(&l, action);
	} else if (!json_get_str(action, "trigger")) {
		agent_forms(&l, action);
	} else {
		troubleshooter_forms(&l);
		if (changes)
			change_forms(&l, w, sections);
	}
}

void forms_refused(struct arena *a, const json *action, struct forms *out)
{
	struct lister l = {a, out};
	bool trouble = json_get_str(action, "trigger") != NULL;
	const char *first = word_at(a, action, 0), *second = word_at(a, action, 1);

	*out = (struct forms){0};
	add_answer(&l, "an unknown word", "no_such_word", "So it is.");
	add_answer(&l, "an empty text", first, " \n");
	add_answer(&l, "a text that is not UTF-8", first, "So\xffit is.");
	if (second)
		add_answer(&l, "a word that the text contradicts", first,
			trouble ? JSON_OF(a, "action", second) : JSON_OF(a, "status", second));
	if (trouble)
		add_answer(&l, "no word", NULL, "So it is.");
}
