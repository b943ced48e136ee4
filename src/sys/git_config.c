/*
 * git_config.c: the few values of git's configuration that are needed often, read without libgit2,
 * whose loading alone takes several times as long as a step; and what the URL of a remote names.
 */
#include <ctype.h>
#include <strings.h>
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"

/* ---- configuration ---- */

#define CONFIG_MAX ((size_t)1 << 20)

/* The first line of a small file, in the arena; NULL when it cannot be read. */
static char *first_line(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;

	if (sys_read_file(&text, path, 8192, NULL, &ignored) < 0)
		return NULL;
	rest = buf_str(&text);
	return str_line(&rest, &line) ? arena_dup(a, str_trim(line)) : NULL;
}

/* `.git` is a directory, or a file `gitdir: PATH`; the directory of a linked work tree names the
 * common one. */
bool git_directories(struct arena *a, const char *root, char **own, char **common)
{
	char *line;

	*own = path_join(a, root, ".git");
	if (!path_is_directory(*own)) {
		line = first_line(a, *own);
		if (!line || !str_starts(str_of(line), "gitdir: "))
			return false;
		*own = path_join(a, root, line + strlen("gitdir: "));
	}
	line = first_line(a, path_join(a, *own, "commondir"));
	*common = line ? path_join(a, *own, line) : *own;
	return true;
}

static char *config_path(struct arena *a, const char *root)
{
	char *own, *common;

	return git_directories(a, root, &own, &common) ? path_join(a, common, "config") : NULL;
}

static bool same_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* A line that is neither empty nor a comment: a section's header, or `key = value`. */
struct config_line {
	struct str whole, key, value;
	bool header;
};

static bool next_line(struct str *text, struct config_line *l)
{
	size_t eq;

	do
		if (!str_line(text, &l->whole))
			return false;
	while (l->whole = str_trim(l->whole), !l->whole.n || strchr("#;", l->whole.p[0]));
	l->header = l->whole.p[0] == '[';
	eq = str_find(l->whole, STR("="));
	l->key = str_trim(str_sub(l->whole, 0, eq));
	l->value = str_trim(str_sub(l->whole, eq < l->whole.n ? eq + 1 : eq, l->whole.n));
	return true;
}

enum config_section { SECTION_OTHER, SECTION_ORIGIN, SECTION_NOT_PLAIN };

static enum config_section parse_section(struct str header)
{
	struct str name;
	size_t quote;

	if (header.p[header.n - 1] != ']')
		return SECTION_NOT_PLAIN;
	header = str_sub(header, 1, header.n - 1);
	quote = str_find(header, STR("\""));
	name = str_trim(str_sub(header, 0, quote));
	if (same_word(name, "include") || same_word(name, "includeIf") || same_word(name, "url") ||
		same_word(name, "remote.origin"))
		return SECTION_NOT_PLAIN;
	if (!same_word(name, "remote"))
		return SECTION_OTHER;
	return str_is(str_sub(header, quote, header.n), "\"origin\"") ? SECTION_ORIGIN
								      : SECTION_OTHER;
}

/* False when a short name that the user's `insteadOf` replaces may stand before the path. */
static bool is_full_url(struct str url)
{
	size_t at = str_find(url, STR("@")), colon = str_find(url, STR(":"));

	return url.p[0] == '/' || str_find(url, STR("://")) < url.n ||
	       (at < colon && colon < url.n);
}

/* False when git's own rules are needed to read the line. */
static bool parse_line(const struct config_line *l, enum config_section section, struct buf *url)
{
	if (str_ends(l->whole, "\\") || same_word(l->key, "worktreeConfig"))
		return false;
	if (section != SECTION_ORIGIN || !same_word(l->key, "url"))
		return true;
	for (size_t i = 0; i < l->value.n; i++)
		if (strchr("\"\\#;", l->value.p[i]))
			return false;
	if (!l->value.n || url->len || !is_full_url(l->value))
		return false;
	buf_add(url, l->value);
	return true;
}

static bool parse_origin(struct str text, struct buf *url)
{
	enum config_section section = SECTION_OTHER;
	struct config_line line;

	while (next_line(&text, &line)) {
		if (line.header)
			section = parse_section(line.whole);
		else if (!parse_line(&line, section, url))
			return false;
		if (section == SECTION_NOT_PLAIN)
			return false;
	}
	return url->len > 0;
}

bool git_config_origin(const char *root, struct buf *url)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;
	char *path = config_path(&a, root);

	buf_clear(url);
	if (!path || sys_read_file(&text, path, CONFIG_MAX, NULL, &ignored) < 0 ||
		str_utf8_fault(buf_str(&text)))
		return false;
	return parse_origin(buf_str(&text), url);
}

