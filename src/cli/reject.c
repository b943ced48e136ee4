#include "src/cli/cli.h"
#include "context/context.h"
#include "src/sys/path.h"

static int reject_run(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool piped = strcmp(in->words[1], "-") == 0;
	const char *document;

	if (cli_find_item(in, &document, err) < 0 ||
		(piped &&
			sys_read_all(&text, STDIN_FILENO, CONTEXT_MAX, "standard input", err) < 0))
		return -1;
	for (size_t i = 1; i < in->n && !piped; i++)
		buf_addf(&text, "%s%s", i > 1 ? " " : "", in->words[i]);
	if (!str_trim(buf_str(&text)).n)
		return error_set(err, ERR_INPUT, "the reason is empty");
	return cli_answer_approval(in, document, "rejected", str_trim(buf_str(&text)), err);
}

const struct verb verb_reject = {
	.name = "reject",
	.group = "Everyday",
	.about = "reject what a work item waits for a person to approve",
	.details = "TEXT says why; '-': it is read from standard input. The agent that works on it "
		   "next reads it.\n"
		   "\n"
		   "Exit status 4 if the item waits for no approval.",
	.examples = "dev-team reject ADR-1 'The version is missing.'\n"
		    "dev-team reject ADR-1 - <reason.txt",
	.words = "ID TEXT...",
	.options = {cli_item_options},
	.size = sizeof(struct cli_item),
	.run = reject_run,
};
