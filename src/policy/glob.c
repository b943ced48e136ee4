/*
 * A pattern is followed part by part, with the texts that its beginning can stand for. Directories
 * are listed by their real path from the root and nothing else is opened; a match that leads out is
 * a denial and is never looked into.
 */
#include <dirent.h>
#include <errno.h>
#include "src/policy/glob_match.h"
#include "src/policy/trail.h"

/* A directory that is opened, or a link that is followed, counts as that many names. */
enum { MATCHES_MAX = 4096, NAMES_MAX = 100000, PARTS_MAX = 256, FOLDER_COST = 16 };

/* A text that the pattern's beginning stands for. */
struct found {
	const char *text;
	bool sure; /* a file below the root that is no link */
};

struct glob {
	struct arena *arena;
	const struct root *root;
	const struct policy *policy;
	struct str cwd, whole;
	struct span at;
	struct verdict *v;
	struct found *now, *next;
	size_t n, n_next, cap, looked;
	bool wild; /* a part with a wildcard was passed */
};

/* What a text turned out to be. */
enum look { LOOK_NONE, LOOK_HERE, LOOK_OUT };

static int refuse(const struct glob *g, const char *word, const char *why)
{
	return deny_word(
		g->v, RULE_PATH_GLOB, g->at, word ? str_of(word) : g->whole, STR(""), "%s", why);
}

static int push(struct glob *g, const char *text, bool sure)
{
	if (g->n_next == MATCHES_MAX)
		return refuse(g, NULL, "pattern with more than 4096 matches");
	if (g->n_next == g->cap) {
		struct found *more;

		g->cap = g->cap ? 4 * g->cap : 16;
		more = arena_alloc(g->arena, g->cap * sizeof(*more));
		if (g->n_next)
			memcpy(more, g->next, g->n_next * sizeof(*more));
		g->next = more;
	}
	g->next[g->n_next++] = (struct found){text, sure};
	return 0;
}

static void turn(struct glob *g)
{
	g->now = g->next;
	g->n = g->n_next;
	g->next = NULL;
	g->n_next = g->cap = 0;
}

/* Below policy->read? */
static bool readable_outside(const struct glob *g, struct str path)
{
	struct verdict unused = {0};
	struct place place;

	return where(g->arena, g->root, g->policy, g->cwd, path, ACCESS_READ, false, g->at, &place,
		       &unused) == 0;
}

static enum look look(const struct glob *g, const char *text, struct trail *t)
{
	if (trail_follow(g->root, g->cwd, str_of(text), false, t) < 0)
		return t->number == ENOTDIR ? LOOK_NONE : LOOK_OUT;
	if (!t->exists)
		return LOOK_NONE;
	return t->below || readable_outside(g, str_of(text)) ? LOOK_HERE : LOOK_OUT;
}

static int open_listing(const struct glob *g, const struct trail *t)
{
	if (t->below)
		return beneath_open(g->root->fd, t->rel.n ? t->rel.p : ".", O_RDONLY | O_DIRECTORY,
			0, BENEATH | NO_LINKS);
	return beneath_open(AT_FDCWD, t->real, O_RDONLY | O_DIRECTORY, 0, NO_LINKS);
}

