#include "src/base/number.h"
#include "src/base/option.h"

/* One command line that is read. */
struct option_scan {
	struct invocation *in;
	const struct verb *verb;
	int argc, i;
	char **argv;
	void *values;
	uint64_t given; /* rows of the tables that were given, by their place */
	struct error *err;
};

/* ---- suggestions ---- */

enum { WORD_MAX = 40 };

/* How many letters must be added, removed, changed or exchanged with the next one. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1] = {{0}}, *before = rows[0], *last = rows[1], *now = rows[2];

	if (a.n > WORD_MAX || b.n > WORD_MAX)
		return WORD_MAX;
	for (size_t k = 0; k <= b.n; k++)
		last[k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *oldest = before;

		now[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			bool same = a.p[i - 1] == b.p[k - 1];
			size_t least = last[k - 1] + !same;

			least = last[k] + 1 < least ? last[k] + 1 : least;
			least = now[k - 1] + 1 < least ? now[k - 1] + 1 : least;
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
				a.p[i - 2] == b.p[k - 1] && before[k - 2] + 1 < least)
				least = before[k - 2] + 1;
			now[k] = least;
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[b.n];
}

/* The nearest of the names that are tried; *least starts as the first distance that is too far. */
static void try_name(struct str typed, const char *name, const char **best, size_t *least)
{
	struct str all = str_of(name);
	size_t d = typed.n > 2 && typed.n < all.n && memcmp(all.p, typed.p, typed.n) == 0
			   ? 1
			   : distance(typed, all);

	if (d >= *least)
		return;
	*best = name;
	*least = d;
}

static size_t too_far(struct str typed)
{
	return typed.n / 3 + 1 + (typed.n < 3);
}

static const char *suggest_option(const struct verb *v, const char *arg)
{
	struct str typed = {arg + 2, strcspn(arg + 2, "=")};
	size_t least = too_far(typed);
	const char *best = NULL;

	if (arg[1] != '-')
		return NULL;
	OPTION_EACH(v, o)
	try_name(typed, o->name, &best, &least);
	return best;
}

static bool is_also(const struct verb *v, struct str name)
{
	const char *rest = v->also;

	while (rest && *rest) {
		size_t n = strcspn(rest, " ");

		if (str_eq((struct str){rest, n}, name))
			return true;
		rest += n + strspn(rest + n, " ");
	}
	return false;
}

static const char *suggest_verb(const struct verb *v, const char *name)
{
	struct str typed = str_of(name);
	size_t least = too_far(typed);
	const char *best = NULL;

	for (size_t i = 0; v->subcommands[i]; i++)
		if (is_also(v->subcommands[i], typed))
			return v->subcommands[i]->name;
	for (size_t i = 0; v->subcommands[i]; i++)
		try_name(typed, v->subcommands[i]->name, &best, &least);
	return best;
}

static int unknown_option(const struct option_scan *s, const char *arg)
{
	const char *near = suggest_option(s->verb, arg);

	return error_set(s->err, ERR_USAGE,
		"%s: unknown option '%.200s' (%s%s%ssee 'dev-team %s --help')", s->in->path, arg,
		near ? "did you mean '--" : "", near ? near : "", near ? "'? " : "", s->in->path);
}

static int unknown_verb(const struct verb *program, const char *name, struct error *err)
{
	const char *near = suggest_verb(program, name);

	return error_set(err, ERR_USAGE, "unknown verb '%.60s' (%s%s%ssee 'dev-team --help')", name,
		near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
}

/* ---- one verb ---- */

static int usage(const struct option_scan *s, const char *what, const char *subject)
{
	return error_set(s->err, ERR_USAGE, "%s: %s '%.200s' (see 'dev-team %s --help')",
		s->in->path, what, subject, s->in->path);
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1];
}

static bool takes_next(const struct option *o)
{
	return o->kind != OPTION_KIND_FLAG && o->kind != OPTION_KIND_OPTIONAL;
}

