/*
 * script_internal.h: shared by script.c, which waits for scripts, and script_guard.c, which runs
 * them.
 */
#ifndef DT_SCRIPT_INTERNAL_H
#define DT_SCRIPT_INTERNAL_H

#include <sys/types.h>
#include "src/base/buf.h"

/* A run_script action as the document has it. Texts are in the caller's arena. */
struct script {
	const char *document, *id, *command, *log, *lock;
	unsigned timeout_s;
	/* With a policy: its name, what a denial means (NULL: as the policy says), the shell
	 * command and its working directory. Without: NULL. */
	const char *policy, *violation, *inner, *directory;
	const char *answer; /* first line of the recorded answer; NULL if there is none */
};

/* The process that holds the lock file; the start time tells it from a later one with its pid. */
struct guard_id {
	pid_t pid;
	uint64_t start;
};

/* Creates and locks the file. 1: locked, in *fd. 0: a guard holds it; *fd is for reading. */
int script_lock(const char *path, int *fd, struct error *err);
/* Removes the file; the lock ends with the last copy of the descriptor. */
void script_unlock(const char *path, int *fd);
bool script_lock_read(int fd, struct guard_id *g);
/* Why there will be no result, as the guard left it in the file; empty if it said nothing. */
void script_lock_reason(int fd, char *out, size_t size);

/* Kills whatever a killed guard's script left running. */
void script_end_leftovers(const struct script *s);

/* Starts the guard, which inherits the lock. 0 once it has signed the lock and opened its log; -1
 * with its reason. */
int guard_start(const struct script *s, int lock, struct error *err);

/* The program that applies policies; tests replace it. */
extern const char *script_program;

#endif
