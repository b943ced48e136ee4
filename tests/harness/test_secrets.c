#include "src/harness/adapter.h"
#include "src/harness/output_parser.h"
#include "tests/lib/harness_rig.h"

#define PADDING(n, c) "$(head -c " #n " /dev/zero | tr '\\0' " #c ")"
#define A_KEY         "0123456789-SECRET-abcdefghijklmnopqrstuvwxyz"

/* Wherever a text is cut, no part of a key remains. */
TEST(a_cut_leaves_no_half_of_a_secret)
{
	static const char *const scripts[] = {
		/* the last 500 characters of what was printed */
		"echo \"refused $ANTHROPIC_API_KEY " PADDING(490, y) "\"; exit 1",
		"echo \"refused $ANTHROPIC_API_KEY " PADDING(490, y) "\" >&2; exit 1",
		/* the last 16 KiB that are kept, in one piece and in many */
		"echo \"$ANTHROPIC_API_KEY" PADDING(16380, y) "\" >&2; exit 1",
		"for i in 1 2 3 4 5 6 7 8; do echo \"$ANTHROPIC_API_KEY" PADDING(
			9000, y) "\"; done; exit 1",
		/* the first 4000 bytes of an error, of a text without a model, of a retry */
		"echo '{\"type\":\"result\",\"is_error\":true,\"result\":\"'" PADDING(
			3970, y) "\"$ANTHROPIC_API_KEY\"'\"}'",
		"echo '{\"type\":\"result\",\"num_turns\":0,\"result\":\"'" PADDING(
			3960, y) "\"$ANTHROPIC_API_KEY\"'\"}'",
		"echo '{\"type\":\"result\",\"num_turns\":0,\"result\":\"'" PADDING(
			480, y) "\"$ANTHROPIC_API_KEY\"'\"}'",
		/* the first MiB of the agent's text */
		"echo '{\"type\":\"result\",\"result\":\"'" PADDING(
			1048560, y) "\"$ANTHROPIC_API_KEY\"'\"}'",
		"echo '{\"type\":\"result\",\"result\":\"'" PADDING(
			2097132, y) "\"$ANTHROPIC_API_KEY\"'\"}'",
	};

	setenv("ANTHROPIC_API_KEY", A_KEY, 1);
	for (size_t i = 0; i < COUNT(scripts); i++) {
		(void)run_claude(scripts[i]);
		for (size_t from = 0; from + 6 <= strlen(A_KEY); from++) {
			struct str part = str_sub(STR(A_KEY), from, from + 6);

			if (str_find(str_of(harness_got.text), part) < strlen(harness_got.text) ||
				(harness_got.detail && str_find(str_of(harness_got.detail), part) <
							       strlen(harness_got.detail)))
				fail_msg("row %zu: '%.*s'", i, (int)part.n, part.p);
		}
	}
	unsetenv("ANTHROPIC_API_KEY");
}

TEST(a_probe_shows_no_half_of_a_secret)
{
	setenv("OPENAI_API_KEY", A_KEY, 1);
	stand_in("claude", "echo \"" PADDING(70, y) A_KEY "\"");
	(void)harness_probed(&harness_claude_code, WAIT_LIMIT_S);
	assert_non_null(harness_seen.detail);
	assert_int_equal(
		str_find(str_of(harness_seen.detail), STR("012345")), strlen(harness_seen.detail));
	unsetenv("OPENAI_API_KEY");
}

/* An agent's text may mention keys; only the real ones are masked. */
TEST(an_agents_text_loses_real_secrets_only)
{
	setenv("ANTHROPIC_API_KEY", "the-real-secret", 1);
	stand_in("claude", "echo '{\"type\":\"result\",\"result\":"
			   "\"sk-example-12345678 the-real-secret\"}'");
	assert_int_equal(harness_rig_invoke(&harness_claude_code, (struct harness_input){0}), 0);
	assert_string_equal(harness_got.text, "sk-example-12345678 ****");
	unsetenv("ANTHROPIC_API_KEY");
}

TEST(a_program_that_prints_secrets_tells_none)
{
	static const char *const env[] = {"EXTRA_TOKEN=from-the-caller", NULL};

	setenv("ANTHROPIC_API_KEY", "the-real-secret", 1);
	setenv("GITHUB_TOKEN", "somebody-elses", 1);
	stand_in("claude", "echo \"$ANTHROPIC_API_KEY $EXTRA_TOKEN somebody-elses "
			   "https://u:pw@proxy/ sk-ant-0123456789\" >&2; exit 1");
	assert_int_equal(
		harness_rig_invoke(&harness_claude_code, (struct harness_input){.env = env}), 0);
	assert_string_equal(
		harness_got.detail, "exit status 1: **** **** **** https://****@proxy/ ****");
	stand_in("claude", "echo \"{\\\"type\\\":\\\"result\\\",\\\"is_error\\\":true,"
			   "\\\"result\\\":\\\"bad $ANTHROPIC_API_KEY\\\"}\"");
	assert_int_equal(
		harness_rig_invoke(&harness_claude_code, (struct harness_input){.env = env}), 0);
	assert_string_equal(harness_got.detail, "bad ****");
	unsetenv("ANTHROPIC_API_KEY");
	unsetenv("GITHUB_TOKEN");
}

