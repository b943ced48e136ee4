#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include "src/base/number.h"
#include "src/config/decode.h"

enum { SHOWN_MAX = 60, KEYS_LISTED_MAX = 6, TEXTS_MAX = 1000 };

/* ---- faults ---- */

static bool is_full(const struct config_reader *r)
{
	return r->faults.n >= r->limit;
}

void config_fault(struct config_reader *r, const struct yaml *at, const char *fmt, ...)
{
	struct error fault = {0};
	char text[sizeof(fault.text)];
	va_list args;

	if (is_full(r))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (r->file)
		error_at(&fault, r->file, at->line, at->col, "%s", text);
	else
		error_set(&fault, ERR_INPUT, "%s", text);
	vec_push_in(r->arena, &r->faults, fault);
}

int config_result(const struct config_reader *r, struct error *err)
{
	if (!r->faults.n)
		return 0;
	*err = r->faults.items[0];
	return -1;
}

/* For a message: at most 60 bytes in quotes, cut between characters, "a list", "nothing". */
static const char *decode_show(const struct config_reader *r, const struct yaml *v, bool ascii)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	bool typed = r->json_types && v->kind == YAML_SCALAR && !v->plain && v->text.n;
	struct str text = str_cut(v->text, SHOWN_MAX);

	if (v->kind != YAML_SCALAR)
		return v->kind == YAML_LIST ? "a list" : "a map";
	if (yaml_is_null(v))
		return "nothing";
	if (typed && config_scalar(&(struct yaml){.plain = true, .text = v->text}) != SCALAR_TEXT)
		buf_adds(&b, "the text ");
	buf_addc(&b, '\'');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < ' ' || c == 0x7f || (ascii && c > 0x7f))
			buf_addf(&b, "\\x%02x", c);
		else
			buf_addc(&b, (char)c);
	}
	buf_addf(&b, "%s'", text.n < v->text.n ? ".." : "");
	return arena_dup(r->arena, buf_str(&b));
}

bool config_refuse(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, const char *what)
{
	const char *shown = decode_show(r, v, f->form && f->form->ascii);
	bool secret = f->form && f->form->secret;

	config_fault(r, v, "'%s' must be %s%s%s%s%s%s", key, what, secret ? "" : ", not ",
		secret ? "" : shown, f->hint ? " (" : "", f->hint ? f->hint : "",
		f->hint ? ")" : "");
	return false;
}

static const char *word_list(struct arena *a, const char *const *words)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; words[i]; i++)
		buf_addf(&b, "%s'%s'", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	return arena_dup(a, buf_str(&b));
}

/* ---- single values ---- */

static void decode_put(void *into, const struct config_field *f, const void *value)
{
	if (f->size)
		memcpy((char *)into + f->at, value, f->size);
}

static void put_integer(void *into, const struct config_field *f, int64_t value)
{
	unsigned small = (unsigned)value;

	decode_put(into, f, f->size == sizeof(small) ? (void *)&small : &value);
}

static bool decode_is_text(const struct config_reader *r, const struct yaml *v)
{
	if (v->kind != YAML_SCALAR)
		return false;
	return r->json_types ? config_scalar(v) == SCALAR_TEXT : !yaml_is_null(v);
}

static struct str trimmed(const struct config_field *f, const struct yaml *v)
{
	return f->form && f->form->trim ? str_trim(v->text) : v->text;
}

bool config_text(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, const char **out)
{
	const struct config_form *form = f->form;
	struct str text = trimmed(f, v);

	if (!decode_is_text(r, v) || !form->valid(text) ||
		(form->max && str_characters(text) > form->max)) {
		bool unquoted = v->kind == YAML_SCALAR && !decode_is_text(r, v) && !yaml_is_null(v);

		return config_refuse(r, f, key, v,
			unquoted ? arena_printf(r->arena, "%s, in quotes", form->what)
				 : form->what);
	}
	*out = form->trim ? arena_dup(r->arena, text) : text.p;
	return true;
}

static void decode_read_text(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	const char *text;

	if (config_text(r, f, key, v, &text))
		decode_put(into, f, &text);
}

static bool decode_read_word(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, unsigned *out)
{
	return (decode_is_text(r, v) && str_index(trimmed(f, v), f->words, out)) ||
	       config_refuse(r, f, key, v, word_list(r->arena, f->words));
}

