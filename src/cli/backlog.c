#include "src/backlog/backlog.h"
#include "src/cli/cli.h"
#include "src/machine/place.h"
#include "src/run/locate.h"
#include "src/run/status.h"
#include "src/setup/setup.h"
#include "src/sys/git.h"
#include "src/tick/memory.h"
#include "src/verify/attest.h"

struct backlog_options {
	const char *repo, *priority, *key, *description, *state;
	const char **depends_on, **criteria, **labels;
	bool json, squash;
};

#define STATE_WORDS "ready|stacked|waiting|in progress|held|done|broken"

static const struct option common_options[] = {
	CLI_JSON(struct backlog_options),
	CLI_REPO(struct backlog_options),
	OPTION_END,
};
static const struct option repo_options[] = {
	CLI_REPO(struct backlog_options),
	OPTION_END,
};
static const struct option done_options[] = {
	OPTION_FLAG(struct backlog_options, squash, "squash",
		"make one commit of those of the branch that were never pushed"),
	OPTION_END,
};
static const struct option list_options[] = {
	OPTION_CHOICE(struct backlog_options, state, "state", STATE_WORDS,
		"only the tasks in this state; default: all that are not done"),
	OPTION_END,
};
static const struct option new_options[] = {
	OPTION_LIST(struct backlog_options, criteria, "criterion", "TEXT",
		"an acceptance criterion; without one the task is a draft"),
	OPTION_LIST(struct backlog_options, depends_on, "depends-on", "ID",
		"a task that must be done before"),
	OPTION_CHOICE(struct backlog_options, priority, "priority", "low|medium|high|critical",
		"default: medium"),
	OPTION_LIST(struct backlog_options, labels, "label", "WORD", "a label"),
	OPTION_TEXT(struct backlog_options, description, "description", "TEXT",
		"what is to be done; default: the title"),
	OPTION_TEXT(struct backlog_options, key, "key", "KEY",
		"first part of the id; default: as of 'dev-team new'"),
	OPTION_END,
};

static int backlog_read_backlog(struct invocation *in, struct backlog *b, struct error *err)
{
	const struct backlog_options *o = in->values;
	const char *repo;

	if (locate_repository(in->arena, o->repo, &repo, err) < 0)
		return -1;
	return backlog_read(in->arena, repo, b, err);
}

/* ---- a task as JSON ---- */

static json *dependency_ids(const struct task *t)
{
	json *list = json_array();

	for (size_t k = 0; k < t->n_dependencies; k++)
		if (t->dependencies[k].id)
			json_push_str(list, str_of(t->dependencies[k].id));
	return list;
}

static json *fault_lines(const struct task *t)
{
	json *list = json_array();

	for (size_t i = 0; i < t->faults.n; i++) {
		char line[sizeof(struct error)];

		error_format(&t->faults.items[i], line, sizeof(line));
		json_push_str(list, str_of(line));
	}
	return list;
}

json *cli_task_json(struct arena *a, const struct backlog *b, const struct task *t)
{
	struct task_list blockers;

	backlog_blockers(b, t, &blockers);
	return JSON_OBJECT(JSON_TEXT("id", t->id), JSON_TEXT("title", t->title),
		JSON_TEXT("file", t->file), JSON_TEXT("state", task_state_word(t->state)),
		JSON_TEXT("status", t->status_text),
		JSON_TEXT("priority", task_priority_word(t->weight)),
		JSON_TEXT("effectivePriority", task_priority_word(t->priority)),
		JSON_INT("criticalPath", t->critical_path),
		JSON_VALUE("dependencies", dependency_ids(t)),
		JSON_VALUE("blockers", backlog_ids_json(&blockers)),
		JSON_VALUE("references", json_texts(t->references.items, t->references.n)),
		JSON_VALUE("labels", json_texts(t->labels.items, t->labels.n)),
		JSON_IF(t->assignee, JSON_TEXT("assignee", t->assignee)),
		JSON_IF(t->created, JSON_TEXT("created", t->created)),
		JSON_IF(t->updated, JSON_TEXT("updated", t->updated)),
		JSON_IF(t->spec, JSON_TEXT("specRef", t->spec)),
		JSON_IF(t->state != TASK_DONE, JSON_TEXT("refusal", task_refusal(a, t))),
		JSON_IF(t->faults.n, JSON_VALUE("faults", fault_lines(t))));
}

