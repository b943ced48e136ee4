/*
 * Splits a command line by the notation. What is not in the row is denied: so are abbreviations,
 * for which getopt would find an option by its first letters.
 */
#include "src/policy/notation.h"

struct walk {
	struct check *c;
	const struct call *call;
	struct notation n;
	struct parsed *out;
	size_t cap;
	size_t at; /* the argument that is looked at */
};

static int refuse(struct walk *w, enum rule rule, const char *why, struct str name)
{
	const struct arg *arg = &w->call->args[w->at];
	struct str program = w->call->args[0].text;

	deny_word(w->c->v, rule, arg->at, arg->text, STR(""), "%s '%.*s' of '%.*s'", why,
		(int)(name.n < 80 ? name.n : 80), name.p, (int)(program.n < 80 ? program.n : 80),
		program.p);
	return asked(w->c, rule, arg->at, arg->text, STR(""), -1);
}

static bool plain_ascii(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return false;
	return true;
}

static int unknown(struct walk *w, struct str name)
{
	if (!plain_ascii(name))
		return refuse(w, RULE_NAME_BYTES, "not plain ASCII: option", name);
	for (size_t i = 0; name.n > 3 && i < w->n.n; i++)
		if (w->n.rows[i].name.n > name.n && !memcmp(w->n.rows[i].name.p, name.p, name.n))
			return refuse(w, RULE_OPTION, "abbreviated option", name);
	return refuse(w, RULE_OPTION, "unknown option", name);
}

static struct given *push(struct walk *w, const struct option_row *row)
{
	struct given *g;

	if (w->out->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 8;
		struct given *more = arena_alloc(w->c->arena, cap * sizeof(*more));

		if (w->out->n)
			memcpy(more, w->out->options, w->out->n * sizeof(*more));
		w->out->options = more;
		w->cap = cap;
	}
	g = &w->out->options[w->out->n++];
	*g = (struct given){.name = row->first, .arg = w->at};
	return g;
}

/* What of `arg` is known from byte `from` on. */
static struct arg rest_of(const struct arg *arg, size_t from)
{
	struct arg rest = *arg;

	rest.text = str_sub(arg->text, from, arg->text.n);
	return rest;
}

/* The option itself; its value still to come. */
static struct given *take(struct walk *w, const struct option_row *row)
{
	if (row->write && !w->c->policy->write) {
		refuse(w, RULE_WRITE, "the policy does not write: option", row->name);
		return NULL;
	}
	return push(w, row);
}

static int take_value(
	struct walk *w, struct given *g, const struct option_row *row, const struct arg *value)
{
	g->value = *value;
	g->has_value = true;
	if (value->split && !value->commits && value->origin == ARG_DYNAMIC)
		return refuse(w, RULE_VALUE_DYNAMIC, "several words may come out of the value of",
			row->name);
	return check_value(w->c, w->call, value, row->kind);
}

static int take_next(struct walk *w, struct given *g, const struct option_row *row)
{
	const struct arg *next;

	if (w->at + 1 >= w->call->n)
		return refuse(w, RULE_OPTION, "no value for option", row->name);
	next = &w->call->args[++w->at];
	/* What may vanish would make a value of the word after it. */
	if (next->split)
		return refuse(
			w, RULE_VALUE_DYNAMIC, "not surely one word: the value of", row->name);
	return take_value(w, g, row, next);
}

static int take_long(struct walk *w, const struct arg *arg)
{
	const char *equals = memchr(arg->text.p, '=', arg->text.n);
	size_t n = equals ? (size_t)(equals - arg->text.p) : arg->text.n;
	struct str name = str_sub(arg->text, 0, n);
	const struct option_row *row = notation_find(&w->n, name);
	struct arg value;
	struct given *g;

	if (!equals && arg->origin != ARG_KNOWN)
		return refuse(w, RULE_VALUE_DYNAMIC, "not known as a whole: option", name);
	if (!row)
		return unknown(w, name);
	if (equals && row->value == OPTION_ALONE)
		return refuse(w, RULE_OPTION, "a value for option", name);
	g = take(w, row);
	if (!g)
		return -1;
	if (equals) {
		value = rest_of(arg, n + 1);
		return take_value(w, g, row, &value);
	}
	return row->value == OPTION_NEEDS ? take_next(w, g, row) : 0;
}