static void read_choice(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	unsigned k;
	bool last;

	if (!decode_read_word(r, f, key, v, &k))
		return;
	last = !f->words[k + 1];
	if (f->kind == CONFIG_WORD)
		decode_put(into, f, &k);
	else if (f->kind == CONFIG_WORD_TEXT)
		decode_put(into, f, &f->words[k]);
	else
		decode_put(into, f, &last);
}

static const char *decode_range(struct arena *a, const struct config_field *f, const char *what)
{
	if (f->max && f->max < (double)JSON_MAX_INT)
		return arena_printf(a, "%s from %.15g to %.15g%s", what, f->min, f->max,
			f->none ? ", or none" : "");
	return arena_printf(a, "%s %s %.15g", what, f->above ? "above" : "of at least", f->min);
}

static bool is_number(const struct config_reader *r, const struct yaml *v, double *out)
{
	uint64_t whole = 0;

	if (v->kind != YAML_SCALAR)
		return false;
	if (r->json_types)
		return config_scalar(v) == SCALAR_NUMBER &&
		       number_double(v->text, -(double)JSON_MAX_INT, (double)JSON_MAX_INT, out);
	if (!number_parse(v->text, 0, JSON_MAX_INT, &whole))
		return false;
	*out = (double)whole;
	return true;
}

static void decode_read_number(struct config_reader *r, const struct config_field *f,
	const char *key, const struct yaml *v, void *into)
{
	bool whole = f->kind == CONFIG_INTEGER, none = f->none && str_is(v->text, "none");
	double d = 0;

	if (!none && (!is_number(r, v, &d) || (whole && d != floor(d)) ||
			     (f->above ? d <= f->min : d < f->min) || (f->max && d > f->max)))
		config_refuse(r, f, key, v,
			decode_range(r->arena, f, whole ? "a whole number" : "a number"));
	else if (whole)
		put_integer(into, f, (int64_t)d);
	else
		decode_put(into, f, &d);
}

static void decode_read_bool(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	bool value = str_is(v->text, "true");

	if (v->kind == YAML_SCALAR && config_scalar(v) == SCALAR_BOOL)
		decode_put(into, f, &value);
	else
		config_refuse(r, f, key, v, "true or false");
}

static void decode_read_duration(struct config_reader *r, const struct config_field *f,
	const char *key, const struct yaml *v, void *into)
{
	const char *text;
	int64_t seconds;

	if (!config_text(r, f, key, v, &text) || config_parse_duration(str_of(text), &seconds) < 0)
		return;
	if ((double)seconds < f->min)
		config_refuse(r, f, key, v, "longer than zero");
	else
		decode_put(into, f, &seconds);
}

/* ---- lists and maps ---- */

static void decode_value(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into);
static void decode_fields(struct config_reader *r, const struct config_field *fields,
	const struct yaml *map, void *into);

/* Defaults, also of groups that are missing and of keys whose value will be refused. */
static void put_presets(struct config_reader *r, const struct config_field *f, void *into)
{
	for (; f->key; f++) {
		const struct yaml preset = {
			.kind = YAML_SCALAR, .plain = true, .text = str_of(f->preset)};

		if (f->kind == CONFIG_GROUP && f->fields)
			put_presets(r, f->fields, (char *)into + f->at);
		else if (f->preset && f->kind != CONFIG_TEXTS && f->size)
			decode_value(r, f, f->key, &preset, into);
	}
}

/* Which of the items is there twice is looked up only when one is. */
static void check_once(struct config_reader *r, const char *key, const struct yaml *v,
	const char *const *sorted, size_t n)
{
	size_t i = 1;

	while (i < n && strcmp(sorted[i], sorted[i - 1]) != 0)
		i++;
	for (size_t k = 0; i < n && k < v->n; k++)
		for (size_t m = 0; m < k; m++)
			if (v->list[k]->kind == YAML_SCALAR && v->list[m]->kind == YAML_SCALAR &&
				str_eq(v->list[k]->text, v->list[m]->text)) {
				config_fault(r, v->list[k], "'%s' names '%.100s' twice", key,
					v->list[k]->text.p);
				break;
			}
}

static bool decode_check_count(
	struct config_reader *r, const char *key, const struct yaml *v, double min, double max)
{
	bool good = (double)v->n >= min && (!max || (double)v->n <= max);

	if (!good)
		config_fault(r, v, "'%s' must have %s%.15g entries, not %zu", key,
			min > 0 ? "1 to " : "at most ", max, v->n);
	return good;
}

