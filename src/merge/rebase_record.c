#include "src/base/clock.h"
#include "src/sys/digest.h"
#include "src/merge/rebase_internal.h"

enum { PATHS_MAX = 200, PATHS_BYTES = 32 << 10, LIST_STEP = 100 };

static char *rebase_record_key_of(struct arena *a, const char *path)
{
	char sum[DIGEST_TEXT];

	digest_text(str_of(path), sum);
	return arena_printf(a, "rebase/%s", sum);
}

static const char *const *read_paths(struct arena *a, const json *list)
{
	size_t n = json_len(list);
	const char **out = arena_alloc(a, (n + 1) * sizeof(*out));

	for (size_t i = 0; i < n; i++) {
		const char *s = json_text(json_at(list, i));

		out[i] = arena_dup(a, str_of(s ? s : ""));
	}
	return out;
}

static int rebase_record_parse(
	struct arena *a, const struct store_kv *kv, struct rebase_record *r, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "record of a rebase");
	*r = (struct rebase_record){.path = json_dup(a, j, "path"),
		.branch = json_dup(a, j, "branch"),
		.target = json_dup(a, j, "target"),
		.state = json_dup(a, j, "state"),
		.before = json_dup(a, j, "before"),
		.onto = json_dup(a, j, "onto"),
		.expected = json_dup(a, j, "expected"),
		.after = json_dup(a, j, "after"),
		.attempts = (unsigned)json_get_int(j, "attempts", 0),
		.fence = json_get_int(j, "fence", 0),
		.at = json_get_int(j, "at", 0),
		.mod = kv->mod};
	if (json_is_array(json_get(j, "paths")))
		r->paths = read_paths(a, json_get(j, "paths"));
	if (!r->path || !r->state)
		return error_set(err, ERR_INPUT, "record of a rebase has no path or no state");
	return 0;
}

int rebase_read(struct arena *a, struct pool *p, const char *path, struct rebase_record *out,
	struct error *err)
{
	struct store_kv kv;

	*out = (struct rebase_record){0};
	if (store_get(p->store, a, rebase_record_key_of(a, path), &kv, err) != STORE_OK)
		return -1;
	return kv.mod ? rebase_record_parse(a, &kv, out, err) : 0;
}

#define TEXT(key, value) JSON_IF(value, JSON_TEXT(key, value))

/* Some paths are enough to describe a conflict of thousands of files. */
static json *path_list(const char *const *paths)
{
	json *list = json_array();
	size_t bytes = 0;

	for (size_t i = 0; paths[i] && i < PATHS_MAX; i++) {
		bytes += strlen(paths[i]);
		if (bytes > PATHS_BYTES)
			break;
		json_push_str(list, str_of(paths[i]));
	}
	return list;
}

static json *rebase_record_print(const struct rebase_record *r)
{
	return JSON_OBJECT(TEXT("path", r->path), TEXT("branch", r->branch),
		TEXT("target", r->target), TEXT("state", r->state), TEXT("before", r->before),
		TEXT("onto", r->onto), TEXT("expected", r->expected), TEXT("after", r->after),
		JSON_INT("attempts", r->attempts), JSON_INT("fence", r->fence),
		JSON_INT("at", r->at), JSON_IF(r->paths, JSON_VALUE("paths", path_list(r->paths))));
}

int rebase_save(struct rebasing *w, const char *state, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *key = rebase_record_key_of(w->a, w->path);
	struct store_guard guard = {.key = key, .what = STORE_MOD_IS, .rev = w->rec.mod};
	struct store_op op = {.what = STORE_PUT, .key = key};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
	struct store_result result = {0};
	enum store_status got;

	w->rec.state = state;
	w->rec.fence = gate_fence(w->g);
	w->rec.at = clock_now();
	j = rebase_record_print(&w->rec);
	json_print(&text, j);
	op.value = buf_str(&text);
	got = store_txn(w->p->store, w->a, &t, &result, err);
	if (got == STORE_REFUSED)
		return error_set(
			err, ERR_STATE, "another process has rebased '%s' meanwhile", w->branch);
	w->rec.mod = result.rev;
	return got == STORE_OK ? 0 : -1;
}

static int rebase_record_by_path(const void *a, const void *b)
{
	const struct rebase_record *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* The store has the records of all pools; those of this one are below its directory. */
static bool is_of_pool(const struct pool *p, const struct rebase_record *r)
{
	size_t n = strlen(p->dir);

	return strncmp(r->path, p->dir, n) == 0 && r->path[n] == '/';
}

static void add_all(struct arena *a, const struct pool *p, const struct store_kv *kv, size_t n,
	struct rebase_record **out, size_t *k)
{
	struct rebase_record *more = arena_alloc(a, (*k + n + 1) * sizeof(*more));
	struct error odd;

	if (*k)
		memcpy(more, *out, *k * sizeof(*more));
	*out = more;
	for (size_t i = 0; i < n; i++)
		*k += rebase_record_parse(a, &kv[i], &more[*k], &odd) == 0 &&
		      is_of_pool(p, &more[*k]);
}

int rebase_list(
	struct arena *a, struct pool *p, struct rebase_record **out, size_t *n, struct error *err)
{
	const char *after = NULL;
	struct store_kv *kv;
	size_t got;
	int64_t at;

	*out = NULL;
	*n = 0;
	do {
		if (store_list(p->store, a, "rebase/", after, LIST_STEP, &kv, &got, &at, err) !=
			STORE_OK)
			return -1;
		add_all(a, p, kv, got, out, n);
		after = got ? arena_dup(a, kv[got - 1].key) : NULL;
	} while (got == LIST_STEP);
	qsort(*out, *n, sizeof(**out), rebase_record_by_path);
	return 0;
}

json *rebase_record_json(const struct rebase_record *r)
{
	return JSON_OBJECT(JSON_TEXT("branch", r->branch ? r->branch : ""),
		JSON_TEXT("path", r->path), JSON_TEXT("target", r->target ? r->target : ""),
		JSON_TEXT("state", r->state), JSON_INT("attempts", r->attempts),
		JSON_IF(r->paths, JSON_VALUE("paths", json_names(r->paths))),
		JSON_INT("fence", r->fence), JSON_TIME("at", r->at));
}

json *rebase_json(const struct rebase *r)
{
	return JSON_OBJECT(JSON_TEXT("outcome", rebase_word(r->fate)),
		JSON_TEXT("branch", r->branch), JSON_TEXT("target", r->target),
		JSON_TEXT("before", r->before ? r->before : ""),
		JSON_IF(r->after, JSON_TEXT("after", r->after)),
		JSON_IF(r->onto, JSON_TEXT("onto", r->onto)),
		JSON_IF(r->paths, JSON_VALUE("paths", json_names(r->paths))),
		JSON_IF(r->fault, JSON_TEXT("fault", r->fault)), JSON_INT("attempt", r->attempt),
		JSON_INT("fence", r->fence), JSON_IF(r->kept, JSON_TEXT("kept", r->kept)));
}
