#include "src/workflow/declared.h"
#include "src/workflow/words.h"
#include "src/config/violation.h"
#include "src/base/yml.h"
#include "context/context.h"

struct reader {
	struct arena *a;
	const char *file;
	struct error *err;
};

#define FAULT(r, node, ...) error_at((r)->err, (r)->file, (node)->line, (node)->col, __VA_ARGS__)

/* The value of one key, into the struct that its table belongs to. */
typedef int read_fn(const struct reader *r, const struct yml *v, const char *key, void *into);

struct key {
	const char *name;
	read_fn *read;
	size_t offset;
	unsigned where; /* which forms of a declared state take it */
};

/* A text of one or more characters; *text is trimmed and NUL-ended. */
static int need_text(const struct reader *r, const struct yml *v, const char *key, struct str *text)
{
	if (v->kind != YML_SCALAR || yml_is_null(v))
		return FAULT(r, v, "'%s' must be a text", key);
	*text = str_trim(v->text);
	if (!text->n)
		return FAULT(r, v, "'%s' is empty", key);
	if (text->n > FLOW_TEXT)
		return FAULT(r, v, "'%s' is longer than %d bytes", key, FLOW_TEXT);
	*text = arena_str(r->a, *text);
	return 0;
}

static int read_text(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct str text;

	if (need_text(r, v, key, &text) < 0)
		return -1;
	*(const char **)into = text.p;
	return 0;
}

static int read_skill(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	char seen[SHOWN];
	struct str text;

	if (need_text(r, v, key, &text) < 0)
		return -1;
	if (!skill_valid(text))
		return FAULT(r, v,
			"'%s' is no name for '%s': letters, digits and '_', '-', '.', ':' inside",
			shown(text, seen), key);
	*(const char **)into = text.p;
	return 0;
}

static int read_section(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	char seen[SHOWN];
	struct str text;

	if (need_text(r, v, key, &text) < 0)
		return -1;
	if (!section_name_valid(text))
		return FAULT(r, v, "'%s' is no name for a section", shown(text, seen));
	if (str_is(text, CONTEXT_ACTIONS))
		return FAULT(r, v, "section '%s' is the machine's own", CONTEXT_ACTIONS);
	*(const char **)into = text.p;
	return 0;
}

static int read_number(const struct reader *r, const struct yml *v, const char *key,
	unsigned long min, unsigned long max, unsigned long *out)
{
	if (yml_uint(v, r->file, key, max, out, r->err) < 0)
		return -1;
	return *out < min ? FAULT(r, v, "'%s' must be at least %lu, not %lu", key, min, *out) : 0;
}

static int read_timeout(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	unsigned long seconds;

	if (read_number(r, v, key, 1, FLOW_TIMEOUT, &seconds) < 0)
		return -1;
	*(unsigned *)into = (unsigned)seconds;
	return 0;
}

/* A counter that may be 0 ("never"), and one at which something happens. */
static int read_maximum(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	return read_number(r, v, key, 0, 1000, into);
}

static int read_threshold(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	return read_number(r, v, key, 1, 1000, into);
}

static int read_budget(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	return read_number(r, v, key, 1, 100000, into);
}

static int read_lease(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	return read_number(r, v, key, 1, FLOW_LEASE, into);
}

static int need_map(const struct reader *r, const struct yml *v, const char *what)
{
	return v->kind == YML_MAP ? 0 : FAULT(r, v, "'%s' must be a map", what);
}

static const struct key *find_key(const struct key *keys, struct str name)
{
	for (; keys->name; keys++)
		if (str_is(name, keys->name))
			return keys;
	return NULL;
}

static int read_keys(
	const struct reader *r, const struct yml *map, const struct key *keys, void *to)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct yml *name = map->map[i].key;
		const struct key *key = find_key(keys, name->text);
		char seen[SHOWN];

		if (!key)
			return FAULT(r, name, "unknown key '%s'", shown(name->text, seen));
		if (key->read(r, map->map[i].value, key->name, (char *)to + key->offset) < 0)
			return -1;
	}
	return 0;
}

