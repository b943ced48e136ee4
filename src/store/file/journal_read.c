/*
 * journal_read.c: where a journal ends, the state that its last commits describe, and recovery from
 * a kill or a power cut.
 */
#include "src/base/number.h"
#include "src/store/file/internal.h"

#define SUM_HEAD ",\"sum\":\""

enum { HEADER_MAX = 128 }; /* bytes of the first line of a journal */
enum { SUM_MEMBER = sizeof(SUM_HEAD) - 1 + DIGEST_TEXT - 1 + 2 };

bool journal_is_commit(struct str line, int64_t *rev)
{
	uint64_t n = 0;

	if (!str_starts(line, FILE_COMMIT))
		return false;
	(void)number_digits(str_sub(line, sizeof(FILE_COMMIT) - 1, line.n), &n);
	*rev = n > INT64_MAX ? INT64_MAX : (int64_t)n;
	return true;
}

const char *journal_line_sum(struct str line, size_t *at)
{
	if (line.n < SUM_MEMBER || !str_ends(line, "\"}"))
		return NULL;
	*at = line.n - SUM_MEMBER;
	if (memcmp(line.p + *at, SUM_HEAD, sizeof(SUM_HEAD) - 1) != 0)
		return NULL;
	return line.p + *at + sizeof(SUM_HEAD) - 1;
}

/*
 * Skips the note, which is the largest member and not part of the state. It is the last member
 * before the checksum, and quotes inside texts are escaped, so the first match is the member.
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

void journal_release(struct journal *j)
{
	json_free(&j->commit);
	buf_release(&j->window);
}

static int other_format(const char *path, int64_t format, struct error *err)
{
	return error_set(err, ERR_INPUT,
		"'%s' has journal format %lld; this version supports format %d", path,
		(long long)format, FILE_FORMAT);
}

static int read_range(
	const struct journal *j, int64_t from, int64_t to, struct buf *out, struct error *err)
{
	buf_clear(out);
	return to > from ? j->file->ops->pread(j->file, from, (size_t)(to - from), out, err) : 0;
}

/* 1 when the bytes from `from` on have the checksum in the line at `at`, else 0. */
static int sum_holds(const struct journal *j, int64_t from, int64_t at, struct str line,
	char sum[DIGEST_TEXT], struct error *err)
{
	CLEANUP(buf_release) struct buf far = BUF_INIT;
	size_t n;
	const char *want = journal_line_sum(line, &n);

	if (!want || from < 0 || from > at)
		return 0;
	if (from < j->window_at && read_range(j, from, j->window_at, &far, err) < 0)
		return -1;
	if (from < j->window_at)
		from = j->window_at;
	digest_two(buf_str(&far),
		(struct str){j->window.s + (from - j->window_at), (size_t)(at - from) + n}, sum);
	return memcmp(want, sum, DIGEST_TEXT - 1) == 0;
}

/* 1 when the line at `at` ends a whole commit: *t is filled; 0 when not. */
static int whole_commit(struct journal *j, int64_t at, struct str line, struct error *err)
{
	struct error ignored;
	int64_t format, from, says;
	int rc;

	if (parse_commit(&j->commit, line, &ignored) < 0)
		return 0;
	format = json_get_int(j->commit, "format", FILE_FORMAT);
	from = json_get_int(j->commit, "from", -1);
	says = json_get_int(j->commit, "at", -1);
	if (format != FILE_FORMAT)
		rc = other_format(j->path, format, err);
	else
		rc = from < 0 || says < at
			     ? 0
			     : sum_holds(j, from - (says - at), at, line, j->sum, err);
	if (rc <= 0) {
		json_free(&j->commit);
		return rc;
	}
	j->n = line.n + 1;
	j->end = at + (int64_t)j->n;
	j->shift = says - at;
	return 1;
}

ssize_t journal_last_commit(struct str text, size_t end)
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
 * transaction is durable before the next one is written. So at most one is unfinished, and its
 * commit is the last line: anything else is damage.
 */
