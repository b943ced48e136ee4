#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
	CALL_PIDFD_GETFD = 438,
	CALL_MOUNT_SETATTR = 442,
	CALL_QUOTACTL_FD = 443,
	CALL_OPEN_TREE_ATTR = 467,
};

/* Refused whatever their arguments are: no program that builds, tests or commits needs one. */
static const unsigned refused[] = {
	/* other processes */
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	CALL_PIDFD_GETFD,
	SYS_perf_event_open,
	SYS_migrate_pages,
	SYS_move_pages,
	/* the view of files, and files without names */
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	CALL_OPEN_TREE,
	CALL_MOVE_MOUNT,
	CALL_FSOPEN,
	CALL_FSCONFIG,
	CALL_FSMOUNT,
	CALL_FSPICK,
	CALL_MOUNT_SETATTR,
	CALL_OPEN_TREE_ATTR,
	SYS_open_by_handle_at,
	SYS_name_to_handle_at,
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

static void emit(struct filter *f, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	f->code[f->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct filter *f, size_t offset)
{
	emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_number(struct filter *f)
{
	load(f, offsetof(struct seccomp_data, nr));
}

/* The low half: these arguments are ints, and the kernel looks at no more of them. */
static void load_argument(struct filter *f, unsigned i)
{
	load(f, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t));
}

static void answer(struct filter *f, uint32_t action)
{
	emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static void refuse(struct filter *f, int error)
{
	answer(f, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void refuse_call(struct filter *f, unsigned call, int error)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
	refuse(f, error);
}

/* Opens a block about one call; what stands up to end() is done for it alone. */
static unsigned short only(struct filter *f, unsigned call)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
	return f->n;
}

static void end(struct filter *f, unsigned short block)
{
	answer(f, SECCOMP_RET_ALLOW);
	f->code[block - 1].jf = (uint8_t)(f->n - block);
}

static void allow_value(struct filter *f, uint32_t value)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(f, SECCOMP_RET_ALLOW);
}

static void refuse_value(struct filter *f, uint32_t value)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	refuse(f, EPERM);
}

static void refuse_bits(struct filter *f, uint32_t bits)
{
	emit(f, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	refuse(f, EPERM);
}

/* The only way in is the number of our own processor: each other one has numbers of its own. */
static void foreign(struct filter *f)
{
	load(f, offsetof(struct seccomp_data, arch));
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	answer(f, SECCOMP_RET_KILL_PROCESS);
	load_number(f);
#ifdef __x86_64__
	emit(f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	refuse(f, ENOSYS);
#endif
}

static void processes(struct filter *f, bool namespaced)
{
	unsigned short block = only(f, SYS_clone);

	load_argument(f, 0);
	refuse_bits(f, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			       CLONE_NEWPID | CLONE_NEWNET);
	end(f, block);
	/* Its flags lie in memory, where a filter cannot look: libraries then take clone(). */
	refuse_call(f, CALL_CLONE3, ENOSYS);
	block = only(f, SYS_personality);
	load_argument(f, 0);
	allow_value(f, 0);
	allow_value(f, UINT32_MAX); /* only asks */
	allow_value(f, REPLACE_RANDOM);
	refuse(f, EPERM);
	end(f, block);
	if (namespaced)
		return;
	block = only(f, SYS_kill);
	load_argument(f, 0);
	refuse_value(f, UINT32_MAX); /* everything of this user's */
	end(f, block);
	/* A limit of no seconds ends a process as well as a signal does. */
	block = only(f, SYS_prlimit64);
	load_argument(f, 0);
	allow_value(f, 0);
	refuse(f, EPERM);
	end(f, block);
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
	end(f, block);
}

static void netlink(struct filter *f)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4);
	load_argument(f, 2);
	allow_value(f, 0); /* routes and addresses: getaddrinfo() asks for them */
	refuse(f, EPERM);
}

static void sockets(struct filter *f, bool network, bool local)
{
	unsigned short block = only(f, SYS_socketpair);

	load_argument(f, 0);
	allow_value(f, AF_UNIX);
	refuse(f, EPERM);
	end(f, block);
	block = only(f, SYS_socket);
	load_argument(f, 0);
	if (local)
		allow_value(f, AF_UNIX);
	if (network) {
		netlink(f);
		emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
		emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
		refuse(f, EPERM);
		load_argument(f, 1);
		emit(f, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
		allow_value(f, SOCK_STREAM);
		allow_value(f, SOCK_DGRAM);
	}
	refuse(f, EPERM);
	end(f, block);
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
		emit(f, BPF_JMP | BPF_JGT | BPF_K, p[n - 1], (uint8_t)(n + 2), 0);
		for (size_t i = 0; i < n; i++)
			emit(f, BPF_JMP | BPF_JEQ | BPF_K, p[i], (uint8_t)(n - i), 0);
		answer(f, SECCOMP_RET_ALLOW);
		refuse(f, EPERM);
	}
	answer(f, SECCOMP_RET_ALLOW);
}

void seccomp_prepare(struct arena *a, struct sandbox *s)
{
	struct filter *f = arena_alloc(a, sizeof(*f));
	struct sock_fprog *program = arena_alloc(a, sizeof(*program));
	bool network = s->policy->network;

	foreign(f);
	processes(f, s->state->on[LAYER_PROCESSES]);
	terminals(f);
	/* Sockets that have paths lead to services of this machine, which would act for us. Where
	 * the run sees its own files alone there are none of them. */
	sockets(f, network, network || s->state->on[LAYER_MOUNTS]);
	refuse_listed(f);
	*program = (struct sock_fprog){f->n, f->code};
	s->state->filter = program;
}

static int install(const struct sock_fprog *program)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
}

int seccomp_enter(const struct sandbox *s)
{
	if (install(s->state->filter) < 0)
		return layer_failed(s, "seccomp", "cannot load the filter");
	return 0;
}

int seccomp_try(void)
{
	struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &all};

	if (!OUR_ARCH) {
		errno = ENOSYS;
		return -1;
	}
	return install(&program);
}
