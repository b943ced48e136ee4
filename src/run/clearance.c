/*
 * clearance.c: the tools of an attempt of a node, where the clearance file of the repository leaves
 * fewer than the manifest. They are in the action, so that whoever carries it out looks at nothing
 * else.
 */
#include "src/graph/manifest.h"
#include "src/machine/brief.h"
#include "src/policy/clearance.h"
#include "src/run/locate.h"
#include "src/run/run_internal.h"

/* A pattern, such as `Bash(git log:*)`, is allowed where its tool is. */
static bool clearance_allows(const struct persona *by, const char *tool)
{
	struct verdict ignored = {0};

	return by && clearance_tool(by, (struct str){tool, strcspn(tool, "(")}, &ignored) == 0;
}

/* A role without `tools:` has every tool but those that it disallows. */
static bool role_allows(const struct instructions *role, const char *tool)
{
	return !role->tools || str_in(str_of(tool), role->tools) ||
	       (!role->listed && !str_in(str_of(tool), instructions_all_tools));
}

/* The tools that may be left: those of the persona, of its role, or of the clearance file. */
static struct text_list candidates(struct arena *a, const struct manifest_persona *p,
	const struct instructions *role, const struct persona *by)
{
	const char *const *all = role->tools ? role->tools : instructions_all_tools;
	VEC(const char *) list = {0};

	if (p->tools.n)
		return p->tools;
	if (!role->listed && by && by->tools_listed)
		return (struct text_list){by->tools.p, by->tools.n};
	for (; *all; all++)
		vec_push_in(a, &list, *all);
	return (struct text_list){list.items, list.n};
}

/* NULL: the file leaves every tool. */
static const struct text_list *narrower(struct arena *a, const struct manifest_persona *p,
	const struct instructions *role, const struct persona *by)
{
	struct text_list from = candidates(a, p, role, by), *out = arena_alloc(a, sizeof(*out));
	bool from_file = by && by->tools_listed && from.list == by->tools.p;
	VEC(const char *) left = {0};

	for (size_t i = 0; i < from.n; i++)
		if (clearance_allows(by, from.list[i]) &&
			(p->tools.n || role_allows(role, from.list[i])))
			vec_push_in(a, &left, from.list[i]);
	*out = (struct text_list){left.items, left.n};
	return left.n < from.n || from_file ? out : NULL;
}

static int find_clearance(struct arena *a, struct run_entry *e, struct error *err)
{
	const char *file;
	bool there = false;

	if (e->clearance_known)
		return 0;
	e->clearance_known = true;
	if (!(file = clearance_find(a, e->repo ? e->repo : ".")))
		return 0;
	e->clearance = arena_alloc(a, sizeof(*e->clearance));
	if (locate_plugin(a, e->plugin_root, &e->plugin_root, err) < 0 ||
		clearance_load(a, file, e->clearance, &there, err) < 0)
		return -1;
	if (!there)
		e->clearance = NULL;
	return 0;
}

void run_clearance_admit(struct run_entry *e, struct arena *a, const struct step_request *request,
	struct admission *out)
{
	const struct manifest_persona *p = request->node ? request->node->actor : NULL;
	const char *name = request->agent;
	const struct persona *by = NULL;
	struct verdict ignored = {0};
	struct instructions role;

	if (!p || out->answer == ADMISSION_WAIT || out->answer == ADMISSION_NO)
		return;
	if (find_clearance(a, e, &out->error) < 0 ||
		(e->clearance && instructions_agent(a, e->plugin_root, e->repo, name, &role,
					 &out->error) < 0)) {
		out->answer = ADMISSION_FAILED;
		return;
	}
	if (!e->clearance)
		return;
	if (!e->call->client)
		name = locate_agent_type(a, e->plugin_root, name);
	(void)clearance_persona(e->clearance, str_of(name), &by, &ignored);
	out->tools = narrower(a, p, &role, by);
	if (out->tools)
		out->answer = ADMISSION_YES;
}