static int journal_read_search(struct journal *j, struct error *err)
{
	struct str text = buf_str(&j->window);
	const char *nl = text.n ? memrchr(text.p, '\n', text.n) : NULL;
	size_t end = nl ? (size_t)(nl - text.p) + 1 : 0;

	for (j->broken = false;;) {
		ssize_t start = end ? journal_last_commit(text, end) : -1;
		struct str line;
		int rc;

		/* The first line of a window may be the end of one. */
		if (start < 0 || (start == 0 && j->window_at))
			return 0;
		line = str_sub(text, (size_t)start, end);
		line.n = (size_t)((const char *)memchr(line.p, '\n', line.n) - line.p);
		rc = whole_commit(j, j->window_at + start, line, err);
		if (rc)
			return rc;
		j->broken = j->broken || (size_t)start + line.n + 1 != text.n;
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
	uint64_t format;

	if (!str_line(&rest, &line) || rest.p[-1] != '\n' || memchr(line.p, '\0', line.n) ||
		str_is(line, FILE_HEADER "}"))
		return 0;
	if (str_starts(line, head)) {
		(void)number_digits(str_sub(line, sizeof(head) - 1, line.n), &format);
		return other_format(path, (int64_t)format, err);
	}
	return error_set(err, ERR_INPUT,
		"'%s' is not a journal: its first line names no format; move it away to begin a "
		"new "
		"one",
		path);
}

int journal_find_tail(struct journal *j, int64_t size, struct error *err)
{
	for (int64_t n = FILE_WINDOW;; n *= 4) {
		int rc;

		j->window_at = size > n ? size - n : 0;
		if (read_range(j, j->window_at, size, &j->window, err) < 0)
			return -1;
		rc = journal_read_search(j, err);
		if (rc)
			return rc < 0 ? -1 : 0;
		if (!j->window_at)
			return check_first_line(j->path, buf_str(&j->window), err);
	}
}

int journal_read_header(const struct file_store *f, struct journal_header *h, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *head = NULL;
	size_t n = f->end < HEADER_MAX ? (size_t)f->end : HEADER_MAX;
	struct str rest, line;
	struct error ignored;

	*h = (struct journal_header){0};
	if (!f->shift)
		return 0;
	if (f->journal->ops->pread(f->journal, 0, n, &text, err) < 0)
		return -1;
	rest = buf_str(&text);
	if (!str_line(&rest, &line) || json_parse(&head, line, &ignored) < 0 ||
		!json_get(head, "kept"))
		return 0;
	h->begin = (int64_t)(text.len - rest.n);
	h->shift = json_get_int(head, "kept", 0) - h->begin;
	h->compacted = json_get_int(head, "compacted", 0);
	return 0;
}

/* A complete commit line with a wrong checksum is damage, not what a kill leaves. */
int journal_find_last_line(
	struct file_store *f, const struct journal *j, int64_t size, struct error *err)
{
	CLEANUP(buf_release) struct buf rest = BUF_INIT;
	struct journal_header header;
	struct str text, line;

	f->end = j->end;
	f->shift = j->shift; /* which is wrong if lines are missing */
	if (journal_read_header(f, &header, err) < 0)
		return -1;
	f->shift = header.shift;
	f->state.rev = json_get_int(j->commit, "commit", 0);
	f->state.seq = json_get_int(j->commit, "seq", 0);
	if (read_range(j, j->end, size, &rest, err) < 0)
		return -1;
	for (text = buf_str(&rest); str_line(&text, &line);)
		if (text.p[-1] == '\n' && journal_is_commit(line, &f->state.rev))
			f->end = size - (int64_t)text.n;
	return 0;
}

/* ---- the state ---- */

unsigned journal_line_number(struct disk_file *f, int64_t at)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	unsigned n = 1;

	if (at && f->ops->pread(f, 0, (size_t)at, &text, &ignored) == 0)
		for (size_t i = 0; i < text.len; i++)
			n += text.s[i] == '\n';
	return n;
}

