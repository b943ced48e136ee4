/*
 * fuzz.h: the interface of libFuzzer and what the targets share.
 */
#ifndef DT_TESTS_FUZZ_H
#define DT_TESTS_FUZZ_H

#include "src/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process when a requirement of a target does not hold. */
static inline void expect(bool good)
{
	if (!good)
		abort();
}

/* Cuts the text before the separator off *rest. Without a separator that is all, and rest->p is
 * NULL. */
static inline struct str fuzz_part(struct str *rest, struct str separator)
{
	size_t cut = str_find(*rest, separator);
	struct str first = str_sub(*rest, 0, cut);

	*rest = cut < rest->n ? str_sub(*rest, cut + 1, rest->n) : (struct str){0};
	return first;
}

#endif
