#include <ctype.h>
#include "src/machine/verdict.h"

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

/* A line that looks like a verdict. If it cannot be parsed, no earlier verdict may replace it. */
static bool resembles_verdict(struct str line)
{
	return line.n && line.p[0] == '{' &&
	       (str_find(line, STR("\"status\"")) < line.n ||
		       str_find(line, STR("\"action\"")) < line.n);
}

static json *last_line(struct str text, bool *unreadable, size_t *after)
{
	size_t end = text.n;

	while (end) {
		const char *nl = memrchr(text.p, '\n', end);
		size_t start = nl ? (size_t)(nl - text.p) + 1 : 0;
		struct str line = str_trim(str_sub(text, start, end));
		json *j = object_of(line);

		*unreadable = !j && resembles_verdict(line);
		*after = end;
		if (j || *unreadable)
			return j;
		end = start ? start - 1 : 0;
	}
	return NULL;
}

/* A fence opens with ``` or ```json and closes with ```. */
static json *last_fence(struct str text, size_t *after)
{
	struct str rest = text, line;
	const char *open = NULL;
	json *found = NULL;

	while (str_line(&rest, &line)) {
		json *j;

		if (!str_starts(str_trim(line), "```"))
			continue;
		if (!open) {
			open = rest.p;
			continue;
		}
		j = object_of((struct str){open, (size_t)(line.p - open)});
		open = NULL;
		if (!j)
			continue;
		json_free(&found);
		found = j;
		*after = (size_t)(rest.p - text.p);
	}
	return found;
}