static int journal_read_damaged(
	const struct journal *j, int64_t at, int64_t rev, const char *how, struct error *err)
{
	return error_at(err, j->path, journal_line_number(j->file, at), 1,
		"damaged: commit %lld %s: nothing was changed", (long long)rev, how);
}

/* `end`: where the commit before it ends; -1: there was none. */
static bool is_next(
	const struct journal *j, const json *commit, int64_t at, int64_t end, int64_t last_rev)
{
	int64_t from = json_get_int(commit, "from", -1) - j->shift;

	return json_get_int(commit, "at", -1) - j->shift == at &&
	       (end < 0 ? from >= 0 && from <= at : from == end) &&
	       json_get_int(commit, "commit", 0) > last_rev;
}

/* Nothing but the header precedes it in its transaction. If there are events and changes of
 * documents, damage is more likely in those, and only history reads them. */
static bool journal_read_is_alone(const struct journal *j, const json *commit, int64_t at)
{
	return at - (json_get_int(commit, "from", 0) - j->shift) <=
	       (int64_t)sizeof(FILE_HEADER "}");
}

static int load_line(const struct journal *j, struct store_state *s, struct str line, int64_t at,
	int64_t *end, struct error *err)
{
	CLEANUP(json_free) json *commit = NULL;
	char ignored[DIGEST_TEXT];
	int64_t rev;
	int rc;

	(void)journal_is_commit(line, &rev);
	if (parse_commit(&commit, line, err) < 0)
		return journal_read_damaged(j, at, rev, "is not JSON", err);
	if (!is_next(j, commit, at, *end, s->rev))
		return journal_read_damaged(j, at, rev, "does not follow the one before it", err);
	rc = journal_read_is_alone(j, commit, at)
		     ? sum_holds(j, json_get_int(commit, "from", 0) - j->shift, at, line, ignored,
			       err)
		     : 1;
	if (rc < 0)
		return -1;
	if (!rc)
		return journal_read_damaged(j, at, rev, "has a wrong checksum", err);
	if (!store_state_apply(s, commit, line.n + 1))
		return journal_read_damaged(j, at, rev, "has malformed keys", err);
	*end = at + (int64_t)line.n + 1;
	return 0;
}

/* The commits from `base` up to `last`, where the last one begins. */
static int load_lines(const struct journal *j, struct store_state *s, int64_t base, int64_t last,
	struct error *err)
{
	struct str rest = {j->window.s + (base - j->window_at), (size_t)(last - base)}, line;
	const char *begin = rest.p;
	int64_t end = -1, rev;

	while (str_line(&rest, &line))
		if (journal_is_commit(line, &rev) &&
			load_line(j, s, line, base + (line.p - begin), &end, err) < 0)
			return -1;
	if (!is_next(j, j->commit, last, end, s->rev))
		return journal_read_damaged(j, last, json_get_int(j->commit, "commit", 0),
			"does not follow the one before it", err);
	return 0;
}

int journal_load_state(struct journal *j, struct store_state *s, struct error *err)
{
	int64_t base = json_get_int(j->commit, "base", -1) - j->shift;
	int64_t last = j->end - (int64_t)j->n;

	if (base < 0 || base > last)
		return error_set(err, ERR_INPUT, "'%s' is damaged at its end", j->path);
	if (base < last && base < j->window_at) {
		j->window_at = base;
		if (read_range(j, base, last, &j->window, err) < 0)
			return -1;
	}
	if (base < last && load_lines(j, s, base, last, err) < 0)
		return -1;
	if (!store_state_apply(s, j->commit, j->n) || s->base - j->shift != base)
		return error_set(err, ERR_INPUT, "'%s' is damaged at its end", j->path);
	return 0;
}

/* ---- recovery ---- */

