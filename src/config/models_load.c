#include "src/sys/path.h"
#include "src/base/yml.h"
#include "src/config/models.h"
#include "src/config/models_form.h"

enum { REGISTRY_MAX = 1 << 20, ENTRIES_MAX = 1000, USE_MAX = 400, SHOWN = 60 };

struct reading {
	struct arena *arena;
	const char *name;
	struct error *err;
};

typedef int column_fn(const struct reading *r, const struct yml *v, const char *key, void *into);

static int fault(const struct reading *r, const struct yml *at, const char *key, const char *must)
{
	CLEANUP(buf_release) struct buf shown = BUF_INIT;

	buf_adds(&shown, at->kind == YML_LIST ? "a list" : at->kind == YML_MAP ? "a map" : "'");
	for (size_t i = 0; at->kind == YML_SCALAR && i < at->text.n && i < SHOWN; i++)
		buf_addc(&shown, (unsigned char)at->text.p[i] < ' ' ? '?' : at->text.p[i]);
	if (at->kind == YML_SCALAR)
		buf_adds(&shown, "'");
	utf8_mend(&shown); /* the text may be cut within a character */
	return error_at(
		r->err, r->name, at->line, at->col, "'%s' must be %s, not %s", key, must, shown.s);
}

static int read_form(const struct reading *r, const struct yml *v, const char *key,
	bool (*form)(struct str), const char *must, const char **out)
{
	if (v->kind != YML_SCALAR || yml_is_null(v) || !form(v->text))
		return fault(r, v, key, must);
	*out = v->text.p;
	return 0;
}

static int read_alias(const struct reading *r, const struct yml *v, const char *key, void *into)
{
	if (v->kind == YML_SCALAR && str_is(v->text, INHERIT_MODEL))
		return fault(r, v, key, "another word: this one stands for no model");
	return read_form(r, v, key, model_alias_form,
		"a letter, then letters, digits, '.', '_' and '-', perhaps with '[...]' behind",
		into);
}

static int read_id(const struct reading *r, const struct yml *v, const char *key, void *into)
{
	return read_form(r, v, key, model_id_form,
		"a letter or digit, then letters, digits and '._:/-[]'", into);
}

static int read_date(const struct reading *r, const struct yml *v, const char *key, void *into)
{
	if (v->kind == YML_SCALAR && yml_is_null(v))
		return 0;
	if (v->kind != YML_SCALAR || !model_date(v->text, into))
		return fault(r, v, key,
			"a day or a time in UTC, like 2026-05-01 or 2026-05-01T00:00:00Z");
	return 0;
}

static int read_replacement(
	const struct reading *r, const struct yml *v, const char *key, void *into)
{
	return v->kind == YML_SCALAR && yml_is_null(v) ? 0 : read_alias(r, v, key, into);
}

static bool use_form(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return s.n && s.n <= USE_MAX;
}

static int read_use(const struct reading *r, const struct yml *v, const char *key, void *into)
{
	if (v->kind == YML_SCALAR && yml_is_null(v))
		return 0;
	return read_form(r, v, key, use_form, "a line of at most 400 bytes", into);
}

#define AT(member) offsetof(struct model_entry, member)

static const struct {
	const char *key;
	column_fn *read;
	size_t at;
	bool needed;
} columns[] = {
	{"alias", read_alias, AT(alias), true},
	{"modelId", read_id, AT(id), true},
	{"deprecatedAt", read_date, AT(deprecated), false},
	{"removedAt", read_date, AT(removed), false},
	{"replacementAlias", read_replacement, AT(replacement), false},
	{"use", read_use, AT(use), false},
};

static int read_pair(const struct reading *r, const struct yml_pair *pair, struct model_entry *e)
{
	for (size_t i = 0; i < COUNT(columns); i++)
		if (str_is(pair->key->text, columns[i].key))
			return columns[i].read(
				r, pair->value, columns[i].key, (char *)e + columns[i].at);
	return fault(r, pair->key, "key",
		"alias, modelId, deprecatedAt, removedAt, replacementAlias or use");
}