/* ---- list, show ---- */

static void backlog_put_task(struct buf *out, const struct task *t)
{
	buf_addf(out, "%-12s %-11s %-8s ", t->id ? t->id : "-", task_state_word(t->state),
		task_priority_word(t->priority));
	buf_adds(out, t->title ? t->title : t->file);
	cli_end_row(out);
}

/* Files that look like tasks, and are none; `out` NULL: on standard error. */
static void put_strays(const struct backlog *b, struct buf *out)
{
	for (size_t i = 0; i < b->strays.n; i++) {
		const char *line = arena_printf(b->arena,
			"%s:1:1: no task: tasks are files NAME.md in '%s' or '%s' itself: rename "
			"or move it",
			b->strays.items[i], BACKLOG_TASKS, BACKLOG_COMPLETED);

		if (out)
			buf_addf(out, "%s\n", line);
		else
			error_log("%s", line);
	}
}

static bool backlog_is_wanted(const struct task *t, const char *state)
{
	return state ? strcmp(task_state_word(t->state), state) == 0 : t->state != TASK_DONE;
}

static int backlog_run_list(struct invocation *in, struct error *err)
{
	const struct backlog_options *o = in->values;
	struct backlog b;
	json *list;

	if (backlog_read_backlog(in, &b, err) < 0)
		return -1;
	list = json_array();
	for (size_t i = 0; i < b.n; i++) {
		if (!backlog_is_wanted(&b.tasks[i], o->state))
			continue;
		backlog_put_task(in->out, &b.tasks[i]);
		if (o->json)
			json_push(list, cli_task_json(in->arena, &b, &b.tasks[i]));
	}
	put_strays(&b, NULL);
	if (!b.n)
		error_log(
			"no tasks in '%s': 'dev-team backlog new TITLE' writes one", BACKLOG_TASKS);
	cli_put_json(in, o->json, list);
	return 0;
}

static void put_ids(struct buf *out, const char *what, const struct task_list *list)
{
	if (list->n)
		buf_adds(out, what);
	for (size_t i = 0; i < list->n; i++)
		buf_addf(out, " %s", task_name(list->items[i]));
	buf_adds(out, list->n ? "\n" : "");
}

static void backlog_put_faults(struct buf *out, const struct task *t)
{
	for (size_t i = 0; i < t->faults.n; i++) {
		char line[2048];

		error_format(&t->faults.items[i], line, sizeof(line));
		buf_addf(out, "%s\n", line);
	}
}

static void backlog_put_line(struct buf *out, const char *what, const char *text)
{
	if (text && *text)
		buf_addf(out, "%-11s %s\n", what, text);
}

static void put_details(
	struct invocation *in, const struct backlog *b, const struct task *t, struct buf *out)
{
	struct task_list blockers, impact;
	struct task_criteria criteria;

	backlog_put_task(out, t);
	backlog_put_line(out, "file", t->file);
	backlog_put_line(out, "status", t->status_text);
	if (t->state != TASK_DONE)
		backlog_put_line(out, "not started", task_refusal(in->arena, t));
	backlog_blockers(b, t, &blockers);
	backlog_impact(b, t, &impact);
	put_ids(out, "waits for  ", &blockers);
	for (size_t i = 0; i < t->n_dependencies; i++)
		if (t->dependencies[i].task == TASK_NONE)
			buf_addf(out, "waits for   '%s', which does not exist\n",
				t->dependencies[i].id);
	put_ids(out, "needed by  ", &impact);
	for (size_t i = 0; i < t->n_external && !t->faults.n; i++)
		buf_addf(out, "outside     %s (%s): %s%s%s\n", t->external[i].id,
			t->external[i].kind, t->external[i].description,
			t->external[i].hint ? "; " : "",
			t->external[i].hint ? t->external[i].hint : "");
	backlog_put_line(out, "blocked", t->blocked);
	backlog_put_line(out, "until", t->blocked_until);
	backlog_put_line(out, "unblocked", t->unblocked_by);
	backlog_put_line(out, "assignee", t->assignee);
	backlog_put_line(out, "created", t->created);
	backlog_put_line(out, "updated", t->updated);
	backlog_put_line(out, "spec", t->spec);
	task_criteria(in->arena, t, &criteria);
	for (size_t i = 0; i < criteria.n; i++)
		buf_addf(out, "%s #%zu %.*s\n", criteria.items[i].met ? "[x]" : "[ ]", i + 1,
			(int)criteria.items[i].text.n, criteria.items[i].text.p);
	backlog_put_faults(out, t);
}

