#include "tests/lib/store_rig.h"

/*
 * The history of a store in steps of one commit each. One line describes the store after each step;
 * an interrupted store is as before the step or as after it.
 */
static const struct step {
	const char *put, *value; /* value NULL: deleted */
	const char *edit;        /* of the document by hand; "": removed */
	bool late;               /* in the file that the last commit has replaced */
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
	{.edit = "one\n2\nedited\nlate\n", .late = true},
	{.document = "one\nlate\n"},
	{.edit = ""},
	{.document = "again\n", .put = "k", .value = "4"},
	{.compact = true},
	{.document = "again\nand again\n"},
	{.edit = "late\n", .late = true},
	{.put = DOC},
	{.put = "k", .value = "5"},
	{.edit = "\xff by hand\n"},
	{.document = "last\n", .put = "k", .value = "6"},
};

enum { STEPS = COUNT(steps), SEEDS = 12 };

static char *lives[STEPS + 1];

static void write_by_hand(const struct step *s)
{
	if (s->late)
		edit(STAGED "2", s->edit);
	else if (*s->edit)
		edit(PATH, s->edit);
	else
		sim_disk_remove(rig.disk, PATH);
}

static enum store_status edit_by_hand(const struct step *s)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct store_kv kv;

	write_by_hand(s);
	return store_get_document(rig.s, DOC, &b, &kv, &rig.err);
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
	buf_adds(&b, "|");
	buf_add(&b, k.value);
	buf_adds(&b, "|");
	buf_add(&b, claim.value);
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

static char when[96]; /* names the trial in messages */

/* A new disk and a trial on it. */
static PRINTF(2, 3) void begin_trial(uint64_t seed, const char *fmt, ...)
{
	va_list ap;

	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	arena_release(&arena);
	rig.disk = sim_disk_new(seed);
	va_start(ap, fmt);
	(void)vsnprintf(when, sizeof(when), fmt, ap);
	va_end(ap);
}

static void sound(void)
{
	const char *h = history();

	if (strchr(h, '!') || (store_revision(rig.s) && strchr(h, '?')))
		fail_msg("%s: the log says '%s': %s", when, h, rig.err.text);
}

/* A staged file is what a commit has replaced, until a later open removes it. */
static void tidy(void)
{
	const char *now = file(PATH);

	for (int rev = 1; rev <= 2 * STEPS; rev++) {
		const char *left = file(arena_printf(&arena, STAGED "%d", rev));

		if (now && left && strcmp(now, left) == 0)
			fail_msg("%s: a staged file is left", when);
	}
}

static void is_one_of(size_t done, bool maybe)
{
	const char *is = look();

	if (strcmp(is, lives[done]) != 0 && !(maybe && strcmp(is, lives[done + 1]) == 0))
		fail_msg("%s: '%s' is neither '%s' nor '%s'", when, is, lives[done],
			maybe ? lives[done + 1] : "");
	sound();
}

/* Runs until a step fails; returns the number of completed steps. `anew`: opens the store before
 * each of them. */
static size_t run(size_t from, bool anew, enum store_status *got)
{
	for (*got = STORE_OK; from < STEPS; from++) {
		*got = anew && try_open(STORE_HOLD) < 0 ? STORE_DOWN : do_step(&steps[from]);
		if (*got != STORE_OK)
			break;
	}
	return from;
}

static size_t live(bool anew, enum store_status *got)
{
	*got = STORE_DOWN;
	return try_open(STORE_HOLD) == 0 ? run(0, anew, got) : 0;
}

/* Afterwards the store continues normally. */
static void goes_on(size_t done)
{
	enum store_status got;
	const char *is = look();

	if (done == STEPS)
		return;
	tidy();
	for (done = 0; strcmp(is, lives[done]) != 0;)
		done++;
	if (run(done, false, &got) != STEPS)
		fail_msg("%s: cannot go on: %s", when, rig.err.text);
	is_one_of(STEPS, false);
}

static bool is_edit(size_t done)
{
	return done < STEPS && steps[done].edit;
}

static unsigned calls_of_a_life(void)
{
	unsigned before = sim_disk_calls(rig.disk);
	enum store_status got;

	assert_int_equal(live(false, &got), STEPS);
	store_close(&rig.s);
	return sim_disk_calls(rig.disk) - before;
}

static void restart(bool power)
{
	store_close(&rig.s);
	sim_disk_restart(rig.disk, power);
}

static void stop_at(unsigned call, enum sim_fault fault, bool power, uint64_t seed)
{
	enum store_status got;
	size_t done;

	begin_trial(
		seed, "call %u, fault %d, power %d, seed %u", call, fault, power, (unsigned)seed);
	sim_disk_plan(rig.disk, call, fault);
	done = live(false, &got);
	restart(power);
	if (is_edit(done) && !steps[done].late) /* the user's edit is there in any case */
		write_by_hand(&steps[done]);
	if (try_open(STORE_HOLD) < 0)
		fail_msg("%s: %s", when, rig.err.text);
	is_one_of(done, done < STEPS);
	goes_on(done);
}

