#include "src/sys/digest.h"
#include "tests/lib/store_rig.h"

/*
 * An open must detect each changed byte of the journal: a damaged key must not be taken for a
 * committed one.
 */

enum { COMMITS = 5, TEXT_MAX = 4096 };

static char text[TEXT_MAX];

static void live(void)
{
	open_store(STORE_WRITE);
	for (int i = 1; i <= COMMITS; i++)
		put(arena_printf(&arena, "port/%d", i), "taken");
	store_close(&rig.s);
	(void)snprintf(text, sizeof(text), "%s", file(JOURNAL));
	assert_true(strlen(text) < sizeof(text) - 1);
}

/* Start of line `n`, the first is 1. */
static size_t line_at(unsigned n)
{
	size_t at = 0;

	while (--n)
		at = (size_t)(strchr(text + at, '\n') - text) + 1;
	return at;
}

static void refused(const char *what, const char *part)
{
	static const enum store_mode modes[] = {STORE_READ, STORE_WRITE, STORE_HOLD};

	for (size_t i = 0; i < COUNT(modes); i++) {
		if (try_open(modes[i]) == 0)
			fail_msg("%s: opened", what);
		if (rig.err.code != ERR_INPUT || !strstr(rig.err.text, part))
			fail_msg("%s: %d '%s', not '%s'", what, (int)rig.err.code, rig.err.text,
				part);
	}
}

RIG_TEST(no_flipped_byte_is_believed)
{
	live();
	/* All but the last commit and its beginning: only that may be broken by a power cut. */
	for (size_t i = 0; i < line_at(COMMITS + 1) - 1; i++) {
		char was = text[i];

		text[i] ^= 1;
		edit(JOURNAL, text);
		refused(arena_printf(&arena, "byte %zu", i), "damaged");
		file_is(JOURNAL, text); /* and left as it is */
		text[i] = was;
	}
	edit(JOURNAL, text);
	open_store(STORE_WRITE);
	has("port/3", "taken");
}

RIG_TEST(damage_is_told_with_file_and_line)
{
	char *at;

	live();
	at = strstr(text + line_at(4), "taken");
	*at = 'T';
	edit(JOURNAL, text);
	assert_int_equal(try_open(STORE_WRITE), -1);
	assert_error(&rig.err,
		JOURNAL ":4:1: damaged: commit 3 has a wrong checksum: nothing was changed");
	*at = 't';
	edit(JOURNAL, text);
	open_store(STORE_WRITE);
}

RIG_TEST(a_commit_that_was_taken_out_is_missed)
{
	live();
	memmove(text + line_at(3), text + line_at(4), strlen(text + line_at(4)) + 1);
	edit(JOURNAL, text);
	refused("without line 3", "damaged at");
}

/* What the state no longer needs is checked only by the history. */
RIG_TEST(damage_before_the_state_is_no_matter)
{
	char *value = arena_alloc(&arena, 4097), *journal;

	memset(value, 'v', 4096);
	open_store(STORE_WRITE);
	for (int i = 0; i < 8; i++)
		put("k", value);
	store_close(&rig.s);
	journal = arena_printf(&arena, "%s", file(JOURNAL));
	*strstr(journal, "vvv") = 'w';
	edit(JOURNAL, journal);
	open_store(STORE_WRITE);
	assert_true(str_is(get("k").value, value));
	assert_non_null(strchr(history(), '!'));
}

#define MARK            DIRECTORY "/.T.begun"
#define WITH_MARK(mode) ((enum store_mode)((mode) | STORE_MARKED))

RIG_TEST(a_marked_store_whose_commits_are_lost_is_refused)
{
	open_store(WITH_MARK(STORE_HOLD));
	open_store(WITH_MARK(STORE_HOLD));
	assert_false(there(MARK)); /* it has no commits yet */
	put("k", "v");
	open_store(WITH_MARK(STORE_READ));
	assert_true(there(MARK));
	sim_disk_remove(rig.disk, MARK);
	open_store(WITH_MARK(STORE_READ));
	store_close(&rig.s);
	assert_false(there(MARK));
	open_store(WITH_MARK(STORE_WRITE));
	store_close(&rig.s);
	assert_true(there(MARK));
	edit(JOURNAL, "");
	for (int mode = STORE_READ; mode <= STORE_HOLD; mode++) {
		assert_fails(try_open(WITH_MARK(mode)), rig.err, ERR_INPUT);
		assert_error(&rig.err,
			JOURNAL ":1:1: damaged: there were commits and none is left: nothing was "
				"changed; move it away to begin a new one");
		file_is(JOURNAL, "");
		open_store((enum store_mode)mode);
	}
	store_close(&rig.s);
	sim_disk_remove(rig.disk, JOURNAL);
	open_store(WITH_MARK(STORE_READ));
	assert_true(there(MARK));
	open_store(WITH_MARK(STORE_HOLD));
	assert_false(there(MARK));
	put("k", "v");
}

/* With a right checksum: somebody wrote the line. */
RIG_TEST(a_text_that_is_not_where_its_commit_says_is_damage)
{
	static const char row[] = "\"doc\":{\"" DOC "\":[\"\",\"\",%s,0,1,1,0]}";
	static const char *const places[] = {"99999", "155"}; /* 155: behind the commit's begin */

	for (size_t i = 0; i < COUNT(places); i++) {
		char *doc = arena_printf(&arena, row, places[i]), sum[DIGEST_TEXT],
		     *line = arena_printf(&arena,
			     "{\"format\":2}\n{\"commit\":1,\"format\":2,\"seq\":0,\"from\":0,"
			     "\"at\":13,%s,"
			     "\"all\":{\"put\":{},%s},\"base\":13",
			     doc, doc);

		digest_text(str_of(line), sum);
		edit(JOURNAL, arena_printf(&arena, "%s,\"sum\":\"%s\"}\n", line, sum));
		assert_string_equal(history(), "!");
		assert_int_equal(rig.err.code, ERR_INPUT);
		assert_string_equal(rig.err.file, JOURNAL);
	}
}
