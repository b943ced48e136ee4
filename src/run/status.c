#include "src/base/clock.h"
#include "src/event/usage.h"
#include "src/machine/action.h"
#include "src/machine/agents.h"
#include "src/machine/failure.h"
#include "src/machine/place.h"
#include "src/local/script.h"
#include "src/machine/wait.h"
#include "src/run/locate.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { REASON_MAX = 300, LINE_QUESTION_MAX = 60 };

/* The statuses, in the order in which a list has them. */
static const char *const statuses[] = {
	"works", "waits", "failed", "broken", "parked", "idle", "queued", "done", NULL};

static const char *status_text(const json *item, const char *key)
{
	const char *text = json_get_str(item, key);

	return text ? text : "";
}

/* ---- who works on it ---- */

static const char *running_process(struct arena *a, const struct lease_holder *h)
{
	return h->live && lease_is_run(h) ? process_name_describe(a, h->client) : NULL;
}

const char *status_run_active(struct arena *a, const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct lease_holder h;

	return context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
			       lease_read(&f, &h, &ignored) == 0
		       ? running_process(a, &h)
		       : NULL;
}

/* -1: ERR_STATE, an outstanding script runs, whoever has the item. */
static int check_scripts(
	struct arena *a, const struct context_file *f, const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	CLEANUP(json_free) json *all = NULL;
	const char *script = NULL;
	struct error ignored;

	if (action_load(&f->doc, &all, &ignored) < 0)
		return 0; /* it can be put back */
	for (const json *i = json_first(all); i && !script; i = json_next(i))
		if (action_kind(i) == ACTION_SCRIPT && !action_answered(&f->doc, i) &&
			script_running(f, json_get_str(i, "id")))
			script = json_dup(a, i, "id");
	if (!script)
		return 0;
	buf_add_argument(&command, "dev-team exec --context-file ", f->path);
	return error_set(err, ERR_STATE,
		"the script '%s' of '%s' runs; to wait for it: %s --action %s, where Ctrl-C ends "
		"it",
		script, id, command.s, script);
}

int status_check_free(struct arena *a, const char *document, const char *id, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0)
		return err->code == ERR_INPUT ? 0 : -1; /* one with a fault can be restored */
	if (lease_read(&f, &h, err) < 0)
		return -1;
	return h.live && !lease_is_dead(a, &h) ? lease_refuse(&h, id, NULL, true, err)
					       : check_scripts(a, &f, id, err);
}

int status_refuse_beside(pid_t pid, const char *id, const char *directory, struct error *err)
{
	return error_set(err, ERR_STATE,
		"process %ld still works for '%s' in '%s', although it has lost the item: wait "
		"until it has ended, or end it ('kill %ld')",
		(long)pid, id, directory, (long)pid);
}

int status_check_worktree_free(
	struct arena *a, const char *document, const char *id, struct error *err)
{
	CLEANUP(pool_close) struct pool pool = {0};
	struct pool_choice choice = {0};
	struct item_place place;
	struct allocation of;

