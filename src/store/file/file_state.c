#include "src/store/file/file_internal.h"

static void entry_release(struct entry *e)
{
	free(e->key);
	free(e->value);
}

static void clear_keys(struct state *s)
{
	for (size_t i = 0; i < s->n; i++)
		entry_release(&s->keys[i]);
	s->n = s->n_leases = 0;
}

void state_clear(struct state *s)
{
	clear_keys(s);
	free(s->keys);
	free(s->leases);
	*s = (struct state){0};
}

/* ---- keys ---- */

size_t state_place(const struct state *s, const char *key)
{
	size_t low = 0, high = s->n;

	/* What is loaded comes sorted. */
	if (!high || strcmp(s->keys[high - 1].key, key) < 0)
		return high;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(s->keys[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct entry *state_find(const struct state *s, const char *key)
{
	size_t i = state_place(s, key);

	return i < s->n && strcmp(s->keys[i].key, key) == 0 ? &s->keys[i] : NULL;
}

static char *copy_of(struct str s)
{
	char *p = xmalloc(s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

struct entry *state_put(struct state *s, const char *key, struct str value)
{
	struct entry *e = state_find(s, key);
	size_t i;

	if (!e) {
		if (s->n == s->cap) {
			s->cap = s->cap ? s->cap * 2 : 16;
			s->keys = xrealloc(s->keys, s->cap * sizeof(*s->keys));
		}
		i = state_place(s, key);
		e = &s->keys[i];
		memmove(e + 1, e, (s->n - i) * sizeof(*e));
		s->n++;
		*e = (struct entry){.key = copy_of(str_of(key))};
	}
	free(e->value);
	e->value = value.p ? copy_of(value) : NULL;
	e->n = value.n;
	return e;
}

void state_delete(struct state *s, const char *key)
{
	struct entry *e = state_find(s, key);

	if (!e)
		return;
	entry_release(e);
	s->n--;
	memmove(e, e + 1, (s->n - (size_t)(e - s->keys)) * sizeof(*e));
}

/* ---- leases ---- */

static size_t lease_place(const struct state *s, uint64_t id)
{
	size_t i = 0;

	while (i < s->n_leases && s->leases[i].id < id)
		i++;
	return i;
}

struct lease *state_lease(const struct state *s, uint64_t id)
{
	size_t i = lease_place(s, id);

	return i < s->n_leases && s->leases[i].id == id ? &s->leases[i] : NULL;
}

void state_set_lease(struct state *s, struct lease l)
{
	struct lease *have = state_lease(s, l.id);
	size_t i = lease_place(s, l.id);

	if (have && l.ttl)
		*have = l;
	else if (have)
		memmove(have, have + 1, (--s->n_leases - i) * sizeof(l));
	if (have || !l.ttl)
		return;
	if (s->n_leases == s->cap_leases) {
		s->cap_leases = s->cap_leases ? s->cap_leases * 2 : 4;
		s->leases = xrealloc(s->leases, s->cap_leases * sizeof(l));
	}
	memmove(s->leases + i + 1, s->leases + i, (s->n_leases++ - i) * sizeof(l));
	s->leases[i] = l;
}

int64_t lease_end(const struct lease *l, int64_t now)
{
	return l->until > now + l->ttl ? now + l->ttl : l->until;
}

bool lease_alive(const struct lease *l, int64_t now)
{
	return l && l->ttl && l->until > now;
}

void entry_kv(const struct entry *e, struct arena *a, struct store_kv *out)
{
	*out = (struct store_kv){.key = arena_str(a, str_of(e->key)),
		.create = e->create,
		.mod = e->mod,
		.lease = e->lease};
	if (!e->document)
		out->value = arena_str(a, (struct str){e->value, e->n});
}

struct entry *state_alive(const struct state *s, const char *key, int64_t now)
{
	struct entry *e = state_find(s, key);

	return e && e->lease && !lease_alive(state_lease(s, e->lease), now) ? NULL : e;
}

/* ---- written ---- */

void state_print_entry(struct buf *out, const struct entry *e)
{
	json_print_text(out, str_of(e->key));
	if (e->document) {
		buf_addf(out, ":[\"%s\",\"%s\",%lld,%lld,%lld,%lld,%d]", e->sum, e->before,
			(long long)e->whole, (long long)e->since, (long long)e->create,
			(long long)e->mod, e->slot);
		return;
	}
	buf_adds(out, ":[");
	json_print_text(out, (struct str){e->value, e->n});
	buf_addf(out, ",%lld,%lld,\"%llu\"]", (long long)e->create, (long long)e->mod,
		(unsigned long long)e->lease);
}

static void print_entries(struct buf *out, const struct state *s, bool documents)
{
	bool first = true;

	for (size_t i = 0; i < s->n; i++) {
		if (s->keys[i].document != documents)
			continue;
		buf_adds(out, first ? "" : ",");
		first = false;
		state_print_entry(out, &s->keys[i]);
	}
}

void state_print(struct buf *out, const struct state *s)
{
	buf_adds(out, "\"all\":{\"put\":{");
	print_entries(out, s, false);
	buf_adds(out, "},\"doc\":{");
	print_entries(out, s, true);
	buf_adds(out, "},\"lease\":{");
	for (size_t i = 0; i < s->n_leases; i++)
		buf_addf(out, "%s\"%llu\":[%lld,%d]", i ? "," : "",
			(unsigned long long)s->leases[i].id, (long long)s->leases[i].until,
			s->leases[i].ttl);
	buf_adds(out, "}}");
}

/* ---- read ---- */

struct row {
	const json *at;
	bool bad;
};

static const char *next_text(struct row *r)
{
	const char *text = r->at ? json_text(r->at) : NULL;

	if (text)
		r->at = json_next(r->at);
	else
		r->bad = true;
	return text ? text : "";
}

static int64_t next_int(struct row *r)
{
	int64_t v = json_int(r->at, -1);

	if (v >= 0)
		r->at = json_next(r->at);
	else
		r->bad = true;
	return v;
}

static int64_t next_up_to(struct row *r, int64_t most)
{
	int64_t v = next_int(r);

	r->bad = r->bad || v > most;
	return r->bad ? 0 : v;
}

static uint64_t id_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

bool row_key(const json *item, struct store_kv *kv)
{
	struct row r = {json_first(item), false};

	kv->key = str_of(json_key(item));
	kv->value = str_of(next_text(&r));
	kv->create = next_int(&r);
	kv->mod = next_int(&r);
	kv->lease = id_of(next_text(&r));
	return !r.bad;
}

bool row_document(const json *item, struct entry *e)
{
	struct row r = {json_first(item), false};

	e->document = true;
	(void)snprintf(e->sum, sizeof(e->sum), "%s", next_text(&r));
	(void)snprintf(e->before, sizeof(e->before), "%s", next_text(&r));
	e->whole = next_int(&r);
	e->since = next_int(&r);
	e->create = next_int(&r);
	e->mod = next_int(&r);
	e->slot = (int)next_up_to(&r, 1);
	return !r.bad;
}

static bool load_key(struct state *s, const json *item)
{
	struct store_kv kv;
	struct entry *e;

	if (!row_key(item, &kv))
		return false;
	e = state_put(s, json_key(item), kv.value);
	e->create = kv.create;
	e->mod = kv.mod;
	e->lease = kv.lease;
	return true;
}

static bool load_document(struct state *s, const json *item)
{
	return row_document(item, state_put(s, json_key(item), (struct str){0}));
}

static bool load_lease(struct state *s, const json *item)
{
	struct row r = {json_first(item), false};
	struct lease l = {.id = id_of(json_key(item))};

	l.until = next_int(&r);
	l.ttl = (int)next_up_to(&r, STORE_TTL_MAX_S);
	if (!r.bad)
		state_set_lease(s, l);
	return !r.bad;
}

static bool load_each(
	struct state *s, const json *object, bool (*load)(struct state *, const json *))
{
	for (const json *i = json_first(object); i; i = json_next(i))
		if (!load(s, i))
			return false;
	return true;
}

static void load_deleted(struct state *s, const json *commit)
{
	for (const json *i = json_first(json_get(commit, "del")); i; i = json_next(i))
		if (json_text(i))
			state_delete(s, json_text(i));
	for (const json *i = json_first(json_get(commit, "over")); i; i = json_next(i))
		if (json_text(i))
			state_set_lease(s, (struct lease){.id = id_of(json_text(i))});
}

int state_load(struct state *s, const json *commit, size_t n, struct error *err)
{
	const json *all = json_get(commit, "all"), *from = all ? all : commit;

	s->rev = json_get_int(commit, "commit", 0);
	s->seq = json_get_int(commit, "seq", 0);
	if (all) {
		s->base = json_get_int(commit, "at", 0);
		s->base_rev = s->rev;
		s->dump = (int64_t)n;
		clear_keys(s);
	} else {
		load_deleted(s, commit);
	}
	if (load_each(s, json_get(from, "put"), load_key) &&
		load_each(s, json_get(from, "doc"), load_document) &&
		load_each(s, json_get(from, "lease"), load_lease) && s->rev)
		return 0;
	return error_set(err, ERR_INPUT, "commit %lld does not tell its keys", (long long)s->rev);
}
