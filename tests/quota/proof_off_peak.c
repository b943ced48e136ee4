#include "tests/quota/off_peak_model.h"

/* 100,000 instants. */
UNIT_TEST(many_random_schedules, NULL, arena_end)
{
	compare_schedules(1000, random_seed(NULL));
}
