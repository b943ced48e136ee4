#include "src/backlog/backlog.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/sys/dot.h"

struct deps_options {
	const char *repo, *format;
	bool json, all;
};

static const struct option common_options[] = {
	CLI_REPO(struct deps_options),
	OPTION_END,
};
static const struct option json_options[] = {
	CLI_JSON(struct deps_options),
	OPTION_END,
};
static const struct option draw_options[] = {
	OPTION_CHOICE(struct deps_options, format, "format", "dot|svg",
		"the output; default: svg, which needs Graphviz"),
	OPTION_FLAG(struct deps_options, all, "all", "also done tasks that no open one needs"),
	OPTION_END,
};
static const struct deps_options defaults = {.format = "svg"};

static int deps_read_backlog(struct invocation *in, struct backlog *b, struct error *err)
{
	const struct deps_options *o = in->values;
	const char *repo;

	if (locate_repository(in->arena, o->repo, &repo, err) < 0)
		return -1;
	return backlog_read(in->arena, repo, b, err);
}

/* A line for each task. */
static void put_tasks(struct invocation *in, const struct backlog *b, const char *key,
	const struct task_list *list)
{
	const struct deps_options *o = in->values;
	json *all = json_array();

	for (size_t i = 0; i < list->n; i++) {
		const struct task *t = list->items[i];

		buf_addf(in->out, "%-12s %-8s %3u  %s\n", t->id ? t->id : "-",
			task_priority_word(t->priority), t->critical_path,
			t->title ? t->title : t->file);
		if (o->json)
			json_push(all, cli_task_json(in->arena, b, t));
	}
	cli_put_json(in, o->json, JSON_OBJECT(JSON_VALUE(key, all)));
}

static int run_frontier(struct invocation *in, struct error *err)
{
	struct task_list list;
	struct backlog b;

	if (deps_read_backlog(in, &b, err) < 0)
		return -1;
	backlog_frontier(&b, backlog_order(), false, &list);
	put_tasks(in, &b, "frontier", &list);
	return 0;
}

static int run_reach(struct invocation *in, const char *key,
	void (*find)(const struct backlog *, const struct task *, struct task_list *),
	struct error *err)
{
	struct task_list list;
	const struct task *t;
	struct backlog b;

	if (deps_read_backlog(in, &b, err) < 0 || backlog_require(&b, in->words[0], &t, err) < 0)
		return -1;
	find(&b, t, &list);
	put_tasks(in, &b, key, &list);
	return 0;
}

/* What does not exist is no task that a list could have. */
static void find_blockers(const struct backlog *b, const struct task *t, struct task_list *out)
{
	for (size_t i = 0; i < t->n_dependencies; i++)
		if (t->dependencies[i].task == TASK_NONE)
			error_log("%s needs '%s', which does not exist", t->id,
				t->dependencies[i].id);
	backlog_blockers(b, t, out);
}

static int run_blockers(struct invocation *in, struct error *err)
{
	return run_reach(in, "blockers", find_blockers, err);
}

static int run_impact(struct invocation *in, struct error *err)
{
	return run_reach(in, "impact", backlog_impact, err);
}

static json *cycle_json(const struct backlog_problem *p)
{
	json *ids = backlog_ids_json(&p->cycle);

	json_push_str(ids, str_of(p->task->id));
	return ids;
}

static int run_validate(struct invocation *in, struct error *err)
{
	const struct deps_options *o = in->values;
	struct backlog_problems problems;
	json *dangling, *cycles;
	struct backlog b;

	if (deps_read_backlog(in, &b, err) < 0)
		return -1;
	backlog_validate(&b, &problems);
	dangling = json_array();
	cycles = json_array();
	for (size_t i = 0; i < problems.n; i++) {
		const struct backlog_problem *p = &problems.items[i];

		backlog_problem_add(in->out, p);
		buf_addc(in->out, '\n');
		if (p->missing)
			json_push(dangling, JSON_OBJECT(JSON_TEXT("source", p->task->id),
						    JSON_TEXT("missing", p->missing->id)));
		else
			json_push(cycles, cycle_json(p));
	}
	if (!problems.n)
		buf_addf(in->out, "good: %zu task%s\n", b.n, b.n == 1 ? "" : "s");
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_BOOL("ok", !problems.n), JSON_VALUE("dangling", dangling),
			JSON_VALUE("cycles", cycles)));
	return problems.n ? ERR_CHECK : 0;
}

static int deps_run_draw(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf dot = BUF_INIT;
	const struct deps_options *o = in->values;
	struct backlog b;

	if (deps_read_backlog(in, &b, err) < 0)
		return -1;
	backlog_draw_dot(&b, o->all, &dot);
	if (strcmp(o->format, "svg") == 0)
		return dot_draw_svg(buf_str(&dot), "--format dot", in->out, err);
	buf_add(in->out, buf_str(&dot));
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("frontier", NULL, run_frontier,
		"list the tasks that can be started, the most urgent first",
		.details = "A line for each task: its id, its effective priority, the number of "
			   "open tasks in the longest chain that waits for it, its title. With "
			   "AI_SDLC_DEPS_COMPOSITION=off they are in the order of their ids.",
		.options = {common_options, json_options}),
	CLI_SUBCOMMAND("validate", NULL, run_validate,
		"print dependencies that do not exist, and cycles; exit status 1 if there is one",
		.options = {common_options, json_options}),
	CLI_SUBCOMMAND("blockers", "ID", run_blockers,
		"list the open tasks that must be done before a task",
		.options = {common_options, json_options}),
	CLI_SUBCOMMAND("impact", "ID", run_impact, "list the open tasks that wait for a task",
		.options = {common_options, json_options}),
	CLI_SUBCOMMAND("draw", NULL, deps_run_draw,
		"print the graph of the open tasks as SVG or DOT",
		.options = {common_options, draw_options}),
	NULL,
};

const struct verb verb_deps = {
	.name = "deps",
	.group = "Backlog",
	.about = "show what the tasks of the backlog wait for, and which can be started",
	.examples = "dev-team deps frontier\n"
		    "dev-team deps draw >backlog.svg",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.subcommands = subcommands,
};
