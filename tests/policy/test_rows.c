/* The notation of each row of the programs; proof_options_real.c and proof_git_options.c compare
 * the rows with the programs. */
#include "src/policy/bin.h"
#include "src/policy/bin_git.h"
#include "src/policy/notation.h"
#include "tests/lib/unit.h"

static struct error err;

static const struct git_command *const commands[] = {git_rows_history, git_rows_look,
	git_rows_change, git_rows_refs, git_rows_remotes, git_rows_places};

static const struct binary *const programs[] = {
	binaries_text, binaries_system, binaries_files, binaries_build};

TEST(rows_of_git_are_well_formed)
{
	for (size_t t = 0; t < COUNT(commands); t++)
		for (const struct git_command *g = commands[t]; g->name; g++)
			if (notation_check(g->options, "", &err) < 0 ||
				notation_check(g->lead, "", &err) < 0)
				fail_msg("git %s: %s", g->name, err.text);
}

TEST(rows_of_programs_are_well_formed)
{
	for (size_t i = 0; i < COUNT(programs); i++)
		for (const struct binary *b = programs[i]; b->name; b++) {
			if (!b->check && !b->options)
				fail_msg("%s: nothing is said of it", b->name);
			if (notation_check(b->options, b->operands, &err) < 0)
				fail_msg("%s: %s", b->name, err.text);
		}
}
