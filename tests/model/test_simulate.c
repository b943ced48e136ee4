/*
 * The simulation and the model check of the protocol on programs with one planted fault each: what
 * cannot fail proves nothing. proof_simulate.c has the sound program. Faults are planted where the
 * objects meet
 * (--wrap in the Makefile), or under the store, in the disk.
 */
#include "context/lease.h"
#include "tests/model/model.h"
#include "tests/lib/unit.h"

enum { RUNS = 1500 };

static enum { SOUND, OPEN_FENCE, OPEN_DOOR, KEEPS_NOTHING, FORGETS_ANSWERS, NUMBERS_STAY } planted;

int __real_lease_admit(struct context_file *, const char *, const char *, struct error *);
int __wrap_lease_admit(
	struct context_file *f, const char *id, const char *owner, struct error *err);
int __wrap_lease_admit(struct context_file *f, const char *id, const char *owner, struct error *err)
{
	return planted == OPEN_FENCE ? 0 : __real_lease_admit(f, id, owner, err);
}

int __real_lease_refuse(
	const struct lease_holder *, const char *, const char *, bool, struct error *);
int __wrap_lease_refuse(const struct lease_holder *h, const char *id, const char *owner,
	bool to_step, struct error *err);
int __wrap_lease_refuse(const struct lease_holder *h, const char *id, const char *owner,
	bool to_step, struct error *err)
{
	return planted == OPEN_DOOR ? 0 : __real_lease_refuse(h, id, owner, to_step, err);
}

int __real_context_keep(struct context_file *, const char *, struct str, char **, struct error *);
int __wrap_context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err);
int __wrap_context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err)
{
	if (planted != KEEPS_NOTHING)
		return __real_context_keep(f, stem, text, path, err);
	*path = arena_dup(&f->doc.arena, STR("/state/logs/nowhere.txt"));
	return 0;
}

int __real_answer_record(struct context_file *, struct answer_offer *, struct error *);
int __wrap_answer_record(struct context_file *f, struct answer_offer *o, struct error *err);
int __wrap_answer_record(struct context_file *f, struct answer_offer *o, struct error *err)
{
	if (planted != FORGETS_ANSWERS)
		return __real_answer_record(f, o, err);
	o->outcome = ANSWER_TAKEN;
	return 0;
}

unsigned long __real_context_next_attempt(struct context *, const char *);
unsigned long __wrap_context_next_attempt(struct context *c, const char *state);
unsigned long __wrap_context_next_attempt(struct context *c, const char *state)
{
	return planted == NUMBERS_STAY ? 1 : __real_context_next_attempt(c, state);
}

/* A disk that says it is durable and is not. */
static int no_sync(struct disk_file *f, struct error *err)
{
	(void)f, (void)err;
	return 0;
}

static const struct disk_ops *honest;
static struct disk_ops lying;

static int lying_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	int rc = honest->open(d, path, make, made, out, err);

	if (rc == 0)
		(*out)->ops = &lying;
	return rc;
}

static void lying_disk(struct simulator *s, unsigned call)
{
	if (call)
		return;
	honest = sim_disk_of(s)->ops;
	lying = *honest;
	lying.open = lying_open;
	lying.sync = no_sync;
	sim_disk_of(s)->ops = &lying;
}

static void cut_line(struct buf *text)
{
	if (text->len)
		buf_cut(text, text->len - 1);
	while (text->len && text->s[text->len - 1] != '\n')
		buf_cut(text, text->len - 1);
}

static bool ends_in_commit(const struct buf *text)
{
	struct buf copy = BUF_INIT;
	bool is;

	buf_add(&copy, buf_str(text));
	cut_line(&copy);
	is = str_starts(str_sub(buf_str(text), copy.len, text->len), "{\"commit\":");
	buf_release(&copy);
	return is;
}

/* The last two commits are gone behind everybody's back. */
static void lose_commit(struct simulator *s, unsigned call)
{
	static const char journal[] = "/state/T-1.events.jsonl";
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (call != 6 || !sim_disk_get(sim_disk_of(s), journal, &text) || !text.len)
		return;
	for (int i = 0; i < 2; i++)
		do
			cut_line(&text);
		while (text.len && !ends_in_commit(&text));
	sim_disk_put(sim_disk_of(s), journal, buf_str(&text));
}

static void change_document(struct simulator *s, unsigned call)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (call != 5 || !sim_disk_get(sim_disk_of(s), s->path, &text))
		return;
	buf_adds(&text, "\nNobody wrote this.\n");
	sim_disk_put(sim_disk_of(s), s->path, buf_str(&text));
}

static void die(struct simulator *s, unsigned call)
{
	(void)s;
	if (call == 9)
		abort();
}

static struct arena arena;
static struct workflow shipped;

static int load(void **state)
{
	struct error err;

	(void)state;
	planted = SOUND;
	return workflow_load(&arena, "workflows/implement-task.md", &shipped, &err);
}

