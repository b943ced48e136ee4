#include <limits.h>
#include "context/lease.h"
#include "src/base/number.h"
#include "src/graph/manifest.h"
#include "src/machine/brief.h"
#include "src/local/local.h"
#include "src/machine/failure.h"
#include "src/policy/policy.h"
#include "src/setup/setup.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "steps/steps.h"

struct str run_action_state(const char *id)
{
	const char *first = strchr(id, '/'), *last = strrchr(id, '/');

	return last > first ? (struct str){first + 1, (size_t)(last - first - 1)} : str_of(id);
}

static int check_utf8(const char *what, const char *path, struct error *err)
{
	if (str_utf8_fault(str_of(path)))
		return error_set(err, ERR_USAGE, "the path of the %s is not UTF-8", what);
	return 0;
}

/* As the item keeps it: a shipped one by its name, one in the repository from there (`./FILE`),
 * another as seen from the document. */
static int keep_workflow(struct arena *a, const struct run_step_call *call,
	const struct context_file *f, const char **out, struct error *err)
{
	const char *path = path_absolute(a, call->workflow), *root, *shipped;

	/* Without an installation there are no shipped ones. */
	if (locate_plugin(a, call->plugin_root, &root, err) < 0 && root)
		return -1;
	*err = (struct error){0};
	shipped = root ? arena_printf(a, "%s/workflows/", root) : NULL;
	if (shipped && str_starts(str_of(path), shipped))
		*out = path + strlen(shipped);
	else if (str_starts(str_of(path), arena_printf(a, "%s/", call->repo)))
		*out = arena_printf(a, ".%s", path + strlen(call->repo));
	else
		*out = path_relative(a, f->dir, path);
	return 0;
}

/* Without a name: that of the item's last step, else of the settings, else implement-task. */
static int resolve_workflow(struct arena *a, struct run_step_call *call, struct error *err)
{
	struct settings settings;

	if (!call->workflow && !call->cancel && !path_exists(call->context_file)) {
		if (settings_load(a, call->repo, &settings, err) < 0)
			return -1;
		call->workflow = settings.workflow ? settings.workflow : RUN_WORKFLOW_DEFAULT;
	}
	if (!call->workflow &&
		run_step_workflow(a, call->context_file, call->repo, &call->workflow, err) < 0)
		return -1;
	return locate_workflow(
		a, call->workflow, call->plugin_root, call->repo, &call->workflow, err);
}

int run_step_repository(
	struct arena *a, const struct run_step_call *call, const char **root, struct error *err)
{
	return call->in_place ? locate_repository(a, call->repo, root, err)
			      : run_place_repository(a, call->repo, call->context_file, root, err);
}

int run_step_resolve(struct arena *a, struct run_step_call *call, struct error *err)
{
	if (path_check_id(call->id, err) < 0)
		return -1;
	if (call->take_over && !call->owner)
		return error_set(err, ERR_USAGE, "--take-over needs --owner");
	if ((call->owner && lease_check_owner(call->owner, err) < 0) ||
		locate_repository(a, call->repo, &call->repo, err) < 0 ||
		locate_document(a, call->context_file, call->repo, call->id, &call->context_file,
			err) < 0 ||
		run_step_repository(a, call, &call->repo, err) < 0 ||
		resolve_workflow(a, call, err) < 0 ||
		check_utf8("repository", call->repo, err) < 0 ||
		check_utf8("workflow", call->workflow, err) < 0)
		return -1;
	return check_utf8("context file", call->context_file, err);
}

static void run_step_log_text(void *data, const char *text)
{
	(void)data;
	error_log("dev-team: %s", text);
}

/* Each is recorded, like any answer, before the step reads it. */
static int take_results(struct arena *a, struct context_file *f, const struct run_step_call *call,
	struct error *err)
{
	for (size_t i = 0; call->results[i]; i++) {
		struct str all = str_of(call->results[i]);
		size_t eq = str_find(all, STR("="));
		struct answer_offer offer = {.id = arena_dup(a, str_sub(all, 0, eq)),
			.caller = getenv("DEV_TEAM_ACTION"),
			.text = str_sub(all, eq + 1, all.n)};

		if (eq == all.n || !eq)
			return error_set(
				err, ERR_USAGE, "--result must be ACTION=TEXT, not '%.60s'", all.p);
		if (answer_record(f, &offer, err) < 0)
			return -1;
	}
	lease_stop_renewing(f); /* whether the step renews it, the engine decides */
	return 0;
}

