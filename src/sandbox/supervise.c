/*
 * The parent's side of a run: passes on its output up to the cap, ends it at its time limit, when
 * it is cancelled or when a command was denied, and returns only when none of its processes is
 * left.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/sandbox/execute_internal.h"

enum {
	ROUND_MS = 5,     /* interval between checks of an ending run */
	STUCK_MS = 10000, /* after KILL: a process stuck in the kernel is not awaited any longer */
};

/* The first pipe, the second, both callers' ends, the process, the alarm, the caller's cancel. */
enum { FROM_OUT, FROM_ERR, TO_OUT, TO_ERR, HANDLE, ALARM, CANCEL, POLLED };

static void stream_close(struct stream *s)
{
	base_close(&s->from);
	s->from = -1;
}

/* Its reader has gone: writing must fail in the run too, as in a pipe. */
static void stream_break(struct run *r, struct stream *s)
{
	if (errno != EPIPE && !r->end->unwritten)
		r->end->unwritten = errno;
	s->broken = true;
	s->n = s->at = 0;
	stream_close(s);
}

static void wait_more(struct stream *s, struct str bytes)
{
	if (s->broken || !bytes.n)
		return;
	memcpy(s->waiting + s->n, bytes.p, bytes.n);
	s->n += bytes.n;
}

/* Output over the cap is read and dropped, so that the run continues. */
static void take(struct run *r, struct stream *s, struct str bytes)
{
	uint64_t cap = r->x->policy->limits.output;
	uint64_t room = !cap ? bytes.n : cap > r->passed ? cap - r->passed : 0;
	struct str kept = str_sub(bytes, 0, room < bytes.n ? (size_t)room : bytes.n);

	if (r->end->cut)
		return;
	wait_more(s, kept);
	r->passed += kept.n;
	r->end->cut = kept.n < bytes.n;
}

static size_t room_of(const struct stream *s)
{
	return RELAY_BYTES - s->n;
}

/* False: nothing at the moment, or ever. */
static bool stream_read(struct run *r, struct stream *s)
{
	char bytes[RELAY_BYTES];
	size_t room = room_of(s);
	ssize_t n;

	if (s->from < 0 || !room)
		return false;
	n = read(s->from, bytes, room);
	if (n > 0)
		take(r, s, (struct str){bytes, (size_t)n});
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		stream_close(s);
	return n > 0;
}

static void stream_write(struct run *r, struct stream *s)
{
	size_t left = s->n - s->at;
	ssize_t n = write(s->to, s->waiting + s->at, left < PIECE_BYTES ? left : PIECE_BYTES);

	if (n < 0 && errno != EINTR && errno != EAGAIN) {
		stream_break(r, s);
		return;
	}
	s->at += n > 0 ? (size_t)n : 0;
	if (s->at == s->n)
		s->at = s->n = 0;
}

static bool has_waiting(const struct stream *s)
{
	return s->n > s->at;
}

static void watch(const struct run *r, struct pollfd *fds)
{
	for (int i = 0; i < POLLED; i++)
		fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	for (int i = 0; i < 2; i++) {
		const struct stream *s = &r->streams[i];

		if (room_of(s))
			fds[FROM_OUT + i].fd = s->from;
		if (has_waiting(s))
			fds[TO_OUT + i] = (struct pollfd){.fd = s->to, .events = POLLOUT};
	}
}

static void relay(struct run *r, const struct pollfd *fds)
{
	for (int i = 0; i < 2; i++) {
		if (fds[TO_OUT + i].revents)
			stream_write(r, &r->streams[i]);
		if (fds[FROM_OUT + i].revents)
			(void)stream_read(r, &r->streams[i]);
	}
}

/* It stays a zombie until its group has been told: so the number is still its own. */
static bool has_ended(struct run *r)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD;
	if (!info.si_pid)
		return false;
	r->end->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	return true;
}

static int left_ms(int64_t deadline)
{
	int64_t left = deadline < 0 ? -1 : deadline - clock_ticks();

	if (deadline < 0)
		return -1;
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Returns when it has ended, timed out, was cancelled, or a command was denied. */
static void await(struct run *r, int64_t deadline)
{
	for (;;) {
		struct pollfd fds[POLLED];

		watch(r, fds);
		fds[HANDLE].fd = r->handle;
		fds[ALARM].fd = r->alarm[0];
		fds[CANCEL].fd = r->x->cancel;
		if (poll(fds, POLLED, left_ms(deadline)) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		relay(r, fds);
		r->ended = has_ended(r);
		if (r->ended || shared_denied(r->shared))
			return;
		r->end->cancelled = fds[CANCEL].revents;
		r->end->timed_out = deadline >= 0 && clock_ticks() >= deadline;
		if (r->end->cancelled || r->end->timed_out)
			return;
	}
}

static void pause_round(struct run *r, int ms)
{
	struct pollfd fds[POLLED];

	watch(r, fds);
	fds[HANDLE].fd = r->ended ? -1 : r->handle;
	(void)poll(fds, POLLED, ms);
	relay(r, fds);
}

/* The first process, with its group; in a PID namespace its end is that of all. True once it is
 * waited for. */
static bool end_leader(struct run *r, bool now)
{
	r->ended = r->ended || has_ended(r);
	if (now) {
		(void)kill(-r->pid, SIGKILL);
		(void)kill(r->pid, SIGKILL);
		sandbox_kill(&r->sandbox);
	}
	if (!r->ended)
		return false;
	(void)waitpid(r->pid, NULL, 0);
	return true;
}

static int64_t grace_of(const struct run *r)
{
	return r->x->grace_ms ? r->x->grace_ms : PROCESS_GRACE_MS;
}

/* Sends SIGTERM to the remaining processes and, after the grace period, SIGKILL until all have
 * ended. */
static void end_all(struct run *r)
{
	int64_t from = clock_ticks();
	int64_t grace = grace_of(r);
	bool gone = false;

	(void)kill(-r->pid, SIGTERM);
	(void)kill(-r->pid, SIGCONT);
	for (;;) {
		int64_t passed = clock_ticks() - from;
		bool now = passed >= grace;

		gone = gone || end_leader(r, now);
		if (gone && !subreaper_round(&r->orphans, now))
			return;
		if (passed >= grace + STUCK_MS)
			return;
		pause_round(r, ROUND_MS);
	}
}

/*
 * Drains the pipes. Waits for a slow reader as long as the run could have continued; after a run
 * that was ended, only a moment.
 */
static void drain(struct run *r, int64_t deadline)
{
	if (r->end->timed_out || r->end->cancelled || shared_denied(r->shared))
		deadline = clock_ticks() + grace_of(r);
	for (;;) {
		bool more = false;

		for (int i = 0; i < 2; i++) {
			while (stream_read(r, &r->streams[i]))
				;
			more |= has_waiting(&r->streams[i]);
		}
		if (!more)
			return;
		if (deadline >= 0 && clock_ticks() >= deadline) {
			r->end->cut = true;
			return;
		}
		pause_round(r, left_ms(deadline));
	}
}

void supervise(struct run *r)
{
	unsigned limit = r->x->timeout_s ? r->x->timeout_s : r->x->policy->limits.timeout_s;
	int64_t deadline = limit ? clock_ticks() + (int64_t)limit * 1000 : -1;

	await(r, deadline);
	end_all(r);
	drain(r, deadline);
	if (r->end->timed_out)
		r->end->status = 124;
	else if (r->end->cancelled)
		r->end->status = 128 + SIGTERM;
}
