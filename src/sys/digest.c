#include "src/sys/digest.h"

#define XXH_INLINE_ALL /* the header is the whole library: nothing to link */
#include <xxhash.h>

void digest_print(const unsigned char *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

static void print_hash(XXH128_hash_t hash, char out[DIGEST_TEXT])
{
	XXH128_canonical_t bytes;

	XXH128_canonicalFromHash(&bytes, hash);
	digest_print(bytes.digest, sizeof(bytes.digest), out);
}

void digest_text(struct str text, char out[DIGEST_TEXT])
{
	print_hash(XXH3_128bits(text.p ? text.p : "", text.n), out);
}

void digest_two(struct str a, struct str b, char out[DIGEST_TEXT])
{
	XXH3_state_t state;

	XXH3_INITSTATE(&state);
	(void)XXH3_128bits_reset(&state);
	if (a.n)
		(void)XXH3_128bits_update(&state, a.p, a.n);
	if (b.n)
		(void)XXH3_128bits_update(&state, b.p, b.n);
	print_hash(XXH3_128bits_digest(&state), out);
}
