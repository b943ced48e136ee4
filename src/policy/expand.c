#include "src/policy/expand.h"

/* Values that are made of values double with each turn: there is an end to it. */
enum { FEEDERS_MAX = 8, VALUES_MAX = 128 << 10, MATCH_COST = 8 };

/* What a word becomes, while its parts are put together. */
struct making {
	const struct expander *e;
	struct args_list *out; /* NULL: no splitting, no patterns */
	struct buf text;       /* the argument so far, quotes resolved */
	struct buf glob;       /* the same with literal wildcards behind backslashes */
	bool any;              /* there is an argument, if only an empty one */
	bool wild;             /* with a wildcard that works */
	bool dynamic, split, commits;
	bool alone; /* the word has one part */
	bool found; /* which is the name of a file that was found */
	struct span at;
};

void args_push(struct arena *a, struct args_list *l, struct arg arg)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 8;
		struct arg *grown = arena_alloc(a, cap * sizeof(*grown));

		if (l->n)
			memcpy(grown, l->p, l->n * sizeof(*grown));
		l->p = grown;
		l->cap = cap;
	}
	l->p[l->n++] = arg;
}

static void add_literal(struct making *m, struct str text)
{
	buf_add(&m->text, text);
	for (size_t i = 0; i < text.n; i++) {
		/* In a bracket a quoted `-`, `!` or `:` is that character and nothing more. */
		if (strchr("*?[]\\-!^:=.", text.p[i]) && text.p[i])
			buf_addc(&m->glob, '\\');
		buf_addc(&m->glob, text.p[i]);
	}
}

static void add_wild(struct making *m, struct str text)
{
	buf_add(&m->text, text);
	buf_add(&m->glob, text);
	for (size_t i = 0; i < text.n && !m->wild; i++)
		m->wild = strchr("*?[", text.p[i]) != NULL;
}

static int find_matches(struct making *m, struct texts *out)
{
	struct check *c = m->e->check;
	struct str glob = arena_str(c->arena, buf_str(&m->glob)); /* a verdict may quote it */
	const struct texts *known = c->memory ? memory_matches(c->memory, m->e->cwd, glob) : NULL;

	if (known) {
		*out = *known;
		return 0;
	}
	if (!c->live && c->patterns-- == 0)
		return deny(c->v, RULE_LIMIT, m->at, "too many patterns");
	if (glob_expand(c->arena, c->root, c->policy, m->e->cwd, glob, m->at, out, c->v) < 0)
		return -1;
	if (c->memory)
		memory_put_matches(c->memory, m->e->cwd, glob, out);
	return 0;
}

static int finish_matches(struct making *m)
{
	struct check *c = m->e->check;
	struct texts found;

	if (asked(c, RULE_PATH_GLOB, m->at, arena_str(c->arena, buf_str(&m->text)), STR(""),
		    find_matches(m, &found)) < 0)
		return -1;
	for (size_t i = 0; i < found.n; i++) {
		struct str name = str_of(found.p[i]);

		if (!c->live && (c->bytes += name.n + MATCH_COST) > VALUES_MAX)
			return deny(c->v, RULE_LIMIT, m->at, "the patterns match too many files");
		args_push(c->arena, m->out,
			(struct arg){.text = name, .origin = ARG_KNOWN, .at = m->at});
	}
	return 0;
}

/* Ends the argument that is being made. */
static int finish(struct making *m)
{
	struct check *c = m->e->check;
	struct arg arg = {.at = m->at, .split = m->split, .commits = m->commits};
	int rc = 0;

	if (!m->any)
		return 0;
	if (m->wild && m->dynamic)
		rc = deny(c->v, RULE_PATH_GLOB, m->at,
			"a pattern together with a value that is known only at run time");
	else if (m->wild) {
		rc = finish_matches(m);
	} else {
		arg.text = arena_str(c->arena, buf_str(&m->text));
		arg.origin = m->found ? ARG_FOUND : m->dynamic ? ARG_DYNAMIC : ARG_KNOWN;
		args_push(c->arena, m->out, arg);
	}
	buf_clear(&m->text);
	buf_clear(&m->glob);
	m->any = m->wild = m->dynamic = m->split = m->commits = false;
	return rc;
}

/* The result of an expansion outside quotes: blanks part it, wildcards in it work. */
static int add_fields(struct making *m, struct str text)
{
	for (size_t i = 0; i < text.n;) {
		size_t from = i;

		while (i < text.n && !strchr(" \t\n", text.p[i]))
			i++;
		if (i > from) {
			add_wild(m, str_sub(text, from, i));
			m->any = true;
		}
		for (from = i; i < text.n && strchr(" \t\n", text.p[i]);)
			i++;
		if (i > from && finish(m) < 0)
			return -1;
	}
	return 0;
}

