#include "tests/quota/crowd.h"

/* 5,120 operations. */
SCRATCH_TEST(a_large_crowd_never_gets_more_than_the_cap)
{
	crowd_works(80, 8, random_seed(NULL));
}
