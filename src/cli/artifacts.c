#include "src/base/log.h"
#include "src/event/event.h"
#include "src/event/artifact_schema.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/cli/subcommands.h"
#include "src/schema/format.h"

enum { FILE_MAX = 16 << 20 };

enum { SCHEMA, SINCE, TYPE, ARTIFACTS, JSON };

static const struct option_spec options[] = {
	[SCHEMA] = {"schema", "NAME|FILE",
		"for 'check': a built-in schema or a file; default: what the file's \"$schema\" or "
		"its name says",
		false},
	[SINCE] = {"since", "TIME", "for 'events': those from then on, as 2026-11-21T01:34:55Z",
		false},
	[TYPE] = {"type", "NAME", "for 'events': those of this type alone", false},
	ARTIFACTS_OPTION,
	[JSON] = {"json", NULL, "the result as JSON", false},
	{0},
};

/* What one file came to. */
struct checked {
	const char *file, *name; /* name of the schema */
	json *faults;
	size_t n;
};

struct check {
	struct invocation *in;
	const char *given;     /* --schema */
	struct schema *schema; /* of a file that was given */
	int code;              /* worst of what could not be checked */
	size_t faults;
	json *files;
};

static bool is_file(const char *schema)
{
	return !artifact_schema_known(schema) &&
	       (strchr(schema, '/') || str_ends(str_of(schema), ".json"));
}

static int read_schema_file(struct check *k, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!k->given || !is_file(k->given))
		return 0;
	if (file_read(&text, k->given, FILE_MAX, NULL, err) < 0)
		return -1;
	return schema_compile(k->in->arena, k->given, buf_str(&text), &k->schema, err);
}

static int choose_schema(struct check *k, struct checked *of, struct str text,
	struct schema **schema, struct error *err)
{
	struct arena *a = k->in->arena;

	of->name = k->given ? k->given : artifact_schema_of(a, of->file, text);
	*schema = k->schema;
	if (*schema)
		return 0;
	if (!of->name)
		return error_set(err, ERR_INPUT,
			"'%s' names no schema that is built in: give --schema NAME", of->file);
	return artifact_schema_compile(a, of->name, NULL, schema, err);
}

static void put_fault(
	struct check *k, struct checked *of, const struct schema_fault *f, unsigned line)
{
	json *j;

	if (!k->in->args->value[JSON]) {
		buf_addf(k->in->out, "%s:%u:%u: %s%s%s\n", of->file, line, f->col, f->at,
			f->at[0] ? ": " : "", f->text);
		return;
	}
	j = json_object();
	json_put_int(j, "line", line);
	json_put_int(j, "col", f->col);
	json_put_str(j, "at", str_of(f->at));
	json_put_str(j, "keyword", str_of(f->keyword));
	json_put_str(j, "text", str_of(f->text));
	json_push(of->faults, j);
}

/* `before`: lines of the file above `text`. */
static int check_text(struct check *k, struct checked *of, const struct schema *schema,
	struct str text, unsigned before, struct error *err)
{
	struct schema_faults faults;

	if (schema_check_text(k->in->arena, schema, of->file, text, &faults, err) < 0) {
		err->line += before;
		return -1;
	}
	for (size_t i = 0; i < faults.n; i++)
		put_fault(k, of, &faults.list[i], faults.list[i].line + before);
	of->n += faults.n;
	return 0;
}

static int check_lines(struct check *k, struct checked *of, const struct schema *schema,
	struct str text, struct error *err)
{
	struct str line;

	for (unsigned n = 0; str_line(&text, &line); n++)
		if (str_trim(line).n && check_text(k, of, schema, line, n, err) < 0)
			return -1;
	return 0;
}

static int check_file(struct check *k, struct checked *of, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool lines = str_ends(str_of(of->file), ".jsonl");
	struct schema *schema;

	if (file_read(&text, of->file, FILE_MAX, NULL, err) < 0)
		return -1;
	if (choose_schema(k, of, lines ? STR("") : buf_str(&text), &schema, err) < 0)
		return -1;
	return lines ? check_lines(k, of, schema, buf_str(&text), err)
		     : check_text(k, of, schema, buf_str(&text), 0, err);
}

/* One file that cannot be checked does not keep the others from it. */
static void say_why(struct check *k, const struct error *why)
{
	char line[2048];

	error_format(why, line, sizeof(line));
	log_line("%s", line);
	if (k->code < (int)why->code)
		k->code = (int)why->code;
}

/* Names of files and what is said of them may be any bytes. */
static void put_any(json *j, const char *key, const char *text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, text);
	utf8_mend(&b);
	json_put_str(j, key, buf_str(&b));
}

static void put_row(struct check *k, struct checked *of, const char *fault)
{
	json *j = json_object();

	put_any(j, "file", of->file);
	if (of->name)
		put_any(j, "schema", of->name);
	json_put_bool(j, "good", !fault && !of->n);
	if (fault)
		put_any(j, "error", fault);
	json_put(j, "faults", of->faults);
	json_push(k->files, j);
}

