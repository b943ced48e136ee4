#include "src/sys/digest.h"

#define XXH_INLINE_ALL /* the header is all of it: nothing to link */
#include <xxhash.h>

static void print_hash(XXH128_hash_t hash, char out[DIGEST_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	XXH128_canonical_t bytes;

	XXH128_canonicalFromHash(&bytes, hash);
	for (size_t i = 0; i < sizeof(bytes.digest); i++) {
		out[2 * i] = digits[bytes.digest[i] >> 4];
		out[2 * i + 1] = digits[bytes.digest[i] & 15];
	}
	out[DIGEST_TEXT - 1] = '\0';
}

void digest_text(struct str text, char out[DIGEST_TEXT])
{
	print_hash(XXH3_128bits(text.p ? text.p : "", text.n), out);
}

void digest_two(struct str a, struct str b, char out[DIGEST_TEXT])
{
	XXH3_state_t state; /* half a kilobyte, and aligned for the machine's widest registers */

	XXH3_INITSTATE(&state);
	(void)XXH3_128bits_reset(&state);
	if (a.n)
		(void)XXH3_128bits_update(&state, a.p, a.n);
	if (b.n)
		(void)XXH3_128bits_update(&state, b.p, b.n);
	print_hash(XXH3_128bits_digest(&state), out);
}
