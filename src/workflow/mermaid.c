#include "src/base/vec.h"
#include "src/workflow/workflow.h"

enum { SHOWN_MAX = 60 };

struct mermaid_place {
	unsigned line, col;
};

/*
 * Mermaid itself accepts no `-` in a state's id, so a diagram that is both drawn and run writes
 * `state "fixing-pr" as fixing_pr`. Ids that differ only in these two characters are one state; how
 * each was spelled is kept until the last line is known.
 */
struct mermaid_spelling {
	bool renamed;
	struct str other; /* a second spelling, n 0 if there is none */
	struct mermaid_place other_at;
	struct mermaid_place end_at;
};

struct mermaid_cursor {
	struct str rest; /* lines still to come */
	struct str raw;  /* the line being read; `line` is its number */
	unsigned line;
};

/* A diagram while it is read. */
struct mermaid_reader {
	struct arena *arena;
	const char *file;
	struct error *err;
	struct mermaid_cursor cur;
	VEC(struct workflow_state) states;
	VEC(struct mermaid_spelling) spellings; /* one for each state */
	VEC(struct workflow_edge) edges;        /* names of states follow at the end */
	size_t initial;                         /* index, once initial_at.line is set */
	struct mermaid_place initial_at;
};

#define mermaid_fault_at(r, at, ...) error_at((r)->err, (r)->file, (at).line, (at).col, __VA_ARGS__)

/* A part of the diagram, for a message. */
static const char *mermaid_show(const struct mermaid_reader *r, struct str s)
{
	return arena_printable(r->arena, s, SHOWN_MAX);
}

static struct mermaid_place mermaid_place_of(const struct mermaid_reader *r, const char *p)
{
	struct str before = {r->cur.raw.p, (size_t)(p - r->cur.raw.p)};

	return (struct mermaid_place){r->cur.line, (unsigned)str_characters(before) + 1};
}

static bool same_id(const char *a, struct str b)
{
	size_t i = 0;

	while (i < b.n && a[i] && (a[i] == '-' ? '_' : a[i]) == (b.p[i] == '-' ? '_' : b.p[i]))
		i++;
	return i == b.n && !a[i];
}

/* The state called `name`, created if it is new. */
static int diagram_state(
	struct mermaid_reader *r, struct str name, struct mermaid_place at, size_t *index)
{
	struct mermaid_spelling *sp;

	if (!workflow_word_valid(name))
		return mermaid_fault_at(r, at,
			"'%s' is not a valid state name: 1 to %d letters, digits, '_' and, inside, "
			"'-'",
			mermaid_show(r, name), WORKFLOW_NAME_MAX);
	if (str_is(name, "troubleshooter"))
		return mermaid_fault_at(
			r, at, "'troubleshooter' is the machine's own and cannot be a state");
	for (*index = 0; *index < r->states.n; ++*index)
		if (same_id(r->states.items[*index].name, name))
			break;
	if (*index == WORKFLOW_STATES_MAX)
		return mermaid_fault_at(r, at, "state '%s' is one too many: at most %d",
			mermaid_show(r, name), WORKFLOW_STATES_MAX);
	if (*index == r->states.n) {
		vec_push_in(r->arena, &r->states,
			(struct workflow_state){
				.name = arena_dup(r->arena, name), .line = at.line, .col = at.col});
		vec_push_in(r->arena, &r->spellings, (struct mermaid_spelling){0});
	}
	sp = &r->spellings.items[*index];
	if (!sp->other.n && !str_is(name, r->states.items[*index].name)) {
		sp->other = arena_str(r->arena, name);
		sp->other_at = at;
	}
	return 0;
}

/* The first label of a state counts. One that is its name with `-` for `_` renames it. */
static int diagram_label(
	struct mermaid_reader *r, size_t index, struct str label, struct mermaid_place at)
{
	struct workflow_state *s = &r->states.items[index];

