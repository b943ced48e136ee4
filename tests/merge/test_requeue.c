#include "src/base/clock.h"
#include "src/merge/requeue.h"
#include "tests/lib/scratch.h"

#define H 3600

static struct error err;
static const int64_t now = 1777377600; /* 2026-04-28T12:00:00Z */

static const struct {
	const char *failure;
	int64_t triaged; /* seconds ago; -1: never */
	int64_t past[4]; /* the same failure, seconds ago; 0 ends */
	bool operator_asked;
	enum requeue_trigger trigger;
} rows[] = {
	/* An operator takes precedence. */
	{"CIFailure", H, {0}, true, TRIGGER_OPERATOR},
	{"MergeConflict", 100 * H, {0}, true, TRIGGER_OPERATOR},
	{"MigrationFailed", H, {0}, true, TRIGGER_OPERATOR},
	/* Then the age of the score: strictly more than a day. */
	{"CIFailure", 49 * H, {0}, false, TRIGGER_TIME},
	{"CIFailure", 24 * H, {0}, false, TRIGGER_TRUST_SCORE},
	{"CIFailure", 24 * H + 1, {0}, false, TRIGGER_TIME},
	{"CIFailure", 24 * H - 1, {0}, false, TRIGGER_TRUST_SCORE},
	{"MergeConflict", 24 * H + 1, {0}, false, TRIGGER_TIME},
	{"MigrationConflict", 24 * H + 1, {0}, false, TRIGGER_TIME},
	{"CIFailure", -1, {0}, false, TRIGGER_TIME},
	{"CIFailure", -5 * H, {0}, false, TRIGGER_TRUST_SCORE},
	/* Never. */
	{"MergeConflict", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"RebaseConflict", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"HarnessUnavailable", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"BranchQuotaExceeded", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"PortCollision", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"OffPeakDeferralExceeded", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"WorktreeOwnershipMismatch", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"AdapterUnavailable", H, {1, 2, 3, 4}, false, TRIGGER_TRUST_SCORE},
	{"AdmissionDenied", H, {1, 2, 3, 4}, false, TRIGGER_TRUST_SCORE},
	{"IndependenceViolated", H, {1, 2, 3, 4}, false, TRIGGER_TRUST_SCORE},
	{"MergeConflict", H, {1, 2, 3, 4}, false, TRIGGER_TRUST_SCORE},
	/* Always. */
	{"MaxRetriesExhausted", H, {0}, false, TRIGGER_FAILURE},
	{"MigrationConflict", H, {0}, false, TRIGGER_FAILURE},
	{"MigrationFailed", H, {0}, false, TRIGGER_FAILURE},
	{"EstimateVariance", H, {0}, false, TRIGGER_FAILURE},
	/* On the third. */
	{"CIFailure", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"CIFailure", H, {H}, false, TRIGGER_TRUST_SCORE},
	{"CIFailure", H, {H, 2 * H}, false, TRIGGER_FAILURE},
	{"CIFailure", H, {H, 2 * H, 3 * H}, false, TRIGGER_FAILURE},
	{"CIFailure", H, {H, 24 * H}, false, TRIGGER_FAILURE},
	{"CIFailure", H, {H, 24 * H + 1}, false, TRIGGER_TRUST_SCORE},
	/* On the second. */
	{"AgentTimeout", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"AgentTimeout", H, {H}, false, TRIGGER_FAILURE},
	{"AgentTimeout", H, {25 * H}, false, TRIGGER_TRUST_SCORE},
	{"BudgetExceeded", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"BudgetExceeded", H, {24 * H}, false, TRIGGER_FAILURE},
	{"ArtifactSchemaInvalid", H, {0}, false, TRIGGER_TRUST_SCORE},
	{"ArtifactSchemaInvalid", H, {H}, false, TRIGGER_FAILURE},
};