static int read_limits(const struct reader *r, const struct yml *v, const char *key, void *into)
{
#define LIMIT(name, read)                                                                          \
	{                                                                                          \
#name, read, offsetof(struct workflow_limits, name), 0                             \
	}
	static const struct key keys[] = {
		LIMIT(max_fix_iterations, read_maximum),
		LIMIT(max_review_fix_iterations, read_maximum),
		LIMIT(signoff_deadlock, read_threshold),
		LIMIT(review_loop, read_threshold),
		LIMIT(consecutive_failures, read_threshold),
		LIMIT(max_actions, read_budget),
		LIMIT(lease_minutes, read_lease),
		{0},
	};
#undef LIMIT

	return need_map(r, v, key) < 0 ? -1 : read_keys(r, v, keys, into);
}

/* A list of 0 to `max` texts, each good for `check`. */
static int read_list(const struct reader *r, const struct yml *v, const char *key, read_fn *check,
	const char ***list, size_t *n)
{
	if (v->kind != YML_LIST)
		return FAULT(r, v, "'%s' must be a list", key);
	if (v->n > FLOW_LIST)
		return FAULT(r, v, "'%s' has more than %d entries", key, FLOW_LIST);
	*list = arena_alloc(r->a, (v->n + 1) * sizeof(**list));
	for (*n = 0; *n < v->n; ++*n)
		if (check(r, v->list[*n], key, &(*list)[*n]) < 0)
			return -1;
	return 0;
}

/* An argument goes into a command line of people: one line, nothing that cannot be seen. */
static int read_argument(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct str text;

	if (need_text(r, v, key, &text) < 0)
		return -1;
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
			return FAULT(r, v, "'%s' has a control character", key);
	*(const char **)into = text.p;
	return 0;
}

static int read_args(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct declared_action *it = into;

	return read_list(r, v, key, read_argument, &it->args, &it->n_args);
}

static int read_reads(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct declared_action *it = into;

	return read_list(r, v, key, read_section, &it->reads, &it->n_reads);
}

static int read_word(
	const struct reader *r, const struct yml *v, const char *what, const char **word)
{
	char seen[SHOWN];

	if (v->kind != YML_SCALAR || !word_valid(v->text))
		return FAULT(r, v, "'%s' is no %s: 1 to %d letters, digits, '_' and, inside, '-'",
			v->kind == YML_SCALAR ? shown(v->text, seen) : "a list or map", what,
			FLOW_NAME);
	*word = v->text.p;
	return 0;
}

static int read_results(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct declared_action *it = into;

	if (need_map(r, v, key) < 0)
		return -1;
	if (!v->n || v->n > FLOW_RESULTS)
		return FAULT(r, v, "'%s' must have 1 to %d words", key, FLOW_RESULTS);
	it->outcomes = arena_alloc(r->a, v->n * sizeof(*it->outcomes));
	for (it->n_outcomes = 0; it->n_outcomes < v->n; it->n_outcomes++) {
		const struct yml_pair *pair = &v->map[it->n_outcomes];
		struct declared_outcome *o = &it->outcomes[it->n_outcomes];

		if (read_word(r, pair->key, "result word", &o->word) < 0 ||
			read_word(r, pair->value, "trigger", &o->trigger) < 0)
			return -1;
		o->line = pair->value->line;
		o->col = pair->value->col;
	}
	return 0;
}

/* The two forms of an item. */
enum { AGENT = 1, SCRIPT = 2 };

static const struct key item_keys[] = {
	{"agent", read_skill, offsetof(struct declared_action, agent), AGENT},
	{"skill", read_skill, offsetof(struct declared_action, skill), AGENT},
	{"args", read_args, 0, AGENT},
	{"reads", read_reads, 0, AGENT},
	{"command", read_text, offsetof(struct declared_action, command), SCRIPT},
	{"timeout", read_timeout, offsetof(struct declared_action, timeout_s), SCRIPT},
	{"writes", read_section, offsetof(struct declared_action, writes), AGENT | SCRIPT},
	{"results", read_results, 0, AGENT | SCRIPT},
	{0},
};

/* What exec can say of a script is `passed` and `failed`; which is the good one, the order tells.
 */
