/* store.c: the checks that all backends share, and the calls of their operations. */
#include <ctype.h>
#include <sys/random.h>
#include "src/base/vec.h"
#include "src/store/store.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

enum { ATTEMPTS = 20 }; /* of a request whose outcome is unknown */

static enum store_status bad(struct error *err, const char *what, const char *subject)
{
	error_set(err, ERR_INPUT, "%s: '%.200s'", what, subject);
	return STORE_BAD;
}

/* ---- keys and values ---- */

static bool store_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !strchr("/._-", s.p[i]))
			return false;
	return true;
}

/* Any name of a file that is not hidden, and that no journal has: a document must not replace it.
 */
static bool file_name(struct str s)
{
	return s.n && s.p[0] != '.' && !str_ends(s, STORE_JOURNAL_SUFFIX) &&
	       !memchr(s.p, '/', s.n) && !str_utf8_fault(s);
}

static bool is_document(const char *key)
{
	return str_starts(str_of(key), "doc/");
}

static enum store_status store_check_key(const char *key, struct error *err)
{
	struct str s = str_of(key);

	if (is_document(key)) {
		if (s.n > STORE_DOCUMENT_KEY_MAX || !file_name(str_sub(s, 4, s.n)))
			return bad(err, "this is not a valid document key", key);
		return STORE_OK;
	}
	if (!s.n || s.n > STORE_KEY_MAX || !store_plain(s))
		return bad(err, "a key is 1 to 200 of 'A-Za-z0-9/._-'", key ? key : "");
	return STORE_OK;
}

static enum store_status store_check_prefix(const char *prefix, struct error *err)
{
	if (strlen(prefix) > STORE_DOCUMENT_KEY_MAX || str_utf8_fault(str_of(prefix)))
		return bad(err, "this is not the start of a key", prefix);
	return STORE_OK;
}

static enum store_status store_check_value(
	const struct store_op *op, size_t *total, struct error *err)
{
	if (is_document(op->key)) {
		if (op->value.n > STORE_DOCUMENT_MAX)
			return bad(err, "this document is over 16 MiB", op->key);
		return op->ttl_s ? bad(err, "a document has no time to live", op->key) : STORE_OK;
	}
	*total += op->value.n + strlen(op->key);
	if (op->value.n > STORE_VALUE_MAX)
		return bad(err, "this value is over 64 KiB", op->key);
	if (str_utf8_fault(op->value))
		return bad(err, "this value is not UTF-8 without NUL", op->key);
	if (op->ttl_s && (op->ttl_s < STORE_TTL_MIN_S || op->ttl_s > STORE_TTL_MAX_S))
		return bad(err, "a time to live is 10 s to 30 days", op->key);
	return STORE_OK;
}

/* ---- transactions ---- */

static enum store_status check_receipt(const struct store_txn *t, struct error *err)
{
	struct str actor = str_of(t->actor), opid = str_of(t->opid);

	if (!t->actor && !t->opid)
		return STORE_OK;
	if (!t->actor || !t->opid)
		return bad(err, "an actor and an opid go together", t->actor ? t->actor : t->opid);
	if (!actor.n || actor.n > STORE_KEY_MAX - 5 || !store_plain(actor))
		return bad(err, "an actor is 1 to 195 of 'A-Za-z0-9/._-'", t->actor);
	if (!opid.n || opid.n > STORE_VALUE_MAX || str_utf8_fault(opid))
		return bad(err, "this opid is empty, too long or not UTF-8", t->opid);
	return STORE_OK;
}

static bool is_receipt(const struct store_txn *t, const char *key)
{
	return t->actor && str_starts(str_of(key), "rcpt/") && strcmp(key + 5, t->actor) == 0;
}

static enum store_status check_ops(const struct store_txn *t, struct error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];
		enum store_status got = store_check_key(op->key, err);

		for (size_t k = 0; k < i && got == STORE_OK; k++)
			if (strcmp(t->ops[k].key, op->key) == 0)
				got = bad(err, "this key comes twice", op->key);
		if (got == STORE_OK && is_receipt(t, op->key))
			got = bad(err, "this key is the receipt", op->key);
		if (got == STORE_OK && op->what == STORE_PUT)
			got = store_check_value(op, &total, err);
		if (got != STORE_OK)
			return got;
	}
	return total <= STORE_TXN_MAX ? STORE_OK
				      : bad(err, "a transaction is over 512 KiB", t->ops[0].key);
}

static enum store_status check_guards(const struct store_txn *t, struct error *err)
{
	for (size_t i = 0; i < t->n_guards; i++) {
		enum store_status got = store_check_key(t->guards[i].key, err);

		if (got != STORE_OK)
			return got;
	}
	return STORE_OK;
}

