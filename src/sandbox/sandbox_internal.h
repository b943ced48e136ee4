/* Shared by the files of src/sandbox. */
#ifndef DT_SANDBOX_INTERNAL_H
#define DT_SANDBOX_INTERNAL_H

#include <limits.h>
#include "src/sandbox/sandbox.h"
#include "src/sys/directory.h"

/* Where the program's own files are inside. */
#define BOX         "/run/dev-team"
#define BOX_PROGRAM BOX "/dev-team"
#define BOX_BROKER  BOX "/broker"
#define BOX_OBJECTS BOX "/objects"
#define BOX_CONNECT BOX "/connect"
#define BOX_CACHES  BOX "/caches"
/* One byte each, from the first process inside: bash has started; the command, which failed, had
 * sent packets to a host without having a network. */
#define INSIDE_STARTED     "s"
#define INSIDE_MISSED_HOST "m"
enum { SANDBOX_TIMED_OUT = 124, SANDBOX_FAILED };

#define GIT_HELPER "dev-team" /* remote.NAME.vcs */

/* How a protected name is kept in this run. */
struct kept_name {
	const char *name; /* relative to the root */
	enum kept_kind {
		KEPT_COPY = 'd',      /* a directory: a private copy is bound over it */
		KEPT_READ_ONLY = 'r', /* bound over itself */
		KEPT_COMPARED = 'f'   /* a file or nothing, compared with a copy afterwards */
	} kind;
};

/* What listens inside at a loopback address. */
struct route {
	const char *at;   /* 127.N.N.N */
	const char *host; /* that it leads to; NULL: the proxy */
	unsigned port;
};

/* The private copy of a repository's common directory. */
struct git_view {
	const char *common;   /* the real one; NULL: the root is in no repository */
	const char *own;      /* directory of the linked worktree in it; NULL: the root is none */
	const char *copy;     /* NULL: the real one is seen, read-only */
	bool write;           /* new objects, refs and settings are taken over */
	const char *files[4]; /* contents of `own`'s HEAD, and of files that lead git elsewhere */
};

struct sandbox {
	struct arena *arena;
	const struct sandbox_command *x;
	struct sandbox_end *end;
	const char *bwrap;  /* path of the program */
	const char *cwd;    /* real */
	const char *state;  /* directory */
	const char *dir;    /* of this root in the state directory */
	const char *caches; /* of this repository, writable: parts of HOME inside */
	const char *tmp;    /* of this root, writable: /tmp inside, and TMPDIR by this name */
	bool brokered;      /* there is a broker */
	int broker;         /* its socket; -1: none yet */
	int mutex, live;    /* locks */
	bool alone;         /* no other run works in this root */
	struct git_view view;
	VEC(struct kept_name) kept;
	VEC(struct route) routes;
	size_t n_names;     /* of hosts that have an address inside */
	pid_t network;      /* serves the routes; 0: none */
	VEC(int) inherited; /* descriptors that bwrap gets; in the arena */
	VEC(const char *) environment;
	struct buf arguments;    /* of bwrap, ended by NUL each */
	VEC(const char *) tools; /* directories of toolchains that are bound */
	const char *hidden_in;   /* the directory whose secrets are being hidden */
};

void sandbox_note(struct sandbox *s, const char *fmt, ...) PRINTF(2, 3);
/* The descriptor, which the processes inside get. The run closes it. */
int sandbox_inherit(struct sandbox *s, int fd);
/* A file in memory that is inherited, at its beginning. */
int sandbox_memory_file(struct sandbox *s, struct str text, struct error *err);

/* -1 with errno. `inside`: with the signals and descriptors that a command expects. */
pid_t sandbox_spawn(const char *path, const char *const *argv, const char *const *environment,
	bool inside, bool give_stdin);

/* The directory that all worktrees of the root's repository share, if it is one. */
const char *sandbox_common_of(struct arena *a, const struct root *r);

/* ---- files.c ---- */

/* A regular file, its permissions included, or a link itself. A missing one removes `to`. */
int sandbox_copy_file(const char *from, const char *to, struct error *err);
/* Makes `to` equal to `from`: files, directories and links, and removes what `from` does not have.
 * The caller ensures that no other process uses `to`. */
int sandbox_sync_tree(struct arena *a, const char *from, const char *to, struct error *err);
void sandbox_remove_tree(const char *path);
/* Restores the owner's permissions on a directory, which a command may have removed. The caller
 * ensures that no other process uses the tree. */
void sandbox_open_directory(int parent, const char *name);
/* What is below a directory, directories before what is in them. Empty behind a link, which a
 * command can have made. */
struct tree_entry {
	const char *path; /* relative to the directory */
	enum file_type type;
};
struct tree {
	struct tree_entry *items;
	size_t n, cap;
};
void sandbox_list_tree(struct arena *a, const char *path, struct tree *out);
/* Below a directory that is no link: of all directories if no command uses it (`unused`), and
 * removes `links`, since git makes none, and one could lead to another repository. */
