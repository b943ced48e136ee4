#include "src/event/event.h"
#include "src/worktree/pool_internal.h"

/* The first ten attempts are reported. */
int port_tell(struct pool *p, const char *issue, const char *path, unsigned candidate,
	unsigned port, struct error *err)
{
	CLEANUP(json_free) json *fields = NULL;
	json *attempted = json_array();
	unsigned last = port && port < candidate + PROBES ? port : candidate + PROBES - 1;

	for (unsigned i = candidate; i <= last && i <= PORT_LAST; i++)
		json_push_int(attempted, (int64_t)i);
	fields = JSON_OBJECT(JSON_TEXT("worktreePath", path), JSON_INT("candidate", candidate),
		JSON_IF(port, JSON_INT("port", port)), JSON_VALUE("attempted", attempted));
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

int port_remember(struct pool *p, const char *issue, const struct allocation *of, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;

	if (!issue || !p->artifacts)
		return 0;
	members = JSON_OBJECT(JSON_TEXT("worktreePath", of->path),
		JSON_IF(of->branch, JSON_TEXT("branch", of->branch)), JSON_INT("port", of->port),
		JSON_VALUE("ports", port_list_json(of->port, of->ports)));
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
