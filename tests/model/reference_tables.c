#include "tests/model/reference_tables.h"

#define BRIEF   "Researcher Brief,"
#define SUMMARY "Implementation Summary,"
#define RESULTS "-Signoff Review, -Signoff Research, -Signoff Build Result, "

const struct action reference_actions[] = {
	{"spec-finding", "spec_path", NULL, "", BUILTIN, 0, {{"", "spec_found"}}},
	{"debugging", "Debug Report", "debugger", "", BUILTIN, 0,
		{{"reproduced", "debug_done"}, {"not_reproduced", "reproduction_failed"}}},
	{"researching", "Researcher Brief", "researcher", "Debug Report,", BUILTIN, 0,
		{{"briefed", "research_done"}, {"failed", "again"},
			{"needs_clarification", "ask"}}},
	{"implementing", "Implementation Summary", "developer", BRIEF, BUILTIN, EVIDENCE_WORK,
		{{"implemented", "impl_done"}, {"failed", "again"},
			{"needs_clarification", "ask"}}},
	{"validating", "Validate Result", NULL, "", BUILTIN, EVIDENCE_TREE,
		{{"passed", "clean"}, {"failed", "build_failed"}}},
	{"fixing", "Fix", "developer", BRIEF "Last Failure," SUMMARY "Fix,", BUILTIN, EVIDENCE_WORK,
		{{"fixed", "fix_done"}, {"failed", "again"}, {"needs_clarification", "ask"}}},
	{"reviewing", "PR URL", "developer", BRIEF SUMMARY "Fix,", URL, EVIDENCE_PULL,
		{{"pr_created", "-"}, {"failed", "again"}}},
	{"reviewing", "Review Notes", "reviewer", BRIEF, BUILTIN, EVIDENCE_REVIEW,
		{{"approved", "approved"}, {"changes_requested", "changes_requested"}}},
	{"fixing-pr", "Fix", "developer", BRIEF "Review Notes," SUMMARY "Fix,", BUILTIN,
		EVIDENCE_WORK,
		{{"fixed", "fix_done"}, {"failed", "again"}, {"needs_clarification", "ask"}}},
	{"signoff", "Signoff Review", "reviewer", BRIEF, BUILTIN, EVIDENCE_REVIEW,
		{{"approved", "approved"}, {"changes_requested", "changes_requested"}}},
	{"signoff", "Signoff Research", "researcher", BRIEF SUMMARY "Fix,", BUILTIN,
		EVIDENCE_REVIEW, {{"validated", "approved"}, {"failed", "changes_requested"}}},
	{"signoff", "Signoff Build Result", NULL, "", BUILTIN, EVIDENCE_TREE,
		{{"passed", "approved"}, {"failed", "changes_requested"}}},
	{"troubleshooter", LOG, "troubleshooter", "", DECLARED, 0,
		{{"continue", ""}, {"terminate", ""}, {"needs_user_input", ""}}},
	{0},
};

const struct state_change reference_changes[] = {
	{"spec-finding", "lacks", "!spec, +spec_path"},
	{"debugging", "entered", "=Debug Report"},
	{"debugging", "reproduction_failed", "+Last Failure"},
	{"researching", "entered", "=Researcher Brief"},
	{"implementing", "entered", "=Implementation Summary"},
	{"validating", "entered", "-Validate Result"},
	{"validating", "clean", "!push, -Validate Result, -Last Failure"},
	{"validating", "build_failed", "-Validate Result, +Last Failure"},
	{"fixing", "fix_done", "1fix_iteration"},
	{"reviewing", "entered", "-Review Notes"},
	{"reviewing", "-", "+pr_url"},
	{"reviewing", "approved", "1review_cycle_count"},
	{"reviewing", "changes_requested", "1review_cycle_count"},
	{"fixing-pr", "requests", "?checks"},
	{"fixing-pr", "fix_done", "1review_fix_iteration, -Review Notes"},
	{"signoff", "entered", RESULTS},
	{"signoff", "requests", "!push"},
	{"signoff", "approved", RESULTS "-Last Failure, -signoff_cycle_count, -review_cycle_count"},
	{"signoff", "changes_requested",
		RESULTS "+Last Failure, +Review Notes, 1signoff_cycle_count"},
	{0},
};

#define LIMIT(member) offsetof(struct workflow_limits, member)

const struct limit reference_limits[] = {
	{"consecutive_failures", "consecutive_failures", NULL, LIMIT(consecutive_failures)},
	{"signoff_cycle_count", "signoff_deadlock", NULL, LIMIT(signoff_deadlock)},
	{"review_cycle_count", "review_loop", NULL, LIMIT(review_loop)},
	{"actions_dispatched", "budget_exceeded", NULL, LIMIT(max_actions)},
	{"fix_iteration", "max_retries", "fixing", LIMIT(max_fix_iterations)},
	{"review_fix_iteration", "max_retries", "fixing-pr", LIMIT(max_review_fix_iterations)},
	{0},
};
