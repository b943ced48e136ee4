#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/sys/procfs.h"
#include "src/sys/spawn.h"
#include "src/sys/strays.h"

enum {
	CHUNK = 16384,
	ROUND_MS = 5,  /* between two looks at what is ending */
	BLIND_MS = 10, /* where a process cannot be polled */
	REST_MAX =
		1024, /* chunks that a pipe can hold; one that we could not end writes for ever */
	STUCK_MS = 10000, /* after KILL: in the kernel for ever; not waited for */
};

struct running {
	const struct process *p;
	struct process_end *end;
	struct spawned s;
	struct strays strays;
	size_t passed; /* bytes that went to p->output */
	bool cut;      /* and there were more than it takes */
	bool ended;
	bool unheard;     /* p->heard wants no more: it is to end */
	int output_errno; /* reading what it wrote failed */
	bool unborn;      /* killed before the program began: that says nothing about the program */
};

/* As much as there is room for, and once a word in place of the rest. A full disk ends nothing. */
static void pass_on(struct running *r, struct str bytes)
{
	const struct process *p = r->p;
	size_t room = p->output_max - r->passed;
	struct error ignored;

	if (r->cut)
		return;
	r->cut = bytes.n > room;
	bytes.n = r->cut ? room : bytes.n;
	r->passed += bytes.n;
	(void)fd_write_all(p->output, bytes, "output", &ignored);
	if (r->cut && p->output_cut)
		(void)fd_write_all(p->output, str_of(p->output_cut), "output", &ignored);
}

static void keep(struct running *r, bool errors, const char *bytes, size_t n)
{
	const struct process *p = r->p;
	size_t room = p->out && p->out->len < p->out_max ? p->out_max - p->out->len : 0;

	if (p->output >= 0) {
		pass_on(r, (struct str){bytes, n});
		return;
	}
	if (p->heard)
		r->unheard = !p->heard(p->data, errors, (struct str){bytes, n}) || r->unheard;
	else if (room)
		buf_add(p->out, (struct str){bytes, n < room ? n : room});
}

static bool take(struct running *r, int *fd)
{
	char bytes[CHUNK];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = read(*fd, bytes, sizeof(bytes));
	if (n > 0)
		keep(r, fd == &r->s.errors, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		r->output_errno = n < 0 ? errno : r->output_errno;
		close(*fd);
		*fd = -1;
	}
	return n > 0;
}

/* What is there now. False: nothing more at the moment, or ever. */
static bool take_output(struct running *r)
{
	bool more = take(r, &r->s.output);

	return take(r, &r->s.errors) || more;
}

/* It stays a zombie until its group has been told: so the number is still its own. */
static bool has_ended(struct running *r)
{
	siginfo_t info = {0};
	struct proc_info self;

	if (waitid(P_PID, (id_t)r->s.pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD;
	if (!info.si_pid)
		return false;
	r->end->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	r->unborn = info.si_code != CLD_EXITED && proc_info(r->s.pid, &self) && self.unborn;
	return true;
}

static int poll_ms(const struct running *r, int64_t deadline, int64_t tick)
{
	int64_t until = deadline < 0 || (tick >= 0 && tick < deadline) ? tick : deadline;
	int64_t left = until < 0 ? INT_MAX : until - clock_ticks();

	if (r->s.handle < 0 && left > BLIND_MS)
		left = BLIND_MS;
	if (left > INT_MAX)
		left = INT_MAX;
	return left < 0 ? 0 : until < 0 && left == INT_MAX ? -1 : (int)left;
}

static void tell_tick(const struct process *p, int64_t *next)
{
	if (*next < 0 || clock_ticks() < *next)
		return;
	p->tick(p->data);
	*next = clock_ticks() + p->tick_ms;
}

/* Until the program has ended, its time is over, or it is cancelled. */
static void await(struct running *r)
{
	const struct process *p = r->p;
	int64_t deadline = p->timeout_s ? clock_ticks() + (int64_t)p->timeout_s * 1000 : -1;
	int64_t tick = p->tick && p->tick_ms ? clock_ticks() + p->tick_ms : -1;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = r->s.handle, .events = POLLIN},
			{.fd = r->s.output, .events = POLLIN},
			{.fd = r->s.errors, .events = POLLIN},
			{.fd = p->cancel ? p->cancel : -1, .events = POLLIN},
		};

		if (poll(fds, COUNT(fds), poll_ms(r, deadline, tick)) < 0 && errno != EINTR)
			return;
		if (fds[1].revents || fds[2].revents)
			(void)take_output(r);
		tell_tick(p, &tick);
		r->ended = has_ended(r);
		r->end->cancelled = !r->ended && (fds[3].revents || r->unheard);
		r->end->timed_out = !r->ended && deadline >= 0 && clock_ticks() >= deadline;
		if (r->ended || r->end->cancelled || r->end->timed_out)
			return;
	}
}

static void pause_round(struct running *r)
{
	struct pollfd fds[] = {
		{.fd = r->s.output, .events = POLLIN},
		{.fd = r->s.errors, .events = POLLIN},
	};

	(void)poll(fds, COUNT(fds), ROUND_MS);
	(void)take_output(r);
}

/* The program itself, with its group. True once it is waited for. */
static bool end_leader(struct running *r, bool now)
{
	r->ended = r->ended || has_ended(r);
	if (now)
		(void)kill(-r->s.pid, SIGKILL);
	if (!r->ended)
		return false;
	(void)waitpid(r->s.pid, NULL, 0);
	return true;
}

/* TERM to all that is left, KILL after the grace, until none is left. */
static void end_all(struct running *r)
{
	int64_t from = clock_ticks();
	int64_t grace = r->p->grace_ms ? r->p->grace_ms : PROCESS_GRACE_MS;
	bool gone = false;

	(void)kill(-r->s.pid, SIGTERM);
	(void)kill(-r->s.pid, SIGCONT);
	for (;;) {
		int64_t passed = clock_ticks() - from;
		bool now = passed >= grace;

		gone = gone || end_leader(r, now);
		if (gone && !strays_end(&r->strays, now))
			return;
		if (passed >= grace + STUCK_MS)
			return;
		pause_round(r);
	}
}

static void close_running(struct running *r)
{
	close_fd(&r->s.handle);
	close_fd(&r->s.output);
	close_fd(&r->s.errors);
	strays_release(&r->strays);
}

int process_run(const struct process *p, struct process_end *end, struct error *err)
{
	CLEANUP(close_running) struct running r = {.p = p, .end = end, .s = {-1, -1, -1, -1}};
	int64_t from = clock_ticks();

	*end = (struct process_end){0};
	strays_begin(&r.strays);
	if (spawn(p, &r.s, &end->missing, err) < 0)
		return -1;
	await(&r);
	end_all(&r);
	for (int i = 0; i < REST_MAX && take_output(&r); i++)
		;
	end->ms = clock_ticks() - from;
	if (r.unborn)
		return error_set(err, ERR_SYSTEM, "'%s' was killed before it began", p->argv[0]);
	if (r.output_errno) {
		errno = r.output_errno; /* half an answer must not be taken for one */
		return error_errno(err, "cannot read the output of '%s'", p->argv[0]);
	}
	return 0;
}