static int backlog_run_show(struct invocation *in, struct error *err)
{
	const struct backlog_options *o = in->values;
	const struct task *t;
	struct backlog b;

	if (backlog_read_backlog(in, &b, err) < 0 || backlog_require(&b, in->words[0], &t, err) < 0)
		return -1;
	put_details(in, &b, t, in->out);
	cli_put_json(in, o->json, o->json ? cli_task_json(in->arena, &b, t) : NULL);
	return 0;
}

/* ---- check ---- */

/* Each fault of each file, and of the graph. */
static int backlog_run_check(struct invocation *in, struct error *err)
{
	const struct backlog_options *o = in->values;
	struct backlog_problems problems;
	struct str rest, line;
	struct backlog b;
	json *list;
	bool good;

	if (backlog_read_backlog(in, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < b.n; i++) {
		backlog_put_faults(in->out, &b.tasks[i]);
		if (!b.tasks[i].completed && b.tasks[i].state == TASK_DONE)
			error_log("%s: stale task: its status is '%s': git mv it to '%s'",
				b.tasks[i].file, b.tasks[i].status_text, BACKLOG_COMPLETED);
	}
	put_strays(&b, in->out);
	backlog_validate(&b, &problems);
	for (size_t i = 0; i < problems.n; i++) {
		backlog_problem_add(in->out, &problems.items[i]);
		buf_addc(in->out, '\n');
	}
	good = !in->out->len;
	list = json_array();
	rest = buf_str(in->out);
	while (str_line(&rest, &line))
		json_push_str(list, line);
	if (good)
		buf_addf(in->out, "good: %zu task%s\n", b.n, b.n == 1 ? "" : "s");
	cli_put_json(in, o->json,
		JSON_OBJECT(
			JSON_BOOL("ok", good), JSON_INT("tasks", b.n), JSON_VALUE("faults", list)));
	return good ? 0 : ERR_CHECK;
}

/* ---- new ---- */

static int backlog_run_new(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;
	const struct backlog_options *o = in->values;
	struct task_draft draft = {.key = o->key,
		.priority = o->priority,
		.dependencies = o->depends_on,
		.criteria = o->criteria,
		.labels = o->labels,
		.description = o->description};
	const char *repo, *id, *file;

	for (size_t i = 0; i < in->n; i++)
		buf_addf(&title, "%s%s", i ? " " : "", in->words[i]);
	draft.title = title.s;
	if (o->key && !settings_key_valid(str_of(o->key)))
		return error_set(err, ERR_USAGE,
			"--key must be a letter, then letters, digits and '_', not '%.40s'",
			o->key);
	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		(!o->key && new_item_key(in->arena, repo, &draft.key, err) < 0) ||
		backlog_create(in->arena, repo, &draft, &id, &file, err) < 0)
		return -1;
	if (!o->criteria)
		error_log("%s is a draft: add acceptance criteria to '%s', and set its status to "
			  "'To Do'",
			id, file);
	buf_addf(in->out, "%s %s\n", id, file);
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("file", file),
			JSON_TEXT("status", o->criteria ? "To Do" : "Draft")));
	return 0;
}

/* ---- done ---- */

/* Where the work of the task's item began; NULL: unknown. What the user committed before is not the
 * item's. */
static const char *backlog_first_base(struct arena *a, const char *repo, const char *id)
{
	struct item_place place = {0};
	struct error ignored;
	const char *dir;

	return status_directory(a, repo, &dir, &ignored) == 0 &&
			       place_read(a, arena_printf(a, "%s/%s.md", dir, id), &place,
				       &ignored) == 0
		       ? place.base
		       : NULL;
}