static int check_script(const struct reader *r, const struct yml *v, struct declared_action *it)
{
	static const char *const words[] = {"passed", "failed"};

	if (!it->outcomes) {
		it->n_outcomes = COUNT(words);
		it->outcomes = arena_alloc(r->a, COUNT(words) * sizeof(*it->outcomes));
		for (size_t i = 0; i < COUNT(words); i++)
			it->outcomes[i] =
				(struct declared_outcome){words[i], words[i], v->line, v->col};
		return 0;
	}
	if (it->n_outcomes == COUNT(words) &&
		(!strcmp(it->outcomes[0].word, words[0]) ||
			!strcmp(it->outcomes[1].word, words[0])) &&
		(!strcmp(it->outcomes[0].word, words[1]) ||
			!strcmp(it->outcomes[1].word, words[1])))
		return 0;
	v = yml_get(v, "results");
	return FAULT(r, v, "'results' of a script must be 'passed' and 'failed'");
}

static int check_item(const struct reader *r, const struct yml *v, struct declared_action *it)
{
	if (!it->agent && !it->command)
		return FAULT(r, v, "neither 'agent' nor 'command' is given");
	if (it->agent && !it->skill)
		return FAULT(r, v, "'skill' is missing beside 'agent'");
	if (!it->writes)
		return FAULT(r, v, "'writes' is missing: the section that the answer goes to");
	if (it->command)
		return check_script(r, v, it);
	if (!it->outcomes)
		return FAULT(r, v, "'results' is missing: the words of the answer");
	return 0;
}

static int read_item(const struct reader *r, const struct yml *v, struct declared_action *it)
{
	unsigned form = yml_get(v, "agent") ? AGENT : SCRIPT;

	*it = (struct declared_action){
		.line = v->line, .col = v->col, .timeout_s = WORKFLOW_TIMEOUT};
	for (size_t i = 0; i < v->n; i++) {
		const struct yml *name = v->map[i].key;
		const struct key *key = find_key(item_keys, name->text);

		if (key && !(key->where & form) && (form == AGENT || yml_get(v, "command")))
			return FAULT(r, name, "'%s' does not go with '%s'", key->name,
				form == AGENT ? "agent" : "command");
	}
	if (read_keys(r, v, item_keys, it) < 0)
		return -1;
	return check_item(r, v, it);
}

static int compare_writes(const void *a, const void *b)
{
	const struct declared_action *x = *(const struct declared_action *const *)a,
				     *y = *(const struct declared_action *const *)b;
	int c = strcmp(x->writes, y->writes);

	return c ? c : (x < y ? -1 : x > y);
}

static int check_sections(
	const struct reader *r, const struct declared_state *d, const struct yml *all)
{
	const struct declared_action **order = arena_alloc(r->a, d->n * sizeof(*order));

	for (size_t i = 0; i < d->n; i++)
		order[i] = &d->items[i];
	qsort(order, d->n, sizeof(*order), compare_writes);
	for (size_t i = 1; i < d->n; i++)
		if (!strcmp(order[i]->writes, order[i - 1]->writes))
			return FAULT(r, yml_get(all->list[order[i] - d->items], "writes"),
				"section '%s' is written by the item in line %u too",
				order[i]->writes, order[i - 1]->line);
	return 0;
}

static int read_all(const struct reader *r, const struct yml *v, struct declared_state *d)
{
	if (v->kind != YML_LIST || !v->n)
		return FAULT(r, v, "'all' must be a list of one or more");
	if (v->n > FLOW_ITEMS)
		return FAULT(r, v, "'all' has more than %d entries", FLOW_ITEMS);
	d->items = arena_alloc(r->a, v->n * sizeof(*d->items));
	for (d->n = 0; d->n < v->n; d->n++) {
		const struct yml *item = v->list[d->n];

		if (need_map(r, item, "all") < 0 || read_item(r, item, &d->items[d->n]) < 0)
			return -1;
	}
	return check_sections(r, d, v);
}

