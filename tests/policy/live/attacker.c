#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "tests/policy/live/attacker.h"

static void escaped(bool worked, const char *what)
{
	if (worked)
		(void)dprintf(1, "escaped: %s\n", what);
}

static _Noreturn void stay(void)
{
	for (;;)
		pause();
}

/* Children until there can be no more; then all of them stay, and we go. */
static int bomb(const struct lure_args *to)
{
	int n = 0;

	(void)to;
	for (; n < 5000; n++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			setsid();
			stay();
		}
	}
	(void)dprintf(1, "children: %d\n", n);
	return 0;
}

/* The same without an end: every child forks on. Were it not stopped, it would stop by itself
 * before the machine does. */
static int endless_bomb(const struct lure_args *to)
{
	enum { ENOUGH = 20000 };
	atomic_int *tried =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)to;
	while (atomic_fetch_add(tried, 1) < ENOUGH)
		(void)fork();
	stay();
}

/* A daemon as in a book: another session, no parent, no descriptors, no signals. */
static int daemon_left(const struct lure_args *to)
{
	(void)to;
	if (fork() != 0)
		return 0;
	setsid();
	for (int sig = 1; sig < 65; sig++)
		(void)signal(sig, SIG_IGN);
	if (fork() != 0)
		_exit(0);
	(void)syscall(SYS_close_range, 0, ~0U, 0);
	stay();
}

/* Nobody waits for it, it holds the output, and it does not go when told to. */
static int deaf(const struct lure_args *to)
{
	(void)to;
	for (int sig = 1; sig < 65; sig++)
		(void)signal(sig, SIG_IGN);
	if (fork() == 0)
		setsid();
	stay();
}

static int flood_for(long rounds)
{
	static char page[65536];

	memset(page, 'x', sizeof(page));
	(void)signal(SIGPIPE, SIG_IGN);
	for (long i = 0; rounds < 0 || i < rounds; i++)
		if (write(1 + (i & 1), page, sizeof(page)) < 0 && errno != EINTR && rounds >= 0)
			return 1;
	return 0;
}

static int flood(const struct lure_args *to)
{
	(void)to;
	return flood_for(1024);
}

static int endless_flood(const struct lure_args *to)
{
	(void)to;
	return flood_for(-1);
}

static void reach(int family, int type, const void *to, socklen_t n, const char *what)
{
	int fd = socket(family, type, 0);

	if (fd < 0)
		return;
	if (type == SOCK_DGRAM)
		escaped(sendto(fd, "x", 1, 0, to, n) >= 0, what);
	else {
		escaped(connect(fd, to, n) == 0, what);
		escaped(sendto(fd, "x", 1, MSG_FASTOPEN, to, n) >= 0, what);
	}
	close(fd);
}

static int net(const struct lure_args *to)
{
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
		.sin6_port = htons((uint16_t)to->tcp)};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t at = offsetof(struct sockaddr_un, sun_path);
	int n;

	four.sin_port = htons((uint16_t)to->tcp);
	reach(AF_INET, SOCK_STREAM, &four, sizeof(four), "TCP");
	reach(AF_INET6, SOCK_STREAM, &six, sizeof(six), "TCP by IPv6");
	four.sin_port = htons((uint16_t)to->udp);
	reach(AF_INET, SOCK_DGRAM, &four, sizeof(four), "UDP");
	n = snprintf(un.sun_path, sizeof(un.sun_path), "%s/socket", to->dir);
	reach(AF_UNIX, SOCK_STREAM, &un, sizeof(un), "a socket with a path");
	memset(un.sun_path, 0, sizeof(un.sun_path));
	n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "%s", to->dir);
	reach(AF_UNIX, SOCK_STREAM, &un, (socklen_t)(at + 1 + (size_t)n), "an abstract socket");
	escaped(socket(AF_PACKET, SOCK_RAW, 0) >= 0, "raw packets");
	escaped(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0, "raw IP");
	return 0;
}

/* Whatever lies open is written to, and used as a directory. */
static int descriptors(const struct lure_args *to)
{
	struct stat st;

	(void)to;
	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		(void)dprintf(1, "escaped: descriptor %d\n", fd);
		(void)!write(fd, "x", 1);
		escaped(fstatat(fd, "..", &st, 0) == 0, "a folder");
	}
	return 0;
}

static int processes(const struct lure_args *to)
{
	struct rlimit none = {0, 0};
	char byte = 0;
	struct iovec mine = {&byte, 1}, theirs = {(void *)(uintptr_t)0x1000, 1};
	char path[64];

	escaped(kill(to->pid, SIGTERM) == 0, "a signal");
	escaped(kill(-to->pid, SIGTERM) == 0, "a signal to a group");
	escaped(syscall(SYS_tgkill, to->pid, to->pid, SIGTERM) == 0, "a signal to a thread");
	escaped(ptrace(PTRACE_ATTACH, to->pid, NULL, NULL) == 0, "ptrace");
	escaped(ptrace(PTRACE_SEIZE, to->pid, NULL, NULL) == 0, "ptrace");
	escaped(process_vm_readv(to->pid, &mine, 1, &theirs, 1, 0) >= 0 || errno == EFAULT,
		"another's memory");
	escaped(prlimit(to->pid, RLIMIT_CPU, &none, NULL) == 0, "another's limits");
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", to->pid);
	escaped(open(path, O_RDWR) >= 0, path);
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", to->pid);
	escaped(open(path, O_RDONLY) >= 0, path);
	escaped(open("/proc/1/mem", O_RDWR) >= 0, "memory of the first process");
	/* Asks alone: it would end the machine if it worked. */
	escaped(kill(-1, 0) == 0, "a signal to all");
	return 0;
}

