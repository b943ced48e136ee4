/*
 * generate_internal.h: what the two files of the generator share.
 */
#ifndef DT_TESTS_GENERATE_INTERNAL_H
#define DT_TESTS_GENERATE_INTERNAL_H

#include "tests/lib/random.h"
#include "tests/policy/live/generate.h"

enum { DEPTH = 5, DOCUMENTS = 6, LONG = 220 };

struct document {
	char delimiter[24];
	bool strip, literal;
};

struct maker {
	struct random random;
	struct buf *out;
	unsigned depth;
	struct document documents[DOCUMENTS]; /* whose bodies come behind the next newline */
	unsigned n;
};

#define PICK(m, array) ((array)[roll(m, COUNT(array))])

static inline unsigned roll(struct maker *m, unsigned n)
{
	return (unsigned)(random_next(&m->random) % n);
}

static inline bool chance(struct maker *m, unsigned percent)
{
	return roll(m, 100) < percent;
}

/* Rare. */
static inline bool wild(struct maker *m, unsigned permille)
{
	return roll(m, 1000) < permille;
}

static inline void put(struct maker *m, const char *text)
{
	buf_adds(m->out, text);
}

/* generate.c */
void make_list(struct maker *m);

/* generate_words.c */
void make_blank(struct maker *m);
void make_comment(struct maker *m);
/* A newline with the here documents that wait for it. */
void make_newline(struct maker *m);
/* `last`: the line that ends the last body needs no newline. */
void make_documents(struct maker *m, bool last);
void make_word(struct maker *m);

#endif
