#include "src/cli/cli.h"
#include "src/machine/brief.h"
#include "src/run/locate.h"

struct brief_options {
	const char *context_file, *action;
};

static const struct option options[] = {
	CLI_DOCUMENT(struct brief_options),
	OPTION_REQUIRED(struct brief_options, action, "action", "ID", "the action"),
	OPTION_END,
};

static int brief_run(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct brief_options *o = in->values;
	const char *root, *file, *repo = ".";
	struct instructions role, skill;
	struct error ignored;

	if (cli_find_action_document(in, o->context_file, o->action, &file, err) < 0 ||
		context_open(&f, file, CONTEXT_READ_ONLY, err) < 0 ||
		locate_plugin(in->arena, NULL, &root, err) < 0)
		return -1;
	(void)locate_repository(in->arena, NULL, &repo, &ignored);
	if (brief_instructions(in->arena, &f, o->action, root, repo, &role, &skill, err) < 0)
		return -1;
	return brief_add(in->out, BRIEF_RECORD, &f, o->action, &role, &skill, err);
}

const struct verb verb_brief = {
	.name = "brief",
	.group = "Plumbing",
	.about = "print everything that the agent of an action needs",
	.details =
		"Prints the task, the sections to read (quoted), the skill, the result words, and "
		"the command that records the answer.",
	.words = "[ID]",
	.options = {options},
	.size = sizeof(struct brief_options),
	.run = brief_run,
};
