#include "tests/lib/walk_rig.h"

enum { WALKS = 24 };

ENGINE_TEST(any_order_of_calls_tells_a_story_that_holds)
{
	unsigned ends[2] = {0};

	for (unsigned i = 0; i < WALKS; i++)
		engine_walk(i, ends);
	assert_true(ends[0] > 2); /* the walks get somewhere */
	assert_true(ends[1] > 2);
}
