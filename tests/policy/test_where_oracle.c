/*
 * Paths put together at random in a tree full of links, with stat(2) and realpath(3) as the other
 * opinion of where they lead. The paths are the same at each run.
 */
#include <errno.h>
#include <limits.h>
#include "tests/lib/policy_tree.h"

enum { PATHS = 6000 };

static const char *const parts[] = {"a", "b", "c", "d", "f", "g", "h", ".", "..", "..", "", "l1",
	"l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "new", "new2", "tree", "out", "secret",
	"back", ".x"};
static const char *const directories[] = {"", "a", "a/b", "d", ".x"};

/* What `{}` stands for is the directory of the test. */
static const char *const links[][2] = {{"tree/l1", "a"}, {"tree/l2", "../out"},
	{"tree/l3", "a/b/.."}, {"tree/l4", "l1/b"}, {"tree/a/l5", "../d"}, {"tree/a/l6", ".."},
	{"tree/a/b/l7", "../../../out/a"}, {"tree/l8", "{}/tree/a"}, {"tree/l9", "nowhere"},
	{"tree/d/l1", "../tree/a"}, {"tree/d/l2", "/"}, {"tree/d/l3", "l3"}, {"tree/d/l4", "../f"},
	{"tree/.x/l5", "{}"}, {"tree/.x/l6", "../d/new"}, {"tree/.x/l7", "../../out/new"},
	{"out/back", "../tree"}, {"out/l1", "../tree/l2"}, {"alias", "tree"}};

static int lay_out(void **state)
{
	static const char *const files[] = {
		"tree/a/f", "tree/a/b/g", "tree/f", "tree/.x/h", "secret", "out/a/f"};

	scratch_make(state);
	tree_mkdirs(at("tree/a/b/c"));
	tree_mkdirs(at("tree/d"));
	for (size_t i = 0; i < COUNT(files); i++)
		scratch_write(files[i], "x");
	for (size_t i = 0; i < COUNT(links); i++) {
		const char *to = links[i][1];

		link_to(to[0] == '{' ? arena_printf(&arena, "%s%s", base, to + 2) : to,
			links[i][0]);
	}
	root = (struct root){.fd = -1};
	open_root("tree");
	policy = (struct policy){.name = "test", .write = true};
	return 0;
}

static unsigned roll(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % n;
}

static const char *make_path(uint64_t *seed)
{
	static const char *const begin[] = {"", "", "", "", "{}/tree/", "{}/", "{}/alias/"};
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	const char *first = begin[roll(seed, COUNT(begin))];
	unsigned n = 1 + roll(seed, 6);

	if (*first)
		buf_addf(&path, "%s%s", base, first + 2);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&path, "%s%s", i ? "/" : "", parts[roll(seed, COUNT(parts))]);
	return arena_dup(&arena, buf_str(&path));
}

/* The deepest that exists, with what follows; NULL: nobody can say. */
static const char *expected_of(const char *path)
{
	char real[PATH_MAX];
	struct stat st;
	struct str rest, part;
	size_t n = strlen(path);
	char *copy = arena_dup(&arena, str_of(path)), *out;

	while (stat(n ? copy : "/", &st) < 0) {
		if (errno != ENOENT)
			return NULL;
		while (n && copy[--n] != '/')
			;
		copy[n] = '\0';
	}
	assert_non_null(realpath(n ? copy : "/", real));
	out = arena_dup(&arena, str_of(real));
	rest = str_of(path + n);
	for (bool first = true; rest.n;) {
		size_t end = str_find(rest, STR("/"));

		part = str_sub(rest, 0, end);
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
		if (str_is(part, ".."))
			return NULL;
		if (!part.n || str_is(part, "."))
			continue;
		out = arena_printf(&arena, "%s/%.*s", out, (int)part.n, part.p);
		if (first && lstat(out, &st) == 0)
			return NULL;
		first = false;
	}
	return out;
}

static bool is_below(const char *path)
{
	size_t n = strlen(root.path);

	return strncmp(path, root.path, n) == 0 && (!path[n] || path[n] == '/');
}

static void compare(const char *cwd, const char *path, unsigned *inside)
{
	const char *full =
		path[0] == '/' ? path : arena_printf(&arena, "%s/%s/%s", root.path, cwd, path);
	const char *expected = expected_of(full);
	struct place place;
	int rc;

	verdict = (struct verdict){0};
	rc = where(&arena, &root, &policy, str_of(cwd), str_of(path), ACCESS_READ, false,
		(struct span){0}, &place, &verdict);
	if (!expected || !is_below(expected)) {
		if (rc == 0)
			fail_msg("'%s' from '%s' leads to '%s'", path, cwd, place.full.p);
		assert_denied_by(RULE_PATH_OUTSIDE, path);
		return;
	}
	++*inside;
	if (rc < 0)
		fail_msg("'%s' from '%s' leads to '%s': %s", path, cwd, expected, verdict_text());
	assert_string_equal(place.full.p, expected);
	assert_int_equal(place.exists, access(expected, F_OK) == 0);
}

UNIT_TEST(the_c_library_agrees_on_where_paths_lead, lay_out, policy_tree_remove)
{
	uint64_t seed = 20240301;
	unsigned inside = 0;

	for (unsigned i = 0; i < PATHS; i++) {
		const char *cwd = directories[roll(&seed, COUNT(directories))];

		compare(cwd, make_path(&seed), &inside);
	}
	/* Neither answer is the only one. */
	assert_in_range(inside, PATHS / 4, PATHS * 9 / 10);
}