static void close_folder(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* NULL with *rc: 0 when there is no such directory. */
static DIR *open_folder(const struct glob *g, const char *text, int *rc)
{
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;
	enum look is = look(g, text, &t);
	DIR *d = NULL;
	int fd;

	*rc = 0;
	if (is == LOOK_OUT)
		*rc = refuse(g, *text ? text : ".", "pattern that leads outside the root");
	if (is != LOOK_HERE || !S_ISDIR(t.st.st_mode))
		return NULL;
	fd = open_listing(g, &t);
	if (fd >= 0 && !(d = fdopendir(fd)))
		close(fd);
	if (!d)
		*rc = refuse(g, *text ? text : ".", "directory that cannot be listed");
	return d;
}

/* Where more of the path follows, only directories match. What is a link is looked at in the end.
 */
static bool goes_on(struct glob *g, const struct dirent *e, const char *text)
{
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;

	if (e->d_type == DT_DIR)
		return true;
	if (e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
		return false;
	g->looked += FOLDER_COST;
	return trail_follow(g->root, g->cwd, str_of(text), false, &t) == 0 && t.exists &&
	       S_ISDIR(t.st.st_mode);
}

static int list(
	struct glob *g, const struct found *in, const struct glob_part *part, const char *behind)
{
	int rc;
	CLEANUP(close_folder) DIR *d = open_folder(g, in->text, &rc);
	const struct dirent *e;

	g->looked += FOLDER_COST;
	while (d && (e = readdir(d))) {
		const char *text;

		if (++g->looked > NAMES_MAX)
			return refuse(g, NULL, "pattern with too many names to look at");
		if (glob_unsure(part, str_of(e->d_name)))
			return refuse(g, arena_printf(g->arena, "%s%s", in->text, e->d_name),
				"pattern whose matches depend on the locale");
		if (!glob_matches(part, str_of(e->d_name)))
			continue;
		text = arena_printf(g->arena, "%s%s%s", in->text, e->d_name, behind);
		if (*behind && !goes_on(g, e, text))
			continue;
		if (push(g, text, e->d_type != DT_LNK && e->d_type != DT_UNKNOWN) < 0)
			return -1;
	}
	return rc;
}

static int add_literal(struct glob *g, struct str part, struct str behind)
{
	if (g->wild && str_is(part, ".."))
		return refuse(g, NULL, "'..' behind a wildcard");
	for (size_t i = 0; i < g->n; i++)
		if (push(g,
			    arena_printf(g->arena, "%s%.*s%.*s", g->now[i].text, (int)part.n,
				    part.p, (int)behind.n, behind.p),
			    false) < 0)
			return -1;
	return 0;
}

/* The slashes behind a part: all of them, but one where a wildcard was passed. */
static struct str cut_slashes(struct str *rest, bool one)
{
	size_t n = 0;
	struct str all;

	while (n < rest->n && rest->p[n] == '/')
		n++;
	all = str_sub(*rest, 0, one && n ? 1 : n);
	*rest = str_sub(*rest, n, rest->n);
	return all;
}

static struct str cut_part(struct str *rest)
{
	struct str all = *rest;
	size_t n = 0;

	while (n < all.n && all.p[n] != '/')
		n++;
	*rest = str_sub(all, n, all.n);
	return str_sub(all, 0, n);
}

static int follow_part(struct glob *g, struct str *rest)
{
	struct str text = cut_part(rest), behind;
	struct glob_part part;
	int rc = 0;

	if (glob_compile(g->arena, text, &part) < 0)
		return refuse(g, NULL, "pattern with a class that is not known");
	if (glob_may_climb(&part))
		return refuse(g, NULL, "pattern that stands for '..' in some shells");
	g->wild = g->wild || part.wild;
	behind = cut_slashes(rest, g->wild);
	if (!part.wild)
		rc = add_literal(g, glob_literal(g->arena, &part), behind);
	for (size_t i = 0; part.wild && rc == 0 && i < g->n; i++)
		rc = list(g, &g->now[i], &part, behind.n ? "/" : "");
	turn(g);
	return rc;
}

/* Drops what does not exist; 0, or -1 when one leads out or is an option. */
static int settle(struct glob *g)
{
	for (size_t i = 0; i < g->n; i++) {
		CLEANUP(trail_close) struct trail t = TRAIL_INIT;
		const char *text = g->now[i].text;
		enum look is = g->now[i].sure ? LOOK_HERE : look(g, text, &t);

		if (is == LOOK_OUT)
			return refuse(g, text, "match that leads outside the root");
		if (is == LOOK_HERE && text[0] == '-')
			return refuse(g, text, "match that begins with a dash");
		if (is == LOOK_HERE && push(g, text, true) < 0)
			return -1;
	}
	turn(g);
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->text, ((const struct found *)b)->text);
}

static void give(struct glob *g, struct texts *out)
{
	const char **p = arena_alloc(g->arena, (g->n + 1) * sizeof(*p));

	if (g->n)
		qsort(g->now, g->n, sizeof(*g->now), by_bytes);
	for (size_t i = 0; i < g->n; i++)
		p[i] = g->now[i].text;
	*out = (struct texts){p, g->n};
}

/* Without a match a pattern stands for itself. */
static void give_itself(struct glob *g, struct texts *out)
{
	char *text = arena_alloc(g->arena, g->whole.n + 1);
	const char **p = arena_alloc(g->arena, sizeof(*p));
	size_t n = 0;

	for (size_t i = 0; i < g->whole.n; i++) {
		if (g->whole.p[i] == '\\' && i + 1 < g->whole.n)
			i++;
		text[n++] = g->whole.p[i];
	}
	*p = text;
	*out = (struct texts){p, 1};
}

/* A slash is one, with a backslash before it or not. */
static struct str plain_slashes(struct arena *a, struct str glob)
{
	char *text = arena_alloc(a, glob.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < glob.n; i++) {
		bool escaped = glob.p[i] == '\\' && i + 1 < glob.n;

		if (escaped && glob.p[i + 1] != '/')
			text[n++] = glob.p[i];
		if (escaped)
			i++;
		text[n++] = glob.p[i];
	}
	return (struct str){text, n};
}

int glob_expand(struct arena *a, const struct root *r, const struct policy *p, struct str cwd,
	struct str glob, struct span at, struct texts *out, struct verdict *v)
{
	struct glob g = {.arena = a,
		.root = r,
		.policy = p,
		.cwd = cwd,
		.whole = arena_str(a, glob),
		.at = at,
		.v = v};
	struct str rest, slashes;
	unsigned parts = 0;

	if (glob.n >= PATH_MAX || memchr(glob.p ? glob.p : "", '\0', glob.n))
		return refuse(&g, NULL, "pattern that is not a path");
	rest = plain_slashes(a, glob);
	slashes = cut_slashes(&rest, false);
	(void)push(&g, arena_dup(a, slashes), false);
	turn(&g);
	while (rest.n && g.n) {
		if (++parts > PARTS_MAX)
			return refuse(&g, NULL, "pattern of too many parts");
		if (follow_part(&g, &rest) < 0)
			return -1;
	}
	if (g.wild && settle(&g) < 0)
		return -1;
	if (g.wild && g.n)
		give(&g, out);
	else
		give_itself(&g, out);
	return 0;
}
