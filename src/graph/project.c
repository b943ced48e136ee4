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

enum { TRIES = 1000, WAIT_MS = 10000, SHOWN_MAX = 200 };

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
	VEC(struct store_guard) guards;
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
static bool graph_project_has_op(const struct project_ops *ops, const char *key)
{
	for (size_t i = 0; i < ops->n; i++)
		if (!strcmp(ops->items[i].key, key))
			return true;
	return false;
}

/* Members of `from` replace those of `to`; those of maps in both are joined. */
static void graph_project_join(json *to, const json *from)
{
	for (const json *m = json_first(from); m; m = json_next(m)) {
		json *old = (json *)json_get(to, json_key(m));

		if (json_is_object(m) && json_is_object(old))
			graph_project_join(old, m);
		else
			json_set(to, json_key(m), json_copy(m));
	}
}

/* A task keeps what an update does not name; the title of one that the machine notes, too. */
static int graph_project_put_task(struct arena *a, struct store *s, const json *task,
	struct project_ops *ops, struct error *err)
{
	CLEANUP(json_free) json *all = NULL;
	const char *key = arena_printf(a, "task/%s", json_get_str(task, "id")), *title;
	struct error ignored;
	struct store_kv kv;

	if (graph_project_has_op(ops, key))
		return 0;
	if (store_get(s, a, key, &kv, err) != STORE_OK)
		return -1;
	if (!kv.mod || json_parse(&all, kv.value, &ignored) < 0)
		all = json_object();
	title = json_get(task, "state") ? json_dup(a, all, "title") : NULL;
	graph_project_join(all, task);
	if (title)
		json_set(all, "title", json_string(str_of(title)));
	vec_push_in(a, &ops->guards, (struct store_guard){key, STORE_MOD_IS, kv.mod});
	put_op(a, ops, "task", json_get_str(task, "id"), json_print_in(a, json_copy(all)));
	return 0;
}

static int collect_ops(struct arena *a, struct store *s, const json *update,
	struct project_ops *ops, struct error *err)
{
	for (const json *f = json_first(json_get(update, "flags")); f; f = json_next(f))
		put_op(a, ops, "flag", json_key(f), json_is_true(f) ? STR("true") : STR("false"));
	for (const json *f = json_first(json_get(update, "artifacts")); f; f = json_next(f))
		put_op(a, ops, "artifact", json_key(f), str_of(json_text(f)));
	for (const json *t = json_first(json_get(update, "tasks")); t; t = json_next(t))
		if (graph_project_put_task(a, s, t, ops, err) < 0)
			return -1;
	return 0;
}

/* *again: another run has changed one of the tasks. */
static int update_once(struct arena *a, struct store *s, const struct project_query *q,
	const char *key, bool *again, struct error *err)
{
	struct project_ops ops = {0};
	struct store_result result;
	struct store_kv done;
	enum store_status rc;

	*again = false;
	if (store_get(s, a, key, &done, err) != STORE_OK)
		return -1;
	if (done.mod)
		return 0;
	vec_push_in(a, &ops.guards, (struct store_guard){key, STORE_MOD_IS, 0});
	if (collect_ops(a, s, q->update, &ops, err) < 0)
		return -1;
	vec_push_in(a, &ops,
		(struct store_op){.what = STORE_PUT, .key = key, .value = str_of(q->action)});
	rc = store_txn(s, a,
		&(struct store_txn){.guards = ops.guards.items,
			.n_guards = ops.guards.n,
			.ops = ops.items,
			.n_ops = ops.n},
		&result, err);
	*again = rc == STORE_REFUSED;
	return rc == STORE_OK || rc == STORE_REFUSED ? 0 : -1;
}

static int update(
	struct arena *a, struct store *s, const struct project_query *q, struct error *err)
{
	const char *key = node_key(a, q);
	bool again = true;

	for (unsigned i = 0; again && i < TRIES; i++)
		if (update_once(a, s, q, key, &again, err) < 0)
			return -1;
	return again ? error_set(err, ERR_STATE,
			       "the tasks of the project change all the time: "
			       "the same command tries again")
		     : 0;
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
