/* Which files a find finds, as far as the expression tells: for what is done with them. */
#include "src/policy/found.h"

/* What it is that all have in common for which something is done. */
struct common {
	const struct call *call;
	size_t i;
	bool from_here; /* it starts at `.` alone, so paths begin with `./` */
	bool files;     /* -type f */
	bool folders;   /* -type d */
	bool deep;      /* directories come after what is in them: -prune comes too late */
	bool acted;
	bool pruned, left_out; /* git's directory, in one way or the other */
	struct str names;
};

static bool is_at(const struct common *m, size_t i, const char *text)
{
	return i < m->call->n && bin_is(&m->call->args[i], text);
}

/* `-path ./.git -prune -o`, `-name .git -prune -o` in front of all. */
static void skip_pruned(struct common *m)
{
	size_t i = m->i;

	if (!(is_at(m, i, "-name") && is_at(m, i + 1, ".git")) &&
		!(is_at(m, i, "-path") && m->from_here && is_at(m, i + 1, "./.git")))
		return;
	i += 2;
	i += is_at(m, i, "-a") || is_at(m, i, "-and");
	if (!is_at(m, i, "-prune") || !(is_at(m, i + 1, "-o") || is_at(m, i + 1, "-or")))
		return;
	m->i = i + 2;
	m->pruned = true;
}

static void skip_exec(struct common *m)
{
	while (m->i < m->call->n && !is_at(m, m->i, ";") &&
		!(is_at(m, m->i, "+") && is_at(m, m->i - 1, "{}")))
		m->i++;
	m->acted = true;
}

/* `! TEST VALUE`. */
static bool skip_not(struct common *m)
{
	const struct find_predicate *p =
		m->i + 1 < m->call->n ? find_predicate(m->call->args[m->i + 1].text) : NULL;

	if (!p || p->takes == NOTHING)
		return false;
	if (is_at(m, m->i + 1, "-path") &&
		(is_at(m, m->i + 2, "*/.git/*") ||
			(m->from_here && is_at(m, m->i + 2, "./.git/*"))))
		m->left_out = !m->acted;
	m->i += 2;
	return true;
}

/* One test; false when not all is joined by `and`. */
static bool take_common(struct common *m)
{
	static const char *const narrows[] = {"-print", "-print0", "-maxdepth", "-mindepth", "-a",
		"-and", "-xdev", "-mount", "-size", "-mtime", "-newer", "-mmin", "-empty", "-user",
		"-perm", "-path", "-regex", "-iname", "-prune", "-links", "-delete", "-depth", "-d",
		"-type", "-name"};
	struct str text = m->call->args[m->i].text;
	const struct find_predicate *p = find_predicate(text);
	bool known = false;

	if (str_is(text, "-exec") || str_is(text, "-ok")) {
		skip_exec(m);
		return true;
	}
	if (str_is(text, "!") || str_is(text, "-not"))
		return skip_not(m);
	for (size_t i = 0; i < COUNT(narrows) && !known; i++)
		known = str_is(text, narrows[i]);
	m->deep |= str_is(text, "-delete") || str_is(text, "-depth") || str_is(text, "-d");
	m->acted |= str_is(text, "-delete") || str_is(text, "-print") || str_is(text, "-print0");
	if (p && p->takes != NOTHING)
		m->i++;
	if (m->i < m->call->n && !m->acted && str_is(text, "-name"))
		m->names = m->call->args[m->i].text;
	m->folders |= !m->acted && str_is(text, "-type") && is_at(m, m->i, "d");
	m->files |= !m->acted && str_is(text, "-type") && is_at(m, m->i, "f");
	return known;
}

static void find_common(const struct call *call, size_t i, struct finding *out)
{
	struct common m = {.call = call, .i = i};

	m.from_here = !out->n || (out->n == 1 && bin_is(out->starts, "."));
	skip_pruned(&m);
	for (; m.i < call->n; m.i++)
		if (call->args[m.i].origin != ARG_KNOWN || !take_common(&m))
			return;
	out->names = m.names;
	/* Directories above git's own are found too, so only files are clear of it. */
	out->tracked = m.files && ((m.pruned && !m.deep && m.acted) || m.left_out);
	out->beside = m.left_out;
	out->plain = m.files || m.folders;
}

void find_places(const struct call *call, struct finding *out)
{
	size_t i = 1, from;

	while (i < call->n &&
		(bin_is(&call->args[i], "-P") || str_starts(call->args[i].text, "-O")))
		i++;
	for (from = i; i < call->n && !find_begins(&call->args[i]);)
		i++;
	*out = (struct finding){.starts = call->args + from, .n = i - from};
	find_common(call, i, out);
}

bool find_finding(const struct call *call, struct finding *out)
{
	int zero = -1;

	find_places(call, out);
	for (size_t i = (size_t)(out->starts - call->args) + out->n; i < call->n; i++) {
		struct str text = call->args[i].text;
		const struct find_predicate *p = find_predicate(text);

		if (!p && !find_newer(text))
			return false;
		if (str_is(text, "-printf") || str_is(text, "-ls"))
			return false;
		if (str_is(text, "-print0") || str_is(text, "-print")) {
			if (zero >= 0 && zero != str_is(text, "-print0"))
				return false;
			zero = str_is(text, "-print0");
		}
		i += !p || p->takes != NOTHING;
	}
	out->zero = zero == 1;
	return true;
}
