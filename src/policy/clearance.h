/*
 * clearance.h: which persona works under which policy, and with which tools: the file
 * `.dev-team/clearance.yaml` of a repository. Without the file nothing is configured.
 *
 *   personas:
 *     task-runner: {policy: developer}
 *     reviewer: {policy: readonly, tools: [Bash, Read, "mcp__docs__*"]}
 *   bash: check          # or exec: what the hook makes of an allowed command
 *
 * A persona that is not named is denied. `plugin:name` is looked up as it is, then as `name`. One
 * without a policy may run no commands.
 */
#ifndef DT_POLICY_CLEARANCE_H
#define DT_POLICY_CLEARANCE_H

#include "src/policy/policy.h"
#include "src/shell/verdict.h"

struct persona {
	const char *name;
	const char *policy; /* as policy_load() takes it; NULL: none */
	bool tools_listed;  /* else every tool */
	struct texts tools;
};

struct clearance {
	const char *file;
	struct persona *personas;
	size_t n;
	bool exec; /* allowed commands are run by `policy exec` */
};

/* `*there` is false where there is no such file. -1: ERR_INPUT with the place. */
int clearance_load(
	struct arena *a, const char *file, struct clearance *out, bool *there, struct error *err);
/* The persona of that name, or -1 with *v (PERSONA). */
int clearance_persona(
	const struct clearance *c, struct str name, const struct persona **out, struct verdict *v);
/* 0 or -1 with *v (TOOL): not listed, or `Bash` for a persona without a policy. */
int clearance_tool(const struct persona *p, struct str tool, struct verdict *v);

#endif
