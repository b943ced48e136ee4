/*
 * Any bytes as a context document: refused at a position inside it, or rendered back byte for byte;
 * a text put into it survives a save and a load, and everything else is unchanged. A byte 0x1e
 * separates the document from that text.
 */
#include "context/context.h"
#include "tests/lib/wire.h"
#include "tests/fuzz/fuzz.h"

static const char section[] = "Fuzz it", key[] = WIRE_INPUT_KEY;

static void escaping_round_trips(struct str text)
{
	CLEANUP(buf_release) struct buf in = BUF_INIT, out = BUF_INIT;

	context_escape(&in, text);
	context_unescape(&out, buf_str(&in));
	expect(str_eq(buf_str(&out), text));
}

static void others_are_untouched(const struct context *was, const struct context *is)
{
	for (size_t i = 0; i < context_sections(was); i++) {
		struct str name = context_section_name(was, i);
		char copy[100];

		(void)snprintf(copy, sizeof(copy), "%.*s", (int)name.n, name.p);
		if (strcmp(copy, section) == 0)
			continue;
		expect(str_eq(context_section(was, copy), context_section(is, copy)));
	}
}

static void changes_round_trip(const struct context *was, struct context *c, struct str text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(context_release) struct context again = {0};
	struct error err;

	context_put(c, section, text);
	context_set(c, key, text);
	context_set_count(c, "fix_iteration", 7);
	(void)context_next_attempt(c, "fuzzing");
	if (context_render(c, &out, NULL, &err) < 0)
		return;
	expect(context_parse(&again, "f.md", buf_str(&out), &err) == 0);
	expect(str_eq(context_section(&again, section), str_trim(text)));
	expect(str_eq(context_get(&again, key), text));
	expect(context_count(&again, "fix_iteration") == 7);
	others_are_untouched(was, &again);
}

static void play(struct str document, struct str text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(context_release) struct context c = {0};
	CLEANUP(context_release) struct context changed = {0};
	struct error err = {0};

	if (context_parse(&c, "f.md", document, &err) < 0) {
		expect(err.code == ERR_INPUT && err.text[0]);
		return;
	}
	expect(context_render(&c, &out, NULL, &err) == 0 && str_eq(buf_str(&out), document));
	if (str_utf8_fault(text))
		return;
	expect(context_parse(&changed, "f.md", document, &err) == 0);
	changes_round_trip(&c, &changed, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, document = fuzz_part(&text, STR("\x1e"));

	if (!text.p)
		text = STR("text");
	escaping_round_trips(text);
	play(document, text);
	return 0;
}
