#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "src/sandbox/sandbox_internal.h"

/* Results of a child, in shared memory: errno, or 0 if it succeeded. */
struct trial {
	uint64_t flags;
	uid_t uid;
	gid_t gid;
	bool newer; /* a kernel where each PID namespace has its own largest number */
	int user, mounts, proc, pid_limit, no_new_privs, landlock, seccomp;
};

enum { STACK = 64 * 1024 };

static int outcome(int rc)
{
	return rc < 0 ? errno : 0;
}

static void try_mounts(struct trial *t)
{
	t->mounts = outcome(mounts_try("/usr", &t->proc));
	t->pid_limit = ENOSYS;
	/* Older kernels have one number for all, which must not be changed. */
	if (t->newer && !t->mounts && !t->proc && (t->flags & CLONE_NEWPID))
		t->pid_limit = outcome(pid_limit_set("/usr", PID_LIMIT_LEAST));
}

/* In namespaces of its own, which leave nothing behind. */
static int try_all(void *arg)
{
	struct trial *t = arg;

	if (t->flags & CLONE_NEWUSER)
		t->user = outcome(user_map(t->uid, t->gid));
	if (t->flags & CLONE_NEWNS)
		try_mounts(t);
	t->no_new_privs = outcome(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	t->landlock = outcome(landlock_try());
	t->seccomp = outcome(seccomp_try());
	return 0;
}

/* 0 when the child could be created. */
static int try_with(struct trial *t, uint64_t flags, char *stack)
{
	pid_t pid;
	int status;

	t->flags = flags;
	pid = clone(try_all, stack + STACK, (int)(flags | CLONE_VM | CLONE_VFORK | SIGCHLD), t);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? 0 : -1;
}

static bool kernel_at_least(unsigned major, unsigned minor)
{
	struct utsname u;
	unsigned a = 0, b = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &a, &b) == 2 &&
	       (a > major || (a == major && b >= minor));
}

/* Namespaces, each under the flag that asks for it. */
static const struct {
	enum layer layer;
	uint64_t flags;
} spaces[] = {
	{LAYER_PROCESSES, CLONE_NEWPID | CLONE_NEWIPC},
	{LAYER_NETWORK, CLONE_NEWNET},
	{LAYER_MOUNTS, CLONE_NEWNS},
};

static void found(struct host *h, enum layer l, int error, const char *note)
{
	h->layers[l].state = error ? LAYER_ABSENT : LAYER_THERE;
	snprintf(
		h->layers[l].note, sizeof(h->layers[l].note), "%s", error ? strerror(error) : note);
}

/* All at once; where that is refused one after the other, and then what is left at once. */
static void try_namespaces(struct host *h, struct trial *t, char *stack)
{
	uint64_t user = h->user ? CLONE_NEWUSER : 0, all = 0, some = 0;
	struct trial alone;

	for (size_t i = 0; i < COUNT(spaces); i++) {
		found(h, spaces[i].layer, 0, h->user ? "in a user namespace" : "");
		all |= spaces[i].flags;
	}
	if (try_with(t, all | user, stack) == 0)
		return;
	for (size_t i = 0; i < COUNT(spaces); i++) {
		alone = *t;
		if (try_with(&alone, spaces[i].flags | user, stack) == 0)
			some |= spaces[i].flags;
		else
			found(h, spaces[i].layer, errno, "");
	}
	try_with(t, some ? some | user : 0, stack);
}

static void landlock_found(struct host *h, const struct trial *t)
{
	struct host_layer *l = &h->layers[LAYER_LANDLOCK];
	int abi = landlock_abi();

	if (abi == 0) {
		found(h, LAYER_LANDLOCK, errno, "");
		return;
	}
	found(h, LAYER_LANDLOCK, t->landlock, "");
	if (t->landlock)
		return;
	h->landlock_abi = abi;
	snprintf(l->note, sizeof(l->note), "ABI %d%s%s", abi, abi < LANDLOCK_ABI_FULL ? ": " : "",
		landlock_lacks(abi));
	if (abi < LANDLOCK_ABI_FULL)
		l->state = LAYER_PARTIAL;
}

static void spaces_found(struct host *h, const struct trial *t)
{
	struct host_layer *l = &h->layers[LAYER_MOUNTS];

	for (size_t i = 0; t->user && i < COUNT(spaces); i++)
		found(h, spaces[i].layer, t->user, "");
	if (l->state != LAYER_ABSENT && t->mounts)
		found(h, LAYER_MOUNTS, t->mounts, "");
	if (l->state == LAYER_ABSENT || h->layers[LAYER_PROCESSES].state == LAYER_ABSENT)
		return;
	h->own_proc = !t->proc;
	h->pid_limit = h->own_proc && !t->pid_limit;
	if (h->own_proc)
		return;
	l->state = LAYER_PARTIAL;
	snprintf(l->note, sizeof(l->note), "no /proc of its own: %s", strerror(t->proc));
}

void host_probe(struct host *out)
{
	struct trial t = {.uid = geteuid(), .gid = getegid(), .newer = kernel_at_least(6, 14)};
	_Alignas(16) static char stack[STACK];

	memset(out, 0, sizeof(*out));
	out->user = !privileged();
	try_namespaces(out, &t, stack);
	spaces_found(out, &t);
	landlock_found(out, &t);
	found(out, LAYER_SECCOMP, t.seccomp, "");
	cgroup_look(out);
}

void host_expect(struct host *out)
{
	struct trial t = {0};

	memset(out, 0, sizeof(*out));
	out->user = !privileged();
	for (size_t i = 0; i < COUNT(spaces); i++)
		found(out, spaces[i].layer, 0, out->user ? "in a user namespace" : "");
	out->own_proc = true;
	out->pid_limit = kernel_at_least(6, 14);
	landlock_found(out, &t);
	found(out, LAYER_SECCOMP, 0, "");
	cgroup_look(out);
}

static const char *const states[] = {
	[LAYER_ABSENT] = "absent", [LAYER_PARTIAL] = "partial", [LAYER_THERE] = "there"};

void host_show(struct buf *out, const struct host *h)
{
	for (int i = 0; i < LAYERS; i++)
		buf_addf(out, "%-10s %s%s%s\n", layer_name((enum layer)i),
			states[h->layers[i].state], h->layers[i].note[0] ? ": " : "",
			h->layers[i].note);
}

json *host_json(const struct host *h)
{
	json *all = json_object(), *one;

	for (int i = 0; i < LAYERS; i++) {
		one = json_object();
		json_put_str(one, "state", str_of(states[h->layers[i].state]));
		json_put_str(one, "note", str_of(h->layers[i].note));
		json_put(all, layer_name((enum layer)i), one);
	}
	return all;
}
