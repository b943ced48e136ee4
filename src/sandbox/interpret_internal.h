/*
 * interpret_internal.h: the state of the interpreter, one a process: a subshell, a part of a
 * pipeline, a background command and $( ) are forks with a copy of it. For interpret*.c and
 * execute.c alone.
 *
 * Nothing here decides: each command is expanded (expand.h), checked (check.h) and only then
 * started. A shared page reports a denial to all processes of the run.
 */
#ifndef DT_SANDBOX_INTERPRET_INTERNAL_H
#define DT_SANDBOX_INTERPRET_INTERNAL_H

#include <stdatomic.h>
#include <sys/types.h>
#include "src/sandbox/execute.h"
#include "src/policy/expand.h"

enum {
	SHELL_FDS = 3,             /* redirections reach 0, 1 and 2 */
	SHELL_OWN_FD = 10,         /* descriptors of the interpreter are here and above */
	SHELL_TEXT = 1 << 20,      /* bytes that $( ) and read take at most */
	SHELL_VALUES = 4 << 20,    /* that values bring into one command */
	SHELL_SETTINGS = 16 << 20, /* that all variables have together */
	SHELL_ASKED = 512,     /* calls that one command may be asked about: wrappers in wrappers */
	SHARED_TEXT = 8 << 10, /* of the word and of the path of a verdict */
	SHARED_JOBS = 1024,
	NOT_FOUND = 127,
	NOT_RUN = 126,
};

/* Memory that all processes of a run share until they start a program. */
struct shared {
	atomic_int started; /* the layers are in place */
	atomic_int denied;  /* 1: being written, 2: all of it is there */
	/* What subshells put into the background and left: the first process waits for it. */
	atomic_uint n_jobs;
	pid_t jobs[SHARED_JOBS];
	int rule;
	struct span at;
	bool has_word, has_path;
	size_t word_n, path_n;
	char word[SHARED_TEXT], path[SHARED_TEXT];
	char reason[sizeof(((struct verdict *)NULL)->reason)];
};

/* NULL with errno. */
struct shared *shared_make(void);
void shared_drop(struct shared **s); /* for CLEANUP too */
/* Records the first denial. Wakes the reader of `alarm` (-1: none). */
void shared_deny(struct shared *s, int alarm, const struct verdict *v);
bool shared_denied(const struct shared *s);
/* False: there is no room. */
bool shared_leave_job(struct shared *s, pid_t pid);
/* Texts are put into the arena. */
void shared_verdict(struct arena *a, const struct shared *s, struct verdict *out);

struct setting {
	char *name, *value;
	bool exported;
};

struct settings { /* the shell's variables */
	struct setting *p;
	size_t n;
};

struct setting *setting_get(const struct settings *s, struct str name);
void setting_set(struct settings *s, struct str name, struct str value);
/* Bytes of all values. */
size_t settings_size(const struct settings *s);
void setting_drop(struct settings *s, struct str name);
/* `name=value` of all exported ones, NULL-ended, in the arena. */
char **settings_environment(struct arena *a, const struct settings *s);

struct child {
	pid_t pid;
	int status; /* -1: still running */
};

struct shell {
	const struct execution *x;
	const struct root *root;
	struct shared *shared;
	int alarm;
	struct settings settings;
	char *cwd; /* relative to the root, real */
	struct child *children;
	size_t n_children;
	pid_t *jobs; /* put into the background */
	size_t n_jobs;
	bool errexit, nounset, pipefail;
	unsigned unheeded; /* conditions around this place: there errexit does nothing */
	int status, output_status;
	int last;       /* of the command before, for exit */
	bool unopened;  /* a redirection of the compound command before failed */
	unsigned loops; /* around this place, in this process */
	unsigned skip;  /* loops that break or continue leaves */
	bool again;     /* continue: the last of them goes on with its next turn */
	bool apart;     /* not the first process of the run: what an unset variable ends differs */
	bool leaving;   /* this process is ending: errexit, an unset variable, a denial */
};

/* True when nothing further may be started: leaving (a loop, or all), a denial anywhere, or TERM.
 */
