#define ERR_STATE ERR_STATE_type /* the name of a type of OpenSSL and of a constant of ours */
#include <openssl/evp.h>
#undef ERR_STATE
#include "src/sys/digest.h"
#include "src/sys/library.h"

#define FUNCTIONS(X)                                                                               \
	X(EVP_Digest)                                                                              \
	X(EVP_md5)                                                                                 \
	X(EVP_sha256)

LIBRARY(FUNCTIONS, LIBCRYPTO_SO, "crypto", NULL);

static int compute(struct str text, const EVP_MD *kind, const char *name, unsigned char *out,
	struct error *err)
{
	if (!kind || !lib.EVP_Digest(text.n ? text.p : "", text.n, out, NULL, kind, NULL))
		return error_set(err, ERR_SYSTEM, "the crypto library '%s' refuses '%s'",
			LIBCRYPTO_SO, name);
	return 0;
}

int digest_md5(struct str text, unsigned char out[MD5_SIZE], struct error *err)
{
	return library_open(&library, err) < 0 ? -1 : compute(text, lib.EVP_md5(), "md5", out, err);
}

int digest_sha256(struct str text, char out[SHA256_TEXT], struct error *err)
{
	unsigned char sum[SHA256_SIZE];

	if (library_open(&library, err) < 0 ||
		compute(text, lib.EVP_sha256(), "sha256", sum, err) < 0)
		return -1;
	digest_print(sum, sizeof(sum), out);
	return 0;
}