/* `arg`: with its dashes, and perhaps `=VALUE`. *place: where it stands among all rows. */
static const struct option *find_option(const struct verb *v, const char *arg, unsigned *place)
{
	bool is_long = arg[1] == '-';
	struct str name = {arg + 2, strcspn(arg + 2, "=")};

	*place = 0;
	OPTION_EACH(v, o)
	{
		if (is_long ? str_is(name, o->name) : o->letter == arg[1] && !arg[2])
			return o;
		++*place;
	}
	return NULL;
}

/* ---- values ---- */

static bool is_choice(const struct option *o, const char *text)
{
	for (const char *p = o->argument; *p; p += strspn(p, "|")) {
		size_t n = strcspn(p, "|");

		if (str_is((struct str){p, n}, text))
			return true;
		p += n;
	}
	return false;
}

static void add_to_list(const struct option_scan *s, const char ***list, const char *text)
{
	const char **next = *list;

	if (!next)
		next = *list = arena_alloc(s->in->arena, ((size_t)s->argc + 1) * sizeof(*next));
	while (*next)
		next++;
	*next = text;
}

static int bind_number(
	const struct option_scan *s, const struct option *o, const char *text, int64_t *out)
{
	uint64_t number, min = (uint64_t)o->min, max = (uint64_t)o->max;

	if (!number_parse(str_of(text), min, max, &number))
		return number_refuse(s->err, ERR_USAGE, arena_printf(s->in->arena, "--%s", o->name),
			str_of(text), min, max);
	*out = (int64_t)number;
	return 0;
}

static int bind_decimal(
	const struct option_scan *s, const struct option *o, const char *text, double *out)
{
	if (number_double(str_of(text), o->min, o->max, out))
		return 0;
	return error_set(s->err, ERR_USAGE,
		"'--%s' must be a number from %.15g to %.15g, not '%.60s'", o->name, o->min, o->max,
		text);
}

static int bind_choice(
	const struct option_scan *s, const struct option *o, const char *text, const char **out)
{
	if (!is_choice(o, text))
		return error_set(s->err, ERR_USAGE, "'--%s' must be one of %s, not '%.60s'",
			o->name, o->argument, text);
	*out = text;
	return 0;
}

static int bind(const struct option_scan *s, const struct option *o, const char *text)
{
	void *field = (char *)s->values + o->field;

	switch (o->kind) {
	case OPTION_KIND_FLAG:
		return *(bool *)field = true, 0;
	case OPTION_KIND_LIST:
		return add_to_list(s, field, text), 0;
	case OPTION_KIND_CHOICE:
		return bind_choice(s, o, text, field);
	case OPTION_KIND_NUMBER:
		return bind_number(s, o, text, field);
	case OPTION_KIND_DECIMAL:
		return bind_decimal(s, o, text, field);
	default:
		return *(const char **)field = text, 0;
	}
}

/* ---- one verb ---- */

/* `--name=VALUE`, or `--name VALUE`, or a flag. */
static int parse_option(struct option_scan *s)
{
	const char *arg = s->argv[s->i], *equals = strchr(arg, '='), *text = "";
	unsigned place;
	const struct option *o = find_option(s->verb, arg, &place);

	if (!o)
		return unknown_option(s, arg);
	if (o->kind == OPTION_KIND_FLAG && equals)
		return usage(s, "takes no value:", arg);
	/* Perhaps a variable of the shell that is not set: it is not the option without a value. */
	if (o->kind == OPTION_KIND_OPTIONAL && equals && !equals[1])
		return error_set(s->err, ERR_USAGE, "%s: '%s' has an empty value; '--%s[=%s]': %s",
			s->in->path, arg, o->name, o->argument, o->help);
	if (equals)
		text = equals + 1;
	else if (takes_next(o) && s->i + 1 >= s->argc)
		return usage(s, "needs a value:", arg);
	else if (takes_next(o))
		text = s->argv[++s->i];
	if (o->kind != OPTION_KIND_LIST && s->given & (uint64_t)1 << place)
		return usage(s, "given twice:", o->name);
	s->given |= (uint64_t)1 << place;
	return bind(s, o, text);
}

