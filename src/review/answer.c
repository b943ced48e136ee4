#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/event/artifact.h"
#include "src/review/classifier.h"
#include "src/sys/path.h"

enum { ANSWER_MAX = 1 << 20, RAW_KEPT = 64 << 10, PATHS_KEPT = 2000 };

static const double confidence_min = 0.7;

static const char *const reviewers[] = {"testing", "critic", "security", NULL};
static const char *const models[] = {"haiku", "sonnet", "opus", "opus[1m]", NULL};
static const char *const harnesses[] = {
	"claude-code", "codex", "gemini-cli", "opencode", "aider", "generic-api", NULL};

const char *reviewer_word(enum reviewer r)
{
	return reviewers[r];
}

bool reviewer_find(const char *word, enum reviewer *out)
{
	unsigned at;

	if (!str_index(str_of(word), reviewers, &at))
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

struct answer_reader {
	struct arena *arena;
	const json *answer;
	struct classification *out;
};

/* Returns NULL, or what is wrong. The checks run in the order of the table; the first fault counts.
 */
typedef const char *check_fn(struct answer_reader *r);

static const char *check_reviewers(struct answer_reader *r)
{
	const json *list = json_get(r->answer, "reviewers");

	if (!json_is_array(list))
		return "'reviewers' is not an array";
	for (const json *item = json_first(list); item; item = json_next(item)) {
		enum reviewer reviewer;

		if (!reviewer_find(json_text(item), &reviewer))
			return "'reviewers' has one that is not testing, critic or security";
		if (r->out->chosen[reviewer])
			return "'reviewers' names one twice";
		r->out->chosen[reviewer] = true;
	}
	return NULL;
}

static const char *check_rationale(struct answer_reader *r)
{
	const json *texts = json_get(r->answer, "rationale");

	if (!json_is_object(texts))
		return "'rationale' is not an object";
	for (const json *m = json_first(texts); m; m = json_next(m)) {
		const char *text = json_text(m);
		enum reviewer reviewer;

		if (!text)
			return "'rationale' has a member that is not a text";
		if (reviewer_find(json_key(m), &reviewer))
			r->out->rationale[reviewer] =
				arena_dup(r->arena, (struct str){text, strnlen(text, RAW_KEPT)});
	}
	return NULL;
}

static const char *check_confidence(struct answer_reader *r)
{
	const json *confident = json_get(r->answer, "confident");

	r->out->confident = json_is_true(confident);
	r->out->confidence = json_number(json_get(r->answer, "confidence"), -1);
	if (!json_is_bool(confident))
		return "'confident' is not true or false";
	if (!(r->out->confidence >= 0 && r->out->confidence <= 1))
		return "'confidence' is not a number from 0 to 1";
	return r->out->confident && r->out->confidence < confidence_min
		       ? "'confident' is true and 'confidence' is under 0.7"
		       : NULL;
}

/* {reviewer: one of the words} */
static bool overrides(const json *map, const char *const *words, const char **out)
{
	if (!json_is_object(map))
		return false;
	for (const json *m = json_first(map); m; m = json_next(m)) {
		enum reviewer r;
		unsigned at;

		if (!reviewer_find(json_key(m), &r) || !str_index(str_of(json_text(m)), words, &at))
			return false;
		out[r] = words[at];
	}
	return true;
}

static const char *check_overrides(struct answer_reader *r)
{
	const json *models_of = json_get(r->answer, "modelOverride");
	const json *harnesses_of = json_get(r->answer, "harnessOverride");

	if (models_of && !overrides(models_of, models, r->out->model_override))
		return "'modelOverride' is not {reviewer: haiku, sonnet, opus or opus[1m]}";
	if (harnesses_of && !overrides(harnesses_of, harnesses, r->out->harness_override))
		return "'harnessOverride' is not {reviewer: name of a harness}";
	return NULL;
}

static check_fn *const checks[] = {
	check_reviewers, check_rationale, check_confidence, check_overrides};

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
	struct answer_reader r = {.arena = a, .out = &out->of};
	struct error err;

	*out = (struct review_decision){.raw = raw};
	if (!raw)
		return fail_open(out, OPEN_INVOCATION, "the model could not be asked");
	if (strnlen(raw, ANSWER_MAX + 1) > ANSWER_MAX)
		return fail_open(out, OPEN_PARSE_ERROR, "the answer is over 1 MiB");
	if (json_parse(&j, str_trim(str_of(raw)), &err) < 0)
		return fail_open(out, OPEN_PARSE_ERROR, arena_printf(a, "%.200s", err.text));
	if (!json_is_object(j))
		return fail_open(out, OPEN_SCHEMA, "the answer is not an object");
	r.answer = j;
	for (size_t i = 0; i < COUNT(checks); i++) {
		const char *fault = checks[i](&r);

		if (fault)
			return fail_open(out, OPEN_SCHEMA, fault);
	}
	if (!out->of.confident)
		fail_open(out, OPEN_UNSURE, "the model was not sure");
}