/* A refused item is left out; the others are read. */
static void read_texts(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	double max = f->max ? f->max : TEXTS_MAX;
	const char **list, **sorted;
	size_t n = 0;
	unsigned k;

	if (!decode_check_count(r, key, v, f->min, max))
		return;
	list = arena_alloc(r->arena, (v->n + 1) * sizeof(*list));
	for (size_t i = 0; i < v->n; i++) {
		if (!f->words)
			n += config_text(r, f, key, v->list[i], &list[n]);
		else if (decode_read_word(r, f, key, v->list[i], &k))
			list[n++] = f->words[k];
	}
	if (f->once) {
		sorted = arena_alloc(r->arena, (n + 1) * sizeof(*sorted));
		memcpy(sorted, list, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), vec_by_text);
		check_once(r, key, v, sorted, n);
		list = f->sorted ? sorted : list;
	}
	memcpy((char *)into + f->at, &list, sizeof(list));
	memcpy((char *)into + f->count_at, &n, sizeof(n));
}

static void read_labels(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	(void)f;
	(void)into;
	for (size_t i = 0; i < v->n; i++)
		if (!decode_is_text(r, v->map[i].value))
			config_fault(r, v->map[i].value, "%s of '%s' must be a text, in quotes",
				decode_show(r, v->map[i].key, false), key);
}

static void decode_read_open(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (v->kind == (f->list ? YAML_LIST : YAML_MAP))
		decode_put(into, f, &v);
	else
		config_refuse(r, f, key, v, f->list ? "a list" : "a map");
}

static const struct config_field *find_field(const struct config_field *fields, struct str key)
{
	for (; fields->key; fields++)
		if (str_is(key, fields->key))
			return fields;
	return NULL;
}

static const struct config_field *decode_find_in(const struct config_variant *all, struct str key)
{
	const struct config_field *f = NULL;

	for (; all->key && !f; all++)
		f = find_field(all->fields, key);
	return f;
}

/* None of the keys that decide is there: another fault is more likely to explain it. */
static void refuse_variants(struct config_reader *r, const struct config_variant *all,
	const struct yaml *map, void *into)
{
	const char *keys[KEYS_LISTED_MAX + 1] = {0};
	size_t before = r->faults.n;

	for (size_t i = 0; i < map->n; i++) {
		const struct yaml *key = map->map[i].key;
		const struct config_field *f = decode_find_in(all, key->text);

		if (f)
			decode_value(r, f, f->key, map->map[i].value, into);
		else
			config_fault(r, key, "unknown key %s", decode_show(r, key, false));
	}
	for (size_t i = 0; all[i].key && i < KEYS_LISTED_MAX; i++)
		keys[i] = all[i].key;
	if (r->faults.n == before)
		config_fault(r, map, "%s is missing", word_list(r->arena, keys));
}

/* Into a struct that has the defaults. */
static void read_checked(struct config_reader *r, const struct config_field *fields,
	config_check_fn *check, const struct yaml *map, void *into)
{
	size_t before = r->faults.n;

	decode_fields(r, fields, map, into);
	if (check && r->faults.n == before)
		check(r, map, into);
}

static void read_variant(struct config_reader *r, const struct config_variant *all,
	const struct yaml *map, void *into)
{
	const struct config_variant *one = all;
	size_t before = r->faults.n;

	while (one->key && !yaml_get(map, one->key))
		one++;
	if (!one->key) {
		refuse_variants(r, all, map, into);
		return;
	}
	for (size_t i = 0; i < map->n; i++) {
		const struct yaml *key = map->map[i].key;

		if (!find_field(one->fields, key->text) && decode_find_in(all, key->text))
			config_fault(r, key, "'%s' does not go with '%s'", key->text.p, one->key);
	}
	if (r->faults.n != before)
		return;
	put_presets(r, one->fields, into);
	read_checked(r, one->fields, one->check, map, into);
}

static void read_group(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (v->kind != YAML_MAP)
		config_refuse(r, f, key, v, "a map");
	else if (f->variants)
		read_variant(r, f->variants, v, into);
	else
		read_checked(r, f->fields, f->check, v, into);
}

static void decode_read_item(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (f->item)
		config_value(r, f->item, key, v, into);
	else
		read_group(r, f, key, v, into);
}

static void put_place(void *into, size_t at, const struct yaml *node)
{
	const unsigned place[] = {node->line, node->col};

	if (at)
		memcpy((char *)into + at, place, sizeof(place));
}

/* Also a refused item has a struct, so that the two can be counted together. All have the defaults
 * of the first. */
