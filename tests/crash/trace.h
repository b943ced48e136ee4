/*
 * trace.h: a program run under ptrace, which is killed at one of its system calls, or one of them
 * fails or writes less. Linux on x86-64 and AArch64.
 */
#ifndef DT_TESTS_CRASH_TRACE_H
#define DT_TESTS_CRASH_TRACE_H

#include "src/base/buf.h"

/* Kinds of system calls, as bits. CALL_ANY counts every call, known here or not. */
enum call {
	CALL_ANY = 0,
	CALL_WRITE = 1 << 0,  /* write, writev, pwrite64, pwritev */
	CALL_SYNC = 1 << 1,   /* fsync, fdatasync */
	CALL_RENAME = 1 << 2, /* rename, renameat, renameat2 */
	CALL_OPEN = 1 << 3,   /* open and openat for writing */
	CALL_TRUNCATE = 1 << 4,
	CALL_MKDIR = 1 << 5,
	CALL_LINK = 1 << 6, /* link, symlink and their at-forms */
	CALL_UNLINK = 1 << 7,
	CALL_MODE = 1 << 8, /* chmod, fchmod, fchmodat */
	CALL_CLOSE = 1 << 9,
	CALL_READ = 1 << 10, /* read, pread64 */
	CALL_LOCK = 1 << 11, /* flock, and fcntl where it locks */
	CALL_LOOK = 1 << 12, /* stat, access, statfs, readlink, getdents64, lseek, open and openat
				for reading, in all forms */
	CALL_KINDS = 13,
	CALL_EFFECTS = (1 << 9) - 1, /* all before close */
};

/* Name of one kind, and back (0: no such kind). */
const char *call_name(unsigned kind);
unsigned call_of_name(const char *name);

enum trace_act {
	TRACE_COUNT, /* only count */
	TRACE_KILL,  /* SIGKILL right before the call */
	TRACE_FAIL,  /* do not execute the call; it gives -error */
	TRACE_SHORT, /* let a write write one byte */
};

enum trace_who { TRACE_PARENT, TRACE_CHILDREN, TRACE_ALL };

struct trace {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *cwd;         /* NULL: the caller's */
	struct str input;        /* standard input */
	enum trace_act act;
	enum trace_who who; /* the processes whose calls are counted and disturbed */
	/* Of enum call; without those of the dynamic loader. Or
	 * CALL_ANY. */
	unsigned kinds;
	unsigned at; /* which of the counted calls, from 1 */
	int error;   /* for TRACE_FAIL */

	unsigned count;        /* calls counted */
	bool hit;              /* the `at`th was reached */
	unsigned hit_kind;     /* its kind; 0: none of them */
	char hit_path[512];    /* its file, by name or descriptor; or empty */
	unsigned first_effect; /* the first counted call that can change anything; 0: none */
	int status;            /* exit status of the program; 128 + N when signal N ended it */
	struct buf out, err;
};

/* 0; -1 when the system does not permit tracing. Ends the program (die) on other errors. */
int trace_run(struct trace *t);
void trace_release(struct trace *t);

#endif
