#include "context/lease.h"
#include "src/cli/cli.h"
#include "src/machine/answer.h"

struct record_options {
	const char *context_file, *action, *result, *owner;
};

static const struct option options[] = {
	CLI_DOCUMENT(struct record_options),
	OPTION_REQUIRED(struct record_options, action, "action", "ID", "the action to answer"),
	OPTION_TEXT(struct record_options, result, "result", "WORD",
		"the result, one of the words of the action's result_format; default: the status "
		"in the text's last JSON object"),
	OPTION_TEXT(struct record_options, owner, "owner", "NAME",
		"who records; optional, as the id names what is answered"),
	OPTION_END,
};

static int record_run(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct record_options *o = in->values;
	struct answer_offer offer = {.owner = o->owner,
		.id = o->action,
		.word = o->result,
		.caller = getenv("DEV_TEAM_ACTION")};
	const char *word, *file;

	if (cli_find_action_document(in, o->context_file, o->action, &file, err) < 0)
		return -1;
	if (o->owner && lease_check_owner(o->owner, err) < 0)
		return -1;
	if (cli_read_input(&text, CONTEXT_MAX, err) < 0)
		return -1;
	offer.text = buf_str(&text);
	if (answer_record_file(in->arena, file, &offer, &word, err) < 0)
		return -1;
	buf_addf(in->out, "recorded %s%s%s%s\n", o->action, *word ? ": " : "", word,
		offer.outcome == ANSWER_AGAIN ? " (already recorded)" : "");
	return 0;
}

const struct verb verb_record = {
	.name = "record",
	.group = "Plumbing",
	.about = "put an agent's answer into the work item's document",
	.details = "Writes standard input into the section of the action, with its result word. An "
		   "answer to an action that is not outstanding, or a second, different answer, is "
		   "refused with exit status 4; its text is kept under logs/. An answer without a "
		   "result word, with one that is not the action's, or with one that contradicts "
		   "the JSON status in the text is refused with exit status 3. Recording the same "
		   "answer again is not an error.",
	.examples = "dev-team record ADR-1 --action ADR-1/researching/1 <brief.md",
	.words = "[ID] < TEXT",
	.options = {options},
	.size = sizeof(struct record_options),
	.run = record_run,
};
