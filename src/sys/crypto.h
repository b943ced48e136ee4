/*
 * crypto.h: digests that others can compute too. The only user of OpenSSL, which is opened at the
 * first call, not at start-up.
 */
#ifndef DT_CRYPTO_H
#define DT_CRYPTO_H

#include "src/base/buf.h"

enum { MD5_SIZE = 16, SHA256_SIZE = 32, SHA256_TEXT = 2 * SHA256_SIZE + 1 };

/* Both: 0, or -1 with ERR_SYSTEM when libcrypto is not there or refuses the digest. */
int md5(struct str text, unsigned char out[MD5_SIZE], struct error *err);
/* As lower-case hexadecimal digits. */
int sha256_text(struct str text, char out[SHA256_TEXT], struct error *err);

#endif