	/* Without a repository, or a pool in it, there is no worktree; a fault of the disk hides
	 * one. */
	if (place_read(a, document, &place, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	if (!place.branch || place.in_place || !place.repo || !path_exists(place.repo))
		return 0;
	choice.repo = place.repo;
	if (locate_pool(a, &choice, &pool, err) < 0 ||
		pool_find(a, &pool, place.branch, false, &of, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	if (!of.there || !of.holder || process_name_ended(a, of.holder))
		return 0;
	return status_refuse_beside(process_name_pid(of.holder), id, of.path, err);
}

/* When these actions were requested. */
struct dispatches {
	json *actions; /* {id, agent, since} */
	size_t missing;
};

/* A context_visit. */
static bool find_dispatch(const json *event, void *data)
{
	struct dispatches *d = data;

	if (!json_str_is(event, "type", "dispatch"))
		return true;
	for (const json *a = json_first(d->actions); a; a = json_next(a))
		if (json_str_is(a, "id", status_text(event, "action")) && !json_get(a, "since")) {
			json_put_str((json *)a, "since", str_of(status_text(event, "ts")));
			d->missing--;
		}
	return d->missing > 0;
}

/* An item that is read. */
struct reading {
	struct arena *arena;
	struct context_file *file;
	json *item;
	json *actions; /* without an answer */
	struct lease_holder holder;
	const char *run;            /* the process of its `dev-team run`; NULL: none */
	bool works;                 /* somebody may go on with it */
	VEC(const char *) children; /* that it waits for */
	const char *approve;        /* that a person must approve, and what; NULL: nothing */
};

static int run_status_read_actions(struct reading *r, struct error *err)
{
	CLEANUP(json_free) json *all = NULL;
	struct dispatches d = {.actions = r->actions};
	const json *approval;

	if (action_load(&r->file->doc, &all, err) < 0)
		return -1;
	approval = action_open_approval(&r->file->doc, all);
	if (approval)
		r->approve = failure_waiting_reason(r->arena, r->file, json_get_str(approval, "id"),
			arena_printf(r->arena, "a person must approve: %s",
				json_get_str(approval, "approve")));
	for (const json *a = json_first(all); a; a = json_next(a)) {
		const struct action_row *row = &action_rows[action_kind(a)];
		const char *id = json_get_str(a, "id");

		if (action_answered(&r->file->doc, a))
			continue;
		json_push(r->actions,
			JSON_OBJECT(JSON_TEXT("id", id),
				JSON_TEXT("agent",
					row->who ? row->who : json_get_str(a, row->subject))));
		r->works |= action_kind(a) == ACTION_SCRIPT && script_running(r->file, id);
		if (action_kind(a) == ACTION_CHILD)
			vec_push_in(r->arena, &r->children, json_dup(r->arena, a, "item"));
		d.missing++;
	}
	if (d.missing)
		context_each_event(r->file, "\"dispatch\"", find_dispatch, &d);
	return 0;
}

/* ---- what is known of it ---- */

static void run_status_add_key(struct reading *r, const char *key, const char *as)
{
	struct str value = context_get(&r->file->doc, key);

	if (value.n)
		json_put_str(r->item, as, value);
}

static void add_owner(struct reading *r)
{
	const struct lease_holder *h = &r->holder;
	const char *process = h->client ? process_name_describe(r->arena, h->client) : NULL;

	JSON_ADD(r->item, JSON_IF(r->run, JSON_TEXT("run", r->run)),
		JSON_IF(h->live,
			JSON_VALUE("owner",
				JSON_OBJECT(JSON_TEXT("name", h->owner),
					JSON_TIME("since", h->since), JSON_TIME("until", h->until),
					JSON_IF(process, JSON_TEXT("process", process)),
					JSON_BOOL("ended", lease_is_dead(r->arena, h))))));
}

static int add_place(struct reading *r, struct error *err)
{
	struct item_place place;

	if (place_load(r->arena, r->file, &place, err) < 0)
		return -1;
	JSON_ADD(r->item, JSON_IF(place.branch, JSON_TEXT("branch", place.branch)),
		JSON_IF(place.directory && path_exists(place.directory),
			JSON_TEXT("directory", place.directory)));
	return 0;
}

/* ---- how it goes on ---- */

void status_add_address(struct buf *out, const char *id, const char *document, const char *repo)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;
	const char *usual;

	if (path_is_id(str_of(id)))
		buf_adds(out, id);
	else
		buf_add_shell(out, str_of(id));
	if ((!repo && locate_repository(&a, NULL, &repo, &ignored) < 0) ||
		locate_document(&a, NULL, repo, id, &usual, &ignored) < 0 ||
		strcmp(usual, document) != 0)
		buf_add_argument(out, " --context-file ", document);
}

void status_add_repository(struct buf *out, const char *repo)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *here;
	struct error ignored;

	if (locate_repository(&a, NULL, &here, &ignored) < 0 || strcmp(here, repo) != 0)
		buf_add_argument(out, " --repo ", repo);
}

/* The checkout that the item belongs to; NULL: not known. */
static const char *repository_of(struct arena *a, struct context_file *f)
{
	struct item_place place;
	struct error ignored;

	return place_load(a, f, &place, &ignored) == 0 && place.repo && path_exists(place.repo)
		       ? place.repo
		       : NULL;
}

/* The working directory is in the repository, or in a clone of it, whose items are the same. */
static bool is_here(struct arena *a, const char *repo)
{
	const char *here;
	char *slug, *other;
	struct error ignored;

	return run_place_repository(a, NULL, NULL, &here, &ignored) == 0 &&
	       (strcmp(here, repo) == 0 || (git_slug(a, here, &slug, &ignored) == 0 &&
						   git_slug(a, repo, &other, &ignored) == 0 &&
						   strcmp(slug, other) == 0));
}

/* The same with `--repo`, unless the working directory is in the item's repository. */
static void add_item(struct arena *a, struct buf *out, struct context_file *f)
{
	const char *repo = repository_of(a, f);

	status_add_address(out, context_get(&f->doc, "work_item_id").p, f->path, repo);
	if (repo && !is_here(a, repo))
		buf_add_argument(out, " --repo ", repo);
}

/* `BEFORE ID AFTER` */
static void run_status_add_command(struct reading *r, const char *before, const char *after)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, before);
	add_item(r->arena, &text, r->file);
	buf_adds(&text, after);
	json_put_str(r->item, "continue", buf_str(&text));
}