/* Accepts a value in plain form only: no escapes, no comment, quotes around the whole or none. */
static void parse_value(struct str value, struct buf *out)
{
	bool quoted = value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"';

	if (quoted)
		value = str_sub(value, 1, value.n - 1);
	buf_clear(out);
	for (size_t i = 0; i < value.n; i++)
		if (strchr("\"\\", value.p[i]) || (!quoted && strchr("#;", value.p[i])) ||
			(unsigned char)value.p[i] < ' ')
			return;
	buf_add(out, value);
}

/* True when there is a `[user]`. */
static bool parse_user(struct str text, struct buf *name, struct buf *email)
{
	bool inside = false, there = false;
	struct config_line line;

	while (next_line(&text, &line)) {
		if (line.header) {
			inside = same_word(line.whole, "[user]");
			there |= inside;
		} else if (inside && same_word(line.key, "name")) {
			parse_value(line.value, name);
		} else if (inside && same_word(line.key, "email")) {
			parse_value(line.value, email);
		}
	}
	return there;
}

static bool read_user(const char *path, struct buf *name, struct buf *email)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	return path && sys_read_file(&text, path, CONFIG_MAX, NULL, &ignored) == 0 &&
	       !str_utf8_fault(buf_str(&text)) && parse_user(buf_str(&text), name, email);
}

/* A later file overrides an earlier one. */
bool git_config_identity(const char *root, struct buf *name, struct buf *email)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *only = getenv("GIT_CONFIG_GLOBAL"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (read_user(config_path(&a, root), name, email)) {
		buf_clear(name);
		buf_clear(email);
		return false;
	}
	if (only) {
		(void)read_user(only, name, email);
		return name->len && email->len;
	}
	if (xdg && xdg[0])
		(void)read_user(path_join(&a, xdg, "git/config"), name, email);
	else if (home)
		(void)read_user(path_join(&a, home, ".config/git/config"), name, email);
	if (home)
		(void)read_user(path_join(&a, home, ".gitconfig"), name, email);
	return name->len && email->len;
}

/* ---- URLs ---- */

static struct str tail(struct str s, size_t at)
{
	return str_sub(s, at < s.n ? at : s.n, s.n);
}

/* `git+ssh://` and the like; 0 when it does not begin with a scheme. */
static size_t scheme_length(struct str url)
{
	size_t n = str_find(url, STR("://"));

	if (n == url.n || !n)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)url.p[i]) && !strchr("+-.", url.p[i]))
			return 0;
	return n + 3;
}

static bool is_file_scheme(struct str url)
{
	return url.n >= 7 && strncasecmp(url.p, "file://", 7) == 0;
}

/* Offset of the path in `host:path`, `user@host:path`, `[user@host:22]:path`; 0: another form. */
static size_t scp_path(struct str url)
{
	size_t bracket = str_find(url, STR("["));
	size_t slash = str_find(url, STR("/"));
	size_t colon;

	if (bracket < slash && str_find(tail(url, bracket), STR("]:")) < url.n - bracket)
		return bracket + str_find(tail(url, bracket), STR("]:")) + 2;
	colon = str_find(url, STR(":"));
	return colon && colon < slash ? colon + 1 : 0;
}

static struct str without_slashes(struct str s)
{
	while (s.n && s.p[0] == '/')
		s = tail(s, 1);
	while (s.n && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

static struct str last_two(struct str path)
{
	unsigned slashes = 0;

	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/' && ++slashes == 2)
			return tail(path, i);
	return path;
}

static struct str without_git(struct str path)
{
	if (str_ends(path, "/.git")) /* a work tree that is somebody's origin */
		path.n -= 5;
	else if (path.n > 4 && str_ends(path, ".git"))
		path.n -= 4;
	return without_slashes(path);
}

bool git_slug_of_url(struct str url, struct buf *slug)
{
	size_t scheme, scp;
	bool local;
	struct str path;

	url = str_trim(url);
	scheme = scheme_length(url);
	scp = scheme ? 0 : scp_path(url);
	local = is_file_scheme(url) || (!scheme && !scp);
	path = tail(url, scheme ? scheme : scp);
	if (scheme)
		path = tail(path, str_find(path, STR("/")));
	path = without_git(without_slashes(path));
	if (local)
		path = last_two(path);
	if (!path_is_slug(path))
		return false;
	buf_add(slug, path);
	return true;
}
