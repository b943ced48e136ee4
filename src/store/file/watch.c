/*
 * watch.c: reading the history of keys, and forgetting it.
 *
 * A compaction commits the whole state and every document as a whole text. Then a journal that
 * begins with a later commit replaces the old one. Its first line says where it begins:
 * `{"format":2,"kept":OFFSET,"compacted":REV}`: the byte after that line has this offset.
 */
#include <time.h>
#include "src/base/clock.h"
#include "src/store/file/internal.h"

enum { HEADER_MAX = 128 };

struct watch_scan {
	struct arena *a;
	const char *prefix;
	int64_t from, next;
	VEC(struct store_change) found;
	size_t max;
};

/* The first revision that is kept; 0: all are. */
static int first_kept(struct file_store *f, int64_t *rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *head = NULL;
	size_t n = f->end < HEADER_MAX ? (size_t)f->end : HEADER_MAX;
	struct str rest, line;

	*rev = 0;
	if (!f->shift)
		return 0;
	if (f->journal->ops->pread(f->journal, 0, n, &text, err) < 0)
		return -1;
	rest = buf_str(&text);
	if (!str_line(&rest, &line) || json_parse(&head, line, err) < 0)
		return error_set(err, ERR_INPUT, "'%s' is damaged in line 1", f->journal_path);
	*rev = json_get_int(head, "compacted", 0);
	return 0;
}

/* ---- watch ---- */

static void add(struct watch_scan *w, struct store_change c)
{
	if (!str_starts(c.kv.key, w->prefix))
		return;
	c.kv.key = arena_str(w->a, c.kv.key);
	c.kv.value = arena_str(w->a, c.kv.value);
	vec_push_in(w->a, &w->found, c);
}

static void add_commit(struct watch_scan *w, const json *commit, int64_t rev)
{
	for (const json *i = json_first(json_get(commit, "del")); i; i = json_next(i))
		add(w, (struct store_change){
			       .rev = rev, .deleted = true, .kv.key = str_of(json_text(i))});
	for (const json *i = json_first(json_get(commit, "put")); i; i = json_next(i)) {
		struct store_change c = {.rev = rev};

		(void)state_read_key(i, &c.kv);
		add(w, c);
	}
	for (const json *i = json_first(json_get(commit, "doc")); i; i = json_next(i)) {
		struct store_change c = {.rev = rev, .kv.key = str_of(json_key(i))};
		struct state_entry e = {0};

		(void)state_read_document(i, &e);
		c.kv.create = e.create;
		c.kv.mod = e.mod;
		add(w, c);
	}
}

/* False when the watch is full. The first commit is returned whole, whatever its size. */
static bool add_line(struct watch_scan *w, struct str line, int64_t rev)
{
	CLEANUP(json_free) json *commit = NULL;
	struct error ignored;
	size_t before = w->found.n;

	if (json_parse(&commit, line, &ignored) == 0)
		add_commit(w, commit, rev);
	if (before && w->found.n > w->max) {
		w->found.n = before;
		return false;
	}
	w->next = rev + 1;
	return w->found.n < w->max;
}

/* Revisions after the last line with the whole state all follow that line. */
static int scan(struct file_store *f, struct watch_scan *w, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t start = w->from > f->state.base_rev ? f->state.base - f->shift : 0, rev;
	struct str rest, line;

	if (w->from > f->state.rev)
		return 0;
	if (f->journal->ops->pread(f->journal, start, (size_t)(f->end - start), &text, err) < 0)
		return -1;
	for (rest = buf_str(&text); str_line(&rest, &line);)
		if (journal_is_commit(line, &rev) && rev >= w->from && !add_line(w, line, rev))
			return 0;
	w->next = f->state.rev + 1;
	return 0;
}

static enum store_status scan_once(struct file_store *f, struct watch_scan *w, struct error *err)
{
	enum store_status got = file_begin(f, false, err);
	int64_t kept;

