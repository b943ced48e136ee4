/*
 * process.h: programs that are run to their end: explicit arguments, no shell unless one is named,
 * a session and process group of their own (so no terminal), and a time limit (TERM, then KILL).
 * Nothing is left behind: background processes and daemons of the program are ended with it.
 *
 * While process_run() works, the caller is the subreaper of orphans. Children that it had before
 * are left alone. Not for two threads at once.
 *
 * Also what /proc has about other processes.
 */
#ifndef DT_PROCESS_H
#define DT_PROCESS_H

#include <signal.h>
#include <sys/types.h>
#include "src/base/buf.h"

enum { PROCESS_GRACE_MS = 5000 };

struct process {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *cwd;         /* NULL: as the caller */
	const char *const *env;  /* NULL-ended, may be NULL: `NAME=value` sets, `NAME` removes */
	bool env_whole;          /* `env` replaces the caller's environment */
	struct str input;        /* standard input; empty: /dev/null */
	int output;              /* descriptor that gets stdout and stderr together; -1: collect */
	size_t output_max;       /* with `output`: bytes after which the rest is dropped; 0: none */
	const char *output_cut;  /* written in place of the rest */
	struct buf *out; /* with output -1: collects stdout and stderr, at most out_max bytes */
	size_t out_max;  /* the rest is read and dropped */
	/* With output -1, in place of `out`: called with each piece as it comes; `errors`: it is of
	 * stderr, which is then separate from stdout. False ends the program as `cancel` does. */
	bool (*on_output)(void *data, bool errors, struct str piece);
	bool together; /* with on_output: stdout and stderr are one stream, in their order */
	void (*tick)(void *data); /* called each tick_ms until the end; may be NULL */
	unsigned tick_ms;
	void *data;         /* of both */
	unsigned timeout_s; /* 0: none */
	const int64_t
		*until;    /* clock_ticks() of an earlier end, set by on_output; 0: none. Or NULL */
	unsigned grace_ms; /* between TERM and KILL; 0: PROCESS_GRACE_MS */
	int cancel;        /* descriptor; once it is readable the program is ended. 0: none */
	int on_death;      /* signal that the program gets when the caller dies; 0: KILL */
	unsigned uid, gid; /* it runs as this user and group, without others; 0: as the caller */
	int inherit; /* descriptor that it and all it starts have too, such as a lock's. 0: none */
};

struct process_end {
	int status; /* exit status; 128 + N when signal N ended it */
	bool timed_out;
	bool cancelled;
	bool missing; /* argv[0] could not be found; process_run() returned -1 */
	int64_t ms;
};

/* 0 when the program was started and has ended, however it ended; -1 when it could not be started.
 */
int process_run(const struct process *p, struct process_end *end, struct error *err);

/* Replaces this program by another one, whose environment is the caller's after `env` as in struct
 * process. Returns only -1: ERR_SYSTEM. */
int process_become(const char *const *argv, const char *const *env, struct error *err);

/* Starts a program, argv[0] a path, in a session of its own, that outlives this one and has no
 * standard streams. Best effort: nobody learns how it ends. */
void process_leave(const char *const *argv);

/* 0 when the program, `name` for people, succeeded; else -1: ERR_SYSTEM with the time limit, or the
 * last lines of `output` that are not hints (from the first of git's or its remote's on, if it
 * prints few), joined by `; `, credentials in URLs replaced by `***`. Of a long text the middle is
 * left out. */
int process_check(const struct process *p, const struct process_end *end, const char *name,
	struct str output, struct error *err);

/* Removes it with everything below, also what its owner may not write, such as a cache of packages,
 * and follows no link. `inherit`: as in struct process. */
int process_remove_tree(const char *path, int inherit, struct error *err);

/* ---- the processes of the system, as /proc has them ---- */

