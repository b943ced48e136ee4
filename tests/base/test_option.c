#include "src/base/option.h"
#include "tests/lib/scratch.h"

struct values {
	const char *name, *mode, *maybe;
	int64_t count;
	double ratio;
	const char **tags;
	bool loud;
};

static const struct option common[] = {
	OPTION_REQUIRED(struct values, name, "name", "NAME", "the name"),
	OPTION_FLAG(struct values, loud, "loud", "be loud"),
	OPTION_END,
};
static const struct option others[] = {
	OPTION_NUMBER(struct values, count, "count", "N", 1, 20, "how many; default: 7"),
	OPTION_DECIMAL(struct values, ratio, "ratio", "R", -1, 1, "the ratio"),
	OPTION_CHOICE(struct values, mode, "mode", "fast|slow", "the mode"),
	OPTION_OPTIONAL(struct values, maybe, "maybe", "WHAT", "with or without a value"),
	OPTION_LIST(struct values, tags, "tag", "TAG", "a tag"),
	OPTION_END,
};
static const struct values defaults = {.count = 7, .mode = "slow"};

static struct error err;
static struct values got;
static struct buf out;
static size_t n_words;
static const char *path, *first_word;

static int run(struct invocation *in, struct error *e)
{
	(void)e;
	got = *(const struct values *)in->values;
	n_words = in->n;
	first_word = in->words[0];
	path = in->path;
	return 0;
}

static const struct verb make = {
	.name = "make",
	.about = "make it",
	.words = "FILE [MORE...]",
	.options = {common, others},
	.size = sizeof(defaults),
	.defaults = &defaults,
	.run = run,
};
static const struct verb list = {
	.name = "list", .about = "list them", .options = {others}, .size = sizeof(got), .run = run};
static const struct verb thing = {
	.name = "thing",
	.group = "All",
	.about = "work on a thing",
	.subcommands = (const struct verb *const[]){&make, &list, NULL},
};
static const struct verb look = {
	.name = "look",
	.group = "All",
	.about = "list by default",
	.words = "FILE",
	.subcommands = (const struct verb *const[]){&make, NULL},
	.run = run,
};
static const struct verb program = {
	.name = "dev-team",
	.about = "a program",
	.details = "Some text.",
	.subcommands = (const struct verb *const[]){&thing, &look, NULL},
};

/* Runs the words of `line`. */
static int call(const char *line)
{
	char *argv[32], *words = arena_dup(&arena, str_of(line));
	int argc = 0;

	while (*words) {
		argv[argc++] = words;
		words += strcspn(words, " ");
		if (*words)
			*words++ = '\0';
	}
	buf_clear(&out);
	err = (struct error){0};
	return option_dispatch(&arena, &program, argc, argv, &out, &err);
}

static void assert_usage(const char *line, const char *message)
{
	assert_fails(call(line), err, ERR_USAGE);
	assert_string_equal(err.text, message);
}

TEST(values_are_bound_to_their_fields)
{
	assert_int_equal(call("thing make a.txt --name=x --loud --count 020 --ratio -0.5 "
			      "--mode fast --maybe --tag t1 --tag=t2 b.txt"),
		0);
	assert_string_equal(path, "thing make");
	assert_string_equal(got.name, "x");
	assert_true(got.loud);
	assert_int_equal(got.count, 20);
	assert_true(got.ratio < -0.49 && got.ratio > -0.51);
	assert_string_equal(got.mode, "fast");
	assert_string_equal(got.maybe, "");
	assert_string_equal(got.tags[0], "t1");
	assert_string_equal(got.tags[1], "t2");
	assert_null(got.tags[2]);
	assert_int_equal(n_words, 2);
	assert_string_equal(first_word, "a.txt");
}

TEST(what_is_not_given_has_its_default)
{
	assert_int_equal(call("thing make --name x -- --odd -name"), 0);
	assert_string_equal(first_word, "--odd");
	assert_int_equal(n_words, 2);
	assert_int_equal(got.count, 7);
	assert_string_equal(got.mode, "slow");
	assert_null(got.maybe);
	assert_null(got.tags);
	assert_false(got.loud);
}