TEST(decisions)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct past_failure past[4];
		struct triage_history h = {.failures = past,
			.last_triage = rows[i].triaged == -1 ? -1 : now - rows[i].triaged};
		struct requeue_ask ask = {.failure = rows[i].failure,
			.past = &h,
			.now = now,
			.operator_asked = rows[i].operator_asked};
		enum requeue_trigger got;

		for (; h.n_failures < 4 && rows[i].past[h.n_failures]; h.n_failures++)
			past[h.n_failures] = (struct past_failure){
				rows[i].failure, now - rows[i].past[h.n_failures]};
		assert_int_equal(requeue_decide(&ask, &got, &err), 0);
		if (got != rows[i].trigger)
			fail_msg("row %zu: %s: %s", i, rows[i].failure, requeue_words[got]);
	}
}

TEST(other_failures_do_not_count)
{
	struct past_failure past[] = {{"AgentTimeout", now - H}, {"BudgetExceeded", now - H}};
	struct triage_history h = {.failures = past, .n_failures = 2, .last_triage = now};
	struct requeue_ask ask = {.failure = "CIFailure", .past = &h, .now = now};
	enum requeue_trigger got;

	assert_int_equal(requeue_decide(&ask, &got, &err), 0);
	assert_int_equal(got, TRIGGER_TRUST_SCORE);
	ask.failure = "ciFailure";
	assert_int_equal(requeue_decide(&ask, &got, &err), -1);
	assert_error(&err, "dev-team: unknown failure 'ciFailure'");
}

