#include "src/review/path_kind.h"
#include "src/review/path_words.h"

enum { LONGEST_PATH = 4096, LONGEST_WORD = 64 };

#define IN(list, test, text) any((list), COUNT(list), (test), (text))

static bool is(struct str text, const char *word)
{
	return str_is(text, word);
}

static bool contains(struct str text, const char *word)
{
	return str_find(text, str_of(word)) < text.n;
}

static bool any(
	const char *const *list, size_t n, bool (*test)(struct str, const char *), struct str text)
{
	for (size_t i = 0; i < n; i++)
		if (test(text, list[i]))
			return true;
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static struct str base_of(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? str_sub(path, (size_t)(slash - path.p) + 1, path.n) : path;
}

/* Cuts the next component off. */
static bool next_part(struct str *rest, struct str *part)
{
	size_t end = str_find(*rest, STR("/"));

	if (!rest->n)
		return false;
	*part = str_sub(*rest, 0, end);
	*rest = str_sub(*rest, end < rest->n ? end + 1 : end, rest->n);
	return true;
}

/* Whether one of the folders above the file passes. */
static bool some_folder(struct str path, bool (*test)(struct str folder))
{
	struct str rest = str_sub(path, 0, path.n - base_of(path).n), part;

	while (next_part(&rest, &part))
		if (test(part))
			return true;
	return false;
}

/* ---- what a name could hide ---- */

static bool plain_part(struct str part)
{
	for (size_t i = 0; i < part.n; i++)
		if (!letter(part.p[i]) &&
			(!part.p[i] || !strchr("0123456789._-+@()[]{}#~,=& ", part.p[i])))
			return false;
	return part.n && !str_is(part, ".") && !str_is(part, "..") && part.p[0] != ' ' &&
	       part.p[part.n - 1] != ' ' && part.p[part.n - 1] != '.';
}

static bool plain(struct str path)
{
	struct str rest = path, part;

	if (!path.n || path.n > LONGEST_PATH || path.p[path.n - 1] == '/')
		return false;
	while (next_part(&rest, &part))
		if (!plain_part(part))
			return false;
	return true;
}

/* ---- authentication ---- */

/* `word`: letters alone, lower case. */
static bool auth_word(struct str word)
{
	if (IN(auth_words, is, word))
		return true;
	return word.n > 1 && word.p[word.n - 1] == 's' &&
	       IN(auth_words, is, str_sub(word, 0, word.n - 1));
}

/* Letters from `from` on that make one word: up to no letter; `humps`: also to a hump as in
 * signIn or JWTParser. */
static size_t word_end(struct str s, size_t from, bool humps)
{
	size_t i = from + 1;

	for (; i < s.n && letter(s.p[i]); i++) {
		bool next_lower = i + 1 < s.n && letter(s.p[i + 1]) && !upper(s.p[i + 1]);

		if (humps && upper(s.p[i]) && (!upper(s.p[i - 1]) || next_lower))
			break;
	}
	return i;
}

static bool auth_words_of(struct str path, bool humps)
{
	size_t end;

	for (size_t i = 0; i < path.n; i = end) {
		char word[LONGEST_WORD];

		end = i + 1;
		if (!letter(path.p[i]))
			continue;
		end = word_end(path, i, humps);
		if (end - i > sizeof(word))
			continue;
		for (size_t k = i; k < end; k++)
			word[k - i] = lower(path.p[k]);
		if (auth_word((struct str){word, end - i}))
			return true;
	}
	return false;
}

static bool auth_path(struct str path, struct str low)
{
	struct str base = base_of(low);

	return auth_words_of(path, true) || auth_words_of(path, false) ||
	       IN(key_ends, str_ends, base) || IN(key_begins, str_starts, base);
}

/* ---- agents ---- */

static bool agent_folder(struct str folder)
{
	return IN(agent_folders, is, folder);
}

static bool agent_prose_folder(struct str folder)
{
	return IN(agent_prose, is, folder);
}

static bool agent_path(struct str low)
{
	struct str base = base_of(low);

	return IN(agent_names, is, base) || IN(agent_ends, str_ends, base) ||
	       IN(agent_begins, str_starts, base) || some_folder(low, agent_folder) ||
	       agent_folder(base) ||
	       (IN(docs_ends, str_ends, base) && some_folder(low, agent_prose_folder));
}

/* ---- dependencies ---- */

static bool pip_list(struct str base)
{
	return str_ends(base, ".txt") &&
	       (str_starts(base, "requirements") || str_ends(base, "requirements.txt") ||
		       str_starts(base, "constraints"));
}

static bool pip_folder(struct str folder)
{
	return str_is(folder, "requirements");
}

static bool dependency_path(struct str path)
{
	struct str base = base_of(path);

	return IN(dependency_names, is, base) || IN(ci_names, is, base) ||
	       IN(ci_begins, str_starts, path) || pip_list(base) ||
	       (str_ends(base, ".txt") && some_folder(path, pip_folder));
}

/* ---- prose ---- */

static bool hidden(struct str part)
{
	return part.n && part.p[0] == '.';
}

static bool not_docs_folder(struct str folder)
{
	return hidden(folder) || IN(not_docs_folders, is, folder);
}

static bool docs_folder(struct str folder)
{
	return IN(docs_folders, is, folder);
}

/* Build tools read .txt and browsers run .svg: only where prose is, or by a name for prose. */
static bool careful(struct str low, struct str base)
{
	bool text = str_ends(base, ".txt");

	if (!text && !str_ends(base, ".svg"))
		return true;
	if (text && IN(not_prose, contains, base))
		return false;
	return some_folder(low, docs_folder) || (text && IN(prose_begins, str_starts, base));
}

static bool docs_path(struct str low)
{
	struct str base = base_of(low);

	return IN(docs_ends, str_ends, base) && !hidden(base) &&
	       !IN(never_docs_begins, str_starts, base) && !IN(never_docs_ends, str_ends, base) &&
	       !IN(code_inside, contains, base) && !some_folder(low, not_docs_folder) &&
	       careful(low, base);
}

/* Prose or a list that git takes for binary is not what its name says. */
static bool disguised(struct str low, unsigned traits)
{
	bool binary = IN(binary_ends, str_ends, low);

	return traits & (TRAIT_EXECUTABLE | TRAIT_MODE) || (!binary && traits & TRAIT_BINARY);
}

static enum path_kind kind_of(struct str path, struct str low, unsigned traits)
{
	enum path_kind kind = PATH_OTHER;

	if (auth_path(path, low))
		return PATH_AUTH;
	if (!plain(path) || traits & (TRAIT_SYMLINK | TRAIT_SUBMODULE))
		return PATH_ODD;
	if (agent_path(low))
		return PATH_AGENT;
	if (dependency_path(path))
		kind = PATH_DEPENDENCY;
	else if (docs_path(low))
		kind = PATH_DOCS;
	return kind != PATH_OTHER && disguised(low, traits) ? PATH_ODD : kind;
}

enum path_kind path_kind(const char *path, unsigned traits)
{
	CLEANUP(buf_release) struct buf low = BUF_INIT;

	buf_adds(&low, path);
	for (size_t i = 0; i < low.len; i++)
		low.s[i] = lower(low.s[i]);
	return kind_of(str_of(path), buf_str(&low), traits);
}

bool path_ignores_blanks(const char *path)
{
	return IN(blank_ends, str_ends, str_of(path));
}

bool path_has_no_long_texts(const char *path)
{
	return IN(short_text_ends, str_ends, str_of(path));
}

const char *path_kind_word(enum path_kind k)
{
	static const char *const words[PATH_KINDS] = {
		"authentication", "odd", "agent", "dependency", "docs", "other"};

	return words[k];
}
