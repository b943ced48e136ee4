#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/memory_store.h"
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "src/sys/digest.h"

/* A memory is one block: texts and history stay in it until the end. The limits are those of
 * store.c. */
#define BLOCK ((size_t)1 << 30)

struct commit {
	struct store_commit c; /* without the note */
	struct str note;
	const char *opid; /* of a transaction without an actor */
	size_t first_change;
	int64_t last_event;
	char sum[DIGEST_TEXT];
};

struct room {
	struct memory *of;
	struct room *next;
	const char *ns;
	struct store_kv *kv; /* sorted by key */
	struct store_change *history;
	struct commit *commits;
	size_t n_kv, n_history, n_commits;
	int64_t rev, events, kept_from;
	const void *held_by;
};

struct memory {
	_Alignas(max_align_t) struct store_backend base;
	size_t used; /* of the block, which begins with this */
	struct room *rooms;
	struct random random;
};

struct client {
	struct store base;
	struct memory *m;
	struct room *room;
	enum store_mode mode;
};

/* ---- the block ---- */

static void *keep(struct memory *m, size_t n)
{
	void *at = (char *)m + m->used;

	m->used += (n + 15) & ~(size_t)15;
	if (m->used > BLOCK)
		die("a store in memory is full");
	return memset(at, 0, n);
}

static struct str keep_str(struct memory *m, struct str s)
{
	char *copy = keep(m, s.n + 1);

	if (s.n)
		memcpy(copy, s.p, s.n);
	return (struct str){copy, s.n};
}

static const char *keep_text(struct memory *m, const char *text)
{
	return text ? keep_str(m, str_of(text)).p : NULL;
}

/* The list with room for one more; it is moved when its length is a power of two. */
static void *grown(struct memory *m, void *list, size_t n, size_t size)
{
	void *moved = n & (n - 1) ? list : keep(m, (n ? 2 * n : 1) * size);

	return moved == list || !n ? moved : memcpy(moved, list, n * size);
}

#define PUSH(m, list, n, ...)                                                                      \
	((list) = grown(m, list, n, sizeof(*(list))), (list)[(n)++] = (__VA_ARGS__))

/* ---- one memory of several processes ---- */

/* Its file gets a record of the pages that a change altered: a rewritten file would keep a slow
 * disk busy. A record that a kill cut short is ignored, and cut off by the next one, so a kill
 * leaves the state before or after a change. The block is at one address everywhere, for its
 * pointers. */
#define ADDRESS ((void *)0x200000000000)

enum { PAGE = 4096 };

struct record {
	uint64_t n;
	struct {
		uint64_t at;
		char bytes[PAGE];
	} pages[];
};

static struct memory *shared; /* NULL: this process has only memories of its own */
static char shared_path[PATH_MAX];
static int lock = -1;
static bool skipping;         /* numbers of revisions */
static bool changed, reading; /* in this operation; what a reader changes is its own view */
static size_t first_change;
static off_t applied;                    /* bytes of the file that the block has */
static uint64_t page_sums[BLOCK / PAGE]; /* of the pages as the file has them */

static char *beside(struct arena *a, const char *suffix)
{
	return arena_printf(a, "%s%s", shared_path, suffix);
}