static int take_letters(struct walk *w, const struct arg *arg)
{
	for (size_t i = 1; i < arg->text.n; i++) {
		unsigned char letter = (unsigned char)arg->text.p[i];
		const struct option_row *row = letter < 128 ? w->n.letter[letter] : NULL;
		bool last = i + 1 == arg->text.n && arg->origin == ARG_KNOWN;
		struct arg value = rest_of(arg, i + 1);
		struct given *g;

		if (!row)
			return unknown(
				w, arg->text.n == 2 ? arg->text : str_sub(arg->text, i, i + 1));
		g = take(w, row);
		if (!g)
			return -1;
		if (w->n.apart && row->value == OPTION_ALONE && arg->text.n > 2)
			return unknown(w, arg->text);
		if (row->value == OPTION_ALONE || (row->value == OPTION_MAY && last))
			continue;
		return last ? take_next(w, g, row) : take_value(w, g, row, &value);
	}
	if (arg->origin == ARG_KNOWN)
		return 0;
	return refuse(w, RULE_VALUE_DYNAMIC, "not known as a whole: option", arg->text);
}

static bool is_number(struct str s)
{
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 1;
}

/* A name of several letters behind one dash, with its value behind `=` or in the next word. */
static int take_word(struct walk *w, const struct arg *arg, const struct option_row *row)
{
	struct given *g;
	struct arg value;

	if (arg->origin != ARG_KNOWN && arg->text.n <= row->name.n)
		return refuse(w, RULE_VALUE_DYNAMIC, "not known as a whole: option", arg->text);
	if (arg->text.n > row->name.n && row->value == OPTION_ALONE)
		return refuse(w, RULE_OPTION, "a value for option", row->name);
	g = take(w, row);
	if (!g)
		return -1;
	if (arg->text.n > row->name.n) {
		value = rest_of(arg, row->name.n + 1);
		return take_value(w, g, row, &value);
	}
	return row->value == OPTION_NEEDS ? take_next(w, g, row) : 0;
}

static int take_option(struct walk *w, const struct arg *arg)
{
	const struct option_row *row = NULL;
	struct str name = str_sub(arg->text, 0, str_find(arg->text, STR("=")));

	if (str_starts(arg->text, "--"))
		return take_long(w, arg);
	if (w->n.words && name.n > 2)
		row = notation_find(&w->n, name);
	if (!row && w->n.words && arg->text.n > 2)
		row = notation_find(&w->n, arg->text);
	if (row)
		return take_word(w, arg, row);
	if (w->n.number && is_number(arg->text) && arg->origin == ARG_KNOWN)
		return push(w, w->n.number) ? 0 : -1;
	return take_letters(w, arg);
}

/* An argument that may be an option or an operand: what it is must not depend on the run. */
static int take_arg(struct walk *w, bool *ended)
{
	const struct arg *arg = &w->call->args[w->at];

	if (!*ended && arg->origin == ARG_KNOWN && str_is(arg->text, "--")) {
		*ended = true;
		w->out->n_before = w->out->n_operands;
		return 0;
	}
	if (!*ended && arg->text.n && arg->text.p[0] == '-' &&
		(arg->text.n > 1 || arg->origin != ARG_KNOWN))
		return take_option(w, arg);
	if (!*ended && arg->origin == ARG_DYNAMIC && !arg->commits && (arg->split || !arg->text.n))
		return refuse(w, RULE_VALUE_DYNAMIC,
			"may become an option (`--` before it helps): an argument", arg->text);
	if (!w->out->n_operands++)
		w->out->first_operand = w->at;
	w->out->operands[w->out->n_operands - 1] = *arg;
	*ended = *ended || w->n.ends;
	return 0;
}

/* Rows stay where they are, so the place of a notation is its name. */
struct compiled {
	const char *options;
	struct notation notation;
	struct compiled *next;
};

/* The same row is asked about for each command of a line, in each directory that may be. */
static int compile(struct check *c, const char *options, struct notation *out, struct error *err)
{
	struct compiled *one = c->compiled;

	while (one && one->options != options)
		one = one->next;
	if (!one) {
		one = arena_alloc(c->arena, sizeof(*one));
		if (notation_options(c->arena, options, &one->notation, err) < 0)
			return -1;
		one->options = options;
		one->next = c->compiled;
		c->compiled = one;
	}
	*out = one->notation;
	return 0;
}

int check_options(struct check *c, const struct call *call, size_t first, const char *options,
	struct parsed *out)
{
	struct walk w = {.c = c, .call = call, .out = out, .at = first};
	struct error err = {0};
	bool ended = false;

	*out = (struct parsed){.first_operand = call->n, .n_before = SIZE_MAX};
	if (compile(c, options, &w.n, &err) < 0)
		return deny(c->v, RULE_INTERNAL, call->at, "notation: %s", err.text);
	out->operands = arena_alloc(c->arena, (call->n + 1) * sizeof(*out->operands));
	for (; w.at < call->n; w.at++)
		if (take_arg(&w, &ended) < 0)
			return -1;
	if (out->n_before == SIZE_MAX)
		out->n_before = out->n_operands;
	return asked(c, RULE_OPTION, call->at, call->n ? call->args[0].text : STR(""), STR(""), 0);
}

bool given_any(const struct parsed *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_is(p->options[i].name, name))
			return true;
	return false;
}
