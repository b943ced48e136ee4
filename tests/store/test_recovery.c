#include "tests/lib/store_rig.h"

/*
 * The history of a store in steps of one commit each. One line describes the store after each step;
 * an interrupted store is as before the step or as after it.
 */
static const struct step {
	const char *put, *value; /* value NULL: deleted */
	const char *edit;        /* of the document by hand; "": removed */
	const char *document;    /* put too */
	bool compact;
	int ttl_s;
} steps[] = {
	{.put = "k", .value = "1"},
	{.put = "k", .value = "2", .document = "one\ntwo\nthree\n"},
	{.document = "one\n2\nthree\n"},
	{.put = "k", .value = "3"},
	{.edit = "one\n2\nedited\n"},
	{.put = "k", .document = "one\n2\nedited\nmore\n"},
	{.ttl_s = 100, .put = "claim", .value = "A"},
	{.document = "one\n2\n3\nmore\n"},
	{.edit = ""},
	{.document = "again\n", .put = "k", .value = "4"},
	{.compact = true},
	{.document = "again\nand again\n"},
	{.put = DOC},
	{.put = "k", .value = "5"},
	{.edit = "\xff by hand\n"},
	{.document = "last\n", .put = "k", .value = "6"},
};

enum { STEPS = COUNT(steps), SEEDS = 12 };

static char *lives[STEPS + 1];

static enum store_status edit_by_hand(const struct step *s)
{
	struct buf b = BUF_INIT;
	enum store_status got;
	int64_t mod;

	if (*s->edit)
		edit(PATH, s->edit);
	else
		sim_disk_remove(rig.disk, PATH);
	got = store_get_document(rig.s, DOC, &b, &mod, NULL, &rig.err);
	buf_release(&b);
	return got;
}

static enum store_status do_step(const struct step *s)
{
	struct store_op ops[2];
	struct store_txn t = {.ops = ops};

	if (s->edit)
		return edit_by_hand(s);
	if (s->compact)
		return store_compact(rig.s, 99, &rig.err);
	if (s->document)
		ops[t.n_ops++] = (struct store_op){STORE_PUT, DOC, str_of(s->document), 0, NULL};
	if (s->put)
		ops[t.n_ops++] = (struct store_op){
			s->value ? STORE_PUT : STORE_DEL, s->put, str_of(s->value), s->ttl_s, NULL};
	return store_txn(rig.s, &arena, &t, &rig.result, &rig.err);
}

static char *look(void)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct store_kv doc = get(DOC), k = get("k"), claim = get("claim");

	buf_addf(&b, "%lld|%lld|", (long long)store_revision(rig.s), (long long)doc.mod);
	buf_add(&b, doc.value);
	buf_addf(&b, "|%.*s|%.*s", (int)k.value.n, k.value.n ? k.value.p : "", (int)claim.value.n,
		claim.value.n ? claim.value.p : "");
	return arena_dup(&arena, buf_str(&b));
}

static int learn(void **state)
{
	store_rig_begin(state);
	open_store(STORE_HOLD);
	lives[0] = strdup(look());
	for (size_t i = 0; i < STEPS; i++) {
		assert_int_equal(do_step(&steps[i]), STORE_OK);
		lives[i + 1] = strdup(look());
	}
	return store_rig_end(state);
}

static int forget(void **state)
{
	(void)state;
	for (size_t i = 0; i <= STEPS; i++)
		free(lives[i]);
	return 0;
}

static void sound(const char *when)
{
	const char *h = history();

	if (strchr(h, '!') || (store_revision(rig.s) && strchr(h, '?')))
		fail_msg("%s: the log says '%s': %s", when, h, rig.err.text);
}

/* A staged file is what a commit has replaced, until a later open removes it. */
static void tidy(const char *when)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	bool missing;

	(void)rig.disk->ops->read(rig.disk, PATH, STORE_DOCUMENT_MAX, &now, &missing, &rig.err);
	for (int i = 0; i < 2; i++) {
		CLEANUP(buf_release) struct buf left = BUF_INIT;

		if (rig.disk->ops->read(rig.disk, i ? STAGED "2" : STAGED, STORE_DOCUMENT_MAX,
			    &left, &missing, &rig.err) == 0 &&
			str_eq(buf_str(&now), buf_str(&left)))
			fail_msg("%s: a staged file is left", when);
	}
}