/* The settings of the item's repository name what runs agents. */
static bool has_agents(struct arena *a, const char *repo)
{
	struct settings settings = {0};
	struct error ignored;

	return repo && settings_load(a, repo, &settings, &ignored) == 0 && settings.harness;
}

/* Without a run before it, the client is Claude Code. */
void status_add_continuation(struct buf *out, struct context_file *f)
{
	CLEANUP(buf_release) struct buf options = BUF_INIT;
	struct arena *a = &f->doc.arena;
	const char *repo = repository_of(a, f);

	if (action_awaits_approval(&f->doc)) {
		buf_adds(out, "dev-team approve ");
		add_item(a, out, f);
		return;
	}
	if (!run_options_describe(f, &options)) {
		if (!repo || is_here(a, repo))
			buf_addf(out, "/dev-team:continue %s or ",
				context_get(&f->doc, "work_item_id").p);
		if (!has_agents(a, repo))
			buf_adds(&options, " --harness claude-code");
	}
	buf_adds(out, "dev-team run ");
	add_item(a, out, f);
	buf_add(out, buf_str(&options));
}

void status_add_next(struct buf *out, struct context_file *f)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(context_close) struct context_file top = {0};
	const char *document = run_top_document(&a, f);
	struct error ignored;
	bool child = strcmp(document, f->path) != 0 && path_exists(document) &&
		     context_open(&top, document, CONTEXT_READ_ONLY, &ignored) == 0;

	buf_adds(out, child ? "continue its parent with: " : "continue it with: ");
	status_add_continuation(out, child ? &top : f);
	buf_addc(out, '\n');
}

static void run_status_set_continuation(struct reading *r)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	status_add_continuation(&command, r->file);
	json_put_str(r->item, "continue", buf_str(&command));
}

static void run_status_add_failure(struct reading *r)
{
	struct failure why;

	failure_explain(r->arena, r->file, "init", &why);
	JSON_ADD(r->item, JSON_IF(why.limit, JSON_TEXT("limit", why.limit)),
		JSON_IF(why.log, JSON_TEXT("log", why.log)),
		JSON_IF(why.words, JSON_TEXT("last_words", why.words)));
}

static const char *run_status_of(const struct reading *r)
{
	const struct context *c = &r->file->doc;

	bool asks = context_get(c, "question").n;

	if (asks && !context_get(c, "troubleshooter_input").n)
		return "waits";
	if (!asks && failure_is(c))
		return "failed";
	if (str_is(context_get(c, "state"), "done"))
		return "done";
	if (r->approve || wait_is_open(c, clock_now()))
		return "waits";
	return r->works ? "works" : "idle";
}

/* The first child that waits, if nothing but children is outstanding. The caller frees it. A copy
 * of a document can name itself: only a longer name is below it. */
