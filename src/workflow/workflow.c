#include <ctype.h>
#include <strings.h>
#include "context/context.h"
#include "src/config/decode.h"
#include "src/sys/path.h"
#include "src/workflow/workflow.h"

enum { MAX_SKILL = 100 };

static bool made_of(struct str s, size_t max, const char *inside)
{
	return s.n <= max && config_made_of(s, CONFIG_ALNUM, "_", CONFIG_ALNUM, inside) &&
	       !strchr("-.:", s.p[s.n - 1]);
}

bool workflow_word_valid(struct str s)
{
	return made_of(s, WORKFLOW_NAME_MAX, "_-");
}

bool workflow_skill_valid(struct str s)
{
	return made_of(s, MAX_SKILL, "_-.:");
}

/* ---- forms of texts ---- */

static bool workflow_is_text(struct str s)
{
	return s.n && s.n <= WORKFLOW_TEXT_MAX;
}

/* Arguments and the policy's name go into a command line: nothing invisible. */
static bool is_argument(struct str s)
{
	return workflow_is_text(s) && config_line.valid(s);
}

/* Of a child. The documents of items keep it, and name no place of one machine. */
static bool is_workflow(struct str s)
{
	return is_argument(s) && s.p[0] != '/';
}

static bool workflow_is_policy(struct str s)
{
	return is_argument(s) && s.p[0] != '-';
}

static bool workflow_is_section(struct str s)
{
	return section_name_valid(s) && !str_is(s, CONTEXT_ACTIONS);
}

static bool is_state(struct str s)
{
	return workflow_word_valid(s) && !str_is(s, "troubleshooter");
}

/* Part of an id, after which an attempt may have a number, and of a branch, which git refuses with
 * this end. */
static bool is_child(struct str s)
{
	return workflow_word_valid(s) && !isdigit((unsigned char)s.p[0]) && !str_is(s, "lock");
}

#define WORD_FORM "1 to 64 letters, digits, '_' and, inside, '-'"

#define FORM(name, is, text, ...)                                                                  \
	static const struct config_form name = {.valid = is, .what = text, __VA_ARGS__}
FORM(text_form, workflow_is_text, "a text of 1 to 4096 bytes", .trim = true);
FORM(argument_form, is_argument, "one line of 1 to 4096 bytes", .trim = true);
FORM(policy_form, workflow_is_policy, "one line of 1 to 4096 bytes that does not begin with '-'",
	.trim = true);
FORM(workflow_form, is_workflow, "one line: a name, or a path relative to this file", .trim = true);
FORM(skill_form, workflow_skill_valid, "1 to 100 letters, digits and, inside, '_', '-', '.', ':'",
	.trim = true);
FORM(section_form, workflow_is_section, "the name of a section other than 'Actions'", .trim = true);
FORM(state_form, is_state, WORD_FORM ", other than 'troubleshooter'", .trim = false);
FORM(child_form, is_child, WORD_FORM ", not a digit first and not 'lock'", .trim = false);
FORM(word_form, workflow_word_valid, WORD_FORM, .trim = false);

#define TEXT(name, of, type, member)                                                               \
	.key = name, .kind = CONFIG_TEXT, .form = &of, CONFIG_AT(type, member)