static void is_one_of(size_t done, bool maybe, const char *when)
{
	const char *is = look();

	if (strcmp(is, lives[done]) != 0 && !(maybe && strcmp(is, lives[done + 1]) == 0))
		fail_msg("%s: '%s' is neither '%s' nor '%s'", when, is, lives[done],
			maybe ? lives[done + 1] : "");
	sound(when);
}

/* Runs until a step fails; returns the number of completed steps. */
static size_t run(size_t from, enum store_status *got)
{
	for (*got = STORE_OK; from < STEPS; from++)
		if ((*got = do_step(&steps[from])) != STORE_OK)
			return from;
	return from;
}

/* Afterwards the store continues normally. */
static void goes_on(const char *when)
{
	size_t done = 0;
	enum store_status got;
	const char *is = look();

	tidy(when);
	while (strcmp(is, lives[done]) != 0)
		done++;
	if (run(done, &got) != STEPS)
		fail_msg("%s: cannot go on: %s", when, rig.err.text);
	is_one_of(STEPS, false, when);
}

static unsigned calls_of_a_life(void)
{
	unsigned before = sim_disk_calls(rig.disk);
	enum store_status got;

	open_store(STORE_HOLD);
	assert_int_equal(run(0, &got), STEPS);
	store_close(&rig.s);
	return sim_disk_calls(rig.disk) - before;
}

static void stop_at(unsigned call, enum sim_fault fault, bool power, uint64_t seed)
{
	char when[96];
	enum store_status got;
	size_t done = 0;

	(void)snprintf(when, sizeof(when), "call %u, fault %d, power %d, seed %u", call, fault,
		power, (unsigned)seed);
	rig.disk = sim_disk_new(seed);
	sim_disk_plan(rig.disk, call, fault);
	if (try_open(STORE_HOLD) == 0)
		done = run(0, &got);
	store_close(&rig.s);
	sim_disk_restart(rig.disk, power);
	if (done < STEPS && steps[done].edit) { /* the user's edit is there in any case */
		if (*steps[done].edit)
			edit(PATH, steps[done].edit);
		else
			sim_disk_remove(rig.disk, PATH);
	}
	if (try_open(STORE_HOLD) < 0)
		fail_msg("%s: %s", when, rig.err.text);
	is_one_of(done, done < STEPS, when);
	if (done < STEPS)
		goes_on(when);
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
}

RIG_TEST(a_stop_at_any_call_leaves_the_old_or_the_new_commit)
{
	static const enum sim_fault stops[] = {SIM_STOP, SIM_STOP_HALF, SIM_STOP_AFTER};
	unsigned calls = calls_of_a_life();

	sim_disk_free(&rig.disk);
	for (unsigned call = 1; call <= calls; call++)
		for (size_t i = 0; i < COUNT(stops); i++)
			for (uint64_t seed = 0; seed <= SEEDS; seed++)
				stop_at(call, stops[i], seed != 0, seed);
	rig.disk = sim_disk_new(1);
}

/* A crash, and another one during the recovery. */
static void stop_twice(unsigned call, unsigned again, uint64_t seed)
{
	char when[96];
	enum store_status got;
	size_t done = 0;

	(void)snprintf(when, sizeof(when), "calls %u and %u, seed %u", call, again, (unsigned)seed);
	rig.disk = sim_disk_new(seed);
	sim_disk_plan(rig.disk, call, SIM_STOP_AFTER);
	if (try_open(STORE_HOLD) == 0)
		done = run(0, &got);
	store_close(&rig.s);
	sim_disk_restart(rig.disk, seed % 2);
	sim_disk_plan(rig.disk, again, SIM_STOP_HALF);
	(void)try_open(STORE_HOLD);
	store_close(&rig.s);
	sim_disk_plan(rig.disk, 0, SIM_NONE);
	sim_disk_restart(rig.disk, true);
	if (done == STEPS || !steps[done].edit) {
		open_store(STORE_HOLD);
		is_one_of(done, done < STEPS, when);
	}
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
}

RIG_TEST(a_stop_while_the_last_one_is_put_in_order_changes_nothing)
{
	unsigned calls = calls_of_a_life();

	sim_disk_free(&rig.disk);
	for (unsigned call = 1; call <= calls; call++)
		for (unsigned again = 1; again <= 6; again++)
			for (uint64_t seed = 0; seed < 6; seed++)
				stop_twice(call, again, seed);
	rig.disk = sim_disk_new(1);
}

