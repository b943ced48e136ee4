#include "tests/lib/memory_store.h"
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "tests/lib/random.h"
#include "src/sys/digest.h"

/* Nothing is ever freed: texts and history stay in one arena until the end. The limits are those of
 * store.c. */
struct receipt {
	const char *opid;
	int64_t rev;
};

struct commit {
	struct store_commit c; /* the texts live in the arena; `note` is its own */
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
	size_t n_kv, n_history;
	VEC(struct commit) commits;
	int64_t rev, events, kept_from;
	const void *held_by;
	VEC(struct receipt) receipts; /* of transactions with an opid alone */
};

struct blob {
	const char *path;
	struct str text;
};

struct memory {
	struct store_backend base;
	struct arena arena;
	struct room *rooms;
	VEC(struct blob) blobs;
	bool nasty;
	struct random random;
};

struct client {
	struct store base;
	struct memory *m;
	struct room *room;
	enum store_mode mode;
};

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
	r->rev += r->of->nasty ? 1 + random_below(&r->of->random, 3) : 1;
	vec_push(&r->commits, (struct commit){.c = {.rev = r->rev, .ts = "2026-01-01T00:00:00Z"},
				      .first_change = r->n_history,
				      .last_event = r->events});
	return &r->commits.items[r->commits.n - 1];
}

static void remember(struct room *r, struct store_kv kv, bool deleted)
{
	struct commit *of = &r->commits.items[r->commits.n - 1];

	of->c.n_changes++;
	if (is_document(kv.key.p) && (!of->c.document || of->c.removed)) {
		of->c.document = kv.key.p;
		of->c.removed = deleted;
		of->c.text = deleted ? (struct str){0} : kv.value;
		if (!deleted)
			digest_text(kv.value, of->sum);
	}
	r->history = xrealloc(r->history, (r->n_history + 1) * sizeof(*r->history));
	if (is_document(kv.key.p))
		kv.value = STR("");
	r->history[r->n_history++] =
		(struct store_change){.rev = r->rev, .deleted = deleted, .kv = kv};
}

static void drop(struct room *r, struct store_kv *kv)
{
	struct store_kv old = {.key = kv->key, .mod = r->rev};

	memmove(kv, kv + 1, (size_t)(r->kv + r->n_kv - (kv + 1)) * sizeof(*kv));
	r->n_kv--;
	remember(r, old, true);
}

static void put(struct client *c, const char *key, struct str value, int ttl_s)
{
	struct room *r = c->room;
	struct store_kv *kv = find(r, key);
	size_t at = 0;

	if (!kv) {
		while (at < r->n_kv && strcmp(r->kv[at].key.p, key) < 0)
			at++;
		r->kv = xrealloc(r->kv, (r->n_kv + 1) * sizeof(*kv));
		kv = &r->kv[at];
		memmove(kv + 1, kv, (r->n_kv++ - at) * sizeof(*kv));
		*kv = (struct store_kv){
			.key = str_of(arena_dup(&c->m->arena, str_of(key))), .create = r->rev};
	}
	kv->value = arena_str(&c->m->arena, value);
	kv->mod = r->rev;
	kv->ttl_s = ttl_s;
	kv->until = ttl_s ? clock_now() + ttl_s : 0;
	remember(r, *kv, false);
}

/* The effect of time since the last operation: leases that have ended go in one commit. */
static struct room *settled(struct store *s)
{
	struct room *r = ((struct client *)s)->room;
	int64_t now = clock_now();
	bool any = false;

	for (size_t i = r->n_kv; i-- > 0;) {
		struct store_kv *kv = &r->kv[i];

		if (!kv->ttl_s)
			continue;
		if (kv->until > now + kv->ttl_s)
			kv->until = now + kv->ttl_s;
		if (kv->until > now)
			continue;
		if (!any)
			begin_commit(r);
		any = true;
		drop(r, kv);
	}
	return r;
}

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
	struct store_kv *kv = find(settled(s), key);

	*out = (struct store_kv){.key = arena_str(a, str_of(key))};
	(void)err;
	if (kv)
		*out = *kv;
	return STORE_OK;
}

static enum store_status get_document(struct store *s, const char *key, struct buf *out,
	int64_t *mod, bool *by_hand, struct error *err)
{
	struct store_kv *kv = find(settled(s), key);

	(void)err;
	*mod = kv ? kv->mod : 0;
	if (kv)
		buf_add(out, kv->value);
	if (by_hand)
		*by_hand = false;
	return STORE_OK;
}

