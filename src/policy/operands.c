/* What stands behind the options, and the kinds of values. */
#include "src/policy/found.h"
#include "src/policy/notation.h"

static int refuse(struct check *c, enum rule rule, const struct arg *arg, const char *why)
{
	deny_word(c->v, rule, arg->at, arg->text, STR(""), "%s", why);
	return asked(c, rule, arg->at, arg->text, STR(""), -1);
}

/* Counts, sizes and durations: 10, -5, +3, 1.5, 30s, 4K, 50%. */
static int check_number(struct check *c, const struct arg *arg)
{
	bool digit = false;

	for (size_t i = 0; i < arg->text.n; i++)
		digit |= arg->text.p[i] >= '0' && arg->text.p[i] <= '9';
	if (!bin_has_only(arg->text, ".+-%") || arg->text.n > 40 ||
		(!digit && arg->origin == ARG_KNOWN))
		return refuse(c, RULE_OPERAND, arg, "not a number");
	return 0;
}

/* Permissions, without those that make a program run as somebody else. */
static int check_mode(struct check *c, const struct arg *arg)
{
	bool octal = arg->text.n > 0, special = false;

	for (size_t i = 0; i < arg->text.n; i++) {
		char ch = arg->text.p[i];

		octal &= ch >= '0' && ch <= '7';
		special |= ch == 's' || ch == 't';
	}
	if (arg->origin != ARG_KNOWN)
		return refuse(c, RULE_VALUE_DYNAMIC, arg, "only known at run time: a mode");
	if (octal && arg->text.n > 3)
		special = strtoul(arena_dup(c->arena, arg->text), NULL, 8) & ~0777UL;
	if (special)
		return refuse(
			c, RULE_OPERAND, arg, "a mode with set-user-ID, set-group-ID or sticky");
	return 0;
}

static int check_name(struct check *c, const struct arg *arg)
{
	if (arg->origin != ARG_KNOWN)
		return refuse(c, RULE_VALUE_DYNAMIC, arg, "only known at run time: a name");
	if (!arg->text.n || arg->text.p[0] == '-' || !bin_has_only(arg->text, "._+-"))
		return refuse(c, RULE_OPERAND, arg, "not a plain name");
	return 0;
}

static int check_word(struct check *c, const struct arg *arg, struct str kind)
{
	struct str rest = str_sub(kind, strlen("word{"), kind.n - 1);

	if (arg->origin != ARG_KNOWN)
		return refuse(c, RULE_VALUE_DYNAMIC, arg, "only known at run time: a word");
	while (rest.n || rest.p) {
		const char *comma = memchr(rest.p, ',', rest.n);
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;

		if (str_eq(arg->text, str_sub(rest, 0, n)))
			return 0;
		if (!comma)
			break;
		rest = str_sub(rest, n + 1, rest.n);
	}
	return refuse(c, RULE_OPERAND, arg, "not one of the words that are allowed here");
}

static int check_rev(struct check *c, const struct arg *arg)
{
	if (arg->text.n && arg->text.p[0] == '-')
		return refuse(c, RULE_OPERAND, arg, "a revision that begins with a dash");
	if (arg->origin == ARG_DYNAMIC && !arg->commits && !arg->text.n)
		return refuse(c, RULE_VALUE_DYNAMIC, arg, "only known at run time: a revision");
	return 0;
}

static int check_file(struct check *c, const struct call *call, const struct arg *arg,
	enum access access, bool whole)
{
	/* Below the root are the names alone, not what another path in front makes of them. */
	if (arg->origin == ARG_FOUND && arg->text.n)
		return refuse(c, RULE_PATH_DYNAMIC, arg, "a found name behind other text");
	if (arg->origin == ARG_FOUND && access != ACCESS_ENTRY && check_found_open(c, arg) < 0)
		return -1;
	if (arg->origin == ARG_FOUND && (access == ACCESS_WRITE || access == ACCESS_ENTRY))
		return check_found_write(c, arg);
	if (access == ACCESS_ENTRY && !c->policy->write)
		return refuse(c, RULE_WRITE, arg, "the policy does not allow writing");
	return check_path(c, call, arg, access, whole);
}

