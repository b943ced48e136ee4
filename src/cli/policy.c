#include "src/cli/policy.h"
#include "src/cli/common.h"
#include "src/cli/subcommands.h"
#include "src/policy/beneath.h"
#include "src/shell/parse.h"
#include "src/sandbox/sandbox.h"

static const struct option_spec options[] = {
	[POLICY_NAME] = {"policy", "NAME|FILE", "a shipped policy or a file; default: readonly",
		false},
	[POLICY_PERSONA] = {"persona", "NAME",
		"the policy that .dev-team/clearance.yaml gives this persona", false},
	[POLICY_CWD] = {"cwd", "DIR", "the working directory; default: the caller's", false},
	[POLICY_ROOT] = {"root", "DIR",
		"the boundary; default: the worktree around the working "
		"directory, else that itself",
		false},
	[POLICY_COMMAND_FILE] = {"command-file", "FILE",
		"the command is the text of FILE; '-' is standard input", false},
	[POLICY_TIMEOUT] = {"timeout", "SECONDS", "for 'exec': default: the policy's", false},
	[POLICY_REPORT] = {"report", "FILE", "for 'exec': what happened, as one JSON object",
		false},
	[POLICY_STDIN] = {"stdin", NULL, "for 'exec': give it standard input (else /dev/null)",
		false},
	[POLICY_TREE] = {"tree", "DIR",
		"for 'test': what /w/tree stands for; default: one that it makes", false},
	[POLICY_JSON] = {"json", NULL, "the result as one JSON object", false},
	{0},
};

static void put_trace(struct invocation *in, const struct trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct asked *a = &t->list[i];

		buf_addf(in->out, "  %-4s %-16s %zu-%zu", a->denied ? "NO" : "ok", rule_id(a->rule),
			a->at.from, a->at.to);
		if (a->word.p) {
			buf_addc(in->out, ' ');
			text_visible(in->out, a->word);
		}
		if (a->path.n) {
			buf_adds(in->out, " -> ");
			text_visible(in->out, a->path);
		}
		buf_addc(in->out, '\n');
	}
}

static json *trace_json(const struct trace *t)
{
	json *list = json_array();

	for (size_t i = 0; i < t->n; i++) {
		json *row = json_object();

		json_put_str(row, "rule", str_of(rule_id(t->list[i].rule)));
		json_put_int(row, "from", (int64_t)t->list[i].at.from);
		json_put_int(row, "to", (int64_t)t->list[i].at.to);
		json_put_bool(row, "denied", t->list[i].denied);
		json_push(list, row);
	}
	return list;
}

static void put_json(struct invocation *in, const struct verdict *v, const struct node *tree,
	const struct trace *t)
{
	CLEANUP(json_free) json *j = verdict_object(v);
	CLEANUP(buf_release) struct buf canonical = BUF_INIT;

	if (!v->denied) {
		shell_print(&canonical, tree);
		json_put_str(j, "canonical", buf_str(&canonical));
	}
	if (t)
		json_put(j, "asked", trace_json(t));
	json_print(in->out, j);
	buf_addc(in->out, '\n');
}

static int run_check(struct invocation *in, struct error *err)
{
	CLEANUP(policy_question_end) struct policy_question q = {.root = {.fd = -1}};
	struct node *tree;

	if (policy_question(in, 1, &q, err) < 0)
		return -1;
	(void)policy_ask(in, &q, &tree, NULL);
	if (in->args->value[POLICY_JSON]) {
		put_json(in, &q.verdict, tree, NULL);
	} else {
		verdict_line(in->out, &q.verdict);
		buf_addc(in->out, '\n');
	}
	return q.verdict.denied ? ERR_CHECK : 0;
}

static void put_explanation(struct invocation *in, const struct policy_question *q,
	const struct node *tree, const struct trace *t)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(in->out, "policy %s, root %s\n", q->policy.name, q->root.path);
	if (tree) {
		shell_print(&text, tree);
		buf_addf(in->out, "\nas it would be run\n  %s\n\nthe tree\n", text.s);
		shell_draw(in->out, tree);
	}
	buf_addf(in->out, "\nwhat was asked\n");
	put_trace(in, t);
	buf_adds(in->out, t->n ? "\n" : "  nothing: the text was not understood\n\n");
	verdict_line(in->out, &q->verdict);
	buf_addc(in->out, '\n');
	if (q->verdict.denied)
		buf_addf(in->out, "the rule asks whether: %s\n", rule_about(q->verdict.rule));
}

