/*
 * Any bytes as an agent's answer: no verdict without its word, a last line that is a JSON object
 * decides whatever precedes it, and a pull-request URL is part of the text.
 */
#include "src/machine/verdict.h"
#include "tests/fuzz/fuzz.h"

static bool has(struct str text, const char *word)
{
	return memmem(text.n ? text.p : "", text.n, word, strlen(word)) != NULL;
}

static void words_are_needed(struct str text)
{
	CLEANUP(buf_release) struct buf lower = BUF_INIT;
	char status[64];
	struct str low;

	for (size_t i = 0; i < text.n; i++)
		buf_addc(&lower,
			(char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 32 : text.p[i]));
	low = buf_str(&lower);
	/* In JSON a word may be written with escapes. */
	if (!has(low, "\\u")) {
		expect(has(low, "approved") || !verdict_approved(text));
		expect(has(low, "validated") || !verdict_validated(text));
	}
	expect(str_starts(str_trim(text), "passed") || !verdict_passed(text));
	if (verdict_status(text, status, sizeof(status)))
		expect(strlen(status) < sizeof(status) && !str_utf8_fault(str_of(status)));
}

static void the_last_line_decides(struct str text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	size_t n;

	buf_add(&b, text);
	buf_addc(&b, '\n');
	n = b.len;
	buf_adds(&b, "{\"status\":\"approved\"}\n");
	expect(verdict_approved(buf_str(&b)));
	b.len = n;
	buf_adds(&b, "{\"status\": \"changes_requested\"}");
	expect(!verdict_approved(buf_str(&b)));
	b.len = n;
	buf_adds(&b, "{\"status\":\"validated\"}\r\n \n");
	expect(verdict_validated(buf_str(&b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, url = verdict_pr_url(text);

	words_are_needed(text);
	the_last_line_decides(text);
	if (url.n) {
		expect(url.p >= text.p && url.p + url.n <= text.p + text.n);
		expect(str_starts(url, "https://") || str_starts(url, "http://"));
	}
	return 0;
}
