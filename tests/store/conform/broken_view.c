/* Backends that show what is there in a wrong way. */
#include "tests/store/conform/broken.h"
#include "tests/store/conform/front.h"

#define INNER front_of(s)->inner
#define LIST                                                                                       \
	struct store *s, struct arena *a, const char *prefix, const char *after, size_t max,       \
		struct store_kv **out, size_t *n, int64_t *at, struct error *err
#define WATCH                                                                                      \
	struct store *s, struct arena *a, const char *prefix, int64_t from, int wait_ms,           \
		size_t max, struct store_change **out, size_t *n, int64_t *next, struct error *err
#define HAND_ON store_watch(INNER, a, prefix, from, wait_ms, max, out, n, next, err)

static enum store_status unsorted(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	if (status == STORE_OK && *n > 2) {
		struct store_kv kv = (*out)[0];

		(*out)[0] = (*out)[1];
		(*out)[1] = kv;
	}
	return status;
}

static enum store_status from_the_first(LIST)
{
	(void)after;
	return store_list(INNER, a, prefix, NULL, max, out, n, at, err);
}

static enum store_status one_short(LIST)
{
	return store_list(INNER, a, prefix, after, max > 1 ? max - 1 : max, out, n, at, err);
}

static enum store_status wide(LIST)
{
	struct str p = str_of(prefix);

	if (str_ends(p, "/"))
		p.n--;
	return store_list(INNER, a, arena_dup(a, p), after, max, out, n, at, err);
}

static enum store_status of_later(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	*at += *at > 0;
	return status;
}

static enum store_status without_lease(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	for (size_t i = 0; status == STORE_OK && i < *n; i++)
		(*out)[i].lease = 0;
	return status;
}

static enum store_status skip_one(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n > 3) {
		(*out)[*n - 2] = (*out)[*n - 1];
		--*n;
	}
	return status;
}

static enum store_status shuffled(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n > 1) {
		struct store_change c = (*out)[0];

		(*out)[0] = (*out)[*n - 1];
		(*out)[*n - 1] = c;
	}
	return status;
}

static enum store_status halved(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n > max) {
		*n = max;
		*next = (*out)[max - 1].rev + 1;
	}
	return status;
}

static enum store_status no_deletions(WATCH)
{
	enum store_status status = HAND_ON;
	size_t kept = 0;

	if (status != STORE_OK)
		return status;
	for (size_t i = 0; i < *n; i++)
		if (!(*out)[i].deleted)
			(*out)[kept++] = (*out)[i];
	*n = kept;
	return status;
}

static enum store_status from_the_next(WATCH)
{
	return store_watch(INNER, a, prefix, from + 1, wait_ms, max, out, n, next, err);
}

static enum store_status jumps(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n)
		++*next;
	return status;
}

/* Goes on from the end of the store, whether all before was shown or not. */
static enum store_status hurries(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK)
		*next = store_revision(INNER) + 1;
	return status;
}

static enum store_status all_prefixes(WATCH)
{
	(void)prefix;
	return store_watch(INNER, a, "", from, wait_ms, max, out, n, next, err);
}

static enum store_status nothing_kept(WATCH)
{
	enum store_status status = HAND_ON;

	if (status != STORE_COMPACTED)
		return status;
	*n = 0;
	*next = store_revision(INNER) + 1;
	return STORE_OK;
}

static enum store_status impatient(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && from > store_revision(INNER))
		*next = store_revision(INNER) + 1;
	return status;
}

static enum store_status full(WATCH)
{
	enum store_status status = HAND_ON;

	for (size_t i = 0; status == STORE_OK && i < *n; i++)
		if (str_starts((*out)[i].kv.key, "doc/"))
			(*out)[i].kv.value = STR("its text");
	return status;
}

/* Each client has a copy of what it read last. */
static struct store *whose;
static struct store_kv last;
static char last_key[64], last_value[64];

static enum store_status cached(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = STORE_OK;

	if (whose == s && str_is(last.key, key)) {
		*out = last;
		return STORE_OK;
	}
	status = store_get(INNER, a, key, out, err);
	whose = s;
	last = (struct store_kv){0};
	if (status == STORE_OK && out->value.n < 64 && out->key.n < 64) {
		last = *out;
		memcpy(last_key, out->key.p, out->key.n);
		if (out->value.n)
			memcpy(last_value, out->value.p, out->value.n);
		last.key.p = last_key;
		last.value.p = last_value;
	}
	return status;
}

static enum store_status young(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	out->create = out->mod;
	return status;
}

