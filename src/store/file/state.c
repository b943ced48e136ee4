#include "src/store/file/internal.h"

static void entry_release(struct state_entry *e)
{
	free(e->key);
	free(e->value);
}

void store_state_clear(struct store_state *s)
{
	for (size_t i = 0; i < s->keys.n; i++)
		entry_release(&s->keys.items[i]);
	vec_release(&s->keys);
	*s = (struct store_state){0};
}

/* ---- keys ---- */

size_t store_state_index(const struct store_state *s, const char *key)
{
	size_t low = 0, high = s->keys.n;

	/* A load adds the keys in their order. */
	if (!high || strcmp(s->keys.items[high - 1].key, key) < 0)
		return high;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(s->keys.items[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct state_entry *store_state_find(const struct store_state *s, const char *key)
{
	size_t i = store_state_index(s, key);

	return i < s->keys.n && strcmp(s->keys.items[i].key, key) == 0 ? &s->keys.items[i] : NULL;
}

struct state_entry *store_state_find_alive(
	const struct store_state *s, const char *key, int64_t now)
{
	struct state_entry *e = store_state_find(s, key);

	return e && e->ttl && e->until <= now ? NULL : e;
}

struct state_entry *store_state_put(struct store_state *s, const char *key, struct str value)
{
	struct state_entry *e = store_state_find(s, key);

	if (!e) {
		size_t i = store_state_index(s, key);

		vec_insert(&s->keys, i, (struct state_entry){.key = str_dup(str_of(key))});
		e = &s->keys.items[i];
	}
	free(e->value);
	e->value = value.p ? str_dup(value) : NULL;
	e->n = value.n;
	return e;
}

void store_state_delete(struct store_state *s, const char *key)
{
	struct state_entry *e = store_state_find(s, key);

	if (!e)
		return;
	entry_release(e);
	vec_remove(&s->keys, (size_t)(e - s->keys.items));
}

int64_t state_entry_until(const struct state_entry *e, int64_t now)
{
	return e->ttl && e->until > now + e->ttl ? now + e->ttl : e->until;
}

void state_entry_kv(const struct state_entry *e, struct arena *a, int64_t now, struct store_kv *out)
{
	*out = (struct store_kv){.key = arena_str(a, str_of(e->key)),
		.create = e->create,
		.mod = e->mod,
		.until = state_entry_until(e, now),
		.ttl_s = e->ttl};
	if (!e->document)
		out->value = arena_str(a, (struct str){e->value, e->n});
}

/* ---- writing ---- */

void state_entry_write(struct json_writer *w, const struct state_entry *e)
{
	json_write_open(w, e->key, '[');
	if (e->document) {
		json_write_str(w, NULL, str_of(e->sum));
		json_write_str(w, NULL, str_of(e->before));
		json_write_int(w, NULL, e->whole);
		json_write_int(w, NULL, e->since);
	} else {
		json_write_str(w, NULL, (struct str){e->value, e->n});
	}
	json_write_int(w, NULL, e->create);
	json_write_int(w, NULL, e->mod);
	json_write_int(w, NULL, e->document ? e->placed : e->until);
	json_write_int(w, NULL, e->document ? e->earlier : e->ttl);
	json_write_close(w, ']');
}

static void write_entries(
	struct json_writer *w, const char *member, const struct store_state *s, bool documents)
{
	json_write_open(w, member, '{');
	for (size_t i = 0; i < s->keys.n; i++)
		if (s->keys.items[i].document == documents)
			state_entry_write(w, &s->keys.items[i]);
	json_write_close(w, '}');
}

void store_state_write(struct json_writer *w, const struct store_state *s)
{
	json_write_open(w, "all", '{');
	write_entries(w, "put", s, false);
	write_entries(w, "doc", s, true);
	json_write_close(w, '}');
}

/* ---- reading ---- */

/* Reads the items of an array one after the other. */
struct row_reader {
	const json *at;
	bool bad;
};

static const char *next_text(struct row_reader *r)
{
	const char *text = r->at ? json_text(r->at) : NULL;

	if (text)
		r->at = json_next(r->at);
	else
		r->bad = true;
	return text ? text : "";
}

static int64_t next_int(struct row_reader *r, int64_t max)
{
	int64_t v = json_int(r->at, -1);

	if (v >= 0 && v <= max)
		r->at = json_next(r->at);
	else
		r->bad = true;
	return r->bad ? 0 : v;
}

bool state_entry_read_key(const json *item, struct store_kv *kv)
{
	struct row_reader r = {json_first(item), false};

	kv->key = str_of(json_key(item));
	kv->value = str_of(next_text(&r));
	kv->create = next_int(&r, INT64_MAX);
	kv->mod = next_int(&r, INT64_MAX);
	kv->until = next_int(&r, INT64_MAX);
	kv->ttl_s = (int)next_int(&r, STORE_TTL_MAX_S);
	return !r.bad;
}

bool state_entry_read_document(const json *item, struct state_entry *e)
{
	struct row_reader r = {json_first(item), false};

	e->document = true;
	(void)snprintf(e->sum, sizeof(e->sum), "%s", next_text(&r));
	(void)snprintf(e->before, sizeof(e->before), "%s", next_text(&r));
	e->whole = next_int(&r, INT64_MAX);
	e->since = next_int(&r, INT64_MAX);
	e->create = next_int(&r, INT64_MAX);
	e->mod = next_int(&r, INT64_MAX);
	e->placed = next_int(&r, e->mod);
	e->earlier = next_int(&r, e->placed);
	return !r.bad;
}

static bool load_key(struct store_state *s, const json *item)
{
	struct store_kv kv;
	struct state_entry *e;

	if (!state_entry_read_key(item, &kv))
		return false;
	e = store_state_put(s, json_key(item), kv.value);
	e->create = kv.create;
	e->mod = kv.mod;
	e->until = kv.until;
	e->ttl = kv.ttl_s;
	return true;
}

static bool load_document(struct store_state *s, const json *item)
{
	return state_entry_read_document(item, store_state_put(s, json_key(item), (struct str){0}));
}

static bool load_each(
	struct store_state *s, const json *object, bool (*load)(struct store_state *, const json *))
{
	for (const json *i = json_first(object); i; i = json_next(i))
		if (!load(s, i))
			return false;
	return true;
}

static void load_deleted(struct store_state *s, const json *commit)
{
	for (const json *i = json_first(json_get(commit, "del")); i; i = json_next(i))
		if (json_text(i))
			store_state_delete(s, json_text(i));
}

bool store_state_apply(struct store_state *s, const json *commit, size_t n)
{
	const json *all = json_get(commit, "all"), *from = all ? all : commit;

	s->rev = json_get_int(commit, "commit", 0);
	s->seq = json_get_int(commit, "seq", 0);
	if (all) {
		s->base = json_get_int(commit, "at", 0);
		s->base_rev = s->rev;
		s->base_size = (int64_t)n;
	} else {
		load_deleted(s, commit);
	}
	return load_each(s, json_get(from, "put"), load_key) &&
	       load_each(s, json_get(from, "doc"), load_document) && s->rev;
}