/* ---- the record ---- */

#define CLASSIFIER_SCHEMA "schemas/artifacts/classifier.schema.json#v1"

static json *review_answer_words_of(const bool set[REVIEWERS])
{
	json *list = json_array();

	for (int r = 0; r < REVIEWERS; r++)
		if (set[r])
			json_push_str(list, str_of(reviewer_word((enum reviewer)r)));
	return list;
}

static json *texts_of(const char *const texts[REVIEWERS])
{
	json *map = json_object();

	for (int r = 0; r < REVIEWERS; r++)
		if (texts[r])
			JSON_ADD(map, JSON_TEXT(reviewer_word((enum reviewer)r), texts[r]));
	return map;
}

static bool review_answer_has_text(const char *const texts[REVIEWERS])
{
	return texts[REVIEW_TESTING] || texts[REVIEW_CRITIC] || texts[REVIEW_SECURITY];
}

static json *put_classification(json *j, const struct classification *c)
{
	return JSON_ADD(j, JSON_VALUE("reviewers", review_answer_words_of(c->chosen)),
		JSON_VALUE("rationale", texts_of(c->rationale)),
		JSON_BOOL("confident", c->confident), JSON_NUMBER("confidence", c->confidence),
		JSON_IF(review_answer_has_text(c->model_override),
			JSON_VALUE("modelOverride", texts_of(c->model_override))),
		JSON_IF(review_answer_has_text(c->harness_override),
			JSON_VALUE("harnessOverride", texts_of(c->harness_override))));
}

json *review_decision_json(const struct review_decision *d)
{
	CLEANUP(buf_release) struct buf raw = BUF_INIT;

	if (d->raw)
		buf_add(&raw, (struct str){d->raw, strnlen(d->raw, RAW_KEPT)});
	return JSON_ADD(
		put_classification(JSON_OBJECT(JSON_TEXT("$schema", CLASSIFIER_SCHEMA)), &d->of),
		JSON_BOOL("fellOpen", d->open != NOT_OPEN),
		JSON_TEXT("fellOpenReason", fell_open_word(d->open)),
		JSON_TEXT("rawOutput", raw.s ? raw.s : d->raw), JSON_TEXT("parseError", d->fault),
		JSON_VALUE("addedByRules", review_answer_words_of(d->added_by_rules)));
}

static json *stats_json(const struct change_stats *s)
{
	json *paths = json_array();

	for (size_t i = 0; i < s->files && i < PATHS_KEPT; i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		buf_adds(&b, s->paths[i]);
		buf_utf8_repair(&b);
		json_push_str(paths, buf_str(&b));
	}
	return JSON_OBJECT(JSON_INT("filesChanged", s->files), JSON_VALUE("paths", paths),
		JSON_INT("linesAdded", s->added), JSON_INT("linesRemoved", s->removed));
}

/* The model's or the rules' own classification, which calibration is about. NULL: none. */
static json *original_output(const struct review_decision *d)
{
	json *j = NULL;
	struct error err;

	if (d->open == OPEN_UNSURE && json_parse(&j, str_trim(str_of(d->raw)), &err) == 0)
		return j;
	return d->open == NOT_OPEN ? put_classification(json_object(), &d->of) : NULL;
}

static json *calibration_line(const char *issue, unsigned pr, const struct change_stats *s,
	const struct review_decision *d)
{
	json *output = original_output(d);

	return JSON_OBJECT(JSON_TIME("timestamp", clock_now()), JSON_TEXT("issueId", issue),
		JSON_IF(pr, JSON_INT("prNumber", pr)), JSON_VALUE("diffStats", stats_json(s)),
		output ? JSON_VALUE("classifierOutput", output)
		       : JSON_TEXT("classifierOutput", NULL),
		JSON_BOOL("fellOpen", d->open != NOT_OPEN),
		JSON_TEXT("fellOpenReason", fell_open_word(d->open)),
		JSON_TEXT("humanOverrideAfterMerge", NULL));
}

int classifier_record(const char *artifacts, const char *issue, unsigned pr,
	const struct change_stats *s, const struct review_decision *d, struct error *err)
{
	CLEANUP(json_free) json *decision = review_decision_json(d);
	CLEANUP(json_free) json *line = NULL;

	if (artifact_write(artifacts, issue, "review/classifier.json", decision, err) < 0)
		return -1;
	line = calibration_line(issue, pr, s, d);
	return artifact_append(artifacts, CLASSIFIER_SCOPE, CALIBRATION_LOG, line, err);
}

/* ---- feedback ---- */

struct feedback_search {
	const struct review_feedback *f;
	const char *artifacts;
	struct str hit; /* the line in the text */
	json *line;     /* the same, parsed */
};

