#include <signal.h>
#include <unistd.h>
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/hook/hook.h"

enum { INPUT_MAX = 64 << 20, TIMEOUT_MAX_S = 600 };

struct hook_options {
	int64_t timeout_s;
};

static const struct option options[] = {
	OPTION_NUMBER(struct hook_options, timeout_s, "timeout", "SECONDS", 1, TIMEOUT_MAX_S,
		"give up after this time; default: by event"),
	OPTION_END,
};

/* The client would go on without a word, and without the decision. */
static void end_hook(int signal)
{
	static const char text[] = "dev-team: the hook took too long\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal;
	(void)ignored;
	_exit(ERR_SYSTEM);
}

/* All of the input is read in any case: the client must not find the pipe closed. */
static int hook_run(struct invocation *in, struct error *err)
{
	const struct hook_options *o = in->values;
	CLEANUP(buf_release) struct buf event = BUF_INIT;

	(void)signal(SIGALRM, end_hook);
	(void)alarm(o->timeout_s ? (unsigned)o->timeout_s : hook_limit(in->words[0]));
	if (cli_read_input(&event, INPUT_MAX, err) < 0)
		return -1;
	return hook_answer(in->arena, in->words[0], buf_str(&event), in->out, err);
}

const struct verb verb_hook = {
	.name = "hook",
	.group = "Plumbing",
	.about = "answer an event of the client (the plugin calls it)",
	.details =
		"EVENT is the name of a hook of Claude Code; its JSON is standard input. An event "
		"that is not known gets no answer.\n"
		"\n"
		"UserPromptExpansion: a slash command, with its arguments as they were typed. The "
		"id is checked, the first step is made, and the model gets the array of actions. "
		"Words after the id answer the open question of the work item, or become a note "
		"for its agents; 'take over' takes it from another session.\n"
		"\n"
		"UserPromptSubmit: the client reports that an agent has ended, and the next step "
		"is made; or it repeats the prompt 'dev-team tick', and a tick is made "
		"(docs/backlog.md).\n"
		"\n"
		"PreToolUse: a tool call, which is allowed, denied, changed, or left to the "
		"client. docs/policy.md has the rules.\n"
		"\n"
		"SessionStart: one line for each work item that is in progress in the session.\n"
		"\n"
		"Stop: a turn that ends while a work item of the session has open actions is "
		"continued, at most three times without progress.\n"
		"\n"
		"WorkflowStep: the loop as a script of the client (docs/loop.md). A call of the "
		"tool Workflow gets the first actions as its arguments; a call of StructuredOutput "
		"records the answer of an agent, and gets the next actions if it was the last.\n"
		"\n"
		"SubagentStart: an agent of that script gets its brief and its skill.",
	.examples = "dev-team hook PreToolUse < call.json",
	.words = "EVENT",
	.options = {options},
	.size = sizeof(struct hook_options),
	.run = hook_run,
};
