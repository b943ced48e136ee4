#include "src/schema/schema_internal.h"

#define HOLD(name)                                                                                 \
	void hold_##name(struct checker *c, const struct node *n, const struct rule *r,            \
		const struct spot *s)

HOLD(type)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	(void)n;
	if (value_kinds(s->value) & r->kinds)
		return;
	for (unsigned bit = 1; bit <= IS_OBJECT; bit <<= 1) {
		if (!(r->kinds & bit))
			continue;
		buf_adds(&words, words.len ? " or " : "");
		buf_adds(&words, kind_word(bit));
	}
	if (value_kinds(s->value) & (IS_OBJECT | IS_ARRAY))
		hold_fault(c, r, s, "it must be %s", words.s);
	else
		hold_fault(c, r, s, "it must be %s, not %s", words.s, hold_shown(c, s->value));
}

static bool is_one_of(const struct rule *r, const json *value)
{
	CLEANUP(buf_release) struct buf form = BUF_INIT;

	value_form(&form, value);
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(form.s, r->names[i]) == 0)
			return true;
	return false;
}

HOLD(const)
{
	(void)n;
	if (!is_one_of(r, s->value))
		hold_fault(c, r, s, "%s is not %s", hold_shown(c, s->value), r->text);
}

HOLD(enum)
{
	(void)n;
	if (!is_one_of(r, s->value))
		hold_fault(c, r, s, "%s is not one of %s", hold_shown(c, s->value), r->text);
}

HOLD(maximum)
{
	(void)n;
	if (json_number(s->value, 0) > r->number)
		hold_fault(c, r, s, "%s is more than %.15g", hold_shown(c, s->value), r->number);
}

HOLD(exclusive_maximum)
{
	(void)n;
	if (json_number(s->value, 0) >= r->number)
		hold_fault(c, r, s, "%s is not below %.15g", hold_shown(c, s->value), r->number);
}

HOLD(minimum)
{
	(void)n;
	if (json_number(s->value, 0) < r->number)
		hold_fault(c, r, s, "%s is less than %.15g", hold_shown(c, s->value), r->number);
}

HOLD(exclusive_minimum)
{
	(void)n;
	if (json_number(s->value, 0) <= r->number)
		hold_fault(c, r, s, "%s is not above %.15g", hold_shown(c, s->value), r->number);
}

static bool whole(double n)
{
	return n == (double)(int64_t)n;
}

/* Both at most JSON_MAX_INT. Decimal fractions are not exact: 0.3 is three times 0.1 all the same.
 */
static bool is_multiple(double v, double of)
{
	double times = v / of, rest;

	if (whole(v) && whole(of))
		return (int64_t)v % (int64_t)of == 0;
	if (!(times < 9e15 && times > -9e15))
		return false;
	rest = v - (double)(int64_t)(times + (times < 0 ? -0.5 : 0.5)) * of;
	return (rest < 0 ? -rest : rest) <= of * 1e-6;
}

HOLD(multiple_of)
{
	(void)n;
	if (!is_multiple(json_number(s->value, 0), r->number))
		hold_fault(
			c, r, s, "%s is no multiple of %.15g", hold_shown(c, s->value), r->number);
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static const char *times(double n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

HOLD(max_length)
{
	(void)n;
	if ((double)characters(json_text(s->value)) > r->number)
		hold_fault(c, r, s, "%s is longer than %.0f %s", hold_shown(c, s->value), r->number,
			times(r->number, "character", "characters"));
}

HOLD(min_length)
{
	(void)n;
	if ((double)characters(json_text(s->value)) < r->number)
		hold_fault(c, r, s, "%s is shorter than %.0f %s", hold_shown(c, s->value),
			r->number, times(r->number, "character", "characters"));
}

HOLD(pattern)
{
	(void)n;
	if (!pattern_match(r->patterns[0], str_of(json_text(s->value))))
		hold_fault(c, r, s, "%s does not match '%s'", hold_shown(c, s->value), r->text);
}

HOLD(format)
{
	(void)n;
	if (!r->format(str_of(json_text(s->value))))
		hold_fault(c, r, s, "%s is no %s", hold_shown(c, s->value), r->text);
}
