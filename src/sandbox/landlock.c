#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/sandbox/sandbox_internal.h"

/* Our own names: the headers of a stable distribution know but a part of them. */
enum {
	CREATE_RULESET = 444,
	ADD_RULE = 445,
	RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	RULE_PATH_BENEATH = 1,
};

#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_READ_FILE   (UINT64_C(1) << 2)
#define FS_READ_DIR    (UINT64_C(1) << 3)
#define FS_REMOVE_DIR  (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR    (UINT64_C(1) << 7)
#define FS_MAKE_REG    (UINT64_C(1) << 8)
#define FS_MAKE_SOCK   (UINT64_C(1) << 9)
#define FS_MAKE_FIFO   (UINT64_C(1) << 10)
#define FS_MAKE_SYM    (UINT64_C(1) << 12)
#define FS_REFER       (UINT64_C(1) << 13)
#define FS_TRUNCATE    (UINT64_C(1) << 14)
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)
#define NET_BIND       (UINT64_C(1) << 0)
#define NET_CONNECT    (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT (UINT64_C(1) << 0)
#define SCOPE_SIGNAL   (UINT64_C(1) << 1)

/* All but MAKE_CHAR (6) and MAKE_BLOCK (11), which are handled and granted nowhere. */
#define READING (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define WRITING                                                                                    \
	(FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |              \
		FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE)
#define OF_A_FILE (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct __attribute__((packed)) path_beneath_attr {
	uint64_t allowed;
	int32_t parent;
};

/* The rights and the size of the attribute that each ABI knows. */
static const struct {
	int abi;
	uint64_t fs, net, scoped;
	size_t size;
	const char *lacks;
} abis[] = {
	{1, (UINT64_C(1) << 13) - 1, 0, 0, 8,
		"no renames between directories, no truncate, TCP, devices, scopes"},
	{2, (UINT64_C(1) << 14) - 1, 0, 0, 8, "no truncate, TCP, devices, scopes"},
	{3, (UINT64_C(1) << 15) - 1, 0, 0, 8, "no TCP, devices, scopes"},
	{4, (UINT64_C(1) << 15) - 1, NET_BIND | NET_CONNECT, 0, 16, "no devices, scopes"},
	{5, (UINT64_C(1) << 16) - 1, NET_BIND | NET_CONNECT, 0, 16, "no scopes"},
	{LANDLOCK_ABI_FULL, (UINT64_C(1) << 16) - 1, NET_BIND | NET_CONNECT,
		SCOPE_ABSTRACT | SCOPE_SIGNAL, 24, ""},
};

static size_t abi_row(int abi)
{
	return (size_t)(abi > LANDLOCK_ABI_FULL ? LANDLOCK_ABI_FULL : abi) - 1;
}

int landlock_abi(void)
{
	long abi = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

const char *landlock_lacks(int abi)
{
	return abis[abi_row(abi)].lacks;
}

static int ruleset(int abi, bool network)
{
	size_t row = abi_row(abi);
	struct ruleset_attr attr = {abis[row].fs, network ? 0 : abis[row].net, abis[row].scoped};
	int fd = (int)syscall(CREATE_RULESET, &attr, abis[row].size, 0);

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static uint64_t rights(enum grant_kind kind)
{
	switch (kind) {
	case GRANT_READ:
		return READING;
	case GRANT_WRITE:
		return READING | WRITING;
	default:
		return FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
	}
}

/* 0; -1 with errno. What is not there, or not ours to look at, could not be used anyway. */
static int add_rule(int set, int abi, const struct grant *g)
{
	CLEANUP(base_close) int fd = open(g->path, O_PATH | O_CLOEXEC);
	struct path_beneath_attr attr = {.parent = fd};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return g->needed ? -1 : 0;
	attr.allowed = rights(g->kind) & abis[abi_row(abi)].fs;
	if (!S_ISDIR(st.st_mode))
		attr.allowed &= OF_A_FILE;
	return (int)syscall(ADD_RULE, set, RULE_PATH_BENEATH, &attr, 0);
}

int landlock_prepare(struct sandbox *s, struct error *err)
{
	struct sandbox_state *st = s->state;
	int abi = s->host->landlock_abi;

	st->ruleset = ruleset(abi, s->policy->network);
	if (st->ruleset < 0)
		return error_errno(err, "cannot make the rules of Landlock");
	for (size_t i = 0; i < st->grants.n; i++)
		if (st->grants.list[i].use != USE_VIEW &&
			add_rule(st->ruleset, abi, &st->grants.list[i]) < 0)
			return error_errno(
				err, "cannot make a rule for '%s'", st->grants.list[i].path);
	return 0;
}

/* What came with the namespaces: before the fork there was nothing to make a rule for. */
static int add_new(const struct sandbox *s)
{
	static const struct grant proc = {.path = "/proc", .needed = true};
	const struct sandbox_state *st = s->state;
	int abi = s->host->landlock_abi;

	if (st->own_proc && add_rule(st->ruleset, abi, &proc) < 0)
		return layer_failed(s, "landlock", "/proc");
	for (size_t i = 0; i < st->grants.n; i++) {
		struct grant g = st->grants.list[i];

		if (g.kind != GRANT_SCRATCH)
			continue;
		g.kind = GRANT_WRITE;
		if (add_rule(st->ruleset, abi, &g) < 0)
			return layer_failed(s, "landlock", g.path);
	}
	return 0;
}

int landlock_enter(const struct sandbox *s)
{
	const struct sandbox_state *st = s->state;

	if (add_new(s) < 0)
		return -1;
	if (syscall(RESTRICT_SELF, st->ruleset, 0) < 0)
		return layer_failed(s, "landlock", "cannot restrict");
	return 0;
}

int landlock_try(void)
{
	CLEANUP(base_close) int fd = ruleset(landlock_abi(), true);

	return fd < 0 ? -1 : (int)syscall(RESTRICT_SELF, fd, 0);
}
