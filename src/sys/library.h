/*
 * library.h: a shared library opened at its first use, because loading it takes as long as a whole
 * step does and most steps need none. For the one file of src/base that uses it.
 *
 *     #define FUNCTIONS(X) X(EVP_md5) X(EVP_sha256)
 *     static struct { bool open; FUNCTIONS(LIBRARY_MEMBER) } lib;
 *     static const struct library_name names[] = {FUNCTIONS(LIBRARY_NAME)};
 */
#ifndef DT_LIBRARY_H
#define DT_LIBRARY_H

#include <stddef.h>
#include "src/base/error.h"

#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name)   {#name, offsetof(__typeof__(lib), name)},

struct library_name {
	const char *name;
	size_t offset; /* in *lib, of the pointer to the function */
};

/* Opens `so` for good and fills in the pointers. `what` is "git", "HTTP" ... for messages. -1:
 * ERR_SYSTEM. */
int library_open(const char *so, const char *what, const struct library_name *names, size_t n,
	void *lib, struct error *err);

#endif
