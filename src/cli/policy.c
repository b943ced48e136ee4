#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/policy/beneath.h"
#include "src/policy/table.h"
#include "src/policy/check.h"
#include "src/policy/clearance.h"
#include "src/run/run.h"
#include "src/sandbox/execute.h"
#include "src/shell/parse.h"

enum { TIMEOUT_MAX_S = 86400 };

struct policy_options {
	const char *policy, *persona, *cwd, *root, *command_file, *report, *tree;
	int64_t timeout_s;
	bool give_stdin, json;
};

static const struct option question_options[] = {
	OPTION_TEXT(struct policy_options, policy, "policy", "NAME|FILE",
		"a shipped policy or a file; default: readonly"),
	OPTION_TEXT(struct policy_options, persona, "persona", "NAME",
		"the policy that .dev-team/clearance.yaml gives this persona"),
	OPTION_TEXT(struct policy_options, cwd, "cwd", "DIR",
		"working directory of the command; default: the current one"),
	OPTION_TEXT(struct policy_options, root, "root", "DIR",
		"the boundary; default: the worktree around the working directory, else that"),
	OPTION_TEXT(struct policy_options, command_file, "command-file", "FILE",
		"read the command from FILE; '-' is standard input"),
	OPTION_END,
};
static const struct option exec_options[] = {
	OPTION_NUMBER(struct policy_options, timeout_s, "timeout", "SECONDS", 1, TIMEOUT_MAX_S,
		"time limit; default: the policy's"),
	OPTION_FLAG(struct policy_options, give_stdin, "stdin",
		"pass standard input to the command, which else gets /dev/null"),
	OPTION_TEXT(struct policy_options, report, "report", "FILE",
		"write verdict, status, times and layers as one JSON object"),
	OPTION_END,
};
static const struct option test_options[] = {
	OPTION_TEXT(struct policy_options, tree, "tree", "DIR",
		"the directory that replaces /w/tree in the rows; default: a directory made for "
		"the test"),
	OPTION_END,
};

/* ---- the question ---- */

/* One word is a command line; several are the words of one command, each taken literally. */
static int read_command(struct invocation *in, struct str *out, struct error *err)
{
	const struct policy_options *o = in->values;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (o->command_file && in->n)
		return error_set(err, ERR_USAGE, "give a command or --command-file, not both");
	if (!o->command_file && !in->n)
		return error_set(err, ERR_USAGE, "no command given (after '--')");
	if (o->command_file && cli_read_text(&text, o->command_file, SHELL_MAX + 1, err) < 0)
		return -1;
	if (in->n == 1)
		buf_adds(&text, in->words[0]);
	for (size_t i = 0; in->n > 1 && i < in->n; i++) {
		buf_adds(&text, i ? " " : "");
		buf_add_shell(&text, str_of(in->words[i]));
	}
	*out = arena_str(in->arena, buf_str(&text));
	return 0;
}

/* Release it with policy_question_release(), also after -1. */
static int read_question(struct invocation *in, struct policy_question *q, struct error *err)
{
	const struct policy_options *o = in->values;

	*q = (struct policy_question){
		.root = {.fd = -1}, .policy = {.name = "none"}, .cwd = o->cwd ? o->cwd : "."};
	return read_command(in, &q->command, err) < 0
		       ? -1
		       : policy_question_open(in->arena, q, o->root, o->policy, o->persona, err);
}

/* ---- check and explain ---- */

static void put_trace(struct buf *out, const struct trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct asked *a = &t->list[i];

		buf_addf(out, "  %-4s %-16s %zu-%zu", a->denied ? "NO" : "ok", rule_id(a->rule),
			a->at.from, a->at.to);
		if (a->word.p) {
			buf_addc(out, ' ');
			text_visible(out, a->word);
		}
		if (a->path.n) {
			buf_adds(out, " -> ");
			text_visible(out, a->path);
		}
		buf_addc(out, '\n');
	}
}

static json *trace_json(const struct trace *t)
{
	json *list = json_array();

	for (size_t i = 0; i < t->n; i++)
		json_push(list, JSON_OBJECT(JSON_TEXT("rule", rule_id(t->list[i].rule)),
					JSON_INT("from", t->list[i].at.from),
					JSON_INT("to", t->list[i].at.to),
					JSON_BOOL("denied", t->list[i].denied)));
	return list;
}