static int unload(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct simulate_plan plan_of(uint64_t runs)
{
	return (struct simulate_plan){
		.workflow = &shipped, .seed = 1, .runs = runs, .jobs = 2, .max_actions = 20};
}

static void simulated(const struct simulate_plan *plan, struct simulate_counts *counts)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct error err = {0};

	assert_int_equal(simulate(plan, counts, &trace, &err), 0);
	if (!counts->failed)
		return;
	print_message("%s", trace.s);
	fail_msg("seed %llu: %s", (unsigned long long)counts->failed_seed, counts->fault);
}

#define SIMULATE_TEST(name) UNIT_TEST(name, load, unload)

SIMULATE_TEST(the_same_seeds_give_the_same_with_any_number_of_processes)
{
	struct simulate_plan plan = plan_of(200);
	struct simulate_counts one, three;

	plan.jobs = 1;
	simulated(&plan, &one);
	plan.jobs = 3;
	simulated(&plan, &three);
	one.ms = three.ms = 0;
	assert_memory_equal(&one, &three, sizeof(one));
}

/* Found, and found again by its seed alone. */
static void assert_found(void (*plant_fault)(struct simulator *, unsigned), const char *what)
{
	CLEANUP(buf_release) struct buf first = BUF_INIT, second = BUF_INIT;
	struct simulate_plan plan = plan_of(RUNS);
	struct simulate_counts counts, again;
	struct error err = {0};

	plan.plant_fault = plant_fault;
	assert_int_equal(simulate(&plan, &counts, &first, &err), 0);
	if (!counts.failed || !strstr(counts.fault, what))
		fail_msg("'%s' is not found, but: %s", what, counts.fault);
	plan.seed = counts.failed_seed;
	plan.runs = plan.jobs = 1;
	assert_int_equal(simulate(&plan, &again, &second, &err), 0);
	assert_string_equal(again.fault, counts.fault);
	assert_string_equal(second.s, first.s);
	assert_non_null(strstr(first.s, "BROKEN: "));
}

SIMULATE_TEST(a_disk_that_lies_is_found)
{
	assert_found(lying_disk, "commits that were acknowledged are gone");
}

SIMULATE_TEST(a_lost_commit_is_found)
{
	assert_found(lose_commit, "commits that were acknowledged are gone");
}

SIMULATE_TEST(a_changed_document_is_found)
{
	assert_found(change_document, "the document differs from the one that the journal has");
}

SIMULATE_TEST(a_fence_that_lets_everybody_in_is_found)
{
	planted = OPEN_FENCE;
	assert_found(NULL, "is taken that must be refused");
}

SIMULATE_TEST(a_second_owner_is_found)
{
	planted = OPEN_DOOR;
	assert_found(NULL, "steps while");
}

SIMULATE_TEST(a_refused_answer_that_is_not_kept_is_found)
{
	planted = KEEPS_NOTHING;
	assert_found(NULL, "is not kept");
}

SIMULATE_TEST(an_answer_that_is_acknowledged_and_forgotten_is_found)
{
	planted = FORGETS_ANSWERS;
	assert_found(NULL, "the model has");
}

SIMULATE_TEST(a_number_that_is_given_out_twice_is_found)
{
	planted = NUMBERS_STAY;
	assert_found(NULL, "is dispatched twice");
}

SIMULATE_TEST(a_process_that_dies_is_found)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct simulate_plan plan = plan_of(4);
	struct simulate_counts counts;
	struct error err = {0};

	plan.plant_fault = die;
	assert_int_equal(simulate(&plan, &counts, &trace, &err), 0);
	assert_int_equal(counts.failed, 1);
	assert_non_null(strstr(counts.fault, "the process died of signal"));
}

static struct protocol_counts model(
	unsigned depth, void (*plant_fault)(struct simulator *, unsigned))
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct protocol_plan plan = {.depth = depth, .crashes = 1, .plant_fault = plant_fault};
	struct protocol_counts counts;
	struct error err = {0};

	assert_int_equal(protocol_check(&plan, &counts, &trace, &err), 0);
	if (counts.fault[0])
		assert_non_null(strstr(trace.s, "BROKEN: "));
	return counts;
}

SIMULATE_TEST(the_model_finds_an_open_fence)
{
	struct protocol_counts counts;

	planted = OPEN_FENCE;
	counts = model(3, NULL);
	assert_non_null(strstr(counts.fault, "is taken that must be refused"));
}

SIMULATE_TEST(the_model_finds_a_second_owner)
{
	struct protocol_counts counts;

	planted = OPEN_DOOR;
	counts = model(2, NULL);
	assert_non_null(strstr(counts.fault, "steps while"));
}

SIMULATE_TEST(the_model_finds_a_disk_that_lies)
{
	struct protocol_counts counts;

	counts = model(4, lying_disk);
	assert_non_null(strstr(counts.fault, "commits that were acknowledged are gone"));
}
