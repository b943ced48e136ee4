#include "src/sys/path.h"
#include "src/config/decode.h"
#include "src/machine/action.h"
#include "src/machine/agents.h"
#include "src/run/scripted_agents.h"
#include "src/workflow/workflow.h"

enum { TURNS_MAX = 1000000 };

static bool scripted_is_text(struct str s)
{
	return str_trim(s).n > 0;
}

static bool is_run(struct str s)
{
	return scripted_is_text(s) && s.n <= SCRIPTED_RUN_MAX;
}

static bool scripted_is_key(struct str key)
{
	size_t slash = str_find(key, STR("/"));

	return slash < key.n ? path_is_id(str_sub(key, 0, slash)) : section_name_valid(key);
}

static const struct config_form text_form = {
	.valid = scripted_is_text, .what = "a text that is not empty"};
static const struct config_form run_form = {.valid = is_run, .what = "a text of 1 to 100000 bytes"};
static const struct config_form result_form = {
	.valid = workflow_word_valid, .what = "a result word"};
static const struct config_form key_form = {
	.valid = scripted_is_key, .what = "the name of a section or the id of an action"};

static void scripted_read_text(struct config_reader *r, const struct config_field *f,
	const char *key, const struct yaml *v, void *into)
{
	const char *text;

	if (config_text(r, f, key, v, &text))
		*(struct str *)into = v->text;
}

#define TURN(member) CONFIG_AT(scripted_turn, member)

static const struct config_field turn_fields[] = {
	{.key = "run", .kind = CONFIG_TEXT, .form = &run_form, TURN(run)},
	{.key = "text",
		.kind = CONFIG_CUSTOM,
		.form = &text_form,
		.read = scripted_read_text,
		TURN(text)},
	{.key = "text_from", .kind = CONFIG_SWITCH, TURN(from_run), CONFIG_WORDS("run")},
	{.key = "result",
		.kind = CONFIG_TEXT,
		.form = &result_form,
		TURN(result),
		CONFIG_PLACE(scripted_turn, result_line)},
	{.key = "silent", .kind = CONFIG_BOOL, TURN(silent)},
	{.key = "timeout",
		.kind = CONFIG_INTEGER,
		TURN(timeout_s),
		CONFIG_RANGE(1, 86400),
		.preset = "600"},
	{0},
};

static void check_turn(struct config_reader *r, const struct yaml *map, void *of)
{
	const struct scripted_turn *t = of;
	const struct yaml *silent = yaml_get(map, "silent");

	if (silent && !t->silent)
		config_fault(r, silent, "'silent' must be true, or be left out");
	else if (silent && (t->text.n || t->from_run || t->result))
		config_fault(r, map, "'silent' and an answer exclude each other");
	else if (t->text.n && t->from_run)
		config_fault(r, map, "'text' and 'text_from' exclude each other");
	else if (t->from_run && !t->run)
		config_fault(r, map, "'text_from' needs 'run'");
	else if (yaml_get(map, "timeout") && !t->run)
		config_fault(r, map, "'timeout' needs 'run'");
	else if (!silent && !t->text.n && !t->from_run)
		config_fault(r, map, "no answer: give 'text', 'text_from: run' or 'silent: true'");
}

static const struct config_field turn_field = {
	.kind = CONFIG_GROUP, .fields = turn_fields, .check = check_turn};

static void read_script_turn(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	struct scripted_turn *turn = into;

	turn->exec = v->kind == YAML_SCALAR && str_is(v->text, "exec");
	if (v->kind == YAML_MAP)
		config_value(r, &turn_field, key, v, into);
	else if (!turn->exec)
		config_refuse(r, f, key, v, "a map or exec");
}

static const struct config_field script_turn_field = {
	.kind = CONFIG_CUSTOM, .read = read_script_turn};

/* A single answer is a list of one. */
#define TURNS(field)                                                                               \
	{                                                                                          \
		.kind = CONFIG_LIST, CONFIG_ITEMS_AT(scripted_entry, turns, n),                    \
		CONFIG_RANGE(1, TURNS_MAX), .single = true, .item = &(field),                      \
		CONFIG_PLACE(scripted_turn, line)                                                  \
	}

static const struct config_field answer_turns = TURNS(turn_field);
static const struct config_field script_turns = TURNS(script_turn_field);

#define ENTRIES(member, turns)                                                                     \
	.key = #member, .kind = CONFIG_ENTRIES, .form = &key_form, .item = &(turns),               \
	CONFIG_ITEMS_AT(scripted_agents, member.list, member.n),                                   \
	CONFIG_PLACE(scripted_entry, line)

