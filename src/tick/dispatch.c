#include "context/file.h"
#include "src/base/clock.h"
#include "src/machine/answer.h"
#include "src/machine/brief.h"
#include "src/machine/verdict.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/digest.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/tick/dispatch.h"

#define MANIFEST "dispatch-manifest"

enum { RESULT_MAX = 32 << 20 };

/* ---- manifests ---- */

static const char *manifest_name(struct arena *a, const char *id)
{
	char *name = arena_printf(a, MANIFEST ".%s.json", id);

	for (char *c = name; *c; c++)
		*c = *c == '/' ? '.' : *c;
	return name;
}

/* Of a script: what runs it. */
static int tick_dispatch_add_prompt(struct arena *a, const struct dispatch_place *p,
	const json *action, struct buf *out, const char **model, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *id = json_get_str(action, "id"), *file = json_get_str(action, "context_file"),
		   *root;
	struct instructions role, skill;

	if (json_str_is(action, "action", "run_script")) {
		buf_add_argument(out, "Run this command: dev-team exec --context-file ", file);
		buf_add_argument(out, " --action ", id);
		return 0;
	}
	if (context_open(&f, file, CONTEXT_READ_ONLY, err) < 0 ||
		locate_plugin(a, p->plugin_root, &root, err) < 0 ||
		brief_instructions(a, &f, id, root, p->repo, &role, &skill, err) < 0 ||
		brief_add(out, BRIEF_PROMPT, &f, id, &role, &skill, err) < 0)
		return -1;
	*model = role.model ? arena_dup(a, str_of(role.model)) : NULL;
	return 0;
}

static const char *tick_dispatch_type_of(const json *action)
{
	const char *agent = json_get_str(action, "agent");

	return agent ? agent : "script-runner";
}

/* The full id of an alias; NULL: that of the session. */
static int find_model(struct arena *a, const struct dispatch_place *p, const char *alias,
	const char **id, struct error *err)
{
	struct model_registry models;
	struct model_resolved m;

	*id = NULL;
	if (!alias)
		return 0;
	if (locate_models(a, NULL, p->repo, &models, err) < 0 ||
		model_resolve(&models, alias, NULL, clock_now(), &m, err) < 0)
		return -1;
	*id = m.id;
	return 0;
}

static int emit_one(struct arena *a, const struct dispatch_place *p, const json *action,
	const char *name, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	CLEANUP(json_free) json *manifest = NULL;
	const char *alias = NULL, *model, *id = json_get_str(action, "id"),
		   *directory = json_get_str(action, "directory");

	if (tick_dispatch_add_prompt(a, p, action, &prompt, &alias, err) < 0 ||
		find_model(a, p, alias, &model, err) < 0)
		return -1;
	manifest = JSON_OBJECT(JSON_INT("version", DISPATCH_VERSION),
		JSON_TEXT("taskId", json_get_str(action, "taskId")),
		JSON_TEXT("subagentType", tick_dispatch_type_of(action)), JSON_TEXT("model", model),
		JSON_TEXT("prompt", prompt.s), JSON_IF(directory, JSON_TEXT("cwd", directory)),
		JSON_BOOL("runInBackground", false), JSON_TIME("emittedAt", clock_now()),
		JSON_TEXT("requestId", id),
		JSON_TEXT("contextFile", json_get_str(action, "context_file")),
		JSON_TEXT("resultFormat", json_get_str(action, "result_format")));
	/* Its own file last: where that is, the request has been emitted as a whole. */
	return artifact_write(p->artifacts, ORCHESTRATOR_SCOPE, MANIFEST ".json", manifest, err) < 0
		       ? -1
		       : artifact_write(p->artifacts, ORCHESTRATOR_SCOPE, name, manifest, err);
}

/* Looked up in the documents of all items that the id may be of: it has `.` for each `/`. */
static bool is_requested(struct arena *a, const struct dispatch_place *p, const char *name)
{
	const char *id = name + strlen(MANIFEST ".");
	bool found = false;

	for (const char *end = strchr(id, '.'); end && !found; end = strchr(end + 1, '.')) {
		CLEANUP(json_free)
		json *item = status_item(
			arena_printf(a, "%s/%.*s.md", p->items, (int)(end - id), id), true);

		for (const json *it = json_first(json_get(item, "actions")); it; it = json_next(it))
			found |= strcmp(manifest_name(a, json_get_str(it, "id")), name) == 0;
	}
	return found;
}

