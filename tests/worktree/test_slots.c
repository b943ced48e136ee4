#include <netinet/in.h>
#include <sys/socket.h>
#include "tests/lib/records_rig.h"
#include "src/event/event.h"

#define ASK(...) ((struct allocate_ask){__VA_ARGS__})

static struct error err;

static struct allocation fresh(const char *name)
{
	return (struct allocation){.branch = name,
		.slug = name,
		.path = arena_printf(&arena, "/pool/%s", name),
		.repo = pool.repo,
		.common = pool.common,
		.pool = pool.name};
}

static int allocate(struct allocate_ask ask, struct allocation *out)
{
	struct change c;

	*out = fresh(ask.branch);
	out->state = ALLOCATION_LIVE;
	change_begin(&c, &arena, &pool);
	if (slot_choose(&arena, &pool, &ask, out, &c, &err) < 0)
		return -1;
	change_record(&c, out);
	return change_commit(&c, &out->mod, NULL, &err);
}

static struct allocation need(struct allocate_ask ask)
{
	struct allocation out;

	if (allocate(ask, &out) < 0)
		fail_msg("%s", err.text);
	return out;
}

static void refuse(struct allocate_ask ask, enum err code, const char *text)
{
	struct allocation out;

	assert_int_equal(allocate(ask, &out), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.code, code);
}

static void reclaim(const char *name)
{
	struct allocation of;
	struct change c;
	bool there;

	assert_int_equal(record_read(&arena, &pool, arena_printf(&arena, "/pool/%s", name), &of,
				 &there, &err),
		0);
	assert_true(there);
	change_begin(&c, &arena, &pool);
	change_drop(&c, &of);
	assert_int_equal(slot_release(&arena, &pool, &of, &c, &err), 0);
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

static size_t n_ports(void)
{
	struct store_kv *list;
	int64_t rev;
	size_t n;

	assert_int_equal(
		store_list(pool.store, &arena, "port/", NULL, 1000, &list, &n, &rev, &err), 0);
	return n;
}

static size_t n_leaks(void)
{
	struct leak *leaks;
	size_t n;

	assert_int_equal(pool_audit(&arena, &pool, &leaks, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(leaks[i].kind, "record-without-worktree") == 0)
			leaks[i--] = leaks[--n]; /* here all are without */
	return n;
}

RECORDS_TEST(a_block_is_taken_and_given_back)
{
	struct allocation one = need(ASK(.branch = "feat-issue-42", .ports = 3));

	assert_int_equal(one.port, 3633);
	assert_int_equal(one.ports, 3);
	assert_int_equal(n_ports(), 3);
	assert_int_equal(n_leaks(), 0);
	reclaim("feat-issue-42");
	assert_int_equal(n_ports(), 0);
}

/* Two paths with one candidate: the block of the other is skipped as if it were in use. */
RECORDS_TEST(no_two_have_one_port)
{
	struct allocation one = need(ASK(.branch = "one")), two;
	char digest[DIGEST_TEXT];
	struct change c;
	unsigned want;

	assert_int_equal(port_candidate("/pool/two", 3190, &want, &err), 0);
	record_digest(one.path, digest);
	change_begin(&c, &arena, &pool);
	change_put(&c, key_port(&arena, want + 1), str_of(digest));
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
	two = need(ASK(.branch = "two", .ports = 2));
	assert_int_equal(two.port, want + 2);
}

RECORDS_TEST(a_race_for_a_port_has_one_winner)
{
	struct allocation one = fresh("one"), other;
	struct allocate_ask ask = {.branch = "one", .ports = 2};
	struct change c;
	bool refused;

	change_begin(&c, &arena, &pool);
	assert_int_equal(slot_choose(&arena, &pool, &ask, &one, &c, &err), 0);
	change_record(&c, &one);
	/* Meanwhile another process takes the second one. */
	other = need(ASK(.branch = "other", .port = arena_printf(&arena, "%u", one.port + 1)));
	assert_int_equal(other.port, one.port + 1);
	assert_int_equal(change_commit(&c, NULL, &refused, &err), 0);
	assert_true(refused);
	assert_int_equal(need(ASK(.branch = "one", .ports = 2)).port, one.port + 2);
}

RECORDS_TEST(an_override_is_never_anothers_port)
{
	need(ASK(.branch = "one", .port = "4300", .ports = 2));

	refuse(ASK(.branch = "two", .port = "4301"), ERR_STATE, "port 4301 belongs to '/pool/one'");
	refuse(ASK(.branch = "two", .port = "4299", .ports = 2), ERR_STATE,
		"port 4300 belongs to '/pool/one'");
	refuse(ASK(.branch = "two", .port = "8080abc"), ERR_USAGE,
		"port '8080abc' is not a number of 1..65535");
	assert_int_equal(need(ASK(.branch = "two", .port = "4302")).port, 4302);
}

static int listen_at(unsigned port)
{
	const struct sockaddr_in where = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&where, sizeof(where)) == 0)
		assert_int_equal(listen(fd, 1), 0);
	/* Otherwise it is in use already, which is as good. */
	return fd;
}

