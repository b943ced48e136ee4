#include "src/schema/pattern_internal.h"

enum { GROUPS_MAX = 50, SOURCE_MAX = 2000 };

struct parser {
	struct arena *arena;
	struct str rest;
	unsigned depth;
	struct error *err;
};

uint32_t utf8_next(struct str *text)
{
	unsigned char c = (unsigned char)text->p[0];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	uint32_t v = n == 1 ? c : c & (0xffu >> (n + 1));

	for (size_t i = 1; i < n && i < text->n; i++)
		v = v << 6 | ((unsigned char)text->p[i] & 0x3f);
	*text = str_sub(*text, n < text->n ? n : text->n, text->n);
	return v;
}

static struct part *part_new(struct parser *p, enum pattern_kind kind)
{
	struct part *part = arena_alloc(p->arena, sizeof(*part));

	part->kind = kind;
	return part;
}

static struct part *refuse(struct parser *p, const char *what)
{
	error_set(p->err, ERR_INPUT, "%s", what);
	return NULL;
}

static bool at(const struct parser *p, const char *what)
{
	return str_starts(p->rest, what);
}

static bool take(struct parser *p, const char *what)
{
	if (!at(p, what))
		return false;
	p->rest = str_sub(p->rest, strlen(what), p->rest.n);
	return true;
}

static void add_range(struct parser *p, struct part *set, uint32_t from, uint32_t to)
{
	struct range *r = arena_alloc(p->arena, sizeof(*r));

	*r = (struct range){from, to, set->ranges};
	set->ranges = r;
}

/* \d, \w, \s and their opposites: all else than those, by the gaps between them. */
static bool add_class(struct parser *p, struct part *set, char name)
{
	static const struct {
		char name;
		uint32_t ranges[22]; /* sorted pairs, ended by a pair of zeros */
	} classes[] = {
		{'d', {'0', '9'}},
		{'w', {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}},
		{'s', {0x9, 0xd, ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028,
			      0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff,
			      0xfeff}},
	};
	bool opposite = name >= 'A' && name <= 'Z';
	uint32_t next = 0;

	for (size_t i = 0; i < COUNT(classes); i++) {
		if (classes[i].name != (opposite ? name + 32 : name))
			continue;
		for (const uint32_t *r = classes[i].ranges; r[1]; r += 2) {
			if (!opposite)
				add_range(p, set, r[0], r[1]);
			else if (r[0] > next)
				add_range(p, set, next, r[0] - 1);
			next = r[1] + 1;
		}
		if (opposite)
			add_range(p, set, next, 0x10ffff);
		return true;
	}
	return false;
}

/* `n` hexadecimal digits. */
static bool take_hex(struct parser *p, size_t n, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *d = i < p->rest.n && p->rest.p[i] ? strchr(digits, p->rest.p[i]) : NULL;

		if (!d)
			return false;
		*out = *out << 4 | (uint32_t)(d - digits < 16 ? d - digits : d - digits - 6);
	}
	p->rest = str_sub(p->rest, n, p->rest.n);
	return true;
}

/* One character behind a backslash. False: no such escape. */
static bool take_escape(struct parser *p, bool in_set, uint32_t *out)
{
	static const char from[] = "tnrfv0", to[] = "\t\n\r\f\v";
	char c = p->rest.n ? p->rest.p[0] : '\0';
	const char *k = c ? strchr(from, c) : NULL;

	if (!c)
		return false;
	p->rest = str_sub(p->rest, 1, p->rest.n);
	*out = (unsigned char)c;
	if (k)
		return *out = (unsigned char)to[k - from], c != '0';
	if (c == 'x')
		return take_hex(p, 2, out);
	if (c == 'u')
		return take_hex(p, 4, out) && (*out < 0xd800 || *out > 0xdfff);
	return strchr("^$\\.*+?()[]{}|/", c) || (in_set && c == '-');
}

static struct part *single(struct parser *p, uint32_t c)
{
	struct part *set = part_new(p, PART_SET);

	add_range(p, set, c, c);
	return set;
}

static struct part *parse_escape(struct parser *p)
{
	struct part *set = part_new(p, PART_SET);
	uint32_t c;

	if (p->rest.n && add_class(p, set, p->rest.p[0])) {
		p->rest = str_sub(p->rest, 1, p->rest.n);
		return set;
	}
	return take_escape(p, false, &c) ? single(p, c)
					 : refuse(p, "an escape of a pattern that is not known");
}

/* One end of a range; *class: it was a class, and is in the set already. */
static bool set_item(struct parser *p, struct part *set, uint32_t *c, bool *is_class)
{
	*is_class = false;
	if (!take(p, "\\"))
		return *c = utf8_next(&p->rest), true;
	if (p->rest.n && add_class(p, set, p->rest.p[0])) {
		p->rest = str_sub(p->rest, 1, p->rest.n);
		return *is_class = true;
	}
	return take_escape(p, true, c);
}

static struct part *parse_set(struct parser *p)
{
	struct part *set = part_new(p, PART_SET);

