/*
 * seccomp.c: what the processes inside give up. What they may use is as the policy says: processor
 * time, memory, files, processes. Refused are system calls that no program needs which builds,
 * tests or commits, and by which one could leave the sandbox, or leave something behind that works
 * outside: namespaces and mounts, set-id files, ways into the kernel. ptrace stays: debuggers and
 * leak checks use it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include "src/sandbox/sandbox_internal.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH 0
#endif

enum { X32_BIT = 0x40000000 };

/* Newer than the headers of a stable distribution; the same on every processor. */
enum { CALL_MOUNT_SETATTR = 442, CALL_FCHMODAT2 = 452, CALL_OPEN_TREE_ATTR = 467 };

enum filter_test { EQUALS, HAS, LACKS };
#define ALWAYS LACKS, 0
enum { ALLOW }; /* an answer that is no errno */
enum {
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		     CLONE_NEWPID | CLONE_NEWNET
};
enum { SET_ID = S_ISUID | S_ISGID, MAKES_FILE = O_CREAT | (O_TMPFILE & ~O_DIRECTORY) };

/* Calls that are refused whatever their arguments are. Those about the machine, such as reboot(2),
 * are not here: they need a capability, and there is none. */
static const unsigned never[] = {
	/* other processes */
	SYS_pidfd_getfd, SYS_perf_event_open,
	/* the view of files, and files without names */
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_tree, SYS_move_mount, SYS_fsopen,
	SYS_fsconfig, SYS_fsmount, SYS_fspick, CALL_MOUNT_SETATTR, CALL_OPEN_TREE_ATTR,
	SYS_open_by_handle_at, SYS_fanotify_init,
	/* ways into the kernel, and around a filter of calls */
	SYS_bpf, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,
	/* keys, which are not bound to a process */
	SYS_keyctl, SYS_add_key, SYS_request_key,
	/* other namespaces */
	SYS_unshare, SYS_setns,
#ifdef __x86_64__
	SYS_modify_ldt
#endif
};

/* What other calls get, by the first row whose test holds for the low half of the argument (these
 * are ints, and the kernel looks at no more of them); without one it is allowed. */
static const struct filter_row {
	unsigned call;
	unsigned argument;
	enum filter_test test;
	uint32_t value;
	unsigned answer; /* ALLOW or errno */
} rows[] = {
	/* Flags of clone3 lie in memory, where a filter cannot look: libraries then take the older
	 * call. */
	{SYS_clone, 0, HAS, NAMESPACES, EPERM},
	{SYS_clone3, 0, ALWAYS, ENOSYS},
	/* what makes a process another one; the second only asks */
	{SYS_personality, 0, EQUALS, 0, ALLOW},
	{SYS_personality, 0, EQUALS, UINT32_MAX, ALLOW},
	{SYS_personality, 0, EQUALS, ADDR_NO_RANDOMIZE, ALLOW},
	{SYS_personality, 0, ALWAYS, EPERM},
	/* As root, a set-id file in the worktree would be one on the host. The mode of openat2 lies
	 * in memory. */
	{SYS_openat2, 0, ALWAYS, ENOSYS},
	{SYS_openat, 2, LACKS, MAKES_FILE, ALLOW},
	{SYS_openat, 3, HAS, SET_ID, EPERM},
	{SYS_fchmod, 1, HAS, SET_ID, EPERM},
	{SYS_fchmodat, 2, HAS, SET_ID, EPERM},
	{CALL_FCHMODAT2, 2, HAS, SET_ID, EPERM},
	{SYS_mkdirat, 2, HAS, SET_ID, EPERM},
	{SYS_mknodat, 2, HAS, SET_ID, EPERM},
#ifdef __x86_64__
	{SYS_open, 1, LACKS, MAKES_FILE, ALLOW},
	{SYS_open, 2, HAS, SET_ID, EPERM},
	{SYS_creat, 1, HAS, SET_ID, EPERM},
	{SYS_chmod, 1, HAS, SET_ID, EPERM},
	{SYS_mkdir, 1, HAS, SET_ID, EPERM},
	{SYS_mknod, 1, HAS, SET_ID, EPERM},
#endif
	/* Calls that type into a terminal, or change how it works, for whoever reads it next:
	 * TIOCSTI, TIOCLINUX, TIOCSETD, which loads modules, TIOCCONS. */
	{SYS_ioctl, 1, EQUALS, 0x5412, EPERM},
	{SYS_ioctl, 1, EQUALS, 0x541c, EPERM},
	{SYS_ioctl, 1, EQUALS, 0x5423, EPERM},
	{SYS_ioctl, 1, EQUALS, 0x541d, EPERM},
	/* Others, such as those to the host of a virtual machine, know no namespaces. */
	{SYS_socket, 0, EQUALS, AF_UNIX, ALLOW},
	{SYS_socket, 0, EQUALS, AF_INET, ALLOW},
	{SYS_socket, 0, EQUALS, AF_INET6, ALLOW},
	{SYS_socket, 0, EQUALS, AF_NETLINK, ALLOW},
	{SYS_socket, 0, ALWAYS, EAFNOSUPPORT},
};

