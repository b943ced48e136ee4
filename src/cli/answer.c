#include "src/cli/cli.h"
#include "src/machine/action.h"
#include "src/run/status.h"
#include "src/sys/path.h"

/* The words are one text; `-` and none: standard input, where a terminal is shown the question. */
static int read_answer(
	struct invocation *in, struct str question, struct buf *text, struct error *err)
{
	if (in->n > 1 && strcmp(in->words[1], "-") != 0) {
		for (size_t i = 1; i < in->n; i++)
			buf_addf(text, "%s%s", i > 1 ? " " : "", in->words[i]);
		return 0;
	}
	if (isatty(STDIN_FILENO))
		error_log("%.*s\n(end your answer with Ctrl-D)", (int)question.n, question.p);
	return sys_read_all(text, STDIN_FILENO, CONTEXT_MAX, "standard input", err);
}

static int refuse_answer(struct context_file *f, const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	if (!action_awaits_approval(&f->doc))
		return error_set(err, ERR_STATE, "'%s' has asked nothing", id);
	status_add_continuation(&command, f);
	return error_set(err, ERR_STATE, "'%s' has asked nothing, it waits for an approval: %s", id,
		command.s);
}

/* The next step has not taken it yet. */
static int refuse_replacement(const struct context_file *f, const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	buf_add_argument(&command, "echo TEXT | dev-team context set ", f->path);
	return error_set(err, ERR_STATE,
		"'%s' has an answer already, which its next step takes; to change it: %s "
		"troubleshooter_input",
		id, command.s);
}

static int answer_run(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *document, *id = in->words[0];
	struct str question, value, old;

	if (cli_find_item(in, &document, err) < 0 ||
		context_open(&f, document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	question = arena_str(in->arena, context_get(&f.doc, "question"));
	if (!question.n)
		return refuse_answer(&f, id, err);
	context_close(&f);
	f = (struct context_file){0};
	if (read_answer(in, question, &text, err) < 0)
		return -1;
	value = str_trim(buf_str(&text));
	if (!value.n)
		return error_set(err, ERR_INPUT, "the answer is empty");
	if (context_check_key(in->arena, "troubleshooter_input", &value, err) < 0 ||
		context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	old = context_get(&f.doc, "troubleshooter_input");
	if (old.n && !str_eq(old, value)) /* a call that was killed is repeated */
		return refuse_replacement(&f, id, err);
	if (context_set_key(&f, "troubleshooter_input", value, err) < 0)
		return -1;
	buf_addf(in->out, "%s: answered; ", id);
	status_add_next(in->out, &f);
	return 0;
}

const struct verb verb_answer = {
	.name = "answer",
	.group = "Everyday",
	.about = "answer the question that a work item waits for",
	.details = "Without TEXT, or with '-', the answer is read from standard input. The next "
		   "step or run gives it to the troubleshooter.",
	.examples = "dev-team answer ADR-1 'In German.'\n"
		    "dev-team answer ADR-1 - <answer.txt",
	.words = "ID [TEXT...]",
	.options = {cli_item_options},
	.size = sizeof(struct cli_item),
	.run = answer_run,
};
