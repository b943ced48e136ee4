/* The directory of artifacts: paths, whole writes, lines of a .jsonl, runtime.json. */
#include "tests/lib/unit.h"
#include <sys/stat.h>
#include "src/event/artifact.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

static struct error err;

static json *parsed(const char *text)
{
	json *j;

	assert_int_equal(json_parse(&j, str_of(text), &err), 0);
	return j;
}

/* Reference vector: atomic write of AISDLC-1/plan.json {foo:bar,n:42}: parent made, parses back. */
SCRATCH_TEST(a_write_makes_the_directories_and_is_read_back)
{
	CLEANUP(json_free) json *j = parsed("{\"foo\":\"bar\",\"n\":42}"), *back = NULL;

	assert_int_equal(artifact_write(at("art"), "AISDLC-1", "plan.json", j, &err), 0);
	assert_int_equal(artifact_write(at("art"), "AISDLC-1", "review/testing.json", j, &err), 0);
	assert_string_equal(
		scratch_read("art/AISDLC-1/plan.json"), "{\n  \"foo\": \"bar\",\n  \"n\": 42\n}\n");
	assert_int_equal(artifact_read(at("art"), "AISDLC-1", "plan.json", &back, &err), 0);
	assert_string_equal(json_get_str(back, "foo"), "bar");
	assert_int_equal(json_get_int(back, "n", 0), 42);
	assert_false(path_exists(at("art/AISDLC-1/plan.json.tmp")));
	assert_int_equal(artifact_remove(at("art"), "AISDLC-1", "plan.json", &err), 0);
	assert_int_equal(artifact_remove(at("art"), "AISDLC-1", "plan.json", &err), 0);
	assert_int_equal(artifact_remove(at("no/such"), "AISDLC-1", "plan.json", &err), 0);
	assert_false(path_exists(at("no")));
	assert_false(path_exists(at("art/AISDLC-1/plan.json")));
}

SCRATCH_TEST(what_is_not_there_is_none)
{
	json *j = (json *)1;

	assert_int_equal(artifact_read(at("art"), "A-1", "plan.json", &j, &err), 0);
	assert_null(j);
	assert_int_equal(artifact_read_runtime(at("art"), PIPELINE_SCOPE, &j, &err), 0);
	assert_null(j);
}

SCRATCH_TEST(names_stay_inside)
{
	static const struct {
		const char *issue, *name;
		bool good;
	} rows[] = {
		{"A-1", "plan.json", true},
		{"A-1", "review/critic.md", true},
		{"_pipeline", "runtime.json", true},
		{"_classifier", "calibration.jsonl", true},
		{"_ledger", "x.json", true},
		{NULL, "_events.jsonl", true},
		{"_other", "x.json", false},
		{"..", "x.json", false},
		{".", "x.json", false},
		{"", "x.json", false},
		{"a/b", "x.json", false},
		{"/etc", "x.json", false},
		{"A-1", "../x.json", false},
		{"A-1", "..", false},
		{"A-1", "/etc/passwd", false},
		{"A-1", "review//x", false},
		{"A-1", "review/", false},
		{"A-1", "review/../../x", false},
		{"A-1", "", false},
		{"A-1", ".lock", false},
		{"A-1", "plan.json.tmp", false},
		{"A-1", "a b", false},
		{"A-1", "a\nb", false},
		{"A-1", "\xff", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = NULL;
		int rc = artifact_path(&arena, "/d", rows[i].issue, rows[i].name, &path, &err);

		if (rows[i].good != (rc == 0))
			fail_msg("row %zu: %s", i, rows[i].name);
		if (rc < 0)
			assert_int_equal(err.code, ERR_USAGE);
	}
	assert_int_equal(artifact_path(&arena, "", "A-1", "x", &(char *){0}, &err), -1);
}

SCRATCH_TEST(links_below_the_directory_are_refused)
{
	CLEANUP(json_free) json *j = parsed("{}"), *back = NULL;
	static const char *const links[] = {"art/A-1", "art/B-1/review", "art/C-1/plan.json"};

	scratch_write("out/plan.json", "{}");
	for (size_t i = 0; i < COUNT(links); i++) {
		assert_int_equal(path_mkdirs(arena_dup(&arena, path_dir(at(links[i]))), &err), 0);
		assert_int_equal(
			symlink(i == 2 ? at("out/plan.json") : at("out"), at(links[i])), 0);
	}
	assert_fails(artifact_write(at("art"), "A-1", "plan.json", j, &err), err, ERR_STATE);
	assert_non_null(strstr(err.text, "symbolic link"));
	assert_int_equal(artifact_append(at("art"), "A-1", "x.jsonl", j, &err), -1);
	assert_int_equal(artifact_read(at("art"), "A-1", "plan.json", &back, &err), -1);
	assert_int_equal(artifact_remove(at("art"), "A-1", "plan.json", &err), -1);
	assert_int_equal(artifact_merge_runtime(at("art"), "A-1", j, &err), -1);
	assert_int_equal(artifact_write(at("art"), "B-1", "review/testing.json", j, &err), -1);
	assert_int_equal(artifact_write(at("art"), "B-1", "plan.json", j, &err), 0);
	assert_int_equal(artifact_read(at("art"), "C-1", "plan.json", &back, &err), -1);
	assert_int_equal(artifact_write(at("art"), "C-1", "plan.json", j, &err), -1);
	assert_string_equal(scratch_read("out/plan.json"), "{}");
	/* The user chooses the directory itself. */
	assert_int_equal(symlink(at("art"), at("alias")), 0);
	assert_int_equal(artifact_write(at("alias"), "D-1", "plan.json", j, &err), 0);
}

SCRATCH_TEST(a_broken_artifact_has_its_place)
{
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"{\n  \"a\": 1,\n  \"a\": 2\n}", "3:3: duplicate key"},
		{"{\"a\": 1e400}", "1:7: a number is too large"},
		{"{\"a\": \"\\u0000\"}", "1:8: a NUL character is not allowed"},
		{"{\"a\": \"\xc3\x28\"}", "1:8: invalid UTF-8"},
		{"", "1:1: a value is missing"},
		{"{} x", "1:4: text after the JSON value"},
		{"{\"a\": 01}", "1:7: malformed number"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		json *j;
		char line[2048];

		scratch_write("art/A-1/plan.json", rows[i].text);
		assert_int_equal(artifact_read(at("art"), "A-1", "plan.json", &j, &err), -1);
		error_format(&err, line, sizeof(line));
		assert_string_equal(line,
			arena_printf(&arena, "%s:%s", at("art/A-1/plan.json"), rows[i].fault));
	}
}