json *verdict_json(struct str text, size_t *after)
{
	bool unreadable = false;
	size_t ignored;
	json *j;

	after = after ? after : &ignored;
	j = last_line(text, &unreadable, after);
	return j || unreadable ? j : last_fence(text, after);
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

/* Length of the apostrophe at s[i], straight or curly; or 0. */
static size_t apostrophe(struct str s, size_t i)
{
	struct str rest = str_sub(s, i, s.n);

	return str_starts(rest, "'") ? 1 : str_starts(rest, "\xe2\x80\x99") ? 3 : 0;
}

/* An apostrophe inside is part of the word, as in "isn't". */
static bool next_word(struct str s, size_t *at, struct str *word)
{
	size_t from = *at;

	while (from < s.n && !verdict_word_byte(s, from))
		from++;
	*at = from;
	while (verdict_word_byte(s, *at + apostrophe(s, *at)))
		*at += apostrophe(s, *at) + 1;
	*word = str_sub(s, from, *at);
	return *at > from;
}

static bool word_is(struct str word, const char *lower)
{
	return word.n == strlen(lower) && strncasecmp(word.p, lower, word.n) == 0;
}

static bool in_list(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (word_is(word, *list))
			return true;
	return false;
}

/* Words that negate the rest of the sentence. */
static bool negates_sentence(struct str word)
{
	static const char *const list[] = {"not", "cannot", "never", "nobody", "nothing", "neither",
		"nor", "unable", "refuse", "refused", "decline", "declined", "before", "until",
		"unless", "if", "would", "could", "should", "far", "fail", "fails", "cant", "dont",
		"wont", "isnt", NULL};

	return in_list(word, list) ||
	       (word.n > 3 && strncasecmp(word.p + word.n - 3, "n't", 3) == 0) ||
	       (word.n > 5 && strncasecmp(word.p + word.n - 5, "n\xe2\x80\x99t", 5) == 0);
}

/* Words that negate the rest of the clause. */
static const char *const clause_negators[] = {"no", "without", "none", "hardly", "zero", NULL};

/* Words that withdraw an "approved" before them in the sentence. */
static const char *const withdrawals[] = {"if", "once", "after", "unless", "until", "provided",
	"pending", "when", "false", "no", "not", "never", "denied", "except", "but", "however",
	"though", "although", "nothing", "nobody", "none", "fail", "fails", "failed", "failing",
	NULL};

struct clause {
	bool sentence_negated, clause_negated, approved, change;
};

/*
 * The gap between two words may end the sentence or the clause. A single line break does not end a
 * sentence: prose is wrapped, and "cannot be" may be the end of a line.
 */
static void separate(struct clause *c, struct str gap)
{
	unsigned breaks = 0;

	for (size_t i = 0; i < gap.n; i++) {
		breaks += gap.p[i] == '\n';
		if (breaks > 1 || strchr(".;!", gap.p[i]))
			*c = (struct clause){0};
		else if (strchr(",:()\n", gap.p[i]))
			c->clause_negated = false;
	}
}

/* True for words that reject, except in "no changes requested" or "nothing rejected". */
static bool rejects(const struct clause *c, struct str word)
{
	static const char *const always[] = {"changes_requested", "disapproved", "unapproved",
		"disapprove", "disagree", "disagrees", "withdraw", "withdrawn", NULL};
	static const char *const alone[] = {"reject", "rejects", "rejected", "rejecting",
		"rejection", "refuses", "declines", NULL};
	static const char *const asked[] = {"requested", "required", "needed", "necessary", NULL};

	if (in_list(word, always))
		return true;
	if (c->sentence_negated || c->clause_negated)
		return false;
	return in_list(word, alone) || (c->change && in_list(word, asked));
}

enum tone { AGAINST, SILENT, APPROVES };

/* What the prose says; verdict.h has the rule. */
static enum tone tone_of(struct str text)
{
	struct clause c = {0};
	struct str word;
	enum tone tone = SILENT;
	size_t at = 0, end = 0;

	if (str_find(text, STR("\xe2\x9d\x8c")) < text.n) /* the red cross */
		return AGAINST;
	while (next_word(text, &at, &word)) {
		bool negated;

		separate(&c, str_sub(text, end, (size_t)(word.p - text.p)));
		end = at;
		negated = c.sentence_negated || c.clause_negated;
		if (rejects(&c, word) || (c.approved && in_list(word, withdrawals)))
			return AGAINST;
		if (negated && (word_is(word, "approved") || word_is(word, "agree")))
			return AGAINST;
		if (word_is(word, "approved")) {
			tone = APPROVES;
			c.approved = true;
		}
		c.change = word_is(word, "changes") || word_is(word, "change");
		c.sentence_negated |= negates_sentence(word);
		c.clause_negated |= in_list(word, clause_negators);
	}
	return tone;
}

bool verdict_status(struct str text, char *out, size_t size)
{
	size_t after = text.n;
	CLEANUP(json_free) json *j = verdict_json(text, &after);
	const char *status = json_get_str(j, "status");

	if (!status || strlen(status) >= size)
		return false;
	if ((strcmp(status, "approved") == 0 || strcmp(status, "validated") == 0) &&
		tone_of(str_sub(text, after, text.n)) == AGAINST)
		return false;
	(void)snprintf(out, size, "%s", status);
	return true;
}

bool verdict_approved(struct str text)
{
	char status[64] = "";

	(void)verdict_status(text, status, sizeof(status));
	return strcmp(status, "approved") == 0 ||
	       (strcmp(status, "changes_requested") != 0 && tone_of(text) == APPROVES);
}

static struct str last_text_line(struct str text)
{
	const char *nl;

	text = str_trim(text);
	nl = text.n ? memrchr(text.p, '\n', text.n) : NULL;
	return nl ? str_sub(text, (size_t)(nl - text.p) + 1, text.n) : text;
}

bool verdict_validated(struct str text)
{
	char status[64];

	if (verdict_status(text, status, sizeof(status)))
		return strcmp(status, "validated") == 0;
	text = last_text_line(text);
	return word_is(text, "validated") || word_is(text, "validated.");
}

bool verdict_passed(struct str text)
{
	text = str_trim(text);
	return str_starts(text, "passed") && !verdict_word_byte(text, strlen("passed"));
}

enum { URL_MAX = 2048 };

static size_t url_end(struct str text, size_t i)
{
	size_t most = text.n - i > URL_MAX ? i + URL_MAX : text.n;

	while (i < most && (unsigned char)text.p[i] > ' ' && !strchr("<>\"'`|\\^{}[]", text.p[i]))
		i++;
	return i;
}

/* Length of a URL up to the number after `mark` (`/pull/`), with a host and at least two path parts
 * before it; 0 if it is not one. */
static size_t pr_length(struct str url, const char *mark)
{
	size_t at = str_find(url, str_of(mark)), end = at + strlen(mark), slashes = 0;

	if (at == url.n)
		return 0;
	for (size_t i = 0; i < at; i++)
		slashes += url.p[i] == '/';
	if (slashes < 4)
		return 0;
	at = end;
	while (end < url.n && isdigit((unsigned char)url.p[end]))
		end++;
	return end > at && !verdict_word_byte(url, end) ? end : 0;
}

struct str verdict_pr_url(struct str text)
{
	static const char *const marks[] = {"/pull/", "/-/merge_requests/",
		"/merge_requests/"}; /* the last: GitLab before 12 */
	size_t at = 0, n;

	while ((at += str_find(str_sub(text, at, text.n), STR("http"))) < text.n) {
		struct str url = str_sub(text, at, text.n);

		if (!str_starts(url, "https://") && !str_starts(url, "http://")) {
			at += strlen("http");
			continue;
		}
		url = str_sub(text, at, url_end(text, at));
		for (size_t i = 0; i < COUNT(marks); i++)
			if ((n = pr_length(url, marks[i])))
				return str_sub(url, 0, n);
		at += url.n;
	}
	return (struct str){"", 0};
}