int run_read_cap(const char *variable, unsigned *cap, struct error *err)
{
	const char *text = getenv(variable);
	uint64_t n = UINT_MAX;

	if (text && *text && !number_parse(str_of(text), 0, 1000000, &n))
		return error_set(err, ERR_USAGE,
			"%s must be a whole number from 0 to 1000000, not '%.60s'", variable, text);
	*cap = (unsigned)n;
	return 0;
}

static void set_call(struct engine *e, const struct run_step_call *call)
{
	if (call->research_skill && *call->research_skill)
		e->research_skill = call->research_skill;
	e->repo = call->repo;
	e->returned = call->returned != NULL;
	e->returned_id = call->returned && *call->returned ? call->returned : NULL;
	e->returned_alone = call->returned_alone;
	e->returned_checked = call->returned_checked;
	e->owner = call->owner;
	e->take_over = call->take_over;
	e->new_session = call->new_session;
	e->cancel = call->cancel;
	e->accept_workflow = call->accept_workflow;
	e->idle = call->idle;
	e->parent = call->parent;
	e->spec = call->spec;
}

/* ---- the first step ---- */

/* environment.find_specs(): what the check of the first step has found. */
static int found_specs(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	const struct run_entry *e = data;

	if (!e->first->specs)
		return environment_local.find_specs(data, a, input, answer, err);
	*answer = json_texts((const char *const *)e->first->specs, e->first->n_specs);
	return 0;
}

static void report_fault(const struct run_step_call *call, const char *text)
{
	if (call->fault)
		call->fault(call->fault_data, text);
	else
		error_log("dev-team: %s", text);
}

/* One fault is the error; of several each is reported, and the error says how many. */
static int refuse_first(
	const struct run_step_call *call, const struct preflight *p, struct error *err)
{
	const struct finding *first = NULL;

	for (size_t i = 0; i < p->list.n; i++) {
		const struct finding *it = &p->list.items[i];

		if (it->health != HEALTH_FAIL)
			continue;
		first = first ? first : it;
		if (p->n_failed > 1)
			report_fault(call, it->text);
	}
	if (p->n_failed == 1)
		return error_set(err, first->code, "%s", first->text);
	return error_set(err, first->code,
		"%zu faults keep '%s' from starting: repair them, and run the same command again",
		p->n_failed, call->id);
}

/* Another item of the repository has begun. */
bool run_has_other_items(struct arena *a, const char *document)
{
	struct store_paths paths = {0};
	struct error ignored;
	const char *dir = arena_dup(a, path_dir(document));

	if (store_documents(store_backend(), a, dir, &paths, &ignored) < 0)
		return false;
	for (size_t i = 0; i < paths.n; i++)
		if (strcmp(paths.items[i], document) != 0)
			return true;
	return false;
}

/* What the remote lacks is said where a branch begins (place.c). What cannot be verified without a
 * program for the forge is said to the first item of the repository, and by `doctor`. */
static void report_warnings(struct arena *a, const struct preflight *p, const char *document)
{
	for (size_t i = 0; i < p->list.n; i++) {
		const struct finding *it = &p->list.items[i];

		if (it->health == HEALTH_WARN && strcmp(it->subject, "origin") != 0 &&
			(strcmp(it->subject, "forge") != 0 || !run_has_other_items(a, document)))
			run_step_log_text(NULL, it->text);
	}
}

/* Everything is checked before anybody is paid. */
static int check_first(struct arena *a, const struct run_step_call *call,
	const struct context_file *f, const struct workflow *w, struct run_entry *entry,
	struct preflight *p, struct error *err)
{
	*p = (struct preflight){.repo = call->repo,
		.id = call->id,
		.branch = call->worktree && call->worktree->branch
				  ? call->worktree->branch
				  : arena_printf(a, "dev-team/%s", call->id),
		.workflow = w,
		.in_place = entry->in_place,
		.allow_dirty = call->allow_dirty,
		.validated = call->validated,
		.has_spec = call->parent || context_get(&f->doc, "spec_path").n ||
			    context_get(&f->doc, "parent").n};
	if (entry->in_place && checkout_check_free(a, entry, err) < 0)
		return -1;
	preflight_check(a, p);
	/* The engine reports the lack of a spec itself, and keeps the document, where one can be
	 * named. A run of an id that nothing names leaves no item. */
	if (p->n_failed > (p->spec_unclear && (p->n_specs || !call->in_run)))
		return refuse_first(call, p, err);
	report_warnings(a, p, f->path);
	entry->remote = &p->remote;
	entry->first = p;
	return 0;
}

