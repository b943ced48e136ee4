#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/machine/answer.h"
#include "src/machine/script.h"
#include "src/machine/script_internal.h"

/* The action as the document has it */

enum { TIMEOUT_MAX = 7 * 86400, TIMEOUT_DEFAULT = 1800 };

/* `.ADR-7.validating-1.exec` for `ADR-7/validating/1`. The id may have been edited: no `/` or `.`
 * of it reaches the path. */
static char *lock_path(struct arena *a, const struct context_file *f, const char *id)
{
	const char *slash = strchr(id, '/');
	char *part = arena_dup(a, str_of(slash ? slash + 1 : id));

	for (char *p = part; *p; p++)
		if (!(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z') &&
			*p != '_')
			*p = '-';
	return arena_printf(a, "%s/.%s.%s.exec", f->dir, f->name, part);
}

bool script_running(const struct context_file *f, const char *id)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(base_close) int fd = open(lock_path(&a, f, id), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

static const char *answer_of(struct arena *a, const struct context *c, const json *action)
{
	struct str rest = context_section(c, json_get_str(action, "write_section")), line;

	if (!action_answered(c, action))
		return NULL;
	if (!str_line(&rest, &line))
		line = action_word(c, action);
	return arena_dup(a, str_trim(line));
}

/* The path may have been edited, and the log is truncated: it must be a file in logs/. */
static int check_log(
	struct arena *a, const struct context_file *f, const struct script *s, struct error *err)
{
	const char *logs = arena_printf(a, "%s/logs/", f->dir);
	struct str log = str_of(s->log), name;

	name = str_starts(log, logs) ? str_sub(log, strlen(logs), log.n) : (struct str){0};
	if (!name.n || str_find(name, STR("/")) < name.n)
		return error_set(err, ERR_INPUT, "'log_file' of '%.200s' is not in '%s': '%.200s'",
			s->id, logs, s->log);
	return 0;
}

/* Reads the word that `*rest` begins with and that buf_add_shell() wrote; false if there is none.
 */
static bool cut_quoted(struct arena *a, struct str *rest, const char **out)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;
	struct str s = *rest;

	if (!str_starts(s, "'"))
		return false;
	for (s = str_sub(s, 1, s.n); s.n; s = str_sub(s, 1, s.n)) {
		if (s.p[0] != '\'') {
			buf_addc(&word, s.p[0]);
		} else if (str_starts(s, "'\\''")) {
			buf_addc(&word, '\'');
			s = str_sub(s, 3, s.n);
		} else {
			*rest = str_sub(s, 1, s.n);
			*out = arena_dup(a, buf_str(&word));
			return true;
		}
	}
	return false;
}

/* Splits `cd DIRECTORY || exit 125; REST`, as a step writes it; another form runs as it is. */
static void split_command(struct arena *a, struct script *s)
{
	static const char go[] = " || exit 125; ";
	struct str rest = str_of(s->command);

	s->directory = ".";
	s->inner = s->command;
	if (!str_starts(rest, "cd "))
		return;
	rest = str_sub(rest, 3, rest.n);
	if (cut_quoted(a, &rest, &s->directory) && str_starts(rest, go))
		s->inner = arena_dup(a, str_sub(rest, sizeof(go) - 1, rest.n));
	else
		s->directory = ".";
}

static int fill_policy(struct arena *a, const json *action, const char *wished, struct script *s,
	struct error *err)
{
	const json *security = json_get(action, "security");

	if (security) {
		s->policy = arena_dup(a, str_of(json_get_str(security, "policy")));
		s->directory = arena_dup(a, str_of(json_get_str(security, "folder")));
		s->inner = arena_dup(a, str_of(json_get_str(security, "script")));
		if (json_get(security, "violation"))
			s->violation = arena_dup(a, str_of(json_get_str(security, "violation")));
	}
	if (!wished || (s->policy && strcmp(s->policy, wished) == 0))
		return 0;
	if (s->policy)
		return error_set(err, ERR_STATE, "'%.200s' runs under the policy '%.200s'", s->id,
			s->policy);
	s->policy = wished;
	split_command(a, s);
	return 0;
}

static int fill(struct arena *a, const struct context_file *f, const json *action,
	const char *policy, struct script *s, struct error *err)
{
	int64_t timeout = json_get_int(action, "timeout_s", TIMEOUT_DEFAULT);

	if (strcmp(json_get_str(action, "action"), "run_script") != 0)
		return error_set(err, ERR_INPUT, "action '%.200s' is not a run_script but a %s",
			s->id, json_get_str(action, "action"));
	s->document = arena_dup(a, str_of(f->path));
	s->command = arena_dup(a, str_of(json_get_str(action, "command")));
	s->log = arena_dup(a, str_of(json_get_str(action, "log_file")));
	s->timeout_s = (unsigned)(timeout > TIMEOUT_MAX ? TIMEOUT_MAX : timeout);
	s->lock = lock_path(a, f, s->id);
	s->answer = answer_of(a, &f->doc, action);
	return check_log(a, f, s, err) < 0 ? -1 : fill_policy(a, action, policy, s, err);
}

/* Loads action `id`. `locked`: holds the document's lock meanwhile. `policy`: see
 * script_run_under().
 */
static int script_load(struct arena *a, const char *document, const char *id, const char *policy,
	bool locked, struct script *s, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const json *action;

	*s = (struct script){.id = id};
	if (context_open(&f, document, locked ? CONTEXT_MUST_EXIST : CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &array, err) < 0)
		return -1;
	action = action_find(array, id);
	if (!action)
		return answer_refuse_stale(&f, id, err);
	return fill(a, &f, action, policy, s, err);
}

/* Waiting for the guard */

enum {
	POLL_MS = 20,       /* without a pidfd */
	END_MS = 30000,     /* for a guard to end its script */
	CONTINUE_MS = 1000, /* after the time limit, and from then on */
	LOST_MS = 120000,   /* after the time limit: no guard needs this long to end and record */
};

/* Signals are read from a descriptor while we wait, so that none is missed between two calls. */
struct guard_watch {
	const char *policy; /* requested by the caller; NULL: none */
	bool seen;  /* a guard was running: if it ends without a result, none is started again */
	int reason; /* that guard's lock file, kept open: the guard writes its reason into it */
	sigset_t before;
	int signals;   /* descriptor */
	int caught;    /* the first one; 0: none */
	int64_t until; /* -1: to the end */
	int64_t wake;  /* when to check that the guard is not stopped; -1: never */
	int64_t lost;  /* when it is given up */
};

enum seen { SEEN_END, SEEN_LATE, SEEN_SIGNAL, SEEN_LOST, SEEN_NOTHING };

static void watch_begin(struct guard_watch *w, int wait_s)
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
	w->reason = -1;
	w->caught = 0;
	w->until = wait_s < 0 ? -1 : clock_ticks() + (int64_t)wait_s * 1000;
}

