#include "src/base/number.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/tick/admission.h"

struct tick_options {
	const char *repo, *task;
	bool dry_run, json;
};

static const struct option tick_options[] = {
	OPTION_FLAG(struct tick_options, dry_run, "dry-run",
		"start nothing: print which tasks would be admitted, and why others are not"),
	OPTION_TEXT(struct tick_options, task, "task", "ID",
		"only this task, also if it is not on the frontier"),
	CLI_JSON(struct tick_options),
	CLI_REPO(struct tick_options),
	OPTION_END,
};

static int find_candidates(
	struct invocation *in, const struct backlog *b, struct task_list *list, struct error *err)
{
	const struct tick_options *o = in->values;
	const struct task *t;

	if (!o->task) {
		backlog_frontier(b, backlog_order(), true, list);
		return 0;
	}
	if (backlog_require(b, o->task, &t, err) < 0)
		return -1;
	*list = (struct task_list){0};
	vec_push_in(in->arena, list, t);
	return 0;
}

static json *result_json(
	const struct admission_facts *f, const struct admissions *all, size_t admitted)
{
	json *list = json_array();

	for (size_t i = 0; i < all->n; i++)
		json_push(list, admission_json(&all->items[i]));
	return JSON_OBJECT(JSON_TEXT("mode", "dry-run"), JSON_INT("candidates", all->n),
		JSON_INT("admitted", admitted), JSON_VALUE("dispatched", json_array()),
		JSON_IF(f->pulls_fault, JSON_TEXT("pullRequests", f->pulls_fault)),
		JSON_VALUE("tasks", list));
}

static int run_tick(struct invocation *in, struct error *err)
{
	CLEANUP(admissions_release) struct admissions all = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct tick_options *o = in->values;
	struct admission_facts facts;
	struct task_list list;
	struct backlog b;
	size_t admitted = 0;
	const char *repo;

	if (!o->dry_run)
		return error_set(err, ERR_USAGE,
			"'tick' needs --dry-run: it only prints which tasks it would admit");
	if (env_is_off("AI_SDLC_AUTONOMOUS_ORCHESTRATOR"))
		return error_set(err, ERR_STATE,
			"AI_SDLC_AUTONOMOUS_ORCHESTRATOR switches the orchestrator off: unset it");
	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		backlog_read(in->arena, repo, &b, err) < 0 ||
		find_candidates(in, &b, &list, err) < 0 || admission_gather(&b, &facts, err) < 0)
		return -1;
	if (facts.pulls_fault)
		error_log("the open pull requests are not known: %s", facts.pulls_fault);
	admission_run(&facts, &list, 0, &all);
	for (size_t i = 0; i < all.n; i++) {
		admission_add_trace(&text, &all.items[i]);
		admitted += !all.items[i].refused && !all.items[i].failed;
	}
	buf_addf(&text, "%zu of %zu tasks admitted\n", admitted, all.n);
	cli_put_result(in->out, o->json, buf_str(&text),
		o->json ? result_json(&facts, &all, admitted) : NULL);
	return 0;
}

const struct verb verb_tick = {
	.name = "tick",
	.group = "Backlog",
	.about = "say which tasks of the backlog would be started now, and why others are not",
	.details =
		"Looks at the tasks of the frontier in their order, and at tasks with 'stacked'. "
		"Ten filters decide; the first that rejects a task ends its trace. The open "
		"pull requests are read with one call of 'gh'; where that fails they count as "
		"none, which standard error says.",
	.examples = "dev-team tick --dry-run\n"
		    "dev-team tick --dry-run --task DEMO-7 --json",
	.options = {tick_options},
	.size = sizeof(struct tick_options),
	.run = run_tick,
};
