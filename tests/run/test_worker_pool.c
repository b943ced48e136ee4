#include <math.h>
#include "src/run/worker_pool.h"
#include "tests/lib/scratch.h"

static struct worker_pool made(const struct worker_item *items, size_t n, unsigned max)
{
	struct worker_pool p;
	struct error err;

	assert_int_equal(worker_pool_init(&arena, &p, items, n, max, &err), 0);
	return p;
}

TEST(three_run_at_one_time_and_all_ten_succeed)
{
	static struct worker_item items[10];
	const struct worker_item *flying[3], *item;
	struct worker_pool p;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(items); i++)
		items[i] = (struct worker_item){"x", (double)i};
	p = made(items, COUNT(items), 3);
	while (!worker_pool_over(&p)) {
		while (worker_pool_next(&p, &item)) {
			assert_true(n < 3);
			flying[n++] = item;
		}
		worker_pool_ended(&p, flying[--n], WORKER_SUCCEEDED, NULL);
	}
	assert_int_equal(p.ended[WORKER_SUCCEEDED].n, 10);
	assert_int_equal(p.peak, 3);
}

/* One after the other, all good: the ids in the order in which they ran. */
static const char *order(const struct worker_item *items, size_t n)
{
	static char text[64];
	struct worker_pool p = made(items, n, 1);
	const struct worker_item *item;
	size_t at = 0;

	while (worker_pool_next(&p, &item)) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", item->id);
		worker_pool_ended(&p, item, WORKER_SUCCEEDED, NULL);
	}
	text[at] = '\0';
	return text;
}

TEST(the_highest_score_goes_first_and_equals_stay_in_order)
{
	static const struct worker_item scores[] = {{"low", .1}, {"mid", .5}, {"high", .9}};
	static const struct worker_item equal[] = {
		{"a", 1}, {"b", 2}, {"c", 1}, {"d", 2}, {"e", 1}, {"f", -1}, {"g", 2}};
	struct worker_item odd[] = {{"a", 0}, {"b", 1}, {"c", 0}, {"d", INFINITY}};

	assert_string_equal(order(scores, 3), "high mid low ");
	assert_string_equal(order(equal, COUNT(equal)), "b d g a c e f ");
	odd[0].score = (double)NAN;
	assert_string_equal(order(odd, COUNT(odd)), "d b c a ");
}

TEST(one_that_fails_leaves_the_others_alone)
{
	static const struct worker_item items[] = {{"ok", 0}, {"boom", 0}};
	struct worker_pool p = made(items, 2, 2);
	const struct worker_item *a, *b;
	char why[] = "kaboom";

	assert_true(worker_pool_next(&p, &a) && worker_pool_next(&p, &b));
	worker_pool_ended(&p, b, WORKER_FAILED, why);
	why[0] = '\0';
	worker_pool_ended(&p, a, WORKER_SUCCEEDED, NULL);
	assert_true(worker_pool_over(&p));
	assert_int_equal(p.ended[WORKER_SUCCEEDED].n, 1);
	assert_int_equal(p.ended[WORKER_FAILED].n, 1);
	assert_string_equal(p.ended[WORKER_FAILED].list[0].item->id, "boom");
	assert_string_equal(p.ended[WORKER_FAILED].list[0].why, "kaboom");
	assert_null(p.ended[WORKER_SUCCEEDED].list[0].why);
}

TEST(one_that_is_not_admitted_is_set_aside_and_not_tried_again)
{
	static const struct worker_item items[] = {{"a", 3}, {"b", 2}, {"c", 1}};
	struct worker_pool p = made(items, 3, 1);
	const struct worker_item *item;
	size_t tried = 0;

	while (worker_pool_next(&p, &item)) {
		tried++;
		worker_pool_ended(&p, item, item == &items[1] ? WORKER_DEFERRED : WORKER_SUCCEEDED,
			"not now");
	}
	assert_true(worker_pool_over(&p));
	assert_int_equal(tried, 3);
	assert_int_equal(p.ended[WORKER_DEFERRED].n, 1);
	assert_string_equal(p.ended[WORKER_DEFERRED].list[0].item->id, "b");
}

TEST(no_items_are_over_at_once_and_no_workers_are_refused)
{
	static const struct worker_item items[] = {{"a", 0}};
	struct worker_pool p = made(NULL, 0, 3);
	const struct worker_item *item;
	struct error err;

	assert_true(worker_pool_over(&p) && !worker_pool_next(&p, &item) && !item);
	assert_int_equal(worker_pool_init(&arena, &p, NULL, 0, 0, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(worker_pool_init(&arena, &p, items, 1, 0, &err), -1);
	p = made(items, 1, 5);
	assert_true(worker_pool_next(&p, &item) && !worker_pool_over(&p));
	worker_pool_ended(&p, item, WORKER_SUCCEEDED, NULL);
	assert_int_equal(p.peak, 1); /* no more than there are items */
}

UNIT_GROUP(NULL, arena_end)