static enum store_status as_text(struct store *s, const char *key, struct buf *out, int64_t *mod,
	bool *by_hand, struct error *err)
{
	enum store_status status = store_get_document(INNER, key, out, mod, by_hand, err);

	if (status == STORE_OK && out->s)
		out->len = strlen(out->s);
	return status;
}

static enum store_status stripped(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	out->value = str_trim(out->value);
	return status;
}

static enum store_status forgets_all(struct store *s, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_result r = {0};
	struct store_kv *kv = NULL;
	size_t n = 0;
	int64_t at;

	store_list(INNER, &a, "", NULL, 1000, &kv, &n, &at, err);
	for (size_t i = 0; i < n; i++) {
		struct store_op op = {.what = STORE_DEL, .key = arena_dup(&a, kv[i].key)};

		if (kv[i].mod < rev)
			store_txn(INNER, &a, &(struct store_txn){.ops = &op, .n_ops = 1}, &r, err);
	}
	return store_compact(INNER, rev, err);
}

#define SPOIL(name, member, with)                                                                  \
	static void name(struct store_ops *ops)                                                    \
	{                                                                                          \
		ops->member = with;                                                                \
	}
SPOIL(list_unsorted, list, unsorted)
SPOIL(list_no_after, list, from_the_first)
SPOIL(list_short, list, one_short)
SPOIL(list_wide, list, wide)
SPOIL(list_at, list, of_later)
SPOIL(list_lease, list, without_lease)
SPOIL(watch_skips, watch, skip_one)
SPOIL(watch_shuffles, watch, shuffled)
SPOIL(watch_halves, watch, halved)
SPOIL(watch_puts_alone, watch, no_deletions)
SPOIL(watch_late, watch, from_the_next)
SPOIL(watch_jumps, watch, jumps)
SPOIL(watch_hurries, watch, hurries)
SPOIL(watch_wide, watch, all_prefixes)
SPOIL(watch_never_compacted, watch, nothing_kept)
SPOIL(watch_impatient, watch, impatient)
SPOIL(watch_full, watch, full)
SPOIL(get_stale, get, cached)
SPOIL(get_young, get, young)
SPOIL(get_trimmed, get, stripped)
SPOIL(document_text, get_document, as_text)
SPOIL(compact_keys, compact, forgets_all)

const struct broken broken_views[] = {
	{"lists are not sorted", "a list is sorted by bytes", list_unsorted, NULL},
	{"a list always begins at the first", "a list goes on after a key that is not there",
		list_no_after, NULL},
	{"a list is shorter than asked", "a list in pages has each key once", list_short, NULL},
	{"a list shows neighbours of its prefix", "a list has the keys of its prefix alone",
		list_wide, NULL},
	{"a list says a revision that is not yet", "a watch goes on where a list was", list_at,
		NULL},
	{"a list leaves out leases", "a list says of a key what a get says", list_lease, NULL},
	{"a watch skips", "a watch shows all changes in order", watch_skips, NULL},
	{"a watch is out of order", "a watch shows all changes in order", watch_shuffles, NULL},
	{"a watch shows half a commit", "a watch never shows half a commit", watch_halves, NULL},
	{"a watch shows no deletions", "keys of a lease that is over are deletions in a watch",
		watch_puts_alone, NULL},
	{"a watch begins too late", "a watch begins at its revision", watch_late, NULL},
	{"a watch leaves a commit out when it goes on", "a watch goes on where another left off",
		watch_jumps, NULL},
	{"a watch goes on from the end", "a watch in small pieces misses nothing", watch_hurries,
		NULL},
	{"a watch shows all prefixes", "a watch shows the changes of its prefix alone", watch_wide,
		NULL},
	{"a watch is silent about what was compacted",
		"a watch of what was compacted is told to list", watch_never_compacted, NULL},
	{"a watch of the future comes back to now", "a watch of the future waits for it",
		watch_impatient, NULL},
	{"a watch shows texts of documents", "a document is listed and watched without its text",
		watch_full, NULL},
	{"a client sees what it read before", "two clients see at once what the other commits",
		get_stale, NULL},
	{"create moves with mod", "create stays and mod moves when a key is put again", get_young,
		NULL},
	{"values lose their blanks", "values of any text come back as they were", get_trimmed,
		NULL},
	{"a document ends at a NUL", "a document has any bytes", document_text, NULL},
	{"compaction takes keys along", "keys, documents, leases and receipts outlive compaction",
		compact_keys, NULL},
	{NULL, NULL, NULL, NULL},
};