/* The step that met the fault succeeded, failed or is unknown; then the power fails. */
static void fail_at(unsigned call, enum sim_fault fault, bool power, uint64_t seed)
{
	char when[96];
	enum store_status got = STORE_DOWN;
	size_t done = 0;

	(void)snprintf(when, sizeof(when), "call %u, failure %d, power %d, seed %u", call, fault,
		power, (unsigned)seed);
	rig.disk = sim_disk_new(seed);
	sim_disk_plan(rig.disk, call, fault);
	if (try_open(STORE_HOLD) == 0)
		done = run(0, &got);
	if (got == STORE_DOWN && rig.s && !steps[done].edit && !power)
		is_one_of(done, steps[done].compact, when);
	if (got == STORE_UNKNOWN && do_step(&steps[0]) != STORE_UNKNOWN)
		fail_msg("%s: went on without knowing", when);
	if (power || got == STORE_UNKNOWN || !rig.s) {
		store_close(&rig.s);
		sim_disk_restart(rig.disk, power);
		open_store(STORE_HOLD);
	}
	if (done == STEPS || !steps[done].edit)
		is_one_of(
			done, done < STEPS && (got == STORE_UNKNOWN || steps[done].compact), when);
	if (done < STEPS)
		goes_on(when);
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
}

RIG_TEST(a_call_that_fails_leaves_the_old_commit_or_the_new_one_and_says_which)
{
	static const enum sim_fault faults[] = {SIM_EIO, SIM_ENOSPC, SIM_HALF};
	unsigned calls = calls_of_a_life();

	sim_disk_free(&rig.disk);
	for (unsigned call = 1; call <= calls; call++)
		for (size_t i = 0; i < COUNT(faults); i++)
			for (uint64_t seed = 0; seed <= SEEDS; seed++)
				fail_at(call, faults[i], seed % 2, seed);
	rig.disk = sim_disk_new(1);
}

/* ---- reads ---- */

/* The operation failed, and reports it. */
static void is_down(enum store_status status, const char *when)
{
	if (status != STORE_DOWN || rig.err.code != ERR_SYSTEM)
		fail_msg("%s: status %d, error %d: %s", when, (int)status, rig.err.code,
			rig.err.text);
}

/* Like run(), but opens the store again before each step. */
static size_t run_anew(enum store_status *got)
{
	size_t done = 0;

	for (*got = STORE_OK; done < STEPS; done++) {
		*got = try_open(STORE_HOLD) < 0 ? STORE_DOWN : do_step(&steps[done]);
		if (*got != STORE_OK)
			break;
	}
	return done;
}

static unsigned reads_of_a_life(bool anew)
{
	unsigned reads;
	enum store_status got;

	rig.disk = sim_disk_new(1);
	if (!anew)
		open_store(STORE_HOLD);
	assert_int_equal(anew ? run_anew(&got) : run(0, &got), STEPS);
	reads = sim_disk_reads(rig.disk);
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	return reads;
}

static void fail_read(unsigned read, bool anew, bool power)
{
	char when[96];
	enum store_status got = STORE_DOWN;
	size_t done = 0;

	(void)snprintf(when, sizeof(when), "read %u, anew %d, power %d", read, anew, power);
	rig.disk = sim_disk_new(read);
	sim_disk_plan_read(rig.disk, read);
	if (anew)
		done = run_anew(&got);
	else if (try_open(STORE_HOLD) == 0)
		done = run(0, &got);
	assert_true(sim_disk_reads(rig.disk) >= read);
	if (done < STEPS && !(got == STORE_UNKNOWN && steps[done].compact))
		is_down(got, when); /* one that compacts opens the new journal behind its commit */
	if (power || !rig.s || got == STORE_UNKNOWN) {
		store_close(&rig.s);
		sim_disk_restart(rig.disk, power);
		open_store(STORE_HOLD);
	}
	if (done == STEPS || !steps[done].edit)
		is_one_of(done, done < STEPS && steps[done].compact, when);
	if (done < STEPS)
		goes_on(when);
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
}

