#include "tests/quota/crowd.h"

/* 304 operations. */
SCRATCH_TEST(a_crowd_never_gets_more_than_the_cap)
{
	crowd_works(1, 38, random_seed(NULL));
}