	if (got != STORE_OK)
		return got;
	if (first_kept(f, &kept, err) < 0 || (w->from >= kept && scan(f, w, err) < 0))
		got = STORE_DOWN;
	else if (w->from < kept) {
		error_set(err, ERR_STATE, "history before revision %lld is no longer kept",
			(long long)kept);
		got = STORE_COMPACTED;
	}
	file_end(f);
	return got;
}

static void sleep_ms(int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&ts, NULL);
}

enum store_status file_watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	struct file_store *f = file_of(s);
	struct watch_scan w = {.a = a, .prefix = prefix, .from = from, .next = from, .max = max};
	int64_t until = clock_ticks() + wait_ms, pause = 2;
	enum store_status got;

	/* Under STORE_HOLD nobody else can write. */
	while ((got = scan_once(f, &w, err)) == STORE_OK && !w.found.n && f->mode != STORE_HOLD) {
		int64_t left = until - clock_ticks();

		w.from = w.next;
		if (left <= 0)
			break;
		sleep_ms(pause < left ? pause : left);
		pause = pause < 50 ? pause * 2 : pause;
	}
	*out = w.found.items;
	*n = w.found.n;
	*next = w.next;
	return got;
}

/* ---- compaction ---- */

/* Offset of the first transaction that stays. */
static size_t cut_at(struct str text, int64_t rev)
{
	struct str rest = text, line;
	size_t at = 0;
	int64_t is;

	while (str_line(&rest, &line)) {
		if (!journal_is_commit(line, &is))
			continue;
		if (is >= rev)
			break;
		at = text.n - rest.n;
	}
	return at;
}

static int replace_journal(struct file_store *f, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct disk *d = f->disk;
	const char *fresh = arena_printf(&a, "%s.new", f->journal_path);
	struct error ignored;

	if (d->ops->write(d, fresh, f->journal_path, text, err) < 0 ||
		d->ops->sync_folder(d, f->dir, err) < 0 ||
		d->ops->rename(d, fresh, f->journal_path, err) < 0) {
		(void)d->ops->unlink(d, fresh, &ignored);
		return -1;
	}
	return d->ops->sync_folder(d, f->dir, err);
}

static int cut_journal(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, text = BUF_INIT;
	size_t cut;

	if (f->journal->ops->pread(f->journal, 0, (size_t)f->end, &old, err) < 0)
		return -1;
	cut = cut_at(buf_str(&old), rev);
	if (!cut)
		return 0;
	buf_addf(&text, FILE_HEADER ",\"kept\":%lld,\"compacted\":%lld}\n",
		(long long)cut + (long long)f->shift, (long long)rev);
	buf_add(&text, str_sub(buf_str(&old), cut, old.len));
	return replace_journal(f, buf_str(&text), err);
}

/* The load finds out which of the two journals is there. */
static enum store_status shorten_journal(struct file_store *f, int64_t rev, struct error *err)
{
	struct error why, later;
	int rc = cut_journal(f, rev, &why);

	f->committed = false;
	if (file_load(f, &later) < 0) {
		*err = later;
		return file_break(f, err);
	}
	if (rc < 0)
		*err = why;
	return rc < 0 ? STORE_DOWN : STORE_OK;
}

static enum store_status compact(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct commit_plan p = {.full = true};
	enum store_status got;
	int64_t kept;

	if (first_kept(f, &kept, err) < 0)
		return STORE_DOWN;
	if (rev > f->state.rev)
		rev = f->state.rev + 1;
	if (!f->committed || rev <= 1 || rev <= kept)
		return STORE_OK;
	plan_begin(&p, &a, f);
	got = journal_commit(f, &p, err);
	return got == STORE_OK ? shorten_journal(f, rev, err) : got;
}

enum store_status file_compact(struct store *s, int64_t rev, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, true, err);

	if (got != STORE_OK)
		return got;
	got = compact(f, rev, err);
	file_end(f);
	return got;
}
