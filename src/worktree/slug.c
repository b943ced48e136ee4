#include <ctype.h>
#include <limits.h>
#include "src/worktree/pool_internal.h"

enum { SLUG_MAX = 200 };

static bool slug_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_';
}

/* Replaces every run of other characters, including dashes, by one dash; none at the ends. */
static void squeeze(struct buf *out, const char *branch)
{
	for (const char *p = branch; *p; p++) {
		if (slug_char(*p))
			buf_addc(out, *p);
		else if (out->len && out->s[out->len - 1] != '-')
			buf_addc(out, '-');
	}
	while (out->len && out->s[out->len - 1] == '-')
		buf_cut(out, out->len - 1);
}

/* The worktree of a work item has the item's id as its name. */
static const char *without_prefix(const char *branch)
{
	static const char of_item[] = "dev-team/";

	return str_starts(str_of(branch), of_item) ? branch + strlen(of_item) : branch;
}

int pool_slug(struct arena *a, const char *branch, char **slug, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	squeeze(&out, without_prefix(branch));
	if (!out.len)
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it has no letter or "
			"digit",
			branch);
	/* `.` and `..` would be the pool itself and its parent; hidden names are reserved for the
	 * pool. */
	if (out.s[0] == '.')
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it begins with a dot",
			branch);
	if (str_ends(buf_str(&out), ".lock") || str_ends(buf_str(&out), "."))
		return error_set(err, ERR_USAGE,
			"branch '%.200s' does not make a directory name: it ends with '%s'", branch,
			str_ends(buf_str(&out), ".") ? "." : ".lock");
	if (out.len > SLUG_MAX)
		return error_set(err, ERR_USAGE,
			"branch '%.60s...' makes a name of more than %d bytes", branch, SLUG_MAX);
	*slug = arena_dup(a, buf_str(&out));
	return 0;
}

static bool part_is_bad(struct str part)
{
	return !part.n || part.p[0] == '.' || str_ends(part, ".lock");
}

static bool bad_char(unsigned char c)
{
	return c <= ' ' || c == 0x7f || strchr("~^:?*[\\", c) != NULL;
}

/* The rules of git-check-ref-format(1). */
static bool branch_is_bad(const char *branch)
{
	struct str rest = str_of(branch);

	if (branch[0] == '-' || !rest.n || strcmp(branch, "@") == 0 || strcmp(branch, "HEAD") == 0)
		return true;
	if (strstr(branch, "..") || strstr(branch, "@{") || str_ends(rest, "."))
		return true;
	for (const char *p = branch; *p; p++)
		if (bad_char((unsigned char)*p))
			return true;
	for (size_t at = 0; at <= rest.n;) {
		struct str part = str_sub(rest, at, rest.n);

		part.n = str_find(part, STR("/"));
		if (part_is_bad(part))
			return true;
		at += part.n + 1;
	}
	return false;
}

/* git accepts such names, and then resolves them to another reference. */
static bool branch_is_ambiguous(struct str branch)
{
	static const char *const first[] = {"refs/", "heads/", "tags/", "remotes/", "origin/"};

	for (size_t i = 0; i < COUNT(first); i++)
		if (str_starts(branch, first[i]))
			return true;
	return str_is(branch, "HEAD") ||
	       (str_ends(branch, "_HEAD") && str_find(branch, STR("/")) == branch.n);
}

int branch_check(const char *branch, struct error *err)
{
	if (branch_is_bad(branch))
		return error_set(err, ERR_USAGE, "'%.200s' is not a valid branch name", branch);
	if (branch_is_ambiguous(str_of(branch)))
		return error_set(
			err, ERR_USAGE, "git would not take '%.200s' for a branch", branch);
	if (str_utf8_fault(str_of(branch)))
		return error_set(err, ERR_USAGE, "the name of the branch is not UTF-8");
	return 0;
}

bool slug_same(const char *one, const char *other, bool folds)
{
	for (; *one && *other; one++, other++)
		if (*one != *other &&
			!(folds && tolower((unsigned char)*one) == tolower((unsigned char)*other)))
			return false;
	return *one == *other;
}
