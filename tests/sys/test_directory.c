#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
#include "tests/lib/scratch.h"

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
	struct buf text; /* `path type depth` of each visit */
	const char *skip, *stop;
};

static enum directory_visit record(void *data, const struct directory_entry *e, struct error *err)
{
	struct visits *v = data;
	struct stat st;

	assert_int_equal(fstatat(e->parent, e->name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(str_ends(str_of(e->path), e->name));
	buf_addf(
		&v->text, "%s%s%c%u ", e->leaving ? "/" : "", e->path, "rdlo"[e->type], e -> depth);
	if (v->stop && strcmp(e->path, v->stop) == 0)
		return (enum directory_visit)error_set(err, ERR_STATE, "stopped");
	return v->skip && strcmp(e->path, v->skip) == 0 ? DIRECTORY_SKIP : DIRECTORY_CONTINUE;
}

static int walk(struct visits *v, struct directory_walk w, struct error *err)
{
	w.visit = record;
	w.data = v;
	w.sorted = true;
	buf_clear(&v->text);
	return directory_walk(base, &w, err);
}

#define TREE_TEST(name) UNIT_TEST(name, make_tree, scratch_remove)

TREE_TEST(a_walk_visits_every_entry_and_follows_no_link)
{
	struct visits v = {0};
	struct error err;

	assert_int_equal(walk(&v, (struct directory_walk){0}, &err), 0);
	assert_str(buf_str(&v.text), "ad1 a/deepd2 a/deep/yr3 a/xr2 br1 linkl1 ");
	assert_int_equal(walk(&v, (struct directory_walk){.report_leave = true}, &err), 0);
	assert_str(buf_str(&v.text), "ad1 a/deepd2 a/deep/yr3 /a/deepd2 a/xr2 /ad1 br1 linkl1 ");
	buf_release(&v.text);
}

TREE_TEST(a_visitor_skips_a_directory_or_stops_the_walk)
{
	struct visits v = {.skip = "a/deep"};
	struct error err;

	assert_int_equal(walk(&v, (struct directory_walk){.report_leave = true}, &err), 0);
	assert_str(buf_str(&v.text), "ad1 a/deepd2 a/xr2 /ad1 br1 linkl1 ");
	v = (struct visits){.text = v.text, .stop = "a/deep/y"};
	assert_int_equal(walk(&v, (struct directory_walk){0}, &err), -1);
	assert_str(buf_str(&v.text), "ad1 a/deepd2 a/deep/yr3 ");
	assert_error(&err, "dev-team: stopped");
	buf_release(&v.text);
}

TREE_TEST(too_deep_a_directory_is_an_error_that_names_it)
{
	struct visits v = {0};
	struct error err;
	char expected[512];

	assert_int_equal(walk(&v, (struct directory_walk){.depth_max = 2}, &err), 0);
	assert_int_equal(walk(&v, (struct directory_walk){.depth_max = 1}, &err), -1);
	(void)snprintf(expected, sizeof(expected),
		"dev-team: '%s/a/deep' is nested deeper than 1 directories", base);
	assert_error(&err, expected);
	assert_int_equal(err.code, ERR_INPUT);
	buf_release(&v.text);
}

TREE_TEST(a_directory_that_cannot_be_read_is_an_error_or_empty)
{
	struct directory_walk w = {.visit = record, .data = NULL};
	struct directory_names names;
	struct error err;
	bool missing;

	assert_int_equal(directory_walk(at("none"), &w, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, at("none")));
	w.tolerant = true;
	assert_int_equal(directory_walk(at("none"), &w, &err), 0);
	assert_int_equal(directory_list(&arena, at("none"), &names, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(directory_list(&arena, at("b"), &names, &missing, &err), -1);
	assert_false(missing);
}

TREE_TEST(the_names_of_a_directory_are_sorted)
{
	struct directory_names names;
	struct error err;

	assert_int_equal(directory_list(&arena, base, &names, NULL, &err), 0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.items[0], "a");
	assert_string_equal(names.items[1], "b");
	assert_string_equal(names.items[2], "link");
}
