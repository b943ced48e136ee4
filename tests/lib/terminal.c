#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include "src/base/clock.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/terminal.h"

static void clear(struct terminal *t, unsigned screen)
{
	for (unsigned r = 0; r < TERMINAL_ROWS; r++) {
		memset(t->cells[screen][r], ' ', TERMINAL_COLUMNS);
		t->cells[screen][r][TERMINAL_COLUMNS] = '\0';
	}
}

static _Noreturn void child(const char *name, const char *const *argv)
{
	int fd;

	(void)setsid();
	fd = open(name, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 ||
		dup2(fd, 2) < 0)
		_exit(126);
	(void)setenv("TERM", "xterm", 1);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

void terminal_start(struct terminal *t, const char *const *argv)
{
	struct winsize size = {.ws_row = TERMINAL_ROWS, .ws_col = TERMINAL_COLUMNS};

	*t = (struct terminal){.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
	clear(t, 0);
	clear(t, 1);
	if (t->fd < 0 || grantpt(t->fd) < 0 || unlockpt(t->fd) < 0 ||
		ioctl(t->fd, TIOCSWINSZ, &size) < 0)
		die("cannot make a terminal");
	t->pid = fork();
	if (t->pid == 0)
		child(ptsname(t->fd), argv);
	if (t->pid < 0)
		die("cannot fork");
}

void terminal_type(struct terminal *t, const char *keys)
{
	if (write(t->fd, keys, strlen(keys)) != (ssize_t)strlen(keys))
		die("cannot type");
}

/* ---- the screen ---- */

static void new_line(struct terminal *t)
{
	if (++t->row < TERMINAL_ROWS)
		return;
	t->row = TERMINAL_ROWS - 1;
	memmove(t->cells[t->second][0], t->cells[t->second][1],
		(TERMINAL_ROWS - 1) * sizeof(t->cells[0][0]));
	memset(t->cells[t->second][t->row], ' ', TERMINAL_COLUMNS);
}

static void put(struct terminal *t, char c)
{
	if (t->column == TERMINAL_COLUMNS) {
		t->column = 0;
		new_line(t);
	}
	t->cells[t->second][t->row][t->column++] = c;
}

static void erase_line(struct terminal *t, unsigned row, unsigned from)
{
	memset(t->cells[t->second][row] + from, ' ', TERMINAL_COLUMNS - from);
}

static void switch_screen(struct terminal *t, bool second)
{
	if (second) {
		t->saved_row = t->row;
		t->saved_column = t->column;
		clear(t, 1);
	} else {
		t->row = t->saved_row;
		t->column = t->saved_column;
	}
	t->second = second;
}

/* `text`: the sequence between ESC [ and its last letter. */
static void control(struct terminal *t, const char *text, char last)
{
	unsigned row = 1, column = 1;

	if (last == 'H') {
		(void)sscanf(text, "%u;%u", &row, &column);
		t->row = row - 1;
		t->column = column - 1;
	} else if (last == 'K') {
		erase_line(t, t->row, t->column);
	} else if (last == 'J') {
		erase_line(t, t->row, t->column);
		for (unsigned r = t->row + 1; r < TERMINAL_ROWS; r++)
			erase_line(t, r, 0);
	} else if (strcmp(text, "?1049") == 0) {
		switch_screen(t, last == 'h');
	} else if (strcmp(text, "?25") == 0) {
		t->hidden = last == 'l';
	} else if (last != 'm') {
		die("the program sent ESC [ %s %c, which this terminal does not know", text, last);
	}
}

static void take(struct terminal *t, char c)
{
	if (t->pending.len) {
		buf_addc(&t->pending, c);
		if (t->pending.len == 2 || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
			return;
		buf_cut(&t->pending, t->pending.len - 1);
		control(t, t->pending.s + 2, c);
		buf_clear(&t->pending);
	} else if (c == '\033') {
		buf_addc(&t->pending, c);
	} else if (c == '\r') {
		t->column = 0;
	} else if (c == '\n') {
		new_line(t);
	} else {
		put(t, c);
	}
}

/* False: the program has closed the terminal. */
static bool read_some(struct terminal *t, int ms)
{
	struct pollfd fd = {.fd = t->fd, .events = POLLIN};
	char bytes[4096];
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return true;
	n = read(t->fd, bytes, sizeof(bytes));
	for (ssize_t i = 0; i < n; i++)
		take(t, bytes[i]);
	return n > 0 || (n < 0 && errno == EINTR);
}

const char *terminal_row(const struct terminal *t, unsigned row)
{
	static char text[TERMINAL_COLUMNS + 1];
	size_t n = TERMINAL_COLUMNS;

	memcpy(text, t->cells[t->second][row], n);
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

static bool shows(const struct terminal *t, const char *text)
{
	for (unsigned r = 0; r < TERMINAL_ROWS; r++)
		if (strstr(terminal_row(t, r), text))
			return true;
	return false;
}

static bool await(struct terminal *t, const char *text, bool there)
{
	int64_t until = clock_ticks() + (int64_t)WAIT_LIMIT_S * 1000;

	while (shows(t, text) != there && clock_ticks() < until)
		if (!read_some(t, 1000))
			break;
	return shows(t, text) == there;
}

bool terminal_await(struct terminal *t, const char *text)
{
	return await(t, text, true);
}

bool terminal_await_gone(struct terminal *t, const char *text)
{
	return await(t, text, false);
}

bool terminal_is_quiet(const struct terminal *t)
{
	struct termios now;

	return tcgetattr(t->fd, &now) == 0 && !(now.c_lflag & ECHO);
}

int terminal_end(struct terminal *t)
{
	int64_t until = clock_ticks() + (int64_t)WAIT_LIMIT_S * 1000;
	int status = 0;

	while (read_some(t, 1000))
		if (clock_ticks() > until)
			(void)kill(t->pid, SIGKILL);
	while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(t->fd);
	buf_release(&t->pending);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
