#include "src/cli/cli.h"
#include "src/verify/history.h"

struct events_options {
	int64_t last, after;
	bool json;
};

static const struct option options[] = {
	OPTION_NUMBER(struct events_options, last, "last", "N", 1, JSON_MAX_INT,
		"only the last N events"),
	OPTION_NUMBER(struct events_options, after, "after", "SEQ", 0, JSON_MAX_INT,
		"only events with a greater number"),
	OPTION_FLAG(
		struct events_options, json, "json", "print the lines of the journal as they are"),
	OPTION_END,
};

static const struct {
	const char *key, *before;
} shown[] = {
	{"file", " "},
	{"of", "@"},
	{"event", " "},
	{"node", " "},
	{"state", " in "},
	{"from", " "},
	{"to", " -> "},
	{"owner", " -> "},
	{"trigger", ", "},
	{"action", " "},
	{"agent", ", "},
	{"item", ", "},
	{"command", ", "},
	{"effect", " "},
	{"key", " "},
	{"value", " = "},
	{"result", ": "},
	{"status", ": "},
	{"again", ", retry "},
	{"policy", ", policy "},
	{"rule", ": "},
	{"workflow", " "},
	{"change", " "},
	{"entry", ", "},
	{"reason", "; "},
	{"kept", "; kept in "},
};

/* Revisions are numbers, all else that is shown is text. */
static const char *events_value_of(const json *e, const char *key, char number[24])
{
	int64_t n = json_get_int(e, key, -1);

	if (n < 0)
		return json_get_str(e, key);
	(void)snprintf(number, 24, "%lld", (long long)n);
	return number;
}

/* The kinds of evidence, and the commit. */
static void put_confirmed(struct buf *out, const json *e)
{
	const char *head = json_get_str(e, "head"), *before = ": ";
	const json *kind = json_first(json_get(e, "confirmed"));

	for (; kind && json_text(kind); kind = json_next(kind), before = ", ")
		buf_addf(out, "%s%s", before, json_text(kind));
	if (head && *before == ',')
		buf_addf(out, " at %.12s", head);
}

static void put_texts(struct buf *out, const json *list, const char *before)
{
	for (const json *one = json_first(list); one && json_text(one); one = json_next(one)) {
		buf_addf(out, "%s%s", before, json_text(one));
		before = ", ";
	}
}

static void events_put_event(struct buf *out, const json *e)
{
	char number[24];
	const char *ts = json_get_str(e, "ts"), *type = json_get_str(e, "type");
	bool first = true;

	buf_addf(out, "%6lld  %s  %-12s", (long long)json_get_int(e, "seq", 0), ts ? ts : "?",
		type ? type : "?");
	for (size_t i = 0; i < COUNT(shown); i++) {
		const char *text = events_value_of(e, shown[i].key, number);

		/* Every dispatch has an owner; only a change of it is shown. */
		if (strcmp(shown[i].key, "owner") == 0 && !json_get(e, "from"))
			continue;
		/* The id of an action names its node. */
		if (strcmp(shown[i].key, "node") == 0 && json_get(e, "action"))
			continue;
		if (text && *text)
			buf_addf(out, "%s%s", first ? " " : shown[i].before, text);
		first = first && !(text && *text);
	}
	put_confirmed(out, e);
	put_texts(out, json_get(e, "routes"), " -> ");
	put_texts(out, json_get(e, "actions"), ": ");
	buf_addc(out, '\n');
}

static void show_event(void *data, const json *event, struct str line)
{
	struct invocation *in = data;
	const struct events_options *o = in->values;

	if (!o->json) {
		events_put_event(in->out, event);
		return;
	}
	buf_add(in->out, line);
	buf_addc(in->out, '\n');
}

static int events_run(struct invocation *in, struct error *err)
{
	const struct events_options *o = in->values;

	const char *file;

	if (cli_find_document(in, in->words[0], &file, err) < 0)
		return -1;
	return history_events(in->arena, file, o->after, o->last, show_event, in, err);
}

const struct verb verb_events = {
	.name = "events",
	.group = "Workflows",
	.about = "show the events of a work item",
	.details = "Prints one line for each event. FILE is the work item's document or its events "
		   "file.",
	.examples = "dev-team events ADR-1",
	.words = "ID|FILE",
	.options = {options},
	.size = sizeof(struct events_options),
	.run = events_run,
};
