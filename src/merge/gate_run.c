/*
 * The command runs below a guardian process. The guardian ends the command and its descendants when
 * the holder closes the pipe between them, which also happens when the holder dies. When the
 * guardian dies, the kernel ends the command.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/merge/gate_internal.h"

struct report {
	int rc;
	struct process_end end;
	struct error err;
};

struct guard {
	pid_t pid;
	int life; /* the holder's end; closed: end the command */
	int said; /* receives the report */
};

static bool pass_on(void *data, bool errors, struct str piece)
{
	struct error ignored;

	(void)data;
	(void)sys_write_all(errors ? STDERR_FILENO : STDOUT_FILENO, piece, "output", &ignored);
	return true; /* a reader that has closed the output must not interrupt a change */
}

/* The holder's locks must not outlive it here. */
static void close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low > 3)
		(void)syscall(SYS_close_range, 3u, low - 1, 0u);
	if (high > low + 1)
		(void)syscall(SYS_close_range, low + 1, high - 1, 0u);
	(void)syscall(SYS_close_range, high + 1, ~0u, 0u);
}

static _Noreturn void guard_command(
	const struct gate *g, const struct gate_run_ask *ask, int life, int said)
{
	struct report r = {0};
	struct process p = {.argv = ask->argv,
		.cwd = ask->cwd,
		.env = g->env,
		.output = ask->output,
		.on_output = ask->output < 0 ? pass_on : NULL,
		.cancel = life};
	ssize_t ignored;

	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	if (ask->output > STDERR_FILENO)
		p.output = dup2(ask->output, STDOUT_FILENO);
	close_others(life, said);
	r.rc = process_run(&p, &r.end, &r.err);
	ignored = write(said, &r, sizeof(r));
	(void)ignored;
	_exit(0);
}

static void guard_close(struct guard *d)
{
	base_close(&d->life);
	base_close(&d->said);
	if (d->pid > 0)
		while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* Both descriptors are above the standard ones, which main() has opened. */
static int guard_start(
	const struct gate *g, const struct gate_run_ask *ask, struct guard *d, struct error *err)
{
	int life[2] = {-1, -1}, said[2] = {-1, -1};

	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0) {
		base_close(&life[0]);
		base_close(&life[1]);
		return error_errno(err, "cannot create a pipe");
	}
	d->life = life[1];
	d->said = said[0];
	d->pid = fork();
	if (d->pid == 0)
		guard_command(g, ask, life[0], said[1]);
	close(life[0]);
	close(said[1]);
	return d->pid < 0 ? error_errno(err, "cannot start a process") : 0;
}

static void end_command(struct guard *d)
{
	base_close(&d->life);
	d->life = -1;
}

/* Renews the lease until the command has ended. -1: the gate was lost; the command is ended. */
static int watch(struct gate *g, struct guard *d, int cancel, struct error *err)
{
	int rc = 0;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = d->said, .events = POLLIN},
			{.fd = cancel && d->life >= 0 ? cancel : -1, .events = POLLIN},
		};

		if (poll(fds, COUNT(fds), rc < 0 ? -1 : gate_round_ms(g)) < 0 && errno != EINTR)
			return error_errno(err, "cannot wait for the command");
		if (fds[0].revents)
			return rc;
		if (fds[1].revents)
			end_command(d);
		if (rc == 0 && !gate_alive(g, err)) {
			rc = -1;
			end_command(d);
		}
	}
}

static int read_report(const struct guard *d, struct report *r, struct error *err)
{
	ssize_t n;

	do
		n = read(d->said, r, sizeof(*r));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		return error_set(err, ERR_SYSTEM, "the guardian of the command was killed");
	if (r->rc < 0)
		*err = r->err;
	return r->rc;
}

static int run_held(struct gate *g, const struct gate_run_ask *ask, int *status, struct error *err)
{
	CLEANUP(guard_close) struct guard d = {.life = -1, .said = -1};
	struct report r;

	if (gate_check(g, err) < 0 || guard_start(g, ask, &d, err) < 0 ||
		watch(g, &d, ask->cancel, err) < 0 || read_report(&d, &r, err) < 0)
		return -1;
	*status = r.end.status;
	return 0;
}

/* Between taking the gate and starting the command. */
static bool called_off(const struct gate_run_ask *ask, struct error *err)
{
	struct pollfd fd = {.fd = ask->cancel ? ask->cancel : -1, .events = POLLIN};

	if (poll(&fd, 1, 0) != 1 || !fd.revents)
		return false;
	error_set(err, ERR_STATE, "interrupted before the command was started");
	return true;
}

int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err)
{
	CLEANUP(gate_drop) struct gate *g = NULL;
	struct error ignored;
	int rc;

	if (gate_take_unless(a, p, ask->who, ask->wait_ms, ask->ttl_s, ask->cancel, &g, err) < 0)
		return -1;
	ask->fence = gate_fence(g);
	rc = called_off(ask, err) ? -1 : run_held(g, ask, status, err);
	if (!g->borrowed &&
		!g->lost) /* no other holder enters while one of its processes is running */
		(void)gate_end(&g->r, &g->self, &ignored);
	return rc;
}
