#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#include "src/sandbox/sandbox_internal.h"

struct caps {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[2];
};

/* What root may keep: files of others below the root. Landlock and mounts bound where. */
static const unsigned kept[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID};

static struct caps caps_now(void)
{
	struct caps c = {.head = {_LINUX_CAPABILITY_VERSION_3, 0}};

	syscall(SYS_capget, &c.head, c.data);
	return c;
}

bool privileged(void)
{
	struct caps c = caps_now();

	return c.data[0].effective & (1U << CAP_SYS_ADMIN);
}

static bool keeps(unsigned cap)
{
	for (size_t i = 0; i < COUNT(kept); i++)
		if (kept[i] == cap)
			return true;
	return false;
}

/* The lower limit stands where one is set already; 0 sets none. */
static int limit(const struct sandbox *s, int which, rlim_t value, const char *name)
{
	struct rlimit now;

	if (getrlimit(which, &now) < 0)
		return layer_failed(s, "limits", name);
	if (now.rlim_max < value)
		value = now.rlim_max;
	now.rlim_cur = now.rlim_max = value;
	return setrlimit(which, &now) < 0 ? layer_failed(s, "limits", name) : 0;
}

int limits_enter(const struct sandbox *s)
{
	const struct policy_limits *l = &s->policy->limits;
	const struct {
		int which;
		rlim_t value;
		const char *name;
	} rows[] = {
		{RLIMIT_CPU, l->cpu_s, "RLIMIT_CPU"},
		/* Not AS: runtimes reserve far more addresses than they ever use. */
		{RLIMIT_DATA, l->memory, "RLIMIT_DATA"},
		{RLIMIT_FSIZE, l->file_size, "RLIMIT_FSIZE"},
		{RLIMIT_NOFILE, l->open_files, "RLIMIT_NOFILE"},
		{RLIMIT_NPROC, s->state->processes, "RLIMIT_NPROC"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].value && limit(s, rows[i].which, rows[i].value, rows[i].name) < 0)
			return -1;
	return limit(s, RLIMIT_CORE, 0, "RLIMIT_CORE");
}

static int changed_to(const struct sandbox *s, uid_t uid, gid_t gid)
{
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) < 0 || getresgid(&g[0], &g[1], &g[2]) < 0)
		return layer_failed(s, "user", "cannot read back");
	for (size_t i = 0; i < 3; i++)
		if (u[i] != uid || g[i] != gid) {
			errno = EPERM;
			return layer_failed(s, "user", "another user than the policy's");
		}
	if (setuid(0) == 0 || setgid(0) == 0) {
		errno = EPERM;
		return layer_failed(s, "user", "root can be had again");
	}
	return 0;
}

static int change_user(const struct sandbox *s)
{
	uid_t uid = s->policy->uid ? s->policy->uid : getuid();
	gid_t gid = s->policy->gid ? s->policy->gid : getgid();

	if (!s->policy->uid && !s->policy->gid)
		return 0;
	if (uid == s->state->uid && gid == s->state->gid && uid)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return layer_failed(s, "user", "cannot change to the policy's");
	return uid ? changed_to(s, uid, gid) : 0;
}

/* Up to the last one that this kernel has. Without CAP_SETPCAP there is none to come back. */
static int drop_bounding(void)
{
	for (unsigned cap = 0; cap < 64; cap++)
		if (!keeps(cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EINVAL || errno == EPERM ? 0 : -1;
	return 0;
}

/* Out of every set: what is not in the bounding one cannot come back with a program. */
static int drop_caps(const struct sandbox *s)
{
	struct caps c = caps_now();
	uint32_t stay[2] = {0, 0};

	if (!c.data[0].permitted && !c.data[1].permitted)
		return 0;
	if (drop_bounding() < 0)
		return layer_failed(s, "user", "cannot drop capabilities");
	for (size_t i = 0; geteuid() == 0 && i < COUNT(kept); i++)
		stay[kept[i] / 32] |= 1U << (kept[i] % 32);
	for (size_t i = 0; i < 2; i++) {
		c.data[i].permitted &= stay[i];
		c.data[i].effective = c.data[i].permitted;
		c.data[i].inheritable = 0;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &c.head, c.data) < 0
		       ? layer_failed(s, "user", "cannot drop capabilities")
		       : 0;
}

int privileges_enter(const struct sandbox *s)
{
	/* What the caller has in memory and in its environment is none of the run's business. */
	if (change_user(s) < 0 || drop_caps(s) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return layer_failed(s, "user", "cannot hide memory");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return layer_failed(s, "user", "cannot set no_new_privs");
	return 0;
}
