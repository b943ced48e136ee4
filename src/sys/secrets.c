#include <ctype.h>
#include "src/sys/path.h"
#include "src/sys/secrets.h"

enum {
	SECRET_MIN = 6,           /* masking shorter values would blank out ordinary words */
	KEY_TAIL = 8,             /* bytes after a prefix that make it a key */
	LINE_MAX_BYTES = 1 << 20, /* of a longer line half of a secret can pass */
};

static bool word_is_secret(struct str word)
{
	static const char *const words[] = {
		"KEY", "PASS", "PWD", "CREDENTIAL", "CREDENTIALS", "HEADERS", NULL};
	static const char *const endings[] = {"APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"};

	for (size_t i = 0; i < COUNT(endings); i++)
		if (str_ends(word, endings[i]))
			return true;
	return str_in(word, words);
}

/* Looks at the words between `_`: AUTHOR is not AUTH, MONKEY is not KEY. PWD alone is the working
 * directory. */
static bool name_is_secret(struct str name)
{
	char upper[128];
	struct str rest = {upper, name.n < sizeof(upper) ? name.n : sizeof(upper)};

	for (size_t i = 0; i < rest.n; i++)
		upper[i] = (char)toupper((unsigned char)name.p[i]);
	if (str_is(rest, "PWD"))
		return false;
	while (rest.n) {
		size_t n = str_find(rest, STR("_"));

		if (word_is_secret(str_sub(rest, 0, n)))
			return true;
		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
	}
	return false;
}

/* Longest first: a secret that contains another one must be masked as a whole. */
static void secrets_add_value(struct arena *a, struct secrets *s, struct str value)
{
	size_t i;

	if (value.n < SECRET_MIN)
		return;
	for (i = 0; i < s->n; i++)
		if (str_is(value, s->items[i]))
			return;
	vec_push_in(a, s, NULL);
	for (i = s->n - 1; i && strlen(s->items[i - 1]) < value.n; i--)
		s->items[i] = s->items[i - 1];
	s->items[i] = arena_dup(a, value);
}

/* Keys and headers have several lines: each line is secret too, and VALUE of `NAME: VALUE`. */
static void add_variable(struct arena *a, struct secrets *s, struct str value)
{
	struct str rest = value, line;

	secrets_add_value(a, s, value);
	while (str_line(&rest, &line)) {
		size_t colon = str_find(line, STR(": "));

		secrets_add_value(a, s, str_trim(line));
		if (colon < line.n)
			secrets_add_value(a, s, str_trim(str_sub(line, colon + 1, line.n)));
	}
}

/* For the life of the process. */
static struct {
	char **items;
	size_t n, cap;
} known_values;

void secrets_know(struct str value)
{
	if (value.n >= SECRET_MIN)
		vec_push(&known_values, str_dup(value));
}

void secrets_add(
	struct arena *a, struct secrets *s, const char *const *env, const char *const *names)
{
	for (size_t i = 0; i < known_values.n; i++)
		secrets_add_value(a, s, str_of(known_values.items[i]));
	for (; env && *env; env++) {
		struct str entry = str_of(*env),
			   name = str_sub(entry, 0, str_find(entry, STR("=")));

		if (name.n == entry.n || entry.n - name.n - 1 < SECRET_MIN)
			continue;
		if (name_is_secret(name) || str_in(name, names))
			add_variable(a, s, str_sub(entry, name.n + 1, entry.n));
	}
}

size_t secrets_longest(const struct secrets *s)
{
	return s->n ? strlen(s->items[0]) : 0;
}

void secrets_mask_values(const struct secrets *s, struct str text, struct buf *out)
{
	while (text.n) {
		size_t i = 0;

		while (i < s->n && !str_starts(text, s->items[i]))
			i++;
		if (i < s->n)
			buf_adds(out, SECRETS_MASK);
		else
			buf_addc(out, text.p[0]);
		text = str_sub(text, i < s->n ? strlen(s->items[i]) : 1, text.n);
	}
}

/* `prefix` bytes plus the bytes of a key that follow; 0 if fewer than KEY_TAIL follow. */
static size_t key_end(struct str text, size_t prefix)
{
	size_t n = prefix;

	while (n < text.n && text.p[n] &&
		(isalnum((unsigned char)text.p[n]) || strchr("-_.~+/=", text.p[n])))
		n++;
	return n - prefix >= KEY_TAIL ? n : 0;
}

