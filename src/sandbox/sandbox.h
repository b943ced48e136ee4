/*
 * sandbox.h: runs a command contained, by bwrap (bubblewrap): the text goes to `bash --noprofile
 * --norc` in namespaces of its own, behind a filter of system calls. It reads system directories,
 * toolchains and the root, and writes the root (if the policy has `write`), a private HOME, which
 * is empty at first but for caches, and a private /tmp. git is read-only, except in a linked
 * worktree (git_view.c).
 */
#ifndef DT_SANDBOX_SANDBOX_H
#define DT_SANDBOX_SANDBOX_H

#include "src/policy/check.h"

/* Reached inside at the same address: `localhost` and loopback addresses as they are, another name
 * by /etc/hosts. */
struct sandbox_service {
	const char *host;
	unsigned port;
};

struct sandbox_command {
	const struct policy *policy;
	const struct root *root;
	const char *cwd; /* NULL: the root */
	struct str text;
	const struct sandbox_service *services;
	size_t n_services;
	/* NULL-ended; each may be NULL: directories, and `NAME=value` that are passed on. */
	const char *const *read, *const *write, *const *variables;
	const char *artifacts; /* a directory that exists and is written; NULL: none */
	bool keep_environment; /* all of it, but what the sandbox sets itself */
	bool give_stdin;       /* else /dev/null */
	unsigned timeout_s;    /* 0: the policy's */
	int cancel;            /* readable: end the run. -1: none */
};

struct sandbox_end {
	int status;   /* of the command, as bash gives it; 124 timed out; 128+N by signal N */
	bool started; /* bash was started */
	bool timed_out, cancelled;
	int64_t ms;
	VEC(const char *) notes; /* lines for people: what was not taken over, and why; arena */
};

/* 0 when it ran to its end, whatever its status. -1: it could not be started (ERR_STATE: this host
 * cannot contain it, with the remedy), or what it made could not be taken over. */
int sandbox_run(struct arena *a, const struct sandbox_command *x, struct sandbox_end *end,
	struct error *err);

/* Whether this host can run commands contained: 0 with *version of bwrap, or -1, ERR_STATE, with
 * what is missing and how to get it. Starts bwrap. */
int sandbox_probe(struct arena *a, const char **version, struct error *err);
/* The same without starting it: whether bwrap is installed. */
bool sandbox_installed(struct arena *a);

/* What `policy exec --report FILE` writes; each may be NULL. */
struct sandbox_report {
	const struct policy *policy;
	const struct verdict *verdict;
	const struct sandbox_end *end;
	const struct error *error; /* it could not be run */
};

/* The command may be able to write FILE itself, so it is written after the last process of the run
 * has ended, and renamed into place. `path` NULL: no report. */
int sandbox_report_try(struct arena *a, const char *path, struct error *err);
int sandbox_report_write(
	struct arena *a, const char *path, const struct sandbox_report *o, struct error *err);

/* `dev-team sandbox-readonly`, the process that gives up its rights by Landlock and becomes bash.
 * Not a verb for people. -1: argv is not this; else the exit status. */
int sandbox_landlock_inner(int argc, char **argv);

#endif