RIG_TEST(a_read_that_fails_leaves_all_as_it_was)
{
	sim_disk_free(&rig.disk);
	for (unsigned i = 0; i < 4; i++) {
		unsigned reads = reads_of_a_life(i % 2);

		assert_true(reads > STEPS);
		for (unsigned read = 1; read <= reads; read++)
			fail_read(read, i % 2, i / 2);
	}
	rig.disk = sim_disk_new(1);
}

static bool is_document_of(size_t done, struct str text)
{
	struct str life = str_of(lives[done]);

	for (int i = 0; i < 2; i++)
		life = str_sub(life, str_find(life, STR("|")) + 1, life.n);
	return str_eq(text, str_sub(life, 0, str_find(life, STR("|"))));
}

/* A reader gets the correct state or an error. */
static void read_at(unsigned read, size_t done, const char *when)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	enum store_status got = STORE_DOWN;
	int64_t mod;

	sim_disk_plan_read(rig.disk, read);
	if (try_open(STORE_READ) == 0)
		got = store_get_document(rig.s, DOC, &b, &mod, NULL, &rig.err);
	if (got != STORE_OK)
		is_down(got, when);
	else if (!is_document_of(done, buf_str(&b)) && !is_document_of(done + 1, buf_str(&b)))
		fail_msg("%s: a reader saw '%s'", when, b.s);
}

/* A crash, and then a read that fails during the recovery. */
static bool fail_read_after_stop(unsigned call, unsigned read, uint64_t seed)
{
	char when[96];
	enum store_status got;
	size_t done = 0;
	unsigned before;
	bool hit;

	(void)snprintf(when, sizeof(when), "call %u, read %u, seed %u", call, read, (unsigned)seed);
	rig.disk = sim_disk_new(seed);
	sim_disk_plan(rig.disk, call, SIM_STOP_AFTER);
	if (try_open(STORE_HOLD) == 0)
		done = run(0, &got);
	store_close(&rig.s);
	sim_disk_restart(rig.disk, seed != 0);
	if (done < STEPS && !steps[done].edit)
		read_at(read, done, when);
	before = sim_disk_reads(rig.disk);
	sim_disk_plan_read(rig.disk, read);
	if (try_open(STORE_HOLD) < 0)
		is_down(STORE_DOWN, when);
	hit = sim_disk_reads(rig.disk) - before >= read;
	sim_disk_plan_read(rig.disk, 0);
	open_store(STORE_HOLD);
	if (done == STEPS || !steps[done].edit)
		is_one_of(done, done < STEPS, when);
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
	return hit;
}

RIG_TEST(a_read_that_fails_after_a_stop_loses_no_commit)
{
	unsigned calls = calls_of_a_life();

	sim_disk_free(&rig.disk);
	for (unsigned call = 1; call <= calls; call++)
		for (uint64_t seed = 0; seed < 3; seed++)
			for (unsigned read = 1; fail_read_after_stop(call, read, seed); read++)
				;
	rig.disk = sim_disk_new(1);
}

/* The disk fails at `call`; what is then reported to be kept is durable, also if it was there. */
static void keep_blob_with_fault(unsigned call, enum sim_fault fault, uint64_t seed)
{
	struct buf text = BUF_INIT;
	char *path;

	rig.disk = sim_disk_new(seed);
	sim_disk_plan(rig.disk, call, fault);
	if (store_keep_blob(store_files(rig.disk), &arena, "/logs", "x", STR("text"), &path,
		    &rig.err) < 0) {
		sim_disk_plan(rig.disk, 0, SIM_NONE);
		assert_int_equal(store_keep_blob(store_files(rig.disk), &arena, "/logs", "x",
					 STR("text"), &path, &rig.err),
			0);
	}
	sim_disk_restart(rig.disk, true);
	if (!sim_disk_get(rig.disk, path, &text) || !str_is(buf_str(&text), "text"))
		fail_msg("lost after a fault in call %u", call);
	buf_release(&text);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
}

RIG_TEST(a_blob_is_durable_though_an_earlier_call_has_failed)
{
	static const enum sim_fault faults[] = {SIM_EIO, SIM_ENOSPC, SIM_HALF};

	sim_disk_free(&rig.disk);
	for (size_t i = 0; i < COUNT(faults); i++)
		for (unsigned call = 1; call < 12; call++)
			for (uint64_t seed = 0; seed < 8; seed++)
				keep_blob_with_fault(call, faults[i], seed);
	rig.disk = sim_disk_new(1);
}

UNIT_GROUP(learn, forget)
