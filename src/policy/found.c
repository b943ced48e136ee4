#include <fnmatch.h>
#include <fcntl.h>
#include <strings.h>
#include "src/policy/found.h"
#include "src/policy/trail.h"

int check_found(struct check *c, const struct call *inner, const struct call *finder)
{
	const struct call *outer = c->finder;
	int rc;

	c->finder = finder;
	rc = check_inner(c, inner, 0, inner->n);
	c->finder = outer;
	return rc;
}

/* `.mcp` and `.json` make a name that is protected. */
static bool ends_guarded(struct str tail)
{
	for (size_t i = 0; tail.n && guarded_names[i]; i++) {
		size_t n = strlen(guarded_names[i]);

		if (n >= tail.n && !strncasecmp(guarded_names[i] + n - tail.n, tail.p, tail.n))
			return true;
	}
	return false;
}

struct arg found_in(const struct arg *arg, const char *mark, bool several)
{
	struct arg out = *arg;
	struct str tail;
	size_t n = strlen(mark), at = str_find(arg->text, str_of(mark));

	if (!n || at == arg->text.n || arg->origin != ARG_KNOWN)
		return out;
	tail = str_sub(arg->text, at + n, arg->text.n);
	out.text = str_sub(arg->text, 0, at);
	out.split = several;
	out.commits = tail.n > 0;
	/* With a slash or a second name behind it the file may be anywhere. */
	out.origin = str_find(tail, STR("/")) == tail.n && str_find(tail, str_of(mark)) == tail.n &&
				     !ends_guarded(tail)
			     ? ARG_FOUND
			     : ARG_DYNAMIC;
	return out;
}

static bool may_be_listed(struct check *c, const char *pattern)
{
	const struct texts *kept = &c->policy->protect;

	for (size_t i = 0; i < kept->n; i++) {
		struct arg path = {.text = str_of(kept->p[i])};
		const struct call from_root = {.cwd = STR("")};
		struct place place;
		const char *base = arena_dup(c->arena, bin_base(path.text));

		if (!pattern || !fnmatch(pattern, base, 0) ||
			(bin_place(c, &from_root, &path, &place) == 0 && place.folder))
			return true;
	}
	return false;
}

static int check_start(
	struct check *c, const struct finding *f, const struct arg *start, const struct arg *arg)
{
	const char *pattern = f->names.n && !arg->commits ? arena_dup(c->arena, f->names) : NULL;
	struct verdict unused = {0};
	struct place place;

	if (start->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_PATH_DYNAMIC, start, "a place that is not known");
	if (where(c->arena, c->root, c->policy, c->finder->cwd, start->text, ACCESS_WRITE, false,
		    arg->at, &place, &unused) < 0 ||
		place.outside)
		return bin_refuse(c, RULE_PATH_PROTECTED, start, "what is found here is protected");
	/* The root as a whole is always protected, so of it the names are asked. */
	if ((place.path.n && where(c->arena, c->root, c->policy, c->finder->cwd, start->text,
				     ACCESS_WRITE, true, arg->at, &place, &unused) < 0) ||
		(!place.path.n && may_be_listed(c, pattern)) ||
		finds_guarded(c, f, start, arg->commits))
		return bin_refuse(c, RULE_PATH_PROTECTED, arg,
			"protected files are among what is found: name a directory or a -name");
	return asked(c, RULE_PATH_PROTECTED, arg->at, start->text, place.full, 0);
}

/* What the finder was told, whatever it puts out. */
static int finding_told(struct check *c, const struct arg *arg, struct finding *f)
{
	if (c->finder && str_is(bin_base(c->finder->args[0].text), "find"))
		find_places(c->finder, f);
	else if (!c->finder || !finding_of(c, c->finder, f))
		return bin_refuse(c, RULE_PATH_DYNAMIC, arg, "files that nothing has found");
	return 0;
}

int check_found_open(struct check *c, const struct arg *arg)
{
	struct finding f;

	/* Matches of a pattern were followed one by one. */
	if (!c->finder)
		return 0;
	return finding_told(c, arg, &f) < 0 ? -1 : check_links(c, c->finder, &f, arg);
}

int check_found_write(struct check *c, const struct arg *arg)
{
	static const struct arg here = {.text = {".", 1}};
	struct finding f;

	if (!c->policy->write)
		return bin_refuse(c, RULE_WRITE, arg, "the policy does not allow writing");
	if (finding_told(c, arg, &f) < 0)
		return -1;
	for (size_t i = 0; i < f.n; i++)
		if (check_start(c, &f, &f.starts[i], arg) < 0)
			return -1;
	if (!f.n && check_start(c, &f, &here, arg) < 0)
		return -1;
	return asked(c, RULE_PATH_PROTECTED, arg->at, arg->text, STR(""), 0);
}
