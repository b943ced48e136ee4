/*
 * sandbox.h: the layers of the kernel, each probed once and each masked to what the host has.
 * Nothing here parses or decides: what is granted comes in as data.
 *
 * What is prepared (rule sets, filters, descriptors) is prepared before the fork; sandbox_enter()
 * runs in the child, uses system calls alone, and does not come back from a layer that is required
 * and fails.
 */
#ifndef DT_SANDBOX_SANDBOX_H
#define DT_SANDBOX_SANDBOX_H

#include "src/policy/policy.h"
#include "src/policy/where.h"

enum layer_state { LAYER_ABSENT, LAYER_PARTIAL, LAYER_THERE };

struct host_layer {
	enum layer_state state;
	char note[120]; /* what is missing, or its version: "ABI 7", "user namespaces are forbidden"
			 */
};

struct host {
	struct host_layer layers[LAYERS];
	int landlock_abi;             /* 0: none */
	bool user;                    /* namespaces only inside a user namespace: not root */
	bool own_proc;                /* a PID namespace can have its own /proc */
	bool pid_limit;               /* .. and its own largest number of processes */
	bool groups_v2, groups_count; /* what groups of processes can be made below `groups` */
	char groups[512];
};

/* Looks what this host has, and tries it; about a millisecond. Changes nothing. */
void host_probe(struct host *out);
/*
 * What a host of this kernel most likely has: versions are asked, namespaces are not tried. For one
 * run alone, which is the trial then: where it cannot be started, host_probe() and start it again.
 */
void host_expect(struct host *out);
/* One line a layer for people; and {"landlock":{"state":..,"note":..},..}. */
void host_show(struct buf *out, const struct host *h);
json *host_json(const struct host *h);

/* One run's plan. */
struct sandbox {
	const struct policy *policy;
	const struct root *root;
	const struct host *host;
	const char *home, *tmp; /* private directories, made by the caller; may be written */
	int error; /* descriptor (CLOEXEC) that gets `LAYER: errno text` of what failed */
	struct sandbox_state *state;
};

/* Builds all that needs memory. -1: ERR_STATE when a required layer is not on this host (named). */
int sandbox_prepare(struct arena *a, struct sandbox *s, struct error *err);
void sandbox_release(struct sandbox *s);

/*
 * fork() into new namespaces as the plan says (PID, network, mount, user where they are needed): 0
 * in the child, which is the first process of its PID namespace where there is one. -1 with errno.
 */
pid_t sandbox_fork(struct sandbox *s, int *pidfd);
/* In the child: rlimits, uid and gid, no_new_privs, mounts, Landlock, seccomp, in the right order.
 * 0 or -1. */
int sandbox_enter(struct sandbox *s);

/* Ends all processes of the run's group, where it has one: the caller ends the child itself. */
void sandbox_kill(struct sandbox *s);

/* The layers that this run has: {"landlock":"on","seccomp":"on","network":"off: the policy has
 * it",..}. */
json *sandbox_report(const struct sandbox *s);

#endif
