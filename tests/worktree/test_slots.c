/* The blocks of ports of worktrees and of their children. */
#include <netinet/in.h>
#include <sys/socket.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

#define ASK(...) ((struct allocate_ask){__VA_ARGS__})

/* Which ports this machine uses does not matter. */
static bool every_port_is_free(unsigned port)
{
	(void)port;
	return true;
}

static struct allocation need(struct allocate_ask ask)
{
	struct allocation out;

	if (!pool.is_free)
		pool.is_free = every_port_is_free;
	if (allocate(&ask, &out) < 0)
		fail_msg("%s", err.text);
	return out;
}

static void refuse(struct allocate_ask ask, enum err code, const char *text)
{
	struct allocation out;

	assert_true(refused(allocate(&ask, &out), code, text));
	sh("! git -C r rev-parse -q --verify refs/heads/two");
}

POOL_TEST(a_block_is_taken_and_given_back)
{
	struct allocation one = need(ASK(.branch = "feat-issue-42", .ports = 3));
	unsigned want;

	assert_int_equal(port_candidate(one.path, 3190, &want, &err), 0);
	assert_int_equal(one.port, want);
	assert_int_equal(one.ports, 3);
	assert_string_equal(leaks(), "");
	goes("feat-issue-42", false);
}

POOL_TEST(an_override_is_never_anothers_port)
{
	need(ASK(.branch = "one", .port = "4300", .ports = 2));

	refuse(ASK(.branch = "two", .port = "4301"), ERR_STATE, "port 4301 belongs to '");
	refuse(ASK(.branch = "two", .port = "4299", .ports = 2), ERR_STATE,
		"port 4300 belongs to '");
	refuse(ASK(.branch = "two", .port = "8080abc"), ERR_USAGE,
		"port '8080abc' is not a number of 1..65535");
	assert_int_equal(need(ASK(.branch = "two", .port = "4302")).port, 4302);
}

static unsigned busy;

static bool is_not_busy(unsigned port)
{
	return port != busy;
}

POOL_TEST(a_port_in_use_is_passed_over_and_reported)
{
	struct allocate_ask ask = {.branch = "one", .issue = "T-1"};
	const char *events;

	assert_int_equal(port_candidate(at("pool/one"), 3190, &busy, &err), 0);
	pool.is_free = is_not_busy;
	assert_int_equal(need(ask).port, busy + 1);
	events = scratch_read("artifacts/_events.jsonl");
	assert_true(contains(events, "\"type\":\"PortCollision\""));
	assert_true(contains(events, "\"issueId\":\"T-1\""));
	assert_true(contains(events, arena_printf(&arena, "\"candidate\":%u", busy)));
}

POOL_TEST(a_moved_repository_keeps_its_records)
{
	spec.root = NULL;
	spec.repo_local = true;
	pool_again();
	need(ASK(.branch = "one", .port = "4300"));
	pool_close(&pool);
	sh("mv r moved && git -C moved worktree repair ../moved/.dev-team/worktrees/one "
	   "2>/dev/null");
	assert_int_equal(pool_open(&arena, &spec, at("moved"), at("other"), NULL, &pool, &err), 0);
	assert_string_equal(leaks(), "");
	assert_int_equal(take("one", false).port, 4300);
	goes("one", false);
}

POOL_TEST(counts_have_limits)
{
	static const struct {
		struct allocate_ask ask;
		const char *text;
	} rows[] = {
		{{.port = "65535", .slots = 1}, "a block of 2 ports at 65535 exceeds 65535"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct allocate_ask ask = rows[i].ask;

		ask.branch = "one";
		refuse(ask, ERR_USAGE, rows[i].text);
	}
	need(ASK(.branch = "most", .ports = 10, .slots = 20));
	goes("most", false);
}

POOL_TEST(children_have_slots_of_their_parent)
{
	struct allocate_ask ask = {.branch = "child-1", .parent = "parent", .ports = 2};
	struct allocation one, two;

	need(ASK(.branch = "parent", .ports = 2, .slots = 2, .port = "4500"));
	one = need(ask);
	assert_int_equal(one.port, 4502);
	assert_string_equal(one.parent, "parent");
	two = need(ASK(.branch = "child-2", .parent = at("pool/parent")));
	assert_int_equal(two.port, 4504);
	assert_int_equal(two.ports, 1);
	assert_string_equal(leaks(), "");
	refuse(ASK(.branch = "child-3", .parent = "parent"), ERR_STATE,
		"no slot of 'parent' is free: each of the 2 has a child, or a port in use");
	goes("child-1", false);
	assert_string_equal(leaks(), "");
	assert_int_equal(need(ASK(.branch = "child-3", .parent = "parent")).port, 4502);
	goes("child-2", false);
	goes("child-3", false);
	goes("parent", false);
}

POOL_TEST(what_cannot_be_a_child_is_refused)
{
	need(ASK(.branch = "plain"));
	need(ASK(.branch = "parent", .ports = 2, .slots = 1));
	refuse(ASK(.branch = "x", .parent = "absent"), ERR_STATE,
		"no worktree of 'absent' exists that could be a parent");
	refuse(ASK(.branch = "x", .parent = "plain"), ERR_STATE,
		"no slot of 'plain' is free: each of the 0");
	refuse(ASK(.branch = "x", .parent = "parent", .ports = 3), ERR_STATE,
		"a slot of 'parent' has 2 ports, fewer than the requested 3");
	refuse(ASK(.branch = "x", .parent = "parent", .slots = 2), ERR_STATE,
		"a slot of 'parent' has 2 ports, fewer than the requested 3");
	refuse(ASK(.branch = "x", .parent = "parent", .port = "80"), ERR_USAGE,
		"a child's ports come from its parent: it cannot use '80'");
}

static bool is_not_4701(unsigned port)
{
	return port != 4701;
}

POOL_TEST(a_busy_slot_is_passed_over)
{
	pool.is_free = is_not_4701;
	need(ASK(.branch = "parent", .slots = 2, .port = "4700"));
	assert_int_equal(need(ASK(.branch = "child", .parent = "parent")).port, 4702);
	refuse(ASK(.branch = "x", .parent = "parent"), ERR_STATE,
		"no slot of 'parent' is free: each of the 2 has a child, or a port in use");
}
