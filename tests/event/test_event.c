/*
 * Events: every row of the table is written and read, matches its schema, and is refused when a
 * field is missing, of another kind or unknown. The committed schema is generated from the table
 * (`UNIT_WRITE=1 unit event` writes it again), and the page in docs lists its rows.
 */
#include "tests/lib/unit.h"
#include "src/event/event.h"
#include "src/base/clock.h"
#include "tests/lib/event_log.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

#define SCHEMA_FILE "schemas/events.schema.json"
#define PAGE_FILE   "docs/pipeline-events.md"

static struct error err;

static void put_sample(json *fields, const struct event_field *f)
{
	switch (f->kind) {
	case EVENT_FIELD_TEXT:
		json_put_str(fields, f->name, STR("x"));
		break;
	case EVENT_FIELD_NUMBER:
		json_put_number(fields, f->name, 0.5);
		break;
	case EVENT_FIELD_BOOL:
		json_put_bool(fields, f->name, false);
		break;
	case EVENT_FIELD_LIST:
		json_put(fields, f->name, json_array());
		break;
	default:
		json_put(fields, f->name, json_object());
	}
}

static json *sample(enum event_id id, bool all)
{
	json *fields = json_object();

	for (const struct event_field *f = event_type(id)->fields; f->name; f++)
		if (all || !f->optional)
			put_sample(fields, f);
	return fields;
}

static int tell(enum event_id id, const json *fields)
{
	struct event h = {id, "A-1", "plan", fields};

	return event_emit(at("art"), &h, &err);
}

SCRATCH_TEST(every_row_is_written_as_its_schema_says)
{
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		CLEANUP(json_free) json *few = sample(i, false), *all = sample(i, true);

		if (tell(i, few) < 0 || tell(i, all) < 0)
			fail_msg("%s: %s", event_type(i)->name, err.text);
		assert_int_equal(event_log_count(at("art"), event_type(i)->name), 2);
	}
	assert_int_equal(event_log_count(at("art"), NULL), 2 * EVENT_COUNT);
}

/* A field that is missing, of another kind or unknown: no line is written. */
SCRATCH_TEST(no_row_is_written_otherwise)
{
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		CLEANUP(json_free) json *more = sample(i, true);

		json_put_int(more, "nonesuch", 1);
		assert_fails(tell(i, more), err, ERR_SYSTEM);
		for (const struct event_field *f = event_type(i)->fields; f->name; f++) {
			CLEANUP(json_free) json *less = sample(i, true), *other = json_copy(less);

			json_drop(less, f->name);
			assert_int_equal(tell(i, less), f->optional ? 0 : -1);
			json_drop(other, f->name);
			json_put_null(other, f->name);
			assert_int_equal(tell(i, other), -1);
		}
	}
	(void)event_log_count(at("art"), NULL);
}

TEST(the_table_is_sound)
{
	static const char *const severities[] = {
		"info", "advisory", "warning", "error", "critical"};

	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		bool known = false;

		for (size_t k = 0; k < COUNT(severities); k++)
			known = known || strcmp(event_type(i)->severity, severities[k]) == 0;
		assert_true(known);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(event_type(i)->name, event_type(k)->name);
	}
}

SCRATCH_TEST(a_line_has_its_time_and_its_issue)
{
	CLEANUP(json_free) json *fields = sample(EVENT_AGENT_TIMEOUT, false), *list = NULL;
	struct event h = {EVENT_AGENT_TIMEOUT, PIPELINE_SCOPE, NULL, fields};
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	clock_fix(1795224895);
	assert_int_equal(tell(EVENT_AGENT_TIMEOUT, fields), 0);
	assert_int_equal(event_emit(at("art"), &h, &err), 0);
	clock_fix(-1);
	assert_int_equal(event_list(at("art"), NULL, NULL, &list, NULL, &err), 0);
	json_print(&b, list);
	assert_string_equal(b.s,
		"[{\"type\":\"AgentTimeout\",\"timestamp\":\"2026-11-21T01:34:55Z\",\"severity\":"
		"\"warning\",\"issueId\":\"A-1\",\"stage\":\"plan\",\"harness\":\"x\",\"seconds\":"
		"0.5},{\"type\":\"AgentTimeout\",\"timestamp\":\"2026-11-21T01:34:55Z\","
		"\"severity\":\"warning\",\"harness\":\"x\",\"seconds\":0.5}]");
}

SCRATCH_TEST(what_is_of_no_directory_or_no_issue)
{
	CLEANUP(json_free) json *fields = sample(EVENT_AGENT_TIMEOUT, false);
	struct event h = {EVENT_AGENT_TIMEOUT, NULL, NULL, fields};

	assert_int_equal(event_emit(NULL, &h, &err), 0);
	h.issue = "../x";
	assert_fails(event_emit(at("art"), &h, &err), err, ERR_USAGE);
	h.issue = NULL;
	h.stage = "\xff";
	assert_int_equal(event_emit(at("art"), &h, &err), -1);
	h = (struct event){EVENT_AGENT_TIMEOUT, NULL, NULL, NULL};
	assert_int_equal(event_emit(NULL, &h, &err), -1); /* an error of the caller in any case */
	assert_false(path_exists(at("art")));
}

/* Reference vectors: three lines, the middle one `not-json`: two; no file and no directory: none.
 */
