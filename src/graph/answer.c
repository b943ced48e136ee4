/*
 * answer.c: what the JSON of an answer may say beside its status: flags, artifacts and tasks of the
 * project, and events, each checked against its type.
 */
#include "src/graph/manifest.h"

/* The document keeps the events of a run: they must not fill it. */
enum { NAME_MAX_BYTES = 64, TEXT_MAX_BYTES = 4096, EVENTS_MAX_BYTES = 65536 };

const struct domain_event domain_events[] = {{"requirements_defined", false},
	{"tasks_planned", false}, {"task_blocked", false}, {"validation_passed", false},
	{"code_committed", true}, {"validation_failed", true}, {"branch_merged", true},
	{"merge_conflict_detected", true}, {"merge_conflict_resolved", true},
	{"merge_conflict_unresolved", true}, {"merge_retry_started", true}, {NULL, false}};

static const struct domain_event *find_type(const char *name)
{
	const struct domain_event *t = domain_events;

	while (t->name && strcmp(t->name, name) != 0)
		t++;
	return t->name ? t : NULL;
}

bool manifest_has_event(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->n_events; i++)
		if (!strcmp(m->events[i].name, name))
			return true;
	return find_type(name) != NULL;
}

json *manifest_events_json(const struct manifest *m)
{
	json *all = json_object();

	for (size_t i = 0; i < m->n_events; i++) {
		json *fields = json_object();

		for (size_t k = 0; k < m->events[i].n_payload; k++)
			json_put_str(fields, m->events[i].payload[k].name,
				str_of(m->events[i].payload[k].type));
		json_put(all, m->events[i].name, fields);
	}
	return all;
}

const char *answer_event_name(const json *event)
{
	return json_is_string(event) ? json_text(event) : json_get_str(event, "type");
}

/* A key of the store, and a name in conditions. */
static bool graph_answer_is_name(const char *s)
{
	return s && *s && strlen(s) <= NAME_MAX_BYTES &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
		       strlen(s);
}

static bool is_short(const json *j)
{
	return json_is_string(j) && *json_text(j) && strlen(json_text(j)) <= TEXT_MAX_BYTES;
}

static bool is_bool(const json *j)
{
	return json_is_bool(j);
}

/* An artifact is a path below the item's directory. */
static bool is_pointer(const json *j)
{
	return is_short(j) && json_text(j)[0] != '/' && !strstr(json_text(j), "..");
}

static const char *map_fault(struct arena *a, const json *answer, const char *member,
	bool (*valid)(const json *), const char *what)
{
	const json *map = json_get(answer, member);

	if (!map)
		return NULL;
	if (!json_is_object(map))
		return arena_printf(a, "'%s' must be an object of names and %s", member, what);
	for (const json *m = json_first(map); m; m = json_next(m))
		if (!graph_answer_is_name(json_key(m)) || !valid(m))
			return arena_printf(a,
				"'%s': '%.64s' must be a name of letters, digits, '_', '-' and '.' "
				"with %s",
				member, json_key(m), what);
	return NULL;
}

static const char *tasks_fault(struct arena *a, const json *answer)
{
	const json *list = json_get(answer, "tasks");

	if (list && !json_is_array(list))
		return "'tasks' must be a list";
	for (const json *t = json_first(list); t; t = json_next(t))
		if (!json_is_object(t) || json_len(t) != 2 ||
			!graph_answer_is_name(json_get_str(t, "id")) ||
			!is_short(json_get(t, "title")))
			return arena_printf(a,
				"'tasks' must have objects with 'id', a name, and "
				"'title', a text of up to %d bytes, and nothing else",
				TEXT_MAX_BYTES);
	return NULL;
}

static bool graph_answer_has_type(const json *value, const char *type)
{
	return !strcmp(type, "text")      ? json_is_string(value)
	       : !strcmp(type, "number")  ? json_is_number(value)
	       : !strcmp(type, "boolean") ? json_is_bool(value)
	       : !strcmp(type, "list")    ? json_is_array(value)
					  : json_is_object(value);
}

static const char *payload_fault(
	struct arena *a, const char *name, const json *payload, const json *fields)
{
	for (const json *f = json_first(fields); f; f = json_next(f)) {
		const json *value = json_get(payload, json_key(f));

		if (!value || !graph_answer_has_type(value, json_text(f)))
			return arena_printf(a, "event '%.64s': 'payload' needs '%.64s', a %s", name,
				json_key(f), json_text(f));
	}
	for (const json *m = json_first(payload); m; m = json_next(m))
		if (!json_get(fields, json_key(m)))
			return arena_printf(a, "event '%.64s': unknown member '%.64s' of 'payload'",
				name, json_key(m));
	return NULL;
}

static const char *event_fault(struct arena *a, const json *event, const json *declared)
{
	const char *name = answer_event_name(event);
	const struct domain_event *type = name ? find_type(name) : NULL;
	const json *payload = json_get(event, "payload"), *fields;

	if (!name)
		return "'events' must have names, or objects with 'type' and 'payload'";
	if (payload && !json_is_object(payload))
		return arena_printf(a, "event '%.64s': 'payload' must be an object", name);
	fields = json_get(declared, name);
	if (fields)
		return payload_fault(a, name, payload, fields);
	if (!type)
		return arena_printf(
			a, "unknown event '%.64s': the manifest does not declare it", name);
	return type->observed ? arena_printf(a, "event '%.64s' is observed, not claimed", name)
			      : NULL;
}

static const char *events_fault(struct arena *a, const json *answer, const json *declared)
{
	const json *list = json_get(answer, "events");
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *fault = NULL;

	if (list && !json_is_array(list))
		return "'events' must be a list";
	if (list)
		json_print(&text, list);
	if (text.len > EVENTS_MAX_BYTES)
		return arena_printf(a,
			"the events of an answer may have %d bytes, not %zu: give the path of a "
			"file "
			"as an artifact",
			EVENTS_MAX_BYTES, text.len);
	for (const json *e = json_first(list); e && !fault; e = json_next(e))
		fault = event_fault(a, e, declared);
	return fault;
}

const char *answer_updates_fault(struct arena *a, const json *answer, const json *declared)
{
	size_t n = json_len(json_get(answer, "flags")) + json_len(json_get(answer, "artifacts")) +
		   json_len(json_get(answer, "tasks"));
	const char *fault = map_fault(a, answer, "flags", is_bool, "true or false");

	if (!fault)
		fault = map_fault(a, answer, "artifacts", is_pointer,
			"the path of a file below the item's directory");
	if (!fault)
		fault = tasks_fault(a, answer);
	if (!fault)
		fault = events_fault(a, answer, declared);
	if (!fault && n > MANIFEST_UPDATES_MAX)
		fault = arena_printf(a,
			"an answer may have %d flags, artifacts and tasks together, not %zu",
			MANIFEST_UPDATES_MAX, n);
	return fault;
}
