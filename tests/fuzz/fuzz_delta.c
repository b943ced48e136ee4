/*
 * Any bytes as a delta and its base text: the delta is refused, or applied to give a text within a
 * document's limit. The delta of two texts leads from one to the other. A byte 0x1e separates the
 * delta from the base.
 */
#include "src/store/store.h"
#include "tests/fuzz/fuzz.h"

static void told(const struct delta *d, struct str old_text, struct str new_text)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT, again = BUF_INIT;
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};

	delta_write(&(struct json_writer){.out = &line}, NULL, d, new_text);
	expect(json_parse(&array, buf_str(&line), &err) == 0 && !memchr(line.s, '\n', line.len));
	expect(delta_apply(array, old_text, &again, &err) == 0);
	expect(str_eq(buf_str(&again), new_text));
}

static void round_trips(struct str old_text, struct str new_text)
{
	struct delta none = {0}, d = {0};

	told(&none, old_text, new_text);
	delta_between(&d, old_text, new_text);
	told(&d, old_text, new_text);
	delta_release(&d);
}

static void hostile(struct str text, struct str old_text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};

	if (json_parse(&array, text, &err) < 0)
		return;
	if (delta_apply(array, old_text, &out, &err) < 0) {
		expect(err.code == ERR_INPUT && err.text[0]);
		expect(out.len <= STORE_DOCUMENT_MAX + old_text.n + text.n);
		return;
	}
	expect(out.len <= STORE_DOCUMENT_MAX);
	round_trips(old_text, buf_str(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str second = {(const char *)data, size}, first = fuzz_part(&second, STR("\x1e"));

	if (!second.p)
		second = STR("one\ntwo\nthree\n");
	hostile(first, second);
	round_trips(first, second);
	round_trips(second, first);
	return 0;
}
