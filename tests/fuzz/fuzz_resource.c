/*
 * Any bytes as a resource: refused at a position inside the file with clean text, or accepted and
 * printed. The schema of its kind accepts exactly what the table accepts. A pipeline works on 1 to
 * 20 issues at one time in every case.
 */
#include "src/config/decode.h"
#include "src/config/resource.h"
#include "src/schema/schema.h"
#include "tests/fuzz/fuzz.h"

enum { KINDS = 4 };

static struct arena schemas_arena;
static struct schema *schemas[KINDS];

static void end(void)
{
	arena_release(&schemas_arena);
}

static void begin(void)
{
	if (schemas[0])
		return;
	expect(atexit(end) == 0);
	for (size_t i = 0; i < KINDS; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct error err;

		resource_schema(resource_kinds[i], &text);
		expect(schema_compile(&schemas_arena, resource_kinds[i]->name, buf_str(&text),
			       &schemas[i], &err) == 0);
	}
}

static void expect_fault(const struct error *f, unsigned lines)
{
	expect(f->code == ERR_INPUT && f->line && f->line <= lines + 1 && f->col && f->text[0]);
	expect(str_utf8_fault(str_of(f->text)) == 0);
	for (const char *p = f->text; *p; p++)
		expect((unsigned char)*p >= ' ' && *p != 0x7f);
}

static void expect_agreement(struct arena *a, struct str text)
{
	struct config_reader reader = {
		.arena = a, .file = "r.yaml", .json_types = true, .limit = 1};
	struct schema_faults out = {0};
	const struct resource_kind *kind;
	struct error err = {0};
	const struct yaml *name;
	struct yaml *tree;
	size_t k = 0;

	if (yaml_parse(a, text, "r.yaml", 1, &tree, &err) < 0)
		return;
	name = yaml_get(tree, "kind");
	kind = name && name->kind == YAML_SCALAR ? resource_kind(name->text.p) : NULL;
	while (kind && resource_kinds[k] != kind)
		k++;
	if (kind) {
		CLEANUP(json_free) json *j = config_json(tree);

		config_fields(&reader, kind->fields, tree, arena_alloc(a, kind->size));
		expect(!reader.faults.n == !schema_check(a, schemas[k], j, &out));
	}
}

static void expect_shown(struct arena *a, const struct resources *r)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		CLEANUP(resource_values_release) struct resource_values values = {0};

		resource_list_values(a, r, &r->docs[i], PARALLELISM_ON, &values);
		expect(values.n > 3);
	}
	for (size_t i = 0; i < r->n_docs; i++) {
		const struct pipeline *p = r->docs[i].of;
		struct parallelism n;

		if (r->docs[i].kind != &resource_kind_pipeline)
			continue;
		parallelism_resolve(a, r, p, PARALLELISM_ON, &n);
		expect(n.max >= 1 && n.max <= CONCURRENT_MAX);
		for (size_t k = 0; k < p->n_stages; k++)
			expect(p->stages[k].name[0] && p->stages[k].harness &&
				pipeline_stage(p, p->stages[k].name) == &p->stages[k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct arena a = {0};
	struct error err = {0};
	struct resources r;
	unsigned lines = 1;

	begin();
	for (size_t i = 0; i < size; i++) /* CR, NEL, LS and PS end lines too */
		lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	if (resources_parse(&a, "r.yaml", text, &r, &err) == 0)
		expect_shown(&a, &r);
	for (size_t i = 0; i < r.n_faults; i++)
		expect_fault(&r.faults[i], lines);
	expect_agreement(&a, text);
	arena_release(&a);
	return 0;
}