SCRATCH_TEST(no_regular_file_is_refused)
{
	json *j;

	assert_int_equal(path_mkdirs(at("art/A-1/plan.json"), &err), 0);
	assert_int_equal(mkfifo(at("art/A-1/x.jsonl"), 0600), 0);
	assert_int_equal(artifact_read(at("art"), "A-1", "plan.json", &j, &err), -1);
	assert_int_equal(artifact_append(at("art"), "A-1", "x.jsonl", j = json_object(), &err), -1);
	json_free(&j);
	scratch_write("art/F-1", "a file in the place of an issue");
	assert_fails(artifact_read(at("art"), "F-1", "plan.json", &j, &err), err, ERR_SYSTEM);
}

SCRATCH_TEST(a_torn_line_is_cut_and_a_whole_one_kept)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{"", "{\"n\":1}\n"},
		{"{\"a\":1}\n", "{\"a\":1}\n{\"n\":1}\n"},
		{"{\"a\":1}\n{\"b\":", "{\"a\":1}\n{\"n\":1}\n"},
		{"{\"b\":", "{\"n\":1}\n"},
		{"{\"a\":1}", "{\"a\":1}\n{\"n\":1}\n"},
		{"{\"a\":1}\n1", "{\"a\":1}\n{\"n\":1}\n"},
		{"{\"a\":1}\n\xff\xfe", "{\"a\":1}\n{\"n\":1}\n"},
		{"not-json\n", "not-json\n{\"n\":1}\n"},
	};
	CLEANUP(json_free) json *j = parsed("{\"n\":1}");

	for (size_t i = 0; i < COUNT(rows); i++) {
		scratch_write("art/A-1/x.jsonl", rows[i].before);
		assert_int_equal(artifact_append(at("art"), "A-1", "x.jsonl", j, &err), 0);
		assert_string_equal(scratch_read("art/A-1/x.jsonl"), rows[i].after);
	}
}

