/*
 * sim_rig.h: short forms for tests of the disk in memory.
 */
#ifndef DT_TESTS_SIM_RIG_H
#define DT_TESTS_SIM_RIG_H

#include "src/store/disk_sim.h"
#include "tests/lib/disk_cases.h"

static inline int begin(void **state)
{
	(void)state;
	disk = sim_disk_new(1);
	root = arena_dup(&arena, STR("/room"));
	sim_disk_put(disk, "/room/x", (struct str){0});
	sim_disk_remove(disk, "/room/x");
	return 0;
}

static inline int end(void **state)
{
	sim_disk_free(&disk);
	return arena_end(state);
}

/* The file's bytes, or NULL. */
static inline const char *now(const char *name)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	return sim_disk_get(disk, in_root(name), &got) ? arena_dup(&arena, buf_str(&got)) : NULL;
}

static inline void add(struct disk_file *f, const char *text)
{
	struct error err;

	assert_int_equal(disk->ops->append(f, str_of(text), &err), 0);
}

static inline void sync_root(void)
{
	struct error err;

	assert_int_equal(disk->ops->sync_folder(disk, root, &err), 0);
}

/* A durable file of this name, open. */
static inline struct disk_file *journal(const char *text)
{
	sim_disk_put(disk, in_root("j"), str_of(text));
	return opened("j", true);
}

/* What came out of a power cut over many seeds, as a set: each text once. */
static struct buf seen;

static inline int forget(void **state)
{
	buf_release(&seen);
	return end(state);
}

static inline bool was_seen(const char *text)
{
	struct str rest = buf_str(&seen), line;

	while (str_line(&rest, &line))
		if (str_is(line, text))
			return true;
	return false;
}

static inline void note_seen(const char *text)
{
	if (!was_seen(text))
		buf_addf(&seen, "%s\n", text);
}

static inline const char *names_picture(void)
{
	static char text[64];
	const char *doc = now("doc"), *staged = now("new");

	(void)snprintf(text, sizeof(text), "%s,%s", doc ? doc : "-", staged ? staged : "-");
	return text;
}

#define sim_test(f) cmocka_unit_test_setup_teardown(f, begin, forget)

#endif
