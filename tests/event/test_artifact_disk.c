/*
 * Artifacts on a disk that fails, is full, or loses power at every call: a file is either old or
 * new, lines are complete, acknowledged writes are durable, and the next call succeeds.
 */
#include "tests/lib/unit.h"
#include "src/event/artifact.h"
#include "tests/model/sim_disk.h"
#include "tests/lib/scratch.h"

static struct error err;

static const enum sim_fault faults[] = {
	SIM_EIO, SIM_ENOSPC, SIM_HALF, SIM_STOP, SIM_STOP_AFTER, SIM_STOP_HALF};

static void disk_free(struct disk **d)
{
	sim_disk_free(d);
}

static const char *content(const struct disk *d, const char *path)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	return sim_disk_get(d, path, &b) ? arena_dup(&arena, buf_str(&b)) : NULL;
}

static struct disk *artifacts_on; /* NULL: the real disk */
struct disk *__real_disk_real(void);
struct disk *__wrap_disk_real(void);

struct disk *__wrap_disk_real(void)
{
	return artifacts_on ? artifacts_on : __real_disk_real();
}

/* One act on a disk, and the expected content of PATH afterwards. */
struct scene {
	const char *path, *before;
	int (*act)(struct disk *d);
	void (*hold)(const char *now, bool done);
};

static int put(struct disk *d)
{
	artifacts_on = d;
	return artifact_write_text(
		"/art", "A-1", "plan.json", STR("new and longer than the old one"), &err);
}

static void put_holds(const char *now, bool done)
{
	assert_true(now && (strcmp(now, "new and longer than the old one") == 0 ||
				   (!done && strcmp(now, "old") == 0)));
}

static void first_put_holds(const char *now, bool done)
{
	assert_true(
		(!now && !done) || (now && strcmp(now, "new and longer than the old one") == 0));
}

static int add(struct disk *d)
{
	CLEANUP(json_free) json *line = NULL;

	artifacts_on = d;
	assert_int_equal(json_parse(&line, STR("{\"n\":3}"), &err), 0);
	return artifact_append("/art", "A-1", "x.jsonl", line, &err);
}

/* The new line may be incomplete here. */
static void add_holds(const char *now, bool done)
{
	assert_true(now && strncmp(now, "{\"n\":1}\n{\"n\":2}\n", 16) == 0);
	if (done)
		assert_string_equal(now, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
}

static void torn_add_holds(const char *now, bool done)
{
	assert_true(now && strncmp(now, "{\"n\":1}\n", 8) == 0);
	if (done)
		assert_string_equal(now, "{\"n\":1}\n{\"n\":3}\n");
}

static int merge(struct disk *d)
{
	CLEANUP(json_free) json *j = NULL;

	artifacts_on = d;
	assert_int_equal(json_parse(&j, STR("{\"b\":{\"d\":2}}"), &err), 0);
	return artifact_merge_runtime("/art", "A-1", j, &err);
}

static void merge_holds(const char *now, bool done)
{
	static const char old[] = "{\"a\":1,\"b\":{\"c\":1}}";
	static const char fresh[] =
		"{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 1,\n    \"d\": 2\n  }\n}\n";

	assert_true(now && (strcmp(now, fresh) == 0 || (!done && strcmp(now, old) == 0)));
}

static const struct scene scenes[] = {
	{"/art/A-1/plan.json", "old", put, put_holds},
	{"/art/A-1/plan.json", NULL, put, first_put_holds},
	{"/art/A-1/x.jsonl", "{\"n\":1}\n{\"n\":2}\n", add, add_holds},
	{"/art/A-1/x.jsonl", "{\"n\":1}\n{\"n\":", add, torn_add_holds},
	{"/art/A-1/runtime.json", "{\"a\":1,\"b\":{\"c\":1}}", merge, merge_holds},
};

static struct disk *disk_with(const struct scene *s, uint64_t seed)
{
	struct disk *d = sim_disk_new(seed);

	if (s->before)
		sim_disk_put(d, s->path, str_of(s->before));
	return d;
}

static void play(const struct scene *s, enum sim_fault fault, unsigned n, uint64_t seed)
{
	CLEANUP(disk_free) struct disk *d = disk_with(s, seed);
	bool done;

	sim_disk_plan(d, n, fault);
	done = s->act(d) == 0;
	if (sim_disk_stopped(d) || done)
		sim_disk_restart(d, true);
	s->hold(content(d, s->path), done);
	sim_disk_plan(d, 0, SIM_NONE);
	if (s->act(d) < 0)
		fail_msg("%s: fault %d at call %u: not the next time: %s", s->path, fault, n,
			err.text);
	sim_disk_restart(d, true);
	s->hold(content(d, s->path), s->hold != add_holds && s->hold != torn_add_holds);
}

TEST(every_call_may_fail)
{
	unsigned plays = 0;

	for (size_t i = 0; i < COUNT(scenes); i++)
		for (size_t f = 0; f < COUNT(faults); f++)
			for (unsigned n = 1; n < 40; n++)
				for (uint64_t seed = 1; seed <= 5; seed++, plays++)
					play(&scenes[i], faults[f], n, seed);
	print_message("%u plays\n", plays);
}

/* A full disk leaves no partial line where others read. */
TEST(a_full_disk_leaves_whole_lines)
{
	const struct scene *s = &scenes[2];

	for (unsigned n = 1; n < 20; n++) {
		CLEANUP(disk_free) struct disk *d = disk_with(s, n);
		const char *now;

		sim_disk_plan(d, n, SIM_ENOSPC);
		if (add(d) == 0)
			continue;
		now = content(d, s->path);
		assert_string_equal(now, s->before);
	}
}

TEST(what_cannot_be_read_is_not_replaced)
{
	const struct scene *s = &scenes[4];

	for (unsigned n = 1; n < 10; n++) {
		CLEANUP(disk_free) struct disk *d = disk_with(s, n);

		bool done;

		sim_disk_plan_read(d, n);
		done = s->act(d) == 0;
		s->hold(content(d, s->path), done);
	}
}

static int disk_end(void **state)
{
	artifacts_on = NULL;
	return arena_end(state);
}

UNIT_GROUP(NULL, disk_end)