/* The places where roles and skills are looked for. */
struct role_places {
	struct arena *arena;
	const char *root, *repo;
};

/* A name with a prefix may belong to another plugin, whose files are not known. */
static size_t check_role(const struct role_places *p, const char *file,
	const struct declared_action *it, bool skill, struct buf *out)
{
	const char *name = skill ? it->skill : it->agent;
	struct instructions found = {0};
	struct error err = {0};
	int rc = skill ? instructions_skill(p->arena, p->root, p->repo, name, NULL, &found, &err)
		       : instructions_agent(p->arena, p->root, p->repo, name, &found, &err);

	if (rc == 0 && (found.path || strchr(name, ':')))
		return 0;
	buf_addf(out, "%s:%u:%u: ", file, it->line, it->col);
	if (rc < 0)
		buf_addf(out, "%s\n", err.text);
	else
		buf_addf(out,
			"unknown %s '%s': the plugin, '%s/.claude' and '~/.claude' define %s\n",
			skill ? "skill" : "agent", name, p->repo,
			instructions_names(p->arena, p->root, p->repo, skill));
	return 1;
}

/* `repo` NULL: the one around the working directory. */
static size_t check_roles(struct arena *a, const struct workflow *w, const char *plugin_root,
	const char *repo, struct buf *out)
{
	struct role_places p = {.arena = a};
	struct error ignored;
	size_t n = 0;

	if (locate_plugin(a, plugin_root, &p.root, &ignored) < 0)
		return 0;
	if (locate_repository(a, repo, &p.repo, &ignored) < 0)
		p.repo = ".";
	if (w->reviewer)
		n += check_role(&p, w->file,
			&(struct declared_action){.agent = w->reviewer,
				.line = w->places.reviewer.line,
				.col = w->places.reviewer.col},
			false, out);
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->declared[i].n; k++) {
			const struct declared_action *it = &w->declared[i].items[k];
			const struct manifest *m = w->declared[i].manifest;
			const struct manifest_persona *actor;

			if (!it->agent)
				continue;
			actor = m ? m->nodes[k].actor : NULL;
			if (!m || (actor && actor->role)) /* a persona need not have a file */
				n += check_role(&p, w->file, it, false, out);
			if (it->skill)
				n += check_role(&p, w->file, it, true, out);
		}
	return n;
}

static size_t count_led(const struct manifest *m, size_t node)
{
	size_t n = 0;

	for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++)
		n += m->nodes[m->edges[m->out_edges[k]].to_node].persona != NULL;
	return n;
}

/* The client starts its agents itself; and only root runs programs as others. */
static int check_user(const struct run_step_call *call, const struct workflow *w, struct error *err)
{
	const struct manifest *m = w->n_declared ? w->declared->manifest : NULL;
	bool agents = false, own;

	if (!m || !m->drop_uid)
		return 0;
	own = m->drop_uid == geteuid() && m->drop_gid == getegid();
	for (size_t i = 0; i < m->n_nodes; i++)
		agents |= m->nodes[i].actor != NULL;
	if (agents && !call->in_run)
		return error_at(err, w->file, m->drop_line, m->drop_col,
			"'dropUid' does not act on agents that the client starts: 'dev-team run "
			"--harness NAME' starts them as user %u",
			m->drop_uid);
	if (geteuid() && !own)
		return error_at(err, w->file, m->drop_line, m->drop_col,
			"only root runs programs as user %u, group %u: run dev-team as root or as "
			"that user",
			m->drop_uid, m->drop_gid);
	return 0;
}