TEST(an_approved_pull_request_comes_back_for_one_reason)
{
	static const struct {
		struct forge_open_pull pull;
		const char *approved, *failure, *reason;
	} cases[] = {
		{{.conflicts = true, .checks_failed = true}, "2026-11-21T01:00:00Z",
			"MergeConflict", "its pull request conflicts with the target"},
		{{.checks_failed = true}, NULL, "CIFailure", "a check of its pull request failed"},
		{{.changes_requested = "2026-11-21T01:00:01Z"}, "2026-11-21T01:00:00Z", NULL,
			"changes of its pull request are requested"},
		{{.changes_requested = "2026-11-21T01:00:00Z"}, "2026-11-21T01:00:00Z", NULL, NULL},
		{{.changes_requested = "2026-11-21T01:00:00Z"}, NULL, NULL, NULL},
		{{.draft = true}, "2026-11-21T01:00:00Z", NULL, NULL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct requeue_pull *got = requeue_find(&cases[i].pull, cases[i].approved);

		assert_int_equal(got != NULL, cases[i].reason != NULL);
		if (!got)
			continue;
		assert_string_equal(got->reason, cases[i].reason);
		assert_int_equal(got->failure != NULL, cases[i].failure != NULL);
		if (got->failure)
			assert_string_equal(got->failure, cases[i].failure);
	}
}

static unsigned append(const char *trigger, int64_t when, bool *storm)
{
	const struct triage t = {.trigger = trigger, .composite = 0.5, .at = when};
	unsigned count;

	if (triage_append(at("art"), "I-1", &t, &count, storm, &err) < 0)
		fail_msg("%s", err.text);
	return count;
}

static int done(void **state)
{
	clock_fix(-1);
	return scratch_remove(state);
}

#define HISTORY_TEST(name) UNIT_TEST(name, scratch_make, done)

HISTORY_TEST(the_original_triage_is_no_retriage)
{
	bool storm;

	clock_fix(now);
	assert_int_equal(append("original", 0, &storm), 0);
	assert_false(storm);
	assert_string_equal(scratch_read("art/I-1/triage-history.jsonl"),
		"{\"timestamp\":\"2026-04-28T12:00:00Z\",\"trigger\":\"original\",\"composite\":0.5"
		"}\n");
}

HISTORY_TEST(a_storm_is_more_than_ten_in_a_day)
{
	bool storm;

	clock_fix(now);
	(void)append("original", 0, &storm);
	(void)append("failure-type", now - 24 * H - 1, &storm);
	for (unsigned i = 1; i <= 12; i++) {
		assert_int_equal(append("failure-type", i == 1 ? now - 24 * H : 0, &storm), i);
		assert_int_equal(storm, i > 10);
	}
	assert_non_null(strstr(scratch_read("art/_events.jsonl"), "\"type\":\"RetriageStorm\""));
	assert_non_null(
		strstr(scratch_read("art/_events.jsonl"), "\"count\":11,\"windowHours\":24"));
}

HISTORY_TEST(every_trigger_but_the_first_counts)
{
	bool storm;
	unsigned count;
	const struct triage odd = {.trigger = "trust-score"};

	clock_fix(now);
	assert_int_equal(append("time-threshold", 0, &storm), 1);
	assert_int_equal(append("operator-requeue", 0, &storm), 2);
	assert_int_equal(append("failure-type", 0, &storm), 3);
	assert_fails(triage_append(at("art"), "I-1", &odd, &count, &storm, &err), err, ERR_USAGE);
}

HISTORY_TEST(lines_of_others_are_read_and_odd_ones_skipped)
{
	struct triage_history h;

	clock_fix(now);
	scratch_write("art/I-1/triage-history.jsonl",
		"not json\n\n[]\n{}\n{\"timestamp\":\"2026-04-28T11:00:00Z\",\"trigger\":"
		"\"failure-type\",\"composite\":0.25,\"costUsd\":0.5}\n"
		"{\"timestamp\":\"yesterday\",\"trigger\":\"failure-type\"}\n"
		"{\"timestamp\":\"2026-04-28T11:30:00Z\",\"failure\":\"CIFailure\"}\n"
		"{\"timestamp\":\"2026-04-28T11:30:00");
	assert_int_equal(triage_read(&arena, at("art"), "I-1", &h, &err), 0);
	assert_int_equal(h.n, 1);
	assert_true(h.triages[0].composite == 0.25 && h.triages[0].cost_usd == 0.5);
	assert_int_equal(h.last_triage, now - H);
	assert_int_equal(h.n_failures, 1);
	assert_int_equal(h.skipped, 5);
	assert_int_equal(triage_read(&arena, at("art"), "I-2", &h, &err), 0);
	assert_int_equal(h.n, 0);
	assert_int_equal(h.last_triage, -1);
}

HISTORY_TEST(a_triage_says_how_the_score_changed)
{
	struct triage t = {.trigger = "original", .composite = 0.3, .model = "haiku"};
	unsigned count;
	bool storm;

	clock_fix(now);
	assert_int_equal(triage_append(at("art"), "I-1", &t, &count, &storm, &err), 0);
	t = (struct triage){
		.trigger = "time-threshold", .detail = "25 h", .composite = 0.1, .cost_usd = 0.02};
	assert_int_equal(triage_append(at("art"), "I-1", &t, &count, &storm, &err), 0);
	assert_non_null(strstr(scratch_read("art/I-1/triage-history.jsonl"),
		"\"trigger\":\"time-threshold\",\"triggerDetail\":\"25 h\",\"composite\":0.1,"
		"\"deltaFromPrevious\":{\"composite\":-0.2},\"costUsd\":0.02}"));
}

static enum requeue_trigger fail_with(const char *failure)
{
	const struct requeue_places places = {7, 2};
	enum requeue_trigger got;

	if (requeue_issue(at("art"), "I-1", failure, false, &places, &got, &err) < 0)
		fail_msg("%s", err.text);
	return got;
}

HISTORY_TEST(failures_are_counted_from_the_history)
{
	bool storm;

	clock_fix(now);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_TIME); /* never triaged */
	(void)append("original", 0, &storm);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_TRUST_SCORE);
	assert_int_equal(fail_with("AgentTimeout"), TRIGGER_TRUST_SCORE);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_FAILURE);
	assert_int_equal(triage_reset(at("art"), "I-1", "merged", &err), 0);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_TRUST_SCORE);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_TRUST_SCORE);
	clock_fix(now + 24 * H); /* the last triage is just not too old, the two count still */
	assert_int_equal(fail_with("CIFailure"), TRIGGER_FAILURE);
	assert_int_equal(append("failure-type", 0, &storm), 1); /* failures are not triages */
	clock_fix(now + 24 * H + 1);
	assert_int_equal(fail_with("CIFailure"), TRIGGER_TRUST_SCORE);
	assert_non_null(strstr(scratch_read("art/_events.jsonl"),
		"\"trigger\":\"failure-type\",\"rescored\":true,\"failure\":\"CIFailure\","
		"\"oldPosition\":7,\"newPosition\":2}"));
}
