/*
 * The rows against the programs that are here. Where a row says that an option takes the next word
 * for its value and the program does not, that word would be an option that nobody looked at; and
 * the other way round a word would be an operand that is none.
 */
#include "src/sys/process.h"
#include "src/policy/bin.h"
#include "src/policy/notation.h"
#include "tests/lib/scratch.h"

static struct error err;

#define MARK "--no-such-option-1"

static const struct binary *const tables[] = {
	binaries_text, binaries_system, binaries_files, binaries_build};
/* cmake, ctest and their like read their words one by one, and say nothing of most. */
static const char *const others[] = {"egrep", "fgrep", "ctest", "tree", "rg", "hostname",
	"clang-format", "tr", "printf", "expr", "xxd", "which", "readelf", "getconf", "pkg-config",
	"shellcheck", NULL};

static unsigned faults;

static bool run(const char *const *argv, struct buf *out)
{
	static const char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
	struct process_end end;
	const struct process p = {.argv = argv,
		.cwd = base,
		.env = environment,
		.output = -1,
		.out = out,
		.out_max = 1 << 16,
		.timeout_s = 300};

	buf_clear(out);
	buf_adds(out, "");
	return process_run(&p, &end, &err) == 0;
}

static bool is_other(const char *name)
{
	for (size_t i = 0; others[i]; i++)
		if (!strcmp(others[i], name))
			return true;
	return false;
}

/* The program knows the option, or says so. */
static bool is_known(const struct buf *out, const char *option)
{
	char *text = arena_printf(&arena, "option '%s'", option);
	char *letter = arena_printf(&arena, "option -- '%s'", option + 1);

	return !strstr(out->s, text) && (option[1] == '-' || !strstr(out->s, letter));
}

/* The program took the mark for an option of its own. */
static bool looked_at(const struct buf *out)
{
	return strstr(out->s, "option '" MARK "'") || strstr(out->s, "option -- '-'") ||
	       strstr(out->s, "option: " MARK);
}

static void check_option(const char *program, const struct option_row *row)
{
	const char *name = arena_dup(&arena, row->name);
	const char *const argv[] = {program, name, MARK, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool takes = row->value == OPTION_NEEDS;

	if (!run(argv, &out))
		fail_msg("%s %s: cannot be run", program, name);
	if (!is_known(&out, name) && !looked_at(&out))
		print_message("%s %s: not known here\n", program, name);
	else if (looked_at(&out) == takes) {
		faults++;
		print_message("%s %s: takes a value: %s\n%s", program, name,
			takes ? "said, but it does not" : "not said, but it does", out.s);
	}
}

static bool is_here(const char *program)
{
	return access(arena_printf(&arena, "/usr/bin/%s", program), X_OK) == 0 ||
	       access(arena_printf(&arena, "/bin/%s", program), X_OK) == 0;
}

static void check_row(const struct binary *b)
{
	struct notation n;

	if (!b->options || is_other(b->name))
		return;
	if (!is_here(b->name)) {
		print_message("%s: skipped: not installed\n", b->name);
		return;
	}
	assert_int_equal(notation_options(&arena, b->options, &n, &err), 0);
	for (size_t i = 0; i < n.n; i++)
		if (&n.rows[i] != n.number)
			check_option(b->name, &n.rows[i]);
}

TEST(takes_values_where_the_row_says)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct binary *b = tables[i]; b->name; b++)
			check_row(b);
	assert_int_equal(faults, 0);
}

UNIT_GROUP(scratch_make, scratch_remove)