/* A caught signal now takes its usual effect: by default it ends the process. */
static void watch_end(struct guard_watch *w)
{
	base_close(&w->reason);
	base_close(&w->signals);
	(void)sigprocmask(SIG_SETMASK, &w->before, NULL);
	if (w->caught)
		(void)raise(w->caught);
}

static bool is_alive(const struct guard_id *g)
{
	struct process_info info;

	return process_info(g->pid, &info) && info.start == g->start && info.state != 'Z';
}

/* A stopped guard (SIGSTOP) keeps no time limit: continues it. */
static void wake_guard(struct guard_watch *w, const struct guard_id *g)
{
	struct process_info info;

	if (w->wake < 0 || clock_ticks() < w->wake)
		return;
	w->wake = clock_ticks() + CONTINUE_MS;
	if (process_info(g->pid, &info) && info.start == g->start && info.state == 'T')
		(void)kill(g->pid, SIGCONT);
}

static int wait_ms(const struct guard_watch *w, bool must_poll)
{
	int64_t left = w->until < 0 ? 60000 : w->until - clock_ticks();

	if (w->wake >= 0 && left > w->wake - clock_ticks())
		left = w->wake - clock_ticks();
	if (must_poll && left > POLL_MS)
		left = POLL_MS;
	return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static enum seen watch_guard(struct guard_watch *w, const struct guard_id *g, int handle)
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
		if (w->wake >= 0 && clock_ticks() >= w->lost)
			return SEEN_LOST;
		wake_guard(w, g);
	}
}

/* Ends the script before the caller ends. A stopped guard must be continued to see the signal. */
static void end_guard(
	const struct script *s, struct guard_watch *w, const struct guard_id *g, int handle)
{
	if (is_alive(g)) {
		(void)kill(g->pid, SIGTERM);
		(void)kill(g->pid, SIGCONT);
	}
	w->until = clock_ticks() + END_MS;
	w->wake = -1;
	if (watch_guard(w, g, handle) == SEEN_END)
		return;
	if (is_alive(g))
		(void)kill(g->pid, SIGKILL);
	w->until = clock_ticks() + END_MS;
	(void)watch_guard(w, g, handle);
	script_end_leftovers(s);
}