SCRATCH_TEST(what_is_no_event_is_passed_over)
{
	static const struct {
		const char *text, *since, *type;
		size_t want, skipped;
	} rows[] = {
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\nnot-json\n"
		 "{\"type\":\"B\",\"timestamp\":\"2026-01-02T00:00:00Z\"}\n",
			NULL, NULL, 2, 1},
		{"", NULL, NULL, 0, 0},
		{"\n \n", NULL, NULL, 0, 0},
		{"{}\n[]\n1\n{\"type\":\"A\"}\n{\"timestamp\":\"x\"}\n", NULL, NULL, 0, 5},
		{"{\"type\":1,\"timestamp\":\"2026-01-01T00:00:00Z\"}\n\xff\n", NULL, NULL, 0, 2},
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n{\"type\":\"B\",\"tim",
			NULL, NULL, 1, 1},
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"free\":[1]}\r\n", NULL,
			NULL, 1, 0},
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n"
		 "{\"type\":\"B\",\"timestamp\":\"2026-01-02T00:00:00Z\"}\n",
			"2026-01-02T00:00:00Z", NULL, 1, 0},
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n"
		 "{\"type\":\"B\",\"timestamp\":\"2026-01-02T00:00:00Z\"}\n",
			NULL, "A", 1, 0},
		/* As texts these would sort before it: '.' is less than 'Z', and the other clock.
		 */
		{"{\"type\":\"A\",\"timestamp\":\"2026-01-02T00:00:00.500Z\"}\n"
		 "{\"type\":\"B\",\"timestamp\":\"2026-01-01T23:00:00-02:00\"}\n",
			"2026-01-02T00:00:00Z", NULL, 2, 0},
		{"{\"type\":\"A\",\"timestamp\":\"yesterday\"}\n", "2026-01-02T00:00:00Z", NULL, 1,
			0},
	};
	CLEANUP(json_free) json *none = NULL;

	assert_int_equal(event_list(at("art"), NULL, NULL, &none, NULL, &err), 0);
	assert_int_equal(json_len(none), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(json_free) json *list = NULL;
		size_t skipped = 99;

		scratch_write("art/_events.jsonl", rows[i].text);
		assert_int_equal(
			event_list(at("art"), rows[i].since, rows[i].type, &list, &skipped, &err),
			0);
		if (json_len(list) != rows[i].want || skipped != rows[i].skipped)
			fail_msg("row %zu: %zu, %zu", i, json_len(list), skipped);
	}
}

SCRATCH_TEST(a_torn_line_never_spoils_the_next)
{
	CLEANUP(json_free) json *fields = sample(EVENT_AGENT_TIMEOUT, false);

	scratch_write("art/_events.jsonl", "{\"type\":\"AgentTi");
	assert_int_equal(tell(EVENT_AGENT_TIMEOUT, fields), 0);
	assert_int_equal(event_log_count(at("art"), NULL), 1);
}

enum { TELLERS = 4, TOLD = 20 };

static int tell_often(unsigned i, void *fields)
{
	int rc = 0;

	(void)i;
	for (int k = 0; k < TOLD; k++)
		rc |= tell(EVENT_AGENT_TIMEOUT, fields);
	return rc != 0;
}

SCRATCH_TEST(tellers_do_not_mix_their_lines)
{
	CLEANUP(json_free) json *fields = sample(EVENT_AGENT_TIMEOUT, false);

	assert_int_equal(run_processes(TELLERS, tell_often, fields), TELLERS);
	assert_int_equal(event_log_count(at("art"), NULL), TELLERS * TOLD);
}

/* UNIT_WRITE=1 writes the file again. */
TEST(the_committed_schema_is_that_of_the_table)
{
	CLEANUP(buf_release) struct buf schema = BUF_INIT, was = BUF_INIT;

	event_schema(&schema);
	if (getenv("UNIT_WRITE"))
		tree_write(SCHEMA_FILE, buf_str(&schema));
	assert_int_equal(sys_read_file(&was, SCHEMA_FILE, 1 << 24, NULL, &err), 0);
	if (!str_eq(buf_str(&was), buf_str(&schema)))
		fail_msg("%s is not that of the table: run UNIT_WRITE=1 unit event", SCHEMA_FILE);
}

TEST(the_page_has_every_row_of_the_table)
{
	static const char *const kinds[] = {"text", "number", "true or false", "list", "object"};
	CLEANUP(buf_release) struct buf page = BUF_INIT;
	struct str rest, line;
	unsigned rows = 0;

	assert_int_equal(sys_read_file(&page, PAGE_FILE, 1 << 24, NULL, &err), 0);
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		CLEANUP(buf_release) struct buf row = BUF_INIT;
		const struct event_type *type = event_type(i);

		buf_addf(&row, "\n| `%s` | %s | ", type->name, type->severity);
		for (const struct event_field *f = type->fields; f->name; f++)
			buf_addf(&row, "%s`%s` (%s%s)", f == type->fields ? "" : ", ", f->name,
				kinds[f->kind], f->optional ? "; optional" : "");
		buf_addf(&row, " | %s |\n", type->about);
		if (str_find(buf_str(&page), buf_str(&row)) == page.len)
			fail_msg("%s lacks%s", PAGE_FILE, row.s);
	}
	for (rest = buf_str(&page); str_line(&rest, &line);)
		rows += str_starts(line, "| `");
	assert_int_equal(rows, EVENT_COUNT);
}
