#include <sys/wait.h>
#include "src/store/store.h"
#include "tests/lib/scratch.h"

enum { WRITERS = 4, TURNS = 50 };

static struct error err;

static struct store *opened(enum store_mode mode)
{
	struct store *s = NULL;

	if (store_open(&s, store_backend(), base, "T", mode, 60000, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* Adds one to the number, unless another was quicker; then again. */
static bool add_one(struct store *s)
{
	for (;;) {
		struct store_kv kv;
		struct store_guard guard = {"n", STORE_MOD_IS, 0};
		struct store_op op = {.what = STORE_PUT, .key = "n"};
		struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
		struct store_result r;
		enum store_status got;

		if (store_get(s, &arena, "n", &kv, &err) != STORE_OK)
			return false;
		guard.rev = kv.mod;
		op.value = str_of(
			arena_printf(&arena, "%ld", kv.mod ? strtol(kv.value.p, NULL, 10) + 1 : 1));
		got = store_txn(s, &arena, &t, &r, &err);
		if (got != STORE_REFUSED)
			return got == STORE_OK;
	}
}

static int count_up(enum store_mode mode)
{
	for (int i = 0; i < TURNS; i++) {
		CLEANUP(store_close) struct store *s = opened(mode);

		if (!add_one(s) || (mode == STORE_WRITE && !add_one(s)))
			return 1;
	}
	return 0;
}

static void wait_for_all(int n)
{
	for (; n; n--) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

SCRATCH_TEST(no_write_of_many_processes_is_lost)
{
	CLEANUP(store_close) struct store *s = NULL;
	struct store_kv kv;

	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			_exit(count_up(i % 2 ? STORE_WRITE : STORE_HOLD));
	wait_for_all(WRITERS);
	s = opened(STORE_READ);
	assert_int_equal(store_get(s, &arena, "n", &kv, &err), STORE_OK);
	assert_str(kv.value, "300");
	assert_int_equal(store_revision(s), 300);
}

/* The document says its own revision. */
static int write_documents(void)
{
	CLEANUP(store_close) struct store *s = opened(STORE_HOLD);

	for (int i = 1; i <= 200; i++) {
		struct store_op op = {.what = STORE_PUT, .key = "doc/T.md"};
		struct store_txn t = {.ops = &op, .n_ops = 1};
		struct store_result r;

		op.value = str_of(arena_printf(&arena, "%d", i));
		if (store_txn(s, &arena, &t, &r, &err) != STORE_OK)
			return 1;
	}
	return 0;
}

SCRATCH_TEST(a_reader_sees_whole_commits_while_another_writes)
{
	CLEANUP(store_close) struct store *s = opened(STORE_READ);
	long was = 0;

	if (fork() == 0)
		_exit(write_documents());
	while (was < 200) {
		struct store_kv kv;

		assert_int_equal(store_get(s, &arena, "doc/T.md", &kv, &err), STORE_OK);
		if (!kv.mod)
			continue;
		assert_int_equal(strtol(kv.value.p, NULL, 10), kv.mod);
		assert_true(kv.mod >= was);
		was = (long)kv.mod;
	}
	wait_for_all(1);
}
