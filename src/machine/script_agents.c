#include "src/sys/path.h"
#include "src/base/yml.h"
#include "src/machine/actions.h"
#include "src/machine/script_agents.h"
#include "src/workflow/words.h"

struct reader {
	struct arena *a;
	const char *file;
	struct error *err;
};

#define FAULT(r, node, ...) error_at((r)->err, (r)->file, (node)->line, (node)->col, __VA_ARGS__)

/* The value of one key, into the turn. */
typedef int read_fn(const struct reader *r, const struct yml *v, struct scripted *to);

static int need_text(const struct reader *r, const struct yml *v, const char *key)
{
	if (v->kind != YML_SCALAR || yml_is_null(v))
		return FAULT(r, v, "'%s' must be a text", key);
	return str_trim(v->text).n ? 0 : FAULT(r, v, "'%s' is empty", key);
}

static int read_run(const struct reader *r, const struct yml *v, struct scripted *to)
{
	if (need_text(r, v, "run") < 0)
		return -1;
	if (v->text.n > SCRIPT_RUN_MAX)
		return FAULT(r, v, "'run' is longer than %d bytes", SCRIPT_RUN_MAX);
	to->run = v->text.p;
	return 0;
}

static int read_text(const struct reader *r, const struct yml *v, struct scripted *to)
{
	to->text = v->text;
	return need_text(r, v, "text");
}

static int read_text_from(const struct reader *r, const struct yml *v, struct scripted *to)
{
	to->from_run = v->kind == YML_SCALAR && str_is(v->text, "run");
	return to->from_run ? 0 : FAULT(r, v, "'text_from' must be run");
}

static int read_result(const struct reader *r, const struct yml *v, struct scripted *to)
{
	char seen[SHOWN];

	if (need_text(r, v, "result") < 0)
		return -1;
	if (!word_valid(v->text))
		return FAULT(r, v, "'%s' is no result word", shown(v->text, seen));
	to->result = v->text.p;
	to->result_line = v->line;
	to->result_col = v->col;
	return 0;
}

static int read_silent(const struct reader *r, const struct yml *v, struct scripted *to)
{
	to->silent = v->kind == YML_SCALAR && v->plain && str_is(v->text, "true");
	return to->silent ? 0 : FAULT(r, v, "'silent' must be true, or not be there");
}

static int read_timeout(const struct reader *r, const struct yml *v, struct scripted *to)
{
	unsigned long seconds;

	if (yml_uint(v, r->file, "timeout", 86400, &seconds, r->err) < 0)
		return -1;
	to->timeout_s = (unsigned)seconds;
	return seconds ? 0 : FAULT(r, v, "'timeout' must be at least 1, not 0");
}

static const struct {
	const char *name;
	read_fn *read;
} keys[] = {
	{"run", read_run},
	{"text", read_text},
	{"text_from", read_text_from},
	{"result", read_result},
	{"silent", read_silent},
	{"timeout", read_timeout},
};

static int read_key(const struct reader *r, const struct yml_pair *pair, struct scripted *to)
{
	char seen[SHOWN];

	for (size_t i = 0; i < COUNT(keys); i++)
		if (str_is(pair->key->text, keys[i].name))
			return keys[i].read(r, pair->value, to);
	return FAULT(r, pair->key,
		"unknown key '%s': must be run, text, text_from, result, silent or timeout",
		shown(pair->key->text, seen));
}

/* Each key is good by itself; now together. */
static int check_turn(const struct reader *r, const struct yml *v, const struct scripted *t)
{
	if (t->silent && (t->text.n || t->from_run || t->result))
		return FAULT(r, v, "'silent' and an answer exclude each other");
	if (t->text.n && t->from_run)
		return FAULT(r, v, "'text' and 'text_from' exclude each other");
	if (t->from_run && !t->run)
		return FAULT(r, v, "'text_from' needs 'run'");
	if (yml_get(v, "timeout") && !t->run)
		return FAULT(r, v, "'timeout' needs 'run'");
	if (!t->silent && !t->text.n && !t->from_run)
		return FAULT(r, v, "no answer: give 'text', 'text_from: run' or 'silent: true'");
	return 0;
}

static int read_turn(const struct reader *r, const struct yml *v, bool scripts, struct scripted *to)
{
	*to = (struct scripted){.line = v->line, .col = v->col, .timeout_s = SCRIPT_TIMEOUT};
	if (scripts && v->kind == YML_SCALAR && str_is(v->text, "exec")) {
		to->exec = true;
		return 0;
	}
	if (v->kind != YML_MAP)
		return FAULT(r, v, "an answer must be a map%s", scripts ? ", or exec" : "");
	for (size_t i = 0; i < v->n; i++)
		if (read_key(r, &v->map[i], to) < 0)
			return -1;
	return check_turn(r, v, to);
}

/* A single answer is a list of one. */
static int read_turns(
	const struct reader *r, struct yml *v, bool scripts, struct script_entry *entry)
{
	struct yml **list = v->kind == YML_LIST ? v->list : &v;
	size_t n = v->kind == YML_LIST ? v->n : 1;

	if (!n)
		return FAULT(r, v, "no answer for '%s'", entry->key);
	entry->turns = arena_alloc(r->a, n * sizeof(*entry->turns));
	for (; entry->n < n; entry->n++)
		if (read_turn(r, list[entry->n], scripts, &entry->turns[entry->n]) < 0)
			return -1;
	return 0;
}

