#include "src/verify/item_store.h"

static struct item_store *item_store_of(const struct store *s)
{
	return (struct item_store *)s->backend;
}

static struct item_key *find_item_key(const struct item_store *s, struct str key)
{
	if (str_starts(key, ITEM_DOCUMENT))
		key = STR(ITEM_DOCUMENT);
	for (size_t i = 0; i < s->keys.n; i++)
		if (str_is(key, s->keys.items[i].key))
			return &s->keys.items[i];
	return NULL;
}

void item_store_put(struct item_store *s, struct str key, struct str value, int64_t mod)
{
	struct item_key *k = find_item_key(s, key);

	if (!k) {
		vec_push(&s->keys, (struct item_key){.key = str_starts(key, ITEM_DOCUMENT)
								    ? ITEM_DOCUMENT
								    : arena_dup(&s->arena, key)});
		k = &s->keys.items[s->keys.n - 1];
	}
	k->mod = mod;
	buf_clear(&k->value);
	buf_add(&k->value, value);
}

/* ---- the operations of the store ---- */

static enum store_status item_store_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	const struct item_key *k = find_item_key(item_store_of(s), str_of(key));

	(void)err;
	*out = (struct store_kv){.key = str_of(key)};
	if (k) {
		out->value = arena_str(a, buf_str(&k->value));
		out->mod = k->mod;
	}
	return STORE_OK;
}

static enum store_status item_store_get_document(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	const struct item_key *k = find_item_key(item_store_of(s), str_of(key));

	(void)err;
	if (k) {
		buf_add(out, buf_str(&k->value));
		kv->mod = k->mod;
	}
	return STORE_OK;
}

static enum store_status item_store_txn(struct store *store, struct arena *a,
	const struct store_txn *t, struct store_result *result, struct error *err)
{
	struct item_store *s = item_store_of(store);

	(void)a, (void)err;
	result->rev = ++s->rev;
	for (size_t i = 0; i < t->n_ops; i++)
		item_store_put(s, str_of(t->ops[i].key), t->ops[i].value,
			t->ops[i].what == STORE_PUT ? s->rev : 0);
	for (const json *e = json_first(t->events); e; e = json_next(e)) {
		CLEANUP(buf_release) struct buf line = BUF_INIT;

		json_print(&line, e);
		buf_addf(&s->events, "{\"seq\":%lld,\"rev\":%lld,%s\n", (long long)++s->seq,
			(long long)s->rev, line.s + 1);
	}
	return STORE_OK;
}

struct item_history {
	struct store_history base;
	bool read;
};

static int next_commit(struct store_history *history, struct store_commit *c, struct error *err)
{
	struct item_history *h = (struct item_history *)history;
	const struct item_store *s = item_store_of(history->of);

	(void)err;
	if (h->read)
		return 0;
	*c = (struct store_commit){.rev = s->rev, .events = buf_str(&s->events)};
	h->read = true;
	return 1;
}

static void close_history(struct store_history *h)
{
	free(h);
}

static enum store_status item_store_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	struct item_history *h = xmalloc(sizeof(*h));

	(void)s, (void)range, (void)err;
	*h = (struct item_history){.base = {.next = next_commit, .close = close_history}};
	*out = &h->base;
	return STORE_OK;
}

static int64_t item_store_revision(struct store *s)
{
	return item_store_of(s)->rev;
}

static void item_store_note(struct store *s, const char *what)
{
	(void)s, (void)what;
}

static void item_store_close(struct store *s)
{
	(void)s;
}

const struct store_methods item_store_methods = {.get = item_store_get,
	.get_document = item_store_get_document,
	.txn = item_store_txn,
	.history = item_store_history,
	.revision = item_store_revision,
	.note = item_store_note,
	.close = item_store_close};

/* ---- the backend ---- */

static int item_store_open(struct store_backend *b, struct store **out, const char *dir,
	const char *name, enum store_mode mode, unsigned wait_ms, struct error *err)
{
	(void)dir, (void)name, (void)mode, (void)wait_ms, (void)err;
	*out = &((struct item_store *)b)->store;
	return 0;
}

static int item_store_exists(struct store_backend *b, const char *dir, const char *name,
	const char *file, bool *there, struct error *err)
{
	(void)dir, (void)name, (void)file, (void)err;
	*there = find_item_key((struct item_store *)b, STR(ITEM_DOCUMENT)) != NULL;
	return 0;
}

static int item_store_read_file(struct store_backend *b, const char *dir, const char *file,
	struct buf *out, bool *missing, struct error *err)
{
	const struct item_key *k = find_item_key((struct item_store *)b, STR(ITEM_DOCUMENT));

	(void)dir;
	*missing = !k;
	if (!k)
		return error_set(err, ERR_SYSTEM, "there is no '%s'", file);
	buf_add(out, buf_str(&k->value));
	return 0;
}

static int item_store_keep_blob(struct store_backend *b, const char *dir, const char *path,
	struct str text, struct error *err)
{
	(void)b, (void)dir, (void)path, (void)text, (void)err;
	return 0;
}

static const struct store_backend_ops backend_ops = {.open = item_store_open,
	.exists = item_store_exists,
	.read_file = item_store_read_file,
	.keep_blob = item_store_keep_blob};

void item_store_init(struct item_store *s)
{
	*s = (struct item_store){.backend.ops = &backend_ops, .store.ops = &item_store_methods};
}

void item_store_copy(struct item_store *s, const struct item_store *from)
{
	item_store_init(s);
	for (size_t i = 0; i < from->keys.n; i++) {
		const struct item_key *k = &from->keys.items[i];

		item_store_put(s, str_of(k->key), buf_str(&k->value), k->mod);
	}
	buf_add(&s->events, buf_str(&from->events));
	s->rev = from->rev;
	s->seq = from->seq;
}

void item_store_release(struct item_store *s)
{
	for (size_t i = 0; i < s->keys.n; i++)
		buf_release(&s->keys.items[i].value);
	vec_release(&s->keys);
	buf_release(&s->events);
	arena_release(&s->arena);
}
