/* Each read of a key fails once: the call says so and saves nothing, and succeeds when it is
 * repeated. */
#include "tests/lib/engine_rig.h"

static const struct store_backend_ops *real;
static const struct store_methods *methods;
static struct store_backend_ops failing;
static struct store_methods failing_methods;
static unsigned reads, fails_at;

static enum store_status get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	if (++reads != fails_at)
		return methods->get(s, a, key, out, err);
	(void)error_set(err, ERR_SYSTEM, "the disk is gone");
	return STORE_DOWN;
}

static int open(struct store_backend *b, struct store **out, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	int rc = real->open(b, out, dir, name, mode, wait_ms, err);

	if (rc == 0 && (*out)->ops != &failing_methods) {
		methods = (*out)->ops;
		failing_methods = *methods;
		failing_methods.get = get;
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

static unsigned fail_each_read(const char *id, const char *word)
{
	for (fails_at = 1;; fails_at++) {
		const char *before = path_exists(t.path) ? document() : NULL;
		int rc;

		reads = 0;
		rc = call(id, word);
		if (reads < fails_at) {
			assert_int_equal(rc, 0);
			return fails_at - 1;
		}
		assert_fails(rc, t.err, ERR_SYSTEM);
		if (before)
			assert_string_equal(document(), before);
	}
}

ENGINE_TEST(a_key_that_cannot_be_read_stops_the_call_and_loses_nothing)
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
		failed += fail_each_read(answers[i][0], answers[i][1]);
	b->ops = real;
	assert_true(failed > 10);
	assert_string_equal(summary(), "ADR-7/reviewing/1");
}
