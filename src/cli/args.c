#include "src/cli/cli.h"

static int usage(struct error *err, const struct verb *v, const char *fmt, const char *subject)
{
	return error_set(err, ERR_USAGE, "%s: %s '%.200s' (see 'dev-team %s --help')", v->name, fmt,
		subject, v->name);
}

static int find_option(const struct verb *v, struct str name)
{
	for (int i = 0; v->options && v->options[i].name; i++)
		if (str_is(name, v->options[i].name))
			return i;
	return -1;
}

static bool optional_argument(const struct option_spec *o)
{
	return o->argument && o->argument[0] == '[';
}

struct scan {
	struct arena *arena;
	const struct verb *verb;
	int argc, i;
	char **argv;
	struct args *out;
	struct error *err;
};

/* `--name=VALUE`, or `--name VALUE`, or a flag. */
static const char *value_of(struct scan *s, const struct option_spec *o, const char *equals)
{
	if (!o->argument && equals) {
		usage(s->err, s->verb, "takes no value:", s->argv[s->i]);
		return NULL;
	}
	if (equals)
		return equals + 1;
	if (!o->argument || optional_argument(o))
		return "";
	if (s->i + 1 >= s->argc) {
		usage(s->err, s->verb, "needs a value:", s->argv[s->i]);
		return NULL;
	}
	return s->argv[++s->i];
}

static int take_option(struct scan *s)
{
	const char *text = s->argv[s->i] + 2, *equals = strchr(text, '='), *value;
	struct str name = {text, equals ? (size_t)(equals - text) : strlen(text)};
	int k = find_option(s->verb, name);

	if (k < 0)
		return usage(s->err, s->verb, "unknown option", s->argv[s->i]);
	value = value_of(s, &s->verb->options[k], equals);
	if (!value)
		return -1;
	if (s->verb->options[k].repeats) {
		if (s->out->n_repeated == MAX_REPEATS)
			return usage(s->err, s->verb, "given too often:", s->argv[s->i]);
		s->out->repeated[s->out->n_repeated++] = value;
		return 0;
	}
	if (s->out->value[k])
		return usage(s->err, s->verb, "given twice:", s->verb->options[k].name);
	s->out->value[k] = value;
	return 0;
}

static int take_word(struct scan *s)
{
	if (s->out->n >= s->verb->max_words || s->out->n == MAX_WORDS)
		return usage(s->err, s->verb, "unexpected", s->argv[s->i]);
	s->out->words[s->out->n++] = s->argv[s->i];
	return 0;
}

int args_parse(struct arena *a, const struct verb *v, int argc, char **argv, struct args *out,
	struct error *err)
{
	struct scan s = {.arena = a, .verb = v, .argc = argc, .argv = argv, .out = out, .err = err};
	bool only_words = false;

	*out = (struct args){.repeated = arena_alloc(a, MAX_REPEATS * sizeof(char *))};
	for (int i = 0; i < argc; i++)
		if (utf8_fault(str_of(argv[i])))
			return error_set(err, ERR_USAGE, "%s: an argument is not UTF-8", v->name);
	for (; s.i < argc; s.i++) {
		const char *arg = argv[s.i];

		if (!only_words && strcmp(arg, "--") == 0)
			only_words = true;
		else if (!only_words && arg[0] == '-' && arg[1] == '-') {
			if (take_option(&s) < 0)
				return -1;
		} else if (!only_words && arg[0] == '-' && arg[1])
			return usage(err, v, "unknown option", arg);
		else if (take_word(&s) < 0)
			return -1;
	}
	if (out->n < v->min_words)
		return error_set(err, ERR_USAGE, "usage: dev-team %s %s", v->name, v->synopsis);
	return 0;
}
