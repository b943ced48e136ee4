/*
 * random.h: pseudo-random numbers, the same for the same seed on every machine.
 */
#ifndef DT_TESTS_RANDOM_H
#define DT_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state; /* the seed */
};

/* The seed of a random suite: `text` if it is not NULL, else the environment's SEED, else 1. Prints
 * `# seed N`; ends the program when the seed is no number. */
uint64_t random_seed(const char *text);
/* SplitMix64: consecutive seeds give unrelated numbers. */
uint64_t random_next(struct random *r);
/* 0 to n - 1; 0 when n is 0. */
unsigned random_below(struct random *r, unsigned n);
/* True with a probability in a thousand. */
bool random_chance(struct random *r, unsigned per_mille);

#endif