static int read_entry(const struct reading *r, const struct yml *row, struct model_entry *e)
{
	if (row->kind != YML_MAP)
		return fault(r, row, "models", "a list of maps");
	for (size_t i = 0; i < row->n; i++)
		if (read_pair(r, &row->map[i], e) < 0)
			return -1;
	for (size_t i = 0; i < COUNT(columns); i++)
		if (columns[i].needed && !yml_get(row, columns[i].key))
			return error_at(r->err, r->name, row->line, row->col, "a model lacks '%s'",
				columns[i].key);
	return 0;
}

static int entry_fault(const struct reading *r, const struct yml *row, const char *key,
	const struct model_entry *e, const char *what)
{
	const struct yml *at = yml_get(row, key);

	at = at ? at : row;
	return error_at(r->err, r->name, at->line, at->col, "model '%s' %s", e->alias, what);
}

static int check_entry(
	const struct reading *r, const struct yml *row, const struct model_registry *all, size_t i)
{
	const struct model_entry *e = &all->list[i];

	for (size_t k = 0; k < i; k++)
		if (strcmp(all->list[k].alias, e->alias) == 0)
			return entry_fault(r, row, "alias", e, "is there twice");
	if (e->deprecated && !e->replacement)
		return entry_fault(
			r, row, "deprecatedAt", e, "is deprecated and lacks 'replacementAlias'");
	if (e->replacement && !models_find(all, e->replacement))
		return entry_fault(r, row, "replacementAlias", e,
			"has a 'replacementAlias' that is no alias here");
	if (e->replacement && strcmp(e->replacement, e->alias) == 0)
		return entry_fault(r, row, "replacementAlias", e, "cannot replace itself");
	if (e->removed && e->removed < e->deprecated)
		return entry_fault(r, row, "removedAt", e, "is removed before it is deprecated");
	return 0;
}

static int read_models(const struct reading *r, const struct yml *list, struct model_registry *out)
{
	if (list->kind != YML_LIST || !list->n || list->n > ENTRIES_MAX)
		return fault(r, list, "models", "a list of 1 to 1000 maps");
	out->list = arena_alloc(r->arena, list->n * sizeof(*out->list));
	for (out->n = 0; out->n < list->n; out->n++)
		if (read_entry(r, list->list[out->n], &out->list[out->n]) < 0)
			return -1;
	for (size_t i = 0; i < out->n; i++)
		if (check_entry(r, list->list[i], out, i) < 0)
			return -1;
	return 0;
}

int models_read(struct arena *a, struct str text, const char *name, struct model_registry *out,
	struct error *err)
{
	struct reading r = {a, name, err};
	struct yml *root;

	*out = (struct model_registry){0};
	if (yml_parse(a, text, name, 1, &root, err) < 0)
		return -1;
	if (root->kind != YML_MAP || root->n != 1 || !yml_get(root, "models"))
		return error_at(err, name, root->line, root->col,
			"a registry of models has the key 'models' and no other");
	return read_models(&r, root->map[0].value, out);
}

int models_load(struct arena *a, const char *file, struct model_registry *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing = false;

	if (!file)
		return models_read(a, models_shipped(), "models.yaml", out, err);
	if (file_read(&text, file, REGISTRY_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "there is no file '%s'", file) : -1;
	if (models_read(a, buf_str(&text), file, out, err) < 0)
		return -1;
	out->file = arena_dup(a, str_of(file));
	return 0;
}

int models_file(struct arena *a, const char *repo, const char **file, struct error *err)
{
	char *path = path_join(a, repo, ".dev-team/models.yaml");
	bool there;

	*file = NULL;
	if (path_look(path, &there, err) < 0)
		return -1;
	if (there)
		*file = path;
	return 0;
}

const struct model_entry *models_find(const struct model_registry *r, const char *alias)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->list[i].alias, alias) == 0)
			return &r->list[i];
	return NULL;
}
