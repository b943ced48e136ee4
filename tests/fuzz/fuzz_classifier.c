/*
 * Any diff and any answer of a model: the diff is read completely or refused with a position; the
 * record is valid JSON; a change with another file never gets fewer reviewers; an answer that is
 * not accepted gets all three. The input is split at its first NUL: diff, answer.
 */
#include "src/review/classifier.h"
#include "tests/fuzz/fuzz.h"

static void check_rules(struct arena *a, const struct change_stats *s)
{
	struct change_stats some = *s;
	struct classification all, fewer;

	some.whitespace_only = false;
	some.files = s->files / 2;
	classifier_apply_rules(a, s, &all);
	expect(all.confident && all.confidence >= 0 && all.confidence <= 1);
	if (s->whitespace_only)
		return;
	classifier_apply_rules(a, &some, &fewer);
	for (int r = 0; r < REVIEWERS; r++)
		expect(!fewer.chosen[r] || all.chosen[r]);
}

static void check_decision(const struct review_decision *d)
{
	CLEANUP(json_free) json *j = review_decision_json(d);
	CLEANUP(json_free) json *again = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err;

	json_print(&text, j);
	expect(json_parse(&again, buf_str(&text), &err) == 0);
	for (int r = 0; r < REVIEWERS; r++)
		expect(!d->open || d->of.chosen[r]);
	expect(!d->open == !fell_open_word(d->open) && (!d->open || d->fault));
}

static void check_diff(struct arena *a, struct str text, struct change_stats *s)
{
	struct error err = {0};

	if (review_diff_read(a, "d", text, s, &err) < 0) {
		expect(err.code == ERR_INPUT && err.line && err.text[0] && !s->files);
		return;
	}
	expect(!text.n || s->files);
	for (size_t i = 0; i < s->files; i++)
		expect(s->paths[i][0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str answer = {(const char *)data, size}, diff = fuzz_part(&answer, STR("\0"));
	struct change_stats s;
	struct review_decision d;

	check_diff(&a, diff, &s);
	check_rules(&a, &s);
	classifier_read_answer(&a, answer.p ? arena_dup(&a, answer) : NULL, &d);
	check_decision(&d);
	classifier_add_required(&a, &s, &d);
	check_decision(&d);
	return 0;
}
