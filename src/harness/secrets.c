#include <ctype.h>
#include "src/harness/secrets.h"

enum {
	SECRET_MIN = 6, /* bytes of a value; a shorter one would strike out half of any text */
	KEY_TAIL = 8,   /* bytes behind a prefix that make it a key */
};

static bool part_is_secret(struct str part)
{
	static const char *const words[] = {
		"KEY", "PASS", "PWD", "CREDENTIAL", "CREDENTIALS", "HEADERS", NULL};
	static const char *const ends[] = {"APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", NULL};

	for (const char *const *w = words; *w; w++)
		if (str_is(part, *w))
			return true;
	for (const char *const *e = ends; *e; e++)
		if (str_ends(part, *e))
			return true;
	return false;
}

/* By the parts between `_`: AUTHOR is no AUTH, MONKEY no KEY. */
bool secret_name(struct str name)
{
	char upper[128];
	struct str rest = {upper, name.n < sizeof(upper) ? name.n : sizeof(upper)};

	for (size_t i = 0; i < rest.n; i++)
		upper[i] = (char)toupper((unsigned char)name.p[i]);
	while (rest.n) {
		size_t n = str_find(rest, STR("_"));

		if (part_is_secret(str_sub(rest, 0, n)))
			return true;
		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
	}
	return false;
}

static bool named(struct str name, const char *const *names)
{
	for (; names && *names; names++)
		if (str_is(name, *names))
			return true;
	return false;
}

/* Kept in the order of length: a secret that holds another one goes first. */
static void add_one(struct arena *a, struct secrets *s, const char *value)
{
	const char **list = arena_alloc(a, (s->n + 1) * sizeof(*list));
	size_t at = 0;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i], value) == 0)
			return;
	while (at < s->n && strlen(s->list[at]) >= strlen(value))
		at++;
	for (size_t i = 0; i < s->n; i++)
		list[i < at ? i : i + 1] = s->list[i];
	list[at] = arena_dup(a, str_of(value));
	s->list = list;
	s->n++;
}

/* Of more than one line, as keys and headers are: each of them too, and `VALUE` of `NAME: VALUE`.
 */
static void add_value(struct arena *a, struct secrets *s, const char *value)
{
	struct str rest = str_of(value), line;

	add_one(a, s, value);
	while (str_line(&rest, &line)) {
		size_t colon = str_find(line, STR(": "));
		struct str behind = str_trim(str_sub(line, colon < line.n ? colon + 1 : 0, line.n));

		if (str_trim(line).n >= SECRET_MIN)
			add_one(a, s, arena_dup(a, str_trim(line)));
		if (behind.n >= SECRET_MIN)
			add_one(a, s, arena_dup(a, behind));
	}
}

void secrets_add(
	struct arena *a, struct secrets *s, const char *const *env, const char *const *names)
{
	for (; env && *env; env++) {
		const char *equals = strchr(*env, '=');
		struct str name;

		if (!equals || strlen(equals + 1) < SECRET_MIN)
			continue;
		name = (struct str){*env, (size_t)(equals - *env)};
		if (secret_name(name) || named(name, names))
			add_value(a, s, equals + 1);
	}
}

size_t secrets_longest(const struct secrets *s)
{
	return s->n ? strlen(s->list[0]) : 0;
}

static bool key_byte(char c)
{
	return isalnum((unsigned char)c) || strchr("-_.~+/=", c);
}

/* Bytes of a key at the beginning of `text`, with its prefix; 0: there is none. */
static size_t key_length(struct str text)
{
	static const char *const prefixes[] = {"sk-", "sk_", "ghp_", "gho_", "ghs_", "github_pat_",
		"AIza", "AKIA", "xoxb-", "xoxp-", "ya29.", "eyJ", NULL};

	for (const char *const *p = prefixes; *p; p++) {
		size_t n = strlen(*p), to = n;

		if (!str_starts(text, *p))
			continue;
		while (to < text.n && text.p[to] && key_byte(text.p[to]))
			to++;
		return to - n >= KEY_TAIL ? to : 0;
	}
	return 0;
}

/* `Bearer WORD`: the length of all of it. */
static size_t bearer_length(struct str text)
{
	static const char word[] = "bearer ";
	size_t n = sizeof(word) - 1, to = n;

	if (text.n <= n || strncasecmp(text.p, word, n) != 0)
		return 0;
	while (to < text.n && text.p[to] && key_byte(text.p[to]))
		to++;
	return to - n >= KEY_TAIL ? to : 0;
}

/* `//USER:PASSWORD@` of a URL: the length up to the `@`. */
static size_t login_length(struct str text)
{
	bool colon = false;

	if (!str_starts(text, "//"))
		return 0;
	for (size_t i = 2; i < text.n && !strchr("/ \t\r\n\"'<>", text.p[i]); i++) {
		colon = colon || text.p[i] == ':';
		if (text.p[i] == '@')
			return colon ? i : 0;
	}
	return 0;
}

static size_t value_length(const struct secrets *s, struct str text)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_starts(text, s->list[i]))
			return strlen(s->list[i]);
	return 0;
}

void secrets_mask_values(const struct secrets *s, struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n;) {
		size_t known = value_length(s, str_sub(text, i, text.n));

		if (known)
			buf_adds(out, SECRET_MASK);
		else
			buf_addc(out, text.p[i]);
		i += known ? known : 1;
	}
}

/* What looks like a key at `i`: its length, and what stands for it. */
static size_t shape_at(struct str text, size_t i, const char **mask)
{
	struct str rest = str_sub(text, i, text.n);
	bool inside = i && (isalnum((unsigned char)text.p[i - 1]) || text.p[i - 1] == '_');
	size_t n = inside ? 0 : key_length(rest);

	*mask = SECRET_MASK;
	if (!n) {
		*mask = "Bearer " SECRET_MASK;
		n = inside ? 0 : bearer_length(rest);
	}
	if (!n) {
		*mask = "//" SECRET_MASK;
		n = login_length(rest);
	}
	return n;
}

void secrets_mask(const struct secrets *s, struct str text, struct buf *out)
{
	CLEANUP(buf_release) struct buf first = BUF_INIT;

	secrets_mask_values(s, text, &first);
	for (size_t i = 0; i < first.len;) {
		const char *mask;
		size_t n = shape_at(buf_str(&first), i, &mask);

		if (n)
			buf_adds(out, mask);
		else
			buf_addc(out, first.s[i]);
		i += n ? n : 1;
	}
}
