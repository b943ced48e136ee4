#include "tests/lib/script_rig.h"

EXEC_TEST(short_runs_of_many_callers_are_one_run_too)
{
	pid_t pids[CALLERS];

	for (int round = 0; round < 10; round++) {
		sh("rm -f count");
		exec_document("echo x >>count", "logs/a.log", 600);
		ask_together(pids, arena_printf(&arena, "passed — log: %s", at("logs/a.log")));
		assert_one_run(pids);
	}
}
