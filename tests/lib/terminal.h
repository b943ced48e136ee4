/*
 * terminal.h: runs a program on a terminal of its own and shows what a person would see: the
 * contents of the screen, not the bytes. Understands what programs of this project send: CR, LF,
 * cursor to a place, erase, the second screen, hiding the cursor, colours.
 */
#ifndef DT_TESTS_TERMINAL_H
#define DT_TESTS_TERMINAL_H

#include <sys/types.h>
#include "src/base/buf.h"

enum { TERMINAL_ROWS = 24, TERMINAL_COLUMNS = 100 };

struct terminal {
	int fd;
	pid_t pid;
	bool second, hidden; /* the second screen is shown; the cursor is hidden */
	unsigned row, column, saved_row, saved_column;
	char cells[2][TERMINAL_ROWS][TERMINAL_COLUMNS + 1]; /* blanks up to the end */
	struct buf pending; /* an escape sequence that has not ended */
};

/* Starts it; `argv` NULL-ended. Ends the test program (die) when it cannot. */
void terminal_start(struct terminal *t, const char *const *argv);
void terminal_type(struct terminal *t, const char *keys);
/* A row from 0, without the blanks at its end; until the next call. */
const char *terminal_row(const struct terminal *t, unsigned row);
/* Reads until a row of the screen contains the text; false: the program has ended before, or
 * WAIT_LIMIT_S is over. */
bool terminal_await(struct terminal *t, const char *text);
/* The same, until no row contains it. */
bool terminal_await_gone(struct terminal *t, const char *text);
/* The program turned echo off, for example to read keys. */
bool terminal_is_quiet(const struct terminal *t);
/* Reads until the program has ended; its exit status, 128 + N when signal N ended it. */
int terminal_end(struct terminal *t);

#endif
