/*
 * Known values come from the library's own tool, `xxhsum -H2`, and cover every code path for the
 * length of a text.
 */
#include "src/sys/digest.h"
#include "tests/lib/unit.h"

static const struct {
	size_t n; /* repetitions of the letter a */
	const char *sum;
} known[] = {
	{0, "99aa06d3014798d86001c324468d497f"},
	{1, "a96faf705af16834e6c632b61e964e1f"},
	{3, "1ba4b00492c7202ee4ba3228795dc9ef"},
	{8, "2722195eee22e5276cb4cc6d190a4dc8"},
	{16, "ff9f5054066830d0245750ddc4828d15"},
	{17, "c77749c0e343aac52d27c0235c9dd6e1"},
	{128, "134e2a91815f3105ef354c1b9e35d99d"},
	{129, "a7758bdd09a0b20fd53a57a017f40a2f"},
	{240, "0163721cdafde206ea57d24533760a39"},
	{241, "3e7bebe4a2c07b0bf6cfef5c5aca1930"},
	{1000, "b01da365eddaa29cb3e7af627147db7c"},
	{5000, "7f707e18d1f47e4b86bab6aca5d8f5e9"},
};

static void long_text(struct buf *b, size_t n)
{
	buf_clear(b);
	for (size_t i = 0; i < n; i++)
		buf_addc(b, 'a');
}

TEST(sums_are_those_of_the_library)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char sum[DIGEST_TEXT];

	for (size_t i = 0; i < COUNT(known); i++) {
		long_text(&text, known[i].n);
		digest_text(buf_str(&text), sum);
		assert_string_equal(sum, known[i].sum);
	}
	digest_text(STR("The quick brown fox jumps over the lazy dog"), sum);
	assert_string_equal(sum, "ddd650205ca3e7fa24a1cc2e3a8a7651");
}

TEST(nothing_has_a_sum_too)
{
	char sum[DIGEST_TEXT];

	digest_text((struct str){0}, sum);
	assert_string_equal(sum, "99aa06d3014798d86001c324468d497f");
	digest_two((struct str){0}, (struct str){0}, sum);
	assert_string_equal(sum, "99aa06d3014798d86001c324468d497f");
}

/* A text in two parts has the same sum. */
TEST(two_texts_have_the_sum_of_the_whole)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char whole[DIGEST_TEXT], two[DIGEST_TEXT];

	for (size_t i = 0; i < 3000; i++)
		buf_addc(&text, (char)(i * 7 + i / 256));
	digest_text(buf_str(&text), whole);
	for (size_t cut = 0; cut <= text.len; cut++) {
		digest_two(str_sub(buf_str(&text), 0, cut), str_sub(buf_str(&text), cut, text.len),
			two);
		assert_string_equal(two, whole);
	}
}

TEST(one_bit_is_told)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char before[DIGEST_TEXT], after[DIGEST_TEXT];

	long_text(&text, 300);
	digest_text(buf_str(&text), before);
	for (size_t i = 0; i < text.len; i++) {
		text.s[i] ^= 1;
		digest_text(buf_str(&text), after);
		assert_string_not_equal(before, after);
		text.s[i] ^= 1;
	}
}

TEST(md5_is_that_of_other_programs)
{
	static const struct {
		const char *text;
		unsigned char first[4];
	} rows[] = {
		{"", {0xd4, 0x1d, 0x8c, 0xd9}},
		{"abc", {0x90, 0x01, 0x50, 0x98}},
		{"/test/worktree", {0x35, 0x5f, 0, 0}},
	};
	unsigned char out[MD5_SIZE];
	struct error err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(digest_md5(str_of(rows[i].text), out, &err), 0);
		assert_memory_equal(out, rows[i].first, rows[i].first[2] ? 4 : 2);
	}
	assert_int_equal(digest_md5((struct str){0}, out, &err), 0);
	assert_int_equal(out[0], 0xd4);
}

TEST(sha256_is_that_of_other_programs)
{
	static const struct {
		struct str text;
		const char *sum;
	} rows[] = {
		{{"", 0}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{{"abc", 3}, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{{"\0", 1}, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
	};
	char out[SHA256_TEXT];
	struct error err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(digest_sha256(rows[i].text, out, &err), 0);
		assert_string_equal(out, rows[i].sum);
	}
}