static enum store_status check_events(const struct store_txn *t, struct error *err)
{
	for (const json *e = json_first(t->events); e; e = json_next(e))
		if (!json_is_object(e) || json_get(e, "seq") || json_get(e, "rev"))
			return bad(
				err, "an event is an object without a number of its own", "events");
	for (const char *c = t->ts; c && *c; c++)
		if (!store_plain((struct str){c, 1}) && *c != ':' && *c != '+')
			return bad(err, "this is not a valid time", t->ts);
	return t->note && !json_is_object(t->note) ? bad(err, "a note is an object", "note")
						   : STORE_OK;
}

static enum store_status check_txn(const struct store_txn *t, struct error *err)
{
	enum store_status got;

	if (t->n_ops > STORE_OPS_MAX || t->n_guards > STORE_OPS_MAX) {
		error_set(err, ERR_INPUT, "a transaction has at most 64 operations, and guards");
		return STORE_BAD;
	}
	got = check_receipt(t, err);
	if (got == STORE_OK)
		got = check_guards(t, err);
	if (got == STORE_OK)
		got = check_events(t, err);
	return got == STORE_OK ? check_ops(t, err) : got;
}

/* ---- backends ---- */

static struct store_backend *for_tests;

struct store_backend *store_backend(void)
{
	return for_tests ? for_tests : store_files(disk_real());
}

void store_set_backend(struct store_backend *b)
{
	for_tests = b;
}

int store_open(struct store **out, struct store_backend *b, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	if (b->ops->open(b, out, dir, name, mode, wait_ms, err) < 0)
		return -1;
	(*out)->backend = b;
	(*out)->dir = str_dup(str_of(dir));
	return 0;
}

int store_exists(struct store_backend *b, const char *dir, const char *name, const char *file,
	bool *there, struct error *err)
{
	return b->ops->exists(b, dir, name, file, there, err);
}

int store_documents(struct store_backend *b, struct arena *a, const char *dir,
	struct store_paths *out, struct error *err)
{
	int rc;

	*out = (struct store_paths){0};
	rc = b->ops->documents(b, a, dir, out, err);
	vec_sort(out, vec_by_text);
	return rc;
}

int store_names(struct store_backend *b, struct arena *a, const char *dir, struct store_paths *out,
	struct error *err)
{
	int rc;

	*out = (struct store_paths){0};
	rc = b->ops->names(b, a, dir, out, err);
	vec_sort(out, vec_by_text);
	return rc;
}

int store_prepare(struct store_backend *b, const char *dir, struct error *err)
{
	return b->ops->prepare(b, dir, err);
}

int store_read_file(struct store_backend *b, const char *dir, const char *file, struct buf *out,
	bool *missing, struct error *err)
{
	return b->ops->read_file(b, dir, file, out, missing, err);
}

int store_keep_blob(struct store_backend *b, struct arena *a, const char *dir, const char *stem,
	struct str text, char **path, struct error *err)
{
	char sum[DIGEST_TEXT];

	if (text.n > STORE_BLOB_MAX)
		return error_set(err, ERR_INPUT, "a blob of '%s' is over 128 MiB", stem);
	digest_text(text, sum);
	*path = arena_printf(a, "%s/%s-%s.txt", dir, stem, sum);
	return b->ops->keep_blob(b, dir, *path, text, err);
}

int store_read_blob(struct store_backend *b, const char *path, struct buf *out, struct error *err)
{
	char sum[DIGEST_TEXT];
	size_t before = out->len;

	if (b->ops->read_blob(b, path, out, err) < 0)
		return -1;
	digest_text(str_sub(buf_str(out), before, out->len), sum);
	return str_ends(str_of(path), ".txt") && strstr(path, sum)
		       ? 0
		       : error_set(err, ERR_INPUT, "'%s' is damaged", path);
}

/* ---- documents that are longer than a backend's values ---- */

#define REFERENCE                                                                                  \
	"\x01"                                                                                     \
	"blob:" /* the path of the blob follows */

/* Copies the operations; each long text becomes a reference to a blob. */
static enum store_status store_shorten(
	struct store *s, struct arena *a, struct store_txn *t, struct error *err)
{
	struct store_op *ops = arena_alloc(a, (t->n_ops + 1) * sizeof(*ops));
	char *path;

	for (size_t i = 0; i < t->n_ops; i++) {
		struct store_op *op = &ops[i];

		*op = t->ops[i];
		if (!is_document(op->key) ||
			(op->value.n <= s->ops->document_max && !str_starts(op->value, REFERENCE)))
			continue;
		if (store_keep_blob(s->backend, a, path_join(a, s->dir, "blobs"), op->key + 4,
			    op->value, &path, err) < 0)
			return STORE_DOWN;
		op->value = str_of(arena_printf(a, REFERENCE "%s", path));
		op->delta = NULL;
	}
	t->ops = ops;
	return STORE_OK;
}