static uint64_t page_sum(const char *page)
{
	uint64_t sum = 1, word;

	for (size_t i = 0; i < PAGE; i += sizeof(word)) {
		memcpy(&word, page + i, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
		sum ^= sum >> 32;
	}
	return sum;
}

static size_t record_size(uint64_t n)
{
	return sizeof(struct record) + n * sizeof(((struct record *)0)->pages[0]);
}

/* Applies a record; false when there is no whole one. */
static bool apply_record(struct memory *m, struct str rest)
{
	const struct record *r = (const struct record *)rest.p;
	struct memory own = *m;

	if (rest.n < sizeof(*r) || rest.n < record_size(r->n))
		return false;
	for (uint64_t i = 0; i < r->n; i++) {
		memcpy((char *)m + r->pages[i].at * PAGE, r->pages[i].bytes, PAGE);
		page_sums[r->pages[i].at] = page_sum(r->pages[i].bytes);
	}
	m->base = own.base;
	m->random = own.random; /* or the same request would be lost again */
	applied += (off_t)record_size(r->n);
	return true;
}

static void forget_file(void)
{
	if (applied)
		memset(page_sums, 0, sizeof(page_sums));
	applied = 0;
}

static void load(struct memory *m)
{
	CLEANUP(base_close) int fd = open(shared_path, O_RDONLY | O_CLOEXEC);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err;
	struct stat st = {0};
	size_t at = 0;

	if (fd >= 0 && fstat(fd, &st) < 0)
		die("cannot read '%s'", shared_path);
	if (st.st_size < applied) /* it is another file, or none */
		forget_file();
	if (st.st_size == applied)
		return;
	if (lseek(fd, applied, SEEK_SET) < 0 ||
		sys_read_all(&text, fd, BLOCK, shared_path, &err) < 0)
		die("cannot read '%s'", shared_path);
	while (apply_record(m, str_sub(buf_str(&text), at, text.len)))
		at += record_size(((const struct record *)(text.s + at))->n);
}

static void save(struct memory *m)
{
	CLEANUP(base_close) int fd = open(shared_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct record head = {0};
	struct error err;

	buf_add(&text, (struct str){(char *)&head, sizeof(head)});
	for (uint64_t at = 0; at * PAGE < m->used; at++) {
		struct str page = {(char *)m + at * PAGE, PAGE};
		uint64_t sum = page_sum(page.p);

		if (sum == page_sums[at])
			continue;
		page_sums[at] = sum;
		head.n++;
		buf_add(&text, (struct str){(char *)&at, sizeof(at)});
		buf_add(&text, page);
	}
	memcpy(text.s, &head, sizeof(head));
	if (fd < 0 || ftruncate(fd, applied) < 0 || lseek(fd, applied, SEEK_SET) < 0 ||
		sys_write_all(fd, buf_str(&text), shared_path, &err) < 0)
		die("cannot write '%s'", shared_path);
	applied += (off_t)text.len;
}

/* Other processes wait until finish(). */
static struct memory *begin(struct memory *m)
{
	CLEANUP(arena_release) struct arena a = {0};

	changed = reading = false;
	if (m != shared)
		return m;
	lock = open(beside(&a, ".lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		die("cannot lock '%s'", shared_path);
	load(m);
	return m;
}

static void finish(struct memory **m)
{
	if (*m != shared)
		return;
	if (changed && reading)
		applied = 0; /* drops this view */
	else if (changed)
		save(*m);
	close(lock);
}

/* ---- its parts ---- */

static bool is_document(const char *key)
{
	return str_starts(str_of(key), "doc/");
}

static struct store_kv *find(struct room *r, const char *key)
{
	for (size_t i = 0; i < r->n_kv; i++)
		if (str_is(r->kv[i].key, key))
			return &r->kv[i];
	return NULL;
}

static struct commit *begin_commit(struct room *r)
{
	char now[CLOCK_TEXT];

	r->rev += r->of == shared && skipping ? 1 + random_below(&r->of->random, 3) : 1;
	clock_text(clock_now(), now);
	PUSH(r->of, r->commits, r->n_commits,
		(struct commit){.c = {.rev = r->rev, .ts = keep_text(r->of, now)},
			.first_change = r->n_history,
			.last_event = r->events});
	changed = true;
	return &r->commits[r->n_commits - 1];
}

static void remember(struct room *r, struct store_kv kv, bool deleted)
{
	struct commit *of = &r->commits[r->n_commits - 1];

	of->c.n_changes++;
	if (is_document(kv.key.p) && (!of->c.document || of->c.removed)) {
		of->c.document = kv.key.p;
		of->c.removed = deleted;
		of->c.text = deleted ? (struct str){0} : kv.value;
		if (!deleted)
			digest_text(kv.value, of->sum);
	}
	if (is_document(kv.key.p))
		kv.value.n = 0;
	PUSH(r->of, r->history, r->n_history,
		(struct store_change){.rev = r->rev, .deleted = deleted, .kv = kv});
}

static void drop(struct room *r, struct store_kv *kv)
{
	struct store_kv old = {.key = kv->key, .mod = r->rev};

	memmove(kv, kv + 1, (size_t)(r->kv + r->n_kv - (kv + 1)) * sizeof(*kv));
	r->n_kv--;
	remember(r, old, true);
}

static void put(struct room *r, const char *key, struct str value, int ttl_s)
{
	struct store_kv *kv = find(r, key);
	size_t at = 0;

	if (!kv) {
		while (at < r->n_kv && strcmp(r->kv[at].key.p, key) < 0)
			at++;
		r->kv = grown(r->of, r->kv, r->n_kv, sizeof(*kv));
		kv = &r->kv[at];
		memmove(kv + 1, kv, (r->n_kv++ - at) * sizeof(*kv));
		*kv = (struct store_kv){.key = keep_str(r->of, str_of(key)), .create = r->rev};
	}
	kv->value = keep_str(r->of, value);
	kv->mod = r->rev;
	kv->ttl_s = ttl_s;
	kv->until = ttl_s ? clock_now() + ttl_s : 0;
	remember(r, *kv, false);
}

/* Begins an operation: others wait until leave(). Leases that ended since the last one go in one
 * commit. */
static struct room *enter(struct store *s)
{
	struct client *c = (struct client *)s;
	struct room *r = c->room;
	int64_t now = clock_now();
	bool any = false;

	(void)begin(c->m);
	reading = c->mode == STORE_READ;
	first_change = r->n_history;
	for (size_t i = r->n_kv; i-- > 0;) {
		struct store_kv *kv = &r->kv[i];

		if (!kv->ttl_s)
			continue;
		if (kv->until > now + kv->ttl_s) {
			kv->until = now + kv->ttl_s;
			changed = true;
		}
		if (kv->until > now)
			continue;
		if (!any)
			begin_commit(r);
		any = true;
		drop(r, kv);
	}
	return r;
}

/* ---- a shared memory shows documents and events as files ---- */

static char *document_file(struct arena *a, const struct room *r, const char *key, bool staged)
{
	return arena_printf(a, "%.*s/%s%s%s", (int)path_dir(r->ns).n, r->ns, staged ? "." : "",
		key + strlen("doc/"), staged ? ".new" : "");
}

/* The text of a document; a long one is a blob, to which the value leads. */
static struct str text_of(const struct store_kv *kv, struct buf *own)
{
	static const char blob[] = "\x01"
				   "blob:";

	return str_starts(kv->value, blob) && tree_read(kv->value.p + strlen(blob), own)
		       ? buf_str(own)
		       : kv->value;
}

/* Before a save the new documents are staged, after it they replace the old ones. */
static void write_documents(struct room *r, bool stage)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf own = BUF_INIT;

	for (size_t i = first_change; i < r->n_history; i++) {
		const char *key = r->history[i].kv.key.p;
		const struct store_kv *kv = find(r, key);

		if (!is_document(key))
			continue;
		if (stage && kv)
			tree_write(document_file(&a, r, key, true), text_of(kv, &own));
		else if (!stage && kv)
			(void)rename(
				document_file(&a, r, key, true), document_file(&a, r, key, false));
		else if (!stage)
			(void)unlink(document_file(&a, r, key, false));
	}
}

static char *events_file(struct arena *a, const struct room *r)
{
	return arena_printf(a, "%s.events.jsonl", r->ns);
}

static void write_events(struct room *r)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < r->n_commits; i++)
		buf_add(&text, r->commits[i].c.events);
	if (r->n_commits)
		tree_write(events_file(&a, r), buf_str(&text));
	else
		(void)unlink(events_file(&a, r));
}

/* Ends an operation. */
static void leave(struct room **of)
{
	struct room *r = *of;

	if (r->of == shared && changed && !reading) {
		write_documents(r, true);
		save(r->of);
		write_documents(r, false);
		write_events(r);
		changed = false;
	}
	finish(&r->of);
}

/* The key; of a document after its file was edited: that is the commit of another client. A kill
 * may have left a staged file, before or after its commit. */
static struct store_kv *seen(struct room *r, const char *key)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT, own = BUF_INIT;
	struct store_kv *kv = find(r, key);
	const char *file, *staged;
	struct str known = {0};
	struct commit *of;
	bool there;

	if (r->of != shared || !is_document(key) || (!r->n_commits && !reading))
		return kv;
	if (kv)
		known = text_of(kv, &own);
	file = document_file(&a, r, key, false);
	staged = document_file(&a, r, key, true);
	if (tree_read(staged, &text))
		(void)(kv && str_eq(buf_str(&text), known) ? rename(staged, file) : unlink(staged));
	buf_clear(&text);
	there = tree_read(file, &text);
	if (there == (kv != NULL) && (!kv || str_eq(buf_str(&text), known)))
		return kv;
	of = begin_commit(r);
	of->c.actor = keep_text(r->of, "hand");
	of->note = keep_str(r->of, there ? STR("{\"op\":\"edit\"}") : STR("{\"op\":\"removed\"}"));
	if (there)
		put(r, key, buf_str(&text), 0);
	else
		drop(r, kv);
	return find(r, key);
}

