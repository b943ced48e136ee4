#include "src/policy/state.h"

enum { LOOP_TURNS = 8, LOOP_FILES = 128 };

static int both(struct check *c, const struct ends *e, struct state *out)
{
	*out = e->ok;
	return state_join(c, out, &e->no);
}

static struct ends ends_at(const struct state *s)
{
	return (struct ends){*s, *s};
}

static int pipeline(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct node *part = n->children[i];
		const struct node *before = i ? n->children[i - 1] : NULL;
		struct ends ignored;

		if ((part->kind == NODE_COMMAND ? walk_command(c, part, before, in, &ignored)
						: walk(c, part, in, &ignored)) < 0)
			return -1;
	}
	*out = ends_at(in);
	return 0;
}

static int and_or(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct ends left, right;
	bool all = n->kind == NODE_AND;

	if (walk(c, n->children[0], in, &left) < 0 ||
		walk(c, n->children[1], all ? &left.ok : &left.no, &right) < 0)
		return -1;
	*out = right;
	return all ? state_join(c, &out->no, &left.no) : state_join(c, &out->ok, &left.ok);
}

static int list(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct state at = *in;

	*out = ends_at(in);
	for (size_t i = 0; i < n->n; i++)
		if (walk(c, n->children[i], &at, out) < 0 || both(c, out, &at) < 0)
			return -1;
	return 0;
}

static int negated(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct ends e;

	if (walk(c, n->children[0], in, &e) < 0)
		return -1;
	*out = (struct ends){e.no, e.ok};
	return 0;
}

/* What it does to variables and directories ends with it. */
static int apart(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct ends ignored;

	if (walk(c, n->children[0], in, &ignored) < 0)
		return -1;
	*out = ends_at(in);
	return 0;
}

static int same(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	return walk(c, n->children[0], in, out);
}

static int add_ends(struct check *c, struct ends *to, const struct ends *e)
{
	return state_join(c, &to->ok, &e->ok) < 0 || state_join(c, &to->no, &e->no) < 0 ? -1 : 0;
}

static int condition(
	struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct state at = *in;
	struct ends sum = {0}, e, body;

	for (size_t i = 0; i + 1 < n->n; i += 2) {
		if (walk(c, n->children[i], &at, &e) < 0 ||
			walk(c, n->children[i + 1], &e.ok, &body) < 0 ||
			add_ends(c, &sum, &body) < 0)
			return -1;
		at = e.no;
	}
	if (n->n % 2 == 0)
		body = ends_at(&at);
	else if (walk(c, n->children[n->n - 1], &at, &body) < 0)
		return -1;
	*out = sum;
	return add_ends(c, out, &body);
}

/*
 * A loop with a place for the states that `break` and `continue` leave from. `break 2` leaves the
 * loop around it too, so they count there as well.
 */
static int with_jumps(struct check *c, const struct node *n, const struct state *in,
	struct ends *out,
	int (*one)(struct check *c, const struct node *n, const struct state *in, struct ends *out))
{
	struct state jumps = {0}, *outer = c->jumps;
	int rc;

	c->jumps = &jumps;
	rc = one(c, n, in, out);
	c->jumps = outer;
	if (rc < 0 || state_join(c, &out->ok, &jumps) < 0 || state_join(c, &out->no, &jumps) < 0)
		return -1;
	return outer ? state_join(c, outer, &jumps) : 0;
}

/* Goes round until nothing new comes of it. */
static int turns(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	bool until = n->kind == NODE_UNTIL;
	struct state at = *in;

	for (int turn = 0; turn < LOOP_TURNS; turn++) {
		struct state was = at, back;
		struct ends test, body;

		if (walk(c, n->children[0], &at, &test) < 0 ||
			walk(c, n->children[1], until ? &test.no : &test.ok, &body) < 0 ||
			both(c, &body, &back) < 0 || state_join(c, &at, &back) < 0 ||
			state_join(c, &at, c->jumps) < 0)
			return -1;
		*out = ends_at(until ? &test.ok : &test.no);
		if (state_same(&was, &at))
			return 0;
	}
	return deny(c->v, RULE_LIMIT, n->at,
		"each turn of the loop leads to another directory or value");
}

