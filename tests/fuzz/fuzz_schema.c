/*
 * Any bytes as a schema and a text to validate, separated by a NUL (without one: the text alone).
 * The other reader accepts what the strict one accepts; every fault has a position inside the text;
 * a valid value is also valid in canonical form; two checks agree.
 */
#include "src/schema/schema.h"
#include "tests/fuzz/fuzz.h"

static unsigned lines_of(struct str text)
{
	unsigned n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

static void place_is_inside(struct str text, unsigned line, unsigned col)
{
	expect(line >= 1 && line <= lines_of(text) && col >= 1 && col <= text.n + 1);
}

static void readers_agree(struct str text)
{
	struct error strict, lax;
	json *j = NULL, *other = NULL;

	if (schema_read_json(&j, "text", text, &strict) < 0) {
		place_is_inside(text, strict.line, strict.col);
		expect(strict.code == ERR_INPUT && strcmp(strict.file, "text") == 0);
		return;
	}
	expect(json_parse(&other, text, &lax) == 0);
	json_free(&other);
	json_free(&j);
}

static void faults_have_places(const struct schema_faults *f, struct str text)
{
	for (size_t i = 0; i < f->n; i++) {
		unsigned line, col;

		expect(schema_locate_json(text, f->list[i].at, &line, &col));
		expect(line == f->list[i].line && col == f->list[i].col);
		place_is_inside(text, line, col);
		expect(!str_utf8_fault(str_of(f->list[i].text)));
	}
}

static void check_twice(struct arena *a, const struct schema *s, struct str text)
{
	struct schema_faults first, second;
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf pretty = BUF_INIT;
	struct error err;

	if (schema_check_text(a, s, "instance", text, &first, &err) < 0) {
		place_is_inside(text, err.line, err.col);
		return;
	}
	faults_have_places(&first, text);
	expect(json_parse(&j, text, &err) == 0);
	expect((schema_check(a, s, j, &second) > 0) == (first.n > 0) && second.n == first.n);
	json_print_pretty(&pretty, j);
	if (schema_check_text(a, s, "again", buf_str(&pretty), &second, &err) == 0)
		expect(second.n == first.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str instance = {(const char *)data, size}, schema = fuzz_part(&instance, STR("\0"));
	struct arena a = {0};
	struct schema *s;
	struct error err;

	readers_agree(schema);
	readers_agree(instance);
	if (schema_compile(&a, "schema", schema, &s, &err) < 0)
		place_is_inside(schema, err.line, err.col);
	else if (instance.p)
		check_twice(&a, s, instance);
	arena_release(&a);
	return 0;
}