static int read_declared(
	const struct reader *r, const struct yml_pair *pair, struct declared_state *d)
{
	const struct yml *v = pair->value, *all;
	char seen[SHOWN];

	if (read_word(r, pair->key, "name for a state", &d->name) < 0)
		return -1;
	if (!strcmp(d->name, "troubleshooter"))
		return FAULT(r, pair->key,
			"'troubleshooter' is the machine's own and cannot be a state");
	d->line = pair->key->line;
	d->col = pair->key->col;
	if (need_map(r, v, d->name) < 0)
		return -1;
	all = yml_get(v, "all");
	if (!all) {
		d->items = arena_alloc(r->a, sizeof(*d->items));
		d->n = 1;
		return read_item(r, v, d->items);
	}
	for (size_t i = 0; i < v->n; i++)
		if (v->map[i].value != all)
			return FAULT(r, v->map[i].key, "'%s' does not go with 'all'",
				shown(v->map[i].key->text, seen));
	return read_all(r, all, d);
}

static int read_states(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct workflow *w = into;

	if (need_map(r, v, key) < 0)
		return -1;
	if (v->n > FLOW_STATES)
		return FAULT(r, v, "'%s' has more than %d entries", key, FLOW_STATES);
	w->declared = arena_alloc(r->a, (v->n + 1) * sizeof(*w->declared));
	for (w->n_declared = 0; w->n_declared < v->n; w->n_declared++)
		if (read_declared(r, &v->map[w->n_declared], &w->declared[w->n_declared]) < 0)
			return -1;
	return 0;
}

static int read_policy(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct workflow_security *s = into;

	if (read_argument(r, v, key, &s->policy) < 0)
		return -1;
	if (s->policy[0] == '-')
		return FAULT(r, v, "'%s' begins with '-'", key);
	s->line = v->line;
	s->col = v->col;
	return 0;
}

static int read_violation(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	enum violation which;
	char seen[SHOWN];

	if (read_text(r, v, key, into) < 0)
		return -1;
	if (!violation_named(*(const char **)into, &which))
		return FAULT(r, v, "'%s' must be 'hard_abort' or 'validation_fail', not '%s'", key,
			shown(v->text, seen));
	return 0;
}

static int read_except(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	struct workflow_security *s = into;

	return read_list(r, v, key, read_text, &s->except, &s->n_except);
}

static int read_security(const struct reader *r, const struct yml *v, const char *key, void *into)
{
	static const struct key keys[] = {
		{"policy", read_policy, 0, 0},
		{"violation", read_violation, offsetof(struct workflow_security, violation), 0},
		{"except", read_except, 0, 0},
		{0},
	};
	struct workflow_security *s = into;

	if (need_map(r, v, key) < 0 || read_keys(r, v, keys, s) < 0)
		return -1;
	return s->policy ? 0 : FAULT(r, v, "'policy' is missing in '%s'", key);
}

static bool names_a_script(const struct workflow *w, const char *name)
{
	if (!strcmp(name, "validate") || !strcmp(name, "checks"))
		return true;
	for (size_t i = 0; i < w->n_declared; i++)
		if (!strcmp(w->declared[i].name, name))
			return true;
	return false;
}

/* A slip of the pen here would leave out nothing, and that would be found out late. */
static int check_except(const struct reader *r, const struct yml *root, const struct workflow *w)
{
	const struct workflow_security *s = &w->security;

	for (size_t i = 0; i < s->n_except; i++)
		if (!names_a_script(w, s->except[i]))
			return FAULT(r, yml_get(yml_get(root, "security"), "except")->list[i],
				"'%.80s' is neither 'validate' nor 'checks' nor a declared state",
				s->except[i]);
	return 0;
}

int declared_parse(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err)
{
	static const struct key keys[] = {
		{"limits", read_limits, offsetof(struct workflow, limits), 0},
		{"validate", read_text, offsetof(struct workflow, validate), 0},
		{"validate_timeout", read_timeout, offsetof(struct workflow, validate_timeout_s),
			0},
		{"checks", read_text, offsetof(struct workflow, checks), 0},
		{"research_skill", read_skill, offsetof(struct workflow, research_skill), 0},
		{"security", read_security, offsetof(struct workflow, security), 0},
		{"states", read_states, 0, 0},
		{0},
	};
	struct reader r = {a, file, err};
	struct yml *root;

	if (yml_parse(a, text, file, line, &root, err) < 0)
		return -1;
	if (root->kind == YML_SCALAR && yml_is_null(root))
		return 0;
	if (need_map(&r, root, "frontmatter") < 0 || read_keys(&r, root, keys, w) < 0)
		return -1;
	return check_except(&r, root, w);
}