/* ---- the operations ---- */

/* NULL when `s` may write, else the reason. */
static enum store_status check_writer(struct store *s, struct error *err)
{
	struct client *c = (struct client *)s;

	if (c->mode == STORE_READ)
		return error_set(err, ERR_STATE, "the store is open for reading"), STORE_BAD;
	if (c->room->held_by && c->room->held_by != c)
		return error_set(err, ERR_STATE, "another holds the store"), STORE_TIMEOUT;
	return STORE_OK;
}

static enum store_status get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	struct store_kv *kv = seen(r, key);

	*out = (struct store_kv){.key = arena_str(a, str_of(key))};
	(void)err;
	if (!kv)
		return STORE_OK;
	*out = *kv;
	out->value = arena_str(a, kv->value);
	return STORE_OK;
}

static enum store_status get_document(struct store *s, const char *key, struct buf *out,
	struct store_kv *out_kv, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	struct store_kv *kv = seen(r, key);

	(void)err;
	if (!kv)
		return STORE_OK;
	buf_add(out, kv->value);
	out_kv->create = kv->create;
	out_kv->mod = kv->mod;
	return STORE_OK;
}

static enum store_status list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);

	(void)err;
	*out = arena_alloc(a, (r->n_kv + 1) * sizeof(**out));
	*n = 0;
	*at = r->rev;
	for (size_t i = 0; i < r->n_kv && *n < max; i++) {
		struct store_kv *kv = &r->kv[i];

		if (!str_starts(kv->key, prefix) || (after && strcmp(kv->key.p, after) <= 0))
			continue;
		(*out)[*n] = *kv;
		if (is_document(kv->key.p))
			(*out)[*n].value = STR("");
		++*n;
	}
	return STORE_OK;
}

