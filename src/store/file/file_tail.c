#include "src/store/file/file_internal.h"

#define SUM_HEAD ",\"sum\":\""

enum { SUM_MEMBER = sizeof(SUM_HEAD) - 1 + DIGEST_TEXT - 1 + 2 };

bool line_commit(struct str line, int64_t *rev)
{
	size_t i = sizeof(FILE_COMMIT) - 1;

	*rev = 0;
	if (!str_starts(line, FILE_COMMIT))
		return false;
	for (; i < line.n && line.p[i] >= '0' && line.p[i] <= '9' && *rev <= JSON_MAX_INT / 10; i++)
		*rev = *rev * 10 + (line.p[i] - '0');
	return true;
}

const char *line_sum(struct str line, size_t *at)
{
	if (line.n < SUM_MEMBER || !str_ends(line, "\"}"))
		return NULL;
	*at = line.n - SUM_MEMBER;
	if (memcmp(line.p + *at, SUM_HEAD, sizeof(SUM_HEAD) - 1) != 0)
		return NULL;
	return line.p + *at + sizeof(SUM_HEAD) - 1;
}

/*
 * A commit line without its note, which is most of it and says nothing about the state. It stands
 * last before the sum; no text within the line can have quotes that are not escaped.
 */
static int parse_commit(json **out, struct str line, struct error *err)
{
	static const char note[] = ",\"note\":{";
	CLEANUP(buf_release) struct buf rest = BUF_INIT;
	size_t at = str_find(line, STR(note));

	if (at == line.n || str_find(str_sub(line, 0, at), STR(",\"base\":")) == at)
		return json_parse(out, line, err);
	buf_add(&rest, str_sub(line, 0, at));
	buf_addc(&rest, '}');
	return json_parse(out, buf_str(&rest), err);
}

void tail_release(struct tail *t)
{
	json_free(&t->commit);
	buf_release(&t->window);
}

static int other_format(const char *path, int64_t format, struct error *err)
{
	return error_set(err, ERR_INPUT,
		"'%s' has journal format %lld; this version supports format %d", path,
		(long long)format, FILE_FORMAT);
}

static int read_range(
	struct disk_file *f, int64_t from, int64_t to, struct buf *out, struct error *err)
{
	buf_clear(out);
	return to > from ? f->ops->pread(f, from, (size_t)(to - from), out, err) : 0;
}

/* 1 when the bytes from `from` on have the sum that the line at `at` says, else 0. */
static int sum_holds(struct disk_file *f, const struct tail *t, int64_t from, int64_t at,
	struct str line, char sum[DIGEST_TEXT], struct error *err)
{
	CLEANUP(buf_release) struct buf far = BUF_INIT;
	size_t n;
	const char *want = line_sum(line, &n);

	if (!want || from < 0 || from > at)
		return 0;
	if (from < t->window_at && read_range(f, from, t->window_at, &far, err) < 0)
		return -1;
	if (from < t->window_at)
		from = t->window_at;
	digest_two(buf_str(&far),
		(struct str){t->window.s + (from - t->window_at), (size_t)(at - from) + n}, sum);
	return memcmp(want, sum, DIGEST_TEXT - 1) == 0;
}

/* 1 when the line at `at` is a whole commit: *t is filled; 0 when not. */
static int whole_commit(struct disk_file *f, const char *path, struct tail *t, int64_t at,
	struct str line, struct error *err)
{
	struct error ignored;
	int64_t format, from, says;
	int rc;

	if (parse_commit(&t->commit, line, &ignored) < 0)
		return 0;
	format = json_get_int(t->commit, "format", FILE_FORMAT);
	from = json_get_int(t->commit, "from", -1);
	says = json_get_int(t->commit, "at", -1);
	if (format != FILE_FORMAT)
		rc = other_format(path, format, err);
	else
		rc = from < 0 || says < at
			     ? 0
			     : sum_holds(f, t, from - (says - at), at, line, t->sum, err);
	if (rc <= 0) {
		json_free(&t->commit);
		return rc;
	}
	t->n = line.n + 1;
	t->end = at + (int64_t)t->n;
	t->shift = says - at;
	return 1;
}

/* Start of the last commit line of text[0..end), or -1. */
static ssize_t last_commit(struct str text, size_t end)
{
	while (end) {
		const char *nl = memrchr(text.p, '\n', end - 1);
		size_t start = nl ? (size_t)(nl - text.p) + 1 : 0;

		if (str_starts(str_sub(text, start, end), FILE_COMMIT))
			return (ssize_t)start;
		end = start;
	}
	return -1;
}

/*
 * The last whole commit that begins in the window. 1: *t is filled; 0: there is none. Each
 * transaction is durable before the next is written, so one alone can be unfinished, and its commit
 * is the last line: anything else is damage.
 */
static int search(struct disk_file *f, const char *path, struct tail *t, struct error *err)
{
	struct str text = buf_str(&t->window);
	const char *nl = text.n ? memrchr(text.p, '\n', text.n) : NULL;
	size_t end = nl ? (size_t)(nl - text.p) + 1 : 0;

	for (t->broken = false;;) {
		ssize_t start = end ? last_commit(text, end) : -1;
		struct str line;
		int rc;

		/* The first line of a window may be a piece of one. */
		if (start < 0 || (start == 0 && t->window_at))
			return 0;
		line = str_sub(text, (size_t)start, end);
		line.n = (size_t)((const char *)memchr(line.p, '\n', line.n) - line.p);
		rc = whole_commit(f, path, t, t->window_at + start, line, err);
		if (rc)
			return rc;
		t->broken = t->broken || (size_t)start + line.n + 1 != text.n;
		end = (size_t)start;
	}
}

