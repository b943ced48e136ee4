#include "src/event/artifact_internal.h"
#include "src/event/event.h"
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/schema/format.h"

static const char events_name[] = "_events.jsonl";

static const struct row {
	const char *name, *severity, *fields, *about;
} rows[] = {
#define EVENT(id, name, severity, fields, about) {name, severity, fields, about},
#include "src/event/event_rows.h"
#undef EVENT
};

const char *event_name(enum event_id what)
{
	return rows[what].name;
}

const char *event_severity(enum event_id what)
{
	return rows[what].severity;
}

const char *event_about(enum event_id what)
{
	return rows[what].about;
}

bool event_next_field(enum event_id what, const char **at, struct event_field *out)
{
	const char *p = *at ? *at : rows[what].fields;
	size_t n;

	p += strspn(p, " ");
	n = strcspn(p, ":");
	if (!p[n] || n >= sizeof(out->name))
		return false;
	memcpy(out->name, p, n);
	out->name[n] = '\0';
	out->kind = p[n + 1];
	p += n + 2;
	out->may_miss = *p == '?';
	*at = p + out->may_miss;
	return true;
}

static bool has_kind(const json *value, char kind)
{
	switch (kind) {
	case 's':
		return json_is_string(value);
	case 'n':
		return json_is_number(value);
	case 'b':
		return json_is_bool(value);
	case 'a':
		return json_is_array(value);
	default:
		return json_is_object(value);
	}
}

static bool known_field(enum event_id what, const char *name)
{
	struct event_field f;
	const char *at = NULL;

	while (event_next_field(what, &at, &f))
		if (strcmp(f.name, name) == 0)
			return true;
	return false;
}

static int check_fields(const struct event *h, struct error *err)
{
	struct event_field f;
	const char *at = NULL;

	while (event_next_field(h->id, &at, &f)) {
		const json *value = json_get(h->fields, f.name);

		if (value ? !has_kind(value, f.kind) : !f.may_miss)
			return error_set(err, ERR_SYSTEM, "event '%s' %s '%s'", rows[h->id].name,
				value ? "has another kind of" : "lacks", f.name);
	}
	for (const json *m = json_first(h->fields); m; m = json_next(m))
		if (!known_field(h->id, json_key(m)))
			return error_set(err, ERR_SYSTEM, "event '%s' has no field '%s'",
				rows[h->id].name, json_key(m));
	return 0;
}

static json *make_line(const struct event *h)
{
	json *line = json_object();
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	json_put_str(line, "type", str_of(rows[h->id].name));
	json_put_str(line, "timestamp", str_of(now));
	json_put_str(line, "severity", str_of(rows[h->id].severity));
	if (h->issue && strcmp(h->issue, PIPELINE_SCOPE) != 0)
		json_put_str(line, "issueId", str_of(h->issue));
	if (h->stage)
		json_put_str(line, "stage", str_of(h->stage));
	for (const json *m = json_first(h->fields); m; m = json_next(m))
		json_put(line, json_key(m), json_copy(m));
	return line;
}

int event_emit(const char *dir, const struct event *h, struct error *err)
{
	CLEANUP(json_free) json *line = NULL;

	if (check_fields(h, err) < 0)
		return -1;
	if (h->issue && strcmp(h->issue, PIPELINE_SCOPE) != 0 && id_check(h->issue, err) < 0)
		return -1;
	if (h->stage && utf8_fault(str_of(h->stage)))
		return error_set(err, ERR_USAGE, "the name of a stage is not UTF-8");
	if (!dir)
		return 0;
	line = make_line(h);
	return artifact_append(dir, NULL, events_name, line, err);
}

/* Texts where they are no times: what another program wrote is still told apart. */
static bool before(const char *timestamp, const char *since)
{
	int64_t t, s;

	if (format_time_parse(str_of(timestamp), &t) && format_time_parse(str_of(since), &s))
		return t < s;
	return strcmp(timestamp, since) < 0;
}

static bool wanted(const json *line, const char *since, const char *type)
{
	return (!since || !before(json_get_str(line, "timestamp"), since)) &&
	       (!type || strcmp(json_get_str(line, "type"), type) == 0);
}

static bool is_happening(const json *line)
{
	return json_is_object(line) && json_get_str(line, "type") &&
	       json_get_str(line, "timestamp");
}

int event_list(const char *dir, const char *since, const char *type, json **out, size_t *skipped,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t odd = 0;
	bool missing;

	*out = NULL;
	if (artifact_get(ARTIFACT_AT(dir, NULL, events_name), &text, &missing, err) < 0)
		return -1;
	*out = json_array();
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *j = NULL;
		struct error why;

		if (!str_trim(line).n)
			continue;
		if (json_parse(&j, line, &why) < 0 || !is_happening(j))
			odd++;
		else if (wanted(j, since, type))
			json_push(*out, json_copy(j));
	}
	if (skipped)
		*skipped = odd;
	return 0;
}
