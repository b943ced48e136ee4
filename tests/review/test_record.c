#include "src/event/artifact.h"
#include "src/base/clock.h"
#include "src/review/classifier.h"
#include "tests/lib/scratch.h"

static struct error err;

static const char *const paths[] = {"src/a.c", "b\xff"};
static const struct change_stats stats = {.paths = paths, .files = 2, .added = 3, .removed = 1};

static struct review_decision answered(const char *raw)
{
	struct review_decision d;

	classifier_read_answer(&arena, raw, &d);
	return d;
}

static void recorded(const char *issue, unsigned pr, const char *raw)
{
	struct review_decision d = answered(raw);

	assert_int_equal(classifier_record(base, issue, pr, &stats, &d, &err), 0);
}

/* Line n of the log, less its line feed. */
static char *line_of(size_t n)
{
	struct str rest = str_of(scratch_read("_classifier/calibration.jsonl")), line = {0};

	for (size_t i = 0; i <= n; i++)
		assert_true(str_line(&rest, &line));
	return arena_dup(&arena, line);
}

#define ANSWER                                                                                     \
	"{\"reviewers\":[\"critic\"],\"rationale\":{\"critic\":\"small\"},\"confident\":true,"     \
	"\"confidence\":0.8}"
#define BEGIN "{\"timestamp\":\"2026-11-21T01:34:55Z\",\"issueId\":\"A-1\","
#define STATS                                                                                      \
	"\"diffStats\":{\"filesChanged\":2,\"paths\":[\"src/a.c\",\"b?\"],\"linesAdded\":3,"       \
	"\"linesRemoved\":1},"

static int fixed(void **state)
{
	int64_t t;

	assert_int_equal(clock_parse("2026-11-21T01:34:55Z", &t), 0);
	clock_fix(t);
	return scratch_make(state);
}

#define FIXED_TEST(name) UNIT_TEST(name, fixed, scratch_remove)

FIXED_TEST(a_decision_is_written_with_what_was_said)
{
	recorded("A-1", 0, ANSWER);
	assert_string_equal(scratch_read("A-1/review/classifier.json"),
		"{\n"
		"  \"$schema\": \"schemas/artifacts/classifier.schema.json#v1\",\n"
		"  \"reviewers\": [\n    \"critic\"\n  ],\n"
		"  \"rationale\": {\n    \"critic\": \"small\"\n  },\n"
		"  \"confident\": true,\n"
		"  \"confidence\": 0.8,\n"
		"  \"fellOpen\": false,\n"
		"  \"fellOpenReason\": null,\n"
		"  \"rawOutput\": \"{\\\"reviewers\\\":[\\\"critic\\\"],\\\"rationale\\\":"
		"{\\\"critic\\\":\\\"small\\\"},\\\"confident\\\":true,\\\"confidence\\\":0.8}\",\n"
		"  \"parseError\": null,\n"
		"  \"addedByRules\": []\n"
		"}\n");
	assert_string_equal(line_of(0),
		BEGIN STATS "\"classifierOutput\":{\"reviewers\":[\"critic\"],\"rationale\":"
			    "{\"critic\":\"small\"},\"confident\":true,\"confidence\":0.8},"
			    "\"fellOpen\":false,\"fellOpenReason\":null,"
			    "\"humanOverrideAfterMerge\":null}");
}

FIXED_TEST(a_fall_open_keeps_why)
{
	recorded("A-1", 7, "no\xff");
	recorded("A-1", 0,
		"{\"reviewers\":[],\"rationale\":{},\"confident\":false,\"confidence\":0.3}");
	recorded("A-1", 0, NULL);
	assert_string_equal(line_of(0),
		BEGIN "\"prNumber\":7," STATS "\"classifierOutput\":null,\"fellOpen\":true,"
		      "\"fellOpenReason\":\"parse-error\",\"humanOverrideAfterMerge\":null}");
	assert_string_equal(line_of(1), BEGIN STATS
		"\"classifierOutput\":{\"reviewers\":[],\"rationale\":{},\"confident\":false,"
		"\"confidence\":0.3},\"fellOpen\":true,\"fellOpenReason\":\"confident-false\","
		"\"humanOverrideAfterMerge\":null}");
	assert_string_equal(line_of(2), BEGIN STATS "\"classifierOutput\":null,\"fellOpen\":true,"
						    "\"fellOpenReason\":\"invocation-failed\","
						    "\"humanOverrideAfterMerge\":null}");
	assert_non_null(strstr(scratch_read("A-1/review/classifier.json"),
		"\"testing\",\n    \"critic\",\n    \"security\""));
	recorded("A-1", 0, "");
	assert_non_null(strstr(scratch_read("A-1/review/classifier.json"), "\"rawOutput\": \"\""));
}

static int feed(const char *issue, unsigned pr)
{
	const struct review_feedback f = {issue, pr, REVIEW_SECURITY, "it read a secret"};

	return classifier_feedback(base, &f, &err);
}

