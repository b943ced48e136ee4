/*
 * base.h: what every file may use. Include it after the system headers: it poisons the calls that
 * cannot be used safely, so that the compiler refuses them.
 */
#ifndef DT_BASE_H
#define DT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

#ifndef DEV_TEAM_VERSION
#define DEV_TEAM_VERSION "0.1.0"
#endif

#define CLEANUP(fn)      __attribute__((cleanup(fn)))
#define PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define COUNT(array)     (sizeof(array) / sizeof((array)[0]))

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atof gets

/* Prints one line and ends the process with exit code 5. */
_Noreturn void base_oom(void);
/* malloc() and realloc() that end the process instead of returning NULL. */
void *xmalloc(size_t n);
void *xrealloc(void *p, size_t n);

/* For CLEANUP: closes a descriptor unless it is -1. */
static inline void base_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* For CLEANUP: frees what a `char *` or other plain pointer holds. */
static inline void base_free(void *p)
{
	free(*(void **)p);
}

#endif
