/*
 * generate.h: shell text from a grammar, the same for the same seed: what the subset has, and what
 * is nearly in it.
 */
#ifndef DT_TESTS_GENERATE_H
#define DT_TESTS_GENERATE_H

#include "src/base/buf.h"

enum flavour {
	/* Whatever the grammar has. */
	GENERATE_ANY,
	/* To be run: plain names of programs, files of the working directory, /dev/null. */
	GENERATE_TAME,
};

/* Text `number` of `seed`: each can be made alone. */
void generate(struct buf *out, uint64_t seed, uint64_t number, enum flavour flavour);

#endif
