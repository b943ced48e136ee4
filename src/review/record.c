#include "src/base/clock.h"
#include "src/review/classifier.h"

#define CLASSIFIER_SCHEMA "schemas/artifacts/classifier.schema.json#v1"

enum { RAW_KEPT = 64 << 10, PATHS_KEPT = 2000 };

/* Texts of models and names of files can be any bytes. */
static void put_text(json *j, const char *key, const char *text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	if (!text) {
		json_put_null(j, key);
		return;
	}
	buf_add(&b, (struct str){text, strnlen(text, RAW_KEPT)});
	utf8_mend(&b);
	json_put_str(j, key, buf_str(&b));
}

static json *words_of(const bool set[REVIEWERS])
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
			put_text(map, reviewer_word((enum reviewer)r), texts[r]);
	return map;
}

static void put_overrides(json *j, const char *key, const char *const texts[REVIEWERS])
{
	json *map = texts_of(texts);

	if (json_first(map))
		json_put(j, key, map);
	else
		json_free(&map);
}

static void put_classification(json *j, const struct classification *c)
{
	json_put(j, "reviewers", words_of(c->chosen));
	json_put(j, "rationale", texts_of(c->rationale));
	json_put_bool(j, "confident", c->confident);
	json_put_number(j, "confidence", c->confidence);
	put_overrides(j, "modelOverride", c->model_override);
	put_overrides(j, "harnessOverride", c->harness_override);
}

json *decision_json(const struct review_decision *d)
{
	json *j = json_object();

	json_put_str(j, "$schema", STR(CLASSIFIER_SCHEMA));
	put_classification(j, &d->of);
	json_put_bool(j, "fellOpen", d->open != NOT_OPEN);
	put_text(j, "fellOpenReason", fell_open_word(d->open));
	put_text(j, "rawOutput", d->raw);
	put_text(j, "parseError", d->fault);
	json_put(j, "addedByRules", words_of(d->added_by_rules));
	return j;
}

static json *stats_json(const struct change_stats *s)
{
	json *j = json_object(), *paths = json_array();

	json_put_int(j, "filesChanged", (int64_t)s->files);
	for (size_t i = 0; i < s->files && i < PATHS_KEPT; i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		buf_adds(&b, s->paths[i]);
		utf8_mend(&b);
		json_push_str(paths, buf_str(&b));
	}
	json_put(j, "paths", paths);
	json_put_int(j, "linesAdded", s->added);
	json_put_int(j, "linesRemoved", s->removed);
	return j;
}

/* What the model or the rules said, not what became of it: that is what is to be calibrated. */
static json *said(const struct review_decision *d)
{
	json *j = NULL;
	struct error err;

	if (d->open == OPEN_UNSURE && json_parse(&j, str_trim(str_of(d->raw)), &err) == 0)
		return j;
	if (d->open != NOT_OPEN)
		return NULL;
	j = json_object();
	put_classification(j, &d->of);
	return j;
}

static json *calibration_line(const char *issue, unsigned pr, const struct change_stats *s,
	const struct review_decision *d)
{
	json *j = json_object(), *output = said(d);
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	json_put_str(j, "timestamp", str_of(now));
	json_put_str(j, "issueId", str_of(issue));
	if (pr)
		json_put_int(j, "prNumber", pr);
	json_put(j, "diffStats", stats_json(s));
	if (output)
		json_put(j, "classifierOutput", output);
	else
		json_put_null(j, "classifierOutput");
	json_put_bool(j, "fellOpen", d->open != NOT_OPEN);
	put_text(j, "fellOpenReason", fell_open_word(d->open));
	json_put_null(j, "humanOverrideAfterMerge");
	return j;
}

int classifier_record(const char *artifacts, const char *issue, unsigned pr,
	const struct change_stats *s, const struct review_decision *d, struct error *err)
{
	CLEANUP(json_free) json *decision = decision_json(d);
	CLEANUP(json_free) json *line = NULL;

	if (artifact_write(artifacts, issue, "review/classifier.json", decision, err) < 0)
		return -1;
	line = calibration_line(issue, pr, s, d);
	return artifact_append(artifacts, CLASSIFIER_SCOPE, CALIBRATION_LOG, line, err);
}
