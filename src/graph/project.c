/*
 * project.c: the context of a project, which its runs share: flags, pointers to artifacts and the
 * queue of tasks, each a key of one store. The end of a node changes them in one guarded
 * transaction, which also puts the key `node/ACTION`: a repeated call finds it and changes nothing.
 */
#include "src/base/vec.h"
#include "src/graph/manifest.h"
#include "src/store/store.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

#define PROJECT_VARIABLE "AGENT_PROJECT_CONTEXT_PATH"

enum { WAIT_MS = 10000, SHOWN_MAX = 200 };

/* The directory of the store: the variable, else `project` next to the documents. */
static int open_project(struct arena *a, const char *document, struct store **s, struct error *err)
{
	const char *given = getenv(PROJECT_VARIABLE);
	const char *dir = given && *given
				  ? path_absolute(a, given)
				  : path_join(a, arena_dup(a, path_dir(document)), "project");

	if (store_open(s, store_backend(), dir, "context", STORE_WRITE, WAIT_MS, err) < 0)
		return error_prefix(err, "the context of the project, '%.400s'", dir);
	return 0;
}

/* An action's id has no byte that a key must not have, but may be long; two projects may have an
 * item of the same id. */
static const char *node_key(struct arena *a, const struct project_query *q)
{
	char sum[DIGEST_TEXT];

	digest_text(str_of(arena_printf(a, "%s %s", q->document, q->action)), sum);
	return arena_printf(a, "node/%s", sum);
}

struct project_ops {
	struct store_op *items;
	size_t n, cap;
};

static void put_op(struct arena *a, struct project_ops *ops, const char *kind, const char *name,
	struct str value)
{
	vec_push_in(a, ops,
		(struct store_op){.what = STORE_PUT,
			.key = arena_printf(a, "%s/%s", kind, name),
			.value = value});
}

/* A later entry of the same name counts: a transaction has each key once. */
static bool has_op(const struct project_ops *ops, const char *key)
{
	for (size_t i = 0; i < ops->n; i++)
		if (!strcmp(ops->items[i].key, key))
			return true;
	return false;
}

static void collect_ops(struct arena *a, const json *update, struct project_ops *ops)
{
	for (const json *f = json_first(json_get(update, "flags")); f; f = json_next(f))
		put_op(a, ops, "flag", json_key(f), json_is_true(f) ? STR("true") : STR("false"));
	for (const json *f = json_first(json_get(update, "artifacts")); f; f = json_next(f))
		put_op(a, ops, "artifact", json_key(f), str_of(json_text(f)));
	for (const json *t = json_first(json_get(update, "tasks")); t; t = json_next(t))
		if (!has_op(ops, arena_printf(a, "task/%s", json_get_str(t, "id"))))
			put_op(a, ops, "task", json_get_str(t, "id"),
				json_print_in(a, json_copy(t)));
}

static int update(
	struct arena *a, struct store *s, const struct project_query *q, struct error *err)
{
	const struct store_guard guard = {node_key(a, q), STORE_MOD_IS, 0};
	struct project_ops ops = {0};
	struct store_result result;
	enum store_status rc;

	collect_ops(a, q->update, &ops);
	vec_push_in(a, &ops,
		(struct store_op){.what = STORE_PUT, .key = guard.key, .value = str_of(q->action)});
	rc = store_txn(s, a,
		&(struct store_txn){
			.guards = &guard, .n_guards = 1, .ops = ops.items, .n_ops = ops.n},
		&result, err);
	return rc == STORE_OK || rc == STORE_REFUSED ? 0 : -1;
}

static int read_flags(struct arena *a, struct store *s, const struct project_query *q, json *list,
	struct error *err)
{
	for (size_t i = 0; i < q->flags.n; i++) {
		struct store_kv kv;

		if (store_get(s, a, arena_printf(a, "flag/%s", q->flags.list[i]), &kv, err) !=
			STORE_OK)
			return -1;
		if (kv.mod && str_is(kv.value, "true"))
			json_push_str(list, str_of(q->flags.list[i]));
	}
	return 0;
}

/* The first entries of one kind. */
static int list_kind(struct arena *a, struct store *s, const char *kind, struct store_kv **list,
	size_t *n, struct error *err)
{
	int64_t at;

	return store_list(s, a, kind, NULL, SHOWN_MAX, list, n, &at, err) == STORE_OK ? 0 : -1;
}

static int read_all(struct arena *a, struct store *s, json *facts, struct error *err)
{
	json *flags = json_object(), *artifacts = json_object(), *tasks = json_array();
	struct store_kv *flag, *artifact, *task;
	size_t n_flags, n_artifacts, n_tasks;

	json_put(facts, "project",
		JSON_OBJECT(JSON_VALUE("flags", flags), JSON_VALUE("artifacts", artifacts),
			JSON_VALUE("tasks", tasks)));
	if (list_kind(a, s, "flag/", &flag, &n_flags, err) < 0 ||
		list_kind(a, s, "artifact/", &artifact, &n_artifacts, err) < 0 ||
		list_kind(a, s, "task/", &task, &n_tasks, err) < 0)
		return -1;
	for (size_t i = 0; i < n_flags; i++)
		json_put_bool(flags,
			arena_dup(a, str_sub(flag[i].key, strlen("flag/"), flag[i].key.n)),
			str_is(flag[i].value, "true"));
	for (size_t i = 0; i < n_artifacts; i++)
		json_put_str(artifacts,
			arena_dup(a,
				str_sub(artifact[i].key, strlen("artifact/"), artifact[i].key.n)),
			artifact[i].value);
	for (size_t i = 0; i < n_tasks; i++) {
		struct error ignored;
		json *one = NULL;

		if (json_parse(&one, task[i].value, &ignored) == 0)
			json_push(tasks, one);
	}
	return 0;
}

int project_ask(struct arena *a, const struct project_query *q, json **facts, struct error *err)
{
	CLEANUP(store_close) struct store *s = NULL;
	json *flags = json_array(), *files = json_array();

	*facts = JSON_OBJECT(JSON_VALUE("flags", flags), JSON_VALUE("files", files));
	for (size_t i = 0; q->directory && i < q->paths.n; i++)
		if (path_exists(path_join(a, q->directory, q->paths.list[i])))
			json_push_str(files, str_of(q->paths.list[i]));
	if (!q->update && !q->flags.n && !q->all)
		return 0;
	if (open_project(a, q->document, &s, err) == 0 &&
		(!q->update || update(a, s, q, err) == 0) && read_flags(a, s, q, flags, err) == 0 &&
		(!q->all || read_all(a, s, *facts, err) == 0))
		return 0;
	json_free(facts);
	return -1;
}
