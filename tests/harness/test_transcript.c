#include "src/harness/harness.h"
#include "tests/lib/scratch.h"

/* The tokens of a conversation, from rows as Claude Code writes them. */

static struct error err;

#define USER "{\"type\":\"user\",\"agentId\":\"a7\",\"message\":{\"content\":\"Work.\"}}\n"
#define ROW(id, text, in, out, read, written)                                                      \
	"{\"type\":\"assistant\",\"agentId\":\"a7\",\"message\":{\"id\":\"" id "\",\"content\":["  \
	"{\"type\":\"text\",\"text\":\"" text "\"}],\"usage\":{\"input_tokens\":" #in              \
	",\"output_tokens\":" #out ",\"cache_read_input_tokens\":" #read                           \
	",\"cache_creation_input_tokens\":" #written "}}}\n"

static int read_text(
	const char *text, const char *agent, const char *last, bool *ended, struct usage *out)
{
	scratch_write("t.jsonl", text);
	return harness_transcript_usage(
		&arena, arena_printf(&arena, "%s/t.jsonl", base), agent, last, ended, out, &err);
}

SCRATCH_TEST(each_message_counts_once)
{
	struct usage u;
	bool ended;

	assert_int_equal(
		read_text(USER ROW("m1", "Hm.", 100, 1, 7, 20) ROW("m1", "x", 100, 40, 7, 20)
				  ROW("m2", "Done.", 50, 9, 0, 0) "{\"type\":\"system\"}\n",
			"a7", " Done. ", &ended, &u),
		0);
	assert_int_equal(u.input_tokens, 150);
	assert_int_equal(u.output_tokens, 49);
	assert_int_equal(u.cache_written, 20);
	assert_int_equal(u.cache_tokens, 27);
	assert_true(ended);
	assert_int_equal(read_text(USER, NULL, "Done.", &ended, &u), 0);
	assert_int_equal(u.input_tokens, 0);
	assert_false(ended);
}

/* The schema of a tool, and what a tool has printed. */
SCRATCH_TEST(rows_have_numbers_of_any_size_and_nul_characters)
{
	struct usage u;
	bool ended;

	assert_int_equal(
		read_text(USER "{\"type\":\"api-request-shape\",\"agentId\":\"a7\",\"shape\":{"
			       "\"maximum\":9007199254740991,\"most\":1e300}}\n"
			       "{\"type\":\"user\",\"message\":{\"content\":\"a\\u0000b\"}}\n" ROW(
				       "m1", "Done.", 100, 40, 7, 20),
			"a7", "Done.", &ended, &u),
		0);
	assert_true(ended);
	assert_int_equal(u.input_tokens, 100);
	assert_int_equal(u.output_tokens, 40);
}

SCRATCH_TEST(what_is_no_whole_transcript_is_refused)
{
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{USER "{\"type\":\"assis", "the transcript is truncated at its end"},
		{USER "{\"type\":\"assis\n" USER,
			":2: the transcript is truncated or damaged here"},
		{"{\"type\":\"user\",\"agentId\":\"a8\"}\n",
			":1: the transcript is of another agent"},
		{"{\"type\":\"assistant\",\"message\":{\"id\":\"m\"}}\n",
			":1: a message without its id or usage"},
		{ROW("m", "", -1, 5, 0, 0), ":1: a usage that no message can have"},
		{ROW("m", "", 1, 1.5, 0, 0), ":1: a usage that no message can have"},
		{ROW("m", "", 1, 1000000000001, 0, 0), ":1: a usage that no message can have"},
		{"{\"type\":\"event\"}\n", "is no transcript of Claude Code"},
		{"", "is no transcript of Claude Code"},
		{"text\n", ":1: the transcript is truncated or damaged here"},
	};
	struct usage u;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_fails(read_text(rows[i].text, "a7", NULL, NULL, &u), err, ERR_INPUT);
		if (!strstr(err.text, rows[i].fault))
			fail_msg("'%s' lacks '%s'", err.text, rows[i].fault);
	}
	assert_fails(harness_transcript_usage(&arena, "/nowhere/t", NULL, NULL, NULL, &u, &err),
		err, ERR_INPUT);
}
