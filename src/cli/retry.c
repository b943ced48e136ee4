#include "context/lease.h"
#include "src/cli/cli.h"
#include "src/run/run.h"
#include "src/machine/failure.h"
#include "src/run/status.h"
#include "src/verify/history.h"

struct retry_options {
	struct cli_item item;
	bool no_run;
};

static const struct option options[] = {
	OPTION_FLAG(struct retry_options, no_run, "no-run",
		"only put the item back; something else continues it"),
	OPTION_END,
};

/* An attempt has failed, and the item has not. */
static bool counts_failures(const struct context *doc)
{
	return context_count(doc, "consecutive_failures") ||
	       context_count(doc, "troubleshooter_calls");
}

static int retry_refuse(struct context_file *f, const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	if (str_is(context_get(&f->doc, "state"), "done"))
		return error_set(
			err, ERR_STATE, "'%s' is done: name the state that is to be repeated", id);
	status_add_continuation(&command, f);
	return error_set(err, ERR_STATE,
		"'%s' has not failed, it is in '%s': continue it with %s, or name the state that "
		"is to be repeated",
		id, context_get(&f->doc, "state").p, command.s);
}

/* *rev: the revision to put back; 0: the document can go on as it is. */
static int find_revision(
	struct context_file *f, const char *id, const char *state, int64_t *rev, struct error *err)
{
	*rev = 0;
	if (context_get(&f->doc, "question").n && !state)
		return context_get(&f->doc, "troubleshooter_input").n
			       ? retry_refuse(f, id, err)
			       : error_set(err, ERR_STATE,
					 "'%s' waits for your answer: dev-team answer %s 'TEXT'",
					 id, id);
	if (!state && !failure_is(&f->doc) && !counts_failures(&f->doc))
		return retry_refuse(f, id, err);
	if (!state && !str_is(context_get(&f->doc, "state"), "failed"))
		return 0;
	if (history_last_request(f, state, false, rev, err) < 0)
		return -1;
	if (*rev)
		return 0;
	return state ? error_set(err, ERR_INPUT,
			       "nothing was ever requested in state '%.100s' of '%s'", state, id)
		     : error_set(err, ERR_STATE,
			       "'%s' failed before anything was requested: dev-team reset %s", id,
			       id);
}

struct retry {
	struct history_attempt attempt;
	const char *id, *state; /* state NULL: the one of the last request */
};

/* A context_change. */
static int change(struct context_file *f, void *data, struct error *err)
{
	const struct retry *r = data;
	int64_t rev;

	return find_revision(f, r->id, r->state, &rev, err) < 0
		       ? -1
		       : history_put_back(&r->attempt, f, rev, err);
}

/* Opened for writing, the document of a killed command is completed first. */
static int retry_put_back(struct invocation *in, const char *document, struct error *err)
{
	const struct retry_options *o = in->values;
	CLEANUP(context_close) struct context_file f = {0};
	struct retry r = {.attempt.arena = in->arena,
		.id = in->words[0],
		.state = in->n > 1 ? in->words[1] : NULL};
	struct workflow w;
	const char *repo;

	if (run_place_repository(in->arena, o->item.repo, document, &repo, err) < 0)
		return -1;
	history_set_place(in->arena, document, &r.attempt.place);
	r.attempt.workflow = run_load_workflow(in->arena, document, repo, &w) ? &w : NULL;
	return context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0
		       ? -1
		       : context_update(&f, change, &r, err);
}

/* With the agents that the item's last run had. */
static int run_again(struct invocation *in, const char *document, struct error *err)
{
	const struct retry_options *o = in->values;
	CLEANUP(context_close) struct context_file f = {0};
	struct run_request q = {.max_actions = RUN_ACTIONS_DEFAULT};
	const char *state;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		run_place_repository(in->arena, o->item.repo, document, &q.call.repo, err) < 0)
		return -1;
	state = arena_dup(in->arena, context_get(&f.doc, "state"));
	if (o->no_run || !run_options_load(in->arena, &f, q.call.repo, &q)) {
		buf_addf(in->out, "%s: goes on in '%s'; continue it with: ", in->words[0], state);
		status_add_continuation(in->out, &f);
		buf_addc(in->out, '\n');
		return 0;
	}
	context_close(&f);
	f = (struct context_file){0};
	error_log("dev-team: %s goes on in '%s'", in->words[0], state);
	q.call.context_file = o->item.context_file;
	progress_listen(&q);
	return run_items(in->arena, &q, in->words, 1, in->out, err);
}

static int retry_run(struct invocation *in, struct error *err)
{
	const char *document, *id = in->words[0];

	if (cli_find_item(in, &document, err) < 0 ||
		status_check_free(in->arena, document, id, err) < 0 ||
		status_check_worktree_free(in->arena, document, id, err) < 0 ||
		retry_put_back(in, document, err) < 0)
		return -1;
	return run_again(in, document, err);
}

const struct verb verb_retry = {
	.name = "retry",
	.group = "Everyday",
	.about = "repeat the request that a failed work item ended with, and go on",
	.also = "rerun redo again",
	.details =
		"Puts the document back to the last request (with STATE: to the last one of that "
		"state, also if the item has not failed; in a state whose actions wait for each "
		"other, all answers stay that are good), lets failures and fixes count from 0 "
		"again, and runs the item with the options of its last 'dev-team run'. What you "
		"have edited since in sections, notes and keys of your own stays, and the replaced "
		"document in the history; commits and files stay. Remove the cause first.",
	.examples = "dev-team retry ADR-1\n"
		    "dev-team retry ADR-1 implementing",
	.words = "ID [STATE]",
	.options = {options, cli_item_options},
	.size = sizeof(struct retry_options),
	.run = retry_run,
};
