#include <stdarg.h>
#include "src/base/vec.h"

_Noreturn void base_oom(void)
{
	static const char text[] = "dev-team: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)ignored;
	_exit(ERR_SYSTEM);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		base_oom();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		base_oom();
	return p;
}

/* ---- str ---- */

/* NUL-ended, into `p`. */
static char *buf_copy_to(char *p, struct str s)
{
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

char *str_dup(struct str s)
{
	return buf_copy_to(xmalloc(s.n + 1), s);
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

uint32_t str_hash(struct str s)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		hash = (hash ^ (unsigned char)s.p[i]) * 16777619u;
	return hash;
}

bool str_is(struct str a, const char *b)
{
	return a.n ? a.p[0] == b[0] && str_eq(a, str_of(b)) : !b[0];
}

bool str_index(struct str s, const char *const *list, unsigned *at)
{
	for (*at = 0; list && list[*at]; ++*at)
		if (str_is(s, list[*at]))
			return true;
	return false;
}

bool str_in(struct str s, const char *const *list)
{
	unsigned ignored;

	return str_index(s, list, &ignored);
}

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

static bool buf_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n && buf_is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && buf_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_sub(struct str s, size_t from, size_t to)
{
	/* An empty text may be NULL. */
	return (struct str){from ? s.p + from : s.p, from < to ? to - from : 0};
}

size_t str_find(struct str s, struct str needle)
{
	const char *hit = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;

	return hit ? (size_t)(hit - s.p) : s.n;
}

bool str_line(struct str *rest, struct str *line)
{
	const char *end;
	size_t n;

	if (!rest->n)
		return false;
	end = memchr(rest->p, '\n', rest->n);
	n = end ? (size_t)(end - rest->p) : rest->n;
	*line = (struct str){rest->p, n};
	if (end && n && line->p[n - 1] == '\r')
		line->n--;
	n += end != NULL;
	rest->p += n;
	rest->n -= n;
	return true;
}

bool str_next_item(struct str *rest, struct str *item)
{
	size_t n = 0;
	int depth = 0;

	if (!rest->p)
		return false;
	for (; n < rest->n && (rest->p[n] != ',' || depth > 0); n++)
		depth += (rest->p[n] == '(') - (rest->p[n] == ')');
	*item = str_trim(str_sub(*rest, 0, n));
	*rest = n < rest->n ? str_sub(*rest, n + 1, rest->n) : (struct str){0};
	return true;
}

bool str_piece(struct str *rest, char end, struct str *piece)
{
	size_t n = 0;

	while (rest->n && rest->p[0] == end)
		*rest = str_sub(*rest, 1, rest->n);
	while (n < rest->n && rest->p[n] != end)
		n++;
	*piece = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n, rest->n);
	return n > 0;
}

/* ---- buf ---- */

enum { BUF_MIN = 256 };

void buf_reserve(struct buf *b, size_t n)
{
	size_t want = b->len + n + 1;

	if (want < n)
		base_oom();
	if (want <= b->cap)
		return;
	if (want < b->cap * 2)
		want = b->cap * 2;
	b->cap = want < BUF_MIN ? BUF_MIN : want;
	b->s = xrealloc(b->s, b->cap);
	b->s[b->len] = '\0';
}

void buf_add(struct buf *b, struct str s)
{
	buf_reserve(b, s.n);
	if (s.n)
		memcpy(b->s + b->len, s.p, s.n);
	b->len += s.n;
	b->s[b->len] = '\0';
}

void buf_addc(struct buf *b, char c)
{
	buf_reserve(b, 1);
	b->s[b->len++] = c;
	b->s[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, str_of(s));
}

/* Usually there is room already, and one vsnprintf() is enough. */
PRINTF(2, 0)
static void add_format(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	buf_reserve(b, 100);
	room = b->cap - b->len;
	va_copy(again, ap);
	n = vsnprintf(b->s + b->len, room, fmt, ap);
	if ((size_t)n >= room) {
		buf_reserve(b, (size_t)n);
		(void)vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
	}
	b->len += (size_t)n;
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_format(b, fmt, ap);
	va_end(ap);
}

/* Bytes of a character that moves the cursor, breaks a line, turns its direction or cannot be seen;
 * 0: it is another one. Valid UTF-8, and a NUL behind it. */
static size_t unseen_length(const unsigned char *c)
{
	if (c[0] < 0x80)
		return c[0] < ' ' || c[0] == 0x7f;
	if (c[0] == 0xc2)
		return c[1] < 0xa0 || c[1] == 0xad ? 2 : 0;
	if (c[0] == 0xe2 && c[1] == 0x80) /* U+200B to U+200F, U+2028 to U+202E */
		return (c[2] >= 0x8b && c[2] <= 0x8f) || (c[2] >= 0xa8 && c[2] <= 0xae) ? 3 : 0;
	if (c[0] == 0xe2 && c[1] == 0x81) /* U+2060 to U+206F */
		return c[2] >= 0xa0 && c[2] <= 0xaf ? 3 : 0;
	return c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf ? 3 : 0; /* U+FEFF */
}

void buf_add_printable(struct buf *b, struct str text, size_t max)
{
	CLEANUP(buf_release) struct buf valid = BUF_INIT;

	buf_add(&valid, text);
	buf_utf8_repair(&valid);
	text = str_cut(buf_str(&valid), max);
	for (size_t i = 0; i < text.n; i++) {
		size_t unseen = unseen_length((const unsigned char *)text.p + i);

		buf_addc(b, unseen ? '?' : text.p[i]);
		i += unseen ? unseen - 1 : 0;
	}
}

