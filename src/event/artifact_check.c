/*
 * Files of artifacts, checked against their schemas.
 */
#include "src/event/artifact_schema.h"
#include "src/sys/path.h"

enum { FILE_MAX = 16 << 20 };

static bool is_file(const char *schema)
{
	return !artifact_schema_known(schema) &&
	       (strchr(schema, '/') || str_ends(str_of(schema), ".json"));
}

int artifact_schema_open(
	struct arena *a, const char *given, struct artifact_schema *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	*out = (struct artifact_schema){.name = given};
	if (!given)
		return 0;
	if (!is_file(given))
		return artifact_schema_compile(a, given, NULL, &out->schema, err);
	if (sys_read_file(&text, given, FILE_MAX, NULL, err) < 0)
		return -1;
	return schema_compile(a, given, buf_str(&text), &out->schema, err);
}

/* The schema of --schema, else the one that the text or the file's name asks for. */
static int choose(struct arena *a, const struct artifact_schema *given, struct str text,
	struct artifact_checked *out, struct schema **schema, struct error *err)
{
	out->schema = given->name ? given->name : artifact_schema_of(a, out->file, text);
	*schema = given->schema;
	if (*schema)
		return 0;
	if (!out->schema)
		return error_set(err, ERR_INPUT,
			"'%s' names no schema that is built in: give --schema NAME", out->file);
	return artifact_schema_compile(a, out->schema, NULL, schema, err);
}

/* `before`: lines of the file above `text`. */
static int check_text(struct arena *a, const struct schema *schema, struct str text,
	unsigned before, struct artifact_checked *out, struct error *err)
{
	struct schema_faults found;

	if (schema_check_text(a, schema, out->file, text, &found, err) < 0) {
		err->line += before;
		return -1;
	}
	for (size_t i = 0; i < found.n; i++) {
		found.list[i].line += before;
		vec_push_in(a, &out->faults, found.list[i]);
	}
	return 0;
}

int artifact_check(struct arena *a, const struct artifact_schema *given, const char *file,
	struct artifact_checked *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool lines = str_ends(str_of(file), ".jsonl");
	struct schema *schema;
	struct str rest, line;

	*out = (struct artifact_checked){.file = file};
	if (sys_read_file(&text, file, FILE_MAX, NULL, err) < 0 ||
		choose(a, given, lines ? STR("") : buf_str(&text), out, &schema, err) < 0)
		return -1;
	if (!lines)
		return check_text(a, schema, buf_str(&text), 0, out, err);
	rest = buf_str(&text);
	for (unsigned n = 0; str_line(&rest, &line); n++)
		if (str_trim(line).n && check_text(a, schema, line, n, out, err) < 0)
			return -1;
	return 0;
}
