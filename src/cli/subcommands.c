#include "src/cli/subcommands.h"

static int unknown(const struct subcommand *list, const char *word, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (const struct subcommand *s = list; s->name; s++)
		buf_addf(&names, "%s%s", s == list ? "" : ", ", s->name);
	return error_set(err, ERR_USAGE, "unknown subcommand '%.60s': one of %s", word, names.s);
}

static int check_options(const struct verb *v, const struct subcommand *s, const struct args *args,
	struct error *err)
{
	for (unsigned k = 0; v->options[k].name; k++) {
		bool given = args->value[k] || (v->options[k].repeats && args->n_repeated);

		if (given && !(s->options & OPTION(k)))
			return error_set(err, ERR_USAGE, "'%s %s' has no option '--%s'", v->name,
				s->name, v->options[k].name);
	}
	return 0;
}

static int check_words(const struct verb *v, const struct subcommand *s, const struct args *args,
	struct error *err)
{
	size_t n = args->n - 1;

	if (n >= s->min_words && n <= s->max_words)
		return 0;
	if (n > s->max_words)
		return error_set(err, ERR_USAGE, "too many words after '%s %s'", v->name, s->name);
	return error_set(err, ERR_USAGE, "'%s %s' takes %s (see 'dev-team %s --help')", v->name,
		s->name, s->min_words > 1 ? "more words" : "a word", v->name);
}

int subcommand_run(const struct verb *v, const struct subcommand *list, struct invocation *in,
	struct error *err)
{
	const char *word = in->args->words[0];
	const struct subcommand *s = list;

	while (s->name && strcmp(s->name, word) != 0)
		s++;
	if (!s->name)
		return unknown(list, word, err);
	if (check_options(v, s, in->args, err) < 0 || check_words(v, s, in->args, err) < 0)
		return -1;
	return s->run(in, err);
}
