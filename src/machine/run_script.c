#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/procfs.h"
#include "src/machine/run_script.h"
#include "src/machine/script.h"

enum {
	BLIND_MS = 20,
	FAREWELL_MS = 30000,
	NUDGE_MS = 1000,  /* after the time limit, and from then on */
	LOST_MS = 120000, /* after the time limit: no guard takes so long to end and to record */
};

/* Signals are taken as data while we wait, so that none falls between two calls. */
struct watch {
	const char *policy; /* as wished; NULL: none */
	bool seen; /* a guard at work: when it is gone without a result there is no second one */
	int told;  /* that guard's lock file, which outlives its name: the reason is in it */
	sigset_t before;
	int signals;   /* descriptor */
	int caught;    /* the first one; 0: none */
	int64_t until; /* -1: to the end */
	int64_t nudge; /* when to see whether the guard can work at all; -1: never */
	int64_t lost;  /* when it is given up */
};

enum seen { SEEN_END, SEEN_LATE, SEEN_SIGNAL, SEEN_LOST, SEEN_NOTHING };

static void watch_begin(struct watch *w, int wait_s)
{
	static const int ours[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(ours); i++) {
		struct sigaction now;

		if (sigaction(ours[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, ours[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->seen = false;
	w->told = -1;
	w->caught = 0;
	w->until = wait_s < 0 ? -1 : clock_ticks() + (int64_t)wait_s * 1000;
}

/* What was caught now takes its effect: by default, this is the end of the process. */
static void watch_end(struct watch *w)
{
	close_fd(&w->told);
	close_fd(&w->signals);
	(void)sigprocmask(SIG_SETMASK, &w->before, NULL);
	if (w->caught)
		(void)raise(w->caught);
}

static bool is_alive(const struct guard_id *g)
{
	struct proc_info info;

	return proc_info(g->pid, &info) && info.start == g->start && info.state != 'Z';
}

/* A guard that was stopped keeps no time limit: it is sent on its way. */
static void nudge(struct watch *w, const struct guard_id *g)
{
	struct proc_info info;

	if (w->nudge < 0 || clock_ticks() < w->nudge)
		return;
	w->nudge = clock_ticks() + NUDGE_MS;
	if (proc_info(g->pid, &info) && info.start == g->start && info.state == 'T')
		(void)kill(g->pid, SIGCONT);
}

static int wait_ms(const struct watch *w, bool blind)
{
	int64_t left = w->until < 0 ? 60000 : w->until - clock_ticks();

	if (w->nudge >= 0 && left > w->nudge - clock_ticks())
		left = w->nudge - clock_ticks();
	if (blind && left > BLIND_MS)
		left = BLIND_MS;
	return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static enum seen watch_guard(struct watch *w, const struct guard_id *g, int handle)
{
	for (;;) {
		struct pollfd fds[] = {
			{.fd = handle, .events = POLLIN},
			{.fd = w->caught ? -1 : w->signals, .events = POLLIN},
		};
		struct signalfd_siginfo info;

		(void)poll(fds, COUNT(fds), wait_ms(w, handle < 0));
		if (fds[0].revents || (handle < 0 && !is_alive(g)))
			return SEEN_END;
		if (!w->caught && read(w->signals, &info, sizeof(info)) == sizeof(info)) {
			w->caught = (int)info.ssi_signo;
			return SEEN_SIGNAL;
		}
		if (w->until >= 0 && clock_ticks() >= w->until)
			return SEEN_LATE;
		if (w->nudge >= 0 && clock_ticks() >= w->lost)
			return SEEN_LOST;
		nudge(w, g);
	}
}

/* The script is ended before we are. A guard that is stopped hears of it only when it goes on. */
static void end_guard(struct arena *a, const struct script *s, struct watch *w,
	const struct guard_id *g, int handle)
{
	if (is_alive(g)) {
		(void)kill(g->pid, SIGTERM);
		(void)kill(g->pid, SIGCONT);
	}
	w->until = clock_ticks() + FAREWELL_MS;
	w->nudge = -1;
	if (watch_guard(w, g, handle) == SEEN_END)
		return;
	if (is_alive(g))
		(void)kill(g->pid, SIGKILL);
	w->until = clock_ticks() + FAREWELL_MS;
	(void)watch_guard(w, g, handle);
	script_end_leftovers(script_mark(a, s->lock));
}

/* A guard that has not signed yet, or has just gone: look again in a moment. */
static enum seen look_again(struct watch *w)
{
	struct pollfd fd = {.fd = w->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	(void)poll(&fd, 1, 2);
	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return w->until >= 0 && clock_ticks() >= w->until ? SEEN_LATE : SEEN_NOTHING;
	w->caught = (int)info.ssi_signo;
	return SEEN_SIGNAL;
}

/* The caller's own clock: one that came later than the guard began only waits longer. */
static void set_limits(struct watch *w, const struct script *s)
{
	int64_t end = clock_ticks() + (int64_t)s->timeout_s * 1000;

	w->nudge = s->timeout_s ? end + NUDGE_MS : -1;
	w->lost = end + LOST_MS;
}

static enum seen attend(struct arena *a, const struct script *s, struct watch *w, int lock)
{
	CLEANUP(close_fd) int handle = -1;
	struct guard_id g;
	enum seen seen;

	if (!script_lock_read(lock, &g))
		return look_again(w);
	handle = (int)syscall(SYS_pidfd_open, g.pid, 0);
	if (!is_alive(&g))
		return look_again(w);
	set_limits(w, s);
	seen = watch_guard(w, &g, handle);
	if (seen == SEEN_SIGNAL || seen == SEEN_LOST) {
		int64_t until = w->until;

		end_guard(a, s, w, &g, handle);
		w->until = until;
	}
	return seen == SEEN_LOST ? SEEN_END : seen;
}

static void have_seen(struct watch *w, int lock)
{
	close_fd(&w->told);
	w->told = fcntl(lock, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	w->seen = true;
}

/* A second opening of the same file: a copy of the descriptor would hold the lock as well. */
static void begin_to_see(struct watch *w, int lock)
{
	CLEANUP(close_fd) int other = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", lock);
	other = open(path, O_RDONLY | O_CLOEXEC);
	have_seen(w, other);
}

/* It was killed, or it could not record: either way nothing of the script stays. */
static int no_result(
	struct arena *a, const struct script *s, const struct watch *w, struct error *err)
{
	char reason[512];

	script_end_leftovers(script_mark(a, s->lock));
	script_lock_reason(w->told, reason, sizeof(reason));
	return error_set(err, ERR_SYSTEM, "no result of '%.200s' was recorded%s%s (log: %s)", s->id,
		reason[0] ? ": " : "", reason, s->log);
}

/* What a killed guard could not remove any more. */
static void remove_lock(const struct script *s)
{
	struct error ignored;
	int fd = -1;
	int rc = access(s->lock, F_OK) == 0 ? script_lock(s->lock, &fd, &ignored) : -1;

	if (rc == 1)
		script_unlock(s->lock, &fd);
	else if (rc == 0)
		close(fd);
}

/*
 * With the lock in hand. 1: a guard is at work now. 0: answered in the meantime. A take-over looks
 * at the lock and fences what is not at work in one turn of its own: looking at the document
 * outside of such turns, a script could be started that is fenced in that moment.
 */
static int begin(struct arena *a, struct script *s, struct watch *w, int lock, struct error *err)
{
	if (script_load(a, s->document, s->id, w->policy, !w->seen, s, err) < 0)
		return -1;
	if (s->answer)
		return 0;
	if (w->seen)
		return no_result(a, s, w, err);
	begin_to_see(w, lock);
	return guard_start(s, lock, err) < 0 ? -1 : 1;
}

static char *running(struct arena *a, const struct script *s)
{
	return arena_printf(a, "running — log: %s", s->log);
}

static int interrupted(const struct script *s, const struct watch *w, struct error *err)
{
	remove_lock(s);
	return error_set(err, ERR_SYSTEM, "'%.200s' was ended by signal %d", s->id, w->caught);
}

/* One look. 1: look again; 0: *line is there. */
static int round_of(
	struct arena *a, struct script *s, struct watch *w, char **line, struct error *err)
{
	CLEANUP(close_fd) int lock = -1;
	enum seen seen;
	int got = script_lock(s->lock, &lock, err);

	if (got < 0)
		return -1;
	if (got) {
		int rc = begin(a, s, w, lock, err);

		if (rc <= 0)
			script_unlock(s->lock, &lock);
		*line = rc == 0 ? arena_dup(a, str_of(s->answer)) : NULL;
		return rc;
	}
	seen = attend(a, s, w, lock);
	if (seen == SEEN_SIGNAL)
		return interrupted(s, w, err);
	if (seen == SEEN_END)
		have_seen(w, lock);
	*line = seen == SEEN_LATE ? running(a, s) : NULL;
	return seen == SEEN_LATE ? 0 : 1;
}

static int drive(struct arena *a, struct script *s, struct watch *w, char **line, struct error *err)
{
	int rc = 1;

	while (rc == 1) {
		rc = round_of(a, s, w, line, err);
		if (rc == 1 && script_load(a, s->document, s->id, w->policy, false, s, err) < 0)
			rc = -1;
		if (rc == 1 && s->answer) {
			*line = arena_dup(a, str_of(s->answer));
			rc = 0;
		}
	}
	return rc;
}

int run_script_under(struct arena *a, const char *context_file, const char *action,
	const char *policy, int wait_s, char **line, struct error *err)
{
	struct script s;
	struct watch w;
	int rc;

	if (script_load(a, context_file, action, policy, false, &s, err) < 0)
		return -1;
	if (s.answer) {
		remove_lock(&s);
		*line = arena_dup(a, str_of(s.answer));
		return 0;
	}
	watch_begin(&w, wait_s);
	w.policy = policy;
	rc = drive(a, &s, &w, line, err);
	watch_end(&w);
	return rc;
}

int run_script(struct arena *a, const char *context_file, const char *action, int wait_s,
	char **line, struct error *err)
{
	return run_script_under(a, context_file, action, NULL, wait_s, line, err);
}
