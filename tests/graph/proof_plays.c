/* More of the random graphs and manifests. */
#include "tests/graph/plays.h"
#include "tests/lib/unit.h"

enum { GRAPHS = 100000, MANIFESTS = 100000 };

TEST(the_frontier_of_many_random_graphs_is_that_of_the_model)
{
	play_graphs(3501, GRAPHS);
}

TEST(many_random_manifests_run_as_the_model_says)
{
	play_manifests(3502, MANIFESTS);
}