/* The limits of the environment hold for each manifest of the tree. */
static int check_caps(const struct workflow *w, struct buf *faults, size_t *n, struct error *err)
{
	const struct manifest *m = w->n_declared ? w->declared->manifest : NULL;
	unsigned depth, children;

	if (!m)
		return 0;
	if (run_read_cap(RUN_DEPTH_VARIABLE, &depth, err) < 0 ||
		run_read_cap(RUN_CHILDREN_VARIABLE, &children, err) < 0)
		return -1;
	for (size_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].depth > depth) {
			buf_addf(faults,
				"%s:%u:%u: block '%s' is %zu deep, above " RUN_DEPTH_VARIABLE
				", %u\n",
				w->file, m->blocks[i].line, m->blocks[i].col, m->blocks[i].name,
				m->blocks[i].depth, depth);
			++*n;
		}
	for (size_t i = 0; i < m->n_nodes; i++)
		if (m->nodes[i].persona && count_led(m, i) > children) {
			buf_addf(faults,
				"%s:%u:%u: node '%s' leads to %zu others, "
				"above " RUN_CHILDREN_VARIABLE ", %u\n",
				w->file, m->nodes[i].line, m->nodes[i].col, m->nodes[i].id,
				count_led(m, i), children);
			++*n;
		}
	return 0;
}

/* What keeps an item from a step with this workflow; adds the number of faults to *n. */
static int check_beginning(struct arena *a, const struct run_step_call *call,
	const struct workflow *w, struct buf *out, size_t *n, struct error *err)
{
	if (check_user(call, w, err) < 0 || check_caps(w, out, n, err) < 0)
		return -1;
	*n += workflow_check_tasks(w, steps_builtin(), out);
	if (!call->scripted)
		*n += check_roles(a, w, call->plugin_root, call->repo, out);
	return 0;
}

static size_t check_children(struct arena *a, const struct run_step_call *call,
	const struct workflow *w, struct buf *out);

/* Refuses unknown agents and skills, agents without a task, and children that could not begin or
 * without an end; checks each text of the workflow once. */
static int run_step_check_agents(struct arena *a, const struct run_step_call *call,
	const struct engine *e, struct error *err)
{
	CLEANUP(buf_release) struct buf faults = BUF_INIT;
	struct str rest, line;
	bool new;
	size_t n = 0;

	if ((!e->workflow->n_declared && !e->workflow->reviewer) || e->cancel)
		return 0;
	if (check_user(call, e->workflow, err) < 0 || engine_workflow_is_new(e, &new, err) < 0)
		return -1;
	if (!new)
		return 0;
	if (check_beginning(a, call, e->workflow, &faults, &n, err) < 0)
		return -1;
	if (!e->parent)
		n += check_children(a, call, e->workflow, &faults);
	rest = buf_str(&faults);
	while (n > 1 && str_line(&rest, &line))
		report_fault(call, arena_dup(a, line));
	if (n > 1)
		return error_set(err, ERR_INPUT,
			"%zu faults keep '%s' from a step with this workflow", n, e->id);
	return n ? error_set(err, ERR_INPUT, "%s", arena_dup(a, str_trim(buf_str(&faults)))) : 0;
}

/* A run holds the item as long as its own process lives; the terminal lives on when it was killed.
 */
static const char *run_client(void *data, struct arena *a)
{
	const struct run_entry *e = data;

	return arena_dup(a, str_of(e->call->client));
}

/* An item whose first step was refused has not begun either: nothing was requested in the state
 * behind the initial one. */
static bool is_first(const struct context_file *f, const struct workflow *w)
{
	const struct workflow_edge *first = workflow_only_edge(w, w->initial);
	struct str state = context_get(&f->doc, "state");

	return f->created || str_is(state, w->initial) ||
	       (first && str_is(state, first->to) &&
		       context_count(&f->doc, "actions_dispatched") == 0);
}

enum { SLOTS_MOST = 20 };

/* Of a manifest: a port for each attempt of a node that is a work item, if there is room for all.
 */
static unsigned count_slots(const struct workflow *w)
{
	const struct manifest *m = w->n_declared ? w->declared->manifest : NULL;
	size_t n = 0;

	for (size_t i = 0; m && i < m->n_nodes; i++)
		if (w->declared->items[i].child)
			n += 1 + m->nodes[i].max_retries;
	return n <= SLOTS_MOST ? (unsigned)n : 0;
}