/* The next word of `verb.words` and whether it may be left out, be repeated; false at the end. */
static bool option_next_word(const char **rest, struct str *word, bool *optional, bool *repeated)
{
	size_t n;

	*rest += strspn(*rest, " ");
	if (str_starts(str_of(*rest), "[-- ") || str_starts(str_of(*rest), "-- ")) {
		*optional = **rest == '[';
		*rest += *optional ? 4 : 3;
	} else {
		*optional = **rest == '[';
	}
	n = strcspn(*rest, " ");
	*word = (struct str){*rest, n};
	*repeated = str_find(*word, STR("...")) < n;
	*rest += n;
	return n && word->p[0] != '<';
}

static int option_check_words(const struct option_scan *s)
{
	const char *rest = s->verb->words ? s->verb->words : "";
	bool optional, repeated = false, any = false;
	struct str word;
	size_t n = 0;

	while (option_next_word(&rest, &word, &optional, &repeated)) {
		if (n == s->in->n && !optional)
			return error_set(s->err, ERR_USAGE,
				"%s: %.*s is missing (see 'dev-team %s --help')", s->in->path,
				(int)strcspn(word.p, ". "), word.p, s->in->path);
		n += n < s->in->n;
		any = any || repeated;
	}
	return n == s->in->n || any ? 0 : usage(s, "unexpected", s->in->words[n]);
}

static int option_check_required(const struct option_scan *s)
{
	unsigned place = 0;

	OPTION_EACH(s->verb, o)
	{
		const char *const *text = (void *)((char *)s->values + o->field);
		bool is_text = o->kind == OPTION_KIND_TEXT;
		bool given = s->given & (uint64_t)1 << place++;

		if (o->required && (!given || (is_text && !**text)))
			return error_set(s->err, ERR_USAGE,
				"%s: --%s is missing (see 'dev-team %s --help')", s->in->path,
				o->name, s->in->path);
	}
	return 0;
}

int option_parse(struct invocation *in, const struct verb *v, int argc, char **argv, void *values,
	struct error *err)
{
	struct option_scan s = {
		.in = in, .verb = v, .argc = argc, .argv = argv, .values = values, .err = err};
	bool only_words = false;

	in->values = values;
	in->words = arena_alloc(in->arena, ((size_t)argc + 1) * sizeof(*in->words));
	in->n = 0;
	for (int i = 0; i < argc; i++)
		if (str_utf8_fault(str_of(argv[i])))
			return error_set(err, ERR_USAGE, "%s: an argument is not UTF-8", in->path);
	for (; s.i < argc; s.i++) {
		if (!only_words && strcmp(argv[s.i], "--") == 0)
			only_words = true;
		else if (only_words || !is_option(argv[s.i]))
			in->words[in->n++] = argv[s.i];
		else if (parse_option(&s) < 0)
			return -1;
	}
	return option_check_words(&s) < 0 ? -1 : option_check_required(&s);
}

/* ---- which verb ---- */

static const struct verb *find_verb(const struct verb *v, const char *name)
{
	for (size_t i = 0; v->subcommands && v->subcommands[i]; i++)
		if (strcmp(v->subcommands[i]->name, name) == 0)
			return v->subcommands[i];
	return NULL;
}

/* Whether the argument behind `arg` is its value, in any of the subcommands. */
static bool value_follows(const struct verb *v, const char *arg)
{
	const struct option *o;
	unsigned ignored;

	if (strchr(arg, '='))
		return false;
	o = find_option(v, arg, &ignored);
	for (size_t i = 0; !o && v->subcommands[i]; i++)
		o = find_option(v->subcommands[i], arg, &ignored);
	return o && takes_next(o);
}

/* The first two words; options may stand before and between them. */
static size_t first_words(const struct verb *v, int argc, char **argv, int at[2])
{
	bool words_only = false;
	size_t n = 0;

	for (int i = 0; i < argc && n < 2; i++) {
		if (!words_only && strcmp(argv[i], "--") == 0)
			words_only = true;
		else if (words_only || !is_option(argv[i]))
			at[n++] = i;
		else if (value_follows(v, argv[i]))
			i++;
	}
	return n;
}

/* *at: the index of the subcommand's name; -1: the verb runs by itself. With `help`, a single word
 * is the subcommand's name, not a word of the verb. */
