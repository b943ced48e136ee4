/*
 * sandbox.h: runs a command contained, by bwrap (bubblewrap): the text goes to `bash --noprofile
 * --norc` in namespaces of its own, behind a filter of system calls. It reads system directories,
 * toolchains and the root, and writes the root (if the policy has `write`), a private HOME and a
 * private /tmp. No text is analysed here.
 *
 * In a linked worktree git works on a private copy of the common directory; new objects and refs
 * are taken over afterwards (git_view.c). Elsewhere git is read-only. Protected files are
 * reconciled (protected.c). A broker outside fetches, pushes and calls gh (broker.c). On a host
 * without namespaces a command that only reads runs under Landlock (landlock.c).
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
	const char *const *read, *const *write; /* directories, NULL-ended; NULL: none */
	const char *artifacts;        /* a directory that exists and is written; NULL: none */
	const char *const *variables; /* `NAME=value` that are passed on; NULL-ended; NULL: none */
	bool keep_environment;        /* all of it, but what the sandbox sets itself */
	bool give_stdin;              /* else /dev/null */
	unsigned timeout_s;           /* 0: the policy's */
	int cancel;                   /* readable: end the run. -1: none */
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

/* ---- the file of `policy exec --report FILE` ---- */

/* The known facts; each may be NULL. */
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

/* ---- the program's own part inside ---- */

/* `dev-team sandbox-...`, the first process in the sandbox, and the broker's clients, by the names
 * of their programs. Not verbs for people. -1: argv is none of these; else the exit status. */
int sandbox_inner(int argc, char **argv);

#endif
