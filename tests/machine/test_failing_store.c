/* Each read of a key fails once: the call says so and saves nothing, and succeeds when it is
 * repeated. */
#include "tests/lib/engine_rig.h"

static const struct store_backend_ops *real;
static const struct store_methods *methods;
static struct store_backend_ops failing;
static struct store_methods failing_methods;
static unsigned calls, fails_at;

static bool fails(struct error *err)
{
	if (++calls != fails_at)
		return false;
	(void)error_set(err, ERR_SYSTEM, "the disk is gone");
	return true;
}

static enum store_status get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	return fails(err) ? STORE_DOWN : methods->get(s, a, key, out, err);
}

static enum store_status get_document(
	struct store *s, const char *key, struct buf *text, struct store_kv *out, struct error *err)
{
	return fails(err) ? STORE_DOWN : methods->get_document(s, key, text, out, err);
}

static enum store_status txn(struct store *s, struct arena *a, const struct store_txn *txn,
	struct store_result *result, struct error *err)
{
	return fails(err) ? STORE_DOWN : methods->txn(s, a, txn, result, err);
}

static int open(struct store_backend *b, struct store **out, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	int rc = real->open(b, out, dir, name, mode, wait_ms, err);

	if (rc == 0 && (*out)->ops != &failing_methods) {
		methods = (*out)->ops;
		failing_methods = *methods;
		failing_methods.get = get;
		failing_methods.get_document = get_document;
		failing_methods.txn = txn;
		(*out)->ops = &failing_methods;
	}
	return rc;
}

/* Answers `id`, or steps without it. */
static int call(const char *id, const char *word)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {.id = id, .word = word, .text = STR("Text."), .ran = true};

	if (!id)
		return step_as("ADR-7", true, NULL);
	return context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err) < 0
		       ? -1
		       : answer_record(&f, &offer, &t.err);
}

static unsigned fail_each_call(const char *id, const char *word)
{
	for (fails_at = 1;; fails_at++) {
		const char *before = path_exists(t.path) ? document() : NULL;
		int rc;

		calls = 0;
		rc = call(id, word);
		if (calls < fails_at) {
			assert_int_equal(rc, 0);
			return fails_at - 1;
		}
		assert_fails(rc, t.err, ERR_SYSTEM);
		if (before)
			assert_string_equal(document(), before);
	}
}

ENGINE_TEST(a_store_that_fails_stops_the_verb_and_loses_nothing)
{
	static const char *const answers[][2] = {{NULL}, {"ADR-7/researching/1", "briefed"}, {NULL},
		{"ADR-7/implementing/1", "implemented"}, {NULL}, {"ADR-7/validating/1", "passed"},
		{NULL}};
	struct store_backend *b = store_backend();
	unsigned failed = 0;

	workflow_with_evidence(IMPLEMENT);
	real = b->ops;
	failing = *real;
	failing.open = open;
	b->ops = &failing;
	store_set_backend(b); /* else its operations are set again */
	t.enters = "/r";
	t.diverges = true;
	for (size_t i = 0; i < COUNT(answers); i++)
		failed += fail_each_call(answers[i][0], answers[i][1]);
	b->ops = real;
	assert_true(failed > 10);
	assert_string_equal(summary(), "ADR-7/reviewing/1");
}
