#include "src/event/event.h"
#include "src/event/artifact_schema.h"
#include "src/sys/path.h"
#include "tests/lib/event_check.h"

enum { FILE_MAX = 1 << 26 };

static bool of_the_table(struct str line)
{
	CLEANUP(json_free) json *j = NULL;
	struct error odd;
	const char *type;

	if (json_parse(&j, line, &odd) < 0 || !(type = json_get_str(j, "type")))
		return false;
	for (unsigned i = 0; i < EVENT_COUNT; i++)
		if (strcmp(event_name((enum event_id)i), type) == 0)
			return true;
	return false;
}

static void check_line(
	struct arena *a, const struct schema *schema, const char *path, struct str line)
{
	struct schema_faults f;
	struct error err;

	if (!of_the_table(line) ||
		(schema_check_text(a, schema, path, line, &f, &err) == 0 && !f.n))
		return;
	fprintf(stderr, "%s: this event is not of its form: %.*s: %s\n", path, (int)line.n, line.p,
		f.n ? f.list[0].text : err.text);
	abort();
}

void event_check_file(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	struct schema *schema;
	struct str rest, line;
	struct error err;

	if (file_read(&text, path, FILE_MAX, NULL, &err) < 0 || !text.len)
		return;
	if (artifact_schema_compile(&a, "events", NULL, &schema, &err) < 0)
		abort();
	for (rest = buf_str(&text); str_line(&rest, &line);)
		check_line(&a, schema, path, line);
	arena_release(&a);
}