RIG_TEST(a_stop_at_any_call_leaves_the_old_or_the_new_commit)
{
	static const enum sim_fault stops[] = {SIM_STOP, SIM_STOP_HALF, SIM_STOP_AFTER};
	unsigned calls = calls_of_a_life();

	for (unsigned call = 1; call <= calls; call++)
		for (size_t i = 0; i < COUNT(stops); i++)
			for (uint64_t seed = 0; seed <= SEEDS; seed++)
				stop_at(call, stops[i], seed != 0, seed);
}

/* A crash, and another one or a failing call during the recovery. */
static void stop_twice(unsigned call, unsigned again, enum sim_fault fault, uint64_t seed)
{
	enum store_status got;
	size_t done;
	int rc;

	begin_trial(seed, "calls %u and %u, fault %d, seed %u", call, again, fault, (unsigned)seed);
	sim_disk_plan(rig.disk, call, SIM_STOP_AFTER);
	done = live(false, &got);
	restart(seed % 2);
	sim_disk_plan(rig.disk, again, fault);
	rc = try_open(STORE_HOLD);
	sim_disk_plan(rig.disk, 0, SIM_NONE);
	if (is_edit(done))
		return;
	if (rc == 0 && fault == SIM_EIO)
		is_one_of(done, done < STEPS);
	restart(true);
	open_store(STORE_HOLD);
	is_one_of(done, done < STEPS);
}

RIG_TEST(a_stop_while_the_last_one_is_put_in_order_changes_nothing)
{
	unsigned calls = calls_of_a_life();

	for (unsigned call = 1; call <= calls; call++)
		for (unsigned again = 1; again <= 6; again++)
			for (uint64_t seed = 0; seed < 6; seed++)
				stop_twice(call, again, seed < 4 ? SIM_STOP_HALF : SIM_EIO, seed);
}

/* The system takes the bytes of a sync that failed for written. */
static void fail_recovery(unsigned call, unsigned again, uint64_t seed)
{
	enum store_status got;
	char *before;
	size_t done;

	begin_trial(seed, "calls %u and %u, seed %u", call, again, (unsigned)seed);
	sim_disk_plan(rig.disk, call, SIM_STOP_AFTER);
	done = live(false, &got);
	restart(false);
	sim_disk_plan(rig.disk, again, SIM_EIO);
	(void)try_open(STORE_HOLD);
	sim_disk_plan(rig.disk, 0, SIM_NONE);
	store_close(&rig.s);
	if (is_edit(done))
		return;
	open_store(STORE_HOLD);
	before = look();
	restart(true);
	open_store(STORE_HOLD);
	if (strcmp(look(), before) != 0)
		fail_msg("%s: '%s' became '%s'", when, before, look());
}

RIG_TEST(what_was_read_after_a_recovery_that_failed_once_is_durable)
{
	unsigned calls = calls_of_a_life();

	for (unsigned call = 1; call <= calls; call++)
		for (unsigned again = 1; again <= 4; again++)
			for (uint64_t seed = 0; seed < 4; seed++)
				fail_recovery(call, again, seed);
}

/* After a fault: the power fails, or the store that cannot go on is opened again. */
static void open_again(bool power, enum store_status got)
{
	if (!power && got != STORE_UNKNOWN && rig.s)
		return;
	restart(power);
	open_store(STORE_HOLD);
}

/* The step that met the fault succeeded, failed or is unknown; then the power fails. */
static void fail_at(unsigned call, enum sim_fault fault, bool power, uint64_t seed)
{
	enum store_status got;
	size_t done;

	begin_trial(
		seed, "call %u, failure %d, power %d, seed %u", call, fault, power, (unsigned)seed);
	sim_disk_plan(rig.disk, call, fault);
	done = live(false, &got);
	if (got == STORE_DOWN && rig.s && !is_edit(done) && !power)
		is_one_of(done, steps[done].compact);
	if (got == STORE_UNKNOWN && do_step(&steps[0]) != STORE_UNKNOWN)
		fail_msg("%s: went on without knowing", when);
	if (got == STORE_UNKNOWN && steps[done].document) /* the call was undone or repeated */
		fail_msg("%s: unknown after one failure", when);
	open_again(power, got);
	if (!is_edit(done))
		is_one_of(done, done < STEPS && (got == STORE_UNKNOWN || steps[done].compact));
	goes_on(done);
}

RIG_TEST(a_call_that_fails_leaves_the_old_commit_or_the_new_one_and_says_which)
{
	static const enum sim_fault faults[] = {SIM_EIO, SIM_ENOSPC, SIM_HALF};
	unsigned calls = calls_of_a_life();

	for (unsigned call = 1; call <= calls; call++)
		for (size_t i = 0; i < COUNT(faults); i++)
			for (uint64_t seed = 0; seed <= SEEDS; seed++)
				fail_at(call, faults[i], seed % 2, seed);
}

