/*
 * The engine checks find planted faults: each test plants one in the disk, and a check must fail.
 */
#include "src/base/clock.h"
#include "tests/lib/scratch.h"
#include "tests/model/engine_checks.h"

#define FLOW                                                                                       \
	"---\nstates:\n  gates:\n    all:\n"                                                       \
	"      - {agent: a, skill: s, writes: A, results: {good: on, bad: off}}\n"                 \
	"      - {command: make, writes: B, results: {passed: on, failed: off}}\n---\n"            \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> gates : go\n"                         \
	"gates --> done : on\ngates --> failed : off\nfailed --> [*]\ndone --> [*]\n```\n"

#define DOCUMENT "/state/T-1.md"
#define JOURNAL  "/state/T-1.events.jsonl"

static struct workflow w;
static struct explore_graph g;
static struct engine_checks checks;

static void explore_on(const struct simulator_kind *kind)
{
	struct error err;

	assert_int_equal(workflow_parse(&arena, "w.md", STR(FLOW), &w, &err), 0);
	engine_checks_run(&checks, &g, &w, kind, false);
}

/* The failed check that begins so. */
static const struct failed_check *failed(const char *text)
{
	for (size_t i = 0; i < checks.failed.n; i++)
		if (strncmp(checks.failed.items[i].text, text, strlen(text)) == 0)
			return &checks.failed.items[i];
	for (size_t i = 0; i < checks.failed.n; i++)
		print_message("%s\n", checks.failed.items[i].text);
	fail_msg("'%s' is not found", text);
	return NULL;
}

static const struct disk_ops *real;
static struct disk_ops faulty;
static struct simulator_kind faulty_kind;

/* A copy with the operations of `faulty`, so that what was done before the copy is sound. */
static struct store_backend *copy_faulty(const struct store_backend *b)
{
	struct store_backend *copy = sim_disk_kind.copy(b);

	sim_disk_under(copy)->ops = &faulty;
	return copy;
}

static int set_up(void **state)
{
	struct disk *d = sim_disk_new(1);

	(void)state;
	real = d->ops;
	sim_disk_free(&d);
	faulty = *real;
	faulty_kind = sim_disk_kind;
	faulty_kind.copy = copy_faulty;
	return 0;
}

static int tear_down(void **state)
{
	engine_checks_release(&checks);
	explore_graph_release(&g);
	clock_fix(-1);
	return arena_end(state);
}

#define CHECK_TEST(name) UNIT_TEST(name, set_up, tear_down)

CHECK_TEST(without_a_fault_no_check_fails)
{
	explore_on(&sim_disk_kind);
	assert_int_equal(checks.failed.n, 0);
	assert_string_equal(checks.oracle.difference, "");
	assert_true(checks.oracle.compared > 3000);
	assert_true(checks.refused > 20);
	assert_true(checks.crashes > 1000);
	assert_true(checks.takeovers > 5);
	assert_true(checks.cancels > 5);
}

/* ---- faults of the disk ---- */

static int no_sync(struct disk_file *f, struct error *err)
{
	(void)f;
	(void)err;
	return 0;
}

CHECK_TEST(an_answer_that_is_not_synced_is_found)
{
	const struct failed_check *f;

	faulty.sync = no_sync;
	explore_on(&faulty_kind);
	f = failed("a crash loses what was acknowledged: 'record' of 'good', the power fails");
	assert_int_equal(f->answers.n, 1);
	assert_string_equal(f->answers.items[0].action, "T-1/gates/1");
	assert_string_equal(f->answers.items[0].word, "good");
	failed("a crash loses what was acknowledged: 'step --returned', the power fails");
}

/* ---- faults of the program: each call ends with another document ---- */

static struct disk *locked;
static void (*change)(struct disk *d, struct buf *doc);

static int lock_noted(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	locked = d;
	return real->lock(d, path, wait_ms, out, err);
}

static void unlock_changed(struct disk_lock *l)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sim_disk_get(locked, DOCUMENT, &text)) {
		change(locked, &text);
		sim_disk_put(locked, DOCUMENT, buf_str(&text));
	}
	real->unlock(l);
}

static void explore_changed(void (*how)(struct disk *d, struct buf *doc))
{
	change = how;
	faulty.lock = lock_noted;
	faulty.unlock = unlock_changed;
	explore_on(&faulty_kind);
}

static void cut(struct buf *doc, const char *from, const char *to)
{
	size_t a = str_find(buf_str(doc), str_of(from)), b;
	struct str s = buf_str(doc);

	if (a == s.n)
		return;
	b = a + str_find(str_sub(s, a, s.n), str_of(to));
	memmove(doc->s + a, doc->s + b, doc->len - b + 1);
	doc->len -= b - a;
}

/* Now and then: what every call loses is not lost by a crash. */
static void forget_requests(struct disk *d, struct buf *doc)
{
	static unsigned calls;

	(void)d;
	if (calls++ % 3)
		return;
	cut(doc, "attempts:", "---");
	cut(doc, "<!-- section:Actions -->", "\x01");
}

CHECK_TEST(a_program_that_forgets_its_requests_is_found)
{
	explore_changed(forget_requests);
	failed("a crash leaves neither the state before nor the state after");
}

/* A take-over that leaves the ids as they were. */
static void keep_ids(struct disk *d, struct buf *doc)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	size_t at;

	if (!sim_disk_get(d, JOURNAL, &journal) ||
		str_find(buf_str(&journal), STR("\"instead_of\"")) == journal.len)
		return;
	at = str_find(buf_str(doc), STR("\"id\":\"T-1/gates/"));
	if (at < doc->len)
		doc->s[at + strlen("\"id\":\"T-1/gates/")] = '1';
}

CHECK_TEST(a_take_over_that_does_not_fence_is_found)
{
	explore_changed(keep_ids);
	assert_non_null(strstr(checks.oracle.difference, "the model has"));
}

/* ---- outcomes ---- */

static void dispatch_again(struct disk *d, struct buf *doc)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	(void)doc;
	assert_true(sim_disk_get(d, JOURNAL, &journal));
	buf_adds(&journal, "{\"type\":\"dispatch\",\"action\":\"T-1/gates/2\",\"state\":1}\n");
	sim_disk_put(d, JOURNAL, buf_str(&journal));
}

CHECK_TEST(an_action_that_is_dispatched_twice_is_noticed)
{
	struct simulator_call call = {0};
	struct step_outcome once, twice;
	struct trial t;

	explore_on(&sim_disk_kind);
	t = (struct trial){
		.checks = &checks, .simulator = simulator_new(&w, "T-1", &sim_disk_kind)};
	step_outcome_of(&arena, &t, &call, &once);
	assert_null(once.twice);
	simulator_free(&t.simulator);
	t.simulator = simulator_new(&w, "T-1", &sim_disk_kind);
	change = dispatch_again;
	faulty.lock = lock_noted;
	faulty.unlock = unlock_changed;
	sim_disk_of(t.simulator)->ops = &faulty;
	step_outcome_of(&arena, &t, &call, &twice);
	assert_string_equal(twice.twice, "\"T-1/gates/2\"");
	assert_int_equal(step_outcome_diff(&once, &twice), OUTCOME_DISPATCHES);
	trial_end(&t);
}
