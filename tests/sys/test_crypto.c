#include "tests/lib/unit.h"
#include "src/sys/digest.h"

TEST(md5_is_that_of_everybody)
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

TEST(sha256_is_that_of_everybody)
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