static json *waiting_child(const struct reading *r)
{
	bool alone = r->children.n == json_len(r->actions);

	for (size_t i = 0; alone && i < r->children.n; i++) {
		const char *document =
			run_child_document(r->arena, r->file->path, r->children.items[i]);
		json *child = strlen(document) > strlen(r->file->path) ? status_item(document, true)
								       : NULL;

		if (json_str_is(child, "status", "waits"))
			return child;
		json_free(&child);
	}
	return NULL;
}

static void add_child_wait(struct reading *r, const json *child)
{
	const char *why = json_get_str(child, "question"), *until = json_get_str(child, "until");

	JSON_ADD(r->item,
		JSON_TEXT("reason", arena_printf(r->arena, "'%s': %s", status_text(child, "id"),
					    why ? why : status_text(child, "reason"))),
		JSON_IF(until, JSON_TEXT("until", until)),
		JSON_TEXT("continue", status_text(child, "continue")));
}

/* A run goes on by itself. */
static void run_status_add_wait(struct reading *r)
{
	struct wait w = wait_read(&r->file->doc);

	if (r->approve) {
		json_put_str(r->item, "reason", str_of(r->approve));
		run_status_add_command(r, "dev-team approve ", "");
		return;
	}
	JSON_ADD(r->item, JSON_TIME("until", w.until), JSON_TEXT("reason", w.reason));
	if (!r->run)
		run_status_set_continuation(r);
}

static void run_status_add_end(struct reading *r, const char *status, bool brief)
{
	if (strcmp(status, "waits") == 0 && !context_get(&r->file->doc, "question").n) {
		run_status_add_wait(r);
	} else if (strcmp(status, "waits") == 0) {
		run_status_add_key(r, "question", "question");
		run_status_add_command(r, "dev-team answer ", " 'TEXT'");
	} else if (strcmp(status, "failed") == 0) {
		json_put_str(r->item, "reason", str_of(failure_reason(r->arena, &r->file->doc)));
		run_status_add_command(r, failure_verb(r->file), "");
		if (!brief)
			run_status_add_failure(r);
	} else if (strcmp(status, "idle") == 0) {
		run_status_set_continuation(r);
	} else {
		run_status_add_key(r, "outcome", "reason");
		run_status_add_key(r, "landed", "landed");
	}
}

static int run_status_read_item(struct reading *r, bool brief, struct error *err)
{
	CLEANUP(json_free) json *child = NULL, *failures = NULL;
	const struct context *c = &r->file->doc;
	const char *status;
	json *usage;

	if (context_open_keys(r->file, err) < 0 || lease_read(r->file, &r->holder, err) < 0)
		return -1;
	r->run = running_process(r->arena, &r->holder);
	r->works = r->run || (r->holder.live && !lease_is_dead(r->arena, &r->holder));
	if (run_status_read_actions(r, err) < 0)
		return -1;
	status = run_status_of(r);
	child = strcmp(status, "idle") == 0 ? waiting_child(r) : NULL;
	status = child ? "waits" : status;
	r->item = JSON_OBJECT(JSON_TEXT("id", context_get(c, "work_item_id").p),
		JSON_TEXT("status", status), JSON_TEXT("state", context_get(c, "state").p),
		JSON_VALUE("actions", json_copy(r->actions)));
	add_owner(r);
	json_put(r->item, "attempts", context_attempts_json(c));
	failures = context_failures(c);
	if (json_first(failures))
		json_put(r->item, "failures", json_copy(failures));
	if (add_place(r, err) < 0)
		return -1;
	run_status_add_key(r, "pr_url", "pull_request");
	usage = agents_total(r->file);
	JSON_ADD(r->item, JSON_IF(usage, JSON_VALUE("usage", usage)));
	if (child)
		add_child_wait(r, child);
	else
		run_status_add_end(r, status, brief);
	run_status_add_key(r, "last_updated", "last_updated");
	JSON_ADD(r->item, JSON_TEXT("file", r->file->path));
	return 0;
}

