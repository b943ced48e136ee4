/*
 * The counters of a document, as a list: the including file defines what becomes of an entry. Those
 * with a trigger are in order of precedence. docs/steps.md has the same texts.
 *
 * COUNTER_LOOP(key, limit, state, counts, reset): at its limit `state` gives `max_retries`.
 * COUNTER_TRIGGER(key, limit, trigger, counts, reset): at its limit the troubleshooter is called.
 * COUNTER_BUDGET: the same, but the troubleshooter must not set it; if it is not defined, the same.
 * COUNTER_FIXED(key, counts, reset): no workflow gives it another limit.
 *
 * `limit` is a member of struct workflow_limits.
 */
#ifndef COUNTER_LOOP
#define COUNTER_LOOP(key, limit, state, counts, reset)
#endif
#ifndef COUNTER_TRIGGER
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset)
#endif
#ifndef COUNTER_BUDGET
#define COUNTER_BUDGET COUNTER_TRIGGER
#endif
#ifndef COUNTER_FIXED
#define COUNTER_FIXED(key, counts, reset)
#endif

/* clang-format off */
COUNTER_LOOP(fix_iteration, max_fix_iterations, "fixing",
	"a fix after validation",
	"`retry`, which adds it to `earlier_fixes`")
COUNTER_LOOP(review_fix_iteration, max_review_fix_iterations, "fixing-pr",
	"a fix after a review",
	"`retry`, which adds it to `earlier_fixes`")
COUNTER_TRIGGER(consecutive_failures, consecutive_failures, "consecutive_failures",
	"agents returned without any answer; an agent answered `failed`; an answer could not be used or contradicted the evidence; a review that ran into its time limit sets it to the limit",
	"an answer of an agent that is used or asks for clarification; a partly answered array; `continue` of the troubleshooter")
COUNTER_TRIGGER(signoff_cycle_count, signoff_deadlock, "signoff_deadlock",
	"a refused or void sign-off",
	"a successful one")
COUNTER_TRIGGER(review_cycle_count, review_loop, "review_loop",
	"a completed review; a void approval of a declared state",
	"a successful sign-off")
COUNTER_BUDGET(actions_dispatched, max_actions, "budget_exceeded",
	"every action",
	"the troubleshooter answers `budget_exceeded` with `continue`")
COUNTER_FIXED(budget_extensions,
	"the troubleshooter answers `budget_exceeded` with `continue`",
	"a `continue` after the user has answered sets it to 1")
COUNTER_FIXED(troubleshooter_calls,
	"every call of the troubleshooter",
	"a transition of the workflow; the user's answer; the cause of a call is gone before it is answered")
COUNTER_FIXED(earlier_fixes,
	"fixes before the last `retry`",
	"never")
COUNTER_FIXED(usage_waits,
	"waits for a usage limit",
	"a good answer")
/* clang-format on */

#undef COUNTER_LOOP
#undef COUNTER_TRIGGER
#undef COUNTER_BUDGET
#undef COUNTER_FIXED