TEST(options_may_stand_before_the_subcommand)
{
	assert_int_equal(call("thing --name list --loud make a"), 0);
	assert_string_equal(path, "thing make");
	assert_string_equal(got.name, "list");
}

TEST(a_default_runs_where_no_subcommand_is_named)
{
	assert_int_equal(call("look make"), 0);
	assert_string_equal(path, "look");
	assert_string_equal(first_word, "make");
	assert_int_equal(call("look a make --name x"), 0);
	assert_string_equal(path, "look make");
	assert_string_equal(first_word, "a");
	assert_usage("look a b", "look: unexpected 'b' (see 'dev-team look --help')");
}

TEST(two_hyphens_may_stand_before_the_subcommand_or_its_words)
{
	assert_int_equal(call("thing -- list"), 0);
	assert_string_equal(path, "thing list");
	assert_int_equal(call("look make --name x -- a"), 0);
	assert_string_equal(path, "look make");
	assert_string_equal(first_word, "a");
}

TEST(help_for_a_single_word_is_that_of_the_subcommand)
{
	assert_int_equal(call("look make --help"), 0);
	assert_true(str_starts(buf_str(&out), "dev-team look make: "));
	assert_int_equal(call("look a --help"), 0);
	assert_true(str_starts(buf_str(&out), "dev-team look: "));
}

#define SEE_MAKE " (see 'dev-team thing make --help')"
#define SEE_LIST " (see 'dev-team thing list --help')"

TEST(a_wrong_command_line_is_refused)
{
	static const char *const cases[][2] = {
		{"nosuch", "unknown verb 'nosuch' (see 'dev-team --help')"},
		{"thing", "thing: no subcommand given: one of make, list"},
		{"thing brake", "thing: unknown subcommand 'brake': one of make, list"},
		{"thing make --name x", "thing make: FILE is missing" SEE_MAKE},
		{"thing make a", "thing make: --name is missing" SEE_MAKE},
		{"thing make a --name=", "thing make: --name is missing" SEE_MAKE},
		{"thing make a --name", "thing make: needs a value: '--name'" SEE_MAKE},
		{"thing make a --name x --name y", "thing make: given twice: 'name'" SEE_MAKE},
		{"thing make a --loud=1", "thing make: takes no value: '--loud=1'" SEE_MAKE},
		{"thing make a -n x", "thing make: unknown option '-n'" SEE_MAKE},
		{"thing list --loud", "thing list: unknown option '--loud'" SEE_LIST},
		{"thing list word", "thing list: unexpected 'word'" SEE_LIST},
		{"thing make a --maybe=",
			"thing make: '--maybe=' has an empty value; '--maybe[=WHAT]': with or "
			"without a value"},
		{"thing list --count 21",
			"'--count' must be a whole number from 1 to 20, not '21'"},
		{"thing list --ratio 1.5", "'--ratio' must be a number from -1 to 1, not '1.5'"},
		{"thing list --mode medium", "'--mode' must be one of fast|slow, not 'medium'"},
		{"thing list \xff", "thing list: an argument is not UTF-8"},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_usage(cases[i][0], cases[i][1]);
}

TEST(help_is_made_from_the_tables)
{
	assert_int_equal(call("thing make --nosuch --help"), 0);
	assert_string_equal(out.s,
		"dev-team thing make: make it\n\n"
		"Usage: dev-team thing make --name NAME [OPTION...] FILE [MORE...]\n\n"
		"Options:\n"
		"  --name NAME             the name\n"
		"  --loud                  be loud\n"
		"  --count N               how many; default: 7\n"
		"  --ratio R               the ratio\n"
		"  --mode fast|slow        the mode\n"
		"  --maybe[=WHAT]          with or without a value\n"
		"  --tag TAG               a tag (may be repeated)\n");
	assert_int_equal(call("--help"), 0);
	assert_string_equal(out.s, "dev-team: a program\n\n"
				   "Usage: dev-team VERB [OPTION...] [WORD...]\n\n"
				   "All:\n"
				   "  thing       work on a thing\n"
				   "  look        list by default\n\n"
				   "Some text.\n");
}

static int done(void **state)
{
	buf_release(&out);
	return arena_end(state);
}

UNIT_GROUP(NULL, done)