static bool noted(size_t line)
{
	return strstr(line_of(line),
		       "\"humanOverrideAfterMerge\":{\"addedReviewer\":\"security\",\"reason\":"
		       "\"it read a secret\",\"prNumber\":") != NULL;
}

/* The original used the newest line, whichever issue it belonged to. */
FIXED_TEST(feedback_goes_to_the_newest_line_of_its_own_issue)
{
	recorded("A-1", 0, ANSWER);
	recorded("A-1", 0, ANSWER);
	recorded("B-2", 0, ANSWER);
	assert_int_equal(feed("A-1", 12), 0);
	assert_true(noted(1) && !noted(0) && !noted(2));
	assert_non_null(
		strstr(line_of(1), "\"prNumber\":12,\"attributedAt\":\"2026-11-21T01:34:55Z\"}}"));
	assert_int_equal(feed("A-1", 12), -1);
	assert_error(&err, "dev-team: the newest classification of 'A-1' already has feedback");
	assert_int_equal(err.code, ERR_STATE);
	assert_true(!noted(0));
}

FIXED_TEST(feedback_finds_a_pull_request_by_the_log_and_by_its_artifact)
{
	CLEANUP(json_free) json *pr = json_object();

	recorded("A-1", 7, ANSWER);
	recorded("B-2", 0, ANSWER);
	recorded("C-3", 0, ANSWER);
	json_put_int(pr, "number", 9);
	assert_int_equal(artifact_write(base, "B-2", "pr.json", pr, &err), 0);
	assert_int_equal(feed(NULL, 7), 0);
	assert_true(noted(0) && !noted(1));
	assert_int_equal(feed(NULL, 9), 0);
	assert_true(noted(1) && !noted(2));
	assert_int_equal(feed(NULL, 8), -1);
	assert_error(&err, "dev-team: no classification of pull request 8");
	assert_int_equal(feed("B-2", 7), -1);
	assert_error(&err, "dev-team: the pull request of 'B-2' is 9, not 7");
	assert_int_equal(feed("D-4", 0), -1);
	assert_error(&err, "dev-team: no classification of 'D-4'");
	assert_fails(feed(NULL, 0), err, ERR_USAGE);
}

FIXED_TEST(lines_of_others_stay_as_they_are)
{
	char *path;

	recorded("A-1", 0, ANSWER);
	assert_int_equal(
		artifact_path(&arena, base, CLASSIFIER_SCOPE, CALIBRATION_LOG, &path, &err), 0);
	tree_write(
		path, STR("not json\n{\"issueId\": \"A-1\", \"later\":1}\n[]\n{\"issueId\":5}\n"));
	assert_int_equal(feed("A-1", 0), 0);
	assert_string_equal(line_of(0), "not json");
	assert_non_null(strstr(line_of(1), "{\"issueId\":\"A-1\",\"later\":1,\"humanOverride"));
	assert_non_null(strstr(line_of(1), "\"prNumber\":null"));
	assert_string_equal(line_of(2), "[]");
	assert_string_equal(line_of(3), "{\"issueId\":5}");
}

static void assert_holds(struct schema *schema, const struct review_decision *d)
{
	CLEANUP(json_free) json *j = review_decision_json(d);
	struct schema_faults faults;

	if (schema_check(&arena, schema, j, &faults))
		fail_msg("%s: %s", faults.list[0].at, faults.list[0].text);
}

FIXED_TEST(every_record_is_as_its_schema_says)
{
	static const char *const answers[] = {ANSWER, NULL, "no", "[]", "\xff",
		"{\"reviewers\":[],\"rationale\":{},\"confident\":false,\"confidence\":0.3}",
		"{\"reviewers\":[\"testing\"],\"rationale\":{},\"confident\":true,\"confidence\":1,"
		"\"modelOverride\":{\"testing\":\"opus[1m]\"},\"harnessOverride\":{\"critic\":"
		"\"generic-api\"}}"};
	static const char *const lists[] = {
		"src/a.c", "src/auth.c", "go.sum", "a\xff", "README.md"};
	struct schema *schema;

	assert_int_equal(artifact_schema_compile(&arena, "classifier", NULL, &schema, &err), 0);
	for (size_t i = 0; i < COUNT(lists); i++) {
		const struct change_stats s = {.paths = &lists[i], .files = 1};
		struct review_decision d = {0};

		classifier_apply_rules(&arena, &s, &d.of);
		assert_holds(schema, &d);
		for (size_t k = 0; k < COUNT(answers); k++) {
			d = answered(answers[k]);
			assert_holds(schema, &d);
			classifier_add_required(&arena, &s, &d);
			assert_holds(schema, &d);
		}
	}
}

FIXED_TEST(what_is_no_issue_is_refused)
{
	struct review_decision d = answered(ANSWER);

	assert_int_equal(classifier_record(base, "../x", 0, &stats, &d, &err), -1);
	assert_fails(classifier_record(base, "_pipelines", 0, &stats, &d, &err), err, ERR_USAGE);
	assert_fails(feed("A-1", 0), err, ERR_STATE);
}
