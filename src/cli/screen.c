#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/run/run.h"

/* Its own screen, without a cursor. */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

enum {
	LOOK_MS = 1000,
	SHARE = 10, /* looking takes at most this part of the time */
	ROWS = 24,
	COLUMNS = 80
};

struct screen {
	bool terminal, typed; /* standard input is one, too */
	struct termios before;
	int interrupt;
	struct buf shown;
};

static volatile sig_atomic_t resized, suspended;

static void on_resize(int number)
{
	(void)number;
	resized = 1;
}

static void on_suspend(int number)
{
	(void)number;
	suspended = 1;
}

static int screen_put(const char *text, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_adds(&out, text);
	return cli_flush(&out, err);
}

/* ---- the terminal ---- */

/* In the background, a change of the terminal's mode would stop the process, also one that a
 * signal is to end: `timeout 3 dev-team status --watch`. */
static bool in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static int screen_enter(struct screen *s, struct error *err)
{
	struct termios quiet;

	s->typed = tcgetattr(STDIN_FILENO, &s->before) == 0;
	if (s->typed && !in_foreground())
		(void)raise(SIGTTOU); /* stopped until `fg`, or until a signal ends it */
	s->typed = s->typed && in_foreground();
	quiet = s->before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
	if (s->typed)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
	return screen_put(ENTER, err);
}

static void screen_leave(struct screen *s)
{
	struct error ignored;

	(void)screen_put(LEAVE, &ignored);
	if (s->typed && in_foreground())
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
}

/* Ctrl-Z: the shell gets its terminal back until it continues this process. */
static int suspend(struct screen *s, struct error *err)
{
	suspended = 0;
	screen_leave(s);
	(void)raise(SIGSTOP);
	resized = 1;
	return screen_enter(s, err);
}

static void catch_signal(int number, void (*handler)(int), struct sigaction *before)
{
	struct sigaction ours = {.sa_handler = handler};

	(void)sigaction(number, &ours, before);
}

/* ---- drawing ---- */

static void screen_add_line(struct buf *out, struct str line, size_t columns)
{
	size_t n = 0;

	for (size_t k = 0; n < line.n && (k < columns || (line.p[n] & 0xc0) == 0x80); n++)
		k += (line.p[n] & 0xc0) != 0x80;
	buf_add(out, str_sub(line, 0, n));
	buf_adds(out, "\033[K");
}

static int screen_draw(const struct buf *text, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
	struct str rest = buf_str(text), line;
	size_t all = 0, n = 0;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	while (str_line(&rest, &line))
		all++;
	rest = buf_str(text);
	buf_adds(&out, "\033[H");
	for (; str_line(&rest, &line) && (all <= size.ws_row || n + 1 < size.ws_row); n++) {
		buf_adds(&out, n ? "\r\n" : "");
		screen_add_line(&out, line, size.ws_col);
	}
	if (n < all)
		buf_addf(&out, "\r\n... %zu more lines\033[K", all - n);
	buf_adds(&out, "\033[J");
	return cli_flush(&out, err);
}

static int screen_show(struct screen *s, const struct buf *text, struct error *err)
{
	bool same = s->shown.s && str_eq(buf_str(&s->shown), buf_str(text));

	if (same && !resized)
		return 0;
	resized = 0;
	buf_clear(&s->shown);
	buf_add(&s->shown, buf_str(text));
	return s->terminal ? screen_draw(text, err) : screen_put(text->s ? text->s : "", err);
}

/* ---- the loop ---- */

/* False: it is to end. */
static bool screen_wait_for(struct screen *s, int64_t ms)
{
	struct pollfd fds[] = {{.fd = s->interrupt, .events = POLLIN},
		{.fd = s->terminal && s->typed ? STDIN_FILENO : -1, .events = POLLIN},
		{.fd = s->terminal ? -1 : STDOUT_FILENO}}; /* POLLERR: the reader closed the pipe */
	char key = 0;

	(void)poll(fds, COUNT(fds), (int)ms);
	if (fds[1].revents && read(STDIN_FILENO, &key, 1) <= 0)
		s->typed = false;
	return !run_interrupt_caught() && key != 'q' && !fds[2].revents;
}

static int loop(struct screen *s, screen_text *text, void *data, struct error *err)
{
	int64_t took, began;

	do {
		CLEANUP(buf_release) struct buf now = BUF_INIT;

		if (suspended && suspend(s, err) < 0)
			return -1;
		began = clock_ticks();
		if (text(data, &now, err) < 0 || screen_show(s, &now, err) < 0)
			return -1;
		took = clock_ticks() - began;
	} while (screen_wait_for(s, took * SHARE > LOOK_MS ? took * SHARE : LOOK_MS));
	return 0;
}

int screen_watch(screen_text *text, void *data, struct error *err)
{
	struct screen s = {.terminal = isatty(STDOUT_FILENO)};
	struct sigaction resize, suspension;
	int rc = 0;

	if (run_interrupt_begin(&s.interrupt, err) < 0)
		return -1;
	if (s.terminal) {
		catch_signal(SIGWINCH, on_resize, &resize);
		catch_signal(SIGTSTP, on_suspend, &suspension);
		rc = screen_enter(&s, err);
	}
	if (rc == 0)
		rc = loop(&s, text, data, err);
	if (s.terminal) {
		screen_leave(&s);
		(void)sigaction(SIGWINCH, &resize, NULL);
		(void)sigaction(SIGTSTP, &suspension, NULL);
	}
	run_interrupt_end();
	buf_release(&s.shown);
	return rc;
}