static size_t key_length(struct str text)
{
	static const char *const prefixes[] = {"sk-", "sk_", "ghp_", "gho_", "ghs_", "github_pat_",
		"AIza", "AKIA", "xoxb-", "xoxp-", "ya29.", "eyJ"};

	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(text, prefixes[i]))
			return key_end(text, strlen(prefixes[i]));
	return 0;
}

static size_t bearer_length(struct str text)
{
	struct str word = STR("bearer ");

	return text.n > word.n && strncasecmp(text.p, word.p, word.n) == 0 ? key_end(text, word.n)
									   : 0;
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

/* The length of a credential at offset `i`, and its replacement; 0 if there is none. */
static size_t credential_at(struct str text, size_t i, const char **mask)
{
	struct str rest = str_sub(text, i, text.n);
	bool inside = i && (isalnum((unsigned char)text.p[i - 1]) || text.p[i - 1] == '_');
	size_t n = inside ? 0 : key_length(rest);

	*mask = SECRETS_MASK;
	if (!n && !inside) {
		*mask = "Bearer " SECRETS_MASK;
		n = bearer_length(rest);
	}
	if (!n) {
		*mask = "//" SECRETS_MASK;
		n = login_length(rest);
	}
	return n;
}

void secrets_mask(const struct secrets *s, struct str text, struct buf *out)
{
	CLEANUP(buf_release) struct buf known = BUF_INIT;

	secrets_mask_values(s, text, &known);
	for (size_t i = 0; i < known.len;) {
		const char *mask;
		size_t n = credential_at(buf_str(&known), i, &mask);

		if (n)
			buf_adds(out, mask);
		else
			buf_addc(out, known.s[i]);
		i += n ? n : 1;
	}
}

/* ---- files ---- */

static bool starts_with_any(struct str name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (str_starts(name, *prefixes))
			return true;
	return false;
}

static bool ends_with_any(struct str name, const char *const *endings)
{
	for (; *endings; endings++)
		if (str_ends(name, *endings))
			return true;
	return false;
}

static bool is_secret_name(struct str name)
{
	static const char *const names[] = {".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass",
		".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", "credentials",
		"credentials.json", "service-account.json", NULL};
	static const char *const endings[] = {".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".jks",
		".keystore", ".kdbx", ".ppk", ".tfstate", ".ovpn", NULL};
	static const char *const keys[] = {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", NULL};
	static const char *const examples[] = {
		".env.example", ".env.sample", ".env.template", NULL};

	if (str_in(name, examples))
		return false;
	return str_starts(name, ".env") || str_in(name, names) || ends_with_any(name, endings) ||
	       (starts_with_any(name, keys) && !memchr(name.p, '.', name.n));
}

bool secrets_is_file(struct str path)
{
	static const char *const directories[] = {".ssh", ".gnupg", ".aws", NULL};
	CLEANUP(buf_release) struct buf lower = BUF_INIT;
	struct str rest;

	for (size_t i = 0; i < path.n; i++)
		buf_addc(&lower, (char)tolower((unsigned char)path.p[i]));
	rest = buf_str(&lower);
	for (size_t n; (n = str_find(rest, STR("/"))) < rest.n; rest = str_sub(rest, n + 1, rest.n))
		if (str_starts(rest, ".env") || str_in(str_sub(rest, 0, n), directories))
			return true;
	return is_secret_name(rest);
}

/* ---- output ---- */

static void masked_output_write(struct masked_output *m, struct str text)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	size_t room = m->max - m->written, n;
	struct error ignored;

	if (m->fd < 0 || !room || !text.n)
		return;
	if (m->credentials)
		secrets_mask(&m->secrets, text, &masked);
	else
		secrets_mask_values(&m->secrets, text, &masked);
	n = masked.len < room ? masked.len : room;
	m->written += n;
	(void)sys_write_all(m->fd, (struct str){masked.s, n}, "log", &ignored);
	if (masked.len > room && m->cut)
		(void)sys_write_all(m->fd, str_of(m->cut), "log", &ignored);
}

void masked_output_add(struct masked_output *m, struct str piece)
{
	const char *end;
	size_t n;

	buf_add(&m->partial, piece);
	n = m->partial.len;
	end = memrchr(m->partial.s, '\n', n);
	if (end)
		n = (size_t)(end - m->partial.s) + 1;
	else if (n < LINE_MAX_BYTES)
		return;
	masked_output_write(m, (struct str){m->partial.s, n});
	memmove(m->partial.s, m->partial.s + n, m->partial.len - n);
	buf_cut(&m->partial, m->partial.len - n);
}

void masked_output_end(struct masked_output *m)
{
	masked_output_write(m, buf_str(&m->partial));
	buf_release(&m->partial);
}
