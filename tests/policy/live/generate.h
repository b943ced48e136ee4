/*
 * generate.h: shell text from a grammar, the same for the same seed: what the subset has, and what
 * is nearly in it.
 */
#ifndef DT_TESTS_GENERATE_H
#define DT_TESTS_GENERATE_H

#include "src/base/buf.h"

/* Text `number` of `seed`: each can be made alone. */
void generate(struct buf *out, uint64_t seed, uint64_t number);

#endif