/* ---- reads ---- */

/* The operation failed, and reports it. */
static void is_down(enum store_status status)
{
	if (status != STORE_DOWN || rig.err.code != ERR_SYSTEM)
		fail_msg("%s: status %d, error %d: %s", when, (int)status, rig.err.code,
			rig.err.text);
}

/* The read with this number fails; 0: none. Returns how many there were. */
static unsigned fail_read(unsigned read, bool anew, bool power)
{
	enum store_status got;
	size_t done;
	unsigned reads;

	begin_trial(read + 1, "read %u, anew %d, power %d", read, anew, power);
	sim_disk_plan_read(rig.disk, read);
	done = live(anew, &got);
	reads = sim_disk_reads(rig.disk);
	if (done < STEPS && !(got == STORE_UNKNOWN && steps[done].compact))
		is_down(got); /* one that compacts opens the new journal behind its commit */
	open_again(power, got);
	if (!is_edit(done))
		is_one_of(done, done < STEPS && steps[done].compact);
	goes_on(done);
	return reads;
}

RIG_TEST(a_read_that_fails_leaves_all_as_it_was)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned reads = fail_read(0, i % 2, i / 2);

		assert_true(reads > STEPS);
		for (unsigned read = 1; read <= reads; read++)
			assert_true(fail_read(read, i % 2, i / 2) >= read);
	}
}

static bool is_document_of(size_t done, struct str text)
{
	struct str life = str_of(lives[done]);

	for (int i = 0; i < 2; i++)
		life = str_sub(life, str_find(life, STR("|")) + 1, life.n);
	return str_eq(text, str_sub(life, 0, str_find(life, STR("|"))));
}

/* A reader gets the correct state or an error. */
static void read_at(unsigned read, size_t done)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	enum store_status got = STORE_DOWN;
	struct store_kv kv;

	sim_disk_plan_read(rig.disk, read);
	if (try_open(STORE_READ) == 0)
		got = store_get_document(rig.s, DOC, &b, &kv, &rig.err);
	if (got != STORE_OK)
		is_down(got);
	else if (!is_document_of(done, buf_str(&b)) && !is_document_of(done + 1, buf_str(&b)))
		fail_msg("%s: a reader saw '%s'", when, b.s);
}

/* A crash, and then a read that fails during the recovery. */
static bool fail_read_after_stop(unsigned call, unsigned read, uint64_t seed)
{
	enum store_status got;
	size_t done;
	unsigned before;
	bool hit;
	int rc;

	begin_trial(seed, "call %u, read %u, seed %u", call, read, (unsigned)seed);
	sim_disk_plan(rig.disk, call, SIM_STOP_AFTER);
	done = live(false, &got);
	restart(seed != 0);
	if (done < STEPS && !is_edit(done))
		read_at(read, done);
	before = sim_disk_reads(rig.disk);
	sim_disk_plan_read(rig.disk, read);
	rc = try_open(STORE_HOLD);
	hit = sim_disk_reads(rig.disk) - before >= read;
	sim_disk_plan_read(rig.disk, 0);
	if (rc < 0)
		is_down(STORE_DOWN);
	if (rc == 0 && !is_edit(done))
		is_one_of(done, done < STEPS);
	open_store(STORE_HOLD);
	if (!is_edit(done))
		is_one_of(done, done < STEPS);
	return hit;
}

RIG_TEST(a_read_that_fails_after_a_stop_loses_no_commit)
{
	unsigned calls = calls_of_a_life();

	for (unsigned call = 1; call <= calls; call++)
		for (uint64_t seed = 0; seed < 3; seed++)
			for (unsigned read = 1; fail_read_after_stop(call, read, seed); read++)
				;
}

static int keep_blob(char **path)
{
	return store_keep_blob(
		store_files(rig.disk), &arena, "/logs", "x", STR("text"), path, &rig.err);
}

/* The disk fails at `call`; what is then reported to be kept is durable, also if it was there. */
static void keep_blob_with_fault(unsigned call, enum sim_fault fault, uint64_t seed)
{
	char *path;

	begin_trial(seed, "call %u, fault %d", call, fault);
	sim_disk_plan(rig.disk, call, fault);
	if (keep_blob(&path) < 0) {
		sim_disk_plan(rig.disk, 0, SIM_NONE);
		assert_int_equal(keep_blob(&path), 0);
	}
	sim_disk_restart(rig.disk, true);
	file_is(path, "text");
}

RIG_TEST(a_blob_is_durable_though_an_earlier_call_has_failed)
{
	static const enum sim_fault faults[] = {SIM_EIO, SIM_ENOSPC, SIM_HALF};

	for (size_t i = 0; i < COUNT(faults); i++)
		for (unsigned call = 1; call < 12; call++)
			for (uint64_t seed = 0; seed < 8; seed++)
				keep_blob_with_fault(call, faults[i], seed);
}

UNIT_GROUP(learn, forget)
