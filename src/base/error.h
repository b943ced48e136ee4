/*
 * error.h: the one error type. It belongs to the caller, is filled where the failure occurs, and
 * gets at most one prefix a floor on the way up. Nothing in it is allocated, so that "out of
 * memory" can be reported. Also the lines of progress on stderr.
 *
 * Message grammar: fault first, lower case, the subject in single quotes, no full stop.
 */
#ifndef DT_ERROR_H
#define DT_ERROR_H

#include "src/base/base.h"

/* The values are the exit codes of every verb. */
enum err {
	ERR_NONE = 0,
	ERR_CHECK = 1,  /* the check failed */
	ERR_USAGE = 2,  /* the command line is wrong */
	ERR_INPUT = 3,  /* a file or a text is refused */
	ERR_STATE = 4,  /* held by another session, stale or foreign answer */
	ERR_SYSTEM = 5, /* I/O, git, network */
};

struct error {
	enum err code;
	unsigned line, col; /* 1-based; 0 where there is no place */
	char file[512];     /* empty where there is no place */
	char text[1024];
};

/* Each of these fills *e and returns -1, so that a caller can `return error_set(...)`. */
int error_set(struct error *e, enum err code, const char *fmt, ...) PRINTF(3, 4);

/* ERR_SYSTEM; appends ": " and the text of the current errno. */
int error_errno(struct error *e, const char *fmt, ...) PRINTF(2, 3);

/* ERR_INPUT at a place. */
int error_at(struct error *e, const char *file, unsigned line, unsigned col, const char *fmt, ...)
	PRINTF(5, 6);

/* Sets the place of an error that is filled already. */
int error_place(struct error *e, const char *file, unsigned line, unsigned col);

/* Puts "what: " before the text; keeps code and place. */
int error_prefix(struct error *e, const char *fmt, ...) PRINTF(2, 3);

/* The line for people, without a newline: `FILE:LINE:COL: text`, or `dev-team: text`. */
void error_format(const struct error *e, char *out, size_t size);

/*
 * Progress and diagnostics for people: writes one line to stderr at once, at most 2 KiB of it. A
 * failure to write is ignored, because progress must not change the result of a verb.
 */
void error_log(const char *fmt, ...) PRINTF(1, 2);
/* Each line that is logged from now on begins with this and two blanks; NULL: with neither. */
void error_log_about(const char *what);
/* Shows `text` below what was logged, in place of the one before; NULL: nothing. For a terminal.
 * The next error_log() comes above it, and removes it. */
void error_status_line(const char *text);
/* Logs the line of error_format(). */
void error_print(const struct error *e);
struct buf;
/* The same with `then` behind it and always with `dev-team: `, unless *said has that line, to which
 * it is added. */
void error_print_once(const struct error *e, struct buf *said, const char *then);

#endif
