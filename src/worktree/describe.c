/*
 * Allocations and entries of a pool as JSON and as text for people.
 */
#include "src/worktree/pool.h"

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

#define TEXT(key, value) JSON_IF((value) && *(value), JSON_TEXT(key, value))

json *port_list_json(unsigned first, unsigned n)
{
	json *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_push_int(list, first + i);
	return list;
}

json *port_report_json(const struct port_request *ask, const struct port_report *got)
{
	json *tried = json_array();

	for (size_t i = 0; i < got->answer.n_tried; i++)
		json_push_int(tried, got->answer.tried[i]);
	return JSON_OBJECT(JSON_TEXT("path", got->path), JSON_INT("basePort", ask->base),
		JSON_IF(got->candidate, JSON_INT("candidate", got->candidate)),
		JSON_INT("port", got->answer.first),
		JSON_VALUE("ports", port_list_json(got->answer.first, ask->count)),
		JSON_TEXT("source", port_source_word(got->source)), JSON_VALUE("attempted", tried));
}

json *allocation_json(const struct allocation *of)
{
	return JSON_OBJECT(TEXT("branch", of->branch), TEXT("slug", of->slug),
		TEXT("path", of->path), TEXT("repo", of->repo), TEXT("pool", of->pool),
		JSON_TEXT("state", states[of->state]), TEXT("base", of->base),
		TEXT("commit", of->tip), JSON_BOOL("madeBranch", of->made_branch),
		TEXT("sparse", of->sparse), JSON_IF(of->ports, JSON_INT("port", of->port)),
		JSON_IF(of->ports, JSON_VALUE("ports", port_list_json(of->port, of->ports))),
		JSON_IF(of->slots, JSON_INT("slots", of->slots)),
		JSON_IF(of->slots, JSON_INT("slotPorts", of->slot_ports)),
		JSON_IF(of->slots, JSON_VALUE("childPorts", port_list_json(of->port + of->ports,
								    of->slots * of->slot_ports))),
		TEXT("parent", of->parent), TEXT("run", of->run),
		JSON_IF(of->pid, JSON_INT("holder", of->pid)),
		JSON_IF(of->created, JSON_TIME("createdAt", of->created)));
}

char *allocation_ports(struct arena *a, const struct allocation *of)
{
	if (!of->ports)
		return arena_printf(a, "-");
	if (of->ports == 1)
		return arena_printf(a, "%u", of->port);
	return arena_printf(a, "%u-%u", of->port, of->port + of->ports - 1);
}

const char *pool_entry_status(const struct pool_entry *e)
{
	if (e->removed)
		return "removed";
	if (!e->recorded)
		return e->keep == KEEP_FOREIGN ? "foreign" : "unrecorded";
	if (e->of.state == ALLOCATION_LIVE && !e->there)
		return "gone";
	if (e->reason)
		return e->reason;
	return e->of.state == ALLOCATION_LIVE && e->stale ? "stale" : states[e->of.state];
}

json *pool_entry_json(const struct pool_entry *e)
{
	bool kept = e->keep != KEEP_NOTHING;

	return JSON_ADD(allocation_json(&e->of), JSON_TEXT("status", pool_entry_status(e)),
		JSON_BOOL("recorded", e->recorded), JSON_BOOL("there", e->there),
		JSON_BOOL("stale", e->stale), JSON_IF(e->changed, JSON_TIME("changed", e->changed)),
		JSON_IF(e->reason, JSON_TEXT("reason", e->reason)),
		JSON_IF(kept, JSON_TEXT("keep", keep_word(e->keep))),
		JSON_IF(kept, JSON_TEXT("why", e->why ? e->why : "")));
}