/* The pull request of a line's issue, by the line or by pr.json; 0: not known. */
static int64_t pr_of(const struct feedback_search *q, const json *line)
{
	CLEANUP(json_free) json *file = NULL;
	int64_t pr = json_get_int(line, "prNumber", 0);
	const char *issue = json_get_str(line, "issueId");
	struct error none;

	if (!pr && artifact_read(q->artifacts, issue, "pr.json", &file, &none) == 0)
		pr = json_get_int(file, "number", 0);
	return pr;
}

static bool concerns(const struct feedback_search *q, const json *line)
{
	const char *issue = json_get_str(line, "issueId");

	if (!issue)
		return false;
	return q->f->issue ? strcmp(q->f->issue, issue) == 0 : pr_of(q, line) == q->f->pr;
}

/* The newest line that matches. */
static void find_line(struct feedback_search *q, struct str text)
{
	struct str line;

	while (str_line(&text, &line)) {
		CLEANUP(json_free) json *j = NULL;
		struct error invalid;

		if (json_parse(&j, line, &invalid) < 0 || !json_is_object(j) || !concerns(q, j))
			continue;
		json_free(&q->line);
		q->line = j;
		q->hit = line;
		j = NULL;
	}
}

static json *note_json(const struct review_feedback *f)
{
	return JSON_OBJECT(JSON_TEXT("addedReviewer", reviewer_word(f->added)),
		JSON_TEXT("reason", f->reason),
		f->pr ? JSON_INT("prNumber", f->pr) : JSON_TEXT("prNumber", NULL),
		JSON_TIME("attributedAt", clock_now()));
}

/* A known number of the issue must be the given one. */
static int check_pr(const struct feedback_search *q, struct error *err)
{
	const char *issue = json_get_str(q->line, "issueId");
	int64_t known = pr_of(q, q->line);

	if (!q->f->pr || !known || known == q->f->pr)
		return 0;
	return error_set(err, ERR_STATE, "the pull request of '%s' is %lld, not %u", issue,
		(long long)known, q->f->pr);
}

static int edit(void *data, struct str old, struct buf *fresh, struct error *err)
{
	struct feedback_search *q = data;
	const json *note;
	size_t at;

	find_line(q, old);
	if (!q->line && q->f->issue)
		return error_set(err, ERR_STATE, "no classification of '%s'", q->f->issue);
	if (!q->line)
		return error_set(err, ERR_STATE, "no classification of pull request %u", q->f->pr);
	if (check_pr(q, err) < 0)
		return -1;
	note = json_get(q->line, "humanOverrideAfterMerge");
	if (note && !json_is_null(note))
		return error_set(err, ERR_STATE,
			"the newest classification of '%s' already has feedback",
			json_get_str(q->line, "issueId"));
	at = (size_t)(q->hit.p - old.p);
	json_set(q->line, "humanOverrideAfterMerge", note_json(q->f));
	buf_add(fresh, str_sub(old, 0, at));
	json_print(fresh, q->line);
	buf_add(fresh, str_sub(old, at + q->hit.n, old.n));
	return 0;
}

int classifier_feedback(const char *artifacts, const struct review_feedback *f, struct error *err)
{
	struct feedback_search q = {.f = f, .artifacts = artifacts};
	int rc;

	if (!f->issue && !f->pr)
		return error_set(err, ERR_USAGE, "feedback needs an issue or a pull request");
	rc = artifact_edit(artifacts, CLASSIFIER_SCOPE, CALIBRATION_LOG, edit, &q, err);
	json_free(&q.line);
	return rc;
}

/* ---- the whole decision ---- */

/* *raw NULL: the model could not be called. */
static int load_answer(struct arena *a, const char *file, const char **raw, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing = false;

	*raw = NULL;
	if (strcmp(file, "-") == 0) {
		if (sys_read_all(&text, STDIN_FILENO, ANSWER_MAX, "standard input", err) < 0)
			return -1;
	} else if (sys_read_file(&text, file, ANSWER_MAX, &missing, err) < 0) {
		if (!missing && err->code != ERR_INPUT)
			return -1;
		error_log("dev-team: no answer in '%s': all three review", file);
		return 0;
	}
	for (size_t i = 0; i < text.len; i++)
		if (!text.s[i])
			text.s[i] = '?'; /* a NUL byte must not end the answer early */
	*raw = arena_dup(a, buf_str(&text));
	return 0;
}

int classifier_decide(struct arena *a, const struct change_stats *s, const char *answer,
	struct review_decision *out, struct error *err)
{
	const char *raw;

	*out = (struct review_decision){0};
	if (!answer) {
		classifier_apply_rules(a, s, &out->of);
		return 0;
	}
	if (load_answer(a, answer, &raw, err) < 0)
		return -1;
	classifier_read_answer(a, raw, out);
	classifier_add_required(a, s, out);
	return 0;
}
