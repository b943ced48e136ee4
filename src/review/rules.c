#include "src/review/path_kind.h"

/* The kinds of the paths of a change, and one of each to name. */
struct seen {
	size_t count[PATH_KINDS];
	const char *first[PATH_KINDS];
	bool blanks_mean_nothing; /* in any of them */
};

/* A text over several lines may begin and end where nothing was seen. */
static bool blanks_mean_nothing(const struct change_stats *s, const char *path)
{
	return path_ignores_blanks(path) && (!s->excerpts || path_has_no_long_texts(path));
}

static struct seen look(const struct change_stats *s)
{
	struct seen seen = {.blanks_mean_nothing = true};

	for (size_t i = 0; i < s->files; i++) {
		enum path_kind k = path_kind(s->paths[i], s->traits ? s->traits[i] : 0);

		if (!seen.count[k]++)
			seen.first[k] = s->paths[i];
		if (k != PATH_DOCS && !(k == PATH_OTHER && blanks_mean_nothing(s, s->paths[i])))
			seen.blanks_mean_nothing = false;
	}
	return seen;
}

/* A name in a text for people: what it could do to a terminal is gone. */
static char *shown(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_add(&b, str_sub(str_of(path), 0, strnlen(path, 120)));
	utf8_mend(&b);
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.s[i] < ' ' || b.s[i] == 0x7f)
			b.s[i] = '?';
	return arena_dup(a, buf_str(&b));
}

static const char *const why[PATH_KINDS] = {
	[PATH_AUTH] = "authentication, secrets or keys",
	[PATH_ODD] = "not surely what the name says",
	[PATH_AGENT] = "agents take it as orders",
	[PATH_DEPENDENCY] = "dependencies or what CI runs",
	[PATH_DOCS] = "prose and pictures alone",
	[PATH_OTHER] = "code, or anything else that runs",
};

/* The set of a kind: its bits by enum reviewer. */
enum {
	TESTING = 1 << REVIEW_TESTING,
	CRITIC = 1 << REVIEW_CRITIC,
	SECURITY = 1 << REVIEW_SECURITY
};
static const struct {
	unsigned reviewers;
	double confidence;
} asks[PATH_KINDS] = {
	[PATH_AUTH] = {TESTING | CRITIC | SECURITY, 0.99},
	[PATH_ODD] = {TESTING | CRITIC | SECURITY, 0.8},
	[PATH_AGENT] = {TESTING | CRITIC | SECURITY, 0.8},
	[PATH_DEPENDENCY] = {CRITIC | SECURITY, 0.9},
	[PATH_DOCS] = {CRITIC, 0.95},
	[PATH_OTHER] = {TESTING | CRITIC | SECURITY, 0.8},
};

/* The kind that decides: a set is never smaller for a file more. */
static enum path_kind deciding(const struct seen *seen)
{
	static const enum path_kind order[] = {
		PATH_AUTH, PATH_ODD, PATH_AGENT, PATH_OTHER, PATH_DEPENDENCY};

	for (size_t i = 0; i < COUNT(order); i++)
		if (seen->count[order[i]])
			return order[i];
	return PATH_DOCS;
}

void classify_by_rules(struct arena *a, const struct change_stats *s, struct classification *out)
{
	struct seen seen = look(s);
	enum path_kind k = deciding(&seen);

	*out = (struct classification){.confident = true, .confidence = 1};
	if (!s->files || (s->whitespace_only && seen.blanks_mean_nothing))
		return;
	out->confidence = asks[k].confidence;
	for (int r = 0; r < REVIEWERS; r++) {
		if (!(asks[k].reviewers & 1U << r))
			continue;
		out->chosen[r] = true;
		out->rationale[r] = arena_printf(a, "%s: %s", why[k], shown(a, seen.first[k]));
	}
	if (k == PATH_AUTH)
		out->model_override[REVIEW_SECURITY] = "opus";
}

static bool strongest(const char *model)
{
	return model && strncmp(model, "opus", 4) == 0;
}

void classify_floor(struct arena *a, const struct change_stats *s, struct review_decision *decision)
{
	static const enum path_kind known[] = {PATH_AUTH, PATH_ODD, PATH_AGENT, PATH_DEPENDENCY};
	struct seen seen = look(s);
	struct classification *c = &decision->of;

	for (size_t i = 0; i < COUNT(known); i++) {
		enum path_kind k = known[i];

		for (int r = 0; seen.count[k] && r < REVIEWERS; r++) {
			if (!(asks[k].reviewers & 1U << r) || c->chosen[r])
				continue;
			c->chosen[r] = decision->added_by_rules[r] = true;
			c->rationale[r] =
				arena_printf(a, "%s: %s", why[k], shown(a, seen.first[k]));
		}
	}
	if (seen.count[PATH_AUTH] && !strongest(c->model_override[REVIEW_SECURITY]))
		c->model_override[REVIEW_SECURITY] = "opus";
}
