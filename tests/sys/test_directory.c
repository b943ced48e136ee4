#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
#include "tests/lib/scratch.h"

static struct error err;

/* b (file), a/ with a/x (file) and a/deep/y (file), link -> a. */
static int make_tree(void **state)
{
	(void)scratch_make(state);
	tree_write(at("b"), STR(""));
	tree_write(at("a/x"), STR(""));
	tree_write(at("a/deep/y"), STR(""));
	return symlink("a", at("link"));
}

struct visits {
	VEC(const char *) seen; /* `path type` of each visit */
	const char *skip, *stop;
};

static enum directory_visit record(void *data, const struct directory_entry *e, struct error *why)
{
	struct visits *v = data;
	struct stat st;

	assert_int_equal(fstatat(e->parent, e->name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(str_ends(str_of(e->path), e->name));
	vec_push_in(&arena, &v->seen, arena_printf(&arena, "%s %c", e->path, "rdlo"[e->type]));
	if (v->stop && strcmp(e->path, v->stop) == 0)
		return (enum directory_visit)error_set(why, ERR_STATE, "stopped");
	return v->skip && strcmp(e->path, v->skip) == 0 ? DIRECTORY_SKIP : DIRECTORY_CONTINUE;
}

static void assert_seen(struct visits *v, const char *expected)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	vec_sort(&v->seen, vec_by_text);
	for (size_t i = 0; i < v->seen.n; i++)
		buf_addf(&text, "%s, ", v->seen.items[i]);
	assert_string_equal(text.s, expected);
}

#define TREE_TEST(name) UNIT_TEST(name, make_tree, scratch_remove)

TREE_TEST(a_walk_visits_every_entry_and_follows_no_link)
{
	struct visits v = {0};

	assert_int_equal(directory_walk(base, record, &v, &err), 0);
	assert_seen(&v, "a d, a/deep d, a/deep/y r, a/x r, b r, link l, ");
}

TREE_TEST(a_visitor_skips_a_directory_or_stops_the_walk)
{
	struct visits v = {.skip = "a/deep"}, stopped = {.stop = "a/deep/y"};

	assert_int_equal(directory_walk(base, record, &v, &err), 0);
	assert_seen(&v, "a d, a/deep d, a/x r, b r, link l, ");
	assert_int_equal(directory_walk(base, record, &stopped, &err), -1);
	assert_string_equal(stopped.seen.items[stopped.seen.n - 1], "a/deep/y r");
	assert_error(&err, "dev-team: stopped");
}

TREE_TEST(a_directory_that_cannot_be_read_is_an_error_or_empty)
{
	struct visits v = {0};
	struct directory_names names;
	bool missing;

	assert_int_equal(directory_walk(at("none"), record, &v, &err), 0);
	assert_int_equal(v.seen.n, 0);
	assert_int_equal(directory_list(&arena, at("none"), &names, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(directory_list(&arena, at("b"), &names, &missing, &err), -1);
	assert_false(missing);
}

TREE_TEST(the_names_of_a_directory_are_sorted)
{
	struct directory_names names;

	assert_int_equal(directory_list(&arena, base, &names, NULL, &err), 0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.items[0], "a");
	assert_string_equal(names.items[1], "b");
	assert_string_equal(names.items[2], "link");
}
