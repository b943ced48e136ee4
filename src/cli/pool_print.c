#include "src/base/clock.h"
#include "src/cli/pool.h"

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

const char *state_word(enum allocation_state s)
{
	return states[s];
}

static void put_text(json *j, const char *key, const char *value)
{
	if (value && *value)
		json_put_str(j, key, str_of(value));
}

static json *numbers(unsigned first, unsigned n)
{
	json *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_push_int(list, first + i);
	return list;
}

json *allocation_json(const struct allocation *of)
{
	json *j = json_object();
	char created[CLOCK_TEXT];

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
		json_put(j, "ports", numbers(of->port, of->ports));
	}
	if (of->slots) {
		json_put_int(j, "slots", of->slots);
		json_put_int(j, "slotPorts", of->slot_ports);
		json_put(
			j, "childPorts", numbers(of->port + of->ports, of->slots * of->slot_ports));
	}
	put_text(j, "parent", of->parent);
	put_text(j, "run", of->run);
	if (of->pid)
		json_put_int(j, "holder", of->pid);
	if (of->created) {
		clock_text(of->created, created);
		json_put_str(j, "createdAt", str_of(created));
	}
	return j;
}

void ports_text(struct buf *out, const struct allocation *of)
{
	if (!of->ports)
		buf_addc(out, '-');
	else if (of->ports == 1)
		buf_addf(out, "%u", of->port);
	else
		buf_addf(out, "%u-%u", of->port, of->port + of->ports - 1);
}

void put_line(struct buf *out, json *j)
{
	json_print(out, j);
	buf_addc(out, '\n');
	json_free(&j);
}
