#include "src/event/artifact.h"
#include "src/event/event.h"
#include "src/sys/path.h"
#include "tests/lib/event_log.h"
#include "tests/lib/tap.h"

enum { FILE_MAX = 1 << 26 };

static bool in_table(const json *line)
{
	const char *type = json_get_str(line, "type");

	for (size_t i = 0; type && i < EVENT_COUNT; i++)
		if (strcmp(event_type((enum event_id)i)->name, type) == 0)
			return true;
	return false;
}

/* Reads the file; counts the events of `type`. `strict`: every line must be an event. */
static size_t check(const char *path, const char *type, bool strict)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	struct schema *schema;
	struct str rest, line;
	struct error err;
	bool missing = false;
	size_t n = 0;

	if (sys_read_file(&text, path, FILE_MAX, &missing, &err) < 0 && strict && !missing)
		die("%s: %s", path, err.text);
	if (!text.len)
		return 0;
	if (artifact_schema_compile(&a, "events", NULL, &schema, &err) < 0)
		die("%s", err.text);
	if (strict && text.s[text.len - 1] != '\n')
		die("%s: the last line is incomplete", path);
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *event = NULL;
		struct schema_faults f = {0};

		if ((json_parse(&event, line, &err) < 0 || !in_table(event)) && !strict)
			continue;
		if (schema_check_text(&a, schema, path, line, &f, &err) < 0 || f.n)
			die("%s: not an event: %.*s: %s", path, (int)line.n, line.p,
				f.n ? f.list[0].text : err.text);
		n += !type || strcmp(json_get_str(event, "type"), type) == 0;
	}
	return n;
}

void event_log_check(const char *path)
{
	(void)check(path, NULL, false);
}

size_t event_log_count(const char *dir, const char *type)
{
	CLEANUP(arena_release) struct arena a = {0};

	return check(path_join(&a, dir, "_events.jsonl"), type, true);
}
