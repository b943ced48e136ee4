/*
 * git_files.c: searches the files of a work tree, and does so without libgit2 while no decision
 * needs all of git's rules: the patterns are only asked what they may match. A directory that one
 * of them ignores for certain is skipped; another one is entered. A wanted file that they may
 * ignore, and a repository that is not plain, are left to libgit2 (git.c).
 */
#include <ctype.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"

/* ---- the search ---- */

enum { ENTRIES_MAX = 1 << 21 };

void git_search_release(struct git_search *s)
{
	vec_release(&s->found);
	buf_release(&s->path);
}

static void git_files_add_found(struct git_search *s, const char *path)
{
	if (!str_utf8_fault(str_of(path)))
		vec_push(&s->found, arena_dup(s->arena, str_of(path)));
}

void git_search_add_tracked(struct git_search *s, const char *path)
{
	struct stat st;

	if (!s->want(path_base(path)))
		return;
	buf_clear(&s->path);
	buf_addf(&s->path, "%s/%s", s->root, path);
	if (lstat(s->path.s, &st) == 0 && S_ISREG(st.st_mode))
		git_files_add_found(s, path);
}

/* Other work trees and submodules have a `.git` of their own. */
static bool enters(struct git_search *s, const struct directory_entry *e)
{
	if (strcmp(e->name, ".git") == 0)
		return false;
	buf_clear(&s->path);
	buf_addf(&s->path, "%s/.git", e->name);
	if (faccessat(e->parent, s->path.s, F_OK, 0) == 0)
		return false;
	buf_clear(&s->path);
	buf_addf(&s->path, "%s/", e->path);
	return !s->is_ignored(s->data, s->path.s, e->name);
}

static enum directory_visit visit(void *data, const struct directory_entry *e, struct error *err)
{
	struct git_search *s = data;

	if (++s->seen > ENTRIES_MAX)
		return (enum directory_visit)error_set(
			err, ERR_INPUT, "more than %d files under '%s'", ENTRIES_MAX, s->root);
	if (e->type == FILE_DIRECTORY) {
		if (!enters(s, e))
			return DIRECTORY_SKIP;
		return s->entered ? (enum directory_visit)s->entered(s->data, s->path.s, err)
				  : DIRECTORY_CONTINUE;
	}
	if (e->type == FILE_REGULAR && s->want(str_of(e->name)) &&
		!s->is_ignored(s->data, e->path, e->name))
		git_files_add_found(s, e->path);
	return DIRECTORY_CONTINUE;
}

int git_search_walk(struct git_search *s, struct error *err)
{
	return directory_walk(s->root, visit, s, err);
}

void git_search_list(struct git_search *s, char ***paths, size_t *n)
{
	*paths = arena_alloc(s->arena, (s->found.n + 1) * sizeof(**paths));
	*n = 0;
	vec_sort(&s->found, vec_by_text);
	for (size_t i = 0; i < s->found.n; i++)
		if (!*n || strcmp((*paths)[*n - 1], s->found.items[i]) != 0)
			(*paths)[(*n)++] = s->found.items[i];
}

/* ---- what patterns may match ---- */

enum { RULES_MAX = 1 << 20 };

struct ignore_pattern {
	struct str base;    /* the directory that it applies to, with `/` at its end; empty: all */
	const char **parts; /* between the slashes, NULL-ended; without `**` and `*` */
	const char *first;  /* of the path below base must match this; NULL: anything */
	const char *name;   /* of a pattern of one part without `?`, `[`; else NULL */
	bool anchored;      /* it has a slash: below base, not further down */
	bool negated;       /* `!` */
	bool odd;           /* escapes, tabs: it may match anything */
};

struct plain_search {
	struct arena arena;
	const char *root;
	VEC(struct ignore_pattern) patterns;
	bool unsure; /* a wanted file may be ignored */
};

static void plain_release(struct plain_search *p)
{
	vec_release(&p->patterns);
	arena_release(&p->arena);
}