static int loop(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	return with_jumps(c, n, in, out, turns);
}

struct values {
	struct args_list list;
};

static int loop_values(struct walker *w, const struct node *n, void *arg)
{
	const struct expander e = walker_expander(w);
	struct values *v = arg;

	for (size_t i = 0; i < n->n_words; i++) {
		size_t had = v->list.n;

		if (expand_word(&e, &n->words[i], &v->list) < 0)
			return -1;
		if (n->words[i].pattern && v->list.n > had + LOOP_FILES) {
			v->list.n = had + 1; /* all of them are below the root: that is enough */
			v->list.p[had].origin = ARG_FOUND;
			v->list.p[had].text = STR("");
		}
	}
	return walk_redirects(w, n);
}

/* One value after the other, each from where the one before it has led to. */
static int each_value(
	struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	struct values v = {0};
	struct state at = *in;

	if (check_variable(c, n->name, n->at) < 0 || walk_each_way(c, n, in, loop_values, &v) < 0)
		return -1;
	*out = ends_at(in);
	for (size_t i = 0; i < v.list.n; i++) {
		if (state_set(c, &at, n->name, &v.list.p[i]) < 0 ||
			walk(c, n->children[0], &at, out) < 0 || both(c, out, &at) < 0 ||
			state_join(c, &at, c->jumps) < 0)
			return -1;
	}
	return add_ends(c, out, &(struct ends){*in, *in});
}

static int for_loop(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	return with_jumps(c, n, in, out, each_value);
}

static int look_at_word(struct walker *w, const struct node *n, void *arg)
{
	const struct expander e = walker_expander(w);
	struct arg ignored;

	(void)arg;
	return expand_single(&e, &n->words[0], &ignored) < 0 ? -1 : walk_redirects(w, n);
}

static int look_at_patterns(struct check *c, const struct arm *arm)
{
	for (size_t i = 0; i < arm->n; i++)
		if (arm->patterns[i].dynamic)
			return deny(c->v, RULE_VALUE_DYNAMIC, arm->patterns[i].at,
				"a pattern of case that is not known");
	return 0;
}

static int case_of(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	if (walk_each_way(c, n, in, look_at_word, NULL) < 0)
		return -1;
	*out = ends_at(in);
	for (size_t i = 0; i < n->n_arms; i++) {
		struct ends body;

		if (look_at_patterns(c, &n->arms[i]) < 0)
			return -1;
		if (n->arms[i].body &&
			(walk(c, n->arms[i].body, in, &body) < 0 || add_ends(c, out, &body) < 0))
			return -1;
	}
	return 0;
}

static int only_redirects(struct walker *w, const struct node *n, void *arg)
{
	(void)arg;
	return walk_redirects(w, n);
}

typedef int walk_fn(
	struct check *c, const struct node *n, const struct state *in, struct ends *out);

static int one_command(
	struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	return walk_command(c, n, NULL, in, out);
}

static walk_fn *const walks[] = {
	[NODE_COMMAND] = one_command,
	[NODE_PIPE] = pipeline,
	[NODE_AND] = and_or,
	[NODE_OR] = and_or,
	[NODE_NOT] = negated,
	[NODE_TIME] = same,
	[NODE_LIST] = list,
	[NODE_BACKGROUND] = apart,
	[NODE_SUBSHELL] = apart,
	[NODE_GROUP] = same,
	[NODE_IF] = condition,
	[NODE_WHILE] = loop,
	[NODE_UNTIL] = loop,
	[NODE_FOR] = for_loop,
	[NODE_CASE] = case_of,
};

int walk(struct check *c, const struct node *n, const struct state *in, struct ends *out)
{
	bool plain = n->kind == NODE_COMMAND || n->kind == NODE_FOR || n->kind == NODE_CASE;

	if (!plain && n->n_redirects && walk_each_way(c, n, in, only_redirects, NULL) < 0)
		return -1;
	return walks[n->kind](c, n, in, out);
}

int check_tree(struct check *c, const struct node *tree, struct str cwd)
{
	struct state in = state_at(c->arena, (struct folder){.path = cwd, .linked = c->linked});
	struct ends ignored;

	check_enters(c, cwd);
	return walk(c, tree, &in, &ignored);
}
