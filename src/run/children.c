#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/run/run_internal.h"

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction previous[COUNT(signals)];
static volatile sig_atomic_t caught;
static int ends[2] = {-1, -1};

static void on_signal(int number)
{
	int saved = errno;
	ssize_t ignored = write(ends[1], "", 1);

	(void)ignored;
	caught = number;
	errno = saved;
}

/* A signal that the caller ignores, as under nohup, stays ignored. */
static void catch_all(int flags)
{
	struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | flags};

	for (size_t i = 0; i < COUNT(signals); i++)
		if (previous[i].sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &ours, NULL);
}

int run_interrupt_begin(int *fd, struct error *err)
{
	caught = 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_errno(err, "cannot make a pipe");
	for (size_t i = 0; i < COUNT(signals); i++)
		(void)sigaction(signals[i], NULL, &previous[i]);
	catch_all((int)SA_RESETHAND);
	*fd = ends[0];
	return 0;
}

/* A pipe of its own: what ends one child must not end the others. */
void run_interrupt_child(void)
{
	int own[2];

	if (pipe2(own, O_CLOEXEC | O_NONBLOCK) == 0)
		for (size_t i = 0; i < COUNT(own); i++) {
			(void)dup3(own[i], ends[i], O_CLOEXEC);
			close(own[i]);
		}
	catch_all(0);
}

int run_interrupt_caught(void)
{
	return caught;
}

bool run_interrupt_wait(int ms)
{
	struct pollfd fd = {.fd = ends[0], .events = POLLIN};

	return poll(&fd, 1, ms) > 0;
}

void run_interrupt_end(void)
{
	for (size_t i = 0; i < COUNT(signals); i++)
		(void)sigaction(signals[i], &previous[i], NULL);
	for (size_t i = 0; i < COUNT(ends); i++) {
		base_close(&ends[i]);
		ends[i] = -1;
	}
}

/* ---- processes ---- */

enum { READ_SIZE = 8192, REPORT_MAX = 1 << 20, LINE_MAX_BYTES = 4096 };
enum { REPORT, LOG, PIPES };

struct run_child {
	pid_t pid; /* 0: the slot is free */
	size_t item;
	int fd[PIPES]; /* read ends; -1: at its end */
	struct buf text[PIPES];
};

struct children {
	const struct run_children *of;
	struct run_child list[RUN_CHILDREN_MAX];
	size_t n, running;
	bool forwarded; /* the interrupt, to all */
	int64_t next_tick;
};

/* Writing to a pipe must fail, not wait, once the process that reads it is gone. */
static void close_read_ends(struct children *s)
{
	for (size_t i = 0; i < PIPES * RUN_CHILDREN_MAX; i++)
		if (s->list[i / PIPES].pid)
			base_close(&s->list[i / PIPES].fd[i % PIPES]);
}

