#include "src/review/classifier.h"

enum { ANSWER_MAX = 1 << 20 };

static const double confidence_min = 0.7;

static const char *const reviewers[] = {"testing", "critic", "security"};
static const char *const models[] = {"haiku", "sonnet", "opus", "opus[1m]"};
static const char *const harnesses[] = {
	"claude-code", "codex", "gemini-cli", "opencode", "aider", "generic-api"};

const char *reviewer_word(enum reviewer r)
{
	return reviewers[r];
}

static bool find(const char *const *list, size_t n, const char *word, size_t *at)
{
	for (*at = 0; word && *at < n; ++*at)
		if (strcmp(list[*at], word) == 0)
			return true;
	return false;
}

bool reviewer_find(const char *word, enum reviewer *out)
{
	size_t at;

	if (!find(reviewers, COUNT(reviewers), word, &at))
		return false;
	*out = (enum reviewer)at;
	return true;
}

const char *fell_open_word(enum fell_open f)
{
	static const char *const words[] = {[OPEN_PARSE_ERROR] = "parse-error",
		[OPEN_SCHEMA] = "schema-validation",
		[OPEN_UNSURE] = "confident-false",
		[OPEN_INVOCATION] = "invocation-failed"};

	return words[f];
}

/* Returns NULL, or what is wrong. The checks run in the order of the table; the first fault counts.
 */
typedef const char *check_fn(struct arena *a, const json *j, struct classification *out);

static const char *check_object(struct arena *a, const json *j, struct classification *out)
{
	(void)a;
	(void)out;
	return json_is_object(j) ? NULL : "the answer is not an object";
}

static const char *check_reviewers(struct arena *a, const json *j, struct classification *out)
{
	const json *list = json_get(j, "reviewers");

	(void)a;
	if (!json_is_array(list))
		return "'reviewers' is not an array";
	for (const json *item = json_first(list); item; item = json_next(item)) {
		enum reviewer r;

		if (!reviewer_find(json_text(item), &r))
			return "'reviewers' has one that is not testing, critic or security";
		if (out->chosen[r])
			return "'reviewers' names one twice";
		out->chosen[r] = true;
	}
	return NULL;
}

static const char *check_rationale(struct arena *a, const json *j, struct classification *out)
{
	const json *texts = json_get(j, "rationale");

	if (!json_is_object(texts))
		return "'rationale' is not an object";
	for (const json *m = json_first(texts); m; m = json_next(m)) {
		enum reviewer r;

		if (!json_is_string(m))
			return "'rationale' has a member that is not a text";
		if (reviewer_find(json_key(m), &r))
			out->rationale[r] = arena_dup(a, str_of(json_text(m)));
	}
	return NULL;
}

static const char *check_confident(struct arena *a, const json *j, struct classification *out)
{
	(void)a;
	out->confident = json_is_true(json_get(j, "confident"));
	return json_is_bool(json_get(j, "confident")) ? NULL : "'confident' is not true or false";
}

static const char *check_confidence(struct arena *a, const json *j, struct classification *out)
{
	(void)a;
	out->confidence = json_number(json_get(j, "confidence"), -1);
	return out->confidence >= 0 && out->confidence <= 1
		       ? NULL
		       : "'confidence' is not a number from 0 to 1";
}

static const char *check_consistent(struct arena *a, const json *j, struct classification *out)
{
	(void)a;
	(void)j;
	return out->confident && out->confidence < confidence_min
		       ? "'confident' is true and 'confidence' is under 0.7"
		       : NULL;
}

/* {reviewer: one of the n words} */
static bool overrides(const json *map, const char *const *words, size_t n, const char **out)
{
	if (!json_is_object(map))
		return false;
	for (const json *m = json_first(map); m; m = json_next(m)) {
		enum reviewer r;
		size_t at;

		if (!reviewer_find(json_key(m), &r) || !find(words, n, json_text(m), &at))
			return false;
		out[r] = words[at];
	}
	return true;
}

static const char *check_models(struct arena *a, const json *j, struct classification *out)
{
	const json *map = json_get(j, "modelOverride");

	(void)a;
	return !map || overrides(map, models, COUNT(models), out->model_override)
		       ? NULL
		       : "'modelOverride' is not {reviewer: haiku, sonnet, opus or opus[1m]}";
}

static const char *check_harnesses(struct arena *a, const json *j, struct classification *out)
{
	const json *map = json_get(j, "harnessOverride");

	(void)a;
	return !map || overrides(map, harnesses, COUNT(harnesses), out->harness_override)
		       ? NULL
		       : "'harnessOverride' is not {reviewer: name of a harness}";
}

static check_fn *const checks[] = {check_object, check_reviewers, check_rationale, check_confident,
	check_confidence, check_consistent, check_models, check_harnesses};

/* Chooses all reviewers, whatever the answer is. */
static void fail_open(struct review_decision *out, enum fell_open why, const char *fault)
{
	out->open = why;
	out->fault = fault;
	out->of =
		(struct classification){.confidence = why == OPEN_UNSURE ? out->of.confidence : 0};
	for (int r = 0; r < REVIEWERS; r++)
		out->of.chosen[r] = true;
}

void classifier_read_answer(struct arena *a, const char *raw, struct review_decision *out)
{
	CLEANUP(json_free) json *j = NULL;
	struct error err;

	*out = (struct review_decision){.raw = raw};
	if (!raw)
		return fail_open(out, OPEN_INVOCATION, "the model could not be asked");
	if (strnlen(raw, ANSWER_MAX + 1) > ANSWER_MAX)
		return fail_open(out, OPEN_PARSE_ERROR, "the answer is over 1 MiB");
	if (json_parse(&j, str_trim(str_of(raw)), &err) < 0)
		return fail_open(out, OPEN_PARSE_ERROR, arena_printf(a, "%.200s", err.text));
	for (size_t i = 0; i < COUNT(checks); i++) {
		const char *fault = checks[i](a, j, &out->of);

		if (fault)
			return fail_open(out, OPEN_SCHEMA, fault);
	}
	if (!out->of.confident)
		fail_open(out, OPEN_UNSURE, "the model was not sure");
}
