#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include "src/resource/rows.h"

enum { SHOWN = 60, FAULTS_MAX = 1000 };

struct reading {
	struct faults *faults;
	const char *file;
};

void fault_add(struct faults *f, const char *file, const struct yml *at, const char *fmt, ...)
{
	char text[sizeof(f->list->text)];
	va_list args;

	if (f->n == FAULTS_MAX)
		return;
	if (f->n == f->cap) {
		struct error *more =
			arena_alloc(f->arena, (f->cap = f->cap ? f->cap * 2 : 4) * sizeof(*more));

		if (f->n)
			memcpy(more, f->list, f->n * sizeof(*more));
		f->list = more;
	}
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_at(&f->list[f->n++], file, at->line, at->col, "%s", text);
}

/* Copied up to 60 bytes, never through the middle of a character. */
static const char *shown(struct arena *a, const struct yml *v)
{
	struct buf b = BUF_INIT;
	const char *copy;
	size_t n;

	if (v->kind != YML_SCALAR)
		return v->kind == YML_LIST ? "a list" : "a map";
	if (yml_is_null(v))
		return "nothing";
	n = v->text.n > SHOWN ? SHOWN : v->text.n;
	while (n < v->text.n && n && ((unsigned char)v->text.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)v->text.p[i];

		if (c < ' ' || c == 0x7f)
			buf_addf(&b, "\\x%02x", c);
		else
			buf_addc(&b, (char)c);
	}
	copy = arena_printf(a, "%s'%s%s'",
		!v->plain && v->text.n &&
				scalar_of(&(struct yml){.plain = true, .text = v->text}) !=
					SCALAR_TEXT
			? "the text "
			: "",
		b.s ? b.s : "", n < v->text.n ? ".." : "");
	buf_release(&b);
	return copy;
}

/* "'KEY' must be WHAT, not VALUE (HINT)" */
static bool refuse(const struct reading *r, const struct row *row, const struct yml *v,
	const char *what, bool secret)
{
	fault_add(r->faults, r->file, v, "'%s' must be %s%s%s%s%s%s", row->key, what,
		secret ? "" : ", not ", secret ? "" : shown(r->faults->arena, v),
		row->hint ? " (" : "", row->hint ? row->hint : "", row->hint ? ")" : "");
	return false;
}