int check_value(struct check *c, const struct call *call, const struct arg *value, struct str kind)
{
	if (str_is(kind, "text"))
		return 0;
	if (str_is(kind, "read"))
		return check_file(c, call, value, ACCESS_READ, false);
	if (str_is(kind, "write") || str_is(kind, "folder"))
		return check_file(c, call, value, ACCESS_WRITE, false);
	if (str_is(kind, "tree"))
		return check_file(c, call, value, ACCESS_WRITE, true);
	if (str_is(kind, "entry"))
		return check_file(c, call, value, ACCESS_ENTRY, true);
	if (str_is(kind, "enter"))
		return check_file(c, call, value, ACCESS_ENTER, false);
	if (str_is(kind, "number"))
		return check_number(c, value);
	if (str_is(kind, "mode"))
		return check_mode(c, value);
	if (str_is(kind, "name"))
		return check_name(c, value);
	if (str_is(kind, "rev"))
		return check_rev(c, value);
	if (str_starts(kind, "word{"))
		return check_word(c, value, kind);
	return deny(c->v, RULE_INTERNAL, value->at, "unknown kind '%.*s'", (int)kind.n, kind.p);
}

static bool left_out(const struct operand_row *row, const struct parsed *p)
{
	char name[64];
	struct str rest = row->unless;

	while (rest.n) {
		const char *comma = memchr(rest.p, ',', rest.n);
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;

		if (n < sizeof(name)) {
			memcpy(name, rest.p, n);
			name[n] = '\0';
			if (given_any(p, name))
				return true;
		}
		rest = str_sub(rest, n + (comma != NULL), rest.n);
	}
	return false;
}

/* The row for operand `i` of `n`. NULL: there are too many. */
static const struct operand_row *row_for(const struct operand_list *l, size_t i, size_t n)
{
	const struct operand_row *last = l->n ? &l->p[l->n - 1] : NULL;

	if (l->n > 1 && l->p[l->n - 2].repeat && !last->repeat) {
		if (i + 1 == n)
			return last;
		return &l->p[i < l->n - 2 ? i : l->n - 2];
	}
	if (i < l->n)
		return &l->p[i];
	return last && last->repeat ? last : NULL;
}

/* Behind a word that may be several or none nothing has a place of its own: it must fit all. */
static int check_anywhere(struct check *c, const struct call *call, const struct arg *arg,
	const struct operand_list *l, size_t from)
{
	for (size_t i = from; i < l->n; i++)
		if (check_value(c, call, arg, l->p[i].kind) < 0)
			return -1;
	if (l->n && (l->p[l->n - 1].repeat || (l->n > 1 && l->p[l->n - 2].repeat)))
		return 0;
	return refuse(c, RULE_OPERAND, arg, "may become too many operands");
}

/* The first kind that operand `i` can be of. */
static size_t first_kind(const struct operand_list *l, size_t i)
{
	size_t last = l->n > 1 && l->p[l->n - 2].repeat ? l->n - 2 : l->n ? l->n - 1 : 0;

	return i < last ? i : last;
}

static int check_all(struct check *c, const struct call *call, const struct parsed *p,
	const struct operand_list *l)
{
	size_t loose = SIZE_MAX; /* where the first stands that may be several or none */

	for (size_t i = 0; i < p->n_operands; i++) {
		const struct arg *arg = &p->operands[i];
		const struct operand_row *row = row_for(l, i, p->n_operands);

		if (loose == SIZE_MAX && arg->split && (arg->origin == ARG_FOUND || !arg->commits))
			loose = first_kind(l, i);
		if (loose != SIZE_MAX && check_anywhere(c, call, arg, l, loose) < 0)
			return -1;
		if (loose != SIZE_MAX)
			continue;
		if (!row)
			return refuse(c, RULE_OPERAND, arg, "one operand too many");
		if (check_value(c, call, arg, row->kind) < 0)
			return -1;
	}
	return 0;
}

int check_operands(
	struct check *c, const struct call *call, const struct parsed *p, const char *operands)
{
	struct operand_list all, l = {.n = 0};
	struct error err = {0};

	if (notation_operands(operands, &all, &err) < 0)
		return deny(c->v, RULE_INTERNAL, call->at, "notation: %s", err.text);
	for (size_t i = 0; i < all.n; i++)
		if (!left_out(&all.p[i], p))
			l.p[l.n++] = all.p[i];
	return check_all(c, call, p, &l);
}
