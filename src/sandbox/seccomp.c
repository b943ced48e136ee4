/*
 * seccomp.c: system calls that no program needs which builds, tests or commits, and by which one
 * could leave the sandbox, or leave something behind that works outside: namespaces and mounts,
 * set-id files, ways into the kernel. ptrace stays: debuggers and leak checks use it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
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

enum { X32_BIT = 0x40000000, NEW_TIME = 0x80, REPLACE_RANDOM = 0x40000 };

/* Calls that are newer than the headers of a stable distribution; the same on every processor. */
enum {
	CALL_IO_URING_SETUP = 425,
	CALL_IO_URING_ENTER,
	CALL_IO_URING_REGISTER,
	CALL_OPEN_TREE,
	CALL_MOVE_MOUNT,
	CALL_FSOPEN,
	CALL_FSCONFIG,
	CALL_FSMOUNT,
	CALL_FSPICK,
	CALL_CLONE3 = 435,
	CALL_OPENAT2 = 437,
	CALL_PIDFD_GETFD = 438,
	CALL_MOUNT_SETATTR = 442,
	CALL_QUOTACTL_FD = 443,
	CALL_FCHMODAT2 = 452,
	CALL_OPEN_TREE_ATTR = 467,
};

/* Refused whatever their arguments are: no program that builds, tests or commits needs one. */
static const unsigned refused[] = {
	/* other processes */
	CALL_PIDFD_GETFD,
	SYS_perf_event_open,
	/* the view of files, and files without names */
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	CALL_OPEN_TREE,
	CALL_MOVE_MOUNT,
	CALL_FSOPEN,
	CALL_FSCONFIG,
	CALL_FSMOUNT,
	CALL_FSPICK,
	CALL_MOUNT_SETATTR,
	CALL_OPEN_TREE_ATTR,
	SYS_open_by_handle_at,
	SYS_fanotify_init,
	/* other namespaces */
	SYS_unshare,
	SYS_setns,
	/* ways into the kernel, and around a filter of calls */
	SYS_bpf,
	SYS_userfaultfd,
	CALL_IO_URING_SETUP,
	CALL_IO_URING_ENTER,
	CALL_IO_URING_REGISTER,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	/* keys, which are not bound to a process */
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	/* the machine */
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_acct,
	SYS_quotactl,
	CALL_QUOTACTL_FD,
	SYS_syslog,
	SYS_vhangup,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_modify_ldt,
	SYS_uselib,
	SYS__sysctl,
	SYS_create_module,
#endif
};

/* A program under construction. Jumps are relative and end at the next refusal, so they are short.
 */
struct filter {
	struct sock_filter code[320];
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

static void load_number(struct filter *f)
{
	seccomp_load(f, offsetof(struct seccomp_data, nr));
}

/* The low half: these arguments are ints, and the kernel looks at no more of them. */
static void load_argument(struct filter *f, unsigned i)
{
	seccomp_load(f, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t));
}

