/*
 * history.c: the commits of a journal, from any of them on, in both directions. Only the part of
 * the journal that is asked for is read: revisions grow with the offset, so the first commit is
 * found by bisection, and the text of a document is rebuilt from its last whole one.
 */
#include "src/base/number.h"
#include "src/store/file/internal.h"

enum { PROBE = 4 << 10, AHEAD_MAX = 1 << 20 };

struct walk {
	struct store_history base;
	struct file_store *f;
	struct store_range range;
	struct buf window; /* bytes of the journal, from `at` on */
	int64_t at;
	int64_t ahead; /* how many bytes more than necessary the next read takes */
	int64_t start; /* where the first transaction begins */
	/* Forwards: the next transaction begins at `end`. Backwards: the next commit line is at
	 * `line`, start when there is none, and ends at `end`. */
	int64_t line, end;
	int64_t rev; /* of the last one read; 0: none was */
	json *head;
	struct store_changes changes;
	struct state_entry row;               /* of the document in *head */
	char key[STORE_DOCUMENT_KEY_MAX + 1]; /* whose text is in `text`; empty: none */
	struct buf text;
};

/* ---- reading ---- */

static int64_t window_end(const struct walk *w)
{
	return w->at + (int64_t)w->window.len;
}

static struct str bytes(const struct walk *w, int64_t from, int64_t to)
{
	return (struct str){w->window.s + (from - w->at), (size_t)(to - from)};
}

/* Makes the window contain from..to, and more on the side where the walk continues. */
static int file_history_need(struct walk *w, int64_t from, int64_t to, struct error *err)
{
	if (from >= w->at && to <= window_end(w))
		return 0;
	if (w->range.backwards && to - from < w->ahead)
		from = to > w->ahead ? to - w->ahead : 0;
	else if (to - from < w->ahead)
		to = from + w->ahead < w->f->end ? from + w->ahead : w->f->end;
	w->ahead = w->ahead * 2 < AHEAD_MAX ? w->ahead * 2 : AHEAD_MAX;
	w->at = from;
	buf_clear(&w->window);
	return to > from ? w->f->journal->ops->pread(
				   w->f->journal, from, (size_t)(to - from), &w->window, err)
			 : 0;
}

/* The first commit line that begins in from..limit: 1, or 0 when there is none. `inside`: `from`
 * is inside of a line, which is skipped. */
static int find_after(struct walk *w, int64_t from, bool inside, int64_t limit, int64_t *at,
	int64_t *end, struct error *err)
{
	for (int64_t n = PROBE;; n *= 2) {
		int64_t to = from + n < w->f->end ? from + n : w->f->end;
		struct str rest, line;
		bool skip = inside;

		if (file_history_need(w, from, to, err) < 0)
			return -1;
		for (rest = bytes(w, from, window_end(w));
			str_line(&rest, &line) && rest.p[-1] == '\n'; skip = false) {
			*at = w->at + (line.p - w->window.s);
			*end = w->at + (rest.p - w->window.s);
			if (*at >= limit)
				return 0;
			if (!skip && str_starts(line, FILE_COMMIT))
				return 1;
		}
		if (to == w->f->end)
			return 0;
	}
}

/* The last commit line that begins before `to`, where a line begins: 1, or 0 when there is none. */
static int find_before(struct walk *w, int64_t to, int64_t *at, struct error *err)
{
	for (int64_t n = PROBE;; n *= 2) {
		int64_t from = to > n ? to - n : 0;
		ssize_t found;

		if (file_history_need(w, from, to, err) < 0)
			return -1;
		found = journal_last_commit(buf_str(&w->window), (size_t)(to - w->at));
		*at = w->at + found;
		if (found > 0 || (found == 0 && !w->at)) /* else it may be the end of a line */
			return 1;
		if (!from)
			return 0;
	}
}

/* Where the line at `at` ends. */
static int64_t line_end(const struct walk *w, int64_t at)
{
	const char *p = w->window.s + (at - w->at),
		   *newline = memchr(p, '\n', (size_t)(window_end(w) - at));

	return newline ? at + (newline + 1 - p) : w->f->end;
}

/* ---- the first commit ---- */