	if (str_characters(label) > WORKFLOW_LABEL_MAX)
		return mermaid_fault_at(r, at, "label of '%s' is longer than %d characters",
			s->name, WORKFLOW_LABEL_MAX);
	if (workflow_word_valid(label) && same_id(s->name, label) &&
		!r->spellings.items[index].renamed) {
		r->spellings.items[index].renamed = true;
		s->name = arena_dup(r->arena, label);
	} else if (label.n && !s->label) {
		s->label = arena_dup(r->arena, label);
	}
	return 0;
}

static int diagram_initial(struct mermaid_reader *r, size_t index, struct mermaid_place at)
{
	if (r->initial_at.line)
		return mermaid_fault_at(r, at,
			"second initial state '%s': '%s' is the initial state since line %u",
			r->states.items[index].name, r->states.items[r->initial].name,
			r->initial_at.line);
	r->initial = index;
	r->initial_at = at;
	return 0;
}

static int diagram_edge(struct mermaid_reader *r, size_t from, size_t to, struct str trigger,
	struct mermaid_place at)
{
	if (trigger.n && !workflow_word_valid(trigger))
		return mermaid_fault_at(r, at,
			"'%s' is not a valid trigger: 1 to %d letters, digits, '_' and, inside, "
			"'-'",
			mermaid_show(r, trigger), WORKFLOW_NAME_MAX);
	if (r->edges.n == WORKFLOW_EDGES_MAX)
		return mermaid_fault_at(
			r, at, "this edge is one too many: at most %d", WORKFLOW_EDGES_MAX);
	vec_push_in(r->arena, &r->edges,
		(struct workflow_edge){.from_state = from,
			.to_state = to,
			.trigger = arena_dup(r->arena, trigger),
			.line = at.line,
			.col = at.col});
	return 0;
}

static struct mermaid_place edge_place(const struct workflow_edge *e)
{
	return (struct mermaid_place){e->line, e->col};
}

static int check_twins(struct mermaid_reader *r)
{
	const struct workflow_edge *edges = r->edges.items;

	for (size_t i = 0; i < r->edges.n; i++)
		for (size_t k = 0; k < i; k++)
			if (edges[k].from_state == edges[i].from_state &&
				!strcmp(edges[k].trigger, edges[i].trigger))
				return mermaid_fault_at(r, edge_place(&edges[i]),
					"second edge from '%s' with the trigger '%s': the first is "
					"in line %u",
					r->states.items[edges[i].from_state].name, edges[i].trigger,
					edges[k].line);
	return 0;
}

static int check_edges(struct mermaid_reader *r)
{
	for (size_t i = 0; i < r->edges.n; i++) {
		const struct workflow_edge *l = &r->edges.items[i];
		const struct workflow_state *from = &r->states.items[l->from_state];

		if (from->terminal)
			return mermaid_fault_at(r, edge_place(l),
				"edge out of '%s', which is an end since line %u", from->name,
				r->spellings.items[l->from_state].end_at.line);
		if (!l->trigger[0] && l->from_state != r->initial)
			return mermaid_fault_at(r, edge_place(l),
				"edge from '%s' to '%s' has no trigger", from->name,
				r->states.items[l->to_state].name);
	}
	return check_twins(r);
}

static int check_spellings(struct mermaid_reader *r)
{
	for (size_t i = 0; i < r->states.n; i++) {
		const struct mermaid_spelling *sp = &r->spellings.items[i];

		if (sp->other.n && !sp->renamed)
			return mermaid_fault_at(r, sp->other_at,
				"'%s' is '%s' in line %u: mermaid cannot tell '-' and '_' apart",
				mermaid_show(r, sp->other), r->states.items[i].name,
				r->states.items[i].line);
	}
	return 0;
}