RECORDS_TEST(who_listens_is_passed_over_and_told)
{
	CLEANUP(base_close) int fd = -1;
	const char *events;
	struct allocate_ask ask = {.branch = "one", .issue = "T-1"};
	struct allocation one;
	unsigned want;

	assert_int_equal(port_candidate("/pool/one", 3190, &want, &err), 0);
	pool.is_free = NULL;
	fd = listen_at(want);
	one = need(ask);
	assert_true(one.port > want);
	assert_int_equal(port_note(&pool, &ask, &one, &err), 0);
	events = scratch_read("artifacts/_events.jsonl");
	assert_non_null(strstr(events, "\"type\":\"PortCollision\""));
	assert_non_null(strstr(events, "\"issueId\":\"T-1\""));
	assert_non_null(strstr(events, arena_printf(&arena, "\"candidate\":%u", want)));
}

RECORDS_TEST(later_stages_have_the_ports_of_the_first)
{
	struct allocate_ask ask = {.branch = "one", .issue = "T-1", .ports = 2};
	struct allocation one = need(ASK(.branch = "one", .port = "4400", .ports = 2));

	assert_int_equal(port_remember(&pool, "T-1", &one, &err), 0);
	reclaim("one");
	assert_int_equal(need(ask).port, 4400);
	reclaim("one");
	/* Unless they are in use now, or it is another worktree. */
	need(ASK(.branch = "thief", .port = "4401"));
	assert_int_not_equal(need(ask).port, 4400);
	assert_int_not_equal(need(ASK(.branch = "two", .issue = "T-1")).port, 4400);
}