static bool guards_hold(
	struct room *r, struct arena *a, const struct store_txn *t, struct store_result *result)
{
	bool hold = true;

	result->now = arena_alloc(a, (t->n_guards + 1) * sizeof(*result->now));
	result->n_now = t->n_guards;
	for (size_t i = 0; i < t->n_guards; i++) {
		const struct store_guard *g = &t->guards[i];
		struct store_kv *kv = find(r, g->key);

		result->now[i] = kv ? *kv : (struct store_kv){.key = arena_str(a, str_of(g->key))};
		hold &= g->rev ==
			(g->what == STORE_MOD_IS ? result->now[i].mod : result->now[i].create);
	}
	return hold;
}

static void keep_events(struct room *r, struct commit *of, const struct store_txn *t)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;

	for (const json *e = json_first(t->events); e; e = json_next(e)) {
		struct json_writer w = {.out = &lines};

		json_write_open(&w, NULL, '{');
		json_write_int(&w, "seq", ++r->events);
		json_write_int(&w, "rev", r->rev);
		if (!json_get(e, "ts"))
			json_write_str(&w, "ts", str_of(of->c.ts));
		for (const json *m = json_first(e); m; m = json_next(m))
			json_write(&w, json_key(m), m);
		json_write_close(&w, '}');
		buf_addc(&lines, '\n');
	}
	of->last_event = r->events;
	of->c.events = keep_str(r->of, buf_str(&lines));
}

