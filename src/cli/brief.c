#include "src/cli/common.h"
#include "src/machine/brief.h"

enum { CONTEXT_FILE, ACTION };

static const struct option_spec options[] = {
	[CONTEXT_FILE] = {"context-file", "FILE", "the work item's document", false},
	[ACTION] = {"action", "ID", "the action", false},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (need_option(&verb_brief, in->args, CONTEXT_FILE, err) < 0 ||
		need_option(&verb_brief, in->args, ACTION, err) < 0)
		return -1;
	if (context_open(&f, in->args->value[CONTEXT_FILE], CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return brief_write(&f, in->args->value[ACTION], in->out, err);
}

const struct verb verb_brief = {
	.name = "brief",
	.synopsis = "--context-file FILE --action ID",
	.about = "all that the agent of an action needs, as text",
	.details = "The task, its skill and arguments, the sections to read (quoted), the result "
		   "words, and the one\n"
		   "command that records the answer.",
	.options = options,
	.max_words = 0,
	.run = run,
};
