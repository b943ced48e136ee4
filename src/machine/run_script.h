/*
 * run_script.h: a run_script action, run. A guard, a process in a session of its own, runs the
 * script, records its result and goes; whoever asks waits for the guard. So a caller that is killed
 * loses nothing, and who asks a second time waits for the same run.
 *
 *     <dir>/.<name>.<state>-<n>.exec    held locked by the guard; gone when the result is recorded
 *
 * A signal (INT, TERM, HUP) to the one who waits ends the script, records nothing, and then takes
 * its usual effect on the caller.
 */
#ifndef DT_RUN_SCRIPT_H
#define DT_RUN_SCRIPT_H

#include "src/base/buf.h"

enum { WAIT_TO_THE_END = -1 };

/*
 * *line, in the arena: the first line of the recorded answer (`passed — log: FILE`, `failed — log:
 * FILE`, `failed — timed out after N s — log: FILE`), also when it was recorded before; or, after
 * `wait_s` seconds, `running — log: FILE`. -1: ERR_STATE when the action is not outstanding,
 * ERR_INPUT when it is no run_script, ERR_SYSTEM when it could not be started or recorded.
 */
int run_script(struct arena *a, const char *context_file, const char *action, int wait_s,
	char **line, struct error *err);
/*
 * The same under `policy` (NULL: as the action says). -1: ERR_STATE also when the action has
 * another one. A script that is being run already is waited for as it is.
 */
int run_script_under(struct arena *a, const char *context_file, const char *action,
	const char *policy, int wait_s, char **line, struct error *err);

/* True while a guard runs the script of action `id`. */
struct context_file;
bool script_running(const struct context_file *f, const char *id);

#endif