static int64_t apply(struct room *r, struct arena *a, const struct store_txn *t)
{
	CLEANUP(buf_release) struct buf note = BUF_INIT;
	struct commit *of = begin_commit(r);

	if (t->ts)
		of->c.ts = keep_text(r->of, t->ts);
	of->c.actor = keep_text(r->of, t->actor);
	of->opid = t->actor ? NULL : keep_text(r->of, t->opid);
	if (t->note)
		json_print(&note, t->note);
	of->note = keep_str(r->of, buf_str(&note));
	keep_events(r, of, t);
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];
		struct store_kv *kv = find(r, op->key);

		if (op->what == STORE_PUT)
			put(r, op->key, op->value, op->ttl_s);
		else if (kv)
			drop(r, kv);
	}
	if (t->actor)
		put(r, arena_printf(a, "rcpt/%s", t->actor), str_of(t->opid), 0);
	return r->rev;
}

/* True when the answer to a request gets lost. */
static bool is_lost(struct store *s, struct error *err)
{
	struct memory *m = ((struct client *)s)->m;

	if (m != shared || !random_chance(&m->random, 250))
		return false;
	error_set(err, ERR_SYSTEM, "the answer was lost");
	return true;
}

static enum store_status commit_once(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	enum store_status got = check_writer(s, err);
	struct store_kv *receipt;

	if (got != STORE_OK)
		return got;
	for (size_t i = 0; i < t->n_guards + t->n_ops; i++)
		(void)seen(r, i < t->n_guards ? t->guards[i].key : t->ops[i - t->n_guards].key);
	receipt = t->actor ? find(r, arena_printf(a, "rcpt/%s", t->actor)) : NULL;
	if (receipt && str_is(receipt->value, t->opid))
		return result->rev = receipt->mod, STORE_OK;
	for (size_t i = r->n_commits; t->opid && i-- > 0;)
		if (r->commits[i].opid && strcmp(r->commits[i].opid, t->opid) == 0)
			return result->rev = r->commits[i].c.rev, STORE_OK;
	if (!guards_hold(r, a, t, result))
		return STORE_REFUSED;
	result->rev = apply(r, a, t);
	return STORE_OK;
}

static enum store_status txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	enum store_status got;

	for (size_t i = 0; s->ops->document_max && i < t->n_ops; i++)
		if (t->ops[i].value.n > s->ops->document_max)
			return error_set(err, ERR_INPUT, "a value is too long"), STORE_BAD;
	if (is_lost(s, err)) /* the request itself */
		return STORE_UNKNOWN;
	got = commit_once(s, a, t, result, err);
	return is_lost(s, err) ? STORE_UNKNOWN : got;
}

/* How many of the next changes are of the prefix and of one commit. */
static size_t commit_size(const struct room *r, size_t at, const char *prefix)
{
	size_t n = 0;

	for (size_t i = at; i < r->n_history && r->history[i].rev == r->history[at].rev; i++)
		n += str_starts(r->history[i].kv.key, prefix);
	return n;
}

static enum store_status watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);

	(void)wait_ms; /* the caller looks again */
	*out = arena_alloc(a, (r->n_history + 1) * sizeof(**out));
	*n = 0;
	if (r->of == shared && random_chance(&r->of->random, 200))
		return error_set(err, ERR_STATE, "the watch was dropped"), STORE_COMPACTED;
	if (r->kept_from && from < r->kept_from)
		return error_set(err, ERR_STATE, "history begins at %lld", (long long)r->kept_from),
		       STORE_COMPACTED;
	*next = from > r->rev ? from : r->rev + 1;
	for (size_t i = 0; i < r->n_history; i++) {
		const struct store_change *c = &r->history[i];

		if (c->rev < from || !str_starts(c->kv.key, prefix))
			continue;
		if (*n && c->rev != (*out)[*n - 1].rev && *n + commit_size(r, i, prefix) > max) {
			*next = c->rev;
			break;
		}
		(*out)[(*n)++] = *c;
	}
	return STORE_OK;
}

static enum store_status compact(struct store *s, int64_t rev, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	enum store_status got = check_writer(s, err);

	if (got != STORE_OK)
		return got;
	r->kept_from = rev;
	changed = true;
	return STORE_OK;
}

static enum store_status remove_store(struct store *s, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	enum store_status got = check_writer(s, err);

	if (got == STORE_OK && ((struct client *)s)->mode != STORE_HOLD && r->of != shared)
		got = (error_set(err, ERR_INPUT, "'%s' is not held", r->ns), STORE_BAD);
	if (got != STORE_OK)
		return got;
	*r = (struct room){.of = r->of, .next = r->next, .ns = r->ns, .held_by = r->held_by};
	first_change = 0;
	changed = true;
	return STORE_OK;
}