static int step_locked(struct arena *a, const struct run_step_call *call, struct context_file *f,
	const struct workflow *w, struct buf *out, struct error *err)
{
	struct run_entry entry = {.arena = a,
		.repo = call->repo,
		.call = call,
		.document =
			arena_dup(a, str_of(f->path)), /* a repeated save opens the file again */
		.file = f,
		.in_place = call->in_place || (!w->worktree && !call->own_worktree),
		.slots = count_slots(w),
		.plugin_root = call->plugin_root};
	struct environment environment = environment_local;
	struct preflight first;
	struct engine e = engine_make(f, w, steps_find, &environment, call->id);

	set_call(&e, call);
	if (keep_workflow(a, call, f, &e.workflow_name, err) < 0)
		return -1;
	if (w->n_declared && w->declared->manifest &&
		(run_read_cap(RUN_RETRIES_VARIABLE, &e.retry_cap, err) < 0 ||
			run_read_cap(RUN_MERGES_VARIABLE, &e.merge_cap, err) < 0))
		return -1;
	environment.data = &entry;
	environment.enter = run_place_enter;
	environment.evidence = run_place_evidence;
	environment.carry_out = run_gate_carry_out;
	environment.say = run_step_log_text;
	if (call->client)
		environment.client = run_client;
	environment.refuted = call->refuted;
	environment.may_dispatch = run_may_dispatch;
	if (call->in_place && call->own_worktree)
		return error_set(err, ERR_USAGE, "--worktree and --in-place exclude each other");
	if (call->allow_dirty && !entry.in_place)
		return error_set(err, ERR_USAGE, "--allow-dirty needs --in-place");
	if (f->created && call->results)
		return error_set(
			err, ERR_STATE, "'%s' does not exist yet: nothing is outstanding", f->path);
	if (call->cancel &&
		(engine_admit(&e, err) < 0 || run_end_children(a, call, f, true, err) < 0))
		return -1;
	if (call->results && (engine_admit(&e, err) < 0 || take_results(a, f, call, err) < 0))
		return -1;
	if (run_step_check_agents(a, call, &e, err) < 0)
		return -1;
	if (is_first(f, w) && !call->cancel) {
		if (engine_admit(&e, err) < 0 ||
			check_first(a, call, f, w, &entry, &first, err) < 0)
			return -1;
		environment.find_specs = found_specs;
	}
	if (engine_step(&e, out, err) < 0 || run_end_children(a, call, f, false, err) < 0)
		return -1;
	run_gate_leave(a, call, f);
	if (entry.notice)
		run_step_log_text(NULL, entry.notice);
	return run_quota_denied(&entry, buf_str(out), err);
}

static bool run_step_is_ordered(const struct workflow *w, const struct context_file *f)
{
	const struct workflow_state *st = workflow_state(w, context_get(&f->doc, "state").p);

	return st && st->declared && st->declared->order;
}

/* `BEFORE ID AFTER` */
static const char *step_command(
	struct arena *a, const struct run_step_call *call, const char *before, const char *after)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, before);
	status_add_address(&text, call->id, call->context_file, call->repo);
	status_add_repository(&text, call->repo);
	buf_adds(&text, after);
	return arena_dup(a, buf_str(&text));
}

/* A run is repeated by one command, after an answer by the run's own. */
static const char *run_continuation(
	struct arena *a, const struct run_step_call *call, const struct context_file *f)
{
	return context_get(&f->doc, "question").n
		       ? step_command(a, call, "dev-team answer ",
				 " 'YOUR ANSWER', then the same command again")
		       : step_command(a, call, failure_verb(f), "");
}

const char *run_step_continuation(
	struct arena *a, const struct run_step_call *call, const char *repair)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (repair)
		buf_addf(&text, "%s && ", repair);
	buf_add_argument(&text, "dev-team step ", call->id);
	buf_add_argument(&text, " --workflow ", call->workflow);
	buf_add_argument(&text, " --repo ", call->repo);
	buf_add_argument(&text, " --context-file ", call->context_file);
	if (call->owner)
		buf_add_argument(&text, " --owner ", call->owner);
	buf_adds(&text, call->own_worktree ? " --worktree" : "");
	buf_adds(&text, call->in_place ? " --in-place" : "");
	buf_adds(&text, call->allow_dirty ? " --allow-dirty" : "");
	return arena_dup(a, buf_str(&text));
}

