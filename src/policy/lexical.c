#include "src/policy/where.h"

/* The next part of *rest; false at the end. */
static bool next_part(struct str *rest, struct str *part)
{
	size_t slash;

	if (!rest->n)
		return false;
	slash = str_find(*rest, STR("/"));
	*part = str_sub(*rest, 0, slash);
	*rest = str_sub(*rest, slash < rest->n ? slash + 1 : slash, rest->n);
	return true;
}

bool path_goes_up(struct str path)
{
	struct str part;

	while (next_part(&path, &part))
		if (str_is(part, ".."))
			return true;
	return false;
}

static void step(struct buf *out, struct str path)
{
	struct str part;

	while (next_part(&path, &part)) {
		if (!part.n || str_is(part, "."))
			continue;
		if (!str_is(part, "..")) {
			buf_addc(out, '/');
			buf_add(out, part);
			continue;
		}
		while (out->len && out->s[out->len - 1] != '/')
			out->len--;
		buf_cut(out, out->len ? out->len - 1 : 0);
	}
}

struct str path_by_name(struct arena *a, struct str folder, struct str path)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_reserve(&out, folder.n + path.n + 2);
	if (!path.n || path.p[0] != '/')
		step(&out, folder);
	step(&out, path);
	if (!out.len)
		buf_addc(&out, '/');
	return arena_str(a, buf_str(&out));
}

/* PWD counts where it is a name of the directory that this process is in. */
static const char *own_name(const char *real)
{
	const char *name = getenv("PWD");
	CLEANUP(base_free) char *there = name && name[0] == '/' ? realpath(name, NULL) : NULL;

	return there && strcmp(there, real) == 0 ? name : real;
}

bool path_is_alias(struct arena *a, const char *cwd)
{
	CLEANUP(base_free) char *real = realpath(cwd, NULL), *here = realpath(".", NULL);

	if (!real || !here)
		return true;
	return !str_is(path_by_name(a, str_of(own_name(here)), str_of(cwd)), real);
}
