#include <errno.h>
#include <fcntl.h>
#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/run/interrupt.h"
#include "src/cli/policy_report.h"

enum { TIMEOUT_MAX = 86400 }; /* as a policy may say */

static int read_timeout(const char *text, unsigned *out, struct error *err)
{
	long n = 0;

	if (text && read_seconds("timeout", text, 1, TIMEOUT_MAX, &n, err) < 0)
		return -1;
	*out = (unsigned)n;
	return 0;
}

static void say_denied(const struct verdict *v)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	verdict_line(&line, v);
	log_line("%s", line.s);
}

/* What people should know beside the output of the command. */
static void say_end(const struct execution_end *end)
{
	if (end->denied)
		say_denied(&end->verdict);
	if (end->timed_out)
		log_line("dev-team: ended at its time limit");
	if (end->cut)
		log_line("dev-team: output was left out: it was over the policy's limit");
	for (size_t i = 0; i < end->changed.n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		text_visible(&name, str_of(end->changed.p[i]));
		log_line("dev-team: the command changed the protected '%s'; it was put back",
			name.s);
	}
}

static int end_code(const struct execution_end *end)
{
	if (end->denied || end->changed.n)
		return ERR_CHECK;
	if (end->cancelled && interrupt_caught())
		return 128 + interrupt_caught();
	return end->status;
}

static int execute(struct invocation *in, const struct policy_question *q, struct node *tree,
	unsigned timeout_s, struct execution_end *end, struct error *err)
{
	struct host host;
	struct str cwd = STR("");
	struct verdict ignored = {0};
	struct execution x = {.policy = &q->policy,
		.root = &q->root,
		.host = &host,
		.tree = tree,
		.text = q->command,
		.in = in->args->value[POLICY_STDIN] ? STDIN_FILENO : -1,
		.out = STDOUT_FILENO,
		.err = STDERR_FILENO,
		.timeout_s = timeout_s,
		.cancel = -1};
	int rc;

	if (policy_cwd(in->arena, &q->root, q->cwd, &cwd, &ignored) < 0)
		return error_set(err, ERR_INPUT, "%s", ignored.reason);
	x.cwd = arena_dup(in->arena, cwd);
	if (interrupt_begin(&x.cancel, err) < 0)
		return -1;
	/* The run itself tries what is expected of the host; what is missing is found out after. */
	host_expect(&host);
	rc = policy_execute(in->arena, &x, end, err);
	if (rc < 0 && !end->started) {
		host_probe(&host);
		rc = policy_execute(in->arena, &x, end, err);
	}
	interrupt_end();
	return rc;
}

static void release_end(struct execution_end *end)
{
	json_free(&end->layers);
}

/* 0 or a code of its own with the outcome filled in, or -1. */
static int run(struct invocation *in, struct policy_question *q, unsigned timeout_s,
	struct policy_outcome *o, struct execution_end *end, struct error *err)
{
	struct node *tree;

	if (policy_ask(in, q, &tree, NULL) < 0) {
		o->verdict = &q->verdict;
		say_denied(&q->verdict);
		return ERR_CHECK;
	}
	if (execute(in, q, tree, timeout_s, end, err) < 0)
		return -1;
	o->verdict = &q->verdict;
	o->end = end;
	say_end(end);
	if (end->unwritten && !end->denied) {
		errno = end->unwritten;
		return error_errno(err, "cannot write what the command put out");
	}
	return end_code(end);
}

int policy_exec(struct invocation *in, struct error *err)
{
	CLEANUP(policy_question_end) struct policy_question q = {.root = {.fd = -1}};
	const char *file = in->args->value[POLICY_REPORT];
	CLEANUP(release_end) struct execution_end end = {0};
	struct policy_outcome o = {0};
	struct error unwritten = {0};
	unsigned timeout_s;
	int rc;

	if (read_timeout(in->args->value[POLICY_TIMEOUT], &timeout_s, err) < 0 ||
		policy_report_try(in->arena, file, err) < 0)
		return -1;
	rc = policy_question(in, 1, &q, err);
	if (rc == 0) {
		o.policy = &q.policy;
		rc = run(in, &q, timeout_s, &o, &end, err);
	}
	o.error = rc < 0 ? err : NULL;
	if (policy_report_write(in->arena, file, &o, &unwritten) < 0 && rc >= 0) {
		*err = unwritten;
		rc = -1;
	}
	return rc;
}