/* ---- history ---- */

struct walk {
	struct store_history base;
	struct room *room;
	struct store_range range;
	size_t next; /* backwards: one more than the index */
	json *note;
};

static int next_commit(struct store_history *h, struct store_commit *c, struct error *err)
{
	struct walk *w = (struct walk *)h;
	bool backwards = w->range.backwards;
	struct commit *of;

	if (w->next == (backwards ? 0 : w->room->n_commits))
		return 0;
	w->next -= backwards;
	of = &w->room->commits[w->next];
	w->next += !backwards;
	*c = of->c;
	json_free(&w->note);
	if (of->note.n && json_parse(&w->note, of->note, err) < 0)
		return -1;
	c->note = w->note;
	c->changes = w->room->history + of->first_change;
	c->sum = of->sum;
	if (!w->range.texts)
		c->text = (struct str){0};
	return 1;
}

static void end_walk(struct store_history *h)
{
	json_free(&((struct walk *)h)->note);
	free(h);
}

static enum store_status history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	CLEANUP(leave) struct room *r = enter(s);
	struct walk *w = xmalloc(sizeof(*w));
	const struct commit *all = r->commits;
	size_t i = range->backwards ? r->n_commits : 0;

	(void)err;
	if (range->backwards)
		while (i && range->from && all[i - 1].c.rev > range->from)
			i--;
	else
		while (i < r->n_commits &&
			(all[i].c.rev < range->from ||
				(range->after_seq && all[i].last_event <= range->after_seq)))
			i++;
	*w = (struct walk){.base = {.next = next_commit, .close = end_walk},
		.room = r,
		.range = *range,
		.next = i};
	*out = &w->base;
	return STORE_OK;
}

static int64_t revision(struct store *s)
{
	return ((struct client *)s)->room->rev;
}

static int64_t events(struct store *s)
{
	return ((struct client *)s)->room->events;
}

static void note(struct store *s, const char *what)
{
	(void)s;
	(void)what;
}

static void close_client(struct store *s)
{
	struct client *c = (struct client *)s;

	if (c->room->held_by == c)
		c->room->held_by = NULL;
	free(c);
}

#define OPERATIONS                                                                                 \
	.get = get, .get_document = get_document, .list = list, .txn = txn, .watch = watch,        \
	.compact = compact, .remove = remove_store, .history = history, .revision = revision,      \
	.last_seq = events, .note = note, .close = close_client,

static const struct store_methods memory_store_ops = {OPERATIONS};
static const struct store_methods shared_ops = {
	.document_max = 1 << 20, .uncertain = true, OPERATIONS};

/* ---- the backend ---- */

static struct room *find_room(struct memory *m, const char *ns)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct room *r = m->rooms;

	while (r && strcmp(r->ns, ns) != 0)
		r = r->next;
	if (r && m == shared && r->n_commits && !path_exists(events_file(&a, r))) {
		*r = (struct room){.of = m, .next = r->next, .ns = r->ns}; /* it was removed */
		changed = true;
	}
	return r;
}

static int open_at(struct store_backend *b, struct store **out, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};

	(void)wait_ms;
	return memory_store_open((struct memory *)b, arena_printf(&a, "%s/%s", dir, name),
		mode & ~(unsigned)STORE_MARKED, out, err);
}

static int exists(struct store_backend *b, const char *dir, const char *name, const char *file,
	bool *there, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(finish) struct memory *m = begin((struct memory *)b);
	struct room *r = find_room(m, arena_printf(&a, "%s/%s", dir, name));

	(void)err;
	*there = (r && r->n_commits) || path_exists(path_join(&a, dir, file));
	return 0;
}

static int documents(struct store_backend *b, struct arena *a, const char *dir,
	struct store_paths *out, struct error *err)
{
	CLEANUP(finish) struct memory *m = begin((struct memory *)b);

