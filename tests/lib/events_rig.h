/*
 * events_rig.h: for tests that let events be written: every line of DIR/_events.jsonl must be as
 * the schema says.
 */
#ifndef DT_TESTS_EVENTS_RIG_H
#define DT_TESTS_EVENTS_RIG_H

#include "src/event/artifact_schema.h"
#include "src/sys/path.h"
#include "tests/lib/unit.h"

/* How many lines there are, of which `type` (NULL: any). No file: 0. */
static inline size_t events_hold(const char *dir, const char *type)
{
	struct arena a = {0};
	struct buf text = BUF_INIT;
	struct error why;
	struct schema *schema;
	struct str rest, line;
	bool missing;
	size_t n = 0;

	assert_int_equal(artifact_schema_compile(&a, "events", NULL, &schema, &why), 0);
	if (file_read(&text, path_join(&a, dir, "_events.jsonl"), 1 << 24, &missing, &why) < 0)
		assert_true(missing);
	assert_true(!text.len || text.s[text.len - 1] == '\n');
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		struct schema_faults f;
		json *j;

		if (schema_check_text(&a, schema, "_events.jsonl", line, &f, &why) < 0)
			fail_msg("%.*s: %s", (int)line.n, line.p, why.text);
		if (f.n)
			fail_msg("%.*s: %s: %s", (int)line.n, line.p, f.list[0].at, f.list[0].text);
		assert_int_equal(json_parse(&j, line, &why), 0);
		n += !type || strcmp(json_get_str(j, "type"), type) == 0;
		json_free(&j);
	}
	buf_release(&text);
	arena_release(&a);
	return n;
}

#endif