/* Checks the whole diagram and fills *w. */
static int diagram_finish(struct mermaid_reader *r, struct mermaid_place first, struct workflow *w)
{
	if (!r->initial_at.line)
		return mermaid_fault_at(
			r, first, "no initial state: one edge must be '[*] --> NAME'");
	if (check_spellings(r) < 0 || check_edges(r) < 0)
		return -1;
	for (size_t i = 0; i < r->states.n; i++)
		if (!r->states.items[i].label)
			r->states.items[i].label = r->states.items[i].name;
	w->states = r->states.items;
	w->n_states = r->states.n;
	w->initial = r->states.items[r->initial].name;
	w->edges = r->edges.items;
	w->n_edges = r->edges.n;
	for (size_t i = 0; i < w->n_edges; i++) {
		w->edges[i].from = w->states[w->edges[i].from_state].name;
		w->edges[i].to = w->states[w->edges[i].to_state].name;
	}
	return 0;
}

/* The text */

static bool mermaid_next_line(struct mermaid_reader *r)
{
	if (!str_line(&r->cur.rest, &r->cur.raw))
		return false;
	r->cur.line++;
	return true;
}

static bool mermaid_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void mermaid_skip(struct str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

/* Cuts the next name off *s: up to a blank, a colon, a brace or an arrow. */
static struct str take_name(struct str *s)
{
	struct str name;
	size_t n = 0;

	*s = str_trim(*s);
	if (str_starts(*s, "[*]")) {
		n = 3;
	} else {
		while (n < s->n && !mermaid_is_blank(s->p[n]) && s->p[n] != ':' && s->p[n] != '{' &&
			!str_starts(str_sub(*s, n, s->n), "-->"))
			n++;
	}
	name = str_sub(*s, 0, n);
	mermaid_skip(s, n);
	if (str_starts(*s, ":::")) { /* a style class changes only the appearance */
		mermaid_skip(s, 3);
		while (s->n && !mermaid_is_blank(s->p[0]) && !str_starts(*s, "-->"))
			mermaid_skip(s, 1);
	}
	*s = str_trim(*s);
	return name;
}

static int read_name(struct mermaid_reader *r, struct str name, size_t *index)
{
	return diagram_state(r, name, mermaid_place_of(r, name.p), index);
}

static int mermaid_unexpected(struct mermaid_reader *r, struct str rest, struct str after)
{
	if (rest.p[0] == '{')
		return mermaid_fault_at(r, mermaid_place_of(r, rest.p),
			"composite states are not read: give the states inside '%s' to the diagram "
			"itself",
			mermaid_show(r, after));
	return mermaid_fault_at(r, mermaid_place_of(r, rest.p), "unexpected '%s' after '%s'%s",
		mermaid_show(r, rest), mermaid_show(r, after),
		strchr("-=.<", rest.p[0]) ? ": an edge is 'a --> b : trigger'" : "");
}

static int read_edge(struct mermaid_reader *r, struct str from, struct str s)
{
	struct str to = take_name(&s), label = {0};
	bool start = str_is(from, "[*]"), end = str_is(to, "[*]");
	struct mermaid_place at = mermaid_place_of(r, from.p);
	size_t a = 0, b = 0;

	if (!to.n)
		return mermaid_fault_at(r, mermaid_place_of(r, s.n ? s.p : to.p),
			"edge leads nowhere: a state must follow '-->'");
	if (s.n && s.p[0] != ':')
		return mermaid_unexpected(r, s, to);
	if (s.n)
		label = str_trim(str_sub(s, 1, s.n));
	if (start && end)
		return mermaid_fault_at(r, at, "edge from '[*]' to '[*]' names no state");
	if (end && label.n)
		return mermaid_fault_at(r, mermaid_place_of(r, label.p),
			"edge to '[*]' takes no trigger: lead it to a state of its own that ends");
	if ((!start && read_name(r, from, &a) < 0) || (!end && read_name(r, to, &b) < 0))
		return -1;
	if (start)
		return diagram_initial(r, b, mermaid_place_of(r, to.p));
	if (end) {
		if (!r->states.items[a].terminal)
			r->spellings.items[a].end_at = at;
		r->states.items[a].terminal = true;
		return 0;
	}
	return diagram_edge(r, a, b, label, label.n ? mermaid_place_of(r, label.p) : at);
}

/* `x --> y : t`, `x : text`, `x`. A comment may follow. */
static int read_statement(struct mermaid_reader *r, struct str s)
{
	struct str name;
	size_t index;

	for (size_t i = 1; i + 1 < s.n; i++)
		if (mermaid_is_blank(s.p[i - 1]) && s.p[i] == '%' && s.p[i + 1] == '%')
			s.n = i;
	s = str_trim(s);
	if (str_is(s, "--"))
		return mermaid_fault_at(r, mermaid_place_of(r, s.p),
			"regions ('--') are not read: declare a state with 'all:' for several at "
			"once");
	name = take_name(&s);
	if (!name.n)
		return mermaid_fault_at(r, mermaid_place_of(r, s.p), "line begins with no state");
	if (str_starts(s, "-->"))
		return read_edge(r, name, str_sub(s, 3, s.n));
	if (s.n && s.p[0] != ':')
		return mermaid_unexpected(r, s, name);
	if (str_is(name, "[*]"))
		return mermaid_fault_at(
			r, mermaid_place_of(r, name.p), "'[*]' stands only at an end of an edge");
	if (read_name(r, name, &index) < 0)
		return -1;
	return diagram_label(r, index, s.n ? str_trim(str_sub(s, 1, s.n)) : (struct str){0},
		mermaid_place_of(r, name.p));
}

/* After `state`: `"label" as name`, `name`, `name : text`. */
static int mermaid_read_state(struct mermaid_reader *r, struct str s)
{
	static const char *const kinds[] = {
		"<<fork>>", "<<join>>", "<<choice>>", "[[fork]]", "[[join]]", "[[choice]]"};
	struct str label, name;
	size_t end, index;

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (str_ends(s, kinds[i]))
			return mermaid_fault_at(r,
				mermaid_place_of(r, s.p + s.n - strlen(kinds[i])),
				"'%s' is not read: what a state answers decides its way out",
				kinds[i]);
	if (s.p[0] != '"')
		return read_statement(r, s);
	end = str_find(str_sub(s, 1, s.n), STR("\"")) + 1;
	if (end >= s.n)
		return mermaid_fault_at(r, mermaid_place_of(r, s.p), "label is not closed");
	label = str_trim(str_sub(s, 1, end));
	s = str_trim(str_sub(s, end + 1, s.n));
	if (!str_starts(s, "as") || s.n < 3 || !mermaid_is_blank(s.p[2]))
		return mermaid_fault_at(r, mermaid_place_of(r, s.n ? s.p : label.p),
			"label without a state: 'as NAME' must follow");
	mermaid_skip(&s, 3);
	name = take_name(&s);
	if (s.n)
		return mermaid_unexpected(r, s, name);
	if (read_name(r, name, &index) < 0)
		return -1;
	return diagram_label(r, index, label, mermaid_place_of(r, label.p));
}

/* Skips lines up to the one with `end`, beginning at `from` of the present one. */
static int skip_until(struct mermaid_reader *r, struct str from, const char *end, const char *what)
{
	struct mermaid_cursor begin = r->cur;

	while (str_find(from, str_of(end)) == from.n) {
		if (!mermaid_next_line(r)) {
			r->cur = begin;
			return mermaid_fault_at(r, mermaid_place_of(r, str_trim(begin.raw).p),
				"%s is not closed: '%s' must follow", what, end);
		}
		from = r->cur.raw;
	}
	return 0;
}

static int read_note(struct mermaid_reader *r, struct str s)
{
	struct str at = s;

	if (s.p[0] == '"')
		return 0; /* a floating note is one line */
	if (str_starts(s, "left of ") || str_starts(s, "right of ")) {
		mermaid_skip(&s, s.p[0] == 'l' ? 8 : 9);
		if (take_name(&s).n && (!s.n || s.p[0] == ':'))
			return s.n ? 0 : skip_until(r, s, "end note", "note");
	}
	return mermaid_fault_at(r, mermaid_place_of(r, at.p),
		"note without a state: 'left of NAME' or 'right of NAME' must follow");
}

static int read_direction(struct mermaid_reader *r, struct str s)
{
	static const char *const known[] = {"TB", "TD", "BT", "LR", "RL", NULL};

	if (str_in(s, known))
		return 0;
	return mermaid_fault_at(r, mermaid_place_of(r, s.p),
		"unknown direction '%s': one of TB, BT, LR, RL", mermaid_show(r, s));
}

static const struct mermaid_keyword {
	const char *word;
	int (*read)(struct mermaid_reader *r, struct str rest); /* NULL: only appearance */
} keywords[] = {
	{"state", mermaid_read_state},
	{"note", read_note},
	{"direction", read_direction},
	{"classDef", NULL},
	{"class", NULL},
	{"style", NULL},
	{"click", NULL},
	{"scale", NULL},
	{"title", NULL},
	{"hide", NULL},
};

/* `word`, a blank, and something that does not make the word a state's name. */
static bool is_keyword(struct str s, const char *word, struct str *rest)
{
	size_t n = strlen(word);

	if (!str_starts(s, word) || s.n <= n || !mermaid_is_blank(s.p[n]))
		return false;
	*rest = str_trim(str_sub(s, n, s.n));
	return rest->n && rest->p[0] != ':' && !str_starts(*rest, "-->");
}

/* Comments, directives and descriptions for screen readers. 1: the line was one. */
static int read_extras(struct mermaid_reader *r, struct str s)
{
	struct str rest;

	if (str_starts(s, "%%{"))
		return skip_until(r, s, "}%%", "directive") < 0 ? -1 : 1;
	if (!s.n || str_starts(s, "%%") || s.p[0] == '#')
		return 1;
	if (!str_starts(s, "accTitle") && !str_starts(s, "accDescr"))
		return 0;
	rest = str_trim(str_sub(s, 8, s.n));
	if (str_starts(rest, ":"))
		return 1;
	if (str_starts(rest, "{") && s.p[3] == 'D')
		return skip_until(r, rest, "}", "description") < 0 ? -1 : 1;
	return 0;
}

static int mermaid_read_line(struct mermaid_reader *r)
{
	struct str s = str_trim(r->cur.raw), rest;
	int rc = read_extras(r, s);

	if (rc)
		return rc < 0 ? -1 : 0;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (is_keyword(s, keywords[i].word, &rest))
			return keywords[i].read ? keywords[i].read(r, rest) : 0;
	return read_statement(r, s);
}

/* A `---` block, comments and directives may precede `stateDiagram-v2`. */
static int mermaid_read_header(struct mermaid_reader *r)
{
	for (bool first = true; mermaid_next_line(r); first = false) {
		struct str s = str_trim(r->cur.raw);
		int rc;

		if (str_is(s, "stateDiagram-v2") || str_is(s, "stateDiagram"))
			return 0;
		if (first && str_is(s, "---"))
			rc = skip_until(r, (struct str){s.p, 0}, "---", "front matter");
		else
			rc = read_extras(r, s);
		if (rc < 0)
			return -1;
		if (!rc && !str_is(s, "---"))
			return mermaid_fault_at(r, mermaid_place_of(r, s.p),
				"'%s' is not read: the diagram must begin with 'stateDiagram-v2'",
				mermaid_show(r, s));
	}
	return mermaid_fault_at(r, mermaid_place_of(r, r->cur.raw.p),
		"diagram is empty: 'stateDiagram-v2' must come first");
}

int workflow_parse_mermaid(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err)
{
	struct mermaid_reader r = {
		.arena = a, .file = file, .err = err, .cur = {text, {text.p, 0}, line - 1}};

	if (mermaid_read_header(&r) < 0)
		return -1;
	while (mermaid_next_line(&r))
		if (mermaid_read_line(&r) < 0)
			return -1;
	return diagram_finish(&r, (struct mermaid_place){line, 1}, w);
}