/* The program's environment, sorted; without what the shell adds. */
static const char *environment_seen(const struct harness *h, struct harness_input input)
{
	stand_in(h->binary, "env | grep -v '^\\(PWD\\|SHLVL\\|_\\|OLDPWD\\|PATH\\|HOME\\)=' | "
			    "sort >seen");
	assert_int_equal(harness_rig_invoke(h, input), 0);
	return scratch_read("seen");
}

TEST(a_program_gets_what_is_its_own_alone)
{
	static const char *const env[] = {"EXTRA=1", "LANG=of-the-caller", NULL};
	static const char *const port[] = {"PORT=7", "CLAUDE_CODE_MAX_RETRIES=1", NULL};
	static const char *const names[] = {"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o",
		"GEMINI_API_KEY=g", "GITHUB_TOKEN=gh", "AWS_SECRET_ACCESS_KEY=aws", "LANG=C.UTF-8",
		"LC_ALL=C.UTF-8", "TERM=dumb", "PORT=1", "ARTIFACTS_DIR=/x", "CLAUDECODE=1",
		"LD_PRELOAD=", "HTTPS_PROXY=http://p", "ANTHROPIC_BASE_URL=http://b", NULL};
	char **ours = environ;
	char *all[24] = {arena_printf(&arena, "PATH=%s", getenv("PATH"))};

	for (size_t i = 0; names[i]; i++)
		all[i + 1] = arena_dup(&arena, str_of(names[i]));
	environ = all;
	assert_string_equal(
		environment_seen(&harness_claude_code,
			(struct harness_input){.env = env, .port = 3453, .artifacts = "/art"}),
		"ANTHROPIC_API_KEY=a\nANTHROPIC_BASE_URL=http://b\nARTIFACTS_DIR=/art\n"
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1\nCLAUDE_CODE_MAX_RETRIES=6\n"
		"DISABLE_AUTOUPDATER=1\nEXTRA=1\nHTTPS_PROXY=http://p\nLANG=of-the-caller\n"
		"LC_ALL=C.UTF-8\nPORT=3453\nTERM=dumb\n");
	assert_string_equal(
		environment_seen(&harness_codex, (struct harness_input){.env = port, .port = 9}),
		"CLAUDE_CODE_MAX_RETRIES=1\nCODEX_API_KEY=o\nHTTPS_PROXY=http://p\nLANG=C.UTF-8\n"
		"LC_ALL=C.UTF-8\nOPENAI_API_KEY=o\nPORT=7\nTERM=dumb\n");
	assert_string_equal(environment_seen(&harness_claude_code,
				    (struct harness_input){.env = port, .port = 9}),
		"ANTHROPIC_API_KEY=a\nANTHROPIC_BASE_URL=http://b\n"
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1\nCLAUDE_CODE_MAX_RETRIES=1\n"
		"DISABLE_AUTOUPDATER=1\nHTTPS_PROXY=http://p\nLANG=C.UTF-8\nLC_ALL=C.UTF-8\n"
		"PORT=7\nTERM=dumb\n");
	environ = ours;
}

struct collected {
	struct line_splitter lines;
	struct buf text;
};

static void collect(void *data, struct str line)
{
	struct collected *c = data;

	buf_add(&c->text, line);
	buf_addc(&c->text, '|');
}

TEST(lines_are_cut_however_they_come)
{
	static const char *const text = "one\r\n\n  two  \nfour-\377\nlonger than ten\nlast";

	for (size_t step = 1; step < 20; step++) {
		struct collected c = {.lines = {.max = 10, .line = collect, .data = &c}};

		for (size_t i = 0; i < strlen(text); i += step)
			line_splitter_add(&c.lines,
				str_sub(str_of(text), i,
					i + step < strlen(text) ? i + step : strlen(text)));
		line_splitter_end(&c.lines);
		line_splitter_end(&c.lines);
		assert_string_equal(c.text.s, "one|two|four-?|last|");
		assert_int_equal(c.lines.dropped, 1);
		buf_release(&c.text);
		buf_release(&c.lines.partial);
	}
}

TEST(the_last_characters_are_whole_ones)
{
	struct tail_buffer t = {.max = 4};

	assert_str(output_parser_last_characters(STR(" gr\303\274n\n"), 2), "\303\274n");
	assert_str(output_parser_last_characters(STR("abc"), 10), "abc");
	assert_str(output_parser_last_characters(STR("  "), 10), "");
	for (int i = 0; i < 26; i++)
		tail_buffer_add(&t, (struct str){&"abcdefghijklmnopqrstuvwxyz"[i], 1});
	assert_true(t.kept.len <= 2 * t.max);
	assert_true(str_ends(buf_str(&t.kept), "wxyz"));
	tail_buffer_add(&t, STR("0123456789"));
	assert_true(str_ends(buf_str(&t.kept), "6789"));
	buf_release(&t.kept);
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