/* The guard has not signed yet, or has just ended: waits a moment. */
static enum seen wait_briefly(struct guard_watch *w)
{
	struct pollfd fd = {.fd = w->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	(void)poll(&fd, 1, 2);
	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return w->until >= 0 && clock_ticks() >= w->until ? SEEN_LATE : SEEN_NOTHING;
	w->caught = (int)info.ssi_signo;
	return SEEN_SIGNAL;
}

/* Counted from now: a caller that came later than the guard waits longer. */
static void set_limits(struct guard_watch *w, const struct script *s)
{
	int64_t end = clock_ticks() + (int64_t)s->timeout_s * 1000;

	w->wake = s->timeout_s ? end + CONTINUE_MS : -1;
	w->lost = end + LOST_MS;
}

static enum seen wait_for_guard(const struct script *s, struct guard_watch *w, int lock)
{
	CLEANUP(base_close) int handle = -1;
	struct guard_id g;
	enum seen seen;

	if (!script_lock_read(lock, &g))
		return wait_briefly(w);
	handle = (int)syscall(SYS_pidfd_open, g.pid, 0);
	if (!is_alive(&g))
		return wait_briefly(w);
	set_limits(w, s);
	seen = watch_guard(w, &g, handle);
	if (seen == SEEN_SIGNAL || seen == SEEN_LOST) {
		int64_t until = w->until;

		end_guard(s, w, &g, handle);
		w->until = until;
	}
	return seen == SEEN_LOST ? SEEN_END : seen;
}

static void remember_guard(struct guard_watch *w, int lock)
{
	base_close(&w->reason);
	w->reason = fcntl(lock, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	w->seen = true;
}

/* Opens the file again: a copy of the descriptor would hold the lock too. */
static void remember_own_guard(struct guard_watch *w, int lock)
{
	CLEANUP(base_close) int other = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", lock);
	other = open(path, O_RDONLY | O_CLOEXEC);
	remember_guard(w, other);
}

/* The guard was killed or could not record: ends whatever the script left running. */
static int no_result(const struct script *s, const struct guard_watch *w, struct error *err)
{
	char reason[512];

	script_end_leftovers(s);
	script_lock_reason(w->reason, reason, sizeof(reason));
	return error_set(err, ERR_SYSTEM, "no result of '%.200s' was recorded%s%s (log: %s)", s->id,
		reason[0] ? ": " : "", reason, s->log);
}

/* Removes the lock file of a killed guard. */
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
 * We hold the script's lock: starts a guard. 1: it runs. 0: the action was answered meanwhile.
 * Loads the action under the document's lock: a take-over reads the script's lock and fences the
 * action under the document's lock too, so a script that is being fenced cannot be started.
 */
static int start_guard(
	struct arena *a, struct script *s, struct guard_watch *w, int lock, struct error *err)
{
	if (script_load(a, s->document, s->id, w->policy, !w->seen, s, err) < 0)
		return -1;
	if (s->answer)
		return 0;
	if (w->seen)
		return no_result(s, w, err);
	remember_own_guard(w, lock);
	return guard_start(s, lock, err) < 0 ? -1 : 1;
}

static int interrupted(const struct script *s, const struct guard_watch *w, struct error *err)
{
	remove_lock(s);
	return error_set(err, ERR_SYSTEM, "'%.200s' was ended by signal %d", s->id, w->caught);
}

/* 1: look again; 0: *line is set. */
static int start_or_wait(
	struct arena *a, struct script *s, struct guard_watch *w, char **line, struct error *err)
{
	CLEANUP(base_close) int lock = -1;
	enum seen seen;
	int got = script_lock(s->lock, &lock, err);

	if (got < 0)
		return -1;
	if (got) {
		int rc = start_guard(a, s, w, lock, err);

		if (rc <= 0)
			script_unlock(s->lock, &lock);
		*line = rc == 0 ? arena_dup(a, str_of(s->answer)) : NULL;
		return rc;
	}
	seen = wait_for_guard(s, w, lock);
	if (seen == SEEN_SIGNAL)
		return interrupted(s, w, err);
	if (seen == SEEN_END)
		remember_guard(w, lock);
	*line = seen == SEEN_LATE ? arena_printf(a, "running — log: %s", s->log) : NULL;
	return seen == SEEN_LATE ? 0 : 1;
}

static int run_to_result(
	struct arena *a, struct script *s, struct guard_watch *w, char **line, struct error *err)
{
	int rc = 1;

	while (rc == 1) {
		rc = start_or_wait(a, s, w, line, err);
		if (rc == 1 && script_load(a, s->document, s->id, w->policy, false, s, err) < 0)
			rc = -1;
		if (rc == 1 && s->answer) {
			*line = arena_dup(a, str_of(s->answer));
			rc = 0;
		}
	}
	return rc;
}

int script_run_under(struct arena *a, const char *context_file, const char *action,
	const char *policy, int wait_s, char **line, struct error *err)
{
	struct script s;
	struct guard_watch w;
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
	rc = run_to_result(a, &s, &w, line, err);
	watch_end(&w);
	return rc;
}

int script_run(struct arena *a, const char *context_file, const char *action, int wait_s,
	char **line, struct error *err)
{
	return script_run_under(a, context_file, action, NULL, wait_s, line, err);
}
