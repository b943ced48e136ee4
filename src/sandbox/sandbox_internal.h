/*
 * sandbox_internal.h: what the layers of a sandbox share. Private to sandbox.c, host.c and the
 * files of the layers.
 *
 * Functions named *_prepare() run in the parent and may allocate memory; those named *_enter() run
 * in the child, and report failures with layer_failed().
 */
#ifndef DT_SANDBOX_SANDBOX_INTERNAL_H
#define DT_SANDBOX_SANDBOX_INTERNAL_H

#include <sys/types.h>
#include "src/sandbox/sandbox.h"

struct sock_fprog;

/* What a run may access. A directory stands for everything below it. */
enum grant_kind {
	GRANT_READ,   /* also started as a program: reading is enough to do that anyway */
	GRANT_WRITE,  /* the same, and created, changed and removed */
	GRANT_DEVICE, /* read and written, never created */
	/* An empty directory in memory, in the place of the one of that name; of the view alone. */
	GRANT_SCRATCH,
};

/* Some are for one of the two layers only. */
enum grant_use { USE_BOTH, USE_RULES, USE_VIEW };

struct grant {
	const char *path; /* absolute */
	enum grant_kind kind;
	bool needed; /* required for a run; others are left out if they do not exist */
	enum grant_use use;
	int tree; /* mounts_enter(): its detached mount */
};

struct grants {
	struct grant *list;
	size_t n;
};

struct cgroup {
	char path[4096]; /* of the run's own group; empty: none */
	int fd;          /* the group's directory, -1 */
	int procs;       /* its cgroup.procs, -1: the child is born in it */
};

struct sandbox_state {
	bool on[LAYERS];
	char note[LAYERS][160]; /* why it is off, or what is missing */
	struct grants grants;
	int ruleset; /* Landlock's, -1: none */
	struct sock_fprog *filter;
	struct cgroup cgroup;
	bool own_proc;      /* /proc shows the run alone */
	bool pid_limit;     /* the PID namespace bounds the number of processes */
	unsigned processes; /* RLIMIT_NPROC, 0: it would count the wrong ones */
	bool user;          /* namespaces need a user namespace around them */
	uid_t uid;          /* of the parent */
	gid_t gid;
	int parent; /* pidfd of the parent, -1 */
};

/* Writes `LAYER: what: text of errno` to s->error; always -1. */
int layer_failed(const struct sandbox *s, const char *layer, const char *what);

/* grants.c: parents precede what is below them. */
void grants_prepare(struct arena *a, struct sandbox *s);

/* landlock.c: what an ABI lacks, for people; "" when nothing that matters here. */
enum { LANDLOCK_ABI_FULL = 6 };
int landlock_abi(void); /* 0 with errno: none */
const char *landlock_lacks(int abi);
int landlock_prepare(struct sandbox *s, struct error *err);
int landlock_enter(const struct sandbox *s);
/* Restricts the caller by an empty rule set: 0 if that works. */
int landlock_try(void);

/* seccomp.c */
void seccomp_prepare(struct arena *a, struct sandbox *s);
int seccomp_enter(const struct sandbox *s);
/* A filter that allows all. no_new_privs must be set. */
int seccomp_try(void);

/* namespaces.c */
uint64_t namespace_flags(const struct sandbox_state *st);
int user_map(uid_t uid, gid_t gid); /* of the caller, who is new in a user namespace */
int namespaces_enter(const struct sandbox *s);
enum { PID_LIMIT_LEAST = 301 }; /* the kernel takes none below */
int pid_limit_set(const char *proc, unsigned most);

/* mounts.c: a view of the file system that has only the grants. */
int mounts_enter(struct sandbox *s);
/* The same calls for one directory, in a mount namespace that is thrown away. */
int mounts_try(const char *directory, int *proc);

/* cgroup.c */
void cgroup_look(struct host *h);
int cgroup_prepare(struct sandbox *s, struct error *err);
int cgroup_enter(const struct sandbox *s);
void cgroup_release(struct sandbox *s);

/* limits.c */
int limits_enter(const struct sandbox *s);
/* uid, gid and capabilities; they cannot be regained. */
int privileges_enter(const struct sandbox *s);
bool privileged(void); /* CAP_SYS_ADMIN where we are */

#endif
