/*
 * What the explorer says of a program that does not keep its word: each test plants a fault, and
 * the walk must find it and show the way to it.
 */
#include "src/base/clock.h"
#include "src/verify/crashes.h"
#include "src/verify/findings.h"
#include "src/verify/sequel.h"
#include "src/verify/trace.h"
#include "tests/lib/scratch.h"

#define FLOW                                                                                       \
	"---\nstates:\n  gates:\n    all:\n"                                                       \
	"      - {agent: a, skill: s, writes: A, results: {good: on, bad: off}}\n"                 \
	"      - {command: make, writes: B, results: {passed: on, failed: off}}\n---\n"            \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> gates : go\n"                         \
	"gates --> done : on\ngates --> failed : off\nfailed --> [*]\ndone --> [*]\n```\n"

static struct workflow w;
static struct walk k;
static struct findings found;
static void (*closing)(void *data, const struct context *doc); /* of the explorer */

static int tear_down(void **state)
{
	walk_drop(&k);
	clock_fix(-1);
	return arena_end(state);
}

static void explore(void (*sabotage)(struct stage *s))
{
	struct error err;

	assert_int_equal(workflow_parse(&arena, "w.md", STR(FLOW), &w, &err), 0);
	walk_init(&k, &w, 0, false, 100000);
	k.sabotage = sabotage;
	walk_all(&k);
	findings_of(&k, &arena, &found);
}

/* The finding that begins so, and the script that leads to it. */
static const char *broken(const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};

	for (size_t i = 0; i < found.n; i++) {
		const struct finding *f = &found.list[i];

		if (f->kind != FINDING_BROKEN || strncmp(f->text, text, strlen(text)) != 0)
			continue;
		if (trace_write(&k, f, i + 1, &out, &err) < 0)
			fail_msg("%s", err.text);
		return arena_dup(&arena, buf_str(&out));
	}
	for (size_t i = 0; i < found.n; i++)
		print_message("%s: %s\n", finding_name(found.list[i].kind), found.list[i].text);
	fail_msg("'%s' is not found", text);
	return NULL;
}

static void assert_shows(const char *trace, const char *text)
{
	if (!strstr(trace, text))
		fail_msg("'%s' is not in\n%s", text, trace);
}

static void without_a_fault_nothing_is_found(void **state)
{
	(void)state;
	explore(NULL);
	for (size_t i = 0; i < found.n; i++)
		fail_msg("%s", found.list[i].text);
	assert_true(k.crashes > 1000);
	assert_true(k.takeovers > 5);
}

/* A disk whose syncs do nothing. */
static int no_sync(struct disk_file *f, struct error *err)
{
	(void)f;
	(void)err;
	return 0;
}

static const struct disk_ops *real;
static struct disk_ops lying;

static int open_lying(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	int rc = real->open(d, path, make, made, out, err);

	if (rc == 0)
		(*out)->ops = &lying;
	return rc;
}

static void lie(struct stage *s)
{
	if (s->disk->ops != &lying)
		real = s->disk->ops;
	lying = *real;
	lying.open = open_lying;
	lying.sync = no_sync;
	s->disk->ops = &lying;
}

static void an_answer_that_is_not_synced_is_found(void **state)
{
	const char *text;

	(void)state;
	explore(lie);
	text = broken("a crash loses what was acknowledged: 'record' of 'good', the power fails");
	assert_shows(text, "  T-1/gates/1:  # here the trace ends\n    run: |\n"
			   "      printf 'So it is: good.' | dev-team record");
	assert_shows(text, "broken:\n# a crash loses what was acknowledged");
	broken("a crash loses what was acknowledged: 'step --returned', the power fails");
}

/* After each call the document is what `change` makes of it. */
static bool (*change)(const struct stage *s, struct buf *doc);

static void change_document(void *data, const struct context *doc)
{
	struct play *p = data;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	closing(data, doc);
	if (stage_document(p->stage, &text) && change(p->stage, &text))
		stage_put_document(p->stage, buf_str(&text));
}

static void forget(struct stage *s)
{
	if (s->closing != change_document)
		closing = s->closing;
	s->closing = change_document;
}

static bool cut(struct buf *doc, const char *from, const char *to)
{
	size_t a = str_find(buf_str(doc), str_of(from)), b;
	struct str s = buf_str(doc);

	if (a == s.n)
		return false;
	b = a + str_find(str_sub(s, a, s.n), str_of(to));
	memmove(doc->s + a, doc->s + b, doc->len - b + 1);
	doc->len -= b - a;
	return true;
}

/* A program that does not know what it has asked. */
static bool no_attempts(const struct stage *s, struct buf *doc)
{
	(void)s;
	(void)cut(doc, "attempts:", "---");
	(void)cut(doc, "<!-- section:Actions -->", "\x01");
	return true;
}

static void a_program_that_forgets_what_it_asked_is_found(void **state)
{
	(void)state;
	change = no_attempts;
	explore(forget);
	broken("a crash leaves neither what was nor what comes");
}

/* Says once more what it has dispatched. */
static void say_twice(void *data, const struct context *doc)
{
	struct stage *s = data;
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	(void)doc;
	assert_true(stage_journal(s, &journal));
	buf_adds(&journal, "{\"type\":\"dispatch\",\"action\":\"T-1/gates/2\",\"state\":1}\n");
	sim_disk_put(s->disk, "/stage/T-1.events.jsonl", buf_str(&journal));
}

static void an_action_that_is_dispatched_twice_is_noticed(void **state)
{
	struct stage_call call = {0};
	struct sequel once, twice;
	struct play p;

	(void)state;
	explore(NULL);
	p = (struct play){.stage = stage_new(&w, "T-1", 1), .walk = &k};
	sequel_of(&arena, &p, &call, &once);
	assert_null(once.twice);
	stage_free(&p.stage);
	p.stage = stage_new(&w, "T-1", 1);
	p.stage->closing = say_twice;
	p.stage->data = p.stage;
	sequel_of(&arena, &p, &call, &twice);
	assert_string_equal(twice.twice, "\"T-1/gates/2\"");
	assert_int_equal(sequel_differs(&once, &twice), SEQUEL_DISPATCHED);
	play_end(&p);
}

/* A take-over that leaves the ids as they were. */
static bool old_ids(const struct stage *s, struct buf *doc)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	size_t at;

	if (!stage_journal(s, &journal) ||
		str_find(buf_str(&journal), STR("\"instead_of\"")) == journal.len)
		return false;
	at = str_find(buf_str(doc), STR("\"id\":\"T-1/gates/"));
	if (at == doc->len)
		return false;
	doc->s[at + strlen("\"id\":\"T-1/gates/")] = '1';
	return true;
}

static void a_take_over_that_does_not_fence_is_found(void **state)
{
	(void)state;
	change = old_ids;
	explore(forget);
	broken("the step after a take-over prints something else");
	broken("an answer of who holds the work item is refused");
}

#define crash_test(f) cmocka_unit_test_setup_teardown(f, NULL, tear_down)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		crash_test(without_a_fault_nothing_is_found),
		crash_test(an_answer_that_is_not_synced_is_found),
		crash_test(a_program_that_forgets_what_it_asked_is_found),
		crash_test(an_action_that_is_dispatched_twice_is_noticed),
		crash_test(a_take_over_that_does_not_fence_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
