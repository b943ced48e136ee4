/* A stage succeeds only with a valid artifact: one sharpened retry, and its events. */
#include "tests/lib/unit.h"
#include <sys/stat.h>
#include "src/event/artifact.h"
#include "src/event/event.h"
#include "tests/lib/event_log.h"
#include "tests/lib/scratch.h"

#define GOOD                                                                                       \
	"{\"$schema\":\"spec/schemas/artifacts/plan.schema.json#v1\",\"approach\":\"Add a "        \
	"function.\",\"filesToTouch\":[],\"expectedDifficulty\":\"low\"}"
#define SHORT                                                                                      \
	"{\"$schema\":\"spec/schemas/artifacts/plan.schema.json#v1\",\"approach\":\"short\","      \
	"\"filesToTouch\":[],\"expectedDifficulty\":\"low\"}"

static struct error err;

/* Writes its next text at each call; NULL: the call fails. */
struct agent {
	const char *writes; /* NULL: nothing */
	bool fails;
	int asked;
	const char *prompt;
};

static struct artifact_target want(void)
{
	return (struct artifact_target){
		.dir = at("art"), .issue = "A-1", .stage = "plan", .name = "plan.json"};
}

static int ask(void *data, const char *prompt, struct error *e)
{
	struct agent *a = data;

	a->asked++;
	a->prompt = arena_dup(&arena, str_of(prompt));
	if (a->writes &&
		artifact_write_text(at("art"), "A-1", "plan.json", str_of(a->writes), e) < 0)
		return -1;
	return a->fails ? error_set(e, ERR_SYSTEM, "no such\xff program") : 0;
}

SCRATCH_TEST(the_artifact_is_settled)
{
	static const struct {
		const char *first, *second; /* what is written; NULL: nothing */
		bool fails;
		enum artifact_outcome end;
		int asked;
		size_t retries, invalid;  /* events */
		const char *fault, *asks; /* part of *fault, and of the prompt */
	} rows[] = {
		{GOOD, NULL, false, ARTIFACT_GOOD, 0, 0, 0, NULL, NULL},
		{SHORT, GOOD, false, ARTIFACT_RETRIED, 1, 1, 0, "shorter than 10 characters",
			"plan.json:1:68: /approach: 'short' is shorter than 10 characters"},
		{SHORT, SHORT, false, ARTIFACT_INVALID, 1, 0, 1, "shorter than 10 characters",
			"third try"},
		{SHORT, NULL, false, ARTIFACT_INVALID, 1, 0, 1, "shorter than 10 characters",
			"\"expectedDifficulty\""},
		{NULL, NULL, false, ARTIFACT_INVALID, 1, 0, 1, "it was not written",
			"it was not written"},
		{NULL, GOOD, false, ARTIFACT_RETRIED, 1, 1, 0, "it was not written", NULL},
		{"{\"a\":", GOOD, false, ARTIFACT_RETRIED, 1, 1, 0,
			"plan.json:1:6: a value is missing", "plan.json:1:6"},
		{"\xff", "{}", false, ARTIFACT_INVALID, 1, 0, 1, "'$schema' is missing",
			"invalid UTF-8"},
		{SHORT, GOOD, true, ARTIFACT_INVALID, 1, 0, 1, "could not be asked again: no such",
			NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct artifact_target w = want();
		struct agent agent = {.writes = rows[i].second, .fails = rows[i].fails};
		enum artifact_outcome end;
		const char *fault;

		tree_remove(at("art"));
		if (rows[i].first)
			assert_int_equal(artifact_write_text(at("art"), "A-1", "plan.json",
						 str_of(rows[i].first), &err),
				0);
		assert_int_equal(
			artifact_validate_retry(&arena, &w, ask, &agent, &end, &fault, &err), 0);
		if (end != rows[i].end || agent.asked != rows[i].asked)
			fail_msg("row %zu: ends %d, asked %d", i, end, agent.asked);
		assert_int_equal(
			event_log_count(at("art"), "ArtifactSchemaRetry"), rows[i].retries);
		assert_int_equal(
			event_log_count(at("art"), "ArtifactSchemaInvalid"), rows[i].invalid);
		assert_int_equal(!fault, !rows[i].fault);
		if (fault && !strstr(fault, rows[i].fault))
			fail_msg("row %zu: %s", i, fault);
		if (rows[i].asks && !strstr(agent.prompt, rows[i].asks))
			fail_msg("row %zu: %s", i, agent.prompt);
	}
}

SCRATCH_TEST(with_nobody_to_ask_it_is_over_at_once)
{
	struct artifact_target w = want();
	enum artifact_outcome end;
	const char *fault;

	assert_int_equal(artifact_validate_retry(&arena, &w, NULL, NULL, &end, &fault, &err), 0);
	assert_int_equal(end, ARTIFACT_INVALID);
	assert_int_equal(event_log_count(at("art"), "ArtifactSchemaInvalid"), 1);
}

static int check(const struct artifact_target *target, const char **fault)
{
	enum artifact_outcome end;

	return artifact_validate_retry(&arena, target, NULL, NULL, &end, fault, &err);
}

SCRATCH_TEST(an_old_artifact_does_not_pass_for_the_new_one)
{
	struct artifact_target w = want();
	const char *fault;

	assert_int_equal(artifact_write_text(at("art"), "A-1", "plan.json", STR(GOOD), &err), 0);
	assert_int_equal(check(&w, &fault), 0);
	assert_null(fault);
	assert_int_equal(artifact_remove(at("art"), "A-1", "plan.json", &err), 0);
	assert_int_equal(check(&w, &fault), 0);
	assert_non_null(fault);
}

SCRATCH_TEST(hostile_artifacts_are_faults_and_nothing_else)
{
	struct artifact_target w = want();
	const char *fault;

	assert_int_equal(path_mkdirs(at("art/A-1"), &err), 0);
	assert_int_equal(symlink("/etc/passwd", at("art/A-1/plan.json")), 0);
	assert_int_equal(check(&w, &fault), 0);
	assert_non_null(strstr(fault, "symbolic link"));
	assert_int_equal(unlink(at("art/A-1/plan.json")), 0);
	assert_int_equal(mkfifo(at("art/A-1/plan.json"), 0600), 0);
	assert_int_equal(check(&w, &fault), 0);
	assert_non_null(strstr(fault, "not a regular file"));
	w.name = "../../plan.json";
	assert_fails(check(&w, &fault), err, ERR_USAGE);
	w = want();
	w.schema = "nonesuch";
	assert_int_equal(unlink(at("art/A-1/plan.json")), 0);
	assert_int_equal(artifact_write_text(at("art"), "A-1", "plan.json", STR(GOOD), &err), 0);
	assert_int_equal(check(&w, &fault), -1);
	w.schema = NULL;
	w.version = "v2";
	assert_int_equal(check(&w, &fault), -1);
	w.version = "latest";
	assert_int_equal(check(&w, &fault), 0);
	assert_null(fault);
}

SCRATCH_TEST(the_prompt_has_the_path_and_the_schema)
{
	struct artifact_target w = want();
	const char *text = artifact_prompt(&arena, &w);

	assert_non_null(strstr(text, at("art/A-1/plan.json")));
	assert_non_null(strstr(text, "\"expectedDifficulty\""));
	assert_non_null(strstr(text, "plan.schema.json#v1"));
	w.name = "review/security.json";
	assert_non_null(strstr(artifact_prompt(&arena, &w), "approve-with-suggestions"));
	w.name = "plan.md";
	assert_string_equal(artifact_prompt(&arena, &w), "");
}