static char *put_items(struct config_reader *r, const struct config_field *f, size_t n, void *into)
{
	char *items = arena_alloc(r->arena, (n + 1) * f->item_size);

	if (f->fields && n)
		put_presets(r, f->fields, items);
	for (size_t i = 1; f->fields && i < n; i++)
		memcpy(items + i * f->item_size, items, f->item_size);
	memcpy((char *)into + f->at, &items, sizeof(items));
	memcpy((char *)into + f->count_at, &n, sizeof(n));
	return items;
}

static void decode_read_list(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	struct yaml *const one = (struct yaml *)(uintptr_t)v;
	bool single = f->single && v->kind != YAML_LIST;
	struct yaml *const *list = single ? &one : v->list;
	size_t n = single ? 1 : v->n;
	char *items;

	if (!single && v->kind != YAML_LIST) {
		config_refuse(r, f, key, v, "a list");
		return;
	}
	if (!single && !decode_check_count(r, key, v, f->min, f->max))
		return;
	items = put_items(r, f, n, into);
	for (size_t i = 0; i < n && !is_full(r); i++, items += f->item_size) {
		put_place(items, f->place_at, list[i]);
		decode_read_item(r, f, key, list[i], items);
	}
}

static void read_entries(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	char *items;

	if (!decode_check_count(r, key, v, f->min, f->max))
		return;
	items = put_items(r, f, v->n, into);
	for (size_t i = 0; i < v->n && !is_full(r); i++, items += f->item_size) {
		const struct yaml *name = v->map[i].key;

		if (!f->form->valid(name->text)) {
			config_fault(r, name, "name %s must be %s", decode_show(r, name, false),
				f->form->what);
			continue;
		}
		memcpy(items, &name->text.p, sizeof(name->text.p));
		put_place(items, f->place_at, name);
		decode_read_item(r, f, name->text.p, v->map[i].value, items);
	}
}

static const struct {
	config_read_fn *read;
	const char *what; /* NULL: read() checks the kind of the value */
	enum yaml_kind kind;
} readers[] = {
	[CONFIG_TEXT] = {.read = decode_read_text},
	[CONFIG_WORD] = {.read = read_choice},
	[CONFIG_WORD_TEXT] = {.read = read_choice},
	[CONFIG_SWITCH] = {.read = read_choice},
	[CONFIG_INTEGER] = {.read = decode_read_number},
	[CONFIG_NUMBER] = {.read = decode_read_number},
	[CONFIG_BOOL] = {.read = decode_read_bool},
	[CONFIG_DURATION] = {.read = decode_read_duration},
	[CONFIG_TEXTS] = {read_texts, "a list", YAML_LIST},
	[CONFIG_GROUP] = {.read = read_group},
	[CONFIG_LIST] = {.read = decode_read_list},
	[CONFIG_ENTRIES] = {read_entries, "a map", YAML_MAP},
	[CONFIG_OPEN] = {.read = decode_read_open},
	[CONFIG_LABELS] = {read_labels, "a map of texts", YAML_MAP},
};

static void decode_value(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (f->kind != CONFIG_LIST && f->kind != CONFIG_ENTRIES)
		put_place(into, f->place_at, v);
	if (f->kind == CONFIG_GROUP || f->kind == CONFIG_CUSTOM)
		into = (char *)into + f->at;
	if (f->kind == CONFIG_CUSTOM)
		f->read(r, f, key, v, into);
	else if (readers[f->kind].what && v->kind != readers[f->kind].kind)
		config_refuse(r, f, key, v, readers[f->kind].what);
	else
		readers[f->kind].read(r, f, key, v, into);
}

void config_value(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (f->kind == CONFIG_GROUP && f->fields)
		put_presets(r, f->fields, (char *)into + f->at);
	decode_value(r, f, key, v, into);
}

/* ---- the fields of a map ---- */

static void decode_check_required(
	struct config_reader *r, const struct config_field *fields, const struct yaml *map)
{
	for (const struct config_field *f = fields; f->key; f++) {
		const struct yaml *on = f->required_when ? yaml_get(map, f->required_when) : NULL;
		const char *preset = f->required_when
					     ? find_field(fields, str_of(f->required_when))->preset
					     : NULL;

		if ((!f->required && !f->required_when) || yaml_get(map, f->key))
			continue;
		if (f->required)
			config_fault(r, map, "'%s' is missing", f->key);
		else if (on ? on->kind == YAML_SCALAR && str_in(on->text, f->required_is)
			    : preset && str_in(str_of(preset), f->required_is))
			config_fault(r, on ? on : map, "'%s' is missing, which '%s: %s' needs",
				f->key, f->required_when, on ? on->text.p : preset);
	}
}

