/*
 * number.h: numbers read from text, the one implementation of it. A whole number is decimal digits
 * and nothing else: no blank, no sign, no `0x`; leading zeros are allowed.
 */
#ifndef DT_NUMBER_H
#define DT_NUMBER_H

#include "src/base/buf.h"

/*
 * Reads the digits that `text` begins with. Returns how many there are, which is also the offset of
 * the first byte that is no digit; 0: *out is 0. A number over UINT64_MAX is read as UINT64_MAX.
 */
size_t number_digits(struct str text, uint64_t *out);

/* True when the whole of `text` is a number from `min` to `max`; else *out is left alone. */
bool number_parse(struct str text, uint64_t min, uint64_t max, uint64_t *out);
/* The number that the whole of `text` is, if it is at most `max`, else `otherwise`. */
uint64_t number_or(struct str text, uint64_t max, uint64_t otherwise);
/* The same of an environment variable. */
uint64_t number_env(const char *name, uint64_t max, uint64_t otherwise);
/* Whether an environment variable is one of the words (NULL-ended, in small letters), in any case
 * and with blanks around it. */
bool env_is_in(const char *name, const char *const *words);
/* Whether it switches something off: `off`, `0`, `false` or `no`. */
bool env_is_off(const char *name);
/* True when the whole of `text` is hexadecimal digits of a number of at most 64 bits. */
bool number_hex(struct str text, uint64_t *out);
/* True when the whole of `text` is a number such as -12, 0.5 or 1.5e3 from `min` to `max`. Not read
 * are `inf`, `nan`, `0x1p3`, `.5`, `5.` and a `+` at the beginning. */
bool number_double(struct str text, double min, double max, double *out);

/* Compares ids without regard to case, numbers in them by value: X-2 is before X-10. As qsort()
 * wants it. */
int number_compare_ids(const char *one, const char *other);

/* Fills *err: `'NAME' must be a whole number from MIN to MAX, not 'TEXT'`. Returns -1. */
int number_refuse(struct error *err, enum err code, const char *name, struct str text, uint64_t min,
	uint64_t max);

#endif
