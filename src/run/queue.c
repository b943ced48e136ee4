/*
 * queue.c: the items that a run of several has not begun, so that `stop` can take one out. Each has
 * a store `runs/ID` next to the documents. Its values are the processes of the runs, after
 * QUEUE_STOP if the run must not begin the item. A value has no effect once its process has ended.
 */
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define QUEUE_STOP "stop "
enum { QUEUE_WAIT_MS = 30000, QUEUE_RUNS = 1000 };

struct queue {
	struct arena *arena;
	struct store *s; /* NULL: there is none */
	struct store_kv *runs;
	size_t n;
};

static void queue_close(struct queue *q)
{
	store_close(&q->s);
}

static int queue_open(
	struct queue *q, const char *repo, const char *id, bool create, struct error *err)
{
	const char *dir;
	int64_t at;
	bool there = create;

	if (status_directory(q->arena, repo, &dir, err) < 0)
		return -1;
	dir = path_join(q->arena, dir, "runs");
	if (!create && store_exists(store_backend(), dir, id, "none", &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	if (store_open(&q->s, store_backend(), dir, id, STORE_HOLD, QUEUE_WAIT_MS, err) < 0)
		return -1;
	return store_list(q->s, q->arena, "", NULL, QUEUE_RUNS, &q->runs, &q->n, &at, err) ==
			       STORE_OK
		       ? 0
		       : -1;
}

/* The i-th run; *asked: whether it is not to begin the item. */
static const char *queue_run(const struct queue *q, size_t i, bool *asked)
{
	struct str value = q->runs[i].value;

	*asked = str_starts(value, QUEUE_STOP);
	return arena_dup(q->arena, str_sub(value, *asked ? strlen(QUEUE_STOP) : 0, value.n));
}

/* `value` without text: the run leaves. The name of a run is too long for a key. */
static int queue_put(struct queue *q, const char *run, struct str value, struct error *err)
{
	char key[DIGEST_TEXT];
	const struct store_op op = {
		.what = value.n ? STORE_PUT : STORE_DEL, .key = key, .value = value};
	const struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result;

	digest_text(str_of(run), key);
	return store_txn(q->s, q->arena, &t, &result, err) == STORE_OK ? 0 : -1;
}

int run_queue_enter(struct arena *a, const char *repo, const char *id, struct error *err)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};
	const char *self = process_own_name(a);

	if (!self)
		return 0;
	return queue_open(&q, repo, id, true, err) < 0 ? -1
						       : queue_put(&q, self, str_of(self), err);
}

bool run_queue_leave(struct arena *a, const char *repo, const char *id)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};
	const char *self = process_own_name(a);
	bool asked, mine = false, others = false;
	struct error ignored;

	if (!self || queue_open(&q, repo, id, false, &ignored) < 0 || !q.s)
		return false;
	for (size_t i = 0; i < q.n; i++) {
		const char *run = queue_run(&q, i, &asked);

		if (strcmp(run, self) == 0)
			mine = asked;
		else
			others |= process_name_describe(a, run) != NULL;
	}
	if (others)
		(void)queue_put(&q, self, (struct str){0}, &ignored);
	else
		(void)store_remove(q.s, &ignored);
	return mine;
}

int run_queue_stop(
	struct arena *a, const char *repo, const char *id, bool *queued, struct error *err)
{
	CLEANUP(queue_close) struct queue q = {.arena = a};
	bool asked;

	*queued = false;
	if (queue_open(&q, repo, id, false, err) < 0)
		return -1;
	for (size_t i = 0; i < q.n; i++) {
		const char *run = queue_run(&q, i, &asked);

		if (!process_name_describe(a, run))
			continue;
		*queued = true;
		if (!asked &&
			queue_put(&q, run, str_of(arena_printf(a, QUEUE_STOP "%s", run)), err) < 0)
			return -1;
	}
	return 0;
}