/* The remedy for a fault that a hand edit has made is an older revision. */
static json *broken_item(struct arena *a, const char *document, const struct context_file *f,
	const struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	struct str base = path_base(document);
	struct error place = *err;
	char text[1600];

	error_format(&place, text, sizeof(text));
	if (context_has_fault(f, err) && !f->doc.other_format)
		buf_add_argument(&command, "dev-team context restore ", f->path);
	return JSON_OBJECT(
		JSON_TEXT("id",
			arena_dup(a, str_sub(base, 0, base.n - (str_ends(base, ".md") ? 3 : 0)))),
		JSON_TEXT("status", "broken"),
		JSON_TEXT("error", str_starts(str_of(text), "dev-team: ")
					   ? text + strlen("dev-team: ")
					   : text),
		JSON_IF(command.len, JSON_TEXT("continue", command.s)),
		JSON_TEXT("file", document));
}

json *status_item(const char *document, bool brief)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = json_array();
	struct reading r = {.arena = &a, .file = &f, .actions = actions};
	struct error err = {0};

	if (context_open(&f, document, CONTEXT_READ_ONLY, &err) == 0 &&
		run_status_read_item(&r, brief, &err) == 0)
		return r.item;
	json_free(&r.item);
	return broken_item(&a, document, &f, &err);
}

json *status_lost(const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	return context_open(&f, document, CONTEXT_READ_ONLY, &err) < 0 && err.code == ERR_STATE
		       ? status_item(document, true)
		       : NULL;
}

/* ---- several items ---- */

json *status_children(const char *document)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(context_close) struct context_file f = {0};
	struct run_begun_list begun = {0};
	json *children = json_array();
	struct error ignored;

	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0)
		begun = run_begun_children(&a, &f);
	for (size_t i = 0; i < begun.n; i++)
		json_push(children, status_item(begun.items[i].document, true));
	return children;
}

static unsigned status_rank(const json *item)
{
	unsigned at = 0;

	(void)str_index(str_of(status_text(item, "status")), statuses, &at);
	return at;
}

static int by_status(const void *a, const void *b)
{
	const json *x = *(const json *const *)a, *y = *(const json *const *)b;
	int order = (int)status_rank(x) - (int)status_rank(y);

	return order ? order : strcmp(status_text(x, "file"), status_text(y, "file"));
}

void status_sort(json **items)
{
	VEC(json *) list = {0};
	json *sorted = json_array();

	for (const json *i = json_first(*items); i; i = json_next(i))
		vec_push(&list, json_copy(i));
	vec_sort(&list, by_status);
	for (size_t i = 0; i < list.n; i++)
		json_push(sorted, list.items[i]);
	vec_release(&list);
	json_free(items);
	*items = sorted;
}

int status_items(const char *dir, json **items, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_paths paths = {0};

	if (store_documents(store_backend(), &a, dir, &paths, err) < 0)
		return -1;
	*items = json_array();
	for (size_t i = 0; i < paths.n; i++)
		json_push(*items, status_item(paths.items[i], true));
	status_sort(items);
	return 0;
}

int status_directory(struct arena *a, const char *repo, const char **dir, struct error *err)
{
	const char *root, *document;

	if (locate_repository(a, repo, &root, err) < 0 ||
		locate_document(a, NULL, root, "X", &document, err) < 0)
		return -1;
	*dir = arena_dup(a, path_dir(document));
	return 0;
}

int status_refuse_unknown(const char *id, const char *document, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	/* ERR_STATE: it has begun, and its document is gone. */
	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 && err->code == ERR_STATE)
		return -1;
	return error_set(err, ERR_INPUT,
		"no work item '%s' has begun: there is no '%s'; 'dev-team status' lists the items",
		id, document);
}

int status_find(struct arena *a, const char *id, const char *repo, const char *context_file,
	const char **document, struct error *err)
{
	const char *root = repo;
	bool there;

	if (path_check_id(id, err) < 0 ||
		(!context_file && locate_repository(a, repo, &root, err) < 0) ||
		locate_document(a, context_file, root, id, document, err) < 0 ||
		path_check_exists(*document, &there, err) < 0)
		return -1;
	return there ? 0 : status_refuse_unknown(id, *document, err);
}

/* ---- for people ---- */

static int64_t seconds_since(const char *time)
{
	int64_t t;

	return clock_parse(time, &t) == 0 && t < clock_now() ? clock_now() - t : 0;
}

