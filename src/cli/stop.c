#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"

enum { LOOK_MS = 50, WAIT_MS = 60000 };

struct stop_options {
	struct cli_item item;
	bool now;
};

static const struct option options[] = {
	OPTION_FLAG(struct stop_options, now, "now",
		"end its agents and scripts, too, and wait until they have ended"),
	OPTION_END,
};

/* No run is at it: says who is. */
static int stop_refuse(struct arena *a, const char *document, const char *id, struct error *err)
{
	CLEANUP(json_free) json *item = status_item(document, false);

	if (status_check_free(a, document, id, err) < 0)
		return -1;
	if (json_str_is(item, "status", "done"))
		return error_set(err, ERR_STATE, "'%s' is done: nothing works on it", id);
	return error_set(err, ERR_STATE,
		"no 'dev-team run' works on '%s'; 'dev-team cancel %s' ends it", id, id);
}

static int stop_await_end(struct arena *a, const char *document, const char *id, struct error *err)
{
	int64_t until = clock_ticks() + WAIT_MS;

	while (status_run_active(a, document)) {
		if (clock_ticks() > until)
			return error_set(err, ERR_STATE,
				"the run of '%s' has not ended within %d s", id, WAIT_MS / 1000);
		run_interrupt_wait(LOOK_MS);
	}
	return 0;
}

static int stop_run(struct invocation *in, struct error *err)
{
	const struct stop_options *o = in->values;
	CLEANUP(json_free) json *item = NULL;
	const char *document, *above, *id = in->words[0], *before = " after ";
	struct error ignored;
	bool queued = false;

	if (path_check_id(id, err) < 0 ||
		(!o->item.context_file &&
			run_queue_stop(in->arena, o->item.repo, id, &queued, err) < 0))
		return -1;
	if (queued)
		buf_addf(in->out, "%s: the run will not begin it\n", id);
	if (queued && (cli_find_item(in, &document, &ignored) < 0 ||
			      !status_run_active(in->arena, document)))
		return 0;
	if (cli_find_item(in, &document, err) < 0)
		return -1;
	above = run_above(in->arena, document);
	if (above) {
		id = above;
		document = run_child_document(in->arena, document, id);
	}
	if (!status_run_active(in->arena, document))
		return stop_refuse(in->arena, document, id, err);
	if (run_stop(document, o->now, err) < 0)
		return -1;
	if (o->now) {
		if (stop_await_end(in->arena, document, id, err) < 0)
			return -1;
		buf_addf(in->out, "%s: stopped\n", id);
		return 0;
	}
	item = status_item(document, true);
	buf_addf(in->out, "%s: the run ends", id);
	for (const json *a = json_first(json_get(item, "actions")); a; a = json_next(a)) {
		buf_addf(in->out, "%s%s", before, json_get_str(a, "id"));
		before = ", ";
	}
	buf_addc(in->out, '\n');
	return 0;
}

const struct verb verb_stop = {
	.name = "stop",
	.group = "Everyday",
	.about = "let the 'dev-team run' of a work item end after its current action",
	.also = "kill halt",
	.details = "The agents and scripts that work finish, and their answers are recorded; then "
		   "the run ends. With --now they are ended. Either way the item can be continued. "
		   "An item that a run of several has not begun yet is not begun.",
	.examples = "dev-team stop ADR-1\n"
		    "dev-team stop ADR-1 --now",
	.words = "ID",
	.options = {options, cli_item_options},
	.size = sizeof(struct stop_options),
	.run = stop_run,
};
