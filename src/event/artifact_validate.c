#include "src/event/artifact_internal.h"
#include "src/event/artifact_validate.h"

static const char *schema_of(struct arena *a, const struct artifact_target *want)
{
	return want->schema ? want->schema : artifact_schema_of(a, want->name, STR(""));
}

static void put_schema(struct buf *b, struct arena *a, const char *name)
{
	buf_addf(b, "Its \"$schema\" is \"schemas/artifacts/%s.schema.json#" SCHEMA_VERSION "\".\n",
		name);
	buf_adds(b, "It must hold to this JSON Schema:\n\n```json\n");
	buf_add(b, artifact_schema_text(a, name));
	buf_adds(b, "```\n");
}

static const char *path_of(struct arena *a, const struct artifact_target *want)
{
	struct error odd;
	char *path;

	return artifact_path(a, want->dir, want->issue, want->name, &path, &odd) < 0 ? want->name
										     : path;
}

const char *artifact_prompt(struct arena *a, const struct artifact_target *want)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	const char *schema = schema_of(a, want);

	if (!schema)
		return "";
	buf_addf(&b,
		"Before you end, write what you did as JSON to %s (write another file beside it "
		"and rename it).\n",
		path_of(a, want));
	put_schema(&b, a, schema);
	return arena_dup(a, buf_str(&b));
}

static void put_fault(struct buf *b, const char *file, const struct schema_fault *f)
{
	buf_addf(b, "%s:%u:%u: %s%s%s\n", file, f->line, f->col, f->at, f->at[0] ? ": " : "",
		f->text);
}

static void set_faults(struct arena *a, struct artifact_verdict *out, struct str lines)
{
	struct str line = str_sub(lines, 0, str_find(lines, STR("\n")));

	*out = (struct artifact_verdict){.good = !lines.n};
	if (lines.n) {
		out->fault = arena_dup(a, str_trim(lines));
		out->first = arena_dup(a, line);
	}
}

static void set_error(struct arena *a, struct artifact_verdict *out, const struct error *why)
{
	char line[2048];

	error_format(why, line, sizeof(line));
	set_faults(a, out, str_of(line));
}

static int judge_text(struct arena *a, const struct artifact_target *want, struct str text,
	struct artifact_verdict *out, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	const char *file = path_of(a, want), *name = schema_of(a, want);
	struct schema_faults faults;
	struct schema *schema;
	struct error why;

	if (!name)
		return error_set(err, ERR_USAGE, "no schema for artifact '%s'", want->name);
	if (artifact_schema_compile(a, name, want->version, &schema, err) < 0)
		return -1;
	if (schema_check_text(a, schema, file, text, &faults, &why) < 0) {
		set_error(a, out, &why);
		return 0;
	}
	for (size_t i = 0; i < faults.n; i++)
		put_fault(&lines, file, &faults.list[i]);
	set_faults(a, out, buf_str(&lines));
	return 0;
}

int artifact_validate(struct arena *a, const struct artifact_target *want,
	struct artifact_verdict *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;
	char *path;

	if (artifact_path(a, want->dir, want->issue, want->name, &path, err) < 0)
		return -1;
	if (artifact_get(ARTIFACT_AT(want->dir, want->issue, want->name), &text, &missing, err) <
		0) {
		if (err->code != ERR_STATE && err->code != ERR_INPUT)
			return -1;
		set_error(a, out, err);
		return 0;
	}
	if (missing) {
		set_faults(a, out, str_of(arena_printf(a, "%s: it was not written", path)));
		return 0;
	}
	return judge_text(a, want, buf_str(&text), out, err);
}

const char *artifact_retry_prompt(
	struct arena *a, const struct artifact_target *want, const struct artifact_verdict *verdict)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	const char *schema = schema_of(a, want);

	buf_addf(&b,
		"The work is done, but %s is not as it must be:\n\n%s\n\n"
		"Change nothing else. Write this file again, whole, so that every one of these "
		"faults is gone. There is no third try.\n",
		path_of(a, want), verdict->fault);
	if (schema)
		put_schema(&b, a, schema);
	return arena_dup(a, buf_str(&b));
}

static int tell(const struct artifact_target *want, enum event_id what, const char *fault,
	struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct event h = {what, want->issue, want->stage, fields};

	buf_adds(&text, fault);
	utf8_mend(&text); /* what an agent's program said may be anything */
	json_put_str(fields, "artifact", str_of(want->name));
	json_put_str(fields, "fault", buf_str(&text));
	return event_emit(want->dir, &h, err);
}

static int settled(const struct artifact_target *want, enum artifact_outcome how, const char *fault,
	enum artifact_outcome *end, const char **out, struct error *err)
{
	*end = how;
	*out = fault;
	return tell(want,
		how == ARTIFACT_RETRIED ? EVENT_ARTIFACT_SCHEMA_RETRY
					: EVENT_ARTIFACT_SCHEMA_INVALID,
		fault, err);
}

int artifact_validate_retry(struct arena *a, const struct artifact_target *want,
	int (*again)(void *data, const char *prompt, struct error *err), void *data,
	enum artifact_outcome *end, const char **fault, struct error *err)
{
	struct artifact_verdict first, second;
	struct error why;

	*end = ARTIFACT_GOOD;
	*fault = NULL;
	if (artifact_validate(a, want, &first, err) < 0)
		return -1;
	if (first.good)
		return 0;
	if (!again)
		return settled(want, ARTIFACT_INVALID, first.fault, end, fault, err);
	if (again(data, artifact_retry_prompt(a, want, &first), &why) < 0)
		return settled(want, ARTIFACT_INVALID,
			arena_printf(a, "%s\nthe agent could not be asked again: %s", first.fault,
				why.text),
			end, fault, err);
	if (artifact_validate(a, want, &second, err) < 0)
		return -1;
	if (second.good)
		return settled(want, ARTIFACT_RETRIED, first.fault, end, fault, err);
	return settled(want, ARTIFACT_INVALID, second.fault, end, fault, err);
}