static int run_explain(struct invocation *in, struct error *err)
{
	CLEANUP(policy_question_end) struct policy_question q = {.root = {.fd = -1}};
	struct trace trace = {0};
	struct node *tree;

	if (policy_question(in, 1, &q, err) < 0)
		return -1;
	(void)policy_ask(in, &q, &tree, &trace);
	if (in->args->value[POLICY_JSON])
		put_json(in, &q.verdict, tree, &trace);
	else
		put_explanation(in, &q, tree, &trace);
	return q.verdict.denied ? ERR_CHECK : 0;
}

static int run_show(struct invocation *in, struct error *err)
{
	const char *const *names = policy_shipped();
	struct str text;

	if (in->args->n == 1) {
		for (size_t i = 0; names[i]; i++)
			buf_addf(in->out, "%s\n", names[i]);
		return 0;
	}
	text = policy_shipped_text(in->args->words[1]);
	if (!text.p)
		return error_set(
			err, ERR_INPUT, "there is no shipped policy '%.60s'", in->args->words[1]);
	buf_add(in->out, text);
	return 0;
}

int policy_layers(struct invocation *in, struct error *err)
{
	struct host host;

	if (beneath_needed(err) < 0)
		return -1;
	host_probe(&host);
	if (in->args->value[POLICY_JSON]) {
		CLEANUP(json_free) json *j = host_json(&host);

		json_print(in->out, j);
		buf_addc(in->out, '\n');
	} else {
		host_show(in->out, &host);
	}
	return 0;
}

enum {
	QUESTION = OPTION(POLICY_NAME) | OPTION(POLICY_PERSONA) | OPTION(POLICY_CWD) |
		   OPTION(POLICY_ROOT) | OPTION(POLICY_COMMAND_FILE),
	EXECUTION =
		QUESTION | OPTION(POLICY_TIMEOUT) | OPTION(POLICY_REPORT) | OPTION(POLICY_STDIN),
};

static const struct subcommand parts[] = {
	{"check", run_check, QUESTION | OPTION(POLICY_JSON), 0, MAX_WORDS},
	{"explain", run_explain, QUESTION | OPTION(POLICY_JSON), 0, MAX_WORDS},
	{"exec", policy_exec, EXECUTION, 0, MAX_WORDS},
	{"test", policy_test, OPTION(POLICY_TREE) | OPTION(POLICY_JSON), 0, MAX_WORDS},
	{"hook", policy_hook, 0, 0, 0},
	{"show", run_show, 0, 0, 1},
	{"layers", policy_layers, OPTION(POLICY_JSON), 0, 0},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_policy, parts, in, err);
}

const struct verb verb_policy = {
	.name = "policy",
	.synopsis = "check|explain|exec|test|hook|show|layers [OPTION...] [-- COMMAND]",
	.about = "say whether a shell command is allowed, run it in a sandbox, test policies",
	.details =
		"  check -- COMMAND     'allow', or 'deny RULE FROM-TO ...: REASON' with exit "
		"status 1\n"
		"  explain -- COMMAND   the same with the tree of the command and each rule that "
		"was asked\n"
		"  exec -- COMMAND      run it, when it is allowed, under the layers of the "
		"kernel\n"
		"  test FILE            rows of commands with what must come out, each with its "
		"own policy\n"
		"  hook                 answer a PreToolUse hook on standard input\n"
		"  show [NAME]          the shipped policies; the text of one\n"
		"  layers               what this host has to enforce a policy with\n"
		"\n"
		"COMMAND is one word with a command line in it, or several words, which are taken "
		"as they are.\n"
		"'exec' runs the tree of the command, never its text: no shell is started. Its "
		"exit status is the\n"
		"command's own; 1 with a line 'deny ...' on standard error when it is not "
		"allowed, 124 at the\n"
		"time limit, 127 for a program that is not installed. With --report FILE the two "
		"can be told apart.\n"
		"\n"
		"Exit status 3: the policy, the clearance file or a row is refused. 4: a layer "
		"that the policy\n"
		"requires is not there. 5: it could not be run.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