struct process_info {
	pid_t pid, parent;
	char name[16]; /* of the program, as the kernel cuts it */
	bool terminal; /* it leads a session on a terminal: an interactive shell, for one */
	char state;    /* 'Z': ended, not yet reaped */
	bool unborn;   /* forked, and no program was ever started in it */
	uint64_t
		start; /* clock ticks since boot: with the pid it identifies one process for ever */
};

/* False when there is no such process, or /proc cannot be read. */
bool process_info(pid_t pid, struct process_info *info);
/* Calls fn for every process. */
void process_each(void (*fn)(const struct process_info *info, void *arg), void *arg);
/* True when `entry` (`NAME=value`) is in the environment that the process was started with. */
bool process_has_env(pid_t pid, const char *entry);
/* Adds the command line of a process, its arguments separated by blanks; nothing if it cannot be
 * read. */
void process_add_command(pid_t pid, struct buf *out);
/* *pid: of a process other than this one whose working directory is `dir` (resolved) or below it;
 * 0: none that this user may see. -1: /proc cannot be read. */
int process_within(const char *dir, pid_t *pid);
/* True when the process has a lock of fcntl() on that file (resolved), or has inherited it; false
 * if this user may not see that. */
bool process_has_locked(pid_t pid, const char *path);
/* True when a killed process has left the lock file (resolved): it does not change for two seconds,
 * and no process that this user may inspect has it open. */
bool process_abandoned(const char *path);
/* Removes it then. */
void process_clear_abandoned(const char *path);

/* ---- a process as a record names it ---- */

/* Identifies one process for ever, also to other machines and containers. */
struct process_identity {
	const char *host, *boot; /* boot: random id of the machine since its last start */
	const char *space; /* process namespace: numbers of another container mean nothing here */
	pid_t pid;
	uint64_t start;
};
enum process_life {
	PROCESS_ALIVE,
	PROCESS_DEAD,
	PROCESS_AWAY, /* on another machine or in another container: unknown */
};

/* Of a running process of this container; texts in the arena. -1: ERR_SYSTEM. */
int process_identify(struct arena *a, pid_t pid, struct process_identity *out, struct error *err);
/* It is running here and now. One that exists but cannot be read counts as running. */
bool process_lives(pid_t pid, uint64_t start);
/* `self`: of any process of this container. */
enum process_life process_life(
	const struct process_identity *p, const struct process_identity *self);
/*
 * The program on whose behalf this one runs: the nearest ancestor that is not a shell, `env` or the
 * like in between; an interactive shell counts. For an agent's client it is the client, for a
 * person the shell of the terminal. 0: unknown.
 */
pid_t process_client(void);
/* The name of this host, as UTF-8. */
char *process_host(struct arena *a);
/* The identity of the client in one line; NULL: unknown. */
char *process_client_name(struct arena *a);
/* That of this process; and of another one. */
char *process_own_name(struct arena *a);
char *process_name(struct arena *a, pid_t pid);
/* 0: NULL, or no such line. */
pid_t process_name_pid(const char *name);
/* True if the process of such a line has ended for certain. */
bool process_name_ended(struct arena *a, const char *name);

/* Such a process for people: `'claude', process 4711`; NULL: it has ended. */
char *process_name_describe(struct arena *a, const char *name);

/* ---- processes that a program leaves behind ---- */

struct pid_list {
	pid_t *items;
	size_t n, cap;
};

/* As a subreaper the caller becomes the parent of the children of processes that have ended
 * (PR_SET_CHILD_SUBREAPER). */
struct subreaper {
	struct pid_list before;     /* children that the caller had: left alone */
	struct pid_list terminated; /* have been sent TERM */
	int was_subreaper;
	struct sigaction was_sigchld;
};

/* From here on orphans become children of the caller. */
void subreaper_begin(struct subreaper *s);
/* Reaps orphans that have ended; sends the others TERM, once, or KILL. Returns how many it saw. */
size_t subreaper_round(struct subreaper *s, bool kill_now);
/* Restores what was before subreaper_begin(). */
void subreaper_end(struct subreaper *s);

#endif