#define TEXTS(name, of, type, member)                                                              \
	.key = name, .kind = CONFIG_TEXTS, .form = &of, .max = WORKFLOW_LIST_MAX,                  \
	CONFIG_LIST_AT(type, member, n_##member)
#define INTEGER(name, type, member, least, most)                                                   \
	.key = name, .kind = CONFIG_INTEGER, CONFIG_AT(type, member), CONFIG_RANGE(least, most)
#define GROUP(name, type, member, table)                                                           \
	.key = name, .kind = CONFIG_GROUP, CONFIG_AT(type, member), .fields = table
#define ENTRIES(name, of, entry, type, member)                                                     \
	.key = name, .kind = CONFIG_ENTRIES, .form = &of, .item = &entry,                          \
	CONFIG_ITEMS_AT(type, member, n_##member)

/* ---- evidence ---- */

static const char *const evidence_names[EVIDENCE_KINDS + 1] = {
	"work", "tree", "pull_request", "review", "command", NULL};

const char *evidence_name(enum evidence_kind kind)
{
	size_t i = 0;

	while (!(kind >> i & 1))
		i++;
	return evidence_names[i];
}

/* `work`, ..., or `command: TEXT`. */
static void read_evidence_item(
	struct config_reader *r, const struct yaml *v, struct evidence_rule *rule)
{
	static const struct config_field fields[] = {
		{TEXT("command", text_form, evidence_rule, command), .required = true}, {0}};
	enum { NAMED = EVIDENCE_KINDS - 1 };
	size_t i = 0;

	if (v->kind == YAML_MAP && !rule->command) {
		config_fields(r, fields, v, rule);
		rule->kinds |= EVIDENCE_COMMAND;
		return;
	}
	while (v->kind == YAML_SCALAR && i < NAMED && !str_is(v->text, evidence_names[i]))
		i++;
	if (v->kind == YAML_SCALAR && i < NAMED && !(rule->kinds >> i & 1))
		rule->kinds |= 1u << i;
	else
		config_fault(r, v,
			"'evidence' must list 'work', 'tree', 'pull_request', 'review' and "
			"{command: TEXT}, each at most once");
}

static void read_evidence(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	struct evidence_rule *rule = into;

	*rule = (struct evidence_rule){.given = true};
	if (v->kind != YAML_LIST)
		config_refuse(r, f, key, v, "a list");
	for (size_t i = 0; v->kind == YAML_LIST && i < v->n; i++)
		read_evidence_item(r, v->list[i], rule);
}

#define EVIDENCE(type)                                                                             \
	.key = "evidence", .kind = CONFIG_CUSTOM, .read = read_evidence, CONFIG_AT(type, evidence)

/* ---- declared states ---- */

static const struct config_field outcome_field = {.kind = CONFIG_TEXT,
	.form = &word_form,
	CONFIG_AT(declared_outcome, trigger),
	CONFIG_PLACE(declared_outcome, line)};

/* `[WORD...]` is of every section, `{SECTION: [WORD...]}` of each one. */
static void read_when(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	static const struct config_field words = {TEXTS("when", word_form, declared_when, words),
						 .min = 1},
					 sections = {ENTRIES("when", section_form, words,
							     declared_action, when),
						 CONFIG_RANGE(1, WORKFLOW_LIST_MAX),
						 CONFIG_PLACE(declared_when, line)};
	struct declared_action *it = into;

	if (v->kind == YAML_MAP) {
		config_value(r, &sections, key, v, it);
		return;
	}
	if (v->kind != YAML_LIST) {
		config_refuse(r, f, key, v, "a list of words or a map of sections to such lists");
		return;
	}
	it->when = arena_alloc(r->arena, sizeof(*it->when));
	it->n_when = 1;
	*it->when = (struct declared_when){.line = v->line, .col = v->col};
	config_value(r, &words, key, v, it->when);
}

#define ORDER                                                                                      \
	{TEXTS("after", section_form, declared_action, after)},                                    \
		{.key = "when", .kind = CONFIG_CUSTOM, .read = read_when},                         \
	{                                                                                          \
		.key = "join", .kind = CONFIG_WORD_TEXT, CONFIG_AT(declared_action, join),         \
		CONFIG_WORDS("all", "any")                                                         \
	}
/* Of a state: with its one action, or with `all`. */
#define RULES(type)                                                                                \
	{INTEGER("limit", type, rules.limit, 1, WORKFLOW_VISITS_MAX),                              \
		CONFIG_PLACE(type, rules.limit_line)},                                             \
		{TEXT("limit_trigger", word_form, type, rules.limit_trigger)},                     \
	{                                                                                          \
		.key = "effects", .kind = CONFIG_TEXTS, .once = true, .max = 2,                    \
		CONFIG_WORDS("commit", "push"),                                                    \
		CONFIG_LIST_AT(type, rules.effects, rules.n_effects)                               \
	}
#define WRITES TEXT("writes", section_form, declared_action, writes), .required = true
#define RESULTS                                                                                    \
	ENTRIES("results", word_form, outcome_field, declared_action, outcomes),                   \
		CONFIG_RANGE(1, WORKFLOW_RESULTS_MAX)

#define AGENT                                                                                      \
	{TEXT("agent", skill_form, declared_action, agent)},                                       \
		{TEXT("skill", skill_form, declared_action, skill), .required = true},             \
		{TEXTS("args", argument_form, declared_action, args)},                             \
		{TEXTS("reads", section_form, declared_action, reads)}, ORDER, {WRITES},           \
		{RESULTS, .required = true},                                                       \
	{                                                                                          \
		EVIDENCE(declared_action)                                                          \
	}
#define SCRIPT                                                                                     \
	{TEXT("command", text_form, declared_action, command)},                                    \
		{INTEGER("timeout", declared_action, timeout_s, 1, WORKFLOW_TIMEOUT_MAX_S),        \
			.preset = "600"},                                                          \
		ORDER, {WRITES}, {RESULTS},                                                        \
	{                                                                                          \
		EVIDENCE(declared_action)                                                          \
	}

#define APPROVAL                                                                                   \
	{TEXT("approve", argument_form, declared_action, approve)},                                \
		{TEXT("writes", section_form, declared_action, writes), .preset = "Approval"},     \
	{                                                                                          \
		RESULTS                                                                            \
	}

#define CHILD                                                                                      \
	{TEXT("child", child_form, declared_action, child)},                                       \
		{TEXT("workflow", workflow_form, declared_action, workflow), .required = true},    \
		{TEXT("task", text_form, declared_action, task)},                                  \
		{TEXTS("reads", section_form, declared_action, reads)}, ORDER, {WRITES},           \
	{                                                                                          \
		RESULTS                                                                            \
	}

static const struct config_field agent_fields[] = {AGENT, {0}};
static const struct config_field script_fields[] = {SCRIPT, {0}};
static const struct config_field child_fields[] = {CHILD, {0}};
static const struct config_field agent_state_fields[] = {AGENT, RULES(declared_action), {0}};
static const struct config_field script_state_fields[] = {SCRIPT, RULES(declared_action), {0}};
static const struct config_field child_state_fields[] = {CHILD, RULES(declared_action), {0}};
static const struct config_field approval_fields[] = {APPROVAL, RULES(declared_action), {0}};

static void preset_results(struct config_reader *r, const struct yaml *map,
	struct declared_action *it, const char *good, const char *bad)
{
	const char *const words[] = {good, bad};

	it->n_outcomes = COUNT(words);
	it->outcomes = arena_alloc(r->arena, COUNT(words) * sizeof(*it->outcomes));
	for (size_t i = 0; i < COUNT(words); i++)
		it->outcomes[i] =
			(struct declared_outcome){words[i], words[i], map->line, map->col};
}

static void check_two_results(struct config_reader *r, const struct yaml *map,
	struct declared_action *it, const char *what, const char *good, const char *bad)
{
	if (!it->n_outcomes)
		preset_results(r, map, it, good, bad);
	else if (it->n_outcomes != 2 || strcmp(it->outcomes[0].word, good) != 0 ||
		 strcmp(it->outcomes[1].word, bad) != 0)
		config_fault(r, yaml_get(map, "results"),
			"'results' of %s must be '%s' and '%s', in this order", what, good, bad);
}

/* A person approves the work as it was shown. */
static void check_approval(struct config_reader *r, const struct yaml *map, void *of)
{
	struct declared_action *it = of;

	it->evidence = (struct evidence_rule){.kinds = EVIDENCE_SHOWN, .given = true};
	check_two_results(r, map, it, "an approval", "approved", "rejected");
}

static void workflow_check_child(struct config_reader *r, const struct yaml *map, void *of)
{
	check_two_results(r, map, of, "a child", "success", "failed");
}

/* The results of a script are `passed` and `failed`, or words of its own; which is the good one,
 * the order tells. */
static void check_script(struct config_reader *r, const struct yaml *map, void *of)
{
	static const char *const words[] = {"passed", "failed"};
	struct declared_action *it = of;
	size_t known = 0;

	for (size_t i = 0; i < it->n_outcomes; i++)
		known += !strcmp(it->outcomes[i].word, words[0]) ||
			 !strcmp(it->outcomes[i].word, words[1]);
	if (it->n_outcomes == 1 || (known && (it->n_outcomes != COUNT(words) || known != 2)))
		config_fault(r, yaml_get(map, "results"),
			"'results' of a script must be 'passed' and 'failed', or two or more words "
			"of its own");
	else if (it->evidence.kinds && known && strcmp(it->outcomes[0].word, words[0]))
		config_fault(r, yaml_get(map, "evidence"),
			"'evidence' of a script needs 'passed' as the first of its 'results'");
	if (!it->n_outcomes)
		preset_results(r, map, it, words[0], words[1]);
}

static const struct config_variant action_forms[] = {{"agent", agent_fields, NULL},
	{"child", child_fields, workflow_check_child}, {"command", script_fields, check_script},
	{0}};

static const struct config_field item_field = {.kind = CONFIG_GROUP, .variants = action_forms};

static const struct config_field all_fields[] = {
	{.key = "all",
		.kind = CONFIG_LIST,
		CONFIG_ITEMS_AT(declared_state, items, n),
		CONFIG_RANGE(1, WORKFLOW_ACTIONS_MAX),
		.item = &item_field,
		CONFIG_PLACE(declared_action, line)},
	RULES(declared_state),
	{0},
};

static void workflow_check_items(struct config_reader *r, const struct yaml *map, void *of)
{
	workflow_order(r, of, yaml_get(map, "all")->list);
}

#define STATE_FORMS                                                                                \
	{"agent", agent_state_fields, NULL}, {"approve", approval_fields, check_approval},         \
		{"child", child_state_fields, workflow_check_child},                               \
	{                                                                                          \
		"command", script_state_fields, check_script                                       \
	}

static const struct config_variant single_forms[] = {STATE_FORMS, {0}};
/* The others only for the message that they do not go with `all`. */
static const struct config_variant several_forms[] = {
	{"all", all_fields, workflow_check_items}, STATE_FORMS, {0}};

static void workflow_check_rules(
	struct config_reader *r, const struct yaml *map, struct declared_rules *rules)
{
	if (rules->limit && !rules->limit_trigger)
		rules->limit_trigger = "max_retries";
	else if (rules->limit_trigger && !rules->limit)
		config_fault(r, yaml_get(map, "limit_trigger"), "'limit_trigger' needs 'limit'");
}

/* A single action, or several below `all`. */
static void workflow_read_state(struct config_reader *r, const struct config_field *f,
	const char *key, const struct yaml *v, void *into)
{
	static const struct config_field several = {.kind = CONFIG_GROUP,
						 .variants = several_forms},
					 single = {.kind = CONFIG_GROUP, .variants = single_forms};
	struct declared_state *d = into;

	(void)f;
	if (yaml_get(v, "all")) {
		config_value(r, &several, key, v, d);
		workflow_check_rules(r, v, &d->rules);
		return;
	}
	d->items = arena_alloc(r->arena, sizeof(*d->items));
	d->n = 1;
	*d->items = (struct declared_action){.line = v->line, .col = v->col};
	config_value(r, &single, key, v, d->items);
	d->rules = d->items->rules;
	workflow_check_rules(r, v, &d->rules);
	workflow_order(r, d, (struct yaml *const *)&v);
}

static const struct config_field state_field = {.kind = CONFIG_CUSTOM, .read = workflow_read_state};

/* ---- the whole frontmatter ---- */

#define LIMIT(name, least, most)                                                                   \
	{                                                                                          \
		INTEGER(#name, workflow, limits.name, least, most),                                \
			CONFIG_PLACE(workflow, places.name)                                        \
	}

static const struct config_field limit_fields[] = {
	LIMIT(max_fix_iterations, 0, 1000),
	LIMIT(max_review_fix_iterations, 0, 1000),
	LIMIT(signoff_deadlock, 1, 1000),
	LIMIT(review_loop, 1, 1000),
	LIMIT(consecutive_failures, 1, 1000),
	LIMIT(max_actions, 1, 100000),
	LIMIT(lease_minutes, 1, WORKFLOW_LEASE_MAX_MIN),
	{0},
};

static const struct config_field security_fields[] = {
	{TEXT("policy", policy_form, workflow_security, policy), .required = true,
		CONFIG_PLACE(workflow_security, line)},
	{.key = "violation",
		.kind = CONFIG_WORD_TEXT,
		CONFIG_AT(workflow_security, violation),
		CONFIG_WORDS("hard_abort", "validation_fail")},
	{TEXTS("except", text_form, workflow_security, except)},
	{0},
};

static const struct config_field frontmatter_fields[] = {
	{.key = "limits", .kind = CONFIG_GROUP, .fields = limit_fields},
	{TEXT("validate", text_form, workflow, validate), CONFIG_PLACE(workflow, places.validate)},
	{INTEGER("validate_timeout", workflow, validate_timeout_s, 1, WORKFLOW_TIMEOUT_MAX_S),
		CONFIG_PLACE(workflow, places.validate_timeout)},
	{TEXT("checks", text_form, workflow, checks), CONFIG_PLACE(workflow, places.checks)},
	{TEXT("research_skill", skill_form, workflow, research_skill),
		CONFIG_PLACE(workflow, places.research_skill)},
	{TEXT("reviewer", skill_form, workflow, reviewer), CONFIG_PLACE(workflow, places.reviewer)},
	{.key = "review_comments",
		.kind = CONFIG_BOOL,
		CONFIG_AT(workflow, review_comments),
		CONFIG_PLACE(workflow, places.review_comments)},
	{.key = "worktree", .kind = CONFIG_BOOL, CONFIG_AT(workflow, worktree)},
	{TEXT("forge", text_form, workflow, forge)},
	{TEXTS("allow_secrets", text_form, workflow, allow_secrets)},
	{EVIDENCE(workflow)},
	{GROUP("security", workflow, security, security_fields)},
	{ENTRIES("states", state_form, state_field, workflow, declared), .max = WORKFLOW_STATES_MAX,
		CONFIG_PLACE(declared_state, line)},
	{0},
};

static bool names_a_script(const struct workflow *w, const char *name)
{
	if (!strcmp(name, "validate") || !strcmp(name, "checks"))
		return true;
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->declared[i].n; k++)
			if (!strcmp(w->declared[i].name, name) && w->declared[i].items[k].command)
				return true;
	return false;
}

/* Any other name would exclude nothing. */
static int check_except(
	const struct yaml *root, const char *file, const struct workflow *w, struct error *err)
{
	const struct yaml *list = yaml_get(yaml_get(root, "security"), "except");

	for (size_t i = 0; i < w->security.n_except; i++)
		if (!names_a_script(w, w->security.except[i]))
			return error_at(err, file, list->list[i]->line, list->list[i]->col,
				"'%.80s' is neither 'validate' nor 'checks' nor a declared state "
				"with a script",
				w->security.except[i]);
	return 0;
}

static int parse_frontmatter(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err)
{
	struct yaml *root;

	if (yaml_parse(a, text, file, line, &root, err) < 0)
		return -1;
	if (yaml_is_null(root))
		return 0;
	if (config_decode(a, file, root, "the frontmatter", frontmatter_fields, w, err) < 0)
		return -1;
	return check_except(root, file, w, err);
}

/* ---- the parts of a file ---- */

/* A part of the file, and the line that it begins in. */
struct workflow_part {
	struct str text;
	unsigned line;
};

/* A file that begins with `---` has frontmatter up to the next such line. */
static int split(const char *file, struct str text, struct workflow_part *front,
	struct workflow_part *body, struct error *err)
{
	struct str rest = text, line;
	unsigned n = 1;

	*front = (struct workflow_part){{text.p, 0}, 1};
	*body = (struct workflow_part){text, 1};
	if (!str_line(&rest, &line) || !str_is(str_trim(line), "---") || line.p[0] != '-')
		return 0;
	*front = (struct workflow_part){rest, 2};
	while (str_line(&rest, &line)) {
		n++;
		if (!str_starts(line, "---") || !str_is(str_trim(line), "---"))
			continue;
		front->text.n = (size_t)(line.p - front->text.p);
		*body = (struct workflow_part){rest, n + 1};
		if (front->text.n > FRONTMATTER_MAX)
			return error_at(err, file, 1, 1, "frontmatter is larger than %zu bytes",
				FRONTMATTER_MAX);
		return 0;
	}
	return error_at(err, file, 1, 1, "frontmatter is not closed: a line '---' must follow");
}

struct workflow_fence {
	char c; /* ` or ~, 0: not a fence */
	size_t n;
	struct str info;
};

/* Three or more ` or ~ after at most three blanks, as in CommonMark. */
static struct workflow_fence workflow_fence_of(struct str line)
{
	struct workflow_fence f = {0};
	size_t i = 0;

	while (i < line.n && i < 4 && line.p[i] == ' ')
		i++;
	if (i < 4 && i < line.n && (line.p[i] == '`' || line.p[i] == '~'))
		f.c = line.p[i];
	while (f.c && i < line.n && line.p[i] == f.c) {
		f.n++;
		i++;
	}
	f.info = str_trim(str_sub(line, i, line.n));
	if (f.n < 3 || (f.c == '`' && str_find(f.info, STR("`")) < f.info.n))
		f.c = 0;
	return f;
}

static bool is_mermaid(struct str info)
{
	static const char word[] = "mermaid";
	size_t n = sizeof(word) - 1;

	return info.n >= n && !strncasecmp(info.p, word, n) &&
	       (info.n == n || strchr(" \t{,", info.p[n]));
}

/* The one block of the body that is called mermaid. */
static int find_diagram(const char *file, const struct workflow_part *body,
	struct workflow_part *diagram, struct error *err)
{
	struct str rest = body->text, line;
	struct workflow_fence open = {0};
	unsigned n = body->line - 1, opened = 0, seen = 0;

	while (str_line(&rest, &line)) {
		struct workflow_fence f = workflow_fence_of(line);

		n++;
		if (!f.c)
			continue;
		if (!open.c) {
			open = f;
			opened = n;
			if (is_mermaid(f.info) && seen)
				return error_at(err, file, n, 1,
					"second mermaid block: the first begins in line %u", seen);
			if (is_mermaid(f.info)) {
				*diagram = (struct workflow_part){rest, n + 1};
				seen = n;
			}
		} else if (f.c == open.c && f.n >= open.n && !f.info.n) {
			if (opened == seen)
				diagram->text.n = (size_t)(line.p - diagram->text.p);
			open.c = 0;
		}
	}
	if (open.c)
		return error_at(err, file, opened, 1,
			"block is not closed: a line '%.*s' must follow", 3,
			open.c == '`' ? "```" : "~~~");
	if (!seen)
		return error_at(err, file, body->line, 1, "file has no fenced block 'mermaid'");
	return 0;
}

static void link_declared(struct workflow *w)
{
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->n_states; k++)
			if (!strcmp(w->states[k].name, w->declared[i].name))
				w->states[k].declared = &w->declared[i];
}

int workflow_check_text(const char *file, struct str text, size_t max, struct error *err)
{
	size_t bad = str_utf8_fault(text);
	unsigned line, col;

	if (text.n > max)
		return error_at(err, file, 1, 1, "file is larger than %zu bytes", max);
	if (!bad)
		return 0;
	str_position(text, bad - 1, &line, &col);
	return error_at(err, file, line, col, "byte 0x%02x is not UTF-8 text",
		(unsigned)(unsigned char)text.p[bad - 1]);
}

/* `done` and `failed` are terminal by name if no edge leaves them and they are not declared. */
static void mark_ends(struct workflow *w)
{
	for (size_t i = 0; i < w->n_states; i++) {
		struct workflow_state *s = &w->states[i];
		bool leaves = false;

		if (s->declared || (strcmp(s->name, "done") != 0 && strcmp(s->name, "failed") != 0))
			continue;
		for (size_t k = 0; k < w->n_edges; k++)
			leaves |= strcmp(w->edges[k].from, s->name) == 0;
		s->terminal |= !leaves;
	}
}

int workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err)
{
	struct workflow_part front, body, diagram = {0};

	*w = (struct workflow){
		.limits = WORKFLOW_LIMITS, .worktree = true, .evidence.kinds = EVIDENCE_ALL};
	w->file = arena_dup(a, str_of(file));
	if (workflow_check_text(file, text, WORKFLOW_MAX, err) < 0)
		return -1;
	w->source = arena_str(a, text);
	if (str_starts(text, "\xef\xbb\xbf")) /* some editors begin a file with this mark */
		text = str_sub(text, 3, text.n);
	if (split(file, text, &front, &body, err) < 0 ||
		find_diagram(file, &body, &diagram, err) < 0 ||
		parse_frontmatter(a, file, front.line, front.text, w, err) < 0 ||
		workflow_parse_mermaid(a, file, diagram.line, diagram.text, w, err) < 0)
		return -1;
	link_declared(w);
	mark_ends(w);
	return 0;
}

int workflow_load(struct arena *a, const char *path, struct workflow *w, struct error *err)
{
	bool missing;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, path, WORKFLOW_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "no workflow file '%s'", path)
			       : error_prefix(err, "workflow");
	return workflow_parse(a, path, buf_str(&text), w, err);
}

const struct workflow_state *workflow_state(const struct workflow *w, const char *name)
{
	for (size_t i = 0; i < w->n_states; i++)
		if (!strcmp(w->states[i].name, name))
			return &w->states[i];
	return NULL;
}

const char *workflow_target(const struct workflow *w, const char *from, const char *trigger)
{
	for (size_t i = 0; i < w->n_edges; i++)
		if (!strcmp(w->edges[i].from, from) && !strcmp(w->edges[i].trigger, trigger))
			return w->edges[i].to;
	return NULL;
}

const struct workflow_edge *workflow_only_edge(const struct workflow *w, const char *from)
{
	const struct workflow_edge *only = NULL;

	for (size_t i = 0; i < w->n_edges; i++) {
		if (strcmp(w->edges[i].from, from) != 0)
			continue;
		if (only)
			return NULL;
		only = &w->edges[i];
	}
	return only;
}
