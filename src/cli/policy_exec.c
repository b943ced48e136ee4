#include <errno.h>
#include <fcntl.h>
#include "src/base/path.h"
#include "src/cli/common.h"
#include "src/cli/interrupt.h"
#include "src/cli/policy.h"
#include "src/policy/execute.h"

enum { TIMEOUT_MAX = 604800 };

static int read_timeout(const char *text, unsigned *out, struct error *err)
{
	char *end;
	long n;

	*out = 0;
	if (!text)
		return 0;
	errno = 0;
	n = strtol(text, &end, 10);
	if (text[0] < '1' || text[0] > '9' || *end || errno || n > TIMEOUT_MAX)
		return error_set(err, ERR_USAGE, "bad value '%.40s' of --timeout: must be 1 to %d",
			text, TIMEOUT_MAX);
	*out = (unsigned)n;
	return 0;
}

/* Nothing is started before it is known that what comes of it can be told. */
static int open_report(const char *path, int *fd, struct error *err)
{
	if (!path)
		return 0;
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *fd < 0 ? error_errno(err, "cannot write '%s'", path) : 0;
}

static json *report_of(
	const struct policy_question *q, const struct verdict *v, const struct execution_end *end)
{
	json *j = verdict_object(end && end->denied ? &end->verdict : v);
	json *changed;

	json_put_str(j, "policy", str_of(q->policy.name));
	json_put_str(j, "violation", str_of(violation_name(q->policy.violation)));
	json_put_bool(j, "started", end != NULL);
	if (!end)
		return j;
	json_put_int(j, "status", end->status);
	json_put_bool(j, "timed_out", end->timed_out);
	json_put_bool(j, "cancelled", end->cancelled);
	json_put_bool(j, "output_cut", end->cut);
	json_put_int(j, "ms", end->ms);
	changed = json_array();
	for (size_t i = 0; i < end->changed.n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		text_visible(&name, str_of(end->changed.p[i]));
		json_push_str(changed, buf_str(&name));
	}
	json_put(j, "protected_changed", changed);
	if (end->layers)
		json_put(j, "layers", json_copy(end->layers));
	return j;
}

static int write_report(const struct policy_question *q, const char *path, int fd,
	const struct verdict *v, const struct execution_end *end, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;

	if (fd < 0)
		return 0;
	j = report_of(q, v, end);
	json_print(&text, j);
	buf_addc(&text, '\n');
	return fd_write_all(fd, buf_str(&text), path, err);
}

static void say_denied(const struct verdict *v)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	verdict_line(&line, v);
	say("%s", line.s);
}

/* What people should know beside the output of the command. */
static void say_end(const struct execution_end *end)
{
	if (end->denied)
		say_denied(&end->verdict);
	if (end->timed_out)
		say("dev-team: ended at its time limit");
	for (size_t i = 0; i < end->changed.n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		text_visible(&name, str_of(end->changed.p[i]));
		say("dev-team: the command changed the protected '%s'; it was put back", name.s);
	}
}

static int end_code(const struct execution_end *end)
{
	if (end->denied || end->changed.n)
		return ERR_CHECK;
	return end->status;
}

static int execute(struct invocation *in, const struct policy_question *q, struct node *tree,
	struct execution_end *end, struct error *err)
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
		.cancel = -1};
	int rc;

	if (read_timeout(in->args->value[POLICY_TIMEOUT], &x.timeout_s, err) < 0)
		return -1;
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

int policy_exec(struct invocation *in, struct error *err)
{
	CLEANUP(root_close) struct root root = {.fd = -1};
	CLEANUP(close_fd) int report = -1;
	const char *file = in->args->value[POLICY_REPORT];
	struct policy_question q;
	struct execution_end end = {0};
	struct verdict v;
	struct node *tree;
	int rc;

	if (policy_question(in, 1, &q, err) < 0)
		return -1;
	root = q.root;
	if (open_report(file, &report, err) < 0)
		return -1;
	if (policy_check(in->arena, &q.policy, &root, q.cwd, q.command, &tree, &v, NULL) < 0) {
		say_denied(&v);
		return write_report(&q, file, report, &v, NULL, err) < 0 ? -1 : ERR_CHECK;
	}
	if (execute(in, &q, tree, &end, err) < 0)
		return -1;
	say_end(&end);
	rc = write_report(&q, file, report, &v, &end, err);
	json_free(&end.layers);
	return rc < 0 ? -1 : end_code(&end);
}