static int64_t number_in(struct str line, const char *member)
{
	uint64_t n = 0;

	(void)number_digits(
		str_sub(line, str_find(line, str_of(member)) + strlen(member), line.n), &n);
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Whether the commit line is the first one of the range, or behind it. */
static bool file_history_is_in(const struct walk *w, int64_t at, int64_t end, int64_t from)
{
	struct str line = bytes(w, at, end);

	return number_in(line, FILE_COMMIT) >= from &&
	       (!w->range.after_seq || number_in(line, ",\"seq\":") > w->range.after_seq);
}

/* *at: the first commit line of the range; f->end when there is none. */
static int bisect(struct walk *w, int64_t from, int64_t *at, struct error *err)
{
	int64_t low = w->start, high = w->f->end;
	int64_t middle = high - FILE_WINDOW; /* most questions are about the end */

	*at = high;
	for (w->ahead = 0; high > low; middle = low + (high - low) / 2) {
		bool inside = high - low > PROBE && middle > low;
		int64_t from_here = inside ? middle : low, found, end;
		/* From the byte before: a line that begins in the middle is not skipped. */
		int rc = find_after(w, from_here - inside, inside, high, &found, &end, err);

		if (rc < 0)
			return -1;
		if (!rc) {
			high = from_here;
		} else if (!file_history_is_in(w, found, end, from)) {
			low = end;
		} else {
			high = *at = found;
			low = inside ? low : found;
		}
	}
	w->ahead = FILE_WINDOW;
	return 0;
}

static int set_start(struct walk *w, struct error *err)
{
	struct journal_header header;

	if (journal_read_header(w->f, &header, err) < 0)
		return -1;
	w->start = header.begin;
	return 0;
}

/* Finds where the walk begins. */
static int seek(struct walk *w, struct error *err)
{
	const struct store_range *r = &w->range;
	int64_t at = w->f->end;
	int rc;

	if (set_start(w, err) < 0)
		return -1;
	w->line = -1;
	w->end = w->start;
	if (!r->backwards && r->from <= 1 && !r->after_seq)
		return 0;
	if ((!r->backwards || r->from) &&
		bisect(w, r->backwards ? r->from + 1 : r->from, &at, err) < 0)
		return -1;
	rc = find_before(w, at, &w->line, err);
	if (rc > 0)
		w->end = line_end(w, w->line);
	else
		w->line = -1;
	return rc < 0 ? -1 : 0;
}

/* ---- a transaction ---- */

static int file_history_damaged(struct walk *w, int64_t at, const char *what, struct error *err)
{
	return error_at(
		err, w->f->journal_path, journal_line_number(w->f->journal, at), 1, "%s", what);
}

static int check_sum(struct walk *w, int64_t begin, int64_t at, struct str line, struct error *err)
{
	char is[DIGEST_TEXT], what[160];
	size_t n;
	const char *sum = journal_line_sum(line, &n);

	digest_text(bytes(w, begin, at + (sum ? (int64_t)n : 0)), is);
	if (sum && memcmp(is, sum, DIGEST_TEXT - 1) == 0)
		return 0;
	(void)snprintf(what, sizeof(what), "damaged: lines %u to %u have a wrong checksum",
		journal_line_number(w->f->journal, begin), journal_line_number(w->f->journal, at));
	return file_history_damaged(w, at, what, err);
}

/* Parses the commit line of the transaction begin..end. */
static int file_history_read_head(
	struct walk *w, int64_t begin, int64_t at, int64_t end, struct error *err)
{
	struct str rest, line;
	struct error why;
	int64_t rev;

	json_free(&w->head);
	if (file_history_need(w, begin, end, err) < 0)
		return -1;
	rest = bytes(w, at, end);
	(void)str_line(&rest, &line);
	if (check_sum(w, begin, at, line, err) < 0)
		return -1;
	if (json_parse(&w->head, line, &why) < 0)
		return file_history_damaged(w, at, why.text, err);
	rev = json_get_int(w->head, "commit", 0);
	if (rev <= 0 || (w->rev && (w->range.backwards ? rev >= w->rev : rev <= w->rev)))
		return file_history_damaged(w, at, "damaged: a revision is repeated", err);
	if (json_get_int(w->head, "from", -1) != begin + w->f->shift ||
		json_get_int(w->head, "at", -1) != at + w->f->shift)
		return file_history_damaged(
			w, at, "damaged: lines are missing before this one", err);
	w->rev = rev;
	return 0;
}

/* ---- the text of the document ---- */

/* From the text of the commit before it, if that is known. */
static int file_history_read_text(
	struct walk *w, int64_t begin, int64_t at, int64_t end, struct error *err)
{
	bool follows = !w->range.backwards && strcmp(w->key, w->row.key) == 0;
	struct error why;
	int rc;

	w->key[0] = '\0';
	if (!follows)
		buf_clear(&w->text);
	if (follows)
		rc = store_document_apply(bytes(w, begin, at), &w->row, &w->text, &why);
	else if (w->row.whole < w->f->shift) /* cut off by a compaction */
		return 0;
	else
		rc = store_document_rebuild(w->f, &w->row, end, &w->text, &why);
	if (rc < 0)
		return why.code == ERR_INPUT ? file_history_damaged(w, at, why.text, err)
					     : (*err = why, -1);
	(void)snprintf(w->key, sizeof(w->key), "%s", w->row.key);
	return 0;
}

/* ---- what the reader gets ---- */

void journal_changes(const json *head, struct store_changes *out)
{
	int64_t rev = json_get_int(head, "commit", 0);
	struct store_change c;

	out->n = 0;
	for (const json *i = json_first(json_get(head, "del")); i; i = json_next(i))
		vec_push(out, (struct store_change){
				      .rev = rev, .deleted = true, .kv.key = str_of(json_text(i))});
	for (const json *i = json_first(json_get(head, "put")); i; i = json_next(i)) {
		c = (struct store_change){.rev = rev};
		(void)state_entry_read_key(i, &c.kv);
		if (c.kv.mod == rev) /* else only the end of the lease changed */
			vec_push(out, c);
	}
	for (const json *i = json_first(json_get(head, "doc")); i; i = json_next(i)) {
		struct state_entry e = {0};

		(void)state_entry_read_document(i, &e);
		vec_push(out, (struct store_change){.rev = rev,
				      .kv = {.key = str_of(json_key(i)),
					      .create = e.create,
					      .mod = e.mod}});
	}
}

/* The events: what is between the first line of a journal and the changes of documents. */
static struct str events_in(struct str lines)
{
	struct str rest = lines, line, events = {lines.p, 0};

	while (str_line(&rest, &line) && !str_starts(line, FILE_CHANGE) &&
		!str_starts(line, FILE_COMMIT)) {
		if (str_starts(line, FILE_HEADER))
			events.p = rest.p;
		events.n = (size_t)(rest.p - events.p);
	}
	return events;
}

/* The document that the commit put, or else the one that it deleted. */
static const struct store_change *document_in(const struct walk *w)
{
	const struct store_change *found = NULL;

	for (size_t i = 0; i < w->changes.n; i++) {
		const struct store_change *c = &w->changes.items[i];

		if (str_starts(c->kv.key, "doc/") && (!found || found->deleted))
			found = c;
	}
	return found;
}

static int file_history_fill(struct walk *w, int64_t begin, int64_t at, int64_t end,
	struct store_commit *c, struct error *err)
{
	const struct store_change *d;

	journal_changes(w->head, &w->changes);
	*c = (struct store_commit){.rev = w->rev,
		.ts = json_get_str(w->head, "ts"),
		.actor = json_get_str(w->head, "actor"),
		.note = json_get(w->head, "note"),
		.digest = json_get_str(w->head, "sum"),
		.changes = w->changes.items,
		.n_changes = w->changes.n};
	if ((d = document_in(w))) {
		bool text = !d->deleted && w->range.texts && !w->range.changes;

		c->document = d->kv.key.p;
		c->removed = d->deleted;
		w->row = (struct state_entry){.key = (char *)(uintptr_t)c->document};
		if (!d->deleted)
			(void)state_entry_read_document(
				json_get(json_get(w->head, "doc"), c->document), &w->row);
		c->sum = w->row.sum;
		if (text && file_history_read_text(w, begin, at, end, err) < 0)
			return -1;
		c->text = text ? buf_str(&w->text) : (struct str){0};
	}
	if (file_history_need(w, begin, end, err) < 0)
		return -1;
	c->events = events_in(bytes(w, begin, at));
	if (d && !d->deleted && w->range.changes)
		c->change = bytes(w, begin, at);
	return 1;
}

static int file_history_next(struct store_history *h, struct store_commit *c, struct error *err)
{
	struct walk *w = (struct walk *)h;
	int64_t begin = w->end, at = w->line, end = w->end, before = -1;
	int rc;

	if (!w->range.backwards && begin < w->f->end) {
		rc = find_after(w, begin, false, w->f->end, &at, &end, err);
	} else if (at < 0 || !w->range.backwards) {
		rc = 0;
	} else if ((rc = find_before(w, at, &before, err)) >= 0) {
		begin = rc ? line_end(w, before) : w->start;
		before = rc ? before : -1;
		rc = 1;
	}
	if (rc <= 0 || file_history_read_head(w, begin, at, end, err) < 0)
		return rc <= 0 ? rc : -1;
	w->line = before;
	w->end = w->range.backwards ? begin : end;
	return file_history_fill(w, begin, at, end, c, err);
}

static int text_after(const struct store_commit *c, struct buf *text, struct error *err)
{
	struct state_entry e = {.key = (char *)(uintptr_t)c->document};

	(void)snprintf(e.sum, sizeof(e.sum), "%s", c->sum);
	return store_document_apply(c->change, &e, text, err);
}

static void walk_close(struct store_history *h)
{
	struct walk *w = (struct walk *)h;

	json_free(&w->head);
	vec_release(&w->changes);
	buf_release(&w->window);
	buf_release(&w->text);
	free(w);
}

int file_walk(struct file_store *f, const struct store_range *range, struct store_history **out,
	struct error *err)
{
	struct walk *w = xmalloc(sizeof(*w));

	*w = (struct walk){.base = {.next = file_history_next,
				   .text = text_after,
				   .close = walk_close,
				   .of = &f->base},
		.line = -1,
		.f = f,
		.range = *range,
		.ahead = FILE_WINDOW};
	*out = &w->base;
	if (!f->journal || seek(w, err) == 0)
		return 0;
	store_history_close(out);
	return -1;
}

int file_find(struct file_store *f, int64_t rev, int64_t *at, struct error *err)
{
	struct walk w = {.f = f, .range = {.from = rev}, .ahead = FILE_WINDOW};
	int rc = seek(&w, err);

	*at = w.end;
	buf_release(&w.window);
	return rc;
}