static enum store_status list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err)
{
	struct room *r = settled(s);

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

static void keep_events(struct client *c, struct commit *of, const struct store_txn *t)
{
	struct room *r = c->room;
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
	of->c.events = arena_str(&c->m->arena, buf_str(&lines));
}

static int64_t apply(struct client *c, struct arena *a, const struct store_txn *t)
{
	struct room *r = c->room;
	struct commit *of = begin_commit(r);

	if (t->ts)
		of->c.ts = arena_dup(&c->m->arena, str_of(t->ts));
	if (t->actor)
		of->c.actor = arena_dup(&c->m->arena, str_of(t->actor));
	of->c.note = t->note ? json_copy(t->note) : NULL;
	keep_events(c, of, t);
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];
		struct store_kv *kv = find(r, op->key);

		if (op->what == STORE_PUT)
			put(c, op->key, op->value, op->ttl_s);
		else if (kv)
			drop(r, kv);
	}
	if (t->actor)
		put(c, arena_printf(a, "rcpt/%s", t->actor), str_of(t->opid), 0);
	return r->rev;
}

/* True when the answer to a request gets lost. */
static bool is_lost(struct store *s, struct error *err)
{
	struct memory *m = ((struct client *)s)->m;

	if (!m->nasty || !random_chance(&m->random, 250))
		return false;
	error_set(err, ERR_SYSTEM, "the answer was lost");
	return true;
}

static enum store_status commit_once(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct room *r = settled(s);
	enum store_status got = check_writer(s, err);
	struct store_kv *receipt;

	if (got != STORE_OK)
		return got;
	receipt = t->actor ? find(r, arena_printf(a, "rcpt/%s", t->actor)) : NULL;
	if (receipt && str_is(receipt->value, t->opid))
		return result->rev = receipt->mod, STORE_OK;
	for (size_t i = r->receipts.n; t->opid && i-- > 0;)
		if (strcmp(r->receipts.items[i].opid, t->opid) == 0)
			return result->rev = r->receipts.items[i].rev, STORE_OK;
	if (!guards_hold(r, a, t, result))
		return STORE_REFUSED;
	result->rev = apply((struct client *)s, a, t);
	if (t->opid && !t->actor)
		vec_push(&r->receipts,
			(struct receipt){arena_dup(&r->of->arena, str_of(t->opid)), result->rev});
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
	struct room *r = settled(s);

	(void)wait_ms; /* no other client could come in between */
	*out = arena_alloc(a, (r->n_history + 1) * sizeof(**out));
	*n = 0;
	if (r->of->nasty && random_chance(&r->of->random, 200))
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
	(void)err;
	settled(s)->kept_from = rev;
	return STORE_OK;
}

/* ---- history ---- */

struct walk {
	struct store_history base;
	struct room *room;
	struct store_range range;
	size_t next; /* backwards: one more than the index */
};

static int next_commit(struct store_history *h, struct store_commit *c, struct error *err)
{
	struct walk *w = (struct walk *)h;
	bool backwards = w->range.backwards;
	struct commit *of;

	(void)err;
	if (w->next == (backwards ? 0 : w->room->commits.n))
		return 0;
	w->next -= backwards;
	of = &w->room->commits.items[w->next];
	w->next += !backwards;
	*c = of->c;
	c->changes = w->room->history + of->first_change;
	c->sum = of->sum;
	if (!w->range.texts)
		c->text = (struct str){0};
	return 1;
}

static void end_walk(struct store_history *h)
{
	free(h);
}

static enum store_status history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	struct room *r = settled(s);
	struct walk *w = xmalloc(sizeof(*w));
	const struct commit *all = r->commits.items;
	size_t i = range->backwards ? r->commits.n : 0;

	(void)err;
	if (range->backwards)
		while (i && range->from && all[i - 1].c.rev > range->from)
			i--;
	else
		while (i < r->commits.n &&
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

static void leave(struct store *s)
{
	struct client *c = (struct client *)s;

	if (c->room->held_by == c)
		c->room->held_by = NULL;
	free(c);
}

#define OPERATIONS                                                                                 \
	.get = get, .get_document = get_document, .list = list, .txn = txn, .watch = watch,        \
	.compact = compact, .history = history, .revision = revision, .last_seq = events,          \
	.note = note, .close = leave,

static const struct store_ops memory_ops = {OPERATIONS};
static const struct store_ops nasty_ops = {.document_max = 1 << 20, .uncertain = true, OPERATIONS};

/* ---- the backend ---- */

static struct room *find_room(struct memory *m, const char *ns)
{
	struct room *r = m->rooms;

	while (r && strcmp(r->ns, ns) != 0)
		r = r->next;
	return r;
}

static int open_at(struct store_backend *b, struct store **out, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};

	(void)wait_ms;
	return memory_open((struct memory *)b, arena_printf(&a, "%s/%s", dir, name),
		mode & ~(unsigned)STORE_MARKED, out, err);
}