void sandbox_tidy_tree(const char *path, bool links, bool unused);
/* As sys_read_small() */
const char *sandbox_read_text(struct arena *a, const char *path);
int sandbox_write_file(const char *path, struct str text, mode_t mode, struct error *err);

/* ---- git_view.c ---- */

/* Under the lock. Makes the copy if no other run uses it. */
int sandbox_git_begin(struct sandbox *s, struct error *err);
/* New objects become the repository's: verified, by git itself. `unused`: no command uses the copy,
 * so they can be removed there. */
int sandbox_git_import(struct sandbox *s, bool unused, struct error *err);
/* Objects, refs and settings. */
int sandbox_git_end(struct sandbox *s, struct error *err);

/* Or it has a usual name, or that cannot be told. */
bool sandbox_git_is_default(struct sandbox *s, const char *ref);
/* Whether another worktree has the branch. */
bool sandbox_git_is_of_others(struct sandbox *s, const char *name);
/* Whether the branch at the remote is the item's: the one that the worktree was made with, or one
 * that the broker made there (a line of the file `pushed`). */
bool sandbox_git_is_own(struct sandbox *s, const char *ref);
/* The branch that is checked out; NULL: none. */
const char *sandbox_git_branch(struct sandbox *s);
/* To a file of refs in the place of the root. */
void sandbox_git_add_line(struct sandbox *s, const char *file, const char *ref);
/* Adds the settings without secrets, without files elsewhere, and without signing, whose keys stay
 * outside. True: nothing was left out. */
bool sandbox_git_settings(const char *text, struct buf *out);
/* If no other run works in the root: repositories among the files start no programs outside. */
void sandbox_submodules_end(struct sandbox *s);
/* Environment of git on the host, by which it starts nothing that an agent configured. */
#define GIT_RUNS_NOTHING                                                                           \
	"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",       \
		"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",                 \
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",                                \
		"GIT_CONFIG_KEY_3=protocol.ext.allow", "GIT_CONFIG_VALUE_3=never"
/* git on the real repository, with that. */
int sandbox_git_command(struct sandbox *s, const char *const *argv, struct str input,
	struct buf *out, int *status, struct error *err);
/* The file at `path` in the default branch's commit, in the arena; p NULL: there is none. */
struct str sandbox_git_trusted(struct sandbox *s, const char *path);

/* ---- protected.c ---- */

/* -1: ERR_STATE, another run of the root protects other names. */
int sandbox_protected_begin(struct sandbox *s, struct error *err);
/* From here on a run that is killed is settled by the next one. */
int sandbox_protected_begun(struct sandbox *s, struct error *err);
void sandbox_protected_end(struct sandbox *s);

/* ---- arguments.c ---- */

/* Fills in s->arguments. */
int sandbox_arguments(struct sandbox *s, struct error *err);
/* NULL-ended; once a run. */
const char *const *sandbox_environment(struct sandbox *s);

/* ---- broker.c ---- */

bool sandbox_broker_wanted(const struct sandbox *s);
void sandbox_broker_serve(struct sandbox *s); /* one request */
/* Inside: sends the socket at which the broker, outside, accepts. False: errno. */
bool sandbox_broker_listen(int channel);
int sandbox_broker_git_client(int argc, char **argv);
int sandbox_broker_forge_client(const char *program, int argc, char **argv);

/* ---- network.c: services and named hosts ---- */

/* Fills in s->routes. -1: ERR_STATE, one cannot be reached from inside. */
int sandbox_network_plan(struct sandbox *s, struct error *err);
void sandbox_network_hosts(const struct sandbox *s, struct buf *out); /* lines of /etc/hosts */
void sandbox_network_variables(struct sandbox *s);                    /* that name the proxy */
/* *inside: where the first process sends its sockets; 0: there are no routes. */
int sandbox_network_open(struct sandbox *s, int *inside, struct error *err);
void sandbox_network_close(struct sandbox *s);
/* Inside: listens at each `ADDRESS:PORT` of the list. */
bool sandbox_network_listen(struct arena *a, struct str list, int channel);
/* Sends a descriptor, or receives one if it is -1. -1: the channel was closed. */
int sandbox_pass_socket(int channel, int fd);
/* Sends a new socket that listens at this address. False: errno. */
struct sockaddr;
bool sandbox_listen(int channel, const struct sockaddr *at, size_t size);

/* ---- seccomp.c ---- */

/* `readonly`: also no sockets, no changes of modes, owners and times, and without `signals` none to
 * other processes. -1 with errno. */
int sandbox_filter_enter(bool readonly, bool signals);

/* Cuts the policy's limits, as bytes, off the plan, and sets them. False: they are not there. */
bool sandbox_take_limits(struct str *plan);

/* ---- landlock.c ---- */

bool sandbox_landlock_serves(const struct sandbox_command *x);
int sandbox_landlock_run(struct sandbox *s, struct error *err);

#endif