/* Behind an unknown part: a blank or a wildcard makes several words of it. */
static void follow(struct making *m, const struct part *p, struct str text)
{
	for (size_t i = 0; !p->quoted && m->out && i < text.n; i++)
		if (text.p[i] && strchr(" \t\n*?[", text.p[i])) {
			m->split = true;
			m->commits = false;
		}
}

static int add_value(struct making *m, const struct part *p)
{
	struct arg value = {0};
	const struct expander *e = m->e;
	int rc = p->kind == PART_VARIABLE ? e->variable(e->of, p->text, p->at, &value)
					  : e->output(e->of, p->node, &value);

	if (rc < 0)
		return -1;
	if (value.origin != ARG_KNOWN) {
		/* What stands behind an unknown part is unknown too: only the beginning counts. */
		m->commits = value.commits && (m->commits || !m->dynamic);
		m->split |= !p->quoted && m->out;
		m->found = m->alone && p->quoted && value.origin == ARG_FOUND;
		m->any = m->dynamic = true;
		return 0;
	}
	if (!e->check->live && (e->check->bytes += value.text.n) > VALUES_MAX)
		return deny(e->check->v, RULE_LIMIT, p->at,
			"the values of variables become longer than %d bytes", VALUES_MAX);
	if (m->dynamic) {
		follow(m, p, value.text);
		return 0;
	}
	if (!p->quoted && m->out)
		return add_fields(m, value.text);
	add_literal(m, value.text);
	m->any |= p->quoted;
	return 0;
}

static int add_part(struct making *m, const struct part *p)
{
	if (p->kind != PART_TEXT)
		return add_value(m, p);
	m->any = true;
	if (m->dynamic) {
		follow(m, p, p->text);
		return 0;
	}
	if (p->quoted || !m->out)
		add_literal(m, p->text);
	else
		add_wild(m, p->text);
	return 0;
}

static int add_parts(struct making *m, const struct word *w)
{
	m->any = w->quoted;
	for (size_t i = 0; i < w->n; i++)
		if (add_part(m, &w->parts[i]) < 0)
			return -1;
	return 0;
}

static void making_release(struct making *m)
{
	buf_release(&m->text);
	buf_release(&m->glob);
}

/* Most words are one text that means itself. */
static bool is_plain(const struct word *w)
{
	return w->n == 1 && !w->dynamic && !w->pattern;
}

int expand_word(const struct expander *e, const struct word *w, struct args_list *out)
{
	CLEANUP(making_release)
	struct making m = {.e = e, .out = out, .at = w->at, .alone = w->n == 1};

	if (is_plain(w)) {
		args_push(e->check->arena, out,
			(struct arg){.text = w->parts[0].text, .origin = ARG_KNOWN, .at = w->at});
		return 0;
	}
	return add_parts(&m, w) < 0 ? -1 : finish(&m);
}

int expand_single(const struct expander *e, const struct word *w, struct arg *out)
{
	CLEANUP(making_release) struct making m = {.e = e, .at = w->at, .alone = w->n == 1};

	*out = (struct arg){.at = w->at, .origin = ARG_KNOWN};
	if (add_parts(&m, w) < 0)
		return -1;
	out->text = arena_str(e->check->arena, buf_str(&m.text));
	if (m.dynamic)
		out->origin = m.found ? ARG_FOUND : ARG_DYNAMIC;
	out->commits = m.commits;
	return 0;
}

/* All that it puts out goes into the pipe, and nothing else does; what it reads came through one.
 */
static bool redirects_errors_only(const struct node *n)
{
	for (size_t i = 0; i < n->n_redirects; i++) {
		const struct redirect *r = &n->redirects[i];

		if (r->fd != 2 || (r->kind != REDIRECT_WRITE && r->kind != REDIRECT_APPEND))
			return false;
	}
	return true;
}

static bool feeder_at(
	const struct expander *e, const struct node *left, unsigned depth, struct call *out)
{
	struct args_list words = {0};

	if (left->kind != NODE_COMMAND || !left->n_words || !redirects_errors_only(left))
		return false;
	for (size_t i = 0; i < left->n_words; i++)
		if (left->words[i].dynamic || expand_word(e, &left->words[i], &words) < 0)
			return false;
	if (!words.n)
		return false;
	*out = (struct call){.args = words.p, .n = words.n, .cwd = e->cwd, .at = left->at};
	if (left->before && depth < FEEDERS_MAX) {
		struct call *earlier = arena_alloc(e->check->arena, sizeof(*earlier));

		if (feeder_at(e, left->before, depth + 1, earlier))
			out->feeds = earlier;
	}
	return true;
}

bool expand_feeder(const struct expander *e, const struct node *left, struct call *out)
{
	return feeder_at(e, left, 0, out);
}

bool reads_pipe(const struct node *n)
{
	for (size_t i = 0; i < n->n_redirects; i++)
		if (n->redirects[i].fd == 0)
			return false;
	return true;
}
