/*
 * simulate_dice.h: numbers that look random and are the same for the same seed, on every machine.
 */
#ifndef DT_SIMULATE_DICE_H
#define DT_SIMULATE_DICE_H

#include "src/base/base.h"

struct dice {
	uint64_t state;
};

/* SplitMix64: seeds that follow one another give unrelated numbers. */
static inline uint64_t dice_next(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to n - 1; 0 when n is 0. */
static inline unsigned dice_below(struct dice *d, unsigned n)
{
	return (unsigned)(((dice_next(d) >> 32) * n) >> 32);
}

/* True so many times in a thousand. */
static inline bool dice_chance(struct dice *d, unsigned per_mille)
{
	return dice_below(d, 1000) < per_mille;
}

/* An index into `weights`, each as likely as its weight says; n when all are 0. */
static inline unsigned dice_pick(struct dice *d, const unsigned char *weights, unsigned n)
{
	unsigned sum = 0, at;

	for (unsigned i = 0; i < n; i++)
		sum += weights[i];
	if (!sum)
		return n;
	at = dice_below(d, sum);
	for (unsigned i = 0; i < n; i++) {
		if (at < weights[i])
			return i;
		at -= weights[i];
	}
	return n;
}

#endif
