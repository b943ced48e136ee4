#include "src/base/number.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/sys/path.h"
#include "src/run/status.h"
#include "src/tick/memory.h"
#include "src/tick/tick.h"

struct tick_options {
	struct tick_start_call start; /* first: the agents */
	const char *task_file;
	bool dry_run, json, queue, poll;
	bool once; /* as always */
};

static const struct option tick_options[] = {
	OPTION_FLAG(struct tick_options, dry_run, "dry-run",
		"start nothing: print which tasks would be admitted, and why others are not"),
	OPTION_NUMBER(struct tick_options, start.tick.max_concurrent, "max-concurrent", "N", 1,
		CONCURRENT_MAX, "how many tasks are worked on at the same time; default: 1"),
	OPTION_FLAG(struct tick_options, once, "once",
		"print one array, and leave the next call to the caller; a tick always does"),
	OPTION_FLAG(struct tick_options, queue, "queue",
		"print no work: put the requests on the board; --max-concurrent is how many tasks "
		"are on it; default: 20"),
	OPTION_FLAG(struct tick_options, poll, "poll",
		"with --owner: start no tasks, and take what is approved on the board; "
		"--max-concurrent is of how many tasks"),
	OPTION_TEXT(struct tick_options, start.tick.task, "task", "ID",
		"only this task, or these, separated by commas, also if they are not on the "
		"frontier"),
	OPTION_TEXT(struct tick_options, task_file, "task-from-file", "PATH",
		"only the task of this file"),
	OPTION_OPTIONAL(struct tick_options, start.tick.result, "continue-from-result", "PATH",
		"first record the result in PATH; default: what 'dev-team result write' has "
		"written"),
	OPTION_OPTIONAL(struct tick_options, start.tick.returned, "returned", "ACTION",
		"the agents of the last array have returned: what has no answer counts; with "
		"ACTION[,ACTION]: only these, while they are outstanding"),
	OPTION_TEXT(struct tick_options, start.tick.owner, "owner", "NAME",
		"who calls; owns the work items from now on"),
	OPTION_FLAG(struct tick_options, start.tick.take_over, "take-over",
		"with --owner: take the work items from another owner"),
	OPTION_CHOICE(struct tick_options, start.spawner, "spawner",
		"inline|claude-cli|harness|api-key|mock",
		"inline, claude-cli: the caller carries out the actions; others: this command "
		"does, as 'start' does; default: $AI_SDLC_ORCHESTRATOR_SPAWNER, else inline"),
	CLI_JSON(struct tick_options),
	OPTION_END,
};
static const struct option place_options[] = {
	CLI_PLUGIN_ROOT(struct run_step_call),
	CLI_REPO(struct run_step_call),
	OPTION_END,
};

static json *tick_result_json(const struct admission_facts *f, const json *rows, size_t admitted)
{
	return JSON_OBJECT(JSON_TEXT("mode", "dry-run"), JSON_INT("candidates", json_len(rows)),
		JSON_INT("admitted", admitted), JSON_VALUE("dispatched", json_array()),
		JSON_IF(f->pulls_fault, JSON_TEXT("pullRequests", f->pulls_fault)),
		JSON_VALUE("tasks", json_copy(rows)));
}

