#include "src/base/number.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

uint64_t random_seed(const char *text)
{
	uint64_t seed = 1;

	text = text ? text : getenv("SEED");
	if (text && !number_parse(str_of(text), 0, INT64_MAX, &seed))
		die("'%s' is no seed", text);
	tap_notef("seed %llu", (unsigned long long)seed);
	return seed;
}

uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned random_below(struct random *r, unsigned n)
{
	return (unsigned)(((random_next(r) >> 32) * n) >> 32);
}

bool random_chance(struct random *r, unsigned per_mille)
{
	return random_below(r, 1000) < per_mille;
}
