/*
 * script_rig.h: a run_script action in the working directory of the test, and checks of its run.
 */
#ifndef DT_TESTS_SCRIPT_RIG_H
#define DT_TESTS_SCRIPT_RIG_H

#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/process.h"
#include "src/machine/action.h"
#include "src/local/script.h"
#include "tests/lib/shell.h"
#include "tests/lib/wire.h"

#define ID "W-1/validating/1"

extern struct error exec_err;
extern char *exec_line; /* the result of exec_run() */

/* `gate` is a fifo: `cat gate` waits for open_gate(). */
int exec_rig_setup(void **state);

#define EXEC_TEST(name) UNIT_TEST(name, exec_rig_setup, scratch_leave)

void exec_document(const char *command, const char *log, unsigned timeout_s);

/* A script that runs until open_gate(); `count` gets a line for each start, `pid` its pid. */
#define GATED "echo $$ >pid.new; echo x >>count; mv pid.new pid; cat gate; "

void open_gate(void);
int exec_run(int wait_s);
/* Both: the script `command` runs to its end, and its result is recorded. */
void exec_finish(const char *command);
void assert_recorded(const char *word, const char *expected);
void assert_not_recorded(void);
void assert_no_lock_file(void);

/* Waits for the guard's end: it removes its lock file last. */
void await_guard(void);
/* Waits for the file. */
pid_t number_in(const char *name);
bool is_gone(pid_t pid);

/* A process that runs the script; its status is 0 when it printed `expected`. */
pid_t asker(const char *expected, int wait_s);
/* The exit status of a child, or 128 and its signal. */
int status_of(pid_t pid);

enum { CALLERS = 20 };
void ask_together(pid_t pids[CALLERS], const char *expected);
/* All of them printed the result, and the script ran once. */
void assert_one_run(const pid_t pids[CALLERS]);

#endif
