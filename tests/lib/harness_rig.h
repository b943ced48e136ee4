/*
 * harness_rig.h: fake programs of the harnesses: shell scripts in a directory that is first on
 * PATH. Tests run inside the scratch directory.
 */
#ifndef DT_TESTS_HARNESS_RIG_H
#define DT_TESTS_HARNESS_RIG_H

#include <sys/stat.h>
#include "src/config/resource.h"
#include "src/harness/adapter.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

extern struct error harness_err;
extern struct harness_result harness_got;
extern struct harness_availability harness_seen;

/* The words of the events of a run: "started progress completed". */
extern struct buf harness_events;

int harness_rig_enter(void **state);
int harness_rig_leave(void **state);
const char *stand_in_path(const char *program);
void stand_in(const char *program, const char *script);
void no_stand_in(const char *program);
void harness_note_event(void *data, const struct harness_event *e);
int harness_rig_invoke(const struct harness *h, struct harness_input input);

/* The status of the last run; "limited": unavailable because of a limit of the rate. */
const char *harness_outcome(void);

/* What becomes of a run of the program with this script. */
struct harness_case {
	const char *outcome, *script, *detail; /* detail NULL: any */
};
void harness_assert_cases(
	const struct harness *h, const char *program, const struct harness_case *cases, size_t n);

/* Runs the script as `claude` and returns the name of the result's status. */
const char *run_claude(const char *script);
const char *harness_probed(const struct harness *h, unsigned seconds);

/* claude-code is installed, codex too but without a version, no other one is. */
const struct harness_availability *harness_rig_available(const struct harness *h);

/* "a b c" as a list; NULL: empty. */
struct text_list words(const char *text);
/* Types of the events in `artifacts`, which is removed. */
const char *harness_rig_event_types(void);

#define RESULT_LINE                                                                                \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\","     \
	"\"total_cost_usd\":0.25,\"num_turns\":2,\"modelUsage\":{\"claude-sonnet-4-6\":"           \
	"{\"inputTokens\":120,\"outputTokens\":30,\"cacheReadInputTokens\":7}}}"

#endif