/* Adds to a `done` why the run has failed, and how it goes on. A run waits by itself. */
static void explain(struct arena *a, const struct run_step_call *call, const struct context_file *f,
	const char *initial, struct buf *out)
{
	CLEANUP(json_free) json *array = NULL;
	struct failure why;
	struct error ignored;
	json *done;

	if (!str_starts(buf_str(out), "[{\"action\":\"done\"") ||
		json_parse(&array, buf_str(out), &ignored) < 0)
		return;
	done = (json *)json_at(array, 0);
	if (json_get(done, "for"))
		JSON_SET(done,
			JSON_TEXT("reason", failure_waiting_reason(a, f, json_get_str(done, "id"),
						    json_get_str(done, "reason"))),
			JSON_TEXT("continue", step_command(a, call, "dev-team approve ", "")));
	else if (json_str_is(done, "result", "waiting") && !call->in_run)
		json_put_str(done, "continue", str_of(run_step_continuation(a, call, NULL)));
	if (json_str_is(done, "result", "failed")) {
		failure_explain(a, f, initial, &why);
		JSON_ADD(done, JSON_IF(why.limit, JSON_TEXT("limit", why.limit)),
			JSON_IF(why.log, JSON_TEXT("log", why.log)),
			JSON_IF(why.words, JSON_TEXT("last_words", why.words)),
			JSON_TEXT("continue",
				call->in_run ? run_continuation(a, call, f)
					     : run_step_continuation(a, call, why.repair)));
	}
	buf_clear(out);
	json_print(out, array);
}

int run_step_item(
	struct arena *a, const struct run_step_call *call, struct buf *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct workflow w;
	struct str landed;

	if (manifest_workflow_load(a, call->workflow, &w, err) < 0 ||
		manifest_check_run(&w, err) < 0 ||
		context_open(&f, call->context_file,
			call->cancel ? CONTEXT_MUST_EXIST : CONTEXT_MAY_CREATE, err) < 0)
		return -1;
	if ((f.created && context_is_lost(&f, err)) || step_locked(a, call, &f, &w, &line, err) < 0)
		return -1;
	if (call->ordered)
		*call->ordered = run_step_is_ordered(&w, &f);
	if (call->ended)
		*call->ended = engine_is_terminal(&w, context_get(&f.doc, "state").p);
	explain(a, call, &f, w.initial, &line);
	buf_add(out, buf_str(&line));
	landed = context_get(&f.doc, "landed");
	if (landed.n && engine_is_terminal(&w, context_get(&f.doc, "state").p))
		run_return_worktree(a, call, landed);
	return (call->cancel || call->run) && engine_is_terminal(&w, context_get(&f.doc, "state").p)
		       ? run_quota_end_item(a, call->context_file, call->id, err)
		       : 0;
}

/* ---- cancel ---- */

struct last_workflow {
	struct arena *arena;
	const char *path;
};

/* A context_visit. */
static bool find_workflow(const json *event, void *data)
{
	struct last_workflow *l = data;

	if (json_str_is(event, "type", "workflow") || json_str_is(event, "type", "started"))
		l->path = arena_dup(l->arena, str_of(json_get_str(event, "workflow")));
	return !l->path;
}

int run_step_workflow(struct arena *a, const char *document, const char *repo,
	const char **workflow, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct last_workflow last = {.arena = a};
	struct item_place place;
	const char *path, *name, *shipped;
	struct error ignored;
	struct str base;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		place_load(a, &f, &place, err) < 0 ||
		context_read_events(&f, "\"workflow\"", find_workflow, &last, err) < 0)
		return -1;
	repo = repo ? repo : place.repo;
	if (!last.path)
		return error_set(err, ERR_STATE,
			"the history of '%s' names no workflow: give --workflow", document);
	base = path_base(last.path);
	path = str_starts(str_of(last.path), "./") ? path_join(a, repo ? repo : ".", last.path + 2)
	       : strchr(last.path, '/')            ? path_resolve(a, f.dir, last.path)
						   : NULL;
	if (str_ends(base, ".md") || manifest_is_path(base))
		base.n = (size_t)((const char *)memrchr(base.p, '.', base.n) - base.p);
	name = arena_dup(a, base);
	*workflow = path ? path : name;
	/* On another host it may be in another place. */
	if (path && !path_exists(path) && path_is_id(base) &&
		locate_workflow(a, name, NULL, repo, &shipped, &ignored) == 0)
		*workflow = name;
	return 0;
}

bool run_load_workflow(
	struct arena *a, const char *document, const char *repo, struct workflow *out)
{
	struct error ignored;
	const char *path;

	return run_step_workflow(a, document, repo, &path, &ignored) == 0 &&
	       locate_workflow(a, path, NULL, repo, &path, &ignored) == 0 &&
	       manifest_workflow_load(a, path, out, &ignored) == 0;
}

