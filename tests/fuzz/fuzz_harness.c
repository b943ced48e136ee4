/*
 * Any bytes as the output of a harness's program: the first byte chooses the harness, the second
 * its exit status, the third how the output is cut; the rest is standard output, and what follows a
 * line
 * `--stderr--` is that. In every case the run has a result, success has no fault and status 0,
 * everything else a reason, all texts are clean, and none contains a key.
 */
#include "src/harness/output_parser.h"
#include "tests/fuzz/fuzz.h"

#define PLANTED "planted-secret-value"

static void feed(struct output_parser *r, bool errors, struct str text, size_t step)
{
	for (size_t i = 0; i < text.n; i += step)
		if (!output_parser_add(
			    r, errors, str_sub(text, i, i + step < text.n ? i + step : text.n)))
			return;
}

static void expect_clean(const char *text)
{
	if (!text)
		return;
	expect(str_utf8_fault(str_of(text)) == 0);
	expect(!strstr(text, PLANTED));
}

static void expect_result(const struct harness_result *r)
{
	expect(harness_status_names[r->status] != NULL);
	expect(r->text != NULL);
	expect((r->status == HARNESS_SUCCESS) == !r->detail);
	expect(r->status != HARNESS_SUCCESS || r->exit_code == 0);
	expect(!r->rate_limited || r->status == HARNESS_UNAVAILABLE);
	expect(r->usage.input_tokens >= -1 && r->usage.output_tokens >= -1 &&
		r->usage.cache_tokens >= -1);
	expect(r->usage.cost_usd == -1 || (r->usage.cost_usd >= 0 && r->usage.cost_usd <= 1e9));
	expect_clean(r->text);
	expect_clean(r->detail);
	expect_clean(r->model);
}

/* A harness that runs a program. */
static const struct harness *chosen(uint8_t byte)
{
	size_t n = 0, k;

	for (size_t i = 0; harness_all[i]; i++)
		n += harness_all[i]->binary != NULL;
	k = byte % n;
	for (size_t i = 0;; i++)
		if (harness_all[i]->binary && !k--)
			return harness_all[i];
}

static void play(struct session *s, const uint8_t *data, size_t size)
{
	CLEANUP(output_parser_release) struct output_parser r;
	struct str text = {(const char *)data + 3, size - 3};
	size_t at = str_find(text, STR("\n--stderr--\n")), step = data[2] ? data[2] : 4096;
	struct process_end end = {.status = data[1] & 0x7f,
		.timed_out = data[1] == 0x8f,
		.cancelled = data[1] == 0xcc};

	output_parser_begin(&r, s);
	feed(&r, false, str_sub(text, 0, at), step);
	if (at < text.n)
		feed(&r, true, str_sub(text, at + 12, text.n), step);
	end.cancelled = end.cancelled || s->stop;
	output_parser_end(&r, &end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct harness_input input = {.prompt = STR("x"), .max_budget_usd = 1};
	struct session s = {.arena = &a, .input = &input};
	struct harness_result result;

	if (size < 3)
		return 0;
	setenv("FUZZ_API_KEY", PLANTED, 1);
	s.harness = chosen(data[0]);
	session_begin(&s);
	play(&s, data, size);
	session_result(&s, &result);
	expect_result(&result);
	session_release(&s);
	arena_release(&a);
	return 0;
}