static void refuse_key(
	struct config_reader *r, const struct config_field *fields, const struct yaml *key)
{
	const char *keys[KEYS_LISTED_MAX + 1] = {0};
	size_t n = 0;

	for (; fields[n].key; n++)
		if (n < KEYS_LISTED_MAX)
			keys[n] = fields[n].key;
	config_fault(r, key, "unknown key %s%s%s", decode_show(r, key, false),
		n <= KEYS_LISTED_MAX ? ": must be " : "",
		n <= KEYS_LISTED_MAX ? word_list(r->arena, keys) : "");
}

static void decode_fields(struct config_reader *r, const struct config_field *fields,
	const struct yaml *map, void *into)
{
	static const bool yes = true;

	for (size_t i = 0; i < map->n && !is_full(r); i++) {
		const struct yaml_pair *pair = &map->map[i];
		const struct config_field *f = find_field(fields, pair->key->text);

		if (!f)
			refuse_key(r, fields, pair->key);
		else if (f->kind == CONFIG_REFUSED)
			config_fault(r, pair->key, "'%s' is not supported: %s", f->key, f->hint);
		else if (!f->null || !yaml_is_null(pair->value))
			decode_value(r, f, f->key, pair->value, into);
		if (f && f->seen_at)
			memcpy((char *)into + f->seen_at, &yes, sizeof(yes));
	}
	decode_check_required(r, fields, map);
}

void config_fields(struct config_reader *r, const struct config_field *fields,
	const struct yaml *map, void *into)
{
	put_presets(r, fields, into);
	decode_fields(r, fields, map, into);
}

int config_decode(struct arena *a, const char *file, const struct yaml *tree, const char *what,
	const struct config_field *fields, void *into, struct error *err)
{
	struct config_reader r = {.arena = a, .file = file, .limit = 1};

	if (tree->kind == YAML_MAP)
		config_fields(&r, fields, tree, into);
	else
		config_fault(
			&r, tree, "%s must be a map, not %s", what, decode_show(&r, tree, false));
	return config_result(&r, err);
}

/* ---- the tree ---- */

/* JSON has no zeros in front of a number. */
static bool is_json_number(struct str s)
{
	struct str digits = str_sub(s, str_starts(s, "-"), s.n);
	double value;

	return number_double(s, -INFINITY, INFINITY, &value) &&
	       (digits.p[0] != '0' || digits.n == 1 || !isdigit((unsigned char)digits.p[1]));
}

enum config_scalar config_scalar(const struct yaml *node)
{
	if (!node->plain)
		return SCALAR_TEXT;
	if (yaml_is_null(node))
		return SCALAR_NULL;
	if (str_is(node->text, "true") || str_is(node->text, "false"))
		return SCALAR_BOOL;
	return is_json_number(node->text) ? SCALAR_NUMBER : SCALAR_TEXT;
}

static json *scalar_json(const struct yaml *node)
{
	struct error err;
	json *j = NULL;

	/* A number that is too large for JSON's reader is shown as what it was. */
	if (config_scalar(node) == SCALAR_TEXT ||
		json_parse(&j, yaml_is_null(node) ? STR("null") : node->text, &err) < 0)
		return json_string(node->text);
	return j;
}

json *config_json(const struct yaml *node)
{
	json *j;

	if (node->kind == YAML_SCALAR)
		return scalar_json(node);
	j = node->kind == YAML_MAP ? json_object() : json_array();
	for (size_t i = 0; i < node->n; i++)
		if (node->kind == YAML_MAP)
			json_put(j, node->map[i].key->text.p, config_json(node->map[i].value));
		else
			json_push(j, config_json(node->list[i]));
	return j;
}

const struct yaml *config_node(const struct yaml *tree, const char *path)
{
	while (tree && *path) {
		size_t n = strcspn(path, ".[");
		char key[64];

		if (*path == '[') {
			uint64_t i;

			(void)number_digits(str_of(path + 1), &i);
			tree = tree->kind == YAML_LIST && i < tree->n ? tree->list[i] : NULL;
			path += strcspn(path, "]") + 1;
		} else {
			snprintf(key, sizeof(key), "%.*s", (int)n, path);
			tree = yaml_get(tree, key);
			path += n;
		}
		path += *path == '.';
	}
	return tree;
}

const struct yaml *config_node_above(const struct yaml *tree, char *path)
{
	const struct yaml *at;

	while (!(at = config_node(tree, path))) {
		char *dot = strrchr(path, '.');

		*(dot ? dot : path) = '\0';
	}
	return at;
}
