#include "src/worktree/audit.h"

enum { PAGE = 1024, TRIES = 100 };

static int by_digest(const void *x, const void *y)
{
	const struct audit_record *a = x, *b = y;

	return strcmp(a->digest, b->digest);
}

const struct audit_record *audit_by_digest(const struct audit *t, struct str digest)
{
	struct audit_record key;

	if (digest.n != DIGEST_TEXT - 1 || !t->n_records)
		return NULL;
	memcpy(key.digest, digest.p, digest.n);
	key.digest[digest.n] = '\0';
	return bsearch(&key, t->records, t->n_records, sizeof(key), by_digest);
}

const struct audit_record *audit_by_path(const struct audit *t, const char *path)
{
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	return audit_by_digest(t, str_of(digest));
}

/* *at: the revision of the last page; *moved when the pages have different revisions. */
static int read_keys(struct audit *t, const char *prefix, struct store_kv **out, size_t *n,
	int64_t *at, bool *moved, struct error *err)
{
	const char *after = NULL;
	size_t cap = 0;

	*n = 0;
	*out = NULL;
	for (size_t got = PAGE; got == PAGE;) {
		int64_t was = *at;
		struct store_kv *page;

		if (store_list(t->pool->store, t->arena, prefix, after, PAGE, &page, &got, at,
			    err) != STORE_OK)
			return -1;
		*moved |= was != *at && was >= 0;
		if (*n + got > cap) {
			struct store_kv *more =
				arena_alloc(t->arena, (cap = 2 * (*n + got)) * sizeof(*more));

			if (*n)
				memcpy(more, *out, *n * sizeof(*more));
			*out = more;
		}
		if (got)
			memcpy(*out + *n, page, got * sizeof(*page));
		*n += got;
		after = got ? arena_dup(t->arena, page[got - 1].key) : NULL;
	}
	return 0;
}

static int read_records(struct audit *t, const struct store_kv *kv, size_t n, struct error *err)
{
	t->records = arena_alloc(t->arena, (n + 1) * sizeof(*t->records));
	t->n_records = 0;
	for (size_t i = 0; i < n; i++) {
		struct audit_record *r = &t->records[t->n_records];
		struct error fault;

		if (record_parse(t->arena, &kv[i], &r->of, &fault) < 0) {
			audit_add(
				t, "bad-record", arena_dup(t->arena, kv[i].key), "%s", fault.text);
			continue;
		}
		record_digest(r->of.path, r->digest);
		if (!str_is(str_sub(kv[i].key, strlen("at/"), kv[i].key.n), r->digest)) {
			audit_add(t, "bad-record", r->of.path, "its key belongs to another path");
			continue;
		}
		r->busy = record_busy(&r->of);
		t->n_records++;
	}
	if (t->n_records)
		qsort(t->records, t->n_records, sizeof(*t->records), by_digest);
	return places_read(t->arena, t->pool->common, &t->places, &t->n_places, err);
}

int audit_look(struct audit *t, struct error *err)
{
	struct store_kv *records = NULL;
	size_t n = 0;
	bool moved = true;

	for (int i = 0; i < TRIES && moved; i++) {
		moved = false;
		t->at = -1;
		if (read_keys(t, "at/", &records, &n, &t->at, &moved, err) < 0 ||
			read_keys(t, "doing/", &t->marks, &t->n_marks, &t->at, &moved, err) < 0 ||
			read_keys(t, "port/", &t->ports, &t->n_ports, &t->at, &moved, err) < 0)
			return -1;
	}
	if (moved)
		return error_set(err, ERR_STATE, "the pools change all the time: try again");
	return read_records(t, records, n, err);
}

int audit_unchanged(struct audit *t, bool *same, struct error *err)
{
	struct store_kv *ignored;
	size_t n;
	int64_t at = 0;

	if (store_list(t->pool->store, t->arena, "doing/", NULL, 1, &ignored, &n, &at, err) !=
		STORE_OK)
		return -1;
	*same = at == t->at;
	return 0;
}