static json *answer_json(const struct verdict *v, const struct node *tree, const struct trace *t)
{
	CLEANUP(buf_release) struct buf canonical = BUF_INIT;
	json *j = verdict_object(v);

	if (!v->denied) {
		shell_print(&canonical, tree);
		json_put_str(j, "canonical", buf_str(&canonical));
	}
	if (t)
		json_put(j, "asked", trace_json(t));
	return j;
}

static void put_verdict(struct buf *out, const struct verdict *v)
{
	verdict_line(out, v);
	buf_addc(out, '\n');
}

static void put_explanation(struct buf *out, const struct policy_question *q,
	const struct node *tree, const struct trace *t)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(out, "policy %s, root %s\n", q->policy.name, q->root.path);
	if (tree) {
		shell_print(&text, tree);
		buf_addf(out, "\nas it would be run\n  %s\n\nthe tree\n", text.s);
		shell_draw(out, tree);
	}
	buf_addf(out, "\nrules applied\n");
	put_trace(out, t);
	buf_adds(out, t->n ? "\n" : "  none: the text was not understood\n\n");
	put_verdict(out, &q->verdict);
	if (q->verdict.denied)
		buf_addf(out, "the rule checks whether: %s\n", rule_about(q->verdict.rule));
}

static int run_check(struct invocation *in, struct error *err)
{
	CLEANUP(policy_question_release) struct policy_question q = {.root = {.fd = -1}};
	const struct policy_options *o = in->values;
	bool explain = strcmp(in->path, "policy explain") == 0;
	struct trace trace = {0};
	struct node *tree;

	if (read_question(in, &q, err) < 0)
		return -1;
	policy_question_check(in->arena, &q, &tree, explain ? &trace : NULL);
	if (o->json)
		json_print_line(in->out, answer_json(&q.verdict, tree, explain ? &trace : NULL));
	else if (explain)
		put_explanation(in->out, &q, tree, &trace);
	else
		put_verdict(in->out, &q.verdict);
	return q.verdict.denied ? ERR_CHECK : 0;
}

/* ---- exec ---- */

static void log_denied(const struct verdict *v)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	verdict_line(&line, v);
	error_log("%s", line.s);
}

static void log_end(const struct execution_end *end)
{
	if (end->denied)
		log_denied(&end->verdict);
	if (end->timed_out)
		error_log("dev-team: ended at its time limit");
	if (end->cut)
		error_log("dev-team: output was cut at the policy's limit");
	for (size_t i = 0; i < end->changed.n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		text_visible(&name, str_of(end->changed.p[i]));
		error_log("dev-team: the command changed the protected '%s'; it was put back",
			name.s);
	}
}

static int end_code(const struct execution_end *end)
{
	if (end->denied || end->changed.n)
		return ERR_CHECK;
	if (end->cancelled && run_interrupt_caught())
		return 128 + run_interrupt_caught();
	return end->status;
}

static int execute(struct invocation *in, const struct policy_question *q, struct node *tree,
	struct execution_end *end, struct error *err)
{
	const struct policy_options *o = in->values;
	struct execution x = {.policy = &q->policy,
		.root = &q->root,
		.tree = tree,
		.text = q->command,
		.in = o->give_stdin ? STDIN_FILENO : -1,
		.out = STDOUT_FILENO,
		.err = STDERR_FILENO,
		.timeout_s = (unsigned)o->timeout_s};
	int rc;

	if (run_interrupt_begin(&x.cancel, err) < 0)
		return -1;
	rc = policy_execute_here(in->arena, &x, q->cwd, end, err);
	run_interrupt_end();
	return rc;
}

/* The exit status, with the report filled in, or -1. */
static int execute_allowed(struct invocation *in, struct policy_question *q,
	struct execution_report *report, struct execution_end *end, struct error *err)
{
	struct node *tree;

	policy_question_check(in->arena, q, &tree, NULL);
	if (q->verdict.denied) {
		report->verdict = &q->verdict;
		log_denied(&q->verdict);
		return ERR_CHECK;
	}
	if (execute(in, q, tree, end, err) < 0)
		return -1;
	report->verdict = &q->verdict;
	report->end = end;
	log_end(end);
	if (end->unwritten && !end->denied) {
		errno = end->unwritten;
		return error_errno(err, "cannot write what the command put out");
	}
	return end_code(end);
}

