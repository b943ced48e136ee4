#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/sys/process.h"
#include "src/sandbox/sandbox_internal.h"

int layer_failed(const struct sandbox *s, const char *layer, const char *what)
{
	int why = errno;

	if (s->error >= 0)
		dprintf(s->error, "%s: %s: %s", layer, what, strerror(why));
	errno = why;
	return -1;
}

static void leave_out(struct sandbox_state *st, enum layer l, const char *why)
{
	st->on[l] = false;
	snprintf(st->note[l], sizeof(st->note[l]), "%s", why);
}

/* One layer by the policy and by what the host has. */
static int decide(struct sandbox *s, enum layer l, struct error *err)
{
	const struct host_layer *there = &s->host->layers[l];
	struct sandbox_state *st = s->state;

	st->on[l] = false;
	if (s->policy->layers[l] == NEED_OFF)
		leave_out(st, l, "off: the policy leaves it out");
	else if (l == LAYER_NETWORK && s->policy->network)
		leave_out(st, l, "off: the policy has it");
	else if (there->state != LAYER_ABSENT) {
		st->on[l] = true;
		snprintf(st->note[l], sizeof(st->note[l]), "on%s%s", there->note[0] ? ": " : "",
			there->note);
	} else if (s->policy->layers[l] == NEED_REQUIRED)
		return error_set(err, ERR_STATE,
			"layer '%s' is required by policy '%s' and is not on this host: %s",
			layer_name(l), s->policy->name ? s->policy->name : "", there->note);
	else
		snprintf(st->note[l], sizeof(st->note[l]), "absent: %s", there->note);
	return 0;
}

/* Threads of `uid`: RLIMIT_NPROC counts them all, wherever they are. */
struct tally {
	uid_t uid;
	unsigned n;
};

static void count_one(const struct process_info *info, void *arg)
{
	struct tally *t = arg;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)info->pid);
	if (stat(path, &st) == 0 && st.st_uid == t->uid && st.st_nlink > 2)
		t->n += (unsigned)st.st_nlink - 2;
}

/*
 * What bounds the number of processes: the PID namespace, a group, or RLIMIT_NPROC. A group of
 * version 1 costs 10 ms and more on a machine that has nothing else to do, so where the namespace
 * does it the group is only made when the policy asks for it.
 */
static void decide_number(struct sandbox *s)
{
	struct sandbox_state *st = s->state;
	struct tally t = {.uid = st->uid};
	bool asked = s->policy->layers[LAYER_CGROUP] == NEED_REQUIRED;
	bool drops = s->policy->uid && s->policy->uid != st->uid;

	st->pid_limit = st->own_proc && s->host->pid_limit && s->policy->limits.processes;
	if (st->on[LAYER_CGROUP] && !s->host->groups_v2 && st->pid_limit && !asked)
		leave_out(st, LAYER_CGROUP, "off: the PID namespace counts the processes");
	if (st->on[LAYER_CGROUP] && !s->host->groups_count && st->on[LAYER_PROCESSES] && !asked)
		leave_out(st, LAYER_CGROUP, "off: the PID namespace ends the processes");
	if (!s->policy->limits.processes ||
		(st->pid_limit && s->policy->limits.processes >= PID_LIMIT_LEAST) ||
		(st->on[LAYER_CGROUP] && s->host->groups_count) || (!st->uid && !drops))
		return;
	if (!drops && !(st->user && namespace_flags(st)))
		process_each(count_one, &t);
	st->processes = s->policy->limits.processes + t.n;
}

static int decide_all(struct sandbox *s, struct error *err)
{
	struct sandbox_state *st = s->state;

	for (int l = 0; l < LAYERS; l++)
		if (decide(s, (enum layer)l, err) < 0)
			return -1;
	st->user = s->host->user;
	st->own_proc = st->on[LAYER_PROCESSES] && st->on[LAYER_MOUNTS] && s->host->own_proc;
	if (st->user && (s->policy->uid || s->policy->gid) &&
		(s->policy->uid != st->uid || s->policy->gid != st->gid))
		return error_set(err, ERR_STATE,
			"policy '%s' names another user, and only root can change to one",
			s->policy->name ? s->policy->name : "");
	decide_number(s);
	return 0;
}

/* Whether a group can be made shows when it is made. */
static int make_group(struct sandbox *s, struct error *err)
{
	struct sandbox_state *st = s->state;

	if (!st->on[LAYER_CGROUP] || cgroup_prepare(s, err) == 0)
		return 0;
	cgroup_release(s);
	if (s->policy->layers[LAYER_CGROUP] == NEED_REQUIRED)
		return err->code = ERR_STATE, error_prefix(err, "layer 'cgroup' is required");
	snprintf(st->note[LAYER_CGROUP], sizeof(st->note[0]), "absent: %.120s", err->text);
	st->on[LAYER_CGROUP] = false;
	decide_number(s);
	return 0;
}

static int prepare_all(struct arena *a, struct sandbox *s, struct error *err)
{
	struct sandbox_state *st = s->state;

	if (decide_all(s, err) < 0)
		return -1;
	grants_prepare(a, s);
	if (st->on[LAYER_LANDLOCK] && landlock_prepare(s, err) < 0)
		return -1;
	if (st->on[LAYER_SECCOMP])
		seccomp_prepare(a, s);
	return make_group(s, err);
}

int sandbox_prepare(struct arena *a, struct sandbox *s, struct error *err)
{
	struct sandbox_state *st = arena_alloc(a, sizeof(*st));

	s->state = NULL;
	if (strcmp(s->root->path, "/") == 0)
		return error_set(err, ERR_INPUT,
			"directory '/' bounds nothing: a run needs a directory below it");
	s->state = st;
	st->ruleset = st->cgroup.fd = st->cgroup.procs = -1;
	st->uid = geteuid();
	st->gid = getegid();
	st->parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (prepare_all(a, s, err) == 0)
		return 0;
	sandbox_release(s);
	return -1;
}

void sandbox_release(struct sandbox *s)
{
	struct sandbox_state *st = s->state;

	if (!st)
		return;
	base_close(&st->ruleset);
	base_close(&st->parent);
	st->ruleset = st->parent = -1;
	cgroup_release(s);
}

/* After the user was changed, which takes it back. The parent may have died before it was set. */
static int die_with_parent(const struct sandbox *s)
{
	struct pollfd p = {.fd = s->state->parent, .events = POLLIN};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return layer_failed(s, "processes", "cannot end with the parent");
	if (p.fd >= 0 && poll(&p, 1, 0) > 0)
		_exit(1);
	return 0;
}

int sandbox_enter(struct sandbox *s)
{
	const struct sandbox_state *st = s->state;

	if (cgroup_enter(s) < 0 || namespaces_enter(s) < 0 || mounts_enter(s) < 0)
		return -1;
	if (limits_enter(s) < 0 || privileges_enter(s) < 0 || die_with_parent(s) < 0)
		return -1;
	if (st->on[LAYER_LANDLOCK] && landlock_enter(s) < 0)
		return -1;
	return st->on[LAYER_SECCOMP] ? seccomp_enter(s) : 0;
}

json *sandbox_report(const struct sandbox *s)
{
	json *j = json_object();

	for (int l = 0; l < LAYERS; l++)
		json_put_str(j, layer_name((enum layer)l), str_of(s->state->note[l]));
	return j;
}
