#include <errno.h>
#include <strings.h>
#include "src/policy/trail.h"

/*
 * git runs what its directory says (hooks, filters, editors), and agents, editors and servers what
 * their settings say: who writes these decides what runs next, outside of any policy.
 */
const char *const guarded_names[] = {".git", ".claude", ".mcp.json", ".codex", ".gemini", ".cursor",
	".opencode", "opencode.json", ".aider.conf.yml", ".dev-team", ".vscode", ".idea", ".envrc",
	".husky", ".gitmodules", NULL};
const char *const guarded_workflows = ".github/workflows";

/* On some file systems `.GIT` is the same directory. */
static bool part_is(struct str part, const char *name)
{
	return part.n == strlen(name) && !strncasecmp(part.p, name, part.n);
}

static bool has_fixed(struct str rel, const char **by)
{
	struct str part;

	while (path_part(&rel, &part))
		for (size_t i = 0; guarded_names[i]; i++)
			if (part_is(part, guarded_names[i])) {
				*by = guarded_names[i];
				return true;
			}
	return false;
}

static bool meets(struct str rel, struct str kept, bool whole)
{
	struct str rest;

	return path_below(rel, kept, &rest) || (whole && path_below(kept, rel, &rest));
}

/* The same with what `kept` leads to when it, or a directory on its way, is a link. */
static bool meets_real(const struct root *r, struct str rel, const char *kept, bool whole)
{
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;

	if (trail_follow(r, STR(""), str_of(kept), false, &t) < 0 || !t.below)
		return false;
	return meets(rel, t.rel, whole);
}

bool guard_linked(const struct root *r)
{
	char to[1];

	for (size_t i = 0; guarded_names[i]; i++)
		if (readlinkat(r->fd, guarded_names[i], to, sizeof(to)) >= 0)
			return true;
	return false;
}

static bool meets_listed(
	const struct root *r, const struct policy *p, struct str rel, bool whole, const char **by)
{
	for (size_t i = 0; i < p->protect.n; i++) {
		struct str kept = str_of(*by = p->protect.p[i]);

		while (str_starts(kept, "./"))
			kept = str_sub(kept, 2, kept.n);
		if (kept.n && (meets(rel, kept, whole) || meets_real(r, rel, *by, whole)))
			return true;
	}
	return false;
}

bool guarded(
	const struct root *r, const struct policy *p, struct str rel, bool whole, const char **by)
{
	if (has_fixed(rel, by))
		return true;
	*by = guarded_workflows;
	if (meets(rel, str_of(guarded_workflows), whole))
		return true;
	*by = guarded_names[0];
	if (whole && !rel.n)
		return true;
	if (r->inner_git && meets(rel, str_of(r->inner_git), whole))
		return true;
	for (size_t i = 0; r->linked && guarded_names[i]; i++) {
		*by = guarded_names[i];
		if (meets_real(r, rel, *by, whole))
			return true;
	}
	return meets_listed(r, p, rel, whole, by);
}