static void add_since(struct buf *out, const char *time)
{
	if (!*time)
		return;
	buf_addf(out, " since %s (", time);
	usage_describe_time(out, seconds_since(time) * 1000);
	buf_addc(out, ')');
}

/* Returns since when they work; "": not known. */
static const char *add_agents(struct buf *out, const json *item)
{
	const json *first = json_first(json_get(item, "actions"));

	if (!first)
		buf_adds(out, "between two actions");
	for (const json *a = first; a; a = json_next(a))
		buf_addf(out, "%s%s", a == first ? "" : ", ", status_text(a, "agent"));
	return status_text(first, "since");
}

void status_add_line(struct buf *out, const json *items)
{
	struct str question, line;
	const char *since;

	for (const json *i = json_first(items); i; i = json_next(i)) {
		bool waits = json_str_is(i, "status", "waits");

		if (!waits && !json_str_is(i, "status", "works"))
			continue;
		buf_addf(out, "%s%s %s: ", out->len ? " | " : "", status_text(i, "id"),
			waits ? "waits for your answer" : status_text(i, "state"));
		question = str_of(status_text(i, "question"));
		if (waits && str_line(&question, &line))
			buf_add_printable(out, line, LINE_QUESTION_MAX);
		since = waits ? "" : add_agents(out, i);
		if (*since) {
			buf_addc(out, ' ');
			usage_describe_time(out, seconds_since(since) * 1000);
		}
	}
	if (out->len)
		buf_addc(out, '\n');
}

/* Behind what the line has from `from` on. */
static void add_part(struct buf *out, size_t from, const char *before, const char *text)
{
	if (*text)
		buf_addf(out, "%s%s%s", out->len > from ? "; " : "", before, text);
}

/* The one line that a list has of it, behind id, status and state. */
static void add_summary(struct buf *out, const json *item)
{
	CLEANUP(buf_release) struct buf cost = BUF_INIT, on = BUF_INIT;
	const char *landed = status_text(item, "landed");
	const char *url = status_text(item, "pull_request"),
		   *why = *status_text(item, "error")      ? status_text(item, "error")
			  : *status_text(item, "question") ? status_text(item, "question")
							   : status_text(item, "reason");
	size_t from = out->len;
	struct usage used;

	if (json_str_is(item, "status", "works"))
		add_since(out, add_agents(out, item));
	else
		buf_add_printable(out, str_of(why), REASON_MAX);
	if (json_str_is(item, "status", "queued"))
		add_since(out, status_text(item, "since"));
	usage_get(json_get(item, "usage"), &used);
	usage_describe(&cost, &used);
	add_part(out, from, "until ", status_text(item, "until"));
	add_part(out, from, "", cost.len ? cost.s : "");
	add_part(out, from, "", strstr(why, url) ? "" : url);
	buf_add(&on, (struct str){landed, strcspn(landed, ";")}); /* the receipt is longer */
	add_part(out, from, "landed on ", on.len ? on.s : "");
	add_part(out, from, "", status_text(item, "continue"));
}

/* Its documents are in the directory of that name, below `dir`. */
static void add_repository_name(struct buf *out, const json *item, const char *dir)
{
	const char *file = status_text(item, "file");
	struct str name = path_dir(file);
	size_t n = strlen(dir) + 1;

	if (name.n > n && str_starts(name, dir))
		buf_addf(out, "%-16.*s  ", (int)(name.n - n), name.p + n);
}

static void run_status_add_row(struct buf *out, const json *item, const char *all)
{
	bool broken = json_str_is(item, "status", "broken");

	buf_addf(out, "%-12s  %-7s  ", status_text(item, "id"), status_text(item, "status"));
	if (all)
		add_repository_name(out, item, all);
	if (!broken)
		buf_addf(out, "%-14s  ", status_text(item, "state"));
	add_summary(out, item);
	while (out->len && out->s[out->len - 1] == ' ')
		buf_cut(out, out->len - 1);
	buf_addc(out, '\n');
}

