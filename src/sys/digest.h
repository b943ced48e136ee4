/*
 * digest.h: checksums of texts.
 */
#ifndef DT_DIGEST_H
#define DT_DIGEST_H

#include "src/base/buf.h"

#define DIGEST_TEXT 33 /* bytes of the hexadecimal form of digest_text() with its NUL */

/*
 * XXH3, 128 bits, as 32 lower-case hexadecimal digits. Tells texts apart and finds damage; not for
 * secrets, because anybody can construct two texts with the same digest.
 */
void digest_text(struct str text, char out[DIGEST_TEXT]);
/* The same of two texts that follow one another. */
void digest_two(struct str a, struct str b, char out[DIGEST_TEXT]);
/* Adds `n` bytes as lower-case hexadecimal digits and a NUL; `out` has room for 2 n + 1. */
void digest_print(const unsigned char *bytes, size_t n, char *out);

/*
 * Digests that other programs can compute too, by OpenSSL's libcrypto, which is opened at the first
 * call, not at start-up. -1: ERR_SYSTEM when it is not there or refuses the digest.
 */
enum { MD5_SIZE = 16, SHA256_SIZE = 32, SHA256_TEXT = 2 * SHA256_SIZE + 1 };

int digest_md5(struct str text, unsigned char out[MD5_SIZE], struct error *err);
/* As lower-case hexadecimal digits. */
int digest_sha256(struct str text, char out[SHA256_TEXT], struct error *err);

#endif