static int run_exec(struct invocation *in, struct error *err)
{
	CLEANUP(policy_question_release) struct policy_question q = {.root = {.fd = -1}};
	CLEANUP(execution_end_release) struct execution_end end = {0};
	const struct policy_options *o = in->values;
	struct execution_report report = {0};
	struct error unwritten = {0};
	int rc;

	if (execution_report_try(in->arena, o->report, err) < 0)
		return -1;
	rc = read_question(in, &q, err);
	if (rc == 0) {
		report.policy = &q.policy;
		rc = execute_allowed(in, &q, &report, &end, err);
	}
	report.error = rc < 0 ? err : NULL;
	if (execution_report_write(in->arena, o->report, &report, &unwritten) < 0 && rc >= 0) {
		*err = unwritten;
		rc = -1;
	}
	return rc;
}

/* ---- the others ---- */

static int run_test(struct invocation *in, struct error *err)
{
	const struct policy_options *o = in->values;

	return table_test(in->arena, o->tree, in->words, in->n, o->json, in->out, err);
}

static int run_show(struct invocation *in, struct error *err)
{
	const char *const *names = policy_shipped();
	struct str text;

	for (size_t i = 0; !in->n && names[i]; i++)
		buf_addf(in->out, "%s\n", names[i]);
	if (!in->n)
		return 0;
	text = policy_shipped_text(in->words[0]);
	if (!text.p)
		return error_set(
			err, ERR_INPUT, "there is no shipped policy '%.60s'", in->words[0]);
	buf_add(in->out, text);
	return 0;
}

static int run_layers(struct invocation *in, struct error *err)
{
	const struct policy_options *o = in->values;
	struct host host;

	if (beneath_needed(err) < 0)
		return -1;
	host_probe(&host);
	if (o->json)
		json_print_line(in->out, host_json(&host));
	else
		host_show(in->out, &host);
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("check", "[-- COMMAND...]", run_check,
		"print 'allow', or 'deny RULE FROM-TO ...: REASON' with exit status 1",
		.options = {question_options, CLI_JSON_TABLE(struct policy_options)}),
	CLI_SUBCOMMAND("explain", "[-- COMMAND...]", run_check,
		"as check, with the syntax tree of the command and every rule that was applied",
		.options = {question_options, CLI_JSON_TABLE(struct policy_options)}),
	CLI_SUBCOMMAND("exec", "[-- COMMAND...]", run_exec,
		"run a command, if it is allowed, in the kernel's sandbox",
		.details = "Runs the syntax tree of the command, never its text: no shell is "
			   "started. The exit status is the command's own; 1 with a line 'deny "
			   "...' on standard error if it is denied, 124 at the time limit, 127 for "
			   "a program that is not installed. --report FILE tells the two apart.",
		.options = {question_options, exec_options}),
	CLI_SUBCOMMAND("test", "FILE...", run_test,
		"check rows of commands against the verdicts that they expect",
		.options = {test_options, CLI_JSON_TABLE(struct policy_options)}),
	CLI_SUBCOMMAND("show", "[NAME]", run_show, "list the shipped policies, or print one"),
	CLI_SUBCOMMAND("layers", NULL, run_layers,
		"print what this host has to enforce a policy with",
		.options = {CLI_JSON_TABLE(struct policy_options)}),
	NULL,
};

const struct verb verb_policy = {
	.name = "policy",
	.group = "Plumbing",
	.about = "check shell commands against a policy, run them in a sandbox, test policies",
	.details =
		"COMMAND is one word with a whole command line in it, or several words, which are "
		"taken literally.\n"
		"\n"
		"Exit status: 3 if the policy, the clearance file or a row is refused; 4 if this "
		"host lacks a layer that the policy requires; 5 if the command could not be run.",
	.examples = "dev-team policy check -- 'git log --oneline | head -n 3'\n"
		    "dev-team policy explain --policy developer -- make test\n"
		    "dev-team policy exec --policy build -- make",
	.size = sizeof(struct policy_options),
	.subcommands = subcommands,
};
