/*
 * queue.c: the items that a run of several has not begun, so that `stop` can take one out. Each has
 * a store `runs/ID` next to the documents. Its only value is the process of the run, after
 * QUEUE_STOP if the run must not begin the item. It has no effect once the process has ended.
 */
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define QUEUE_KEY  "run"
#define QUEUE_STOP "stop "
enum { QUEUE_WAIT_MS = 30000 };

struct queue {
	struct arena *arena;
	struct store *s; /* NULL: there is none */
	const char *run; /* "": none */
	bool stopped;
};

static void queue_close(struct queue *q)
{
	store_close(&q->s);
}

static int queue_open(
	struct queue *q, const char *repo, const char *id, bool create, struct error *err)
{
	struct store_kv kv;
	const char *dir;
	bool there = create;

	if (status_directory(q->arena, repo, &dir, err) < 0)
		return -1;
	dir = path_join(q->arena, dir, "runs");
	if (!create && store_exists(store_backend(), dir, id, "none", &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	if (store_open(&q->s, store_backend(), dir, id, STORE_HOLD, QUEUE_WAIT_MS, err) < 0 ||
		store_get(q->s, q->arena, QUEUE_KEY, &kv, err) != STORE_OK)
		return -1;
	q->stopped = str_starts(kv.value, QUEUE_STOP);
	q->run = arena_dup(
		q->arena, str_sub(kv.value, q->stopped ? strlen(QUEUE_STOP) : 0, kv.value.n));
	return 0;
}

static int queue_put(struct queue *q, const char *value, struct error *err)
{
	const struct store_op op = {.what = STORE_PUT, .key = QUEUE_KEY, .value = str_of(value)};
	const struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result;

	return store_txn(q->s, q->arena, &t, &result, err) == STORE_OK ? 0 : -1;
}

int run_queue_enter(struct arena *a, const char *repo, const char *id, struct error *err)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};
	const char *self = process_own_name(a);

	if (!self)
		return 0;
	return queue_open(&q, repo, id, true, err) < 0 ? -1 : queue_put(&q, self, err);
}

bool run_queue_leave(struct arena *a, const char *repo, const char *id)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};
	const char *self = process_own_name(a);
	struct error ignored;

	if (!self || queue_open(&q, repo, id, false, &ignored) < 0 || !q.s)
		return false;
	if (strcmp(q.run, self) == 0)
		(void)store_remove(q.s, &ignored);
	return q.stopped && process_name_describe(a, q.run);
}

int run_queue_stop(
	struct arena *a, const char *repo, const char *id, bool *queued, struct error *err)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};

	*queued = false;
	if (queue_open(&q, repo, id, false, err) < 0)
		return -1;
	*queued = q.s && process_name_describe(a, q.run);
	return !*queued || q.stopped ? 0
				     : queue_put(&q, arena_printf(a, QUEUE_STOP "%s", q.run), err);
}