static bool key_valid(struct str key)
{
	size_t slash = str_find(key, STR("/"));

	return slash < key.n ? id_valid(str_sub(key, 0, slash)) : section_name_valid(key);
}

static int read_entries(
	const struct reader *r, const struct yml *v, bool scripts, struct script_entries *to)
{
	char seen[SHOWN];

	if (v->kind != YML_MAP)
		return FAULT(r, v, "'%s' must be a map", scripts ? "scripts" : "answers");
	to->list = arena_alloc(r->a, (v->n + 1) * sizeof(*to->list));
	for (; to->n < v->n; to->n++) {
		const struct yml *key = v->map[to->n].key;
		struct script_entry *entry = &to->list[to->n];

		if (!key_valid(key->text))
			return FAULT(r, key, "'%s' is no name of a section and no id of an action",
				shown(key->text, seen));
		*entry = (struct script_entry){
			.key = key->text.p, .line = key->line, .col = key->col};
		if (read_turns(r, v->map[to->n].value, scripts, entry) < 0)
			return -1;
	}
	return 0;
}

static int read_script(const struct reader *r, const struct yml *top, struct script_agents *s)
{
	char seen[SHOWN];

	if (top->kind != YML_MAP)
		return FAULT(r, top, "a script of agents must be a map");
	for (size_t i = 0; i < top->n; i++) {
		const struct yml *key = top->map[i].key, *v = top->map[i].value;
		bool scripts = str_is(key->text, "scripts");

		if (!scripts && !str_is(key->text, "answers"))
			return FAULT(r, key, "unknown key '%s': must be answers or scripts",
				shown(key->text, seen));
		if (read_entries(r, v, scripts, scripts ? &s->scripts : &s->answers) < 0)
			return -1;
	}
	return 0;
}

int agents_parse(struct arena *a, const char *file, struct str text, struct script_agents *s,
	struct error *err)
{
	struct reader r = {.a = a, .file = file, .err = err};
	struct yml *top;

	*s = (struct script_agents){.file = file};
	if (yml_parse(a, text, file, 1, &top, err) < 0)
		return -1;
	return read_script(&r, top, s);
}

int agents_load(struct arena *a, const char *path, struct script_agents *s, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (file_read(&text, path, SCRIPT_MAX, NULL, err) < 0)
		return -1;
	return agents_parse(a, path, buf_str(&text), s, err);
}

static const struct script_entry *entry_of(const struct script_entries *e, struct str key)
{
	for (size_t i = 0; i < e->n; i++)
		if (str_is(key, e->list[i].key))
			return &e->list[i];
	return NULL;
}

/* `Fix 1`, `Fix 2`... */
static bool is_fix(struct str section)
{
	static const char digits[] = "0123456789";

	if (!str_starts(section, "Fix ") || section.n == 4)
		return false;
	for (size_t i = 4; i < section.n; i++)
		if (!memchr(digits, section.p[i], sizeof(digits) - 1))
			return false;
	return true;
}

static const struct script_entry *find_in(const struct script_entries *e, const json *action)
{
	struct str section = str_of(json_get_str(action, "write_section"));
	const struct script_entry *found = entry_of(e, str_of(json_get_str(action, "id")));

	if (!found)
		found = entry_of(e, section);
	if (!found && is_fix(section))
		found = entry_of(e, STR("Fix N"));
	return found;
}

static int misplaced(const struct script_agents *s, const struct script_entry *e, const char *whose,
	const char *belongs, struct error *err)
{
	return error_at(err, s->file, e->line, e->col, "'%s' is %s: it belongs under '%s'", e->key,
		whose, belongs);
}

static int no_entry(const struct script_agents *s, const json *action, struct error *err)
{
	error_set(err, ERR_INPUT, "no answer for '%s', section '%s'", json_get_str(action, "id"),
		json_get_str(action, "write_section"));
	(void)snprintf(err->file, sizeof(err->file), "%s", s->file);
	return -1;
}

int agents_find(const struct script_agents *s, const json *action,
	const struct script_entry **entry, struct error *err)
{
	bool script = strcmp(json_get_str(action, "action"), "run_script") == 0;
	const struct script_entry *other = find_in(script ? &s->answers : &s->scripts, action);

	*entry = find_in(script ? &s->scripts : &s->answers, action);
	if (*entry)
		return 0;
	if (other && script)
		return misplaced(s, other, "a script's", "scripts", err);
	if (other)
		return misplaced(s, other, "an agent's", "answers", err);
	return script || s->others ? 0 : no_entry(s, action, err);
}

int agents_turn(const struct script_agents *s, const struct script_entry *entry, size_t use,
	const json *action, const struct scripted **turn, struct error *err)
{
	const struct scripted *t = &entry->turns[use < entry->n ? use : entry->n - 1];

	*turn = t;
	if (!t->result || action_accepts(action, str_of(t->result)))
		return 0;
	return error_at(err, s->file, t->result_line, t->result_col,
		"unknown result '%s' for '%s': must be %s", t->result, json_get_str(action, "id"),
		json_get_str(action, "result_format"));
}
