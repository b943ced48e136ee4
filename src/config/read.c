#include "src/config/read.h"

static bool listed(const struct words *w, struct str text)
{
	for (size_t i = 0; i < w->n; i++)
		if (str_is(text, w->list[i]))
			return true;
	return false;
}

/* What is wrong with one is said; the others stay. */
static void take_texts(
	const struct reading *r, const struct row *row, const struct yml *v, struct words *out)
{
	const char **list;

	if (v->kind != YML_LIST || (double)v->n > row->max) {
		(void)row_refuse(r, row, v,
			arena_printf(r->faults->arena, "a list of at most %.15g", row->max), false);
		return;
	}
	list = arena_alloc(r->faults->arena, (v->n + 1) * sizeof(*list));
	*out = (struct words){list, 0};
	for (size_t i = 0; i < v->n; i++) {
		const char *text;

		if (!row_item(r, row, v->list[i], &text))
			continue;
		if (row->once && listed(out, str_of(text)))
			fault_add(r->faults, r->file, v->list[i], "'%s' names '%.100s' twice",
				row->key, text);
		else
			list[out->n++] = text;
	}
}

static void take_labels(const struct reading *r, const struct row *row, const struct yml *v)
{
	if (v->kind != YML_MAP) {
		(void)row_refuse(r, row, v, "a map of texts", false);
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		if (!scalar_is_text(v->map[i].value))
			fault_add(r->faults, r->file, v->map[i].value,
				"%s of '%s' must be a text, in quotes",
				scalar_shown(r->faults->arena, v->map[i].key), row->key);
}

static void take_rows(
	const struct reading *r, const struct row *rows, const struct yml *map, void *into);

static void take_group(
	const struct reading *r, const struct row *row, const struct yml *v, void *into)
{
	if (v->kind == YML_MAP)
		take_rows(r, row->rows, v, into);
	else
		(void)row_refuse(r, row, v, "a map", false);
}

/* One struct an item, also for one that is no map, so that the two can be counted together. */
static void take_list(
	const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	char *list;

	if (v->kind != YML_LIST || (double)v->n < row->min || (double)v->n > row->max) {
		(void)row_refuse(r, row, v,
			arena_printf(r->faults->arena, "a list of %s%.15g",
				row->min > 0 ? "1 to " : "at most ", row->max),
			false);
		return;
	}
	list = arena_alloc(r->faults->arena, (v->n + 1) * row->size);
	for (size_t i = 0; i < v->n; i++)
		take_group(r, row, v->list[i], list + i * row->size);
	memcpy(into + row->at, &list, sizeof(list));
	memcpy(into + row->count_at, &v->n, sizeof(v->n));
}

static void take_open(
	const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	if (v->kind == (row->list ? YML_LIST : YML_MAP))
		row_put(into, row, &v, sizeof(v));
	else
		(void)row_refuse(r, row, v, row->list ? "a list" : "a map", false);
}

static void take(const struct reading *r, const struct row *row, const struct yml *key,
	const struct yml *v, char *into)
{
	switch (row->kind) {
	case ROW_GROUP:
		take_group(r, row, v, into);
		return;
	case ROW_LIST:
		take_list(r, row, v, into);
		return;
	case ROW_TEXTS:
		take_texts(r, row, v, (struct words *)(void *)(into + row->at));
		return;
	case ROW_LABELS:
		take_labels(r, row, v);
		return;
	case ROW_OPEN:
		take_open(r, row, v, into);
		return;
	case ROW_REFUSED:
		fault_add(r->faults, r->file, key, "'%s' is not honoured: %s", row->key, row->hint);
		return;
	default:
		row_scalar(r, row, v, into);
	}
}

static const struct row *row_named(const struct row *rows, struct str key)
{
	for (; rows->key; rows++)
		if (str_is(key, rows->key))
			return rows;
	return NULL;
}

/* What stands where nothing was written; of groups that are not there too. */
static void fill(const struct reading *r, const struct row *rows, const struct yml *map, char *into)
{
	for (; rows->key; rows++) {
		const struct yml *v = map ? yml_get(map, rows->key) : NULL;
		struct yml otherwise = {.kind = YML_SCALAR, .plain = true};

		if (rows->kind == ROW_GROUP && !v)
			fill(r, rows->rows, NULL, into);
		if (v || !rows->otherwise || rows->kind == ROW_TEXTS || rows->at == NOWHERE)
			continue;
		otherwise.text = str_of(rows->otherwise);
		row_scalar(r, rows, &otherwise, into);
	}
}

static bool word_in(const char *const *words, struct str text)
{
	for (; *words; words++)
		if (str_is(text, *words))
			return true;
	return false;
}

static void check_needed(const struct reading *r, const struct row *rows, const struct yml *map)
{
	for (const struct row *row = rows; row->key; row++) {
		const struct yml *on = row->needed_when ? yml_get(map, row->needed_when) : NULL;
		const char *otherwise =
			row->needed_when ? row_named(rows, str_of(row->needed_when))->otherwise
					 : NULL;

		if (yml_get(map, row->key))
			continue;
		if (row->needed)
			fault_add(r->faults, r->file, map, "'%s' is missing", row->key);
		else if (on ? on->kind == YML_SCALAR && word_in(row->needed_is, on->text)
			    : otherwise && word_in(row->needed_is, str_of(otherwise)))
			fault_add(r->faults, r->file, on ? on : map,
				"'%s' is missing, which '%s: %s' needs", row->key, row->needed_when,
				on ? on->text.p : otherwise);
	}
}

static void take_rows(
	const struct reading *r, const struct row *rows, const struct yml *map, void *into)
{
	static const bool yes = true;

	fill(r, rows, map, into);
	for (size_t i = 0; i < map->n; i++) {
		const struct yml_pair *pair = &map->map[i];
		const struct row *row = row_named(rows, pair->key->text);

		if (!row) {
			fault_add(r->faults, r->file, pair->key, "unknown key %s",
				scalar_shown(r->faults->arena, pair->key));
			continue;
		}
		take(r, row, pair->key, pair->value, into);
		if (row->seen_at)
			memcpy((char *)into + row->seen_at, &yes, sizeof(yes));
	}
	check_needed(r, rows, map);
}

void document_read(struct faults *f, const char *file, const struct resource_kind *kind,
	const struct yml *tree, void *of)
{
	take_rows(&(struct reading){f, file}, kind->rows, tree, of);
}
