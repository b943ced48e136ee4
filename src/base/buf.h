/*
 * buf.h: a borrowed view of bytes (struct str), an owned growing text (struct buf), and an arena.
 *
 * Ownership: a str never owns. A buf owns its bytes until buf_release(). What an arena returns
 * lives until arena_release(). Running out of memory ends the process through base_oom().
 */
#ifndef DT_BUF_H
#define DT_BUF_H

#include "src/base/error.h"

struct str {
	const char *p; /* not NUL-ended; may be NULL when n is 0 */
	size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
static inline struct str str_of(const char *s)
{
	return (struct str){s, s ? strlen(s) : 0};
}
bool str_eq(struct str a, struct str b);
uint32_t str_hash(struct str s); /* FNV-1a */
char *str_dup(struct str s);     /* NUL-ended copy, the caller's: free() */
bool str_is(struct str a, const char *b);
bool str_in(struct str s, const char *const *list); /* NULL-ended; NULL: none */
/* The same, with the index of the word. False: *at is the length of the list. */
bool str_index(struct str s, const char *const *list, unsigned *at);
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
struct str str_trim(struct str s); /* without surrounding space, tab, CR, LF */
struct str str_sub(struct str s, size_t from, size_t to); /* empty unless from < to */
/* Offset of the first `needle`, or s.n when there is none. */
size_t str_find(struct str s, struct str needle);
/* Cuts the next line (without its LF or CR LF) off *rest; false at the end. */
bool str_line(struct str *rest, struct str *line);
/* Cuts the next item off the list `a, b, ...`, without blanks around it; a comma in parentheses
 * does not end it. An empty text is a list of one empty item. */
bool str_next_item(struct str *rest, struct str *item);
/* Cuts the next piece that is not empty, up to a byte `end`, off *rest; false: there is none. */
bool str_piece(struct str *rest, char end, struct str *piece);

struct buf {
	char *s; /* always NUL-ended, never NULL after the first call */
	size_t len, cap;
};

#define BUF_INIT                                                                                   \
	{                                                                                          \
		0                                                                                  \
	}
void buf_add(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* For a message: at most `max` bytes, cut between characters; each control character (C0 and C1),
 * each one that cannot be seen or turns the line, and each byte that is not UTF-8 becomes `?`. */
void buf_add_printable(struct buf *b, struct str text, size_t max);
/* `text` as one word of a POSIX shell, always in single quotes. */
void buf_add_shell(struct buf *b, struct str text);
/* A part of a command, and one word of the shell. */
void buf_add_argument(struct buf *b, const char *before, const char *word);
/* Makes room for n more bytes at b->s + b->len; the caller adds to len what it used. */
void buf_reserve(struct buf *b, size_t n);
static inline struct str buf_str(const struct buf *b)
{
	return (struct str){b->s, b->len};
}
void buf_clear(struct buf *b);
/* Truncates to the first `len` bytes. */
void buf_cut(struct buf *b, size_t len);
void buf_release(struct buf *b);

struct arena {
	struct arena_block *head;
};

void *arena_alloc(struct arena *a, size_t n);     /* zeroed, aligned for anything */
char *arena_dup(struct arena *a, struct str s);   /* NUL-ended copy */
char *arena_lower(struct arena *a, struct str s); /* in small letters; ASCII */
struct str arena_str(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
/* Cuts the next word off *rest: it ends at a blank, except in single quotes as buf_add_shell()
 * writes them; a backslash outside of them stands for the character behind it. False: none is
 * left. */
bool arena_shell_word(struct arena *a, struct str *rest, struct str *word);
/* The items of a list `a, b, ...` that are not empty; NULL-ended. */
const char *const *arena_items(struct arena *a, struct str list);
char *arena_printable(struct arena *a, struct str s, size_t max); /* as buf_add_printable() */
void arena_release(struct arena *a);

/* 0 when `s` is valid UTF-8 without NUL; else the 1-based offset of the first bad byte. */
size_t str_utf8_fault(struct str s);
/* Replaces every byte that is not valid UTF-8 by `?`. */
void buf_utf8_repair(struct buf *b);
/* How many characters `s`, valid UTF-8, has. */
size_t str_characters(struct str s);
/* The first `max` bytes, or fewer: cut between two characters. */
struct str str_cut(struct str s, size_t max);
/* 1-based line and column (in characters) of byte `at` of `text`. */
void str_position(struct str text, size_t at, unsigned *line, unsigned *col);

#endif
