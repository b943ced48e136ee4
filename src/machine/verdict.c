#include <ctype.h>
#include <strings.h>
#include "src/machine/verdict.h"
#include "src/sys/forge.h"

static json *object_of(struct str text)
{
	json *j = NULL;
	struct error ignored;

	text = str_trim(text);
	if (!str_starts(text, "{") || !str_ends(text, "}") || json_parse(&j, text, &ignored) < 0)
		return NULL;
	if (!json_is_object(j))
		json_free(&j);
	return j;
}

/* If it cannot be parsed, no earlier verdict may replace it. */
static bool resembles_verdict(struct str text)
{
	return str_find(text, STR("\"status\"")) < text.n ||
	       str_find(text, STR("\"action\"")) < text.n;
}

/* What is parsed in vain: an answer may have many lines that end with `}`. */
enum { END_MAX = 1 << 16, TRIES = 64, WORK_MAX = 64 << 20 };

static bool begins_line(struct str text, size_t i)
{
	while (i && (text.p[i - 1] == ' ' || text.p[i - 1] == '\t'))
		i--;
	return !i || text.p[i - 1] == '\n' || str_eq(str_sub(text, 0, i), STR("\xEF\xBB\xBF"));
}

/* The object that the text ends with, at *at; it may have several lines. `anywhere`: it need not
 * begin a line. *work grows by the bytes that were parsed. */
static json *object_at_end(struct str text, bool anywhere, size_t *at, size_t *work)
{
	size_t tries = 0, least;
	json *j = NULL;

	text = str_trim(text);
	least = text.n > END_MAX ? text.n - END_MAX : 0;
	for (*at = text.n; !j && (*at)-- > least && tries < TRIES && str_ends(text, "}");)
		if (text.p[*at] == '{' && (anywhere || begins_line(text, *at))) {
			j = object_of(str_sub(text, *at, text.n));
			*work += text.n - *at;
			tries++;
		}
	return j;
}

/* The last object that begins a line and ends one, whatever is around it. */
json *verdict_json(struct str text)
{
	size_t work = 0, end = text.n, after = text.n, at;

	while (end && work < WORK_MAX) {
		const char *nl = memrchr(text.p, '\n', end);
		size_t start = nl ? (size_t)(nl - text.p) + 1 : 0;
		struct str line = str_trim(str_sub(text, start, end));
		json *j = object_of(line);

		if (!j && str_ends(line, "}"))
			j = object_at_end(str_sub(text, 0, end), false, &at, &work);
		if (j)
			return j;
		if (str_starts(line, "{")) {
			if (resembles_verdict(str_sub(text, start, after)))
				return NULL;
			after = start;
		}
		end = start ? start - 1 : 0;
	}
	return NULL;
}

bool verdict_word_byte(struct str s, size_t i)
{
	unsigned char lead;

	if (i >= s.n)
		return false;
	if (!((unsigned char)s.p[i] & 0x80))
		return isalnum((unsigned char)s.p[i]) || s.p[i] == '_' || s.p[i] == '-';
	while (i && ((unsigned char)s.p[i] & 0xc0) == 0x80)
		i--;
	lead = (unsigned char)s.p[i];
	return lead != 0xc2 && lead != 0xe2 &&
	       !(lead == 0xe3 && i + 1 < s.n && (unsigned char)s.p[i + 1] == 0x80);
}

bool verdict_word(struct str text, const char *member, char *out, size_t size)
{
	CLEANUP(json_free) json *j = verdict_json(text);
	const char *word = json_get_str(j, member);

	if (word)
		(void)snprintf(out, size, "%s", strlen(word) < size ? word : "?");
	return word != NULL;
}

/* The JSON array that begins at `i`; *end: behind it. NULL: there is none. *work grows by the bytes
 * that were parsed. */
static json *array_at(struct str text, size_t i, size_t *end, size_t *work)
{
	for (*end = i; *end < text.n && *work < WORK_MAX;) {
		json *j = NULL;
		struct error ignored;

		*end += str_find(str_sub(text, *end, text.n), STR("]")) + 1;
		if (*end > text.n)
			break;
		*work += *end - i;
		if (json_parse_foreign(&j, str_sub(text, i, *end), &ignored) == 0)
			return j;
	}
	return NULL;
}

