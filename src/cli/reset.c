#include "src/cli/cli.h"
#include "src/machine/failure.h"
#include "src/machine/place.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

/* Where the work of before is. */
static int report_kept(
	struct invocation *in, struct context_file *f, const char *pull_request, struct error *err)
{
	struct item_place place;
	bool there;

	if (place_load(in->arena, f, &place, err) < 0)
		return -1;
	there = place.directory && path_is_directory(place.directory);
	if (place.branch)
		buf_addf(in->out, "kept: the branch '%s'%s%s%s\n", place.branch,
			there ? " in '" : "", there ? place.directory : "",
			there ? "'; the item goes on there" : "");
	if (*pull_request)
		buf_addf(in->out, "kept: the pull request %s\n", pull_request);
	return 0;
}

static int reset_run(struct invocation *in, struct error *err)
{
	const struct cli_item *o = in->values;
	CLEANUP(context_close) struct context_file before = {0}, f = {0};
	const char *document, *id = in->words[0];
	struct run_step_call call = {.id = id, .repo = o->repo, .owner = "dev-team reset"};
	struct history_restored done;
	struct history_place place;
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	if (cli_find_item(in, &document, err) < 0 ||
		status_check_free(in->arena, document, id, err) < 0 ||
		status_check_worktree_free(in->arena, document, id, err) < 0 ||
		context_open(&before, document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	call.context_file = document;
	history_set_place(in->arena, document, &place);
	if (run_end_all_children(in->arena, &call, err) < 0 ||
		history_restore(&place, 1, &done, err) < 0 ||
		run_quota_end_item(in->arena, document, id, err) < 0 ||
		context_open(&f, document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (!done.replaced && failure_is(&f.doc)) {
		buf_add_argument(&command, "echo init | dev-team context set ", f.path);
		return error_set(err, ERR_STATE,
			"'%s' has no earlier state; begin again with: %s state", id, command.s);
	}
	buf_addf(in->out, "%s: back at its beginning; continue with: ", id);
	status_add_continuation(in->out, &f);
	buf_addc(in->out, '\n');
	if (done.replaced) {
		buf_add_argument(in->out,
			"kept: the document; to restore it: dev-team context restore ", place.path);
		buf_addf(in->out, " %lld\n", (long long)done.replaced);
	}
	return report_kept(in, &f, context_get(&before.doc, "pr_url").p, err);
}

const struct verb verb_reset = {
	.name = "reset",
	.group = "Everyday",
	.about = "put a work item back to its beginning; its history, branch and worktree stay",
	.details = "Puts the document back to its first revision. The replaced document stays in "
		   "the history. Its children are ended, as by 'cancel'. The branch, the worktree "
		   "with its files, a pull request and the "
		   "logs stay, and are named: the item is worked on in the same worktree again.",
	.examples = "dev-team reset ADR-1",
	.words = "ID",
	.options = {cli_item_options},
	.size = sizeof(struct cli_item),
	.run = reset_run,
};