void status_add_table(struct buf *out, const json *items, const char *all)
{
	size_t counts[COUNT(statuses)] = {0};

	for (const json *i = json_first(items); i; i = json_next(i)) {
		run_status_add_row(out, i, all);
		counts[status_rank(i)]++;
	}
	buf_addf(out, "%zu item%s", json_len(items), json_len(items) == 1 ? "" : "s");
	for (size_t k = 0; statuses[k]; k++)
		if (counts[k])
			buf_addf(out, ", %zu %s", counts[k], statuses[k]);
	buf_addc(out, '\n');
}

/* Below `name`; further lines of the text are indented. */
static void add_fact(struct buf *out, const char *name, const char *text)
{
	struct str rest = str_of(text), line;

	for (; *text && str_line(&rest, &line); name = "") {
		buf_addf(out, "  %-13s ", name);
		buf_add_printable(out, line, SIZE_MAX);
		buf_addc(out, '\n');
	}
}

static void run_status_add_working(struct buf *out, const json *item)
{
	CLEANUP(buf_release) struct buf by = BUF_INIT;
	const json *owner = json_get(item, "owner");

	for (const json *a = json_first(json_get(item, "actions")); a; a = json_next(a)) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_addf(&text, "%s, %s", status_text(a, "id"), status_text(a, "agent"));
		add_since(&text, status_text(a, "since"));
		add_fact(out, json_str_is(item, "status", "works") ? "working" : "requested",
			text.s);
	}
	if (json_get(item, "run")) {
		buf_addf(&by, "dev-team run, %s", status_text(item, "run"));
	} else if (owner) {
		buf_addf(&by, "'%s'%s%s", status_text(owner, "name"),
			json_get(owner, "process") ? ", " : "", status_text(owner, "process"));
		add_since(&by, status_text(owner, "since"));
		buf_adds(&by, json_is_true(json_get(owner, "ended"))
				      ? ", which has ended: any session continues it"
				      : "");
	}
	add_fact(out, "by", by.s ? by.s : "");
}

static void run_status_add_counts(struct buf *out, const json *item, const char *key)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	/* The names of states have no dot; counters such as `event.NAME` are the engine's. */
	for (const json *a = json_first(json_get(item, key)); a; a = json_next(a))
		if (!strchr(json_key(a), '.'))
			buf_addf(&text, "%s%s %lld", text.len ? ", " : "", json_key(a),
				(long long)json_int(a, 0));
	add_fact(out, key, text.s ? text.s : "");
}

static void add_used(struct buf *out, const json *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json *usage = json_get(item, "usage");
	struct usage used;

	if (!usage)
		return;
	usage_get(usage, &used);
	buf_addf(&text, "%lld call%s of agents, ", (long long)json_get_int(usage, "calls", 0),
		json_get_int(usage, "calls", 0) == 1 ? "" : "s");
	usage_describe_time(&text, used.ms);
	buf_adds(&text, ", ");
	usage_describe(&text, &used);
	while (text.s[text.len - 1] == ' ' || text.s[text.len - 1] == ',')
		buf_cut(&text, text.len - 1);
	add_fact(out, "used", text.s);
}

void status_add_title(struct buf *out, const json *item)
{
	const char *state = status_text(item, "state");

	buf_addf(out, "%s: %s%s%s%s\n", status_text(item, "id"), status_text(item, "status"),
		*state ? " (state '" : "", state, *state ? "')" : "");
}

void status_add_details(struct buf *out, const json *item)
{
	static const char *const facts[][2] = {{"branch", "branch"}, {"directory", "directory"},
		{"pull_request", "pull request"}, {"landed", "landed on"}};
	static const char *const ends[][2] = {{"question", "waits for"}, {"until", "waits until"},
		{"reason", "reason"}, {"limit", "limit"}, {"error", "error"}, {"log", "log"},
		{"last_words", "last words"}, {"continue", "continue with"},
		{"last_updated", "last change"}, {"file", "file"}};

	status_add_title(out, item);
	run_status_add_working(out, item);
	run_status_add_counts(out, item, "attempts");
	run_status_add_counts(out, item, "failures");
	for (size_t i = 0; i < COUNT(facts); i++)
		add_fact(out, facts[i][1], status_text(item, facts[i][0]));
	add_used(out, item);
	for (size_t i = 0; i < COUNT(ends); i++)
		add_fact(out, ends[i][1], status_text(item, ends[i][0]));
}