static int option_choose(const struct verb *v, const char *path, bool help, int argc, char **argv,
	int *at, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	int words[2];
	size_t n = first_words(v, argc, argv, words);

	*at = -1;
	if (n > 0 && find_verb(v, argv[words[0]]) && (!v->run || n > 1 || help))
		*at = words[0];
	else if (n > 1 && v->run && find_verb(v, argv[words[1]]))
		*at = words[1];
	if (*at >= 0 || v->run)
		return 0;
	for (size_t i = 0; v->subcommands[i]; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", v->subcommands[i]->name);
	if (!n)
		return error_set(
			err, ERR_USAGE, "%s: no subcommand given: one of %s", path, names.s);
	return error_set(err, ERR_USAGE, "%s: unknown subcommand '%.60s': one of %s", path,
		argv[words[0]], names.s);
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* Takes the name of the subcommand out of argv; v itself where none is named. */
static const struct verb *take_subcommand(
	struct invocation *in, const struct verb *v, int at, int *argc, char **argv)
{
	const struct verb *sub = v;

	if (at < 0)
		return v;
	sub = find_verb(v, argv[at]);
	in->path = arena_printf(in->arena, "%s %s", in->path, sub->name);
	for (int i = at; i + 1 < *argc; i++)
		argv[i] = argv[i + 1];
	--*argc;
	return sub;
}

/* argv is what follows the verb's name. */
static int run_verb(
	struct invocation *in, const struct verb *v, int argc, char **argv, struct error *err)
{
	bool help = wants_help(argc, argv);
	const struct verb *sub;
	size_t size;
	void *values;
	int at = -1;

	if (v->subcommands && option_choose(v, in->path, help, argc, argv, &at, err) < 0 && !help)
		return -1;
	sub = take_subcommand(in, v, at, &argc, argv);
	if (help) {
		option_help(in->out, in->path, sub);
		return 0;
	}
	size = sub->size ? sub->size : v->size;
	values = arena_alloc(in->arena, size + 1);
	if (sub->size ? sub->defaults : v->defaults)
		memcpy(values, sub->size ? sub->defaults : v->defaults, size);
	if (option_parse(in, sub, argc, argv, values, err) < 0)
		return -1;
	return sub->run(in, err);
}

/* `help VERB` is `VERB --help`. */
static int help_about(
	struct invocation *in, const struct verb *program, int argc, char **argv, struct error *err)
{
	const struct verb *v = find_verb(program, argv[0]);
	char **words = arena_alloc(in->arena, ((size_t)argc + 1) * sizeof(*words)),
	     *asks = arena_dup(in->arena, STR("--help"));

	if (!v)
		return unknown_verb(program, argv[0], err);
	for (int i = 1; i < argc; i++)
		words[i - 1] = argv[i];
	words[argc - 1] = asks;
	in->path = v->name;
	return run_verb(in, v, argc, words, err);
}

int option_dispatch(struct arena *a, const struct verb *program, int argc, char **argv,
	struct buf *out, struct error *err)
{
	static const char *const help[] = {"help", "--help", "-h", NULL}, *const version[] = {
										  "version",
										  "--version", "-V",
										  NULL};
	struct invocation in = {.arena = a, .out = out};
	struct str name = str_of(argc > 0 ? argv[0] : NULL);
	const struct verb *v;

	if (!name.p) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		option_help_first(&text, program);
		error_log("%.*s", (int)str_trim(buf_str(&text)).n, text.s);
		return ERR_USAGE;
	}
	if (str_in(name, version)) {
		buf_adds(out, "dev-team " DEV_TEAM_VERSION "\n");
		return 0;
	}
	if (str_in(name, help) && argc > 1)
		return help_about(&in, program, argc - 1, argv + 1, err);
	if (str_in(name, help)) {
		option_help(out, NULL, program);
		return 0;
	}
	v = find_verb(program, name.p);
	if (!v)
		return unknown_verb(program, name.p, err);
	in.path = v->name;
	return run_verb(&in, v, argc - 1, argv + 1, err);
}
