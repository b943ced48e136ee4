#include <strings.h>
#include <sys/stat.h>
#include "src/sys/git_config.h"
#include "src/sys/path.h"

#define CONFIG_MAX ((size_t)1 << 20)

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The first line of a small file, in the arena; NULL when it cannot be had. */
static char *first_line(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;

	if (file_read(&text, path, 8192, NULL, &ignored) < 0)
		return NULL;
	rest = buf_str(&text);
	return str_line(&rest, &line) ? arena_dup(a, str_trim(line)) : NULL;
}

/* `.git` is a folder, or a file `gitdir: PATH`; a linked work tree's folder names the common one.
 */
static char *config_path(struct arena *a, const char *root)
{
	char *dir = path_join(a, root, ".git"), *line, *common;

	if (!is_folder(dir)) {
		line = first_line(a, dir);
		if (!line || !str_starts(str_of(line), "gitdir: "))
			return NULL;
		dir = path_join(a, root, line + strlen("gitdir: "));
	}
	common = first_line(a, path_join(a, dir, "commondir"));
	if (common)
		dir = path_join(a, dir, common);
	return path_join(a, dir, "config");
}

static bool same_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

enum where { ELSEWHERE, IN_ORIGIN, NOT_PLAIN };

static enum where enter(struct str header)
{
	struct str name;
	size_t quote;

	if (header.p[header.n - 1] != ']')
		return NOT_PLAIN;
	header = str_sub(header, 1, header.n - 1);
	quote = str_find(header, STR("\""));
	name = str_trim(str_sub(header, 0, quote));
	if (same_word(name, "include") || same_word(name, "includeIf") || same_word(name, "url") ||
		same_word(name, "remote.origin"))
		return NOT_PLAIN;
	if (!same_word(name, "remote"))
		return ELSEWHERE;
	return str_is(str_sub(header, quote, header.n), "\"origin\"") ? IN_ORIGIN : ELSEWHERE;
}

/* In full: what stands before the path is no short name that the user's `insteadOf` would replace.
 */
static bool in_full(struct str url)
{
	size_t at = str_find(url, STR("@")), colon = str_find(url, STR(":"));

	return url.p[0] == '/' || str_find(url, STR("://")) < url.n ||
	       (at < colon && colon < url.n);
}

/* `key = value`; false when it takes git's own rules to read it. */
static bool take_line(struct str line, enum where where, struct buf *url)
{
	size_t eq = str_find(line, STR("="));
	struct str key = str_trim(str_sub(line, 0, eq)), value;

	if (line.p[line.n - 1] == '\\' || same_word(key, "worktreeConfig"))
		return false;
	if (where != IN_ORIGIN || !same_word(key, "url"))
		return true;
	value = eq < line.n ? str_trim(str_sub(line, eq + 1, line.n)) : (struct str){0};
	for (size_t i = 0; i < value.n; i++)
		if (strchr("\"\\#;", value.p[i]))
			return false;
	if (!value.n || url->len || !in_full(value))
		return false;
	buf_add(url, value);
	return true;
}

static bool scan(struct str text, struct buf *url)
{
	enum where where = ELSEWHERE;
	struct str line;

	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[')
			where = enter(line);
		else if (!take_line(line, where, url))
			return false;
		if (where == NOT_PLAIN)
			return false;
	}
	return url->len > 0;
}

bool git_plain_origin(const char *root, struct buf *url)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;
	char *path = config_path(&a, root);

	buf_clear(url);
	if (!path || file_read(&text, path, CONFIG_MAX, NULL, &ignored) < 0 ||
		utf8_fault(buf_str(&text)))
		return false;
	return scan(buf_str(&text), url);
}

/* A value in plain form: no escapes, no comment behind it, quotes around the whole of it alone. */
static void take_value(struct str value, struct buf *out)
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
static bool scan_user(struct str text, struct buf *name, struct buf *email)
{
	bool inside = false, there = false;
	struct str line;

	while (str_line(&text, &line)) {
		size_t eq = str_find(line, STR("="));
		struct str key = str_trim(str_sub(line, 0, eq));
		struct str value = str_trim(str_sub(line, eq < line.n ? eq + 1 : eq, line.n));

		line = str_trim(line);
		if (line.n && line.p[0] == '[') {
			inside = same_word(line, "[user]");
			there |= inside;
		} else if (inside && same_word(key, "name")) {
			take_value(value, name);
		} else if (inside && same_word(key, "email")) {
			take_value(value, email);
		}
	}
	return there;
}

static bool scan_user_of(const char *path, struct buf *name, struct buf *email)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	return path && file_read(&text, path, CONFIG_MAX, NULL, &ignored) == 0 &&
	       !utf8_fault(buf_str(&text)) && scan_user(buf_str(&text), name, email);
}

/* The later file has the last word. */
bool git_plain_identity(const char *root, struct buf *name, struct buf *email)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *only = getenv("GIT_CONFIG_GLOBAL"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (scan_user_of(config_path(&a, root), name, email)) {
		buf_clear(name);
		buf_clear(email);
		return false;
	}
	if (only) {
		(void)scan_user_of(only, name, email);
		return name->len && email->len;
	}
	if (xdg && xdg[0])
		(void)scan_user_of(path_join(&a, xdg, "git/config"), name, email);
	else if (home)
		(void)scan_user_of(path_join(&a, home, ".config/git/config"), name, email);
	if (home)
		(void)scan_user_of(path_join(&a, home, ".gitconfig"), name, email);
	return name->len && email->len;
}