int run_cancel(struct arena *a, struct run_step_call *call, struct error *err)
{
	CLEANUP(buf_release) struct buf array = BUF_INIT;
	const char *document;

	call->cancel = true;
	return status_find(a, call->id, call->repo, call->context_file, &document, err) < 0 ||
			       run_step_resolve(a, call, err) < 0
		       ? -1
		       : run_step(a, call, &array, err);
}

int run_end_all_children(struct arena *a, struct run_step_call *call, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	call->cancel = true;
	if (context_open(&f, call->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (!run_begun_children(a, &f).n)
		return 0;
	return run_step_resolve(a, call, err) < 0 ? -1 : run_end_children(a, call, &f, true, err);
}

/* A policy file of the repository is read when the script runs; the shipped names are known. */
static size_t check_policy(struct arena *a, const struct workflow *w, struct buf *out)
{
	const struct workflow_security *s = &w->security;
	struct policy policy;
	struct error err = {0};

	if (!s->policy || strchr(s->policy, '/') || str_ends(str_of(s->policy), ".yaml") ||
		str_ends(str_of(s->policy), ".yml") ||
		policy_load(a, s->policy, &policy, &err) == 0)
		return 0;
	buf_addf(out, "%s:%u:%u: %s\n", w->file, s->line, s->col, err.text);
	return 1;
}

/* ---- the workflows of children ---- */

/* A workflow whose children are looked at. */
struct above {
	const char *file; /* without links */
	const struct above *up;
	unsigned depth;
};

struct workflow_tree {
	struct arena *arena;
	const char *root, *repo;
	const struct run_step_call *call; /* which looks for what refuses a step; NULL: for all */
	struct buf *out;
	size_t n; /* faults */
	VEC(struct above) seen;
};

static size_t check_one(
	struct arena *a, const struct workflow *w, const char *plugin_root, struct buf *out)
{
	size_t n = workflow_check(w, steps_builtin(), out);

	return n + check_policy(a, w, out) + check_roles(a, w, plugin_root, NULL, out);
}

static const char *real_path(struct arena *a, const char *path)
{
	CLEANUP(base_free) char *real = realpath(path, NULL);

	return arena_dup(a, str_of(real ? real : path));
}

static void add_way(struct buf *out, const struct above *to)
{
	if (to->up)
		add_way(out, to->up);
	buf_addf(out, "%s'%s'", to->up ? " -> " : "", path_base(to->file).p);
}

static void tree_fault(struct workflow_tree *t, const char *file, const struct declared_action *it,
	const struct above *way, const char *what)
{
	buf_addf(t->out, "%s:%u:%u: child '%s': %s", file, it->line, it->col, it->child, what);
	if (way)
		add_way(t->out, way);
	buf_addc(t->out, '\n');
	t->n++;
}

static void check_below(struct workflow_tree *t, const struct workflow *w, const struct above *at);

/* At its place, else at that of the child in the workflow above. */
static void add_error(struct workflow_tree *t, const char *file, const struct declared_action *it,
	const struct error *err)
{
	char line[sizeof(err->file) + sizeof(err->text)];

	if (!err->line) {
		tree_fault(t, file, it, NULL, err->text);
		return;
	}
	error_format(err, line, sizeof(line));
	buf_addf(t->out, "%s\n", line);
	t->n++;
}

/* Another child may have it as well; only one that is deeper can find more. */
static void run_step_check_child(struct workflow_tree *t, const char *file,
	const struct declared_action *it, const char *path, const struct above *at)
{
	struct error err = {0};
	struct workflow w;
	bool known = false;

	for (size_t i = 0; i < t->seen.n; i++) {
		if (strcmp(t->seen.items[i].file, at->file) != 0)
			continue;
		if (t->seen.items[i].depth >= at->depth)
			return;
		known = true;
	}
	vec_push_in(t->arena, &t->seen, *at);
	if (manifest_workflow_load(t->arena, path, &w, &err) < 0 ||
		(t->call && !known &&
			(manifest_check_run(&w, &err) < 0 ||
				check_beginning(t->arena, t->call, &w, t->out, &t->n, &err) < 0))) {
		add_error(t, file, it, &err);
		return;
	}
	if (!known && !t->call)
		t->n += check_one(t->arena, &w, t->root, t->out);
	check_below(t, &w, at);
}

static void check_item(struct workflow_tree *t, const struct workflow *w,
	const struct declared_action *it, const struct above *at)
{
	struct above below = {.up = at, .depth = at->depth + 1};
	struct error err = {0};
	const char *path;

	if (run_child_workflow(t->arena, w->file, it->workflow, t->root, t->repo, &path, &err) <
		0) {
		tree_fault(t, w->file, it, NULL, err.text);
		return;
	}
	below.file = real_path(t->arena, path);
	for (const struct above *u = at; u; u = u->up)
		if (strcmp(u->file, below.file) == 0) {
			tree_fault(t, w->file, it, &below, "the workflows run in a circle: ");
			return;
		}
	if (below.depth > RUN_DEPTH_MAX)
		tree_fault(t, w->file, it, &below, "children are at most 8 deep: ");
	else
		run_step_check_child(t, w->file, it, path, &below);
}

static void check_below(struct workflow_tree *t, const struct workflow *w, const struct above *at)
{
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->declared[i].n; k++)
			if (w->declared[i].items[k].child)
				check_item(t, w, &w->declared[i].items[k], at);
}

static size_t check_children(struct arena *a, const struct run_step_call *call,
	const struct workflow *w, struct buf *out)
{
	struct workflow_tree t = {.arena = a,
		.root = call->plugin_root,
		.repo = call->repo,
		.call = call,
		.out = out};
	const struct above top = {.file = real_path(a, w->file)};

	check_below(&t, w, &top);
	return t.n;
}

size_t run_workflow_check(
	struct arena *a, const struct workflow *w, const char *plugin_root, struct buf *out)
{
	struct workflow_tree t = {.arena = a, .root = plugin_root, .out = out};
	const struct above top = {.file = real_path(a, w->file)};
	struct error ignored;

	(void)locate_repository(a, NULL, &t.repo, &ignored);
	t.n = check_one(a, w, plugin_root, out);
	check_below(&t, w, &top);
	return t.n;
}

bool run_step_holds(const struct run_step_call *call, const struct lease_holder *h)
{
	return lease_held_by(h, call->owner) &&
	       (!call->client || !h->client || strcmp(h->client, call->client) == 0);
}

/* A context_change. */
static int release_lease(struct context_file *f, void *call, struct error *err)
{
	struct lease_holder h;

	if (lease_read(f, &h, err) < 0 || !run_step_holds(call, &h))
		return -1;
	(void)context_op(f, "give back");
	lease_release(f, &h);
	return context_log(f, err);
}

void run_step_release_lease(const struct run_step_call *call)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	if (context_open(&f, call->context_file, CONTEXT_MUST_EXIST, &ignored) == 0)
		(void)context_update(&f, release_lease, (void *)(uintptr_t)call, &ignored);
}

