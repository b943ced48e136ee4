#include "src/cli/cli.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/backlog/backlog.h"

enum { LINE_INPUT_MAX = 1 << 20 };

struct status_options {
	const char *repo, *context_file;
	bool all, watch, line, json;
};

static const struct option options[] = {
	OPTION_FLAG(struct status_options, all, "all", "the items of all repositories"),
	OPTION_FLAG(struct status_options, watch, "watch",
		"show it again whenever it changes; ends with Ctrl-C"),
	OPTION_FLAG(struct status_options, line, "line",
		"one line of what is in progress; for the status line of Claude Code, whose JSON "
		"on standard input names the directory"),
	CLI_JSON(struct status_options),
	CLI_REPO(struct status_options),
	CLI_DOCUMENT(struct status_options),
	OPTION_END,
};

/* What is shown: one document, or a directory. */
struct status_view {
	const char *document, *dir;
	const char *repo; /* whose tasks are shown too; NULL: of all repositories */
	const char *task; /* only this one, until it has a document; NULL: all */
	bool json;
};

static int status_list(const struct status_view *v, json **items, struct error *err)
{
	return status_items(v->dir, items, err) < 0 ||
			       (v->repo && cli_add_tasks(v->repo, v->dir, items, err) < 0)
		       ? -1
		       : 0;
}

/* Takes the one of this id out of the list, which is freed; NULL: there is none. */
static json *take_one(json *items, const char *id)
{
	json *found = NULL;

	for (const json *i = json_first(items); i && !found; i = json_next(i))
		if (json_get_str(i, "id") && task_same_id(json_get_str(i, "id"), id))
			found = json_copy(i);
	json_free(&items);
	return found;
}

/* A task of the backlog that has no item yet is one of the list. */
static int status_find_one(
	struct arena *a, const struct invocation *in, struct status_view *v, struct error *err)
{
	const struct status_options *o = in->values;
	CLEANUP(json_free) json *item = NULL;
	struct error ignored;
	json *items;

	if (status_find(a, in->words[0], o->repo, o->context_file, &v->document, err) == 0)
		return 0;
	v->document = NULL;
	v->task = in->words[0];
	if (err->code != ERR_INPUT || o->context_file || !path_is_id(str_of(v->task)) ||
		run_place_repository(a, o->repo, NULL, &v->repo, &ignored) < 0 ||
		status_directory(a, v->repo, &v->dir, &ignored) < 0)
		return -1;
	item = status_list(v, &items, &ignored) < 0 ? NULL : take_one(items, v->task);
	return item ? 0 : -1;
}

static int find_view(
	struct arena *a, const struct invocation *in, struct status_view *v, struct error *err)
{
	const struct status_options *o = in->values;
	char *dir;

	*v = (struct status_view){.json = o->json};
	if (o->all && (in->n || o->context_file || o->repo))
		return error_set(err, ERR_USAGE,
			"status: --all shows all items: give no ID, --repo or --context-file");
	if (in->n)
		return status_find_one(a, in, v, err);
	v->document = o->context_file;
	if (v->document)
		return 0;
	if (!o->all)
		return run_place_repository(a, o->repo, NULL, &v->repo, err) < 0
			       ? -1
			       : status_directory(a, v->repo, &v->dir, err);
	return context_state_directory(a, &dir, err) < 0 ? -1 : (v->dir = dir, 0);
}

static int status_show(const struct status_view *v, struct buf *out, struct error *err)
{
	json *shown;

	if (v->document)
		shown = status_item(v->document, false);
	else if (status_list(v, &shown, err) < 0)
		return -1;
	if (v->task && !(shown = take_one(shown, v->task)))
		return error_set(err, ERR_INPUT, "the task '%s' is gone", v->task);
	if (v->json)
		json_print_line(out, shown);
	else if (v->document || v->task)
		status_add_details(out, shown);
	else
		status_add_table(out, shown, v->repo ? NULL : v->dir);
	if (!v->json)
		json_free(&shown);
	return 0;
}

/* A screen_text. */
static int show_again(void *view, struct buf *out, struct error *err)
{
	return status_show(view, out, err);
}

/* A client that shows it has no place for an error: what cannot be read is nothing in progress. */
static int status_put_line(struct invocation *in, struct error *err)
{
	const struct status_options *o = in->values;
	CLEANUP(buf_release) struct buf call = BUF_INIT;
	CLEANUP(json_free) json *event = NULL, *items = NULL;
	const char *dir, *repo = o->repo;
	struct error ignored;

	if (o->all || o->watch || o->json || o->context_file || in->n)
		return error_set(err, ERR_USAGE,
			"status: --line shows the items of one repository: give --repo or "
			"nothing else");
	if (!repo && cli_read_input(&call, LINE_INPUT_MAX, &ignored) == 0 &&
		json_parse_event(&event, buf_str(&call), &ignored) == 0)
		repo = json_get_str(event, "cwd");
	if (status_directory(in->arena, repo, &dir, &ignored) == 0 &&
		status_items(dir, &items, &ignored) == 0)
		status_add_line(in->out, items);
	return 0;
}

static int status_run(struct invocation *in, struct error *err)
{
	const struct status_options *o = in->values;
	struct status_view view;

	if (o->line)
		return status_put_line(in, err);
	if (find_view(in->arena, in, &view, err) < 0)
		return -1;
	if (o->watch && !o->json && !isatty(STDOUT_FILENO))
		return error_set(err, ERR_USAGE,
			"status: standard output is no terminal: --watch needs one, or --json, "
			"which prints a line for each change");
	return o->watch ? screen_watch(show_again, &view, err) : status_show(&view, in->out, err);
}

const struct verb verb_status = {
	.name = "status",
	.group = "Everyday",
	.about = "show who works on what since when, what it costs, and how it goes on",
	.also = "ls list ps info",
	.details = "Without an ID it shows a line for each work item of this repository, those at "
		   "work first. A document that cannot be read is one such line. Open tasks of the "
		   "backlog that were not started are 'queued', with the reason; those that keep "
		   "failing are 'parked'.",
	.examples = "dev-team status\n"
		    "dev-team status ADR-1 --watch",
	.words = "[ID]",
	.options = {options},
	.size = sizeof(struct status_options),
	.run = status_run,
};
