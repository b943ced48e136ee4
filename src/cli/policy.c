#include <fnmatch.h>
#include <signal.h>
#include <unistd.h>
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/policy/check.h"
#include "src/policy/clearance.h"
#include "src/run/databases.h"
#include "src/run/run.h"
#include "src/sandbox/sandbox.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

enum { TIMEOUT_MAX_S = 86400 };

struct policy_options {
	const char *policy, *persona, *cwd, *root, *command_file, *report;
	int64_t timeout_s;
	bool give_stdin, keep_environment, json;
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
	OPTION_FLAG(struct policy_options, keep_environment, "keep-environment",
		"pass the whole environment on, with the keys in it"),
	OPTION_TEXT(struct policy_options, report, "report", "FILE",
		"write verdict, status, time and notes as one JSON object"),
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

static int read_question(struct invocation *in, struct policy_question *q, struct error *err)
{
	const struct policy_options *o = in->values;

	*q = (struct policy_question){.policy = {.name = "none"}, .cwd = o->cwd ? o->cwd : "."};
	return read_command(in, &q->command, err) < 0
		       ? -1
		       : policy_question_open(in->arena, q, o->root, o->policy, o->persona, err);
}

/* ---- check and explain ---- */

static void put_verdict(struct buf *out, const struct verdict *v)
{
	verdict_line(out, v);
	buf_addc(out, '\n');
}

static void put_explanation(struct buf *out, const struct policy_question *q)
{
	buf_addf(out, "policy %s, root %s\n", q->policy.name, q->root.path);
	if (q->verdict.unread)
		buf_adds(out, "the text was not understood, so no rule was applied to it\n");
	put_verdict(out, &q->verdict);
	if (q->verdict.denied || q->verdict.ask)
		buf_addf(out, "the rule checks whether: %s\n", rule_about(q->verdict.rule));
}

static int policy_run_check(struct invocation *in, struct error *err)
{
	struct policy_question q;
	const struct policy_options *o = in->values;

	if (read_question(in, &q, err) < 0)
		return -1;
	policy_question_check(in->arena, &q);
	if (o->json)
		json_print_line(in->out, verdict_object(&q.verdict));
	else if (strcmp(in->path, "policy explain") == 0)
		put_explanation(in->out, &q);
	else
		put_verdict(in->out, &q.verdict);
	return q.verdict.denied || q.verdict.ask ? ERR_CHECK : 0;
}

/* ---- exec ---- */

static void log_denied(const struct verdict *v)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	verdict_line(&line, v);
	error_log("%s", line.s);
}

static void log_end(const struct sandbox_end *end)
{
	if (end->timed_out)
		error_log("dev-team: ended at its time limit");
	for (size_t i = 0; i < end->notes.n; i++)
		error_log("dev-team: %s", end->notes.items[i]);
}

static int execute(struct invocation *in, const struct policy_question *q, struct sandbox_end *end,
	struct error *err)
{
	const struct policy_options *o = in->values;
	struct sandbox_command x = {.policy = &q->policy,
		.root = &q->root,
		.cwd = q->cwd,
		.text = q->command,
		.give_stdin = o->give_stdin,
		.keep_environment = o->keep_environment,
		.artifacts = policy_artifacts(in->arena),
		.timeout_s = (unsigned)o->timeout_s};
	int rc;

	if (x.artifacts && path_mkdirs(x.artifacts, err) < 0)
		return -1;
	pool_databases_pass(in->arena, &x);
	if (run_interrupt_begin(&x.cancel, err) < 0)
		return -1;
	rc = sandbox_run(in->arena, &x, end, err);
	run_interrupt_end();
	return rc;
}

/* The exit status, with the report filled in, or -1. Whoever calls `exec` has been asked. */
static int execute_allowed(struct invocation *in, struct policy_question *q,
	struct sandbox_report *report, struct sandbox_end *end, struct error *err)
{
	policy_question_check(in->arena, q);
	report->verdict = &q->verdict;
	if (q->verdict.denied) {
		log_denied(&q->verdict);
		return ERR_CHECK;
	}
	q->verdict.ask = false;
	report->end = end;
	if (execute(in, q, end, err) < 0)
		return -1;
	log_end(end);
	return end->cancelled && run_interrupt_caught() ? 128 + run_interrupt_caught()
							: end->status;
}

