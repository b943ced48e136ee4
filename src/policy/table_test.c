#include "src/policy/table.h"

struct table_test {
	struct arena *arena;
	struct buf *out;
	struct fixture fixture;
	struct confusions all;
	json *differing; /* NULL: for people */
	struct buf lines;
	size_t rows;
};

static void table_test_release(struct table_test *t)
{
	fixture_release(&t->fixture);
	json_free(&t->differing);
	buf_release(&t->lines);
}

/* A row that came out otherwise. */
static void note(struct table_test *t, const struct table *table, const struct table_row *row,
	const struct verdict *v)
{
	if (!t->differing) {
		buf_addf(&t->lines, "%s:%u: %s (%s, tier %u) must be %s: ", table->file, row->line,
			row->id, row->class, row->tier, row->allow ? "allowed" : "denied");
		text_visible(&t->lines, row->command);
		buf_adds(&t->lines, "\n  ");
		verdict_line(&t->lines, v);
		buf_addc(&t->lines, '\n');
		return;
	}
	json_push(t->differing, JSON_OBJECT(JSON_TEXT("file", table->file),
					JSON_INT("line", row->line), JSON_TEXT("id", row->id),
					JSON_TEXT("class", row->class), JSON_INT("tier", row->tier),
					JSON_TEXT("expect", row->allow ? "allow" : "deny"),
					JSON_VALUE("verdict", verdict_object(v))));
}

static void check_row(struct table_test *t, const struct table *table, const struct table_row *row)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct verdict v;
	bool allowed = fixture_check(&arena, &t->fixture, row, &v) == 0;

	confusion_add(t->arena, &t->all, row, allowed);
	t->rows++;
	if (allowed != row->allow)
		note(t, table, row, &v);
}

static void print_json(struct table_test *t, bool good)
{
	const struct confusion sum = confusion_sum(&t->all);
	json *classes = json_array();

	for (size_t i = 0; i < t->all.n; i++)
		json_push(classes, confusion_json(&t->all.p[i]));
	json_print_line(t->out,
		JSON_OBJECT(JSON_BOOL("good", good), JSON_INT("rows", t->rows),
			JSON_VALUE("all", confusion_json(&sum)), JSON_VALUE("classes", classes),
			JSON_VALUE("differing", t->differing)));
	t->differing = NULL;
}

static int finish(struct table_test *t)
{
	const struct confusion sum = confusion_sum(&t->all);
	bool good = !confusion_bad(&sum);

	if (t->differing) {
		print_json(t, good);
		return good ? 0 : ERR_CHECK;
	}
	confusion_print(t->out, &t->all);
	buf_add(t->out, buf_str(&t->lines));
	return good ? 0 : ERR_CHECK;
}

int table_test(struct arena *a, const char *tree, const char *const *files, size_t n, bool as_json,
	struct buf *out, struct error *err)
{
	CLEANUP(table_test_release)
	struct table_test t = {.arena = a, .out = out, .fixture.root.fd = -1};

	if ((tree ? fixture_take(a, tree, &t.fixture, err) : fixture_make(a, &t.fixture, err)) < 0)
		return -1;
	if (as_json)
		t.differing = json_array();
	for (size_t i = 0; i < n; i++) {
		struct table table;

		if (table_read(a, files[i], &table, err) < 0)
			return -1;
		for (size_t k = 0; k < table.n; k++)
			check_row(&t, &table, &table.rows[k]);
	}
	return finish(&t);
}
