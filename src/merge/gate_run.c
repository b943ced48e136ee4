/* Programs under the gate. They inherit its lock, and so does all that they start. */
#include <poll.h>
#include "src/base/clock.h"
#include "src/merge/gate.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { TICK_MS = 100 };

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd && poll(&p, 1, 0) == 1 && p.revents;
}

int gate_pause(struct gate *g, unsigned ms, struct error *err)
{
	for (unsigned i = 0; i < ms && !is_readable(g->cancel); i += TICK_MS)
		clock_pause(TICK_MS);
	return is_readable(g->cancel) ? error_set(err, ERR_STATE, "interrupted")
				      : gate_check(g, err);
}

int gate_git(struct gate *g, const struct git_command *c, struct buf *out, int *status,
	struct error *err)
{
	struct git_command under = *c;
	VEC(const char *) env = {0};
	int rc;

	for (const char *const *e = g->env; *e; e++)
		vec_push_in(g->a, &env, *e);
	for (const char *const *e = c->env; e && *e; e++)
		vec_push_in(g->a, &env, *e);
	vec_push_in(g->a, &env, NULL);
	under.env = env.items;
	under.inherit = gate_descriptor(g);
	under.cancel = g->cancel;
	buf_clear(out);
	rc = git_command(&under, out, status, err);
	g->interrupted = g->interrupted || is_readable(g->cancel);
	if (g->interrupted)
		g->cancel = 0; /* the cleanup after an interrupt must not be interrupted by it */
	return rc;
}

/* ---- a command of the user ---- */

static bool gate_run_pass_on(void *data, bool errors, struct str piece)
{
	struct error ignored;

	(void)data;
	(void)sys_write_all(errors ? STDERR_FILENO : STDOUT_FILENO, piece, "output", &ignored);
	return true; /* a reader that has closed the output must not interrupt a change */
}

int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err)
{
	CLEANUP(gate_drop) struct gate *g = NULL;
	struct process program = {.argv = ask->argv,
		.output = ask->output,
		.on_output = ask->output < 0 ? gate_run_pass_on : NULL,
		.cancel = ask->gate.cancel};
	struct process_end end;

	if (gate_take(a, p, &ask->gate, &g, err) < 0)
		return -1;
	ask->fence = g->fence;
	if (is_readable(ask->gate.cancel))
		return error_set(err, ERR_STATE, "interrupted before the command was started");
	program.env = g->env;
	program.inherit = gate_descriptor(g);
	if (process_run(&program, &end, err) < 0)
		return -1;
	*status = end.status;
	return 0;
}
