/*
 * Allocations and entries of a pool as JSON and as text for people.
 */
#include "src/base/clock.h"
#include "src/worktree/pool.h"

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

static void put_time(json *j, const char *key, int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	json_put_str(j, key, str_of(text));
}

static void put_text(json *j, const char *key, const char *value)
{
	if (value && *value)
		json_put_str(j, key, str_of(value));
}

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
	json *j = json_object();

	put_text(j, "branch", of->branch);
	put_text(j, "slug", of->slug);
	put_text(j, "path", of->path);
	put_text(j, "repo", of->repo);
	put_text(j, "pool", of->pool);
	json_put_str(j, "state", str_of(states[of->state]));
	put_text(j, "base", of->base);
	put_text(j, "commit", of->tip);
	json_put_bool(j, "madeBranch", of->made_branch);
	put_text(j, "sparse", of->sparse);
	if (of->ports) {
		json_put_int(j, "port", of->port);
		json_put(j, "ports", port_list_json(of->port, of->ports));
	}
	if (of->slots) {
		json_put_int(j, "slots", of->slots);
		json_put_int(j, "slotPorts", of->slot_ports);
		json_put(j, "childPorts",
			port_list_json(of->port + of->ports, of->slots * of->slot_ports));
	}
	put_text(j, "parent", of->parent);
	put_text(j, "run", of->run);
	if (of->pid)
		json_put_int(j, "holder", of->pid);
	if (of->created)
		put_time(j, "createdAt", of->created);
	return j;
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
	json *j = allocation_json(&e->of);

	json_put_str(j, "status", str_of(pool_entry_status(e)));
	json_put_bool(j, "recorded", e->recorded);
	json_put_bool(j, "there", e->there);
	json_put_bool(j, "stale", e->stale);
	if (e->changed)
		put_time(j, "changed", e->changed);
	if (e->reason)
		json_put_str(j, "reason", str_of(e->reason));
	if (e->keep != KEEP_NOTHING) {
		json_put_str(j, "keep", str_of(keep_word(e->keep)));
		json_put_str(j, "why", str_of(e->why ? e->why : ""));
	}
	return j;
}