static const struct config_field file_fields[] = {
	{ENTRIES(answers, answer_turns)},
	{ENTRIES(scripts, script_turns)},
	{0},
};

int scripted_parse(struct arena *a, const char *file, struct str text, struct scripted_agents *s,
	struct error *err)
{
	struct yaml *top;

	*s = (struct scripted_agents){.file = file};
	if (yaml_parse(a, text, file, 1, &top, err) < 0)
		return -1;
	return config_decode(a, file, top, "a script of agents", file_fields, s, err);
}

int scripted_load(struct arena *a, const char *path, struct scripted_agents *s, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, path, SCRIPTED_MAX, NULL, err) < 0)
		return -1;
	return scripted_parse(a, path, buf_str(&text), s, err);
}

static const struct scripted_entry *entry_of(const struct scripted_entries *e, struct str key)
{
	for (size_t i = 0; i < e->n; i++)
		if (str_is(key, e->list[i].key))
			return &e->list[i];
	return NULL;
}

/* `Fix 1`, `Fix 2`... */
static bool scripted_is_fix(struct str section)
{
	return str_starts(section, CONTEXT_FIX) && section.n > 4 &&
	       strspn(section.p + 4, "0123456789") == section.n - 4;
}

static const struct scripted_entry *scripted_find_in(
	const struct scripted_entries *e, const json *action)
{
	struct str section = str_of(json_get_str(action, "write_section"));
	const struct scripted_entry *found = entry_of(e, str_of(json_get_str(action, "id")));

	if (!found)
		found = entry_of(e, section);
	if (!found && scripted_is_fix(section))
		found = entry_of(e, STR(CONTEXT_FIX "N"));
	return found;
}

int scripted_find(const struct scripted_agents *s, const json *action,
	const struct scripted_entry **entry, struct error *err)
{
	bool script = action_kind(action) == ACTION_SCRIPT;
	const struct scripted_entry *other =
		scripted_find_in(script ? &s->answers : &s->scripts, action);

	*entry = scripted_find_in(script ? &s->scripts : &s->answers, action);
	/* The answers of a merge are those of its resolver. */
	if (*entry || (script && !action_accepts(action, STR("passed"))))
		return 0;
	if (other)
		return error_at(err, s->file, other->line, other->col,
			"'%s' is %s: it belongs under '%s'", other->key,
			script ? "a script's" : "an agent's", script ? "scripts" : "answers");
	if (script || s->others)
		return 0;
	return error_at(err, s->file, 0, 0, "no answer for '%s', section '%s'",
		json_get_str(action, "id"), json_get_str(action, "write_section"));
}

int scripted_turn_of(const struct scripted_agents *s, const struct scripted_entry *entry,
	size_t use, const json *action, const struct scripted_turn **turn, struct error *err)
{
	const struct scripted_turn *t = &entry->turns[use < entry->n ? use : entry->n - 1];

	*turn = t;
	if (!t->result || action_accepts(action, str_of(t->result)))
		return 0;
	return error_at(err, s->file, t->result_line, t->result_col,
		"unknown result '%s' for '%s': must be %s", t->result, json_get_str(action, "id"),
		json_get_str(action, "result_format"));
}

/* Each commit has at most one turn. An action has its turn after its dispatch; its own turn, which
 * is repeated, is not counted. */
int scripted_count_turns(const char *document, const struct scripted_entry *entry,
	const char *action, size_t *turns, struct error *err)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	struct str base = path_base(document);
	struct store_commit c;
	bool dispatched = false, started = false;
	int rc = 1;

	*turns = 0;
	base.n -= str_ends(base, ".md") ? strlen(".md") : 0;
	if (entry->n == 1)
		return 0;
	if (store_open(&s, store_backend(), arena_dup(&a, path_dir(document)), arena_dup(&a, base),
		    STORE_READ, 0, err) < 0 ||
		store_history(s, &(struct store_range){.backwards = true}, &h, err) != STORE_OK)
		return -1;
	while (!started && (!dispatched || *turns + 1 < entry->n) &&
		(rc = store_history_next(h, &c, err)) > 0)
		for (json *e; (e = store_next_event(&c.events, "")); json_free(&e)) {
			bool mine = json_str_is(e, "action", action);

			if (json_str_is(e, "type", AGENT_TURN) &&
				json_str_is(e, "entry", entry->key))
				*turns = mine ? 0 : *turns + 1;
			dispatched = dispatched || (mine && json_str_is(e, "type", "dispatch"));
			started = started || json_str_is(e, "type", "started");
		}
	return rc < 0 ? -1 : 0;
}
