/*
 * sandbox.h: the layers of the kernel, each probed once and reduced to the host's features. Nothing
 * here parses or decides: the grants are data.
 *
 * Rule sets, filters and descriptors are prepared before the fork; sandbox_enter()
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
	bool groups_v2, groups_count; /* the kinds of cgroups that can be created below `groups` */
	char groups[512];
};

/* Probes this host, in about a millisecond. Changes nothing. */
void host_probe(struct host *out);
/*
 * The likely features of a host with this kernel, by its versions, without trying namespaces. For
 * one run alone: if it cannot be started, call host_probe() and start it again.
 */
void host_expect(struct host *out);
/* One line per layer for people; and {"landlock":{"state":..,"note":..},..}. */
void host_show(struct buf *out, const struct host *h);
json *host_json(const struct host *h);

/* One run's plan. */
struct sandbox {
	const struct policy *policy;
	const struct root *root;
	const struct host *host;
	const char *home, *tmp; /* private directories, created by the caller; writable */
	int error; /* descriptor (CLOEXEC) that receives `LAYER: errno text` of a failure */
	struct sandbox_state *state;
};

/* Prepares everything that needs memory. -1: ERR_STATE when a required layer is missing on this
 * host (named). */
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