	set->negated = take(p, "^");
	while (p->rest.n && !take(p, "]")) {
		uint32_t from, to;
		bool class;

		if (!set_item(p, set, &from, &class))
			return refuse(p, "an escape of a pattern that is not known");
		if (class)
			continue;
		to = from;
		if (at(p, "-") && !at(p, "-]")) {
			take(p, "-");
			if (!p->rest.n || !set_item(p, set, &to, &class) || class || to < from)
				return refuse(p, "a range of a pattern that is none");
		}
		add_range(p, set, from, to);
		if (!p->rest.n)
			return refuse(p, "']' is missing in a pattern");
	}
	return p->rest.p[-1] == ']' ? set : refuse(p, "']' is missing in a pattern");
}

static struct part *parse_either(struct parser *p);

static struct part *parse_group(struct parser *p)
{
	struct part *inner;

	if (!take(p, "?:") && at(p, "?"))
		return refuse(p, "a group of a pattern that looks around or has a name");
	if (++p->depth > GROUPS_MAX)
		return refuse(p, "groups of a pattern are nested too deep");
	inner = parse_either(p);
	p->depth--;
	return inner && !take(p, ")") ? refuse(p, "')' is missing in a pattern") : inner;
}

static struct part *parse_any(struct parser *p)
{
	struct part *set = part_new(p, PART_SET);

	set->negated = true;
	add_range(p, set, '\n', '\n');
	add_range(p, set, '\r', '\r');
	add_range(p, set, 0x2028, 0x2029);
	return set;
}

static struct part *parse_atom(struct parser *p)
{
	if (take(p, "("))
		return parse_group(p);
	if (take(p, "["))
		return parse_set(p);
	if (take(p, "."))
		return parse_any(p);
	if (take(p, "^"))
		return part_new(p, PART_BEGIN);
	if (take(p, "$"))
		return part_new(p, PART_END);
	if (take(p, "\\"))
		return parse_escape(p);
	if (strchr("*+?{}]", p->rest.p[0]))
		return refuse(p, "a character of a pattern that must have a backslash");
	return single(p, utf8_next(&p->rest));
}

static bool take_count(struct parser *p, int *n)
{
	size_t i = 0;

	for (*n = 0; i < p->rest.n && p->rest.p[i] >= '0' && p->rest.p[i] <= '9'; i++)
		if ((*n = *n * 10 + (p->rest.p[i] - '0')) > REPEAT_MAX)
			return false;
	p->rest = str_sub(p->rest, i, p->rest.n);
	return i > 0;
}

/* 1: there was one; 0: none; -1: a wrong one. */
static int take_repeat(struct parser *p, int *min, int *max)
{
	static const struct {
		const char *sign;
		int min, max;
	} signs[] = {{"*", 0, REPEAT_ANY}, {"+", 1, REPEAT_ANY}, {"?", 0, 1}};

	for (size_t i = 0; i < COUNT(signs); i++)
		if (take(p, signs[i].sign)) {
			*min = signs[i].min;
			*max = signs[i].max;
			return 1;
		}
	if (!take(p, "{"))
		return 0;
	if (!take_count(p, min))
		return -1;
	*max = *min;
	if (take(p, ",")) {
		*max = REPEAT_ANY;
		if (!at(p, "}") && (!take_count(p, max) || *max < *min))
			return -1;
	}
	return take(p, "}") ? 1 : -1;
}

static struct part *parse_repeat(struct parser *p)
{
	struct part *atom = parse_atom(p), *r;
	int min, max, got = atom ? take_repeat(p, &min, &max) : 0;

	if (got < 0)
		return refuse(p, "a count of a pattern that is none, or over 1000");
	if (got == 0)
		return atom;
	if (atom->kind == PART_BEGIN || atom->kind == PART_END)
		return refuse(p, "an anchor of a pattern cannot be repeated");
	r = part_new(p, PART_REPEAT);
	r->a = atom;
	r->min = min;
	r->max = max;
	take(p, "?"); /* how much is taken does not matter for whether it matches */
	return r;
}

static struct part *parse_sequence(struct parser *p)
{
	struct part *left = part_new(p, PART_EMPTY);

	while (left && p->rest.n && !at(p, "|") && !at(p, ")")) {
		struct part *both = part_new(p, PART_BOTH), *right = parse_repeat(p);

		both->a = left;
		both->b = right;
		left = right ? both : NULL;
	}
	return left;
}

static struct part *parse_either(struct parser *p)
{
	struct part *left = parse_sequence(p);

	while (left && take(p, "|")) {
		struct part *either = part_new(p, PART_EITHER), *right = parse_sequence(p);

		either->a = left;
		either->b = right;
		left = right ? either : NULL;
	}
	return left;
}

int pattern_parse(struct arena *a, struct str source, const struct part **out, struct error *err)
{
	struct parser p = {.arena = a, .rest = source, .err = err};
	struct part *whole;

	if (utf8_fault(source))
		return error_set(err, ERR_INPUT, "a pattern is not UTF-8");
	if (source.n > SOURCE_MAX)
		return error_set(err, ERR_INPUT, "a pattern is too large");
	whole = parse_either(&p);
	if (whole && p.rest.n)
		whole = refuse(&p, "')' of a pattern without '('");
	*out = whole;
	return whole ? 0 : -1;
}
