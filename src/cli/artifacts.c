#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/event/event.h"
#include "src/event/artifact.h"
#include "src/run/locate.h"

struct artifacts_options {
	const char *schema, *since, *type, *artifacts;
	bool json;
};

static const struct option check_options[] = {
	OPTION_TEXT(struct artifacts_options, schema, "schema", "NAME|FILE",
		"a built-in schema or a file; default: what the file's \"$schema\" or its name "
		"says"),
	OPTION_END,
};
static const struct option events_options[] = {
	OPTION_TEXT(struct artifacts_options, since, "since", "TIME",
		"only events from this time on, such as 2026-11-21T01:34:55Z"),
	OPTION_TEXT(struct artifacts_options, type, "type", "NAME", "only events of this type"),
	CLI_ARTIFACTS(struct artifacts_options),
	OPTION_END,
};

/* ---- check ---- */

static void artifacts_put_faults(struct buf *out, const struct artifact_checked *c, bool good)
{
	for (size_t i = 0; i < c->faults.n; i++)
		buf_addf(out, "%s:%u:%u: %s%s%s\n", c->file, c->faults.items[i].line,
			c->faults.items[i].col, c->faults.items[i].at,
			c->faults.items[i].at[0] ? ": " : "", c->faults.items[i].text);
	if (good)
		buf_addf(out, "%s: good (%s)\n", c->file, c->schema);
}

static json *checked_json(const struct artifact_checked *c, bool good, const char *error)
{
	json *faults = json_array();

	for (size_t i = 0; i < c->faults.n; i++)
		json_push(faults, JSON_OBJECT(JSON_INT("line", c->faults.items[i].line),
					  JSON_INT("col", c->faults.items[i].col),
					  JSON_TEXT("at", c->faults.items[i].at),
					  JSON_TEXT("keyword", c->faults.items[i].keyword),
					  JSON_TEXT("text", c->faults.items[i].text)));
	return JSON_OBJECT(JSON_TEXT("file", c->file),
		JSON_IF(c->schema, JSON_TEXT("schema", c->schema)), JSON_BOOL("good", good),
		JSON_IF(error, JSON_TEXT("error", error)), JSON_VALUE("faults", faults));
}

/* A file that cannot be checked does not keep the others from it. The worst code is returned. */
static int artifacts_run_check(struct invocation *in, struct error *err)
{
	const struct artifacts_options *o = in->values;
	struct artifact_schema schema;
	json *files;
	int code = 0;

	if (artifact_schema_open(in->arena, o->schema, &schema, err) < 0)
		return -1;
	files = json_array();
	for (size_t i = 0; i < in->n; i++) {
		struct artifact_checked c;
		bool failed = artifact_check(in->arena, &schema, in->words[i], &c, err) < 0;
		int got = failed ? (int)err->code : c.faults.n ? ERR_CHECK : 0;

		if (failed)
			error_print(err);
		code = got > code ? got : code;
		json_push(files, checked_json(&c, !got, failed ? err->text : NULL));
		artifacts_put_faults(in->out, &c, !got);
	}
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_BOOL("good", !code), JSON_VALUE("files", files)));
	return code;
}

static int artifacts_run_schema(struct invocation *in, struct error *err)
{
	struct schema *schema;

	if (!in->n) {
		for (const char *const *n = artifact_schema_names(); *n; n++)
			buf_addf(in->out, "%s\n", *n);
		return 0;
	}
	if (artifact_schema_compile(in->arena, in->words[0], NULL, &schema, err) < 0)
		return -1;
	buf_add(in->out, artifact_schema_text(in->arena, in->words[0]));
	return 0;
}

/* ---- events ---- */

/* Escaped as in JSON, but for the quotes: the terminal must not obey what an event contains. */
static void put_word(struct buf *out, const char *before, const char *text, int width)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	json_print_text(&b, str_of(text ? text : "-"));
	buf_addf(out, "%s%-*.*s", before, width, (int)b.len - 2, b.s + 1);
}

/* TIME  SEVERITY  TYPE  ISSUE/STAGE  the rest as JSON */
static void artifacts_put_event(struct buf *out, const json *e)
{
	static const char *const shown[] = {"type", "timestamp", "severity", "issueId", "stage"};
	CLEANUP(json_free) json *rest = json_copy(e);
	const char *stage = json_get_str(e, "stage");

	for (size_t i = 0; i < COUNT(shown); i++)
		json_drop(rest, shown[i]);
	put_word(out, "", json_get_str(e, "timestamp"), 0);
	put_word(out, "  ", json_get_str(e, "severity"), 8);
	put_word(out, "  ", json_get_str(e, "type"), 0);
	put_word(out, "  ", json_get_str(e, "issueId"), 0);
	if (stage)
		put_word(out, "/", stage, 0);
	if (json_first(rest)) {
		buf_adds(out, "  ");
		json_print(out, rest);
	}
	buf_addc(out, '\n');
}

static int run_events(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	const struct artifacts_options *o = in->values;
	size_t skipped;
	int64_t t;
	const char *dir;

	if (o->since && !clock_parse_rfc3339(str_of(o->since), &t))
		return error_set(err, ERR_USAGE,
			"--since must be a time such as 2026-11-21T01:34:55Z, not '%.60s'",
			o->since);
	if (locate_artifacts(in->arena, o->artifacts, NULL, &dir, err) < 0 ||
		event_list(dir, o->since, o->type, &list, &skipped, err) < 0)
		return -1;
	if (skipped)
		error_log("%zu line%s of '%s/_events.jsonl' %s", skipped, skipped == 1 ? "" : "s",
			dir, skipped == 1 ? "is not an event" : "are not events");
	for (const json *e = json_first(list); e; e = json_next(e)) {
		if (!o->json) {
			artifacts_put_event(in->out, e);
			continue;
		}
		json_print(in->out, e);
		buf_addc(in->out, '\n');
	}
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("check", "FILE...", artifacts_run_check,
		"check files against their schemas; faults are printed as FILE:LINE:COL",
		.details = "A file whose name ends in .jsonl is checked line by line. Exit status: "
			   "1 if there is a fault; 3 if a file is not JSON or names no schema; the "
			   "other files are checked all the same.",
		.options = {check_options, CLI_JSON_TABLE(struct artifacts_options)}),
	CLI_SUBCOMMAND("schema", "[NAME]", artifacts_run_schema,
		"list the built-in schemas, or print one"),
	CLI_SUBCOMMAND("events", NULL, run_events, "print the events of pipeline runs, one a line",
		.options = {events_options, CLI_JSON_TABLE(struct artifacts_options)}),
	NULL,
};

const struct verb verb_artifacts = {
	.name = "artifacts",
	.group = "Workflows",
	.about = "check the artifacts of a run against their schemas, and print its events",
	.examples = "dev-team artifacts check plan.json review/security.json\n"
		    "dev-team artifacts events --since 2026-11-21T00:00:00Z --json",
	.size = sizeof(struct artifacts_options),
	.subcommands = subcommands,
};
