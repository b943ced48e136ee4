#include <time.h>
#include "src/base/clock.h"
#include "src/store/file/file_internal.h"

struct watch {
	struct arena *a;
	const char *prefix;
	int64_t from, next;
	struct store_change *out;
	size_t n, cap, max;
};

static void add(struct watch *w, struct store_change c)
{
	if (!str_starts(c.kv.key, w->prefix))
		return;
	if (w->n == w->cap) {
		struct store_change *more;

		w->cap = w->cap ? w->cap * 2 : 16;
		more = arena_alloc(w->a, w->cap * sizeof(*more));
		if (w->n)
			memcpy(more, w->out, w->n * sizeof(*more));
		w->out = more;
	}
	c.kv.key = arena_str(w->a, c.kv.key);
	c.kv.value = arena_str(w->a, c.kv.value);
	w->out[w->n++] = c;
}

static void add_commit(struct watch *w, const json *commit, int64_t rev)
{
	for (const json *i = json_first(json_get(commit, "del")); i; i = json_next(i))
		add(w, (struct store_change){
			       .rev = rev, .deleted = true, .kv.key = str_of(json_text(i))});
	for (const json *i = json_first(json_get(commit, "put")); i; i = json_next(i)) {
		struct store_change c = {.rev = rev};

		(void)row_key(i, &c.kv);
		add(w, c);
	}
	for (const json *i = json_first(json_get(commit, "doc")); i; i = json_next(i)) {
		struct store_change c = {.rev = rev, .kv.key = str_of(json_key(i))};
		struct entry e = {0};

		(void)row_document(i, &e);
		c.kv.create = e.create;
		c.kv.mod = e.mod;
		add(w, c);
	}
}

/* False when it does not fit whole; the first one always does. */
static bool take(struct watch *w, struct str line, int64_t rev)
{
	CLEANUP(json_free) json *commit = NULL;
	struct error ignored;
	size_t before = w->n;

	if (json_parse(&commit, line, &ignored) == 0)
		add_commit(w, commit, rev);
	if (before && w->n > w->max) {
		w->n = before;
		return false;
	}
	w->next = rev + 1;
	return w->n < w->max;
}

/* Revisions that the state's last dump has behind it are all in what follows it. */
static int scan(struct file_store *f, struct watch *w, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t start = w->from > f->state.base_rev ? f->state.base - f->shift : 0, rev;
	struct str rest, line;

	if (w->from > f->state.rev)
		return 0;
	if (f->journal->ops->pread(f->journal, start, (size_t)(f->end - start), &text, err) < 0)
		return -1;
	for (rest = buf_str(&text); str_line(&rest, &line);)
		if (line_commit(line, &rev) && rev >= w->from && !take(w, line, rev))
			return 0;
	w->next = f->state.rev + 1;
	return 0;
}

static enum store_status look(struct file_store *f, struct watch *w, struct error *err)
{
	enum store_status got = file_enter(f, false, err);
	int64_t kept;

	if (got != STORE_OK)
		return got;
	if (file_compacted(f, &kept, err) < 0 || (w->from >= kept && scan(f, w, err) < 0))
		got = STORE_DOWN;
	else if (w->from < kept) {
		error_set(err, ERR_STATE, "history before revision %lld is no longer kept",
			(long long)kept);
		got = STORE_COMPACTED;
	}
	file_leave(f);
	return got;
}

static void nap(int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&ts, NULL);
}

enum store_status file_watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	struct file_store *f = file_of(s);
	struct watch w = {.a = a, .prefix = prefix, .from = from, .next = from, .max = max};
	int64_t until = clock_ticks() + wait_ms, pause = 2;
	enum store_status got;

	/* Under STORE_HOLD there is nobody to wait for. */
	while ((got = look(f, &w, err)) == STORE_OK && !w.n && f->mode != STORE_HOLD) {
		int64_t left = until - clock_ticks();

		w.from = w.next;
		if (left <= 0)
			break;
		nap(pause < left ? pause : left);
		pause = pause < 50 ? pause * 2 : pause;
	}
	*out = w.out;
	*n = w.n;
	*next = w.next;
	return got;
}
