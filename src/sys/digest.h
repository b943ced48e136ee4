/*
 * digest.h: tells two texts apart and finds damage. Not for secrets: whoever wants to can make two
 * texts of one sum.
 */
#ifndef DT_DIGEST_H
#define DT_DIGEST_H

#include "src/base/buf.h"

#define DIGEST_TEXT 33 /* bytes of the hexadecimal form with its NUL */

/* XXH3, 128 bits, as 32 hexadecimal digits. */
void digest_text(struct str text, char out[DIGEST_TEXT]);
/* The same of two texts that follow one another. */
void digest_two(struct str a, struct str b, char out[DIGEST_TEXT]);

#endif