int journal_sync(struct file_store *f, struct error *err)
{
	if (f->journal->ops->sync(f->journal, err) < 0)
		return -1;
	f->unsynced = false;
	return 0;
}

/* Makes the last commit durable. If that fails, a later sync must not take it for written. */
static int sync_commit(struct file_store *f, const json *commit, struct error *err)
{
	struct error ignored;

	if (journal_sync(f, err) == 0)
		return 0;
	(void)f->journal->ops->rewrite(
		f->journal, json_get_int(commit, "from", f->shift) - f->shift, &ignored);
	return -1;
}

/*
 * Renames the file that the last commit of the document staged. Not if the document was edited or
 * removed since: then the commit is in the journal only, and the edit comes after it. (A rename
 * that was taken back leaves the text before it, never nothing.)
 */
static int finish_staged(struct file_store *f, const json *commit, const struct state_entry *e,
	const char *staged, const char *is, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char ready[DIGEST_TEXT];

	/* The commit may not be durable yet. */
	if (sync_commit(f, commit, err) < 0 ||
		store_document_read(f, staged, &text, ready, err) < 0)
		return -1;
	if (strcmp(ready, e->sum) != 0)
		return 0;
	if (strcmp(is, e->before) == 0)
		return store_document_place(f, e->key, err);
	return f->disk->ops->unlink(f->disk, staged, err);
}

/* Usually the document is in its place, and the staged file is what the last commit replaced. */
static int recover_document(
	struct file_store *f, const json *commit, const struct state_entry *e, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *staged = store_document_staged_path(f, &a, e->key, e->placed),
		   *path = store_document_path(f, &a, e->key);
	char is[DIGEST_TEXT];
	bool there;

	if (f->disk->ops->unlink(
		    f->disk, store_document_staged_path(f, &a, e->key, e->earlier), err) < 0 ||
		f->disk->ops->unlink(f->disk,
			store_document_staged_path(f, &a, e->key, f->state.rev + 1), err) < 0 ||
		f->disk->ops->exists(f->disk, staged, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	if (store_document_read(f, path, &f->recovered, is, err) < 0)
		return -1;
	if (strcmp(is, e->sum) != 0)
		return finish_staged(f, commit, e, staged, is, err);
	if (!store_document_edited_late(f, e))
		(void)snprintf(f->recovered_key, sizeof(f->recovered_key), "%s", e->key);
	return 0;
}

static int recover_documents(struct file_store *f, const json *commit, struct error *err)
{
	for (size_t i = 0; i < f->state.keys.n; i++)
		if (f->state.keys.items[i].document &&
			recover_document(f, commit, &f->state.keys.items[i], err) < 0)
			return -1;
	return 0;
}

/* Files of documents that the last commit deleted. */
static int recover_removals(struct file_store *f, const json *commit, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json *gone = json_first(json_get(commit, "gone"));

	for (const json *g = gone; g; g = json_next(g)) {
		const char *path = store_document_path(f, &a, json_key(g)), *before = json_text(g);
		char is[DIGEST_TEXT];

		if (store_document_read(f, path, &text, is, err) < 0)
			return -1;
		if (is[0] && before && strcmp(is, before) == 0 &&
			f->disk->ops->unlink(f->disk, path, err) < 0)
			return -1;
	}
	return gone ? f->disk->ops->sync_directory(f->disk, f->dir, err) : 0;
}

/* A commit that was killed before its sync looks whole, and must not be lost after it was read. */
int journal_recover(struct file_store *f, const json *commit, int64_t size, struct error *err)
{
	bool torn = size > f->end;

	f->unsynced |= torn;
	if (torn && f->journal->ops->truncate(f->journal, f->end, err) < 0)
		return -1;
	if (f->unsynced && (torn || commit) && sync_commit(f, commit, err) < 0)
		return -1;
	f->fresh = f->end == 0;
	if (recover_documents(f, commit, err) < 0)
		return -1;
	return commit ? recover_removals(f, commit, err) : 0;
}
