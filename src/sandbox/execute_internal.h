/*
 * execute_internal.h: what the parts of one run share: private directories (private.c), the process
 * that enters the sandbox (execute.c), and the one that watches it (supervise.c).
 */
#ifndef DT_SANDBOX_EXECUTE_INTERNAL_H
#define DT_SANDBOX_EXECUTE_INTERNAL_H

#include <signal.h>
#include "src/sys/process.h"
#include "src/sandbox/interpret_internal.h"
#include "src/policy/protected.h"

enum {
	RELAY_BYTES = 64 << 10, /* output waiting to be passed on */
	PIECE_BYTES = 4096,     /* what a pipe that polls as ready takes without blocking */
};

/*
 * HOME and TMPDIR of one run: in a directory of the user's own below the directory for temporary
 * files. Locked for as long as a process of the run has it open, so that what a killed run has left
 * can be told from what is in use, and is removed by the next one.
 */
struct private
{
	char *path;    /* of the user's directory */
	int base;      /* the same */
	bool alone;    /* it is this run's alone */
	int dir;       /* the run's; holds the lock */
	char name[32]; /* of it, in `base` */
	char *home, *tmp;
};

#define PRIVATE_INIT                                                                               \
	{                                                                                          \
		.base = -1, .dir = -1                                                              \
	}
/* uid and gid: the owner to be, 0: the caller. -1: ERR_SYSTEM, ERR_STATE. */
int private_make(struct arena *a, struct private *p, unsigned uid, unsigned gid, struct error *err);
void private_remove(struct private *p); /* for CLEANUP too */

/* One pipe of the run, and its receiver. */
struct stream {
	int from; /* read end, non-blocking; -1: ended */
	int to;   /* the caller's */
	char *waiting;
	size_t at, n;
	bool broken; /* the receiver has closed it */
};

struct run {
	const struct execution *x;
	struct execution_end *end;
	struct arena *arena;
	struct private directories;
	struct sandbox sandbox;
	struct protected *protected; /* its state before the run; NULL: nothing can be written */
	struct shared *shared;
	char **environment;
	pid_t pid;
	int handle; /* pidfd */
	int in;     /* standard input of the run */
	struct stream streams[2];
	int outputs[2]; /* write ends; the same twice when the caller's two are one file */
	int alarm[2];   /* gets a byte when a command was denied */
	int faults[2];  /* messages of the sandbox */
	uint64_t passed;
	struct subreaper orphans;
	struct sigaction was_pipe;
	bool ended;
};

/* Returns when all processes of the run have ended and their output is passed on. */
void supervise(struct run *r);

#endif