static char *word_list(struct arena *a, const char *const *words)
{
	struct buf b = BUF_INIT;
	char *text;

	for (size_t i = 0; words[i]; i++)
		buf_addf(&b, "%s'%s'", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	text = arena_dup(a, buf_str(&b));
	buf_release(&b);
	return text;
}

static bool is_text(const struct yml *v)
{
	return v->kind == YML_SCALAR && scalar_of(v) == SCALAR_TEXT;
}

static bool take_text(
	const struct reading *r, const struct row *row, const struct yml *v, const char **out)
{
	const struct form_facts *form = form_facts(row->form);

	if (!is_text(v) || !form->good(v->text) || utf8_count(v->text) > form->max)
		return refuse(r, row, v,
			v->kind == YML_SCALAR && !is_text(v) && !yml_is_null(v)
				? arena_printf(r->faults->arena, "%s, in quotes", form->says)
				: form->says,
			form->secret);
	*out = v->text.p;
	return true;
}

static bool take_word(
	const struct reading *r, const struct row *row, const struct yml *v, unsigned *out)
{
	for (*out = 0; is_text(v) && row->words[*out]; ++*out)
		if (str_is(v->text, row->words[*out]))
			return true;
	return refuse(r, row, v, word_list(r->faults->arena, row->words), false);
}

static const char *range_text(struct arena *a, const struct row *row, const char *what)
{
	if (row->max && row->max < (double)JSON_MAX_INT)
		return arena_printf(a, "%s of %.15g to %.15g", what, row->min, row->max);
	return arena_printf(a, "%s %s %.15g", what, row->above ? "above" : "of at least", row->min);
}

static bool take_number(const struct reading *r, const struct row *row, const struct yml *v,
	bool whole, double *out)
{
	double d = 0;
	bool good = v->kind == YML_SCALAR && scalar_of(v) == SCALAR_NUMBER;

	if (good)
		d = strtod(v->text.p, NULL);
	good = good && isfinite(d) && fabs(d) <= (double)JSON_MAX_INT &&
	       (!whole || d == floor(d)) && (row->above ? d > row->min : d >= row->min) &&
	       (!row->max || d <= row->max);
	if (!good)
		return refuse(r, row, v,
			range_text(r->faults->arena, row, whole ? "a whole number" : "a number"),
			false);
	*out = d;
	return true;
}

static bool take_bool(
	const struct reading *r, const struct row *row, const struct yml *v, bool *out)
{
	if (v->kind != YML_SCALAR || scalar_of(v) != SCALAR_BOOL)
		return refuse(r, row, v, "true or false", false);
	*out = str_is(v->text, "true");
	return true;
}

static bool listed(const struct words *w, struct str text)
{
	for (size_t i = 0; i < w->n; i++)
		if (str_is(text, w->list[i]))
			return true;
	return false;
}

static bool take_item(
	const struct reading *r, const struct row *row, const struct yml *v, const char **out)
{
	unsigned k;

	if (!row->words)
		return take_text(r, row, v, out);
	if (!take_word(r, row, v, &k))
		return false;
	*out = row->words[k];
	return true;
}

/* What is wrong with one is said; the others stay. */
static void take_texts(
	const struct reading *r, const struct row *row, const struct yml *v, struct words *out)
{
	const char **list;

	if (v->kind != YML_LIST || (double)v->n > row->max) {
		(void)refuse(r, row, v,
			arena_printf(r->faults->arena, "a list of at most %.15g", row->max), false);
		return;
	}
	list = arena_alloc(r->faults->arena, (v->n + 1) * sizeof(*list));
	*out = (struct words){list, 0};
	for (size_t i = 0; i < v->n; i++) {
		const char *text;

		if (!take_item(r, row, v->list[i], &text))
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
		(void)refuse(r, row, v, "a map of texts", false);
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		if (!is_text(v->map[i].value))
			fault_add(r->faults, r->file, v->map[i].value,
				"%s of '%s' must be a text, in quotes",
				shown(r->faults->arena, v->map[i].key), row->key);
}

static void take_rows(
	const struct reading *r, const struct row *rows, const struct yml *map, void *into);

static void take_group(
	const struct reading *r, const struct row *row, const struct yml *v, void *into)
{
	if (v->kind == YML_MAP)
		take_rows(r, row->rows, v, into);
	else
		(void)refuse(r, row, v, "a map", false);
}

/* One struct an item, also for one that is no map, so that the two can be counted together. */
static void take_list(
	const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	char *list;

	if (v->kind != YML_LIST || (double)v->n < row->min || (double)v->n > row->max) {
		(void)refuse(r, row, v,
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

static void put(char *into, const struct row *row, const void *value, size_t n)
{
	if (row->at != NOWHERE)
		memcpy(into + row->at, value, n);
}

static void put_bool(char *into, const struct row *row, bool value)
{
	put(into, row, &value, sizeof(value));
}

static void take_scalar(
	const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	const char *text;
	unsigned k;
	double d;
	bool b = false;
	int64_t whole;

	switch (row->kind) {
	case ROW_TEXT:
		if (take_text(r, row, v, &text))
			put(into, row, &text, sizeof(text));
		return;
	case ROW_DURATION:
		if (take_text(r, row, v, &text) && duration_parse(text, &whole) == 0)
			put(into, row, &whole, sizeof(whole));
		return;
	case ROW_WORD:
		if (take_word(r, row, v, &k))
			put(into, row, &k, sizeof(k));
		return;
	case ROW_WORD_TEXT:
		if (take_word(r, row, v, &k))
			put(into, row, &row->words[k], sizeof(row->words[k]));
		return;
	case ROW_SWITCH:
		if (take_word(r, row, v, &k))
			put_bool(into, row, k == 1);
		return;
	case ROW_BOOL:
		if (take_bool(r, row, v, &b))
			put_bool(into, row, b);
		return;
	case ROW_COUNT:
		if (take_number(r, row, v, true, &d))
			put(into, row, (k = (unsigned)d, &k), sizeof(k));
		return;
	case ROW_WHOLE:
		if (take_number(r, row, v, true, &d))
			put(into, row, (whole = (int64_t)d, &whole), sizeof(whole));
		return;
	default: /* ROW_NUMBER */
		if (take_number(r, row, v, false, &d))
			put(into, row, &d, sizeof(d));
	}
}

static void take_open(
	const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	if (v->kind == (row->list ? YML_LIST : YML_MAP))
		put(into, row, &v, sizeof(v));
	else
		(void)refuse(r, row, v, row->list ? "a list" : "a map", false);
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
		take_scalar(r, row, v, into);
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
		take_scalar(r, rows, &otherwise, into);
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
				shown(r->faults->arena, pair->key));
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
