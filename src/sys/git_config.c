/*
 * git_config.c: the few values of git's configuration that are needed often, read without libgit2,
 * whose loading alone takes several times as long as a step; and what the URL of a remote names.
 */
#include <ctype.h>
#include <strings.h>
#include <sys/stat.h>
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"

/* ---- configuration ---- */

#define CONFIG_MAX ((size_t)1 << 20)

enum { SETTING_MAX = 500 };

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

static bool git_config_next_line(struct str *text, struct config_line *l)
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

	while (git_config_next_line(&text, &line)) {
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

/* ---- which repository it is, and what its remote is ---- */

/* Keys of `[remote "origin"]` that git and its clients change in everyday work. */
static bool is_everyday(struct str key)
{
	static const char *const keys[] = {
		"fetch", "tagopt", "prune", "pruneTags", "gh-resolved", "glab-resolved", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (same_word(key, keys[i]))
			return true;
	return false;
}

/* `[word]` or `[word "text"]`, as git writes it. Other forms may mean the same as one of these. */
static bool is_plain_header(struct str h)
{
	size_t n = 1;

	while (n < h.n && (isalnum((unsigned char)h.p[n]) || h.p[n] == '-'))
		n++;
	if (n >= h.n || h.p[n] == ']')
		return n + 1 == h.n;
	if (!str_starts(str_sub(h, n, h.n), " \""))
		return false;
	for (n += 2; n < h.n && !strchr("\"\\", h.p[n]);)
		n++;
	return str_is(str_sub(h, n, h.n), "\"]");
}

static bool is_large_files(struct str value)
{
	for (size_t i = 0; i < value.n; i++)
		if (strchr(";&|<>`$()#", value.p[i]))
			return false;
	return str_starts(value, "git-lfs ");
}

/* Whether a line below `header` decides what `origin` is, or how files become commits; in `[core]`
 * few do. */
static bool git_config_decides(struct str header, const struct config_line *l)
{
	static const char *const sections[] = {"[url ", "[http", "[protocol", "[include", NULL};
	static const char *const keys[] = {"sshCommand", "gitProxy", "worktree", "fileMode",
		"symlinks", "ignoreCase", "autocrlf", "eol", "attributesFile", "excludesFile",
		"sparseCheckout"};
	enum config_section section;

	if (!is_plain_header(header) || str_ends(l->whole, "\\"))
		return true;
	section = parse_section(header);
	if (section == SECTION_ORIGIN)
		return !is_everyday(l->key);
	for (size_t i = 0; sections[i]; i++)
		if (strncasecmp(header.p, sections[i], strlen(sections[i])) == 0)
			return true;
	if (strncasecmp(header.p, "[filter ", strlen("[filter ")) == 0)
		return !is_large_files(l->value) && !same_word(l->key, "required");
	for (size_t i = 0; i < COUNT(keys); i++)
		if (same_word(l->key, keys[i]))
			return true;
	return section == SECTION_NOT_PLAIN;
}

/* Names of keys are the same in upper and lower case. */
static const char *setting_text(struct arena *a, struct str header, const struct config_line *l)
{
	char *key = arena_dup(a, l->key);

	for (char *c = key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return arena_printable(a,
		str_of(arena_printf(a, "%.*s %s = %.*s", (int)header.n, header.p, key,
			(int)l->value.n, l->value.p)),
		SETTING_MAX);
}

/* Of `[remote "NAME"]` in plain form. */
static void add_remote(
	struct arena *a, struct str header, const struct config_line *l, struct git_identity *out)
{
	size_t quote = str_find(header, STR("\""));
	struct git_remote remote;

	if (!same_word(str_trim(str_sub(header, 0, quote)), "[remote") ||
		!same_word(l->key, "url") || quote + 2 >= header.n)
		return;
	remote.name = arena_dup(a, str_sub(header, quote + 1, header.n - 2));
	remote.url = arena_printable(a, l->value, SETTING_MAX);
	vec_push_in(a, &out->remotes.list, remote);
}

static int add_settings(
	struct arena *a, const char *path, struct git_identity *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, header = STR("");
	struct config_line line;
	bool missing;

	if (sys_read_file(&text, path, CONFIG_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	for (rest = buf_str(&text); git_config_next_line(&rest, &line);) {
		if (line.header)
			header = line.whole;
		if (line.header && !is_plain_header(header))
			vec_push_in(a, &out->settings, arena_printable(a, header, SETTING_MAX));
		else if (!line.header && git_config_decides(header, &line))
			vec_push_in(a, &out->settings, setting_text(a, header, &line));
		if (!line.header && is_plain_header(header))
			add_remote(a, header, &line, out);
	}
	return 0;
}

/* As git_directories(), but a fault of the disk does not look like another repository. *there: it
 * has a directory. */
static int find_directories(struct arena *a, const char *root, char **own, char **common,
	bool *there, struct error *err)
{
	static const char link[] = "gitdir: ";
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *line = NULL;
	bool linked;

	*own = *common = path_join(a, root, ".git");
	if (path_check_exists(*own, there, err) < 0)
		return -1;
	if (*there && !path_is_directory(*own)) {
		if (sys_read_file(&text, *own, CONFIG_MAX, NULL, err) < 0)
			return -1;
		line = arena_dup(a,
			str_trim(str_sub(buf_str(&text), 0, str_find(buf_str(&text), STR("\n")))));
		*there = str_starts(str_of(line), link);
		*own = path_join(a, root, *there ? line + strlen(link) : "");
	}
	if (!*there)
		return 0;
	if (path_check_exists(path_join(a, *own, "commondir"), &linked, err) < 0)
		return -1;
	line = linked ? git_first_line(a, path_join(a, *own, "commondir")) : NULL;
	*common = line ? path_join(a, *own, line) : *own;
	return linked && !line ? error_set(err, ERR_SYSTEM, "cannot read '%s/commondir'", *own) : 0;
}

/* The user's own files. Of `config` a later one overrides an earlier one; NULL: there is none. */
struct user_files {
	const char *directory; /* with `attributes`; NULL: not known */
	const char *config[2];
};

static struct user_files find_user_files(struct arena *a)
{
	const char *only = getenv("GIT_CONFIG_GLOBAL"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CONFIG_HOME");
	struct user_files files = {0};

	if (xdg && xdg[0])
		files.directory = path_join(a, xdg, "git");
	else if (home)
		files.directory = path_join(a, home, ".config/git");
	if (only)
		files.config[0] = only;
	else if (files.directory)
		files.config[0] = path_join(a, files.directory, "config");
	if (!only && home)
		files.config[1] = path_join(a, home, ".gitconfig");
	return files;
}

/* A line that this program or Claude Code adds while items are in progress: it hides the worktrees
 * of work items, or what the client writes to the project's `.claude` once it repeats a prompt. */
static bool is_added_line(struct str line)
{
	return str_is(line, "/" GIT_WORKTREES "/") || str_is(line, "# claude-code-runtime") ||
	       (str_starts(line, "**/.claude/") && str_find(line, STR(" ")) == line.n &&
		       str_find(line, STR("\t")) == line.n);
}

static void add_lines(struct buf *out, struct str text)
{
	struct str line;

	while (str_line(&text, &line))
		if (!is_added_line(line)) {
			buf_add(out, line);
			buf_addc(out, '\n');
		}
}

/* `info/attributes` and `info/exclude` decide which files become commits and how, as
 * `.gitattributes` and `.gitignore` do, but are in none. The order of their lines matters, so each
 * is one setting. */
static int add_digest(struct arena *a, const char *directory, const char *name,
	struct git_identity *out, struct error *err)
{
	CLEANUP(buf_release) struct buf whole = BUF_INIT, text = BUF_INIT;
	char digest[DIGEST_TEXT];
	bool missing;

	if (sys_read_file(&whole, path_join(a, directory, name), CONFIG_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	add_lines(&text, buf_str(&whole));
	digest_text(buf_str(&text), digest);
	if (text.len)
		vec_push_in(a, &out->settings, arena_printf(a, "%s %s", name, digest));
	return 0;
}

/* What is not a file, such as /dev/null, has no settings. */
static int git_config_check_file(const char *path, bool *yes, struct error *err)
{
	struct stat st;

	if (path_check_exists(path, yes, err) < 0)
		return -1;
	*yes = *yes && stat(path, &st) == 0 && S_ISREG(st.st_mode);
	return 0;
}

/* Of the user's own configuration only what decides how files become commits: attributes and
 * filters. */
static int add_user_settings(struct arena *a, struct git_identity *out, struct error *err)
{
	const struct user_files files = find_user_files(a);
	struct git_identity user = {0};
	bool there = false;

	for (size_t i = 0; i < COUNT(files.config); i++)
		if (files.config[i] &&
			(git_config_check_file(files.config[i], &there, err) < 0 ||
				(there && add_settings(a, files.config[i], &user, err) < 0)))
			return -1;
	for (size_t i = 0; i < user.settings.n; i++) {
		const char *setting = user.settings.items[i];

		if (strncasecmp(setting, "[filter ", strlen("[filter ")) == 0 ||
			strncasecmp(setting, "[core] attributesfile ",
				strlen("[core] attributesfile ")) == 0)
			vec_push_in(a, &out->settings, setting);
	}
	if (!files.directory ||
		git_config_check_file(path_join(a, files.directory, "attributes"), &there, err) < 0)
		return files.directory ? -1 : 0;
	return there ? add_digest(a, files.directory, "attributes", out, err) : 0;
}

int git_read_identity(
	struct arena *a, const char *root, struct git_identity *out, struct error *err)
{
	char *own, *common;
	bool there;

	*out = (struct git_identity){0};
	if (find_directories(a, root, &own, &common, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	out->directory = own;
	vec_push_in(a, &out->settings,
		arena_printf(a, "common directory %s", path_relative(a, own, common)));
	if (add_settings(a, path_join(a, common, "config"), out, err) < 0 ||
		add_settings(a, path_join(a, own, "config.worktree"), out, err) < 0)
		return -1;
	return add_digest(a, common, "info/attributes", out, err) < 0 ||
			       add_digest(a, common, "info/exclude", out, err) < 0
		       ? -1
		       : add_user_settings(a, out, err);
}

/* Accepts a value in plain form only: no escapes, no comment, quotes around the whole or none. */
static void git_config_parse_value(struct str value, struct buf *out)
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

	while (git_config_next_line(&text, &line)) {
		if (line.header) {
			inside = same_word(line.whole, "[user]");
			there |= inside;
		} else if (inside && same_word(line.key, "name")) {
			git_config_parse_value(line.value, name);
		} else if (inside && same_word(line.key, "email")) {
			git_config_parse_value(line.value, email);
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

bool git_config_identity(const char *root, struct buf *name, struct buf *email)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct user_files files = find_user_files(&a);

	if (read_user(config_path(&a, root), name, email)) {
		buf_clear(name);
		buf_clear(email);
		return false;
	}
	for (size_t i = 0; i < COUNT(files.config); i++)
		(void)read_user(files.config[i], name, email);
	return name->len && email->len;
}

static void parse_core(struct arena *a, struct str text, struct git_core *out)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;
	struct config_line line;
	bool inside = false;

	while (git_config_next_line(&text, &line)) {
		if (line.header)
			inside = same_word(line.whole, "[core]");
		if (line.header || !inside)
			continue;
		git_config_parse_value(line.value, &value);
		if (same_word(line.key, "bare"))
			out->bare = same_word(buf_str(&value), "true");
		else if (same_word(line.key, "worktree") && value.len)
			out->worktree = arena_dup(a, buf_str(&value));
	}
}

void git_config_core(struct arena *a, const char *common, struct git_core *out)
{
	static const char *const files[] = {"config", "config.worktree"};

	*out = (struct git_core){0};
	for (size_t i = 0; i < COUNT(files); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct error ignored;

		if (sys_read_file(
			    &text, path_join(a, common, files[i]), CONFIG_MAX, NULL, &ignored) == 0)
			parse_core(a, buf_str(&text), out);
	}
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

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The byte that `%XX` at the beginning of `s` stands for; -1: none. */
static int escaped_byte(struct str s)
{
	int high = s.n > 2 && s.p[0] == '%' ? hex_digit(s.p[1]) : -1;
	int low = high < 0 ? -1 : hex_digit(s.p[2]);

	return low < 0 ? -1 : high * 16 + low;
}

/* `escapes`: `%XX` is a byte, as in a URL. A `%` without two digits is one itself, as for git. */
static bool encode_path(struct str path, bool escapes, struct buf *out)
{
	for (size_t i = 0; i < path.n; i++) {
		int escaped = escapes ? escaped_byte(tail(path, i)) : -1;
		unsigned char c = (unsigned char)(escaped < 0 ? path.p[i] : (char)escaped);

		if (c < ' ' || c == 127 || strchr("?#\\:\"<>|*[]{}^`", c) ||
			(c == '/' && escaped >= 0))
			return false;
		if (c < 127 && (isalnum(c) || strchr("._-/", c)))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
		i += escaped < 0 ? 0 : 2;
	}
	return true;
}

bool git_slug_encode(struct str path, struct buf *out)
{
	return encode_path(path, true, out);
}

bool git_slug_of_url(struct str url, struct buf *slug)
{
	CLEANUP(buf_release) struct buf joined = BUF_INIT, encoded = BUF_INIT;
	size_t scheme, scp, part;
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
	part = str_find(path, STR("_git/")); /* of Azure DevOps */
	if (part < path.n && (!part || path.p[part - 1] == '/')) {
		buf_add(&joined, str_sub(path, 0, part));
		path = tail(path, part + strlen("_git/"));
	}
	buf_add(&joined, path);
	if (!encode_path(buf_str(&joined), scheme || scp, &encoded) ||
		!path_is_slug(buf_str(&encoded)))
		return false;
	buf_add(slug, buf_str(&encoded));
	return true;
}