static int remove_answered(struct arena *a, const struct dispatch_place *p, struct error *err)
{
	struct directory_names names = {0};
	bool missing;

	if (directory_list(
		    a, path_join(a, p->artifacts, ORCHESTRATOR_SCOPE), &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(str_of(names.items[i]), MANIFEST ".") &&
			str_ends(str_of(names.items[i]), ".json") && /* no write that was killed */
			strcmp(names.items[i], MANIFEST ".json") != 0 &&
			!is_requested(a, p, names.items[i]) &&
			artifact_remove(p->artifacts, ORCHESTRATOR_SCOPE, names.items[i], err) < 0)
			return -1;
	return 0;
}

int dispatch_emit(struct arena *a, const struct dispatch_place *p, json *actions, struct error *err)
{
	const char *directory = path_join(a, p->artifacts, ORCHESTRATOR_SCOPE);

	if (remove_answered(a, p, err) < 0)
		return -1;
	for (const json *it = json_first(actions); it; it = json_next(it)) {
		const char *name = manifest_name(a, json_get_str(it, "id"));

		if (!path_exists(path_join(a, directory, name)) &&
			emit_one(a, p, it, name, err) < 0)
			return -1;
		json_put_str((json *)(uintptr_t)it, "outcome", STR("manifest-emitted"));
	}
	return 0;
}

/* ---- a result ---- */

enum kind {
	KIND_TEXT,
	KIND_OUTPUT,
	KIND_OBJECT,
	KIND_COUNT,
	KIND_TIME,
	KIND_VERSION,
	KIND_STATUS,
	KIND_ID
};

static const struct result_member {
	const char *name;
	enum kind kind;
	bool required;
	const char *want, *with; /* with: the only status that it may have; NULL: any */
} result_members[] = {
	{"version", KIND_VERSION, true, "the number 1", NULL},
	{"taskId", KIND_ID, true, "the id of a task", NULL},
	{"subagentType", KIND_TEXT, true, "a text that is not empty", NULL},
	{"status", KIND_STATUS, true, "success or error", NULL},
	{"output", KIND_OUTPUT, true, "a text", NULL},
	{"durationMs", KIND_COUNT, true, "a whole number from 0", NULL},
	{"writtenAt", KIND_TIME, true, "a time such as 2026-11-21T01:34:55Z", NULL},
	{"parsed", KIND_OBJECT, false, "an object", "success"},
	{"error", KIND_TEXT, false, "a text that is not empty", "error"},
	{"requestId", KIND_TEXT, false, "a text that is not empty", NULL},
	{"result", KIND_TEXT, false, "a text that is not empty", "success"},
};

static bool tick_dispatch_fits(enum kind kind, const json *value)
{
	const char *text = json_text(value);
	int64_t t;

	switch (kind) {
	case KIND_TEXT:
		return text && *text;
	case KIND_OUTPUT:
		return text;
	case KIND_OBJECT:
		return json_is_object(value);
	case KIND_COUNT:
		return json_int(value, -1) >= 0;
	case KIND_TIME:
		return text && clock_parse_rfc3339(str_of(text), &t);
	case KIND_ID:
		return text && path_is_id(str_of(text));
	case KIND_VERSION:
		return json_int(value, 0) == DISPATCH_VERSION;
	case KIND_STATUS:
		break;
	}
	return text && (strcmp(text, "success") == 0 || strcmp(text, "error") == 0);
}

static int check_members(const char *file, const json *all, struct error *err)
{
	CLEANUP(json_free) json *others = json_copy(all);

	for (size_t i = 0; i < COUNT(result_members); i++) {
		const struct result_member *r = &result_members[i];
		const json *value = json_get(all, r->name);

		if (value ? !tick_dispatch_fits(r->kind, value) : r->required)
			return error_set(err, ERR_INPUT, "%s: '%s' must be %s%s", file, r->name,
				r->want, value ? "" : ": it is missing");
		if (value && r->with && !json_str_is(all, "status", r->with))
			return error_set(err, ERR_INPUT, "%s: '%s' contradicts the status '%s'",
				file, r->name, json_get_str(all, "status"));
		json_drop(others, r->name);
	}
	if (json_str_is(all, "status", "success") && !json_get(all, "parsed") &&
		!str_trim(str_of(json_get_str(all, "output"))).n)
		return error_set(err, ERR_INPUT,
			"%s: a success needs an 'output', or 'parsed'; of an agent that has said "
			"nothing the status is error",
			file);
	return json_first(others) ? error_set(err, ERR_INPUT, "%s: unknown member '%.60s'", file,
					    json_key(json_first(others)))
				  : 0;
}

int dispatch_parse(struct arena *a, const char *file, struct str text, struct dispatch_result *out,
	struct error *err)
{
	*out = (struct dispatch_result){0};
	if (json_parse(&out->all, text, err) < 0)
		return error_place(err, file, err->line, err->col), -1;
	if (!json_is_object(out->all))
		return error_set(err, ERR_INPUT, "%s: a result is a JSON object", file);
	if (check_members(file, out->all, err) < 0)
		return -1;
	out->task = json_dup(a, out->all, "taskId");
	out->type = json_dup(a, out->all, "subagentType");
	out->request = json_dup(a, out->all, "requestId");
	out->word = json_dup(a, out->all, "result");
	out->output = str_of(json_get_str(out->all, "output"));
	return 0;
}

/* ---- its action ---- */

/* The outstanding actions of the task's item that the result may be of. */
static const json *tick_dispatch_find_action(
	const json *open, const struct dispatch_result *r, const char *id, size_t *n)
{
	const json *found = NULL;

	*n = 0;
	for (const json *it = json_first(open); it; it = json_next(it))
		if (id ? json_str_is(it, "id", id)
		       : strcmp(tick_dispatch_type_of(it), r->type) == 0) {
			found = it;
			++*n;
		}
	return found;
}

static int check_foreign(const struct dispatch_result *r, const char *document, struct error *err)
{
	size_t n = strlen(r->task);

	if (!path_exists(document))
		return error_set(err, ERR_STATE,
			"the result is foreign: there is no work item '%.100s'", r->task);
	if (r->request && (strncmp(r->request, r->task, n) != 0 || !r->request[n] ||
				  !strchr("/.", r->request[n])))
		return error_set(err, ERR_STATE,
			"the result is foreign: request '%.200s' is not of task '%.100s'",
			r->request, r->task);
	return 0;
}

struct taking {
	struct arena *arena;
	const char *document;
	struct dispatch_result result;
	struct run_outstanding open;
	const json *action; /* NULL: the id is not outstanding */
	const char *id;
};

static void taking_free(struct taking *t)
{
	json_free(&t->result.all);
	run_outstanding_free(&t->open);
}

/* A result without an id that was written before this was requested is of an earlier request. */
static int check_age(const struct taking *t, struct error *err)
{
	CLEANUP(json_free)
	json *item = status_item(json_get_str(t->action, "context_file"), true);
	const char *at = json_get_str(t->result.all, "writtenAt"),
		   *since = json_get_str(action_find(json_get(item, "actions"), t->id), "since");
	int64_t written, requested;

	if (!since || clock_parse(since, &requested) < 0 ||
		!clock_parse_rfc3339(str_of(at), &written) || written >= requested)
		return 0;
	return error_set(err, ERR_STATE,
		"the result is stale: it was written at %.40s, and '%.200s' was requested at %s",
		at, t->id, since);
}

static int choose_action(struct taking *t, const char *known, struct error *err)
{
	const struct dispatch_result *r = &t->result;
	const char *id = known ? known : r->request;
	size_t n;

	if (run_outstanding_load(t->document, &t->open, err) < 0)
		return -1;
	t->action = tick_dispatch_find_action(t->open.open, r, id, &n);
	if (!id && n != 1)
		return error_set(err, ERR_STATE,
			"the result is %s: %zu requests to '%.60s' of '%.100s' are outstanding%s",
			n ? "not clear" : "stale", n, r->type, r->task,
			n ? ": it must name its requestId" : "");
	t->id = id ? id : json_dup(t->arena, t->action, "id");
	if (t->action && strcmp(tick_dispatch_type_of(t->action), r->type) != 0)
		return error_set(err, ERR_STATE,
			"the result is foreign: '%.200s' was requested from '%s', not from '%.60s'",
			t->id, tick_dispatch_type_of(t->action), r->type);
	return id ? 0 : check_age(t, err);
}

/* What is remembered before anything is recorded names the action of these bytes for ever. */
static int tick_dispatch_remember(
	struct tick_memory *m, const struct taking *t, const char *digest, struct error *err)
{
	json_put_str(
		json_inner(json_inner(m->all, "results"), t->result.task), digest, str_of(t->id));
	return tick_memory_save(m, err);
}

/* The answer with what the agent has returned as JSON at its end, unless the output ends with that,
 * or is refused by itself. */
static struct str with_parsed(const struct taking *t, const json *object, const char *word)
{
	const struct dispatch_result *r = &t->result;
	struct str parsed = json_print_in(t->arena, json_copy(object));
	json *own = verdict_json(r->output);
	bool again = own && str_eq(json_print_in(t->arena, own), parsed);
	struct error ignored;

	if (again ||
		(t->action && action_result(t->arena, t->action, r->output, &word, &ignored) < 0))
		return r->output;
	return str_of(arena_printf(t->arena, "%.*s%s%s", (int)r->output.n, r->output.p,
		r->output.n ? "\n\n" : "", parsed.p));
}

/* An error is an answer only where the action has a word for it. */
static int offer_of(struct taking *t, struct answer_offer *offer, bool *records, struct error *err)
{
	static const char *const failed[] = {"failed", NULL};
	const struct dispatch_result *r = &t->result;
	const char *format = t->action ? json_get_str(t->action, "result_format") : "";
	const char *why = json_get_str(r->all, "error");
	const json *parsed = json_get(r->all, "parsed");

	*offer = (struct answer_offer){.id = t->id,
		.word = r->word,
		.text = r->output,
		.caller = getenv("DEV_TEAM_ACTION"),
		.ms = json_get_int(r->all, "durationMs", 0)};
	*records = true;
	if (json_str_is(r->all, "status", "error")) {
		offer->word = verdict_format_word(t->arena, format, failed);
		*records = !t->action || offer->word;
		offer->text = str_of(arena_printf(t->arena, "%s%s%.*s",
			why ? why : "the agent reported an error without a message",
			r->output.n ? "\n\n" : "", (int)r->output.n, r->output.p));
		return 0;
	}
	if (!parsed)
		return 0;
	if (t->action && verdict_object_word(t->arena, parsed, format, &offer->word, err) < 0)
		return -1;
	offer->text = with_parsed(t, parsed, offer->word);
	return 0;
}

static int tick_dispatch_record(struct taking *t, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *document = t->action ? json_get_str(t->action, "context_file") : t->document;
	struct answer_offer offer;
	bool records;

	if (offer_of(t, &offer, &records, err) < 0)
		return -1;
	if (!records) {
		error_log("dev-team: %s: %.*s", t->id, (int)offer.text.n, offer.text.p);
		return 0;
	}
	if (context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0 ||
		answer_record(&f, &offer, err) < 0)
		return -1;
	return offer.outcome == ANSWER_AGAIN
		       ? error_set(err, ERR_STATE,
				 "the result is consumed: '%s' has this answer already", t->id)
		       : 0;
}

int dispatch_take(struct arena *a, const struct dispatch_place *p, struct tick_memory *m,
	const char *path, const char **returned, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(taking_free) struct taking t = {.arena = a};
	const char *file = path && *path
				   ? path
				   : arena_printf(a, "%s/" ORCHESTRATOR_SCOPE "/" DISPATCH_RESULT,
					     p->artifacts);
	char digest[DIGEST_TEXT];
	const char *before;
	bool missing;

	if (sys_read_file(&text, file, RESULT_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT,
					 "there is no result '%s': 'dev-team result write' writes "
					 "it",
					 file)
			       : -1;
	if (dispatch_parse(a, file, buf_str(&text), &t.result, err) < 0)
		return -1;
	t.document = arena_printf(a, "%s/%s.md", p->items, t.result.task);
	digest_text(buf_str(&text), digest);
	before = json_dup(a, json_get(json_get(m->all, "results"), t.result.task), digest);
	if (check_foreign(&t.result, t.document, err) < 0 || choose_action(&t, before, err) < 0 ||
		(!before && tick_dispatch_remember(m, &t, digest, err) < 0) ||
		tick_dispatch_record(&t, err) < 0)
		return -1;
	*returned = t.id;
	return 0;
}
