/*
 * script.h: the parts of run_script.h: the action as it stands in the document, the guard's lock
 * file, and the guard.
 */
#ifndef DT_SCRIPT_H
#define DT_SCRIPT_H

#include <sys/types.h>
#include "src/base/buf.h"

/* Texts are in the caller's arena. */
struct script {
	const char *document, *id, *command, *log, *lock;
	unsigned timeout_s;
	/* Under a policy: which, what a denial means (NULL: as it says), the shell command and
	 * where it runs; else NULL. */
	const char *policy, *violation, *inner, *folder;
	const char *answer; /* first line of the recorded answer; NULL: none yet */
};

/*
 * `alone`: while no other command is at work on the document. `policy`: for an action without one;
 * NULL: none is wished. -1: ERR_STATE also when the action has another.
 */
int script_load(struct arena *a, const char *document, const char *id, const char *policy,
	bool alone, struct script *s, struct error *err);

/*
 * script_policy.c: the program that applies a policy: this one, unless a test has put another here.
 */
extern const char *script_program;
/* Its command line, and the file that it puts its report into. */
const char *const *script_argv(struct arena *a, const struct script *s, const char **report);
/* What came of it: 1 passed, 0 not; *text is the answer, *layers a line for the log, or "". -1:
 * nothing is known. */
int script_judge(struct arena *a, const struct script *s, const char *report, int status,
	char **text, const char **layers, struct error *err);

/* Who holds the lock file; the start time makes the number good for ever. */
struct guard_id {
	pid_t pid;
	uint64_t start;
};

/* Makes and locks the file. 1: it is ours, in *fd. 0: a guard holds it; *fd is for reading. */
int script_lock(const char *path, int *fd, struct error *err);
/* The lock goes with the last copy of the descriptor. */
void script_unlock(const char *path, int *fd);
bool script_lock_used(int fd); /* an earlier guard left something in it: it was killed */
int script_lock_sign(int fd, const char *path, struct error *err);
bool script_lock_read(int fd, struct guard_id *g);
/* Why there will be no result; for those who wait. Empty when nothing was said. */
void script_lock_tell(int fd, const char *reason);
void script_lock_reason(int fd, char *out, size_t size);

/* In the environment of all that a script starts: so what a killed guard left behind is found. */
char *script_mark(struct arena *a, const char *lock);
void script_end_leftovers(const char *mark);

/*
 * Starts the guard, which inherits the lock. 0 once it is signed and has its log; -1 with its
 * reason.
 */
int guard_start(const struct script *s, int lock, struct error *err);

#endif
