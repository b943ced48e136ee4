/*
 * clearance.h: which persona works under which policy, and with which tools: the file
 * `.dev-team/clearance.yaml` of a repository (docs/policy.md). A persona that is not named is
 * denied. `plugin:name` is looked up as it is, then as `name`.
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
};

/* `*there` is false where there is no such file. -1: ERR_INPUT with the place. */
int clearance_load(
	struct arena *a, const char *file, struct clearance *out, bool *there, struct error *err);
/* -1 with *v (PERSONA) */
int clearance_persona(
	const struct clearance *c, struct str name, const struct persona **out, struct verdict *v);
/* `tool` is the pattern itself, or begins with it up to a `*` at its end. */
bool clearance_tool_matches(const char *pattern, struct str tool);
/* 0 or -1 with *v (TOOL): not listed, or `Bash` for a persona without a policy. */
int clearance_tool(const struct persona *p, struct str tool, struct verdict *v);

/*
 * The clearance file for a call from `directory`: in it, in the nearest one above it, or in the
 * repository whose worktree it is. NULL: there is none.
 */
char *clearance_find(struct arena *a, const char *directory);
/*
 * Projects that have had a clearance file are remembered in the state directory, since an agent
 * that may change branches can make the file vanish. The user removes the mark to forget the
 * project. Failing to remember is ignored.
 */
void clearance_mark(struct arena *a, const char *directory);
/* The mark of `directory` or of the nearest directory above it; NULL: there is none. */
char *clearance_marked(struct arena *a, const char *directory);

#endif
