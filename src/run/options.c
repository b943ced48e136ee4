/*
 * options.c: what people have asked of runs. How the last run of an item was called, so that
 * `retry` can repeat it and people are told the command: paths are as seen from the repository.
 * And whether the run is to stop. Both are keys of the store, so that it does not matter on
 * which machine the run is.
 */
#include "src/run/run_internal.h"
#include "src/sys/path.h"

#define OPTIONS_KEY "run"
#define STOP_KEY    "stop"

enum kind { TEXT, PATH, NUMBER, FLAG };

#define ROW(name, kind, field)                                                                     \
	{                                                                                          \
		name, kind, offsetof(struct run_request, field)                                    \
	}

/* The names are those of the options of `run`. */
static const struct row {
	const char *name;
	enum kind kind;
	size_t field;
} rows[] = {
	ROW("agents", PATH, agents),
	ROW("harness", TEXT, harness),
	ROW("pipeline", TEXT, pipeline),
	ROW("model", TEXT, model),
	ROW("timeout", NUMBER, timeout_s),
	ROW("resources", PATH, resources),
	ROW("artifacts", PATH, artifacts),
	ROW("plugin-root", PATH, call.plugin_root),
	ROW("research-skill", TEXT, call.research_skill),
	ROW("in-place", FLAG, call.in_place),
	ROW("allow-dirty", FLAG, call.allow_dirty),
};

static json *to_json(struct arena *a, const struct run_request *q, const char *repo)
{
	json *j = json_object();

	for (size_t i = 0; i < COUNT(rows); i++) {
		const void *at = (const char *)q + rows[i].field;
		const char *text = rows[i].kind <= PATH ? *(const char *const *)at : NULL;

		if (text)
			JSON_ADD(j, JSON_TEXT(rows[i].name,
					    rows[i].kind == PATH
						    ? path_relative(a, repo, path_real(a, text))
						    : text));
		else if (rows[i].kind == NUMBER && *(const int64_t *)at)
			json_put_int(j, rows[i].name, *(const int64_t *)at);
		else if (rows[i].kind == FLAG && *(const bool *)at)
			json_put_bool(j, rows[i].name, true);
	}
	if (q->pass_env)
		json_put(j, "pass-env", json_names(q->pass_env));
	return j;
}

struct request {
	const char *key;
	struct str value;
};

/* A context_change. */
static int put_request(struct context_file *f, void *data, struct error *err)
{
	const struct request *q = data;
	struct str before;

	if (context_get_key(f, q->key, &before, err) < 0)
		return -1;
	if (str_eq(q->value, before))
		return 0;
	(void)context_op(f, "request");
	context_put_key(f, q->key, q->value);
	return context_log(f, err);
}

static int options_request(
	const char *document, const char *key, struct str value, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	return context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0
		       ? -1
		       : context_update(&f, put_request, &(struct request){key, value}, err);
}

int run_stop(const char *document, bool now, struct error *err)
{
	return options_request(document, STOP_KEY, now ? STR("now") : STR("after"), err);
}

const char *run_stop_asked(struct arena *a, const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct str value;

	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0 ||
		context_open_keys(&f, &ignored) < 0 ||
		context_get_key(&f, STOP_KEY, &value, &ignored) < 0 || !value.n)
		return NULL;
	return arena_dup(a, value);
}

void run_stop_forget(const char *document)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	if (path_exists(document) && run_stop_asked(&a, document))
		(void)options_request(document, STOP_KEY, (struct str){0}, &ignored);
}

void run_options_note(const struct run_item *r)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str text = json_print_in(&a, to_json(&a, r->request, r->call.repo));
	struct error ignored;

	(void)options_request(r->call.context_file, OPTIONS_KEY, text, &ignored);
}

static json *options_load(struct context_file *f)
{
	struct str text;
	struct error ignored;
	json *j = NULL;

	if (context_open_keys(f, &ignored) < 0 ||
		context_get_key(f, OPTIONS_KEY, &text, &ignored) < 0 || !text.n ||
		json_parse(&j, text, &ignored) < 0)
		return NULL;
	return j;
}

bool run_options_load(
	struct arena *a, struct context_file *f, const char *repo, struct run_request *q)
{
	CLEANUP(json_free) json *j = options_load(f);
	const json *names = json_get(j, "pass-env");

	for (size_t i = 0; j && i < COUNT(rows); i++) {
		void *at = (char *)q + rows[i].field;
		const char *text = json_dup(a, j, rows[i].name);

		if (rows[i].kind <= PATH && text)
			*(const char **)at =
				rows[i].kind == PATH ? path_resolve(a, repo, text) : text;
		else if (rows[i].kind == NUMBER)
			*(int64_t *)at = json_get_int(j, rows[i].name, 0);
		else if (rows[i].kind == FLAG)
			*(bool *)at = json_is_true(json_get(j, rows[i].name));
	}
	if (names)
		q->pass_env = arena_alloc(a, (json_len(names) + 1) * sizeof(*q->pass_env));
	for (size_t i = 0; i < json_len(names); i++)
		q->pass_env[i] = arena_dup(a, str_of(json_text(json_at(names, i))));
	return j != NULL;
}

/* Paths below the repository stay as they are: people call `run` there. */
static void options_describe(const json *j, const char *repo, struct buf *out)
{
	CLEANUP(arena_release) struct arena a = {0};

	for (size_t i = 0; j && i < COUNT(rows); i++) {
		const json *value = json_get(j, rows[i].name);

		if (!value)
			continue;
		buf_addf(out, " --%s", rows[i].name);
		if (json_text(value) && rows[i].kind == PATH && repo &&
			str_starts(str_of(json_text(value)), "../"))
			buf_add_argument(out, " ", path_resolve(&a, repo, json_text(value)));
		else if (json_text(value))
			buf_add_argument(out, " ", json_text(value));
		else if (rows[i].kind == NUMBER)
			buf_addf(out, " %lld", (long long)json_int(value, 0));
	}
	for (const json *n = json_first(json_get(j, "pass-env")); n; n = json_next(n))
		buf_add_argument(out, " --pass-env ", json_text(n));
}

bool run_options_describe(struct context_file *f, struct buf *out)
{
	CLEANUP(json_free) json *j = options_load(f);
	struct item_place place;
	struct error ignored;

	options_describe(
		j, place_load(&f->doc.arena, f, &place, &ignored) < 0 ? NULL : place.repo, out);
	return j != NULL;
}

void run_options_add(const struct run_request *q, const char *repo, struct buf *out)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *j = to_json(&a, q, repo);

	options_describe(j, repo, out);
}