static void git_files_add_parts(struct arena *a, struct ignore_pattern *p, struct str text)
{
	VEC(const char *) parts = {0};

	while (text.n) {
		size_t end = str_find(text, STR("/"));
		const char *part = arena_dup(a, str_sub(text, 0, end));

		if (part[strspn(part, "*")])
			vec_push_in(a, &parts, part);
		text = str_sub(text, end + 1 < text.n ? end + 1 : text.n, text.n);
	}
	vec_push_in(a, &parts, NULL);
	p->parts = parts.items;
}

static void git_files_add_pattern(struct plain_search *s, struct str line, struct str base)
{
	struct ignore_pattern p = {.base = base};
	size_t slash;

	while (line.n && line.p[line.n - 1] == ' ')
		line.n--;
	if (!line.n || line.p[0] == '#')
		return;
	p.negated = line.p[0] == '!';
	line = str_sub(line, p.negated, line.n);
	line.n -= line.n && line.p[line.n - 1] == '/';
	slash = str_find(line, STR("/"));
	p.anchored = slash < line.n;
	line = str_sub(line, !slash, line.n);
	p.odd = !line.n || memchr(line.p, '\\', line.n) || memchr(line.p, '\t', line.n);
	git_files_add_parts(&s->arena, &p, line);
	if (!p.odd && p.parts[0] && strcspn(p.parts[0], "?[") == line.n)
		p.name = p.parts[0];
	if (p.anchored && p.parts[0] && str_starts(line, p.parts[0]))
		p.first = p.parts[0];
	vec_push(&s->patterns, p);
}

/* False if the file is there but cannot be read. */
static bool add_patterns(struct plain_search *s, const char *path, struct str base)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;
	bool missing = false;

	if (sys_read_file(&text, path, RULES_MAX, &missing, &ignored) < 0)
		return missing;
	rest = buf_str(&text);
	if (str_starts(rest, "\xef\xbb\xbf"))
		rest = str_sub(rest, 3, rest.n);
	while (str_line(&rest, &line))
		git_files_add_pattern(s, line, base);
	return true;
}

static bool applies(const struct ignore_pattern *p, const char *path)
{
	return strncmp(path, p->base.p, p->base.n) == 0;
}

/* Each part must match a part of the path, in whatever order; the first one at its place. */
static bool may_match(const struct ignore_pattern *p, char *const *path_parts)
{
	for (size_t i = 0; i < p->base.n; i++)
		path_parts += p->base.p[i] == '/';
	if (p->first && !p->odd && (!*path_parts || fnmatch(p->first, *path_parts, FNM_CASEFOLD)))
		return false;
	for (const char *const *part = p->parts; *part && !p->odd; part++) {
		char *const *of = path_parts;

		while (*of && fnmatch(*part, *of, FNM_CASEFOLD))
			of++;
		if (!*of)
			return false;
	}
	return true;
}

/* True if a pattern of any kind, or only one with `!`, may match the path or a directory above. */
static bool any_may_match(struct plain_search *s, const char *path, bool negated_only)
{
	CLEANUP(arena_release) struct arena a = {0};
	VEC(char *) parts = {0};
	char *rest = arena_dup(&a, str_of(path)), *part;

	while ((part = strsep(&rest, "/")))
		if (*part)
			vec_push_in(&a, &parts, part);
	vec_push_in(&a, &parts, NULL);
	for (size_t i = 0; i < s->patterns.n; i++) {
		const struct ignore_pattern *p = &s->patterns.items[i];

		if ((p->negated || !negated_only) && applies(p, path) && may_match(p, parts.items))
			return true;
	}
	return false;
}

static bool is_skipped(struct plain_search *s, const char *path, const char *name)
{
	for (size_t i = 0; i < s->patterns.n; i++) {
		const struct ignore_pattern *p = &s->patterns.items[i];

		if (p->name && !p->negated && applies(p, path) && !fnmatch(p->name, name, 0) &&
			(!p->anchored || strchr(path + p->base.n, '/')[1] == '\0'))
			return !any_may_match(s, path, true);
	}
	return false;
}