void buf_add_shell(struct buf *b, struct str text)
{
	buf_addc(b, '\'');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, text.p[i]);
	}
	buf_addc(b, '\'');
}

void buf_add_argument(struct buf *b, const char *before, const char *word)
{
	buf_adds(b, before);
	buf_add_shell(b, str_of(word));
}

void buf_cut(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->s[len] = '\0';
}

void buf_clear(struct buf *b)
{
	buf_cut(b, 0);
}

void buf_release(struct buf *b)
{
	free(b->s);
	*b = (struct buf)BUF_INIT;
}

/* ---- UTF-8 ---- */

/* Length of the well-formed sequence at p (RFC 3629: no overlong forms, no surrogates), or 0. */
static size_t sequence(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80   ? 1
		     : p[0] < 0xc2 ? 0
		     : p[0] < 0xe0 ? 2
		     : p[0] < 0xf0 ? 3
		     : p[0] < 0xf5 ? 4
				   : 0;

	if (len == 0 || len > n || p[0] == 0)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

enum { BLOCK = 32 }; /* bytes that are checked at once */

/* True when the block at p is ASCII without NUL: subtracting one from each byte sets the high bit
 * of a NUL only. */
static bool plain_block(const char *p)
{
	const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
	uint64_t w[BLOCK / 8], all = 0;

	memcpy(w, p, sizeof(w));
	for (size_t i = 0; i < COUNT(w); i++)
		all |= w[i] | (w[i] - ones);
	return !(all & high);
}

size_t str_utf8_fault(struct str s)
{
	size_t i = 0;

	while (i < s.n) {
		size_t len;

		if (s.n - i >= BLOCK && plain_block(s.p + i)) {
			i += BLOCK;
			continue;
		}
		len = sequence((const unsigned char *)s.p + i, s.n - i);
		if (!len)
			return i + 1;
		i += len;
	}
	return 0;
}

void buf_utf8_repair(struct buf *b)
{
	size_t from = 0;

	while (from < b->len) {
		size_t bad = str_utf8_fault((struct str){b->s + from, b->len - from});

		if (!bad)
			return;
		from += bad;
		b->s[from - 1] = '?';
	}
}

/* The second to fourth byte of a character. */
static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t str_characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += !is_continuation(s.p[i]);
	return n;
}

struct str str_cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max && is_continuation(s.p[max]))
		max--;
	return str_sub(s, 0, max);
}

void str_position(struct str text, size_t at, unsigned *line, unsigned *col)
{
	struct str before = str_sub(text, 0, at < text.n ? at : text.n);
	size_t end;

	*line = 1;
	while ((end = str_find(before, STR("\n"))) < before.n) {
		before = str_sub(before, end + 1, before.n);
		++*line;
	}
	*col = (unsigned)str_characters(before) + 1;
}

/* ---- arena ---- */

/* A block is never moved, so pointers into it stay valid. */
struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

/* A large piece gets a block of its own behind the first one, whose free room stays in use. */
static struct arena_block *block_new(struct arena *a, size_t need)
{
	size_t size = need > 8192 ? need : 8192;
	struct arena_block *b = xmalloc(sizeof(*b) + size);

	b->used = 0;
	b->size = size;
	if (need > 8192 && a->head) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		b->next = a->head;
		a->head = b;
	}
	return b;
}

static void *arena_raw(struct arena *a, size_t n)
{
	size_t need = (n + 15) & ~(size_t)15;
	struct arena_block *b = a->head;

	if (need < n)
		base_oom();
	if (!b || b->size - b->used < need)
		b = block_new(a, need);
	b->used += need;
	return b->data + b->used - need;
}

void *arena_alloc(struct arena *a, size_t n)
{
	return memset(arena_raw(a, n), 0, n);
}

char *arena_lower(struct arena *a, struct str s)
{
	char *low = arena_dup(a, s);

	for (char *c = low; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	return low;
}

char *arena_dup(struct arena *a, struct str s)
{
	return buf_copy_to(arena_raw(a, s.n + 1), s);
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){arena_dup(a, s), s.n};
}

bool arena_shell_word(struct arena *a, struct str *rest, struct str *word)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool quoted = false;
	size_t i = 0, from;

	while (i < rest->n && strchr(" \t\n", rest->p[i]))
		i++;
	for (from = i; i < rest->n && (quoted || !strchr(" \t\n", rest->p[i])); i++) {
		if (rest->p[i] == '\'')
			quoted = !quoted;
		else if (rest->p[i] == '\\' && !quoted && i + 1 < rest->n)
			buf_addc(&text, rest->p[++i]);
		else
			buf_addc(&text, rest->p[i]);
	}
	*rest = str_sub(*rest, i, rest->n);
	*word = arena_str(a, buf_str(&text));
	return i > from;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char brief[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(brief, sizeof(brief), fmt, ap);
	va_end(ap);
	if ((size_t)n < sizeof(brief))
		return arena_dup(a, (struct str){brief, (size_t)n});
	va_start(ap, fmt);
	add_format(&text, fmt, ap);
	va_end(ap);
	return arena_dup(a, buf_str(&text));
}

const char *const *arena_items(struct arena *a, struct str list)
{
	VEC(const char *) items = {0};
	struct str item;

	while (str_next_item(&list, &item))
		if (item.n)
			vec_push_in(a, &items, arena_dup(a, item));
	vec_push_in(a, &items, NULL);
	return items.items;
}

char *arena_printable(struct arena *a, struct str s, size_t max)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_add_printable(&text, s, max);
	return arena_dup(a, buf_str(&text));
}

void arena_release(struct arena *a)
{
	while (a->head) {
		struct arena_block *next = a->head->next;

		free(a->head);
		a->head = next;
	}
}