RECORDS_TEST(counts_have_limits)
{
	static const struct {
		struct allocate_ask ask;
		const char *text;
	} rows[] = {
		{{.ports = 11}, "11 ports are not within 1..10"},
		{{.slots = 21}, "21 slots are not within 1..20"},
		{{.slot_ports = 2}, "ports for slots, but no slots"},
		{{.slots = 2, .slot_ports = 11}, "11 ports for a slot are not within 1..10"},
		{{.ports = 10, .slots = 6, .slot_ports = 10},
			"70 ports with those of the slots are more than 60"},
		{{.slots = 4294967295U, .slot_ports = 2}, "4294967295 slots are not within 1..20"},
		{{.port = "65535", .slots = 1}, "a block of 2 ports at 65535 exceeds 65535"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct allocate_ask ask = rows[i].ask;

		ask.branch = "one";
		refuse(ask, ERR_USAGE, rows[i].text);
	}
	assert_int_equal(n_ports(), 0);
	need(ASK(.branch = "most", .ports = 10, .slots = 5, .slot_ports = 10));
	assert_int_equal(n_ports(), 60);
	reclaim("most");
	assert_int_equal(n_ports(), 0);
}

RECORDS_TEST(children_have_slots_of_their_parent)
{
	struct allocation parent = need(
		ASK(.branch = "parent", .ports = 2, .slots = 2, .slot_ports = 3, .port = "4500"));
	struct allocate_ask ask = {.branch = "child-1", .parent = "parent", .ports = 3};
	struct allocation one, two;
	const char *first;
	size_t n;

	assert_int_equal(n_ports(), 8);
	one = need(ask);
	assert_int_equal(one.port, 4502);
	assert_string_equal(one.parent, "/pool/parent");
	two = need(ASK(.branch = "child-2", .parent = "/pool/parent"));
	assert_int_equal(two.port, 4505);
	assert_int_equal(two.ports, 1);
	assert_int_equal(n_ports(), 8);
	assert_int_equal(n_leaks(), 0);
	assert_int_equal(slot_children(&arena, &pool, &parent, &n, &first, &err), 0);
	assert_int_equal(n, 2);
	refuse(ASK(.branch = "child-3", .parent = "parent"), ERR_STATE,
		"all 2 slots of 'parent' are taken");
	reclaim("child-1");
	assert_int_equal(n_ports(), 8);
	assert_int_equal(n_leaks(), 0);
	assert_int_equal(need(ASK(.branch = "child-3", .parent = "parent")).port, 4502);
	reclaim("child-2");
	reclaim("child-3");
	assert_int_equal(slot_children(&arena, &pool, &parent, &n, &first, &err), 0);
	assert_int_equal(n, 0);
	reclaim("parent");
	assert_int_equal(n_ports(), 0);
}

RECORDS_TEST(a_childs_child_has_a_slot_of_the_child)
{
	struct allocation one;

	need(ASK(.branch = "parent", .slots = 1, .slot_ports = 5, .port = "4600"));
	one = need(ASK(.branch = "child", .parent = "parent", .slots = 2, .slot_ports = 2));
	assert_int_equal(one.port, 4601);
	assert_int_equal(
		need(ASK(.branch = "grandchild", .parent = "child", .ports = 2)).port, 4602);
	assert_int_equal(n_ports(), 6);
	assert_int_equal(n_leaks(), 0);
	reclaim("grandchild");
	assert_int_equal(n_leaks(), 0);
	reclaim("child");
	assert_int_equal(n_leaks(), 0);
	reclaim("parent");
	assert_int_equal(n_ports(), 0);
}

RECORDS_TEST(what_cannot_be_a_child_is_refused)
{
	struct allocation half = fresh("half");

	need(ASK(.branch = "plain"));
	need(ASK(.branch = "parent", .slots = 1, .slot_ports = 2));
	half.slots = half.slot_ports = 1;
	half.port = 5000;
	half.ports = 1;
	assert_int_equal(record_put(&arena, &pool, &half, &err), 0);
	refuse(ASK(.branch = "x", .parent = "absent"), ERR_STATE,
		"no worktree of 'absent' exists that could be a parent");
	refuse(ASK(.branch = "x", .parent = "plain"), ERR_STATE,
		"'plain' was allocated without slots for children");
	refuse(ASK(.branch = "x", .parent = "half"), ERR_STATE,
		"'half' is being created or removed, so it is no parent");
	refuse(ASK(.branch = "parent", .parent = "parent"), ERR_USAGE,
		"'parent' cannot be its own parent");
	refuse(ASK(.branch = "x", .parent = "parent", .ports = 3), ERR_STATE,
		"a slot of 'parent' has 2 ports, fewer than the requested 3");
	refuse(ASK(.branch = "x", .parent = "parent", .port = "80"), ERR_USAGE,
		"a child's ports come from its parent: it cannot use '80'");
}

static bool is_not_4701(unsigned port)
{
	return port != 4701;
}

RECORDS_TEST(a_busy_slot_is_passed_over)
{
	pool.is_free = is_not_4701;
	need(ASK(.branch = "parent", .slots = 2, .slot_ports = 1, .port = "4700"));
	assert_int_equal(need(ASK(.branch = "child", .parent = "parent")).port, 4702);
	refuse(ASK(.branch = "x", .parent = "parent"), ERR_STATE,
		"no slot of 'parent' is free: 1 of 2 are taken, and ports of 1 are in use");
}

/* A process that has read a parent without children cannot remove it once it has one. */
RECORDS_TEST(a_parent_is_not_removed_below_its_child)
{
	struct allocation seen = need(ASK(.branch = "parent", .slots = 1));

	need(ASK(.branch = "child", .parent = "parent"));
	seen.state = ALLOCATION_REMOVING;
	assert_fails(record_put(&arena, &pool, &seen, &err), err, ERR_STATE);
}