SCRATCH_TEST(runtime_is_merged_one_level_down)
{
	static const struct {
		const char *put, *then;
	} rows[] = {
		{"{\"port\":3000,\"stages\":{\"plan\":{\"a\":1,\"b\":1}}}",
			"{\"port\":3000,\"stages\":{\"plan\":{\"a\":1,\"b\":1}}}"},
		{"{\"stages\":{\"implement\":{\"a\":2}}}",
			"{\"port\":3000,\"stages\":{\"plan\":{\"a\":1,\"b\":1},\"implement\":{"
			"\"a\":2}}}"},
		{"{\"stages\":{\"plan\":{\"a\":3}}}",
			"{\"port\":3000,\"stages\":{\"plan\":{\"a\":3},\"implement\":{\"a\":2}}}"},
		{"{\"port\":null,\"ports\":[1]}",
			"{\"port\":null,\"stages\":{\"plan\":{\"a\":3},\"implement\":{\"a\":2}},"
			"\"ports\":[1]}"},
		{"{\"ports\":[2],\"stages\":\"x\"}",
			"{\"port\":null,\"stages\":\"x\",\"ports\":[2]}"},
		{"{}", "{\"port\":null,\"stages\":\"x\",\"ports\":[2]}"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(json_free) json *j = parsed(rows[i].put), *back = NULL;
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		assert_int_equal(artifact_merge_runtime(at("art"), PIPELINE_SCOPE, j, &err), 0);
		assert_int_equal(artifact_read_runtime(at("art"), PIPELINE_SCOPE, &back, &err), 0);
		json_print(&b, back);
		assert_string_equal(b.s, rows[i].then);
	}
}

SCRATCH_TEST(a_broken_runtime_is_never_overwritten)
{
	CLEANUP(json_free) json *j = parsed("{\"a\":1}"), *list = parsed("[1]");

	scratch_write("art/A-1/runtime.json", "{\"a\":");
	assert_fails(artifact_merge_runtime(at("art"), "A-1", j, &err), err, ERR_INPUT);
	assert_string_equal(scratch_read("art/A-1/runtime.json"), "{\"a\":");
	scratch_write("art/A-1/runtime.json", "[]");
	assert_int_equal(artifact_merge_runtime(at("art"), "A-1", j, &err), -1);
	assert_string_equal(scratch_read("art/A-1/runtime.json"), "[]");
	assert_int_equal(artifact_merge_runtime(at("art"), "B-1", list, &err), -1);
}

static int add_line(void *data, struct str old, struct buf *fresh, struct error *e)
{
	if (data)
		return error_set(e, ERR_CHECK, "no");
	buf_add(fresh, old);
	buf_adds(fresh, "more\n");
	return 0;
}

SCRATCH_TEST(a_file_is_edited_whole_or_not)
{
	assert_fails(artifact_edit(at("art"), "A-1", "x", add_line, base, &err), err, ERR_CHECK);
	assert_false(path_exists(at("art/A-1/x")));
	assert_int_equal(artifact_edit(at("art"), "A-1", "x", add_line, NULL, &err), 0);
	assert_int_equal(artifact_edit(at("art"), "A-1", "x", add_line, NULL, &err), 0);
	assert_fails(artifact_edit(at("art"), "A-1", "x", add_line, base, &err), err, ERR_CHECK);
	assert_string_equal(scratch_read("art/A-1/x"), "more\nmore\n");
}

enum { WRITERS = 6, EACH = 25 };

/* Lines, members and whole files of one issue, from several processes. */
static int work(unsigned who, void *data)
{
	(void)data;
	for (int i = 0; i < EACH; i++) {
		CLEANUP(json_free) json *line = json_object(), *members = json_object();
		json *rows = json_object();
		char name[32];

		json_put_int(line, "who", who);
		json_put_int(line, "i", i);
		(void)snprintf(name, sizeof(name), "s%u-%d", who, i);
		json_put_int(rows, name, i);
		json_put(members, "stages", rows);
		if (artifact_append(at("art"), "A-1", "x.jsonl", line, &err) < 0 ||
			artifact_merge_runtime(at("art"), "A-1", members, &err) < 0 ||
			artifact_write(at("art"), "A-1", "plan.json", line, &err) < 0)
			return 1;
	}
	return 0;
}

SCRATCH_TEST(writers_lose_nothing_of_one_another)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	CLEANUP(json_free) json *runtime = NULL, *plan = NULL;
	struct str rest, line;
	size_t n = 0;

	assert_int_equal(run_processes(WRITERS, work, NULL), WRITERS);
	assert_int_equal(sys_read_file(&b, at("art/A-1/x.jsonl"), 1 << 20, NULL, &err), 0);
	for (rest = buf_str(&b); str_line(&rest, &line); n++) {
		json *j;

		assert_int_equal(json_parse(&j, line, &err), 0);
		json_free(&j);
	}
	assert_int_equal(n, WRITERS * EACH);
	assert_int_equal(artifact_read_runtime(at("art"), "A-1", &runtime, &err), 0);
	assert_int_equal(json_len(json_get(runtime, "stages")), WRITERS * EACH);
	assert_int_equal(artifact_read(at("art"), "A-1", "plan.json", &plan, &err), 0);
}