static int run_done(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *others = json_array();
	const struct backlog_options *o = in->values;
	const char *file, *text, *fault;
	const struct task *t;
	struct backlog b;
	size_t squashed = 0;
	bool made;

	if (backlog_read_backlog(in, &b, err) < 0)
		return -1;
	if (backlog_require(&b, in->words[0], &t, err) < 0)
		return -1;
	if (t->faults.n)
		return error_set(err, ERR_INPUT,
			"'%s' has faults: 'dev-team backlog check' prints them", t->file);
	if (sibling_read(in->arena, b.repo, admission_branch(in->arena, t), t->permitted.items,
		    t->permitted.n, others, err) < 0)
		return -1;
	if ((fault = sibling_text(in->arena, others, true)))
		return error_set(err, ERR_CHECK, "%s", fault);
	if (backlog_finish(&b, t, &file, &made, err) < 0 ||
		(o->squash &&
			git_squash_unpushed(b.repo, backlog_first_base(in->arena, b.repo, t->id),
				&squashed, err) < 0))
		return -1;
	text = sibling_text(in->arena, others, false);
	buf_addf(in->out, "%s %s%s\n", t->id, file, made ? "" : " (already committed)");
	if (squashed)
		buf_addf(in->out, "%zu commits are one now\n", squashed);
	if (text)
		buf_addf(in->out, "%s\n", text);
	return 0;
}

static int run_publish(struct invocation *in, struct error *err)
{
	const struct backlog_options *o = in->values;
	const struct task *t;
	struct backlog b;

	return backlog_read_backlog(in, &b, err) < 0 ||
			       backlog_require(&b, in->words[0], &t, err) < 0
		       ? -1
		       : cli_publish_task(in, b.repo, t, o->json, err);
}

/* ---- release ---- */

static int backlog_run_release(struct invocation *in, struct error *err)
{
	const struct backlog_options *o = in->values;
	const char *repo;
	size_t n;

	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		tick_release(in->arena, repo, in->n ? in->words[0] : NULL, &n, err) < 0)
		return -1;
	if (in->n && !n)
		buf_addf(in->out, "'%s' is not parked\n", in->words[0]);
	else
		buf_addf(in->out, "%zu task%s released\n", n, n == 1 ? "" : "s");
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("list", NULL, backlog_run_list, "list the tasks that are not done",
		.details = "A line for each task: its id, its state, its effective priority (that "
			   "of the most urgent open task that needs it), its title.",
		.options = {common_options, list_options}),
	CLI_SUBCOMMAND("show", "ID", backlog_run_show,
		"print a task: why it waits, what waits for it, its acceptance criteria",
		.options = {common_options}),
	CLI_SUBCOMMAND("check", NULL, backlog_run_check,
		"print every fault of the files and of the dependencies; exit status 1 if there "
		"is one",
		.options = {common_options}),
	CLI_SUBCOMMAND("new", "TITLE...", backlog_run_new,
		"write a new task and print its id and file",
		.options = {common_options, new_options}),
	CLI_SUBCOMMAND("done", "ID", run_done,
		"mark a task as done: move its file to backlog/completed, and commit that",
		.details =
			"Commits on the branch that is checked out. A second call changes "
			"nothing. Exit status 1: what the task's branch has in a repository of "
			"'permittedExternalPaths' is not committed or not pushed there. "
			"--squash keeps all messages and authors, and leaves commits that another "
			"branch or a tag has, those from before the task, and merges, as they are.",
		.options = {repo_options, done_options}),
	CLI_SUBCOMMAND("publish", "ID", run_publish,
		"push the branch that is checked out, and open the task's pull request",
		.details =
			"With 'gh' or 'glab', as a draft if the forge has drafts; the tick marks "
			"it as ready when the task is approved. Its title is that of the task, its "
			"text the developer's summary, the acceptance criteria and the task's "
			"file. A second call finds the open one.",
		.options = {common_options}),
	CLI_SUBCOMMAND("release", "[ID]", backlog_run_release,
		"forget the failures of a parked task, so that the next tick goes on with it",
		.details = "Without an ID: of all. A task is parked when its step has failed five "
			   "times in a row, or its work item three times; remove the cause first. "
			   "A work item that has failed also needs 'dev-team retry ID'.",
		.options = {repo_options}),
	NULL,
};

const struct verb verb_backlog = {
	.name = "backlog",
	.group = "Backlog",
	.about = "list, show, check and write the tasks of the repository's backlog",
	.details = "A task is a markdown file in backlog/tasks, or in backlog/completed once it is "
		   "done.",
	.examples = "dev-team backlog new 'Accept tabs' --criterion 'tabs between fields "
		    "work'\n"
		    "dev-team backlog list\n"
		    "dev-team backlog check",
	.size = sizeof(struct backlog_options),
	.subcommands = subcommands,
};