/*
 * There is no whole commit. That is what a power cut leaves of the first transaction: its first
 * line, a part of it, or bytes that were never written. Any other first line is a foreign file.
 */
static int check_first_line(const char *path, struct str text, struct error *err)
{
	static const char head[] = "{\"format\":";
	struct str rest = text, line;

	if (!str_line(&rest, &line) || rest.p[-1] != '\n' || memchr(line.p, '\0', line.n) ||
		str_is(line, FILE_HEADER "}"))
		return 0;
	if (str_starts(line, head))
		return other_format(path, strtoll(line.p + sizeof(head) - 1, NULL, 10), err);
	return error_set(err, ERR_INPUT,
		"'%s' names no journal format in its first line; this version supports format %d",
		path, FILE_FORMAT);
}

int tail_find(
	struct disk_file *f, const char *path, int64_t size, struct tail *t, struct error *err)
{
	for (int64_t n = FILE_WINDOW;; n *= 4) {
		int rc;

		t->window_at = size > n ? size - n : 0;
		if (read_range(f, t->window_at, size, &t->window, err) < 0)
			return -1;
		rc = search(f, path, t, err);
		if (rc)
			return rc < 0 ? -1 : 0;
		if (!t->window_at)
			return check_first_line(path, buf_str(&t->window), err);
	}
}

/* ---- the state ---- */

/* The line that begins at `at`, by number. What is damaged is looked at once. */
static unsigned line_number(struct disk_file *f, int64_t at)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	unsigned n = 1;

	if (read_range(f, 0, at, &text, &ignored) < 0)
		return 1;
	for (size_t i = 0; i < text.len; i++)
		n += text.s[i] == '\n';
	return n;
}

static int damaged(struct disk_file *f, const char *path, int64_t at, int64_t rev, const char *how,
	struct error *err)
{
	return error_at(err, path, line_number(f, at), 1,
		"damaged: commit %lld %s: nothing was changed", (long long)rev, how);
}

/* `end`: where the commit before it ends; -1: it is the first that is looked at. */
static bool is_next(
	const struct tail *t, const json *commit, int64_t at, int64_t end, int64_t last_rev)
{
	int64_t from = json_get_int(commit, "from", -1) - t->shift;

	return json_get_int(commit, "at", -1) - t->shift == at &&
	       (end < 0 ? from >= 0 && from <= at : from == end) &&
	       json_get_int(commit, "commit", 0) > last_rev;
}

/* Nothing but the header is before it in its transaction. Where there are events and changes of
 * documents, damage is more likely in those, which are for history to tell. */
static bool is_alone(const struct tail *t, const json *commit, int64_t at)
{
	return at - (json_get_int(commit, "from", 0) - t->shift) <=
	       (int64_t)sizeof(FILE_HEADER "}");
}

/* The bytes first: what does not have its sum says nothing that is believed. */
static int load_line(struct disk_file *f, const char *path, const struct tail *t, struct state *s,
	struct str line, int64_t at, int64_t *end, struct error *err)
{
	CLEANUP(json_free) json *commit = NULL;
	char ignored[DIGEST_TEXT];
	int64_t rev;
	int rc;

	(void)line_commit(line, &rev);
	if (parse_commit(&commit, line, err) < 0)
		return damaged(f, path, at, rev, "is no JSON", err);
	if (!is_next(t, commit, at, *end, s->rev))
		return damaged(f, path, at, rev, "does not follow the one before it", err);
	rc = is_alone(t, commit, at) ? sum_holds(f, t, json_get_int(commit, "from", 0) - t->shift,
					       at, line, ignored, err)
				     : 1;
	if (rc < 0)
		return -1;
	if (!rc)
		return damaged(f, path, at, rev, "does not have its sum", err);
	if (state_load(s, commit, line.n + 1, err) < 0)
		return damaged(f, path, at, rev, "does not tell its keys", err);
	*end = at + (int64_t)line.n + 1;
	return 0;
}

/* Commits from `base` on, up to `last`, where the last one begins. */
static int load_lines(struct disk_file *f, const char *path, const struct tail *t, struct state *s,
	int64_t base, int64_t last, struct error *err)
{
	struct str rest = {t->window.s + (base - t->window_at), (size_t)(last - base)}, line;
	const char *begin = rest.p;
	int64_t end = -1, rev;

	while (str_line(&rest, &line))
		if (line_commit(line, &rev) &&
			load_line(f, path, t, s, line, base + (line.p - begin), &end, err) < 0)
			return -1;
	if (!is_next(t, t->commit, last, end, s->rev))
		return damaged(f, path, last, json_get_int(t->commit, "commit", 0),
			"does not follow the one before it", err);
	return 0;
}

int tail_load(
	struct disk_file *f, const char *path, struct tail *t, struct state *s, struct error *err)
{
	int64_t base = json_get_int(t->commit, "base", -1) - t->shift;
	int64_t last = t->end - (int64_t)t->n;

	if (base < 0 || base > last)
		return error_set(err, ERR_INPUT, "'%s' is damaged at its end", path);
	if (base < last && base < t->window_at) {
		t->window_at = base;
		if (read_range(f, base, last, &t->window, err) < 0)
			return -1;
	}
	if (base < last && load_lines(f, path, t, s, base, last, err) < 0)
		return -1;
	if (state_load(s, t->commit, t->n, err) < 0 || s->base - t->shift != base)
		return error_set(err, ERR_INPUT, "'%s' is damaged at its end", path);
	return 0;
}
