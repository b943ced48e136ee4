#include <ctype.h>
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
	return !i || text.p[i - 1] == '\n';
}

/* The object that the text ends with; it may have several lines. `anywhere`: it need not begin a
 * line. *work grows by the bytes that were parsed. */
static json *object_at_end(struct str text, bool anywhere, size_t *work)
{
	size_t tries = 0, least;
	json *j = NULL;

	text = str_trim(text);
	least = text.n > END_MAX ? text.n - END_MAX : 0;
	for (size_t i = text.n; !j && i-- > least && tries < TRIES && str_ends(text, "}");)
		if (text.p[i] == '{' && (anywhere || begins_line(text, i))) {
			j = object_of(str_sub(text, i, text.n));
			*work += text.n - i;
			tries++;
		}
	return j;
}

/* The last object that begins a line and ends one, whatever is around it. */
json *verdict_json(struct str text)
{
	size_t work = 0, end = text.n, after = text.n;

	while (end && work < WORK_MAX) {
		const char *nl = memrchr(text.p, '\n', end);
		size_t start = nl ? (size_t)(nl - text.p) + 1 : 0;
		struct str line = str_trim(str_sub(text, start, end));
		json *j = object_of(line);

		if (!j && str_ends(line, "}"))
			j = object_at_end(str_sub(text, 0, end), false, &work);
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

static bool copy_word(const json *j, const char *member, char *out, size_t size)
{
	const char *word = json_get_str(j, member);

	if (!word)
		return false;
	(void)snprintf(out, size, "%s", strlen(word) < size ? word : "?");
	return true;
}

bool verdict_word(struct str text, const char *member, char *out, size_t size)
{
	CLEANUP(json_free) json *j = verdict_json(text);

	return copy_word(j, member, out, size);
}

bool verdict_last_word(struct str text, const char *member, char *out, size_t size)
{
	CLEANUP(json_free) json *j = NULL;
	size_t work = 0;

	while (text.n && strchr(" \t\r\n`*_.)", text.p[text.n - 1]))
		text.n--;
	j = object_at_end(text, true, &work);
	return copy_word(j, member, out, size);
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

bool verdict_open_criterion(struct str text, char *out, size_t size)
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

	for (size_t i = 0; i < 10 && rest.n; i++) {
		size_t bar = str_find(rest, STR("|"));

		word = str_trim(str_sub(rest, 0, bar));
		if (!wanted || str_in(word, wanted))
			return arena_dup(a, word);
		rest = str_sub(rest, bar + 1 < rest.n ? bar + 1 : rest.n, rest.n);
	}
	return NULL;
}

static const char *word_of(struct arena *a, const char *format, bool good)
{
	static const char *const bad[] = {"changes_requested", "failed", NULL};

	return verdict_format_word(a, format, good ? NULL : bad);
}

static int review_word(struct arena *a, const json *parsed, const char *format, const char **word,
	struct error *err)
{
	const json *approved = json_get(parsed, "approved"), *list = json_get(parsed, "findings");
	bool good = json_is_true(approved);

	if (!json_is_bool(approved))
		return error_set(err, ERR_INPUT, "'approved' must be true or false");
	if (list && !json_is_array(list))
		return error_set(err, ERR_INPUT, "'findings' must be a list");
	for (const json *f = json_first(list); f; f = json_next(f))
		good = good && !json_str_is(f, "severity", "critical") &&
		       !json_str_is(f, "severity", "major");
	*word = word_of(a, format, good);
	return 0;
}

static int envelope_word(struct arena *a, const json *parsed, const char *format, const char **word,
	struct error *err)
{
	static const char *const keys[] = {
		"summary", "filesChanged", "commitSha", "verifications", "acceptanceCriteriaMet"};
	static const char *const checks[] = {"build", "test", "lint", "format"};
	static const char *const words[] = {"passed", "failed", "skipped", NULL};
	const json *commit = json_get(parsed, "commitSha"),
		   *all = json_get(parsed, "verifications");
	bool good = json_text(commit) != NULL;

	for (size_t i = 0; i < COUNT(keys); i++)
		good = good && json_get(parsed, keys[i]);
	if (commit && !json_text(commit) && !json_is_null(commit))
		return error_set(err, ERR_INPUT, "'commitSha' must be a text or null");
	for (size_t i = 0; all && i < COUNT(checks); i++) {
		const char *check = json_get_str(all, checks[i]);

		if (!check || !str_in(str_of(check), words))
			return error_set(err, ERR_INPUT,
				"'verifications.%s' must be passed, failed or skipped", checks[i]);
		good = good && strcmp(check, "failed") != 0;
	}
	*word = word_of(a, format, good);
	return 0;
}

int verdict_object_word(struct arena *a, const json *parsed, const char *format, const char **word,
	struct error *err)
{
	*word = json_dup(a, parsed, "status");
	if (*word || !json_is_object(parsed))
		return 0;
	if (json_get(parsed, "approved"))
		return review_word(a, parsed, format, word, err);
	if (json_get(parsed, "commitSha") || json_get(parsed, "verifications"))
		return envelope_word(a, parsed, format, word, err);
	return 0;
}