static void check_one(struct check *k, const char *file)
{
	struct checked of = {.file = file, .faults = json_array()};
	struct error why;
	bool failed = check_file(k, &of, &why) < 0;

	if (failed)
		say_why(k, &why);
	k->faults += of.n;
	put_row(k, &of, failed ? why.text : NULL);
	if (!failed && !of.n && !k->in->args->value[JSON])
		buf_addf(k->in->out, "%s: good (%s)\n", file, of.name);
}

static int run_check(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *whole = json_object();
	struct check k = {.in = in, .given = in->args->value[SCHEMA]};
	bool good;

	if (k.given && !is_file(k.given) && !artifact_schema_known(k.given))
		return artifact_schema_compile(in->arena, k.given, NULL, &k.schema, err);
	if (read_schema_file(&k, err) < 0)
		return -1;
	k.files = json_array();
	for (size_t i = 1; i < in->args->n; i++)
		check_one(&k, in->args->words[i]);
	good = !k.faults && !k.code;
	json_put_bool(whole, "good", good);
	json_put(whole, "files", k.files);
	if (in->args->value[JSON]) {
		json_print(in->out, whole);
		buf_addc(in->out, '\n');
	}
	return k.code ? k.code : good ? 0 : ERR_CHECK;
}

static int run_schema(struct invocation *in, struct error *err)
{
	const char *name = in->args->n > 1 ? in->args->words[1] : NULL;
	struct schema *schema;

	if (!name) {
		for (const char *const *n = artifact_schema_names(); *n; n++)
			buf_addf(in->out, "%s\n", *n);
		return 0;
	}
	if (artifact_schema_compile(in->arena, name, NULL, &schema, err) < 0)
		return -1;
	buf_add(in->out, artifact_schema_text(in->arena, name));
	return 0;
}

/* Escaped as in JSON, but for the quotes: a terminal does as it is told. */
static void put_word(struct buf *out, const char *before, const char *text, int width)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	json_print_text(&b, str_of(text ? text : "-"));
	buf_addf(out, "%s%-*.*s", before, width, (int)b.len - 2, b.s + 1);
}

/* TIME  SEVERITY  TYPE  ISSUE/STAGE  the rest as JSON */
static void put_event(struct buf *out, const json *e)
{
	static const char *const shown[] = {"type", "timestamp", "severity", "issueId", "stage"};
	CLEANUP(json_free) json *rest = json_copy(e);
	const char *stage = json_get_str(e, "stage");

	for (size_t i = 0; i < COUNT(shown); i++)
		json_drop(rest, shown[i]);
	put_word(out, "", json_get_str(e, "timestamp"), 0);
	put_word(out, "  ", json_get_str(e, "severity"), 8);
	put_word(out, "  ", json_get_str(e, "type"), 0);
	put_word(out, "  ", json_get_str(e, "issueId"), 0);
	if (stage)
		put_word(out, "/", stage, 0);
	if (json_first(rest)) {
		buf_adds(out, "  ");
		json_print(out, rest);
	}
	buf_addc(out, '\n');
}

static int run_events(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	const char *since = in->args->value[SINCE];
	size_t skipped;
	int64_t t;
	char *dir;

	if (since && !format_time_parse(str_of(since), &t))
		return error_set(err, ERR_USAGE,
			"--since must be a time such as 2026-11-21T01:34:55Z, not '%.60s'", since);
	if (artifacts_folder(in->arena, in->args->value[ARTIFACTS], NULL, &dir, err) < 0 ||
		event_list(dir, since, in->args->value[TYPE], &list, &skipped, err) < 0)
		return -1;
	if (skipped)
		log_line("%zu line%s of '%s/_events.jsonl' %s no event", skipped,
			skipped == 1 ? "" : "s", dir, skipped == 1 ? "is" : "are");
	for (const json *e = json_first(list); e; e = json_next(e)) {
		if (in->args->value[JSON]) {
			json_print(in->out, e);
			buf_addc(in->out, '\n');
		} else {
			put_event(in->out, e);
		}
	}
	return 0;
}

static const struct subcommand parts[] = {
	{"check", run_check, OPTION(SCHEMA) | OPTION(JSON), 1, MAX_WORDS},
	{"schema", run_schema, 0, 0, 1},
	{"events", run_events, OPTION(SINCE) | OPTION(TYPE) | OPTION(ARTIFACTS) | OPTION(JSON), 0,
		0},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_artifacts, parts, in, err);
}

const struct verb verb_artifacts = {
	.name = "artifacts",
	.synopsis = "check FILE... [--schema NAME|FILE] | schema [NAME] | events [OPTION...]",
	.about = "hold what the stages of a run leave to its schemas; show the events",
	.details =
		"  check FILE...   each fault with its place, FILE:LINE:COL; exit status 1 when "
		"there is one\n"
		"  schema [NAME]   the schemas that are built in; the text of one\n"
		"  events          what runs of pipelines have told, a line each\n"
		"\n"
		"A file whose name ends in .jsonl is checked line by line.\n"
		"\n"
		"Exit status 3: a FILE is no JSON or names no schema; the others are checked all "
		"the same.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
