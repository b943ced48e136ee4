#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/merge/requeue.h"

enum { HISTORY_MAX = 16 << 20 };

static const char name[] = "triage-history.jsonl";
static const char original[] = "original";

static bool known_trigger(const char *word)
{
	return strcmp(word, original) == 0 || strcmp(word, requeue_word(TRIGGER_OPERATOR)) == 0 ||
	       strcmp(word, requeue_word(TRIGGER_TIME)) == 0 ||
	       strcmp(word, requeue_word(TRIGGER_FAILURE)) == 0;
}

/* Other programs write fractions of seconds too. */
static bool triage_read_time(const char *text, int64_t *out)
{
	char plain[CLOCK_TEXT];
	size_t n = text ? strlen(text) : 0, digits;

	if (n < 20)
		return false;
	digits = text[19] == '.' ? strspn(text + 20, "0123456789") + 1 : 0;
	(void)snprintf(plain, sizeof(plain), "%.19s%s", text, n < 40 ? "Z" : "");
	return strcmp(text + 19 + digits, "Z") == 0 && clock_parse(plain, out) == 0;
}

/* At the top level, as it is written here, or in `score`. */
static double composite_of(const json *line)
{
	const json *own = json_get(line, "composite"), *score = json_get(line, "score");

	return json_number(own ? own : json_get(score, "composite"), 0);
}

static bool take_triage(struct arena *a, const json *line, int64_t at, struct triage_history *h)
{
	const char *trigger = json_get_str(line, "trigger");

	if (!trigger)
		return false;
	h->triages[h->n++] = (struct triage){.trigger = arena_dup(a, str_of(trigger)),
		.detail = json_dup(a, line, "triggerDetail"),
		.composite = composite_of(line),
		.cost_usd = json_number(json_get(line, "costUsd"), 0),
		.model = json_dup(a, line, "model"),
		.at = at};
	if (at > h->last_triage)
		h->last_triage = at;
	return true;
}

static bool triage_take_failure(
	struct arena *a, const json *line, int64_t at, struct triage_history *h)
{
	const char *type = json_get_str(line, "failure");

	if (json_get_str(line, "reset")) {
		h->n_failures = 0;
		return true;
	}
	if (!type)
		return false;
	h->failures[h->n_failures++] = (struct past_failure){arena_dup(a, str_of(type)), at};
	return true;
}

static void triage_take_line(struct arena *a, struct str text, struct triage_history *h)
{
	CLEANUP(json_free) json *line = NULL;
	struct error odd;
	int64_t at;

	if (!str_trim(text).n)
		return;
	if (json_parse(&line, text, &odd) < 0 || !json_is_object(line) ||
		!triage_read_time(json_get_str(line, "timestamp"), &at) ||
		(!take_triage(a, line, at, h) && !triage_take_failure(a, line, at, h)))
		h->skipped++;
}

int triage_read(struct arena *a, const char *artifacts, const char *issue,
	struct triage_history *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t lines = 1;
	bool missing;
	char *path;

	*out = (struct triage_history){.last_triage = -1};
	if (artifact_path(a, artifacts, issue, name, &path, err) < 0)
		return -1;
	if (sys_read_file(&text, path, HISTORY_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.s[i] == '\n';
	out->triages = arena_alloc(a, lines * sizeof(*out->triages));
	out->failures = arena_alloc(a, lines * sizeof(*out->failures));
	for (rest = buf_str(&text); str_line(&rest, &line);)
		triage_take_line(a, line, out);
	return 0;
}

unsigned triage_recent(const struct triage_history *h, int64_t now)
{
	unsigned n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += strcmp(h->triages[i].trigger, original) != 0 &&
		     now - h->triages[i].at <= FAILURE_WINDOW_S;
	return n;
}

/* Digits of 0.3 - 0.1 after the ninth carry no information. */
static double difference(double a, double b)
{
	double d = (a - b) * 1e9;

	return (double)(int64_t)(d < 0 ? d - 0.5 : d + 0.5) / 1e9;
}

static json *triage_print(const struct triage *t, const struct triage_history *before)
{
	json *delta = NULL;

	if (before->n)
		delta = JSON_OBJECT(JSON_NUMBER("composite",
			difference(t->composite, before->triages[before->n - 1].composite)));
	return JSON_OBJECT(JSON_TIME("timestamp", t->at ? t->at : clock_now()),
		JSON_TEXT("trigger", t->trigger),
		JSON_IF(t->detail, JSON_TEXT("triggerDetail", t->detail)),
		JSON_NUMBER("composite", t->composite),
		JSON_IF(delta, JSON_VALUE("deltaFromPrevious", delta)),
		JSON_IF(t->model, JSON_TEXT("model", t->model)),
		JSON_IF(t->cost_usd > 0, JSON_NUMBER("costUsd", t->cost_usd)));
}

static int tell_storm(const char *artifacts, const char *issue, unsigned count, struct error *err)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(
		JSON_INT("count", count), JSON_INT("windowHours", FAILURE_WINDOW_S / 3600));
	struct event h = {.id = EVENT_RETRIAGE_STORM, .issue = issue, .fields = fields};

	return event_emit(artifacts, &h, err);
}

int triage_append(const char *artifacts, const char *issue, const struct triage *t, unsigned *count,
	bool *storm, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *line = NULL;
	struct triage_history h;

	if (!known_trigger(t->trigger))
		return error_set(err, ERR_USAGE,
			"unknown trigger '%.60s': one of original, time-threshold, failure-type, "
			"operator-requeue",
			t->trigger);
	if (triage_read(&a, artifacts, issue, &h, err) < 0)
		return -1;
	line = triage_print(t, &h);
	if (artifact_append(artifacts, issue, name, line, err) < 0 ||
		triage_read(&a, artifacts, issue, &h, err) < 0)
		return -1;
	*count = triage_recent(&h, clock_now());
	*storm = *count > STORM_LIMIT;
	return *storm ? tell_storm(artifacts, issue, *count, err) : 0;
}

int triage_reset(const char *artifacts, const char *issue, const char *why, struct error *err)
{
	CLEANUP(json_free)
	json *line = JSON_OBJECT(JSON_TIME("timestamp", clock_now()), JSON_TEXT("reset", why));

	return artifact_append(artifacts, issue, name, line, err);
}