/* *text, which is what a backend has, becomes the text of the document; *own is its memory. */
static int store_resolve(struct store *s, struct str *text, struct buf *own, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *path;

	if (!s->ops->document_max || !str_starts(*text, REFERENCE))
		return 0;
	path = arena_dup(&a, str_sub(*text, strlen(REFERENCE), text->n));
	buf_clear(own);
	if (store_read_blob(s->backend, path, own, err) < 0)
		return -1;
	*text = buf_str(own);
	return 0;
}

/* ---- the operations ---- */

void store_close(struct store **s)
{
	char *dir = *s ? (*s)->dir : NULL;

	if (*s)
		(*s)->ops->close(*s);
	free(dir);
	*s = NULL;
}

void store_note(struct store *s, const char *what)
{
	s->ops->note(s, what);
}

int64_t store_revision(struct store *s)
{
	return s->ops->revision(s);
}

int64_t store_cursor(struct store *s)
{
	return s->ops->revision(s) + 1;
}

int64_t store_last_seq(struct store *s)
{
	return s->ops->last_seq(s);
}

const char *store_digest(struct store *s)
{
	return s->ops->digest ? s->ops->digest(s) : NULL;
}

enum store_status store_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status got = store_check_key(key, err);

	if (got == STORE_OK && is_document(key))
		got = bad(err, "this key is a document", key);
	return got == STORE_OK ? s->ops->get(s, a, key, out, err) : got;
}

enum store_status store_get_document(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	enum store_status got = store_check_key(key, err);
	struct str text;

	if (got == STORE_OK && !is_document(key))
		got = bad(err, "this is not a valid document key", key);
	if (got != STORE_OK)
		return got;
	buf_clear(out);
	*kv = (struct store_kv){.key = str_of(key)};
	got = s->ops->get_document(s, key, out, kv, err);
	text = buf_str(out);
	if (got != STORE_OK || store_resolve(s, &text, &own, err) < 0)
		return got == STORE_OK ? STORE_DOWN : got;
	if (own.s) {
		buf_clear(out);
		buf_add(out, text);
	}
	return STORE_OK;
}

enum store_status store_list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err)
{
	enum store_status got = store_check_prefix(prefix, err);

	*out = NULL;
	*n = 0;
	return got == STORE_OK ? s->ops->list(s, a, prefix, after, max, out, n, at, err) : got;
}

enum store_status store_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	CLEANUP(arena_release) struct arena own = {0};
	enum store_status got = path_check_looks(err) < 0 ? STORE_DOWN : check_txn(t, err);
	struct store_txn sent = *t;
	unsigned long long random;
	unsigned n = 0;

	*result = (struct store_result){0};
	if (got == STORE_OK && s->ops->document_max)
		got = store_shorten(s, &own, &sent, err);
	if (s->ops->uncertain && !t->opid) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return error_errno(err, "no random number"), STORE_DOWN;
		sent.opid = arena_printf(&own, "%016llx", random);
	}
	if (got != STORE_OK)
		return got;
	do /* one that may have happened is recognised */
		got = s->ops->txn(s, a, &sent, result, err);
	while (got == STORE_UNKNOWN && s->ops->uncertain && ++n < ATTEMPTS);
	if (n && got == STORE_OK)
		*err = (struct error){0};
	return got;
}

enum store_status store_watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	enum store_status got = store_check_prefix(prefix, err);

	*out = NULL;
	*n = 0;
	*next = from;
	return got == STORE_OK ? s->ops->watch(s, a, prefix, from, wait_ms, max, out, n, next, err)
			       : got;
}

enum store_status store_compact(struct store *s, int64_t rev, struct error *err)
{
	return s->ops->compact(s, rev, err);
}

enum store_status store_remove(struct store *s, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	enum store_status got;
	struct store_kv *kv;
	size_t n;
	int64_t at;

	got = store_list(s, &a, "doc/", NULL, 1, &kv, &n, &at, err);
	if (got == STORE_OK && n)
		got = bad(err, "the store has a document", kv->key.p);
	return got == STORE_OK ? s->ops->remove(s, err) : got;
}

enum store_status store_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	enum store_status got;

	*out = NULL;
	got = s->ops->history(s, range, out, err);
	if (got == STORE_OK)
		(*out)->of = s;
	return got;
}

int store_history_next(struct store_history *h, struct store_commit *c, struct error *err)
{
	int rc = h->next(h, c, err);

	return rc > 0 && store_resolve(h->of, &c->text, &h->blob, err) < 0 ? -1 : rc;
}

int store_history_text(
	struct store_history *h, const struct store_commit *c, struct buf *text, struct error *err)
{
	return h->text(c, text, err);
}

void store_history_close(struct store_history **h)
{
	if (*h)
		buf_release(&(*h)->blob);
	if (*h)
		(*h)->close(*h);
	*h = NULL;
}

json *store_next_event(struct str *events, const char *mark)
{
	struct str line;
	struct error ignored;
	json *event;

	while (str_line(events, &line))
		if (str_find(line, str_of(mark)) < line.n &&
			json_parse(&event, line, &ignored) == 0)
			return event;
	return NULL;
}
