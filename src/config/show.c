#include "src/config/describe.h"
#include "src/config/parallelism.h"

#define MODE_VARIABLE "AI_SDLC_PARALLELISM"

struct showing {
	struct arena *a;
	const struct resources *r;
	const struct resource_doc *doc;
	enum parallelism_mode mode;
	const void *at; /* the struct that the rows are of */
	struct shown *out;
};

static void push(const struct showing *s, struct shown_field field)
{
	struct shown *out = s->out;

	if (out->n == out->cap) {
		struct shown_field *more = arena_alloc(
			s->a, (out->cap = out->cap ? out->cap * 2 : 64) * sizeof(*more));

		if (out->n)
			memcpy(more, out->list, out->n * sizeof(*more));
		out->list = more;
	}
	out->list[out->n++] = field;
}

static bool tells(const char *key)
{
	static const char *const ends[] = {"Env", "Id", "Command", "Volume"};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (str_ends(str_of(key), ends[i]))
			return true;
	return false;
}

/* An open map is the adapter's own, and somebody may have put a secret itself into it. */
static json *masked(const struct yml *map)
{
	json *j = json_object();

	for (size_t i = 0; i < map->n; i++) {
		const struct yml *v = map->map[i].value;
		bool plain = v->kind == YML_SCALAR && scalar_of(v) == SCALAR_BOOL;
		const char *key = map->map[i].key->text.p;

		json_put(j, key,
			v->kind == YML_SCALAR && (plain || tells(key)) ? yml_json(v)
								       : json_string(STR("****")));
	}
	return j;
}

static json *value_of(const struct showing *s, const struct row *row, const struct yml *node)
{
	const char *text;

	if (row->kind == ROW_OPEN && node->kind == YML_MAP)
		return masked(node);
	if (row->form != FORM_ROOT || row->kind != ROW_TEXT)
		return yml_json(node);
	memcpy(&text, (const char *)s->at + row->at, sizeof(text));
	return json_string(str_of(text));
}

static void put_written(const struct showing *s, const char *path, const struct row *row,
	const struct yml *node, const char *why)
{
	push(s, (struct shown_field){.path = path,
			.value = value_of(s, row, node),
			.origin = ORIGIN_WRITTEN,
			.file = s->doc->file,
			.line = node->line,
			.why = why,
			.inert = row->inert});
}

static void put_default(const struct showing *s, const char *path, const struct row *row)
{
	const struct yml text = {.kind = YML_SCALAR, .plain = true, .text = str_of(row->otherwise)};
	const struct yml list = {.kind = YML_LIST};

	push(s, (struct shown_field){.path = path,
			.value = value_of(s, row, row->kind == ROW_TEXTS ? &list : &text),
			.origin = ORIGIN_DEFAULT});
}

static void put_derived(
	const struct showing *s, const char *path, const char *value, const char *why)
{
	push(s, (struct shown_field){.path = path,
			.value = json_string(str_of(value)),
			.origin = ORIGIN_DERIVED,
			.why = why});
}

static const struct row *row_of(const struct row *rows, const char *key)
{
	for (; rows->key; rows++)
		if (strcmp(rows->key, key) == 0)
			return rows;
	return NULL;
}

/* The pipeline's own field stands for the stage's. */
static void put_inherited(const struct showing *s, const char *path, const struct row *row)
{
	const struct row *spec = row_of(pipeline_rows, "spec")->rows;
	const struct row *from = row_of(spec, row->inherits);
	const struct yml *node = yml_at(s->doc->tree, arena_printf(s->a, "spec.%s", row->inherits));

	if (node)
		put_written(s, path, row, node, row->inherits);
	else
		put_default(s, path, from);
}

static const char *plans_text(struct arena *a, const struct parallelism *n)
{
	const char *text = "";

	for (size_t i = 0; i < n->plans.n; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " + " : "", n->plans.list[i]);
	return text;
}

static void put_concurrent(
	const struct showing *s, const char *path, const struct row *row, const struct yml *node)
{
	CLEANUP(json_free) json *value = json_object();
	struct shown_field f = {.path = path, .origin = ORIGIN_DEFAULT};
	struct parallelism n;

	parallelism_resolve(s->a, s->r, s->doc->of, s->mode, &n);
	if (n.source == PARALLELISM_DECLARED && node) {
		put_written(s, path, row, node, NULL);
		return;
	}
	json_put_int(value, "n", n.max);
	f.value = json_copy(json_get(value, "n"));
	f.why = n.source == PARALLELISM_PLANS ? plans_text(s->a, &n) : parallelism_word(n.source);
	if (n.source == PARALLELISM_PLANS)
		f.origin = ORIGIN_DERIVED;
	if (n.source == PARALLELISM_DISABLED) {
		f.origin = ORIGIN_ENVIRONMENT;
		f.why = MODE_VARIABLE;
	}
	push(s, f);
}

static void put_missing(const struct showing *s, const char *path, const struct row *row)
{
	const struct pipeline *p = s->doc->of;

	if (row->inherits)
		put_inherited(s, path, row);
	else if (row->otherwise)
		put_default(s, path, row);
	else if (strcmp(row->key, "isolation") == 0)
		put_derived(s, path, p->parallel ? "worktree" : "inplace",
			p->parallel ? "the pipeline has `parallelism`"
				    : "the pipeline has no `parallelism`");
	else if (strcmp(row->key, "worktreePool") == 0 && p->parallel)
		put_derived(s, path, p->worktree_pool, row->derived);
}

static void show_rows(
	const struct showing *s, const char *prefix, const struct row *rows, const struct yml *map);

static void show_list(
	const struct showing *s, const char *path, const struct row *row, const struct yml *node)
{
	struct showing item = *s;
	const char *list;

	memcpy(&list, (const char *)s->at + row->at, sizeof(list));
	for (size_t i = 0; i < node->n; i++) {
		item.at = list + i * row->size;
		show_rows(&item, arena_printf(s->a, "%s[%zu].", path, i), row->rows, node->list[i]);
	}
}

static bool inherit(const struct row *row, const struct yml *node)
{
	return row->inherits && node->kind == YML_SCALAR && str_is(node->text, "inherit");
}

static void show_row(
	const struct showing *s, const char *prefix, const struct row *row, const struct yml *node)
{
	const char *path = arena_printf(s->a, "%s%s", prefix, row->key);

	if (row->kind == ROW_GROUP) {
		if (node || !row->apart)
			show_rows(s, arena_printf(s->a, "%s.", path), row->rows, node);
	} else if (strcmp(row->key, "maxConcurrent") == 0 && s->doc->kind->rows == pipeline_rows) {
		put_concurrent(s, path, row, node);
	} else if (!node || inherit(row, node)) {
		put_missing(s, path, row);
	} else if (row->kind == ROW_LIST) {
		show_list(s, path, row, node);
	} else {
		put_written(s, path, row, node, NULL);
	}
}

static void show_rows(
	const struct showing *s, const char *prefix, const struct row *rows, const struct yml *map)
{
	for (; rows->key; rows++)
		if (rows->kind != ROW_REFUSED)
			show_row(s, prefix, rows, map ? yml_get(map, rows->key) : NULL);
}

void resource_shown(struct arena *a, const struct resources *r, const struct resource_doc *doc,
	enum parallelism_mode mode, struct shown *out)
{
	const struct showing s = {a, r, doc, mode, doc->of, out};

	*out = (struct shown){0};
	show_rows(&s, "", doc->kind->rows, doc->tree);
}

void shown_release(struct shown *s)
{
	for (size_t i = 0; i < s->n; i++)
		json_free(&s->list[i].value);
}
