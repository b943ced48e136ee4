#include "src/event/event.h"
#include "src/base/clock.h"
#include "src/schema/format.h"
#include "src/sys/path.h"

static const char events_file[] = "_events.jsonl";

static bool is_kind(const json *value, enum event_field_kind kind)
{
	switch (kind) {
	case EVENT_FIELD_TEXT:
		return json_is_string(value);
	case EVENT_FIELD_NUMBER:
		return json_is_number(value);
	case EVENT_FIELD_BOOL:
		return json_is_bool(value);
	case EVENT_FIELD_LIST:
		return json_is_array(value);
	default:
		return json_is_object(value);
	}
}

static bool has_field(const struct event_type *type, const char *name)
{
	for (const struct event_field *f = type->fields; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return true;
	return false;
}

static int check_fields(const struct event_type *type, const json *fields, struct error *err)
{
	for (const struct event_field *f = type->fields; f->name; f++) {
		const json *value = json_get(fields, f->name);

		if (value ? !is_kind(value, f->kind) : !f->optional)
			return error_set(err, ERR_SYSTEM, "field '%s' of event '%s' is %s", f->name,
				type->name, value ? "of the wrong kind" : "missing");
	}
	for (const json *m = json_first(fields); m; m = json_next(m))
		if (!has_field(type, json_key(m)))
			return error_set(err, ERR_SYSTEM, "event '%s' has no field '%s'",
				type->name, json_key(m));
	return 0;
}

static bool about_issue(const struct event *e)
{
	return e->issue && strcmp(e->issue, PIPELINE_SCOPE) != 0;
}

static json *event_json(const struct event *e)
{
	const struct event_type *type = event_type(e->id);
	json *line = json_object();
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	json_put_str(line, "type", str_of(type->name));
	json_put_str(line, "timestamp", str_of(now));
	json_put_str(line, "severity", str_of(type->severity));
	if (about_issue(e))
		json_put_str(line, "issueId", str_of(e->issue));
	if (e->stage)
		json_put_str(line, "stage", str_of(e->stage));
	for (const json *m = json_first(e->fields); m; m = json_next(m))
		json_put(line, json_key(m), json_copy(m));
	return line;
}

int event_emit(const char *dir, const struct event *e, struct error *err)
{
	CLEANUP(json_free) json *line = NULL;

	if (check_fields(event_type(e->id), e->fields, err) < 0)
		return -1;
	if (about_issue(e) && path_check_id(e->issue, err) < 0)
		return -1;
	if (e->stage && str_utf8_fault(str_of(e->stage)))
		return error_set(err, ERR_USAGE, "the name of a stage is not UTF-8");
	if (!dir)
		return 0;
	line = event_json(e);
	return artifact_append(dir, NULL, events_file, line, err);
}

/* Other programs may write timestamps that are not RFC 3339: those compare as text. */
static bool earlier(const char *timestamp, const char *since)
{
	int64_t t, s;

	if (format_time_parse(str_of(timestamp), &t) && format_time_parse(str_of(since), &s))
		return t < s;
	return strcmp(timestamp, since) < 0;
}

static bool selected(const json *event, const char *since, const char *type)
{
	return (!since || !earlier(json_get_str(event, "timestamp"), since)) &&
	       (!type || strcmp(json_get_str(event, "type"), type) == 0);
}

static bool is_event(const json *line)
{
	return json_is_object(line) && json_get_str(line, "type") &&
	       json_get_str(line, "timestamp");
}

int event_list(const char *dir, const char *since, const char *type, json **out, size_t *skipped,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t invalid = 0;
	bool missing;

	*out = NULL;
	if (artifact_read_text(dir, NULL, events_file, &text, &missing, err) < 0)
		return -1;
	*out = json_array();
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *event = NULL;
		struct error why;

		if (!str_trim(line).n)
			continue;
		if (json_parse(&event, line, &why) < 0 || !is_event(event))
			invalid++;
		else if (selected(event, since, type))
			json_push(*out, json_copy(event));
	}
	if (skipped)
		*skipped = invalid;
	return 0;
}