/* Criteria: objects of which at least one has a status. */
static bool has_status(const json *array)
{
	bool has = false;

	for (const json *one = json_first(array); one; one = json_next(one))
		has = has || (json_is_object(one) && json_get(one, "status"));
	return has;
}

/* The first status that is not `pass`; NULL: all are. */
static const char *open_status(const json *criteria)
{
	for (const json *one = json_first(criteria); one; one = json_next(one))
		if (!json_is_object(one) || !json_str_is(one, "status", "pass")) {
			const char *status =
				json_is_object(one) ? json_get_str(one, "status") : NULL;

			return status ? status : "missing";
		}
	return NULL;
}

/* The last JSON array of criteria in the text, objects of which at least one has a `status`, has
 * one that is not `pass`: its status, or `missing`, is copied to out. */
static bool has_open_criterion(struct str text, char *out, size_t size)
{
	size_t work = 0, end;
	bool open = false;

	for (size_t i = 0; i < text.n; i++) {
		CLEANUP(json_free) json *array = NULL;
		size_t next = i + 1;
		const char *status;

		while (next < text.n && strchr(" \t\r\n", text.p[next]))
			next++;
		if (text.p[i] != '[' || next == text.n || text.p[next] != '{')
			continue;
		array = array_at(text, i, &end, &work);
		if (!array)
			continue;
		i = end - 1;
		if (!has_status(array))
			continue;
		status = open_status(array);
		open = status != NULL;
		(void)snprintf(out, size, "%s", !open ? "" : strlen(status) < size ? status : "?");
	}
	return open;
}

struct str verdict_pr_url(struct str text)
{
	struct forge_pull p;

	return forge_find_pull(text, &p) ? p.url : (struct str){"", 0};
}

/* ---- the word of an object ---- */

const char *verdict_format_word(struct arena *a, const char *format, const char *const *wanted)
{
	struct str rest = str_of(format), word;

	while (str_piece(&rest, '|', &word))
		if (!wanted || str_in(str_trim(word), wanted))
			return arena_dup(a, str_trim(word));
	return NULL;
}

/* What an object says of the work, beside its word. */
enum opinion { NO_OPINION, GOOD, BAD };

static const char *word_of(struct arena *a, const char *format, enum opinion o)
{
	static const char *const good[] = {"approved", "validated", NULL},
				 *const bad[] = {"changes_requested", "failed", NULL};
	const char *word = verdict_format_word(a, format, o == GOOD ? good : bad);

	return word || o == BAD ? word : verdict_format_word(a, format, NULL);
}

/* The verdict of a reviewer. *why: the member that says so. */
static int review_opinion(
	struct arena *a, const json *object, enum opinion *o, const char **why, struct error *err)
{
	const json *approved = json_get(object, "approved"), *list = json_get(object, "findings");

	if (approved && !json_is_bool(approved))
		return error_set(err, ERR_INPUT, "'approved' must be true or false");
	if (approved && list && !json_is_array(list))
		return error_set(err, ERR_INPUT, "'findings' must be a list");
	if (approved) {
		*o = json_is_true(approved) ? GOOD : BAD;
		*why = *o == GOOD ? "'approved' is true" : "'approved' is false";
	}
	for (const json *f = json_is_array(list) ? json_first(list) : NULL; f; f = json_next(f)) {
		const char *severity = json_is_object(f) ? json_get_str(f, "severity") : NULL;

		if (!severity || (strcasecmp(severity, "critical") != 0 &&
					 strcasecmp(severity, "major") != 0))
			continue;
		*o = BAD;
		*why = arena_printf(a, "a finding is '%s'", severity);
	}
	return 0;
}

/* What the members of a developer's envelope are, as far as they are there. */
static int check_envelope(const json *object, struct error *err)
{
	const json *files = json_get(object, "filesChanged"),
		   *met = json_get(object, "acceptanceCriteriaMet"),
		   *checks = json_get(object, "verifications");

	if (json_get(object, "summary") && !json_get_str(object, "summary"))
		return error_set(err, ERR_INPUT, "'summary' must be a text");
	if (checks && !json_is_object(checks))
		return error_set(err, ERR_INPUT, "'verifications' must be an object");
	for (const json *i = json_first(files); i && json_is_array(files); i = json_next(i))
		files = json_text(i) ? files : i;
	if (files && !json_is_array(files))
		return error_set(err, ERR_INPUT, "'filesChanged' must be a list of texts");
	for (const json *i = json_first(met); i && json_is_array(met); i = json_next(i))
		met = json_int(i, 0) > 0 ? met : i;
	if (met && !json_is_array(met))
		return error_set(
			err, ERR_INPUT, "'acceptanceCriteriaMet' must be a list of numbers from 1");
	return 0;
}

