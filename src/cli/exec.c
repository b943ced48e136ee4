#include "context/lease.h"
#include "src/cli/common.h"
#include "src/machine/script.h"

enum { CONTEXT_FILE, ACTION, WAIT, OWNER, POLICY };
enum { WAIT_MAX = 604800 };

static const struct option_spec options[] = {
	[CONTEXT_FILE] = {"context-file", "FILE", "the work item's document", false},
	[ACTION] = {"action", "ID", "the run_script action", false},
	[WAIT] = {"wait", "SECONDS", "come back after so long with 'running'", false},
	[OWNER] = {"owner", "NAME", "who asks for it; not needed", false},
	[POLICY] = {"policy", "NAME|FILE", "the policy that it runs under, if it has none", false},
	{0},
};

static int read_wait(const char *text, int *seconds, struct error *err)
{
	long n = SCRIPT_WAIT_FOREVER;

	if (text && read_seconds("wait", text, 0, WAIT_MAX, &n, err) < 0)
		return -1;
	*seconds = (int)n;
	return 0;
}

static int refuse(struct context_file *f, const char *id, struct error *err)
{
	json *event = context_event(f, "refusal");
	struct error ignored;

	json_put_str(event, "action", str_of(id));
	json_put_str(event, "reason", str_of(err->text));
	(void)context_log(f, &ignored);
	return -1;
}

/* Who has lost the work item starts nothing more; of who holds it the lease is renewed. */
static int admit(const struct args *args, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *owner = args->value[OWNER];

	if (!owner)
		return 0;
	if (owner_check(owner, err) < 0 ||
		context_open(&f, args->value[CONTEXT_FILE], CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	(void)context_op(&f, "exec");
	if (lease_admit(&f, context_get(&f.doc, "work_item_id").p, owner, err) == 0)
		return context_log(&f, err);
	return err->code == ERR_STATE ? refuse(&f, args->value[ACTION], err) : -1;
}

static int run(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	char *line;
	int wait_s;

	if (need_option(&verb_exec, args, CONTEXT_FILE, err) < 0 ||
		need_option(&verb_exec, args, ACTION, err) < 0 ||
		read_wait(args->value[WAIT], &wait_s, err) < 0 || admit(args, err) < 0)
		return -1;
	if (script_run_under(in->arena, args->value[CONTEXT_FILE], args->value[ACTION],
		    args->value[POLICY], wait_s, &line, err) < 0)
		return -1;
	buf_addf(in->out, "%s\n", line);
	return 0;
}

const struct verb verb_exec = {
	.name = "exec",
	.synopsis = "--context-file FILE --action ID [--wait SECONDS] [--owner NAME] "
		    "[--policy NAME|FILE]",
	.about = "run the script of an action and record its result",
	.details =
		"Prints one line, the recorded answer: 'passed — log: FILE', 'failed — log: FILE' "
		"or\n"
		"'failed — timed out after N s — log: FILE'; exit status 0 for each of them. The "
		"output of the\n"
		"script is in FILE, also while it runs. A second call prints the answer again.\n"
		"\n"
		"With --wait it comes back after SECONDS with 'running — log: FILE'; the script "
		"goes on, and\n"
		"the same command waits for it again. When the caller is killed, the script goes "
		"on and its\n"
		"result is recorded; one script is never started twice at the same time.\n"
		"\n"
		"INT, TERM and HUP end the script and all that it started (TERM, and KILL 5 s "
		"later); nothing is\n"
		"recorded then. So does the time limit of the action. What the script leaves in "
		"the background is\n"
		"ended with it.\n"
		"\n"
		"An action with 'security' (docs/workflow-language.md), or any with --policy, runs "
		"under that\n"
		"policy ('dev-team policy'). What the policy denies is recorded as 'failed — "
		"security violation:\n"
		"RULE ...', and ends the run or is mended like any other failure, as the action or "
		"the policy says.\n"
		"\n"
		"Exit status 3: the action is no run_script. 4: it is not outstanding, or NAME "
		"does "
		"not hold the\n"
		"work item. 5: it could not be started or its result could not be recorded.",
	.options = options,
	.max_words = 0,
	.run = run,
};