/* Of an item that waited before its first lease; the first step after the wait takes its own. */
enum { FIRST_LEASE_S = 7200 };

struct lease_keeping {
	const struct run_step_call *call;
	bool wait;
};

/* A context_change. */
static int keep_lease(struct context_file *f, void *data, struct error *err)
{
	const struct lease_keeping *k = data;
	struct lease_holder h;

	if (lease_read(f, &h, err) < 0)
		return -1;
	if (h.live ? !run_step_holds(k->call, &h) || h.until - f->now > h.ttl_s / 2 : !k->wait)
		return 0;
	(void)context_op(f, "keep");
	if (h.live)
		lease_renew(f, &h);
	else
		lease_take(
			f, &h, k->call->owner, k->call->client, h.ttl_s ? h.ttl_s : FIRST_LEASE_S);
	return context_log(f, err);
}

void run_step_keep_lease(const struct run_step_call *call, const char *document, bool wait)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_keeping k = {call, wait};
	struct error ignored;

	if (context_open(&f, document, CONTEXT_MUST_EXIST, &ignored) == 0)
		(void)context_update(&f, keep_lease, &k, &ignored);
}

bool run_step_ordered(const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(arena_release) struct arena a = {0};
	const char *workflow;
	struct workflow w;
	struct error ignored;

	return run_step_workflow(&a, document, NULL, &workflow, &ignored) == 0 &&
	       locate_workflow(&a, workflow, NULL, NULL, &workflow, &ignored) == 0 &&
	       manifest_workflow_load(&a, workflow, &w, &ignored) == 0 &&
	       context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       run_step_is_ordered(&w, &f);
}
