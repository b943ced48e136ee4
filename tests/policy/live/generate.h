/*
 * generate.h: shell text from a grammar, the same for the same seed: what the subset has, and what
 * is nearly in it.
 */
#ifndef DT_TESTS_GENERATE_H
#define DT_TESTS_GENERATE_H

#include "src/base/buf.h"

struct dice {
	uint64_t state;
};

static inline uint64_t dice_roll(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 .. n-1 */
static inline unsigned dice(struct dice *d, unsigned n)
{
	return (unsigned)(dice_roll(d) % n);
}

enum flavour {
	/* Whatever the grammar has. */
	GENERATE_ANY,
	/* To be run: plain names of programs, files of the working directory, /dev/null. */
	GENERATE_TAME,
};

/* Text `number` of `seed`: each can be made alone. */
void generate(struct buf *out, uint64_t seed, uint64_t number, enum flavour flavour);

#endif
