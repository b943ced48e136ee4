/*
 * script.h: runs a run_script action. A guard, a process in a session of its own, runs the script,
 * records its result and exits; the caller waits for the guard. If the caller is killed, nothing is
 * lost, and a second caller waits for the same run. If the result cannot be recorded, it stays in
 * the file, and the next call records it.
 *
 *     <dir>/.<name>.<state>-<n>.exec    locked by the guard; removed once the result is recorded
 *
 * The guard is a child of init, so ending the caller's process tree does not end it.
 *
 * A signal (INT, TERM, HUP) to a waiting caller ends the script without a result, and then takes
 * its usual effect on the caller.
 */
#ifndef DT_SCRIPT_H
#define DT_SCRIPT_H

#include "context/file.h"

enum { SCRIPT_WAIT_FOREVER = -1 };

/* The program that applies policies; tests replace it. */
extern const char *script_program;
/* A descriptor that scripts of this process have too, such as the merge gate's lock. 0: none. */
extern int script_inherit;

/*
 * Runs the script of `action`, under `policy` (NULL: as the action says), with the variables
 * `env`, as of struct process; one that is already running is waited for as it is. *line, in the
 * arena: the first line of the recorded answer
 * (`passed — log: FILE`, `failed — log: FILE`, `failed — timed out after N s — log: FILE`), also if
 * it was recorded before; or, after `wait_s` seconds, `running — log: FILE`. -1: ERR_STATE if the
 * action is not outstanding or has another policy, ERR_INPUT if it is not a run_script, ERR_SYSTEM
 * if the script could not be started. A result that could not be recorded is kept, and *err says
 * why; the next call records it.
 */
int script_run(struct arena *a, const char *context_file, const char *action, const char *policy,
	const char *const *env, int wait_s, char **line, struct error *err);

/* As process_run(), with `output` of p; the connection strings that this process knows are masked
 * in it. */
struct process;
struct process_end;
int script_run_logged(
	struct arena *a, const struct process *p, struct process_end *end, struct error *err);

/* The directory that containment as another user has instead of the state directory, which is ours:
 * of that user alone. NULL: the user is ours. -1: ERR_SYSTEM. */
int script_user_directory(
	struct arena *a, unsigned uid, unsigned gid, const char **out, struct error *err);

/* Before a script is run for `owner`: renews the lease. -1: ERR_STATE, also noted as an event, when
 * another session owns the work item. */
int script_admit(
	const char *context_file, const char *action, const char *owner, struct error *err);

/* True while a guard runs the script of action `id`, or its result is not recorded yet. */
bool script_running(const struct context_file *f, const char *id);
/* Action `id` is new, or was superseded: removes what is there under its name, such as what a
 * killed guard left. A guard that lives removes its file itself. */
void script_discard(const struct context_file *f, const char *id);

#endif