/* The envelope of a developer, which must be *whole in place of a word: `alone`. */
static int envelope_opinion(struct arena *a, const json *object, bool alone, enum opinion *o,
	const char **why, bool *whole, struct error *err)
{
	static const char *const keys[] = {
		"summary", "filesChanged", "commitSha", "verifications", "acceptanceCriteriaMet"};
	static const char *const checks[] = {"build", "test", "lint", "format"};
	static const char *const words[] = {"passed", "failed", "skipped", NULL};
	const json *commit = json_get(object, "commitSha"),
		   *all = json_get(object, "verifications");

	*whole = true;
	for (size_t i = 0; i < COUNT(keys); i++)
		*whole = *whole && json_get(object, keys[i]);
	if (alone && (commit || all) && check_envelope(object, err) < 0)
		return -1;
	if (alone && commit && !json_text(commit) && !json_is_null(commit))
		return error_set(err, ERR_INPUT, "'commitSha' must be a text or null");
	if (json_is_null(commit)) {
		*o = BAD;
		*why = "'commitSha' is null";
	}
	for (size_t i = 0; all && i < COUNT(checks); i++) {
		const char *check = json_get_str(all, checks[i]);

		if (alone && (!check || !str_in(str_of(check), words)))
			return error_set(err, ERR_INPUT,
				"'verifications.%s' must be passed, failed or skipped", checks[i]);
		if (!check || strcmp(check, "failed") != 0)
			continue;
		*o = BAD;
		*why = arena_printf(a, "'verifications.%s' is failed", checks[i]);
	}
	return 0;
}

static bool is_word(struct arena *a, const char *format, const char *word)
{
	return verdict_format_word(a, format, (const char *const[]){word, NULL}) != NULL;
}

static int refuse_word(const char *word, struct error *err, const char *own)
{
	return error_set(err, ERR_INPUT, "result '%s' contradicts the answer%.200s", word, own);
}

/* Beside `approved` another word is no approval; other formats have words that say neither. */
static bool disagrees(struct arena *a, const char *format, const char *word, enum opinion o)
{
	const char *good = word_of(a, format, GOOD), *bad = word_of(a, format, BAD);

	if (o == BAD)
		return strcmp(word, good) == 0;
	return o == GOOD && strcmp(word, good) != 0 &&
	       (strcmp(good, "approved") == 0 || (bad && strcmp(word, bad) == 0));
}

/* Whether a format's word is a judgement of work, not a report of one's own. */
static bool judges(struct arena *a, const char *format)
{
	return is_word(a, format, "approved") || is_word(a, format, "validated") ||
	       !is_word(a, format, "failed");
}

static int object_word(struct arena *a, const json *object, const char *member, const char *format,
	const char **word, struct error *err)
{
	const char *own = json_dup(a, object, member), *why = "";
	enum opinion o = NO_OPINION;
	bool whole = true, judge = judges(a, format);

	if (*word && own && strcmp(*word, own) != 0 && is_word(a, format, own))
		return refuse_word(*word, err, arena_printf(a, "'s own '%.60s'", own));
	*word = *word ? *word : own;
	/* Members of a troubleshooter's or a node's answer are its own. */
	if (!json_is_object(object) || strcmp(member, "status") != 0 ||
		is_word(a, format, "success"))
		return 0;
	/* Beside a word, an object of the other kind is a part of the work: an example, or the
	 * findings that were fixed. */
	if (((!*word || judge) && review_opinion(a, object, &o, &why, err) < 0) ||
		((!*word || !judge) &&
			envelope_opinion(a, object, !*word, &o, &why, &whole, err) < 0))
		return -1;
	if (*word)
		return disagrees(a, format, *word, o)
			       ? refuse_word(*word, err, arena_printf(a, ": %s", why))
			       : 0;
	if (json_get(object, "commitSha") || json_get(object, "verifications"))
		o = whole && o != BAD ? GOOD : BAD;
	*word = o == NO_OPINION ? NULL : word_of(a, format, o);
	return 0;
}

