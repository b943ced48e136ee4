/*
 * library.h: a shared library that is opened at its first use, because loading it takes as long as
 * a whole step does and most steps need none. For the one file that uses the library:
 *
 *     #define FUNCTIONS(X) X(EVP_md5) X(EVP_sha256)
 *     LIBRARY(FUNCTIONS, LIBCRYPTO_SO, "crypto", NULL);
 *
 *     if (library_open(&library, err) < 0)
 *             return -1;
 *     lib.EVP_md5();
 */
#ifndef DT_LIBRARY_H
#define DT_LIBRARY_H

#include "src/base/error.h"

struct library_name {
	const char *name;
	size_t offset; /* in `lib`, of the pointer to the function */
};

struct library {
	const char *so, *what; /* the file; "git", "HTTP" ... for messages */
	const struct library_name *names;
	size_t n;
	void *functions;
	int (*start)(
		struct error *err); /* called once, when the functions are there; may be NULL */
	bool open;
};

#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name)   {#name, offsetof(__typeof__(lib), name)},
#define LIBRARY(FUNCTIONS, so, what, start)                                                        \
	static struct {                                                                            \
		FUNCTIONS(LIBRARY_MEMBER)                                                          \
	} lib;                                                                                     \
	static const struct library_name lib_names[] = {FUNCTIONS(LIBRARY_NAME)};                  \
	static struct library library = {so, what, lib_names, COUNT(lib_names), &lib, start, false}

/* Opens the library for good unless it is open. -1: ERR_SYSTEM, or as start() says. */
int library_open(struct library *l, struct error *err);

#endif