/* Where nothing but these and Landlock stands between a command and the host: sockets, and what
 * changes a file without writing it. */
enum { SIGNALS = 3 };
static const unsigned never_readonly[] = {
	SYS_kill, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo, SYS_shmat, SYS_socket, SYS_fchmod,
	SYS_fchmodat, CALL_FCHMODAT2, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr,
	SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#ifdef __x86_64__
	SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat
#endif
};

struct filter {
	struct sock_filter code[5 * (COUNT(never) + COUNT(never_readonly) + COUNT(rows)) + 8];
	unsigned short n;
};

static void seccomp_emit(struct filter *f, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	f->code[f->n++] = (struct sock_filter){code, yes, no, k};
}

static void seccomp_load(struct filter *f, size_t offset)
{
	seccomp_emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void seccomp_answer(struct filter *f, unsigned answer)
{
	seccomp_emit(f, BPF_RET | BPF_K,
		answer == ALLOW ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | answer, 0, 0);
}

/* The call's number is loaded, before and behind it. */
static void seccomp_add(struct filter *f, const struct filter_row *r)
{
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, r->call, 0, 4);
	seccomp_load(f, offsetof(struct seccomp_data, args) + r->argument * sizeof(uint64_t));
	seccomp_emit(f, BPF_JMP | BPF_K | (r->test == EQUALS ? BPF_JEQ : BPF_JSET), r->value,
		r->test == LACKS, r->test != LACKS);
	seccomp_answer(f, r->answer);
	seccomp_load(f, offsetof(struct seccomp_data, nr));
}

static void seccomp_add_never(struct filter *f, const unsigned *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		seccomp_add(f, &(struct filter_row){calls[i], 0, ALWAYS, EPERM});
}

int sandbox_filter_enter(bool readonly, bool signals)
{
	struct filter f = {.n = 0};
	struct sock_fprog program;

	if (!OUR_ARCH) {
		errno = ENOSYS;
		return -1;
	}
	/* The only way in is the number of our own processor: each other one has numbers of its
	 * own. */
	seccomp_load(&f, offsetof(struct seccomp_data, arch));
	seccomp_emit(&f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	seccomp_emit(&f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	seccomp_load(&f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	seccomp_emit(&f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	seccomp_answer(&f, ENOSYS);
#endif
	if (readonly)
		seccomp_add_never(&f, never_readonly + (signals ? SIGNALS : 0),
			COUNT(never_readonly) - (signals ? SIGNALS : 0));
	for (size_t i = 0; i < COUNT(rows); i++)
		seccomp_add(&f, &rows[i]);
	seccomp_add_never(&f, never, COUNT(never));
	seccomp_answer(&f, ALLOW);
	program = (struct sock_fprog){f.n, f.code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* ---- limits ---- */

static void set_limits(const struct policy_limits *l)
{
	const struct {
		int which;
		uint64_t value; /* 0: none */
	} all[] = {{RLIMIT_CPU, l->cpu_s}, {RLIMIT_DATA, l->memory}, {RLIMIT_FSIZE, l->file_size},
		{RLIMIT_NPROC, l->processes}, {RLIMIT_NOFILE, l->open_files}};
	struct rlimit limit = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &limit);
	for (size_t i = 0; i < COUNT(all); i++) {
		if (!all[i].value || getrlimit(all[i].which, &limit) < 0)
			continue;
		limit.rlim_cur = all[i].value < limit.rlim_max ? all[i].value : limit.rlim_max;
		limit.rlim_max = limit.rlim_cur;
		(void)setrlimit(all[i].which, &limit);
	}
}

bool sandbox_take_limits(struct str *plan)
{
	struct policy_limits l;

	if (plan->n < sizeof(l))
		return false;
	memcpy(&l, plan->p, sizeof(l));
	*plan = str_sub(*plan, sizeof(l), plan->n);
	set_limits(&l);
	return true;
}