static int memory_shared(const struct lure_args *to)
{
	escaped(shmat(to->shm, NULL, 0) != (void *)-1, "shared memory");
	escaped(shmctl(to->shm, IPC_RMID, NULL) == 0, "shared memory removed");
	return 0;
}

/* Of calls that would do harm: nothing to do it to, so that being let through shows by the error.
 */
static void let_through(long rc, const char *what)
{
	escaped(rc >= 0 || errno != EPERM, what);
}

static void kernel_namespaces(const struct lure_args *to)
{
	char path[64];
	int fd;

	escaped(unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0, "unshare");
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", to->pid);
	fd = open(path, O_RDONLY);
	escaped(fd >= 0 && setns(fd, 0) == 0, "setns");
	escaped(chroot("/") == 0, "chroot");
	let_through(mount("none", "./none", "tmpfs", 0, NULL), "mount");
	let_through(umount2("./none", MNT_DETACH), "umount");
	escaped(syscall(428, AT_FDCWD, "/", 1) >= 0, "open_tree");
	escaped(syscall(430, "tmpfs", 0) >= 0, "fsopen");
	let_through(syscall(442, AT_FDCWD, "./none", 0, NULL, 0), "mount_setattr");
	escaped(syscall(435, (uint64_t[11]){CLONE_NEWUSER}, 88) >= 0, "clone3");
}

static int kernel(const struct lure_args *to)
{
	static char ring[120];

	kernel_namespaces(to);
	escaped(syscall(425, 1, ring) >= 0, "io_uring");
	escaped(syscall(SYS_bpf, 0, ring, 32) >= 0, "bpf");
	escaped(syscall(SYS_keyctl, 0, -3, 1) >= 0, "keyctl");
	escaped(syscall(SYS_add_key, "user", "x", "x", 1, -3) >= 0, "add_key");
	escaped(syscall(SYS_userfaultfd, 1) >= 0, "userfaultfd");
	escaped(syscall(SYS_perf_event_open, ring, 0, -1, -1, 0) >= 0, "perf_event_open");
	escaped(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", ring, ring, 0) >= 0, "handles");
	let_through(syscall(SYS_swapoff, "./none"), "swapoff");
	let_through(syscall(SYS_sethostname, NULL, 1), "sethostname");
	escaped(socket(40, SOCK_STREAM, 0) >= 0, "sockets of virtual machines");
	escaped(ioctl(0, TIOCSTI, "x") == 0, "TIOCSTI");
	escaped(open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0, "core_pattern");
	escaped(open("/proc/sysrq-trigger", O_WRONLY) >= 0, "sysrq-trigger");
	escaped(open("/sys/kernel/uevent_helper", O_WRONLY) >= 0, "uevent_helper");
	escaped(mknod("disk", S_IFBLK | 0600, 8 << 8) == 0, "a device");
	escaped(getuid() != 0 && setuid(0) == 0, "setuid");
#ifdef __x86_64__
	escaped(syscall(0x40000000 + 39) >= 0, "calls of x32");
	escaped(syscall(SYS_iopl, 3) == 0, "iopl");
#endif
	return 0;
}

/* The calls of a 32-bit program have numbers of their own. It may well be killed for this. */
static int old_calls(const struct lure_args *to)
{
	(void)to;
#ifdef __x86_64__
	long rc = 20;

	__asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
	escaped(rc > 0, "calls of 32 bits");
#endif
	return 0;
}

static int fill_memory(const struct lure_args *to)
{
	size_t all = 0;
	enum { STEP = 1 << 20 };

	(void)to;
	for (char *p; all < 4096UL * STEP; all += STEP) {
		p = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 0;
		p[0] = 1;
	}
	escaped(true, "4 GiB of memory");
	return 0;
}

static int fill_disk(const struct lure_args *to)
{
	static char page[65536];
	int fd = open("big", O_CREAT | O_WRONLY, 0600);

	(void)to;
	for (int i = 0; fd >= 0 && i < 1024; i++)
		if (write(fd, page, sizeof(page)) < 0)
			return 0;
	escaped(true, "a file of 64 MiB");
	return 0;
}

static int spin(const struct lure_args *to)
{
	(void)to;
	for (volatile long n = 0; n >= 0; n++)
		;
	return 0;
}

int attack(const char *name, const struct lure_args *to)
{
	static const struct {
		const char *name;
		int (*run)(const struct lure_args *to);
	} all[] = {{"bomb", bomb}, {"endless-bomb", endless_bomb}, {"daemon", daemon_left},
		{"deaf", deaf}, {"flood", flood}, {"endless-flood", endless_flood}, {"net", net},
		{"descriptors", descriptors}, {"processes", processes}, {"shm", memory_shared},
		{"kernel", kernel}, {"old-calls", old_calls}, {"memory", fill_memory},
		{"disk", fill_disk}, {"spin", spin}};

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].run(to);
	return 2;
}
