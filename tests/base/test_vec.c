#include "src/base/vec.h"
#include "tests/lib/unit.h"

struct point {
	int x, y;
};

TEST(items_are_kept_in_the_order_of_their_pushes)
{
	VEC(struct point) v = {0};

	for (int i = 0; i < 1000; i++)
		vec_push(&v, (struct point){i, -i});
	assert_int_equal(v.n, 1000);
	assert_true(v.cap >= v.n);
	for (int i = 0; i < 1000; i++)
		assert_true(v.items[i].x == i && v.items[i].y == -i);
	vec_release(&v);
	assert_null(v.items);
	assert_int_equal(v.n + v.cap, 0);
	vec_release(&v);
}

TEST(a_vector_in_an_arena_grows_like_one_on_the_heap)
{
	CLEANUP(arena_release) struct arena a = {0};
	VEC(size_t) v = {0};

	for (size_t i = 0; i < 1000; i++)
		vec_push_in(&a, &v, i);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(v.items[i], i);
}

TEST(items_are_inserted_and_removed_anywhere)
{
	VEC(int) v = {0};

	vec_insert(&v, 0, 2);
	vec_insert(&v, 0, 1);
	vec_insert(&v, 2, 4);
	vec_insert(&v, 2, 3);
	assert_int_equal(v.n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(v.items[i], i + 1);
	vec_remove(&v, 0);
	vec_remove(&v, 2);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.items[0], 2);
	assert_int_equal(v.items[1], 3);
	vec_release(&v);
}

TEST(reserved_room_is_not_moved_by_pushes)
{
	VEC(char) v = {0};
	char *items;

	vec_reserve(&v, 100);
	items = v.items;
	for (int i = 0; i < 100; i++)
		vec_push(&v, 'x');
	assert_ptr_equal(v.items, items);
	vec_release(&v);
}

TEST(texts_are_sorted_by_bytes_and_an_empty_vector_too)
{
	VEC(const char *) v = {0};

	vec_sort(&v, vec_by_text);
	vec_push(&v, "b");
	vec_push(&v, "\xc3\xa4");
	vec_push(&v, "B");
	vec_sort(&v, vec_by_text);
	assert_string_equal(v.items[0], "B");
	assert_string_equal(v.items[1], "b");
	assert_string_equal(v.items[2], "\xc3\xa4");
	vec_release(&v);
}