static int dry_run(struct invocation *in, const char *task, struct error *err)
{
	CLEANUP(json_free) json *rows = json_array();
	const struct tick_options *o = in->values;
	CLEANUP(tick_memory_close) struct tick_memory memory = {0};
	struct admission_facts facts = {0};
	struct task_list list;
	struct backlog b;
	size_t admitted = 0;
	const char *repo, *items;

	if (run_place_repository(in->arena, o->start.request.call.repo, NULL, &repo, err) < 0 ||
		status_directory(in->arena, repo, &items, err) < 0 ||
		backlog_read(in->arena, repo, &b, err) < 0 ||
		tick_memory_look(in->arena, items, &memory, err) < 0 ||
		tick_candidates(&b, task, &list, err) < 0 || admission_gather(&b, &facts, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		CLEANUP(admission_release) struct admission d = {.task = list.items[i]};

		d.refused = tick_memory_hold(&memory, d.task);
		if (!d.refused)
			admission_decide(&facts, d.task, &d);
		admission_add_trace(in->out, &d);
		json_push(rows, admission_json(&d));
		admitted += !d.refused && !d.failed;
	}
	buf_addf(in->out, "%zu of %zu tasks admitted\n", admitted, list.n);
	cli_put_json(in, o->json, o->json ? tick_result_json(&facts, rows, admitted) : NULL);
	return 0;
}

/* 0: inline. */
static int check_options(const struct tick_options *o, bool inline_, struct error *err)
{
	const struct tick_call *c = &o->start.tick;
	const struct run_request *q = &o->start.request;
	bool agents =
		q->agents || q->harness || q->pipeline || q->model || q->timeout_s || q->pass_env;

	if (tick_check_enabled(err) < 0)
		return -1;
	if (c->result && c->returned)
		return error_set(
			err, ERR_USAGE, "--returned and --continue-from-result exclude each other");
	if (o->queue && (o->poll || c->returned || c->result || c->owner))
		return error_set(err, ERR_USAGE,
			"--queue carries nothing out: --poll, --owner, --returned and "
			"--continue-from-result do not go with it");
	if (o->poll && !c->owner)
		return error_set(err, ERR_USAGE, "--poll needs --owner");
	if (o->dry_run && (c->returned || c->result || c->owner || c->take_over ||
				  c->max_concurrent || agents || o->start.spawner || o->queue))
		return error_set(err, ERR_USAGE,
			"--dry-run starts nothing: only --task, --json and --repo go with it");
	if (!o->dry_run && o->json)
		return error_set(
			err, ERR_USAGE, "--json needs --dry-run: a tick prints JSON anyway");
	if (inline_ && agents)
		return error_set(err, ERR_USAGE,
			"agents need --spawner harness, api-key or mock: else the caller of a tick "
			"carries its actions out");
	if (!inline_ && !o->dry_run &&
		(c->returned || c->result || c->owner || c->take_over || o->queue))
		return error_set(err, ERR_USAGE,
			"--returned, --continue-from-result, --owner, --take-over and --queue are "
			"for the spawner inline");
	return 0;
}

/* *id: of the task in `file`, a path of the working directory or of the repository. */
static int find_task(
	struct arena *a, const char *repo, const char *file, const char **id, struct error *err)
{
	const char *root, *path = path_absolute(a, file);
	struct backlog b;

	if (locate_repository(a, repo, &root, err) < 0 || backlog_read(a, root, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < b.n; i++)
		if (strcmp(b.tasks[i].file, file) == 0 ||
			strcmp(path_join(a, root, b.tasks[i].file), path) == 0) {
			*id = b.tasks[i].id;
			return *id ? 0 : error_set(err, ERR_INPUT, "%s: the task has no id", file);
		}
	return error_set(err, ERR_INPUT, "--task-from-file: '%s' %s", file,
		path_exists(path) ? "is no task of '" BACKLOG_TASKS "'" : "does not exist");
}

/* As of `step`: each id was requested. */
static int check_requested(struct arena *a, const struct tick_call *c, struct error *err)
{
	struct str rest = str_of(c->returned ? c->returned : ""), one;
	struct run_step_call call = {0};
	const char *repo, *items;

	if (!rest.n)
		return 0;
	if (run_place_repository(a, c->repo, NULL, &repo, err) < 0 ||
		status_directory(a, repo, &items, err) < 0)
		return -1;
	while (str_next_item(&rest, &one)) {
		call.returned = arena_dup(a, one);
		call.context_file =
			arena_printf(a, "%s/%.*s.md", items, (int)str_find(one, STR("/")), one.p);
		if (run_check_returned(a, &call, err) < 0)
			return -1;
	}
	return 0;
}

/* The file may also be the next word. */
static int take_word(const struct invocation *in, struct tick_call *c, struct error *err)
{
	if (in->n && (!c->result || *c->result))
		return error_set(err, ERR_USAGE,
			"tick: unexpected '%.60s': PATH goes with --continue-from-result",
			in->words[0]);
	c->result = in->n ? in->words[0] : c->result;
	return 0;
}

static int run_tick(struct invocation *in, struct error *err)
{
	static const char *const inline_words[] = {"inline", "claude-cli", NULL};
	const struct tick_options *o = in->values;
	struct tick_start_call c = o->start;
	bool inline_;
	int status, rc;

	if (tick_spawner("inline", &c.spawner, err) < 0)
		return -1;
	inline_ = str_in(str_of(c.spawner), inline_words);
	if (check_options(o, inline_, err) < 0 || take_word(in, &c.tick, err) < 0)
		return -1;
	if (c.tick.task && o->task_file)
		return error_set(err, ERR_USAGE, "--task and --task-from-file exclude each other");
	if (o->task_file &&
		find_task(in->arena, c.request.call.repo, o->task_file, &c.tick.task, err) < 0)
		return -1;
	if (o->dry_run)
		return dry_run(in, c.tick.task, err);
	if (inline_) {
		c.tick.mode = o->queue ? TICK_QUEUE : o->poll ? TICK_POLL : TICK_CARRY_OUT;
		c.tick.repo = c.request.call.repo;
		c.tick.plugin_root = c.request.call.plugin_root;
		if (check_requested(in->arena, &c.tick, err) < 0)
			return -1;
		rc = tick(in->arena, &c.tick, in->out, &status, err);
	} else {
		c.max_ticks = 1;
		progress_listen(&c.request);
		rc = tick_start(in->arena, &c, in->out, &status, err);
	}
	return cli_end_ticks(in, rc, status, err);
}

const struct verb verb_tick = {
	.name = "tick",
	.group = "Backlog",
	.about = "step all tasks of the backlog, start those that may begin, and print the actions",
	.details =
		"Prints one line, the array of actions that 'step' prints, of all tasks at once; "
		"each object names its context_file. Carry them out, and call it again. A task is "
		"a work item of its id with the workflow backlog-task.\n"
		"\n"
		"Exit status 0: actions to carry out. 6: nothing to do now; the array says what it "
		"waits for. 7: every task is done, or has an approved pull request. 8: "
		"what decides which tasks may start could not be read.\n"
		"\n"
		"A task is started if it is on the frontier, or has 'stacked', and ten filters "
		"let it pass. The open pull requests are read with one call of 'gh'; where that "
		"fails they count as none, which standard error says. A task that failed is not "
		"started again: 'dev-team retry ID' goes on with it. A task whose step fails five "
		"times in a row is parked until 'dev-team backlog release ID'.",
	.examples = "dev-team tick --max-concurrent 3\n"
		    "dev-team tick --max-concurrent 3 --returned\n"
		    "dev-team tick --dry-run --task DEMO-7 --json",
	.words = "[PATH]",
	.options = {tick_options, cli_agent_options, place_options},
	.size = sizeof(struct tick_options),
	.run = run_tick,
};
