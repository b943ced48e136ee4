#include "src/policy/notation.h"

static bool cut_word(struct str *rest, struct str *word)
{
	size_t from = 0, to;

	while (from < rest->n && (rest->p[from] == ' ' || rest->p[from] == '\n'))
		from++;
	for (to = from; to < rest->n && rest->p[to] != ' ' && rest->p[to] != '\n';)
		to++;
	*word = str_sub(*rest, from, to);
	*rest = str_sub(*rest, to, rest->n);
	return word->n > 0;
}

static bool kind_known(struct str kind)
{
	static const char *const kinds[] = {"text", "number", "name", "read", "write", "tree",
		"entry", "folder", "rev", "enter", "mode"};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (str_is(kind, kinds[i]))
			return true;
	return str_starts(kind, "word{") && str_ends(kind, "}") && kind.n > strlen("word{}");
}

/* Of few characters, in short texts, often. */
static size_t index_of(struct str s, const char *any)
{
	for (size_t i = 0; i < s.n; i++)
		for (const char *c = any; *c; c++)
			if (s.p[i] == *c)
				return i;
	return s.n;
}

/* `@write` and the value, cut off the end of an option's word. */
static int cut_value(struct str *word, struct option_row *row, struct error *err)
{
	size_t at = index_of(*word, ":?");

	if (str_ends(*word, "@write")) {
		row->write = true;
		word->n -= strlen("@write");
	}
	if (at >= word->n)
		return 0;
	row->value = word->p[at] == ':' ? OPTION_NEEDS : OPTION_MAY;
	row->kind = str_sub(*word, at + 1, word->n);
	word->n = at;
	if (!kind_known(row->kind))
		return error_set(
			err, ERR_INPUT, "unknown kind '%.*s'", (int)row->kind.n, row->kind.p);
	return 0;
}

static bool name_fits(struct str name)
{
	if (name.n < 2 || name.p[0] != '-' || str_is(name, "--"))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] >= 0x7f)
			return false;
	return index_of(name, "@'\"") == name.n;
}

static int add_names(struct notation *n, struct str names, struct option_row row, struct error *err)
{
	while (names.n) {
		size_t to = index_of(names, ",");
		struct option_row *new = &n->rows[n->n++];

		row.name = str_sub(names, 0, to);
		if (!row.first.n)
			row.first = row.name;
		if (!name_fits(row.name))
			return error_set(err, ERR_INPUT, "'%.*s' is not the name of an option",
				(int)row.name.n, row.name.p);
		*new = row;
		if (str_is(row.name, "-#"))
			n->number = new;
		else if (row.name.n == 2)
			n->letter[(unsigned char)row.name.p[1]] = new;
		else if (row.name.p[1] != '-')
			n->words = true;
		names = str_sub(names, to + (to < names.n), names.n);
	}
	return 0;
}

int notation_options(struct arena *a, const char *options, struct notation *out, struct error *err)
{
	struct str rest = str_of(options ? options : ""), word;
	size_t most = 1;

	for (size_t i = 0; i < rest.n; i++)
		most += rest.p[i] == '-';
	*out = (struct notation){.rows = arena_alloc(a, most * sizeof(*out->rows))};
	while (cut_word(&rest, &word)) {
		struct option_row row = {.value = OPTION_ALONE};

		if (str_is(word, "+")) {
			out->ends = true;
			continue;
		}
		if (str_is(word, "=")) {
			out->apart = true;
			continue;
		}
		if (cut_value(&word, &row, err) < 0 || add_names(out, word, row, err) < 0)
			return -1;
	}
	return 0;
}

static int cut_operand(struct str word, struct operand_row *row, struct error *err)
{
	size_t at = index_of(word, "(");

	*row = (struct operand_row){.kind = word};
	if (at < word.n) {
		size_t end = index_of(word, ")");

		if (end + 2 < word.n || end >= word.n)
			return error_set(err, ERR_INPUT, "'%.*s' has no closing bracket",
				(int)word.n, word.p);
		row->unless = str_sub(word, at + 1, end);
		row->repeat = end + 1 < word.n ? word.p[end + 1] : 0;
		row->kind = str_sub(word, 0, at);
	} else if (word.n && strchr("*+", word.p[word.n - 1])) {
		row->repeat = word.p[word.n - 1];
		row->kind.n--;
	}
	if (!kind_known(row->kind) || (row->repeat && !strchr("*+", row->repeat)))
		return error_set(err, ERR_INPUT, "unknown kind '%.*s'", (int)word.n, word.p);
	return 0;
}

int notation_operands(const char *operands, struct operand_list *out, struct error *err)
{
	struct str rest = str_of(operands ? operands : ""), word;

	out->n = 0;
	while (cut_word(&rest, &word)) {
		if (out->n == OPERAND_ROWS)
			return error_set(err, ERR_INPUT, "more than %d operands", OPERAND_ROWS);
		if (cut_operand(word, &out->p[out->n++], err) < 0)
			return -1;
	}
	for (size_t i = 0; i + 2 < out->n; i++)
		if (out->p[i].repeat)
			return error_set(err, ERR_INPUT,
				"only the last operand, or the one before it, can be repeated");
	if (out->n > 1 && out->p[out->n - 1].repeat && out->p[out->n - 2].repeat)
		return error_set(err, ERR_INPUT, "two operands are repeated");
	return 0;
}

const struct option_row *notation_find(const struct notation *n, struct str name)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->rows[i].name.n == name.n && str_eq(n->rows[i].name, name))
			return &n->rows[i];
	return NULL;
}

static int check_twice(const struct notation *n, struct error *err)
{
	for (size_t i = 0; i < n->n; i++)
		if (notation_find(n, n->rows[i].name) != &n->rows[i])
			return error_set(err, ERR_INPUT, "option '%.*s' is given twice",
				(int)n->rows[i].name.n, n->rows[i].name.p);
	return 0;
}

int notation_check(const char *options, const char *operands, struct error *err)
{
	struct arena a = {0};
	struct notation n;
	struct operand_list l;
	int rc = 0;

	if (notation_options(&a, options, &n, err) < 0 || check_twice(&n, err) < 0 ||
		notation_operands(operands, &l, err) < 0)
		rc = -1;
	arena_release(&a);
	return rc;
}
