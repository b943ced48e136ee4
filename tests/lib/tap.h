/*
 * tap.h: results as TAP on stdout: `ok N - name`, `not ok N - name`, `# SKIP reason`, the plan
 * last.
 */
#ifndef DT_TESTS_TAP_H
#define DT_TESTS_TAP_H

#include "src/base/buf.h"

/* Prints one result; returns `good`. */
bool tap(bool good, const char *fmt, ...) PRINTF(2, 3);
void tap_skip(const char *name, const char *reason);
/* Prints lines of explanation, each after `# `. */
void tap_note(struct str text);
void tap_notef(const char *fmt, ...) PRINTF(1, 2);
/* Prints the plan; returns the exit status of the program: 1 if a test failed or there was none. */
int tap_end(void);

/* Ends the test program because of a fault of the rig, not of the tested code. */
_Noreturn void die(const char *fmt, ...) PRINTF(1, 2);

#endif