	(void)err;
	reading = true;
	for (struct room *r = m->rooms; r; r = r->next) {
		const char *key = arena_printf(a, "doc/%s.md", path_base(r->ns).p);

		if (str_starts(str_of(r->ns), dir) && find_room(m, r->ns)->n_commits &&
			seen(r, key))
			vec_push_in(a, out, arena_printf(a, "%s.md", r->ns));
	}
	return 0;
}

static int names(struct store_backend *b, struct arena *a, const char *dir, struct store_paths *out,
	struct error *err)
{
	CLEANUP(finish) struct memory *m = begin((struct memory *)b);
	size_t n = strlen(dir);

	(void)err;
	for (struct room *r = m->rooms; r; r = r->next)
		if (str_starts(str_of(r->ns), dir) && r->ns[n] == '/' &&
			!strchr(r->ns + n + 1, '/') && find_room(m, r->ns)->n_commits)
			vec_push_in(a, out, arena_dup(a, str_of(r->ns + n + 1)));
	return 0;
}

static int prepare(struct store_backend *b, const char *dir, struct error *err)
{
	(void)b, (void)err;
	tree_mkdirs(dir);
	return 0;
}

static int read_file(struct store_backend *b, const char *dir, const char *file, struct buf *out,
	bool *missing, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};

	(void)b;
	*missing = !tree_read(path_join(&a, dir, file), out);
	return *missing ? error_set(err, ERR_SYSTEM, "no file '%s/%s'", dir, file) : 0;
}

static int keep_blob(struct store_backend *b, const char *dir, const char *path, struct str text,
	struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *staged = arena_printf(&a, "%s.%d", path, (int)getpid());

	(void)b, (void)dir;
	tree_write(staged, text);
	return rename(staged, path) < 0 ? error_errno(err, "cannot create '%s'", path) : 0;
}

static int read_blob(struct store_backend *b, const char *path, struct buf *out, struct error *err)
{
	(void)b;
	return tree_read(path, out) ? 0 : error_set(err, ERR_INPUT, "there is no '%s'", path);
}

static const struct store_backend_ops backend_ops = {.open = open_at,
	.exists = exists,
	.documents = documents,
	.names = names,
	.prepare = prepare,
	.read_file = read_file,
	.keep_blob = keep_blob,
	.read_blob = read_blob};

static struct memory *new_at(void *address)
{
	struct memory *m = mmap(address, BLOCK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (m == MAP_FAILED || (address && m != address))
		die("no room for a store in memory");
	*m = (struct memory){.base = {&backend_ops}, .used = sizeof(*m)};
	return m;
}

struct memory *memory_store_new(void)
{
	return new_at(NULL);
}

void memory_store_free(struct memory **m)
{
	if (*m)
		(void)munmap(*m, BLOCK);
	*m = NULL;
}

void memory_store_share(const char *dir, bool skips)
{
	static uint64_t seed;

	memory_store_free(&shared);
	(void)snprintf(shared_path, sizeof(shared_path), "%s/.memory", dir);
	shared = new_at(ADDRESS);
	forget_file();
	skipping = skips;
	load(shared);
	shared->random.state = ++seed + shared->used;
	store_set_backend(&shared->base);
}

int memory_store_open(struct memory *of, const char *ns, enum store_mode mode, struct store **out,
	struct error *err)
{
	CLEANUP(finish) struct memory *m = begin(of);
	struct room *r = find_room(m, ns);
	struct client *c;

	if (!r && mode == STORE_HISTORY)
		return error_set(err, ERR_INPUT, "no journal '%s.events.jsonl'", ns);
	if (!r) {
		r = keep(m, sizeof(*r));
		*r = (struct room){.of = m, .next = m->rooms, .ns = keep_text(m, ns)};
		m->rooms = r;
		changed = true;
	}
	if (mode == STORE_HOLD && m == shared) /* it offers no hold */
		mode = STORE_WRITE;
	if (mode == STORE_HOLD && r->held_by)
		return error_set(err, ERR_STATE, "another holds '%s'", ns);
	mode = mode == STORE_HISTORY ? STORE_READ : mode;
	c = xmalloc(sizeof(*c));
	*c = (struct client){.base = {.ops = m == shared ? &shared_ops : &memory_store_ops},
		.m = m,
		.room = r,
		.mode = mode};
	if (mode == STORE_HOLD)
		r->held_by = c;
	*out = &c->base;
	return 0;
}
