/*
 * random.h: pseudo-random numbers, the same for the same seed on every machine.
 */
#ifndef DT_MODEL_RANDOM_H
#define DT_MODEL_RANDOM_H

#include "src/base/base.h"

struct random {
	uint64_t state;
};

/* SplitMix64: consecutive seeds give unrelated numbers. */
static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to n - 1; 0 when n is 0. */
static inline unsigned random_below(struct random *r, unsigned n)
{
	return (unsigned)(((random_next(r) >> 32) * n) >> 32);
}

/* True with a probability in a thousand. */
static inline bool random_chance(struct random *r, unsigned per_mille)
{
	return random_below(r, 1000) < per_mille;
}

#endif
