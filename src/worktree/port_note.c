#include "src/event/event.h"
#include "src/worktree/pool_internal.h"

/* The first ten attempts are reported. */
int port_tell(struct pool *p, const char *issue, const char *path, unsigned candidate,
	unsigned port, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();
	json *attempted = json_array();
	unsigned last = port && port < candidate + PROBES ? port : candidate + PROBES - 1;

	for (unsigned i = candidate; i <= last && i <= PORT_LAST; i++)
		json_push_int(attempted, (int64_t)i);
	json_put_str(fields, "worktreePath", str_of(path));
	json_put_int(fields, "candidate", candidate);
	if (port)
		json_put_int(fields, "port", port);
	json_put(fields, "attempted", attempted);
	return event_emit(p->artifacts,
		&(struct event){.id = EVENT_PORT_COLLISION, .issue = issue, .fields = fields}, err);
}

int port_note(struct pool *p, const struct allocate_ask *ask, const struct allocation *of,
	struct error *err)
{
	unsigned candidate;

	if (of->parent || (ask->port && *ask->port))
		return 0;
	if (port_candidate(of->path, p->base_port, &candidate, err) < 0)
		return -1;
	/* A port farther away belongs to an earlier stage. */
	if (of->port <= candidate || of->port - candidate >= PORT_SPAN)
		return 0;
	return port_tell(p, ask->issue, of->path, candidate, of->port, err);
}

static json *port_list(const struct allocation *of)
{
	json *list = json_array();

	for (unsigned i = 0; i < of->ports; i++)
		json_push_int(list, (int64_t)(of->port + i));
	return list;
}

int port_remember(struct pool *p, const char *issue, const struct allocation *of, struct error *err)
{
	CLEANUP(json_free) json *members = json_object();

	if (!issue || !p->artifacts)
		return 0;
	json_put_str(members, "worktreePath", str_of(of->path));
	if (of->branch)
		json_put_str(members, "branch", str_of(of->branch));
	json_put_int(members, "port", of->port);
	json_put(members, "ports", port_list(of));
	return artifact_merge_runtime(p->artifacts, issue, members, err);
}

int port_recall(
	struct pool *p, const char *issue, const char *path, unsigned *port, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const char *where;
	int64_t first;

	*port = 0;
	if (!issue || !p->artifacts)
		return 0;
	if (artifact_read_runtime(p->artifacts, issue, &j, err) < 0)
		return -1;
	where = json_get_str(j, "worktreePath");
	first = json_get_int(j, "port", 0);
	if (where && strcmp(where, path) == 0 && first > 0 && first <= PORT_LAST)
		*port = (unsigned)first;
	return 0;
}
