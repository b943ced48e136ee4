#include <math.h>
#include "src/config/read.h"

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

bool scalar_is_text(const struct yml *v)
{
	return v->kind == YML_SCALAR && scalar_of(v) == SCALAR_TEXT;
}

static bool take_text(
	const struct reading *r, const struct row *row, const struct yml *v, const char **out)
{
	const struct form_facts *form = form_facts(row->form);

	if (!scalar_is_text(v) || !form->good(v->text) || utf8_count(v->text) > form->max)
		return row_refuse(r, row, v,
			v->kind == YML_SCALAR && !scalar_is_text(v) && !yml_is_null(v)
				? arena_printf(r->faults->arena, "%s, in quotes", form->says)
				: form->says,
			form->secret);
	*out = v->text.p;
	return true;
}

static bool take_word(
	const struct reading *r, const struct row *row, const struct yml *v, unsigned *out)
{
	for (*out = 0; scalar_is_text(v) && row->words[*out]; ++*out)
		if (str_is(v->text, row->words[*out]))
			return true;
	return row_refuse(r, row, v, word_list(r->faults->arena, row->words), false);
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
		return row_refuse(r, row, v,
			range_text(r->faults->arena, row, whole ? "a whole number" : "a number"),
			false);
	*out = d;
	return true;
}

static bool take_bool(
	const struct reading *r, const struct row *row, const struct yml *v, bool *out)
{
	if (v->kind != YML_SCALAR || scalar_of(v) != SCALAR_BOOL)
		return row_refuse(r, row, v, "true or false", false);
	*out = str_is(v->text, "true");
	return true;
}

bool row_item(const struct reading *r, const struct row *row, const struct yml *v, const char **out)
{
	unsigned k;

	if (!row->words)
		return take_text(r, row, v, out);
	if (!take_word(r, row, v, &k))
		return false;
	*out = row->words[k];
	return true;
}

void row_put(char *into, const struct row *row, const void *value, size_t n)
{
	if (row->at != NOWHERE)
		memcpy(into + row->at, value, n);
}

static void put_bool(char *into, const struct row *row, bool value)
{
	row_put(into, row, &value, sizeof(value));
}

void row_scalar(const struct reading *r, const struct row *row, const struct yml *v, char *into)
{
	const char *text;
	unsigned k;
	double d;
	bool b = false;
	int64_t whole;

	switch (row->kind) {
	case ROW_TEXT:
		if (take_text(r, row, v, &text))
			row_put(into, row, &text, sizeof(text));
		return;
	case ROW_DURATION:
		if (take_text(r, row, v, &text) && duration_parse(text, &whole) == 0)
			row_put(into, row, &whole, sizeof(whole));
		return;
	case ROW_WORD:
		if (take_word(r, row, v, &k))
			row_put(into, row, &k, sizeof(k));
		return;
	case ROW_WORD_TEXT:
		if (take_word(r, row, v, &k))
			row_put(into, row, &row->words[k], sizeof(row->words[k]));
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
			row_put(into, row, (k = (unsigned)d, &k), sizeof(k));
		return;
	case ROW_WHOLE:
		if (take_number(r, row, v, true, &d))
			row_put(into, row, (whole = (int64_t)d, &whole), sizeof(whole));
		return;
	default: /* ROW_NUMBER */
		if (take_number(r, row, v, false, &d))
			row_put(into, row, &d, sizeof(d));
	}
}
