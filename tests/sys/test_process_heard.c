#include <errno.h>
#include <fcntl.h>
#include "src/sys/process.h"
#include "tests/lib/scratch.h"

/* The output that a listener received. */
struct heard {
	struct buf out, errors;
	size_t enough; /* bytes of stdout after which it ends the program; 0: never */
	unsigned ticks;
	const char *at_tick; /* a fifo that it opens at each tick */
};

static struct process_end end;
static struct error err;

static bool listen_to(void *data, bool errors, struct str piece)
{
	struct heard *h = data;

	buf_add(errors ? &h->errors : &h->out, piece);
	return !h->enough || h->out.len < h->enough;
}

static void count_tick(void *data)
{
	struct heard *h = data;

	h->ticks++;
	if (h->at_tick)
		base_close(&(int){open(h->at_tick, O_WRONLY | O_NONBLOCK)});
}

static void forget(struct heard *h)
{
	buf_release(&h->out);
	buf_release(&h->errors);
}

static int shell(const char *script, struct heard *h, struct process p)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};

	p.argv = argv;
	p.output = -1;
	p.grace_ms = 300;
	p.on_output = listen_to;
	p.data = h;
	return process_run(&p, &end, &err);
}

TEST(stderr_is_heard_apart)
{
	CLEANUP(forget) struct heard h = {0};

	assert_int_equal(shell("echo one; echo two >&2; echo three", &h, (struct process){0}), 0);
	assert_string_equal(h.out.s, "one\nthree\n");
	assert_string_equal(h.errors.s, "two\n");
}

/* The first line arrives while the program waits for the listener, which opens the fifo. */
TEST(pieces_come_while_it_runs)
{
	CLEANUP(forget) struct heard h = {.at_tick = "ticked"};

	assert_int_equal(shell("mkfifo ticked; echo one; cat ticked; echo two", &h,
				 (struct process){.tick = count_tick, .tick_ms = 20}),
		0);
	assert_string_equal(h.out.s, "one\ntwo\n");
	assert_true(h.ticks > 0);
}

TEST(a_listener_that_has_enough_ends_it)
{
	CLEANUP(forget) struct heard h = {.enough = 1 << 20};

	assert_int_equal(shell("yes", &h, (struct process){0}), 0);
	assert_true(end.cancelled);
	assert_false(end.timed_out);
	assert_true(h.out.len >= 1 << 20);
}

TEST(an_environment_can_be_whole)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "ONE=1", NULL};
	CLEANUP(forget) struct heard h = {0};

	setenv("SECRET_OF_OURS", "x", 1);
	assert_int_equal(shell("env -u PWD -u SHLVL -u _ env | sort", &h,
				 (struct process){.env = env, .env_whole = true}),
		0);
	unsetenv("SECRET_OF_OURS");
	assert_string_equal(h.out.s, "ONE=1\nPATH=/usr/bin:/bin\n");
}

TEST(both_streams_come_whole)
{
	CLEANUP(forget) struct heard h = {0};

	assert_int_equal(shell("head -c 1000000 /dev/zero & head -c 2000000 /dev/zero >&2; wait",
				 &h, (struct process){0}),
		0);
	assert_int_equal(h.out.len, 1000000);
	assert_int_equal(h.errors.len, 2000000);
}

TEST(no_descriptor_is_left)
{
	CLEANUP(forget) struct heard h = {0};
	size_t before = open_descriptors();

	assert_int_equal(shell("echo x; echo y >&2", &h, (struct process){0}), 0);
	assert_int_equal(open_descriptors(), before);
}

UNIT_GROUP(scratch_enter, scratch_leave)