static bool git_files_is_ignored(void *data, const char *path, const char *name)
{
	struct plain_search *s = data;

	if (str_ends(str_of(path), "/"))
		return is_skipped(s, path, name);
	s->unsure |= any_may_match(s, path, false);
	return s->unsure;
}

static int entered(void *data, const char *path, struct error *err)
{
	struct plain_search *s = data;
	struct str base = arena_str(&s->arena, str_of(path));
	const char *file = arena_printf(&s->arena, "%s/%s.gitignore", s->root, path);

	(void)err;
	s->unsure |= !add_patterns(s, file, base);
	return DIRECTORY_CONTINUE;
}

/* ---- the index ---- */

static bool git_files_add_entry(void *data, const struct git_tracked *e)
{
	git_search_add_tracked(data, e->path.p);
	return true;
}

static bool git_files_read_index(struct git_search *s, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	bool missing = false;

	if (sys_read_file(&text, path, GIT_INDEX_MAX, &missing, &ignored) < 0)
		return missing; /* nothing is tracked yet */
	return git_index_each(buf_str(&text), git_files_add_entry, s) == 0;
}

/* ---- the repository ---- */

/* Whether the configuration changes nothing about the work tree or what is ignored. */
static bool git_files_is_plain(const char *path, bool required)
{
	static const char *const words[] = {"worktree", "excludesfile", "include", "extensions"};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	const char *bare;
	bool missing = false;

	if (sys_read_file(&text, path, RULES_MAX, &missing, &ignored) < 0)
		return missing && !required;
	buf_addc(&text, '\0');
	bare = strcasestr(text.s, "bare");
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcasestr(text.s, words[i]))
			return false;
	return !bare || strncmp(bare, "bare = false", strlen("bare = false")) == 0;
}

static bool git_files_is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* What the user has configured for all repositories. */
static bool add_user(struct plain_search *p)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME"), *dir;

	if (!home || home[0] != '/')
		return false;
	dir = xdg && *xdg ? path_join(&p->arena, xdg, "git")
			  : path_join(&p->arena, home, ".config/git");
	return git_files_is_plain("/etc/gitconfig", false) &&
	       git_files_is_plain(path_join(&p->arena, home, ".gitconfig"), false) &&
	       git_files_is_plain(path_join(&p->arena, dir, "config"), false) &&
	       add_patterns(p, path_join(&p->arena, dir, "ignore"), STR(""));
}

bool git_plain_directories(struct arena *a, const char *root, char **own, char **common)
{
	return git_directories(a, root, own, common) && git_files_is_ours(root) &&
	       git_files_is_ours(*own) && git_files_is_ours(path_join(a, root, ".git")) &&
	       path_exists(path_join(a, *own, "HEAD")) &&
	       path_is_directory(path_join(a, *common, "objects")) &&
	       path_is_directory(path_join(a, *common, "refs")) &&
	       git_files_is_plain(path_join(a, *common, "config"), true);
}

static bool add_repository(struct plain_search *p, char **index)
{
	struct arena *a = &p->arena;
	char *own, *common;

	if (!git_plain_directories(a, p->root, &own, &common))
		return false;
	*index = path_join(a, own, "index");
	return add_user(p) && add_patterns(p, path_join(a, common, "info/exclude"), STR("")) &&
	       add_patterns(p, path_join(a, p->root, ".gitignore"), STR(""));
}

int git_find_files_plain(struct arena *a, const char *root, bool (*want)(struct str name),
	char ***paths, size_t *n, struct error *err)
{
	CLEANUP(plain_release) struct plain_search plain = {.root = root};
	CLEANUP(git_search_release)
	struct git_search s = {.arena = a,
		.root = root,
		.want = want,
		.is_ignored = git_files_is_ignored,
		.entered = entered,
		.data = &plain};
	char *index;

	if (!add_repository(&plain, &index) || !git_files_read_index(&s, index))
		return 0;
	if (git_search_walk(&s, err) < 0)
		return -1;
	if (!plain.unsure)
		git_search_list(&s, paths, n);
	return !plain.unsure;
}
