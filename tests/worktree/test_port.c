#include <netinet/in.h>
#include <sys/socket.h>
#include "tests/lib/unit.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

static struct error err;

static unsigned candidate(const char *path, unsigned base)
{
	struct arena a = {0};
	unsigned port = 0;

	assert_int_equal(port_candidate(path_normalize(&a, path), base, &port, &err), 0);
	arena_release(&a);
	return port;
}

TEST(the_formula_is_that_of_everybody)
{
	static const struct {
		const char *path;
		unsigned base, port;
	} rows[] = {
		{"/test/worktree", 3190, 3453},
		{"/foo/bar", 3190, 3758},
		{"/some/worktree/path", 3190, 3798},
		{"/repo/.worktrees/feat-a", 3190, 3729},
		{"/repo/.worktrees/feat-b", 3190, 4138},
		{"/home/op/.ai-sdlc/worktrees/feat-issue-42", 3190, 3794},
		{"/pool/feat-issue-42", 3190, 3633},
		{"/home/\xc3\xbcn\xc3\xaf/wt", 3190, 4144},
		{"/x", 3190, 3449},
		{"/x", 5000, 5259},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(candidate(rows[i].path, rows[i].base), rows[i].port);
}

TEST(paths_are_made_plain_by_their_letters_alone)
{
	static const char *const rows[][2] = {
		{"/pool/a/../feat-issue-42/", "/pool/feat-issue-42"},
		{"/pool//feat-issue-42", "/pool/feat-issue-42"},
		{"//pool/feat-issue-42///", "/pool/feat-issue-42"},
		{"/pool/./feat-issue-42/.", "/pool/feat-issue-42"},
		{"/../../pool/feat-issue-42", "/pool/feat-issue-42"},
		{"/pool/a/b/../../feat-issue-42", "/pool/feat-issue-42"},
		{"/", "/"},
		{"/a/..", "/"},
		{"/..", "/"},
		{"/a/...", "/a/..."},
		{"/a/.b/c..", "/a/.b/c.."},
		{"/a b/\n", "/a b/\n"},
		{"/proc/self/cwd", "/proc/self/cwd"},
	};
	struct arena a = {0};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(path_normalize(&a, rows[i][0]), rows[i][1]);
	arena_release(&a);
}

TEST(a_relative_path_begins_where_we_are)
{
	char *before = getcwd(NULL, 0);
	struct arena a = {0};

	assert_int_equal(chdir("/usr"), 0);
	assert_string_equal(path_normalize(&a, "lib/../share/x/"), "/usr/share/x");
	assert_string_equal(path_normalize(&a, "."), "/usr");
	assert_string_equal(path_normalize(&a, "../../.."), "/");
	assert_int_equal(candidate("../test/worktree", 3190), 3453);
	assert_int_equal(chdir(before), 0);
	free(before);
	arena_release(&a);
}

TEST(paths_spread_over_the_range)
{
	static const unsigned want[] = {91, 102, 92, 103, 89, 109, 119, 85, 110};
	unsigned bucket[9] = {0};
	struct arena a = {0};

	for (unsigned i = 0; i < 900; i++) {
		unsigned port = candidate(arena_printf(&a, "/path/sample-%u", i), 3190);

		assert_in_range(port, 3290, 4189);
		bucket[(port - 3290) / 100]++;
	}
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(bucket[i], want[i]);
	arena_release(&a);
}

static const unsigned *taken; /* ended by 0 */
static unsigned asked[4096], n_asked;

static bool is_free(unsigned port)
{
	asked[n_asked++] = port;
	for (const unsigned *t = taken; t && *t; t++)
		if (*t == port)
			return false;
	return true;
}

static bool none_is_free(unsigned port)
{
	(void)port;
	return false;
}

#define ASK(...) ((struct port_ask){__VA_ARGS__})

static struct port_answer got;

static int find(struct port_ask ask, const unsigned *busy)
{
	taken = busy;
	n_asked = 0;
	if (!ask.path)
		ask.path = "/test/worktree";
	if (!ask.base)
		ask.base = 3190;
	if (!ask.is_free)
		ask.is_free = is_free;
	return port_find(&ask, &got, &err);
}

TEST(the_candidate_is_taken_when_it_is_free)
{
	assert_int_equal(find(ASK(.count = 1), NULL), 0);
	assert_int_equal(got.first, 3453);
	assert_int_equal(got.n_tried, 1);
	assert_int_equal(got.candidate, 3453);
	assert_int_not_equal(got.candidate, 0);
}

TEST(a_busy_one_is_passed_over)
{
	static const struct {
		unsigned count, slots, busy[12], first;
	} rows[] = {
		{1, 0, {3453}, 3454},
		{1, 0, {3453, 3454, 3455}, 3456},
		{1, 0, {3453, 3454, 3455, 3456, 3457, 3458, 3459, 3460, 3461}, 3462},
		{1, 0, {3454}, 3453},
		/* The whole block must be free. */
		{3, 0, {3455}, 3456},
		{3, 0, {3454}, 3455},
		{2, 0, {3454, 3456}, 3457},
		{10, 0, {3462}, 0},
		{10, 0, {3461}, 3462},
		/* The ports reserved for children must be free too. */
		{1, 4, {3457}, 3458},
		{2, 20, {3453}, 3454},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct port_ask ask = {.count = rows[i].count, .slots = rows[i].slots};
		int rc = find(ask, rows[i].busy);

		assert_int_equal(rc, rows[i].first ? 0 : -1);
		if (rows[i].first) {
			assert_int_equal(got.first, rows[i].first);
			assert_int_equal(got.candidate, 3453);
			assert_true(got.n_tried == rows[i].first - 3453 + 1 || got.n_tried == 10);
		}
	}
}

TEST(ten_are_tried_and_told)
{
	assert_fails(find(ASK(.count = 1, .is_free = none_is_free), NULL), err, ERR_STATE);
	assert_int_equal(got.n_tried, 10);
	assert_error(&err, "dev-team: no free block of 1 ports for '/test/worktree': tried those "
			   "that begin at 3453 to 3462");
}

/* Worktrees of one pool may be neighbours: their ports are known, and are not attempts. */
TEST(ports_of_other_allocations_are_passed_over_and_are_no_try)
{
	static const unsigned busy[] = {3493, 3494, 0};
	static const struct allocation others[] = {
		{.port = 3400, .ports = 60}, {.port = 3460, .ports = 3, .slots = 10}};
	struct port_ask ask = {.count = 3, .taken = others, .n_taken = COUNT(others)};

	assert_int_equal(find(ask, busy), 0);
	assert_int_equal(got.candidate, 3453);
	assert_int_equal(got.first, 3495);
	assert_int_equal(asked[0], 3493);
	ask.is_free = none_is_free;
	assert_int_equal(find(ask, NULL), -1);
}

TEST(an_override_goes_before_and_is_not_probed)
{
	static const struct {
		const char *text;
		unsigned port;
	} rows[] = {{"4242", 4242}, {"1", 1}, {"65535", 65535}, {"80", 80}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct port_ask ask = {
			.count = 1, .override = rows[i].text, .is_free = none_is_free};

		assert_int_equal(find(ask, NULL), 0);
		assert_int_equal(got.first, rows[i].port);
		assert_int_equal(got.candidate, 0);
		assert_int_equal(got.n_tried, 0);
	}
	assert_int_equal(find(ASK(.count = 1, .override = ""), NULL), 0);
	assert_int_equal(got.first, 3453);
	assert_int_not_equal(got.candidate, 0);
}

TEST(an_override_is_read_strictly)
{
	static const char *const rows[] = {"not-a-port", "0", "70000", "65536", "8080abc",
		" 4242.9", " 4242", "4242 ", "4242\n", "-1", "+80", "080", "0x50", "1e3", "4242.0",
		"99999999999999999999", "4294967376", "\xd9\xa4", " ", "--"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_fails(find(ASK(.count = 1, .override = rows[i]), NULL), err, ERR_USAGE);
	}
	assert_int_equal(find(ASK(.count = 1, .override = "8080abc"), NULL), -1);
	assert_error(&err, "dev-team: port '8080abc' is not a number of 1..65535");
}

TEST(a_block_is_of_one_to_ten)
{
	assert_int_equal(find(ASK(.count = 3), NULL), 0);
	assert_int_equal(got.first, 3453);
	assert_int_equal(n_asked, 3);
	assert_int_equal(asked[2], 3455);
	assert_int_equal(find(ASK(.count = 10), NULL), 0);
	assert_int_equal(n_asked, 10);
}

TEST(no_block_goes_beyond_the_last_port)
{
	static const struct {
		const char *override;
		unsigned count, first;
	} rows[] = {
		{"65535", 1, 65535},
		{"65535", 2, 0},
		{"65535", 3, 0},
		{"65533", 3, 65533},
		{"65526", 10, 65526},
		{"65527", 10, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct port_ask ask = {.count = rows[i].count, .override = rows[i].override};
		int rc = find(ask, NULL);

		assert_int_equal(rc, rows[i].first ? 0 : -1);
		if (rows[i].first)
			assert_int_equal(got.first, rows[i].first);
	}
	/* The candidate of /foo/bar is its base and 568. */
	assert_int_equal(find(ASK(.path = "/foo/bar", .base = 64967, .count = 1), NULL), 0);
	assert_int_equal(got.first, 65535);
	assert_int_equal(find(ASK(.path = "/foo/bar", .base = 64967, .count = 2), NULL), -1);
	assert_error(&err, "dev-team: a block of 2 ports at 65535 exceeds 65535");
	assert_int_equal(
		find(ASK(.path = "/foo/bar", .base = 64965, .count = 2, .is_free = none_is_free),
			NULL),
		-1);
	assert_int_equal(got.n_tried, 2);
}

static int listener(int family, unsigned *port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *at =
		family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
	socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, at, size) < 0) {
		base_close(&fd);
		return -1;
	}
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, at, &size), 0);
	*port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
	return fd;
}

TEST(who_listens_is_in_the_way)
{
	static const int families[] = {AF_INET, AF_INET6};
	unsigned port;

	for (size_t i = 0; i < COUNT(families); i++) {
		CLEANUP(base_close) int fd = listener(families[i], &port);

		if (fd < 0) {
			assert_int_equal(families[i], AF_INET6); /* not every machine has it */
			continue;
		}
		assert_false(port_is_free(port));
		base_close(&fd);
		fd = -1;
		assert_true(port_is_free(port));
	}
}