static int children_start(struct children *s, size_t item, struct error *err)
{
	const struct run_children *c = s->of;
	struct run_child *child = s->list;
	int report[2] = {-1, -1}, log[2] = {-1, -1};
	pid_t parent = getpid(), pid = -1;

	while (child->pid)
		child++;
	if (pipe2(report, O_CLOEXEC) == 0 && pipe2(log, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* The guard of a script outlives the process that starts it. It must not become a
		 * child of ours, which ends such processes while it runs a program itself. */
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
		base_close(&report[0]);
		base_close(&log[0]);
		close_read_ends(s);
		_exit(getppid() == parent ? c->run(c->data, item, report[1], log[1]) : ERR_SYSTEM);
	}
	if (pid < 0)
		(void)error_errno(err, "cannot start a process");
	base_close(&report[1]);
	base_close(&log[1]);
	if (pid < 0) {
		base_close(&report[0]);
		base_close(&log[0]);
		return -1;
	}
	*child = (struct run_child){.pid = pid, .item = item, .fd = {report[0], log[0]}};
	s->running++;
	if (c->started)
		c->started(c->data, item);
	return 0;
}

static bool is_unneeded(const struct children *s, size_t item)
{
	return s->of->cancelled && s->of->cancelled(s->of->data, item);
}

/* Passes on complete lines. */
static void pass_lines(const struct run_children *c, struct run_child *child, bool at_end)
{
	struct str rest = buf_str(&child->text[LOG]), line;

	while (rest.n && (at_end || memchr(rest.p, '\n', rest.n) || rest.n >= LINE_MAX_BYTES)) {
		(void)str_line(&rest, &line);
		c->line(c->data, child->item, line);
	}
	if (child->text[LOG].len)
		memmove(child->text[LOG].s, rest.p, rest.n);
	buf_cut(&child->text[LOG], rest.n);
}

static void children_read_pipe(const struct run_children *c, struct run_child *child, size_t which)
{
	char piece[READ_SIZE];
	ssize_t n = read(child->fd[which], piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(child->fd[which]);
		child->fd[which] = -1;
		return;
	}
	if (child->text[which].len < REPORT_MAX)
		buf_add(&child->text[which], (struct str){piece, (size_t)n});
	if (which == LOG)
		pass_lines(c, child, false);
}

/* What it has written before it ended; what it has started may write for longer. */
static void drain_log(const struct run_children *c, struct run_child *child)
{
	struct pollfd fd = {.events = POLLIN};

	while ((fd.fd = child->fd[LOG]) >= 0 && poll(&fd, 1, 0) > 0)
		children_read_pipe(c, child, LOG);
}

/* What a child has started may have the pipe open for longer than the child lives. */
static bool children_has_ended(const struct run_children *c, const struct run_child *child)
{
	if (c->report_size && child->text[REPORT].len >= c->report_size)
		return true;
	return child->fd[REPORT] < 0 && child->fd[LOG] < 0;
}

/* Looks what is needed now. */
static void children_look(struct children *s, bool tick)
{
	if (s->of->more && !caught)
		s->n = s->of->more(s->of->data, tick);
	for (size_t i = 0; i < RUN_CHILDREN_MAX; i++)
		if (s->list[i].pid && is_unneeded(s, s->list[i].item))
			(void)kill(s->list[i].pid, SIGTERM);
}

static void children_finish(struct children *s, struct run_child *child)
{
	const struct run_children *c = s->of;
	size_t item = child->item;
	int status = 0;

	drain_log(c, child);
	pass_lines(c, child, true);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->ended(c->data, item, status, buf_str(&child->text[REPORT]));
	for (size_t i = 0; i < PIPES; i++) {
		base_close(&child->fd[i]);
		buf_release(&child->text[i]);
	}
	*child = (struct run_child){0};
	s->running--;
	children_look(s, false);
}

/* A terminal signals the whole process group, `kill` only this process. */
static void forward_interrupt(struct children *s)
{
	s->forwarded = true;
	for (size_t i = 0; i < RUN_CHILDREN_MAX; i++)
		if (s->list[i].pid)
			(void)kill(s->list[i].pid, SIGTERM);
}

static void wait_for_some(struct children *s)
{
	struct pollfd fds[PIPES * RUN_CHILDREN_MAX + 1];
	struct pollfd *interrupt = &fds[PIPES * RUN_CHILDREN_MAX];

	for (size_t i = 0; i < PIPES * RUN_CHILDREN_MAX; i++) {
		const struct run_child *child = &s->list[i / PIPES];

		fds[i] = (struct pollfd){
			.fd = child->pid ? child->fd[i % PIPES] : -1, .events = POLLIN};
	}
	*interrupt = (struct pollfd){.fd = s->forwarded ? -1 : s->of->cancel, .events = POLLIN};
	if (clock_ticks() >= s->next_tick) {
		s->next_tick = clock_ticks() + RUN_TICK_MS;
		children_look(s, true);
	}
	if (poll(fds, COUNT(fds), RUN_TICK_MS) < 0)
		return;
	if (interrupt->revents)
		forward_interrupt(s);
	for (size_t i = 0; i < PIPES * RUN_CHILDREN_MAX; i++) {
		struct run_child *child = &s->list[i / PIPES];

		if (fds[i].fd >= 0 && fds[i].revents)
			children_read_pipe(s->of, child, i % PIPES);
		if (i % PIPES == LOG && child->pid && children_has_ended(s->of, child))
			children_finish(s, child);
	}
}

int run_children(const struct run_children *c, struct error *err)
{
	struct children s = {.of = c, .n = c->n, .next_tick = clock_ticks() + RUN_TICK_MS};
	size_t next = 0;
	int rc = 0;

	for (;;) {
		for (; next < s.n && s.running < c->max && rc == 0 && !caught; next++)
			if (!is_unneeded(&s, next))
				rc = children_start(&s, next, err);
		if (!s.running)
			return next < s.n ? -1 : rc;
		wait_for_some(&s);
	}
}