int verdict_object_word(struct arena *a, const json *object, const char *format, const char **word,
	struct error *err)
{
	return object_word(a, object, "status", format, word, err);
}

/* ---- the word of a text ---- */

static char *expectation(struct arena *a, const char *member, const char *format)
{
	return arena_printf(a,
		"must be %s, in the last line of the answer, {\"%s\": \"WORD\"}, or by "
		"'record --result WORD'",
		format, member);
}

/* An object that ends the text, wherever in its line it begins; marks of formatting and a full stop
 * may follow. It decides nothing, but must not contradict the word. */
static json *last_object(struct str text)
{
	size_t work = 0, at;

	while (text.n && strchr(" \t\r\n`*_.)", text.p[text.n - 1]))
		text.n--;
	return object_at_end(text, true, &at, &work);
}

/* The objects that must agree with the word: the last one; one that ends the text within a line;
 * and one that a last line with the word alone follows, unless it has a word of its own. Each is
 * the caller's to free. */
enum { OBJECTS = 3 };

static void read_objects(struct str text, const char *member, json *out[OBJECTS])
{
	struct str before = verdict_prose(text);

	out[0] = verdict_json(text);
	out[1] = last_object(text);
	out[2] = before.n < text.n ? last_object(before) : NULL;
	if (json_is_object(out[2]) && json_get(out[2], member))
		json_free(&out[2]);
}

const char *verdict_commit(struct arena *a, struct str text)
{
	const char *commit = NULL;
	json *objects[OBJECTS];

	read_objects(text, "status", objects);
	for (size_t i = 0; i < OBJECTS; i++) {
		if (!commit && json_is_object(objects[i]))
			commit = json_dup(a, objects[i], "commitSha");
		json_free(&objects[i]);
	}
	return commit;
}

static int text_word(struct arena *a, json *const objects[OBJECTS], const char *member,
	const char *format, const char **word, struct error *err)
{
	const char *fault = NULL;

	if (!*word)
		*word = json_dup(a, objects[0], member);
	if (!*word)
		fault = "the answer has no result";
	else if (!is_word(a, format, *word))
		fault = arena_printf(a, "unknown result '%.60s'", *word);
	if (fault)
		return error_set(err, ERR_INPUT, "%s: %s", fault, expectation(a, member, format));
	for (size_t i = 0; i < OBJECTS; i++)
		if (objects[i] && object_word(a, objects[i], member, format, word, err) < 0)
			return -1;
	return 0;
}

int verdict_text_word(struct arena *a, struct str text, const char *member, const char *format,
	const char **word, struct error *err)
{
	json *objects[OBJECTS];
	char status[64];
	int rc;

	read_objects(text, member, objects);
	rc = text_word(a, objects, member, format, word, err);
	for (size_t i = 0; i < OBJECTS; i++)
		json_free(&objects[i]);
	if (rc == 0 && strcmp(*word, "validated") == 0 &&
		has_open_criterion(text, status, sizeof(status)))
		return error_set(err, ERR_INPUT,
			"result 'validated' contradicts the answer: a criterion has the status "
			"'%s', not 'pass'",
			status);
	return rc;
}

struct str verdict_prose(struct str text)
{
	static const char *const words[] = {
		"status", "action", "reason", "question", "state_changes", NULL};
	struct str rest = text;
	size_t work = 0, at = 0;
	CLEANUP(json_free) json *object = NULL;

	while (rest.n && strchr(" \t\r\n`", rest.p[rest.n - 1]))
		rest.n--;
	object = object_at_end(rest, false, &at, &work);
	for (const json *m = object ? json_first(object) : NULL; m; m = json_next(m))
		if (!str_in(str_of(json_key(m)), words))
			return text;
	if (!object)
		return text;
	rest = str_trim(str_sub(str_trim(rest), 0, at));
	return str_ends(rest, "```json") ? str_trim(str_sub(rest, 0, rest.n - strlen("```json")))
					 : rest;
}
