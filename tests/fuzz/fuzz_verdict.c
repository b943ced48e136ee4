/*
 * Any bytes as an agent's answer: no verdict without its word, a last line that is a JSON object
 * decides whatever precedes it, and a pull-request URL is part of the text.
 */
#include "src/machine/verdict.h"
#include "tests/fuzz/fuzz.h"

static bool status_is(struct str text, const char *want)
{
	char status[64];

	return verdict_word(text, "status", status, sizeof(status)) && strcmp(status, want) == 0;
}

/* In JSON a word may be written with escapes. */
static void words_are_needed(struct str text)
{
	bool has = memmem(text.n ? text.p : "", text.n, "approved", strlen("approved")) ||
		   memmem(text.n ? text.p : "", text.n, "\\u", strlen("\\u"));
	char status[64];

	expect(has || !status_is(text, "approved"));
	if (verdict_word(text, "status", status, sizeof(status)))
		expect(strlen(status) < sizeof(status) && !str_utf8_fault(str_of(status)));
}

static void the_last_line_decides(struct str text)
{
	static const char *const words[] = {"approved", "changes_requested", "validated"};
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; i < COUNT(words); i++) {
		buf_clear(&b);
		buf_add(&b, text);
		buf_addf(&b, "\n{\"status\":\"%s\"}\r\n \n", words[i]);
		expect(status_is(buf_str(&b), words[i]));
	}
}

/* A word that is given beside the text stays, or is refused. */
static void a_given_word_is_not_replaced(struct str text)
{
	struct arena a = {0};
	const char *word = "approved";
	struct error err = {0};
	bool refused = verdict_text_word(
			       &a, text, "status", "approved | changes_requested", &word, &err) < 0;

	expect(strcmp(word, "approved") == 0);
	expect(!refused || strstr(err.text, "contradicts") || strstr(err.text, "must be"));
	expect(verdict_prose(text).n <= text.n);
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, url = verdict_pr_url(text);

	words_are_needed(text);
	the_last_line_decides(text);
	a_given_word_is_not_replaced(text);
	if (url.n) {
		expect(url.p >= text.p && url.p + url.n <= text.p + text.n);
		expect(str_starts(url, "https://") || str_starts(url, "http://"));
	}
	return 0;
}
