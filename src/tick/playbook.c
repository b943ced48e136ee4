#include "src/config/decode.h"
#include "src/sys/path.h"
#include "src/sys/regex.h"
#include "src/tick/recover.h"

enum { FILE_MAX = 1 << 20, MODES_MAX = 100, MATCH_MAX = 10, BUDGET_MAX = 100, DAY_S = 86400 };

__asm__(".pushsection .rodata\n"
	".globl playbook_yaml\n"
	"playbook_yaml:\n"
	".incbin \"playbooks/failures.yaml\"\n"
	".byte 0\n"
	".popsection\n");
extern const char playbook_yaml[];

const char *const playbook_actions[] = {"retry", "park", NULL};

#define MODE(name, how, member) .key = name, .kind = how, CONFIG_AT(playbook_mode, member)

static const struct config_field mode_fields[] = {
	{MODE("mode", CONFIG_TEXT, name), .form = &config_line, .required = true},
	{.key = "match",
		.kind = CONFIG_TEXTS,
		.form = &config_lines,
		.max = MATCH_MAX,
		CONFIG_LIST_AT(playbook_mode, match, n_match)},
	{MODE("idle", CONFIG_INTEGER, idle_s), CONFIG_RANGE(1, 30 * DAY_S)},
	{MODE("budget", CONFIG_INTEGER, budget), CONFIG_RANGE(0, BUDGET_MAX), .required = true},
	{MODE("action", CONFIG_WORD, action), .words = playbook_actions, .required = true},
	{MODE("wait", CONFIG_INTEGER, wait_s), CONFIG_RANGE(0, DAY_S)},
	{MODE("feedback", CONFIG_TEXT, feedback), .form = &config_lines, .required = true},
	{.key = NULL},
};

static void playbook_compile(
	struct config_reader *r, const struct yaml *at, struct playbook_mode *m)
{
	struct error why;

	m->compiled = arena_alloc(r->arena, (m->n_match + 1) * sizeof(*m->compiled));
	for (size_t i = 0; i < m->n_match; i++)
		if (regex_compile(r->arena, str_of(m->match[i]), &m->compiled[i], &why) < 0)
			config_fault(r, at, "'%.80s' is no regular expression: %s", m->match[i],
				why.text);
	if (!m->n_match == !m->idle_s || (m->idle_s && m->wait_s))
		config_fault(r, at, "mode '%s' must have either 'match' or 'idle', without 'wait'",
			m->name);
	if (m->action == PLAYBOOK_PARK && (m->budget || m->wait_s))
		config_fault(r, yaml_get(at, m->budget ? "budget" : "wait"),
			"a mode with 'park' repeats nothing: 'budget' and 'wait' must be 0");
}

int playbook_parse(
	struct arena *a, const char *file, struct str text, struct playbook *out, struct error *err)
{
	struct config_reader r = {.arena = a, .file = file, .limit = 1};
	struct yaml *list;

	*out = (struct playbook){0};
	if (yaml_parse(a, text, file, 1, &list, err) < 0)
		return -1;
	if (list->kind != YAML_LIST || list->n > MODES_MAX)
		return error_at(
			err, file, 1, 1, "a playbook is a list of at most %d modes", MODES_MAX);
	out->modes = arena_alloc(a, (list->n + 1) * sizeof(*out->modes));
	for (size_t i = 0; i < list->n && !r.faults.n; i++) {
		struct playbook_mode *m = &out->modes[out->n++];

		*m = (struct playbook_mode){0};
		if (list->list[i]->kind != YAML_MAP)
			config_fault(&r, list->list[i], "a mode is a map");
		else
			config_fields(&r, mode_fields, list->list[i], m);
		if (!r.faults.n)
			playbook_compile(&r, list->list[i], m);
		for (size_t k = 0; k + 1 < out->n && !r.faults.n; k++)
			if (strcmp(out->modes[k].name, m->name) == 0)
				config_fault(
					&r, list->list[i], "mode '%s' is given twice", m->name);
	}
	return config_result(&r, err);
}

int playbook_load(struct arena *a, const char *repo, struct playbook *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing = false;

	if (sys_read_file(&text, path_join(a, repo, PLAYBOOK_FILE), FILE_MAX, &missing, err) == 0)
		return playbook_parse(a, PLAYBOOK_FILE, arena_str(a, buf_str(&text)), out, err);
	return missing ? playbook_parse(
				 a, "playbooks/failures.yaml", str_of(playbook_yaml), out, err)
		       : -1;
}

const struct playbook_mode *playbook_find(const struct playbook *p, struct str failure)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str lower = str_of(arena_lower(&a, failure));

	if (str_utf8_fault(failure))
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		size_t k = 0;

		while (k < p->modes[i].n_match && regex_match(p->modes[i].compiled[k], lower))
			k++;
		if (k && k == p->modes[i].n_match)
			return &p->modes[i];
	}
	return NULL;
}

const struct playbook_mode *playbook_find_idle(const struct playbook *p, int64_t idle_s)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->modes[i].idle_s && idle_s >= p->modes[i].idle_s)
			return &p->modes[i];
	return NULL;
}