static int run_exec(struct invocation *in, struct error *err)
{
	struct policy_question q;
	const struct policy_options *o = in->values;
	struct sandbox_report report = {0};
	struct sandbox_end end = {0};
	struct error unwritten = {0};
	int rc;

	if (sandbox_report_try(in->arena, o->report, err) < 0)
		return -1;
	rc = read_question(in, &q, err);
	if (rc == 0) {
		report.policy = &q.policy;
		rc = execute_allowed(in, &q, &report, &end, err);
	}
	if (rc < 0) {
		report.error = err;
		if (!end.started)
			report.verdict = NULL;
	}
	if (sandbox_report_write(in->arena, o->report, &report, &unwritten) < 0 && rc >= 0) {
		*err = unwritten;
		rc = -1;
	}
	return rc;
}

/* ---- the others ---- */

/* With such a key, or the host's network, a program goes past the broker. */
static void put_advice(struct buf *out, const struct policy *p)
{
	static const char *const keys[] = {
		"*TOKEN*", "*KEY*", "*SECRET*", "*PASS*", "SSH_AUTH_SOCK"};
	const char *by = p->network == NETWORK_HOST ? "network: host" : NULL;

	for (size_t i = 0; !by && i < p->environment.n * COUNT(keys); i++)
		if (fnmatch(keys[i % COUNT(keys)], p->environment.p[i / COUNT(keys)], 0) == 0)
			by = p->environment.p[i / COUNT(keys)];
	if (by)
		buf_addf(out,
			"# The rules about remotes are advice: '%s' lets a program reach them "
			"itself.\n",
			by);
}

static int policy_run_show(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *const *names = policy_shipped();
	struct policy p;

	for (size_t i = 0; !in->n && names[i]; i++)
		buf_addf(in->out, "%s\n", names[i]);
	if (!in->n)
		return 0;
	buf_add(&text, policy_shipped_text(in->words[0]));
	if (policy_load(in->arena, in->words[0], &p, err) < 0 ||
		(!text.len && cli_read_text(&text, in->words[0], SIZE_MAX, err) < 0))
		return -1;
	put_advice(in->out, &p);
	buf_add(in->out, buf_str(&text));
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("check", "[-- COMMAND...]", policy_run_check,
		"print 'run', or 'deny' or 'ask' with ' RULE FROM-TO ...: REASON' and exit status "
		"1",
		.options = {question_options, CLI_JSON_TABLE(struct policy_options)}),
	CLI_SUBCOMMAND("explain", "[-- COMMAND...]", policy_run_check,
		"as check, with the policy, the root and what the rule is for",
		.options = {question_options, CLI_JSON_TABLE(struct policy_options)}),
	CLI_SUBCOMMAND("exec", "[-- COMMAND...]", run_exec,
		"run a command contained, unless a rule denies its text",
		.details =
			"The text goes to bash in a sandbox. The exit status is the command's "
			"own; 1 with a line 'deny ...' on standard error if it is denied, 124 at "
			"the time limit. --report FILE tells them apart.",
		.options = {question_options, exec_options}),
	CLI_SUBCOMMAND("show", "[NAME|FILE]", policy_run_show,
		"list the shipped policies, or print one, or that of a file"),
	NULL,
};

const struct verb verb_policy = {
	.name = "policy",
	.group = "Plumbing",
	.about = "check shell commands against a policy, run them contained",
	.details =
		"COMMAND is one word with a whole command line in it, or several words, which are "
		"taken literally.\n"
		"\n"
		"Exit status: 3 if the policy or the clearance file is refused; of 'exec' 4 if "
		"this host cannot contain commands, and 5 if the command could not be run.",
	.examples = "dev-team policy check -- 'git log --oneline | head -n 3'\n"
		    "dev-team policy explain --policy developer -- make test\n"
		    "dev-team policy exec --policy build -- make",
	.size = sizeof(struct policy_options),
	.subcommands = subcommands,
};
