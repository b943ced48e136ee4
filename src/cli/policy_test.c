#include "src/cli/policy.h"
#include "src/policy/fixture.h"
#include "src/policy/table.h"

struct test {
	struct invocation *in;
	struct fixture fixture;
	struct confusions all;
	json *differing; /* NULL: for people */
	struct buf lines;
	size_t rows;
};

static void test_release(struct test *t)
{
	fixture_release(&t->fixture);
	json_free(&t->differing);
	buf_release(&t->lines);
}

/* A row that came out otherwise. */
static void note(struct test *t, const struct table *table, const struct table_row *row,
	const struct verdict *v)
{
	json *j;

	if (!t->differing) {
		buf_addf(&t->lines, "%s:%u: %s (%s, tier %u) must be %s: ", table->file, row->line,
			row->id, row->class, row->tier, row->allow ? "allowed" : "denied");
		text_visible(&t->lines, row->command);
		buf_adds(&t->lines, "\n  ");
		verdict_line(&t->lines, v);
		buf_addc(&t->lines, '\n');
		return;
	}
	j = json_object();
	json_put_str(j, "file", str_of(table->file));
	json_put_int(j, "line", row->line);
	json_put_str(j, "id", str_of(row->id));
	json_put_str(j, "class", str_of(row->class));
	json_put_int(j, "tier", row->tier);
	json_put_str(j, "expect", str_of(row->allow ? "allow" : "deny"));
	json_put(j, "verdict", verdict_object(v));
	json_push(t->differing, j);
}

static void check_row(struct test *t, const struct table *table, const struct table_row *row)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct verdict v;
	bool allowed = fixture_check(&arena, &t->fixture, row, &v) == 0;

	confusion_add(t->in->arena, &t->all, row, allowed);
	t->rows++;
	if (allowed != row->allow)
		note(t, table, row, &v);
}

static void print_json(struct test *t, bool good)
{
	CLEANUP(json_free) json *j = json_object();
	const struct confusion sum = confusion_sum(&t->all);
	json *classes = json_array();

	for (size_t i = 0; i < t->all.n; i++)
		json_push(classes, confusion_json(&t->all.p[i]));
	json_put_bool(j, "good", good);
	json_put_int(j, "rows", (int64_t)t->rows);
	json_put(j, "all", confusion_json(&sum));
	json_put(j, "classes", classes);
	json_put(j, "differing", t->differing);
	t->differing = NULL;
	json_print(t->in->out, j);
	buf_addc(t->in->out, '\n');
}

static int finish(struct test *t)
{
	const struct confusion sum = confusion_sum(&t->all);
	bool good = !confusion_bad(&sum);

	if (t->differing) {
		print_json(t, good);
		return good ? 0 : ERR_CHECK;
	}
	confusion_print(t->in->out, &t->all);
	buf_add(t->in->out, buf_str(&t->lines));
	return good ? 0 : ERR_CHECK;
}

int policy_test(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	CLEANUP(test_release) struct test t = {.in = in, .fixture.root.fd = -1};

	if (args->n < 2)
		return error_set(err, ERR_USAGE, "no file given after 'test'");
	if ((args->value[POLICY_TREE]
			    ? fixture_take(in->arena, args->value[POLICY_TREE], &t.fixture, err)
			    : fixture_make(in->arena, &t.fixture, err)) < 0)
		return -1;
	if (args->value[POLICY_JSON])
		t.differing = json_array();
	for (size_t i = 1; i < args->n; i++) {
		struct table table;

		if (table_read(in->arena, args->words[i], &table, err) < 0)
			return -1;
		for (size_t k = 0; k < table.n; k++)
			check_row(&t, &table, &table.rows[k]);
	}
	return finish(&t);
}
