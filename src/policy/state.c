#include "src/policy/state.h"

struct state state_at(struct arena *a, struct folder cwd)
{
	struct state s = {.cwds = arena_alloc(a, sizeof(*s.cwds)), .n_cwds = 1};

	s.cwds[0] = cwd;
	return s;
}

const struct variable *state_get(const struct state *s, struct str name)
{
	for (size_t i = 0; i < s->n_variables; i++)
		if (str_eq(s->variables[i].name, name))
			return &s->variables[i];
	return NULL;
}

static int too_many(struct check *c, const char *what, int limit)
{
	return deny(c->v, RULE_LIMIT, (struct span){0, 0}, "more than %d %s", limit, what);
}

/* A list of its own, with room for one more. */
static void own_variables(struct arena *a, struct state *s)
{
	struct variable *list = arena_alloc(a, (s->n_variables + 1) * sizeof(*list));

	if (s->n_variables)
		memcpy(list, s->variables, s->n_variables * sizeof(*list));
	s->variables = list;
}

static struct variable *slot(struct check *c, struct state *s, struct str name)
{
	own_variables(c->arena, s);
	for (size_t i = 0; i < s->n_variables; i++)
		if (str_eq(s->variables[i].name, name))
			return &s->variables[i];
	if (s->n_variables == STATE_VARIABLES) {
		(void)too_many(c, "variables", STATE_VARIABLES);
		return NULL;
	}
	s->variables[s->n_variables] = (struct variable){.name = name};
	return &s->variables[s->n_variables++];
}

int state_set(struct check *c, struct state *s, struct str name, const struct arg *value)
{
	struct variable *v = slot(c, s, name);

	if (!v)
		return -1;
	v->values = arena_alloc(c->arena, sizeof(*v->values));
	v->values[0] = *value;
	v->n = 1;
	return 0;
}

static bool same_value(const struct arg *a, const struct arg *b)
{
	return a->origin == b->origin && a->commits == b->commits && str_eq(a->text, b->text);
}

static bool has_value(const struct variable *v, const struct arg *value)
{
	for (size_t i = 0; i < v->n; i++)
		if (same_value(&v->values[i], value))
			return true;
	return false;
}

static const struct arg unset = {.origin = ARG_KNOWN};

static int add_values(struct check *c, struct variable *v, const struct arg *more, size_t n)
{
	struct arg *list = arena_alloc(c->arena, (v->n + n) * sizeof(*list));

	if (v->n)
		memcpy(list, v->values, v->n * sizeof(*list));
	v->values = list;
	for (size_t i = 0; i < n; i++)
		if (!has_value(v, &more[i]))
			v->values[v->n++] = more[i];
	return v->n > STATE_VALUES ? too_many(c, "values of a variable", STATE_VALUES) : 0;
}

/* A variable that only one of the two has is empty in the other. */
static int join_variables(struct check *c, struct state *to, const struct state *other)
{
	for (size_t i = 0; i < other->n_variables; i++) {
		const struct variable *from = &other->variables[i];
		bool fresh = !state_get(to, from->name);
		struct variable *v = slot(c, to, from->name);

		if (!v || (fresh && add_values(c, v, &unset, 1) < 0) ||
			add_values(c, v, from->values, from->n) < 0)
			return -1;
	}
	for (size_t i = 0; i < to->n_variables; i++)
		if (!state_get(other, to->variables[i].name) &&
			add_values(c, &to->variables[i], &unset, 1) < 0)
			return -1;
	return 0;
}

static struct folder *cwd_of(const struct state *s, struct str path)
{
	for (size_t i = 0; i < s->n_cwds; i++)
		if (str_eq(s->cwds[i].path, path))
			return &s->cwds[i];
	return NULL;
}

static int join_cwds(struct check *c, struct state *to, const struct state *other)
{
	struct folder *list = arena_alloc(c->arena, (to->n_cwds + other->n_cwds) * sizeof(*list));

	if (to->n_cwds)
		memcpy(list, to->cwds, to->n_cwds * sizeof(*list));
	to->cwds = list;
	for (size_t i = 0; i < other->n_cwds; i++) {
		struct folder *f = cwd_of(to, other->cwds[i].path);

		if (f)
			f->linked |= other->cwds[i].linked;
		else
			to->cwds[to->n_cwds++] = other->cwds[i];
	}
	return to->n_cwds > STATE_CWDS ? too_many(c, "possible working directories", STATE_CWDS)
				       : 0;
}

/* A state without a working directory is one that cannot come about. */
int state_join(struct check *c, struct state *to, const struct state *other)
{
	if (!other->n_cwds)
		return 0;
	if (!to->n_cwds) {
		*to = *other;
		return 0;
	}
	if (to->cwds == other->cwds && to->variables == other->variables &&
		to->n_variables == other->n_variables)
		return 0;
	own_variables(c->arena, to);
	return join_cwds(c, to, other) < 0 || join_variables(c, to, other) < 0 ? -1 : 0;
}

bool state_same(const struct state *a, const struct state *b)
{
	if (a->n_cwds != b->n_cwds || a->n_variables != b->n_variables)
		return false;
	for (size_t i = 0; i < a->n_cwds; i++)
		if (!cwd_of(b, a->cwds[i].path))
			return false;
	for (size_t i = 0; i < a->n_variables; i++) {
		const struct variable *v = state_get(b, a->variables[i].name);

		if (!v || v->n != a->variables[i].n)
			return false;
	}
	return true;
}