static void seccomp_answer(struct filter *f, uint32_t action)
{
	seccomp_emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static void seccomp_refuse(struct filter *f, int error)
{
	seccomp_answer(f, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void refuse_call(struct filter *f, unsigned call, int error)
{
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
	seccomp_refuse(f, error);
}

/* Opens a block about one call; what stands up to end() is done for it alone. */
static unsigned short only(struct filter *f, unsigned call)
{
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
	return f->n;
}

static void seccomp_end(struct filter *f, unsigned short block)
{
	seccomp_answer(f, SECCOMP_RET_ALLOW);
	f->code[block - 1].jf = (uint8_t)(f->n - block);
}

static void allow_value(struct filter *f, uint32_t value)
{
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	seccomp_answer(f, SECCOMP_RET_ALLOW);
}

static void refuse_value(struct filter *f, uint32_t value)
{
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	seccomp_refuse(f, EPERM);
}

static void refuse_bits(struct filter *f, uint32_t bits)
{
	seccomp_emit(f, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	seccomp_refuse(f, EPERM);
}

/* The only way in is the number of our own processor: each other one has numbers of its own. */
static void foreign(struct filter *f)
{
	seccomp_load(f, offsetof(struct seccomp_data, arch));
	seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	seccomp_answer(f, SECCOMP_RET_KILL_PROCESS);
	load_number(f);
#ifdef __x86_64__
	seccomp_emit(f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	seccomp_refuse(f, ENOSYS);
#endif
}

static void namespaces(struct filter *f)
{
	unsigned short block = only(f, SYS_clone);

	load_argument(f, 0);
	refuse_bits(f, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			       CLONE_NEWPID | CLONE_NEWNET);
	seccomp_end(f, block);
	/* Their flags lie in memory, where a filter cannot look: libraries then take the older
	 * call. */
	refuse_call(f, CALL_CLONE3, ENOSYS);
	refuse_call(f, CALL_OPENAT2, ENOSYS);
	block = only(f, SYS_personality);
	load_argument(f, 0);
	allow_value(f, 0);
	allow_value(f, UINT32_MAX); /* only asks */
	allow_value(f, REPLACE_RANDOM);
	seccomp_refuse(f, EPERM);
	seccomp_end(f, block);
}

static void refuse_set_id(struct filter *f, unsigned call, unsigned argument)
{
	unsigned short block = only(f, call);

	load_argument(f, argument);
	refuse_bits(f, S_ISUID | S_ISGID);
	seccomp_end(f, block);
}

/* The mode counts only where a file may be made. */
static void refuse_open_set_id(struct filter *f, unsigned call, unsigned flags)
{
	unsigned short block = only(f, call);

	load_argument(f, flags);
	seccomp_emit(f, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1, 0);
	seccomp_answer(f, SECCOMP_RET_ALLOW);
	load_argument(f, flags + 1);
	refuse_bits(f, S_ISUID | S_ISGID);
	seccomp_end(f, block);
}

/* As root, a set-id file in the worktree would be one on the host. */
static void set_id(struct filter *f)
{
#ifdef __x86_64__
	refuse_set_id(f, SYS_chmod, 1);
	refuse_set_id(f, SYS_creat, 1);
	refuse_set_id(f, SYS_mkdir, 1);
	refuse_set_id(f, SYS_mknod, 1);
	refuse_open_set_id(f, SYS_open, 1);
#endif
	refuse_set_id(f, SYS_fchmod, 1);
	refuse_set_id(f, SYS_fchmodat, 2);
	refuse_set_id(f, CALL_FCHMODAT2, 2);
	refuse_set_id(f, SYS_mkdirat, 2);
	refuse_set_id(f, SYS_mknodat, 2);
	refuse_open_set_id(f, SYS_openat, 2);
}

/* Calls that type into a terminal, or change how it works, for whoever reads it next. */
static void terminals(struct filter *f)
{
	unsigned short block = only(f, SYS_ioctl);

	load_argument(f, 1);
	refuse_value(f, 0x5412); /* TIOCSTI */
	refuse_value(f, 0x541c); /* TIOCLINUX */
	refuse_value(f, 0x5423); /* TIOCSETD: loads modules */
	refuse_value(f, 0x541d); /* TIOCCONS */
	seccomp_end(f, block);
}

/* Others, such as those to the host of a virtual machine, know no namespaces. */
static void sockets(struct filter *f)
{
	unsigned short block = only(f, SYS_socket);

	load_argument(f, 0);
	allow_value(f, AF_UNIX);
	allow_value(f, AF_INET);
	allow_value(f, AF_INET6);
	allow_value(f, AF_NETLINK);
	seccomp_refuse(f, EAFNOSUPPORT);
	seccomp_end(f, block);
}

static int by_number(const void *x, const void *y)
{
	const unsigned *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Sorted and in pieces, so that a call is compared with some twenty numbers instead of sixty: the
 * kernel walks the filter once for every call that there is when it is loaded.
 */
static void refuse_listed(struct filter *f)
{
	enum { PIECE = 8 };
	unsigned list[COUNT(refused)];
	size_t n, left = COUNT(refused);

	memcpy(list, refused, sizeof(refused));
	qsort(list, COUNT(list), sizeof(*list), by_number);
	for (const unsigned *p = list; left; p += n, left -= n) {
		n = left < PIECE ? left : PIECE;
		seccomp_emit(f, BPF_JMP | BPF_JGT | BPF_K, p[n - 1], (uint8_t)(n + 2), 0);
		for (size_t i = 0; i < n; i++)
			seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, p[i], (uint8_t)(n - i), 0);
		seccomp_answer(f, SECCOMP_RET_ALLOW);
		seccomp_refuse(f, EPERM);
	}
	seccomp_answer(f, SECCOMP_RET_ALLOW);
}

int sandbox_filter_enter(void)
{
	struct filter f = {.n = 0};
	struct sock_fprog program;

	if (!OUR_ARCH) {
		errno = ENOSYS;
		return -1;
	}
	foreign(&f);
	namespaces(&f);
	set_id(&f);
	terminals(&f);
	sockets(&f);
	refuse_listed(&f);
	program = (struct sock_fprog){f.n, f.code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