static int exists(struct store_backend *b, const char *dir, const char *name, const char *file,
	bool *there, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct room *r = find_room((struct memory *)b, arena_printf(&a, "%s/%s", dir, name));

	(void)file, (void)err;
	*there = r && r->commits.n;
	return 0;
}

static int prepare(struct store_backend *b, const char *dir, struct error *err)
{
	(void)b, (void)dir, (void)err;
	return 0;
}

/* Its documents are no files. */
static int read_file(struct store_backend *b, const char *dir, const char *file, struct buf *out,
	bool *missing, struct error *err)
{
	(void)b, (void)out;
	*missing = true;
	return error_set(err, ERR_SYSTEM, "no file '%s/%s'", dir, file);
}

static struct blob *find_blob(struct memory *m, const char *path)
{
	for (size_t i = 0; i < m->blobs.n; i++)
		if (strcmp(m->blobs.items[i].path, path) == 0)
			return &m->blobs.items[i];
	return NULL;
}

static int keep_blob(struct store_backend *b, const char *dir, const char *path, struct str text,
	struct error *err)
{
	struct memory *m = (struct memory *)b;

	(void)dir, (void)err;
	if (!find_blob(m, path))
		vec_push(&m->blobs, (struct blob){arena_dup(&m->arena, str_of(path)),
					    arena_str(&m->arena, text)});
	return 0;
}

static int read_blob(struct store_backend *b, const char *path, struct buf *out, struct error *err)
{
	struct blob *blob = find_blob((struct memory *)b, path);

	if (!blob)
		return error_set(err, ERR_INPUT, "there is no '%s'", path);
	buf_add(out, blob->text);
	return 0;
}

static const struct store_backend_ops backend_ops = {.open = open_at,
	.exists = exists,
	.prepare = prepare,
	.read_file = read_file,
	.keep_blob = keep_blob,
	.read_blob = read_blob};

struct store_backend *memory_backend(struct memory *m)
{
	return &m->base;
}

struct memory *memory_new(void)
{
	struct memory *m = xmalloc(sizeof(*m));

	*m = (struct memory){.base = {&backend_ops}};
	return m;
}

struct memory *memory_new_nasty(uint64_t seed)
{
	struct memory *m = memory_new();

	m->nasty = true;
	m->random.state = seed;
	return m;
}

void memory_free(struct memory **m)
{
	if (!*m)
		return;
	for (struct room *r = (*m)->rooms; r; r = r->next) {
		for (size_t i = 0; i < r->commits.n; i++) {
			json *note = (json *)(uintptr_t)r->commits.items[i].c.note;

			json_free(&note);
		}
		vec_release(&r->commits);
		vec_release(&r->receipts);
		free(r->kv);
		free(r->history);
	}
	vec_release(&(*m)->blobs);
	arena_release(&(*m)->arena);
	free(*m);
	*m = NULL;
}

int memory_open(struct memory *m, const char *ns, enum store_mode mode, struct store **out,
	struct error *err)
{
	struct room *r = find_room(m, ns);
	struct client *c;

	if (!r && mode == STORE_HISTORY)
		return error_set(err, ERR_INPUT, "no store '%s'", ns);
	if (!r) {
		r = arena_alloc(&m->arena, sizeof(*r));
		*r = (struct room){
			.of = m, .next = m->rooms, .ns = arena_dup(&m->arena, str_of(ns))};
		m->rooms = r;
	}
	if (mode == STORE_HOLD && m->nasty) /* it offers no hold */
		mode = STORE_WRITE;
	if (mode == STORE_HOLD && r->held_by)
		return error_set(err, ERR_STATE, "another holds '%s'", ns);
	mode = mode == STORE_HISTORY ? STORE_READ : mode;
	c = xmalloc(sizeof(*c));
	*c = (struct client){.base = {.ops = m->nasty ? &nasty_ops : &memory_ops},
		.m = m,
		.room = r,
		.mode = mode};
	if (mode == STORE_HOLD)
		r->held_by = c;
	*out = &c->base;
	return 0;
}

void memory_drop(struct memory *m, const char *dir, const char *name)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct room *r = find_room(m, arena_printf(&a, "%s/%s", dir, name));

	if (r)
		r->ns = "";
}