bool shell_stopped(const struct shell *sh);
/* A line on standard error, `dev-team: ` before it. */
void shell_say(const char *fmt, ...) PRINTF(1, 2);
/* The process is to end with `status`; returns it. */
int shell_leave(struct shell *sh, int status);
int shell_denied(struct shell *sh, const struct verdict *v);

/* Every signal as a program expects it, but TERM: then nothing further is started. */
void shell_signals(void);
/* fork(): 0 in the child, which has no children and no jobs; -1 when nothing may be started. */
pid_t shell_fork(struct shell *sh);
/* Its status as a shell gives it. */
int shell_wait(struct shell *sh, pid_t pid);
void shell_wait_jobs(struct shell *sh);
/* Sets cwd and PWD, which is not exported. */
void shell_set_cwd(struct shell *sh, struct str cwd);
/* For the first process, which adopts orphans. */
void shell_wait_left(struct shell *sh);
_Noreturn void shell_exit(struct shell *sh, int status);
/* Moves a descriptor above 0..2; closes the old one. -1 with errno. */
int shell_lift(int fd);
int shell_pipe(int ends[2]);

/* Runs it; the status. */
int run_node(struct shell *sh, const struct node *n);
/* `feeder`: what stands before it in a pipeline, or NULL. `last`: this process has nothing else to
 * do and becomes the program. */
int run_command(struct shell *sh, const struct node *n, const struct node *feeder, bool last);
/* In a process of its own: does not return. */
_Noreturn void run_part(struct shell *sh, const struct node *n, const struct node *feeder);
/* errexit: a command has ended with `status`. */
int run_heed(struct shell *sh, int status);
int run_pipeline(struct shell *sh, const struct node *n);
int run_subshell(struct shell *sh, const struct node *n);
int run_background(struct shell *sh, const struct node *n);
int run_timed(struct shell *sh, const struct node *n);
int run_case(struct shell *sh, const struct node *n);
/* interpret_loop.c */
int run_loop(struct shell *sh, const struct node *n);
int run_for(struct shell *sh, const struct node *n);
/* Where a failure is a result. */
int run_unheeded(struct shell *sh, const struct node *n);

/* The check of one command with real values, in an arena that ends with it. */
struct turn {
	struct shell *sh;
	struct arena arena;
	struct verdict verdict;
	struct check check;
	struct expander expander;
	size_t bytes; /* of values so far */
};
void turn_begin(struct turn *t, struct shell *sh);
void turn_end(struct turn *t); /* for CLEANUP */
/* Sets a variable: 0, or -1 when the values are too large. */
int turn_set(struct turn *t, struct str name, struct str value, struct span at);
/* After a -1: reports the denial, or another failure; returns the status. */
int turn_failed(struct turn *t);

/* A redirection with its expanded target. */
struct target {
	const struct redirect *redirect;
	struct place place;
	struct str name; /* as written, for people */
	struct str text;
};

struct targets {
	struct target *p;
	size_t n;
};

/* The saved standard descriptors. */
struct saved {
	int fd[SHELL_FDS]; /* -1: not changed; -2: was closed */
};

/* Expands and checks; opens nothing. 0 or -1. */
int targets_check(struct turn *t, const struct node *n, struct targets *out);
/* Opens and installs them in order. `saved` may be NULL. 0, or -1 with a message on standard error.
 */
int targets_apply(struct shell *sh, const struct targets *list, struct saved *saved);
void saved_begin(struct saved *s);
void saved_restore(struct saved *s); /* for CLEANUP too */

/* openat2() below the root, without following any link. */
int open_beneath(const struct root *r, struct str path, int flags);

typedef int builtin_fn(struct turn *t, const struct call *call);
builtin_fn *builtin_named(struct str name); /* NULL: none */
builtin_fn builtin_read;
builtin_fn builtin_exit, builtin_break, builtin_continue, builtin_wait;
bool shell_is_name(struct str s);
/* Reports that it is not a command; returns the status. */
int shell_no_name(const char *what, struct str name);

/* interpret() with a page and an alarm that a supervisor has too. */
int interpret_shared(const struct execution *x, const struct root *root, char **environment,
	struct shared *shared, int alarm);

#endif
