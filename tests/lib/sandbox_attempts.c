#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include "tests/lib/sandbox_attempts.h"

#define BY(l) (1U << LAYER_##l)
enum { FILES = BY(LANDLOCK) | BY(MOUNTS) };

int close_it(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

int from_call(long rc)
{
	return rc < 0 ? -1 : 0;
}

const char *in_tree(const char *name)
{
	return path_join(&arena, tree, name);
}

const char *in_outside(const char *name)
{
	return path_join(&arena, outside, name);
}

/* Other users' files. */

static int read_a_secret(void)
{
	return close_it(open("/etc/shadow", O_RDONLY));
}

int read_outside(void)
{
	return close_it(open(in_outside("canary"), O_RDONLY));
}

static int make_outside(void)
{
	return close_it(open(in_outside("new"), O_CREAT | O_WRONLY, 0600));
}

int write_outside(void)
{
	return close_it(open(in_outside("canary"), O_WRONLY));
}

static int link_out(void)
{
	return link(in_tree("file"), in_outside("linked"));
}

static int link_in(void)
{
	return link(in_outside("canary"), in_tree("linked"));
}

static int rename_out(void)
{
	return rename(in_tree("file"), in_outside("moved"));
}

static int rename_in(void)
{
	return rename(in_outside("canary"), in_tree("moved"));
}

static int truncate_outside(void)
{
	return truncate(in_outside("canary"), 0);
}

static int chmod_outside(void)
{
	return chmod(in_outside("canary"), 0777);
}

static int through_a_link(void)
{
	if (symlink(outside, in_tree("escape")) < 0)
		return errno = 0, -1;
	return close_it(open(in_tree("escape/canary"), O_RDONLY));
}

static int through_proc(void)
{
	return close_it(open("/proc/1/root/etc/shadow", O_RDONLY));
}

/* The process that waits for the run's programs: its environment and arguments are private. */
static int read_environment(void)
{
	pid_t pid = fork();
	char path[64];

	if (pid == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
		_exit(open(path, O_RDONLY) < 0 ? 1 : 0);
	}
	errno = EACCES;
	return pid > 0 && wait_for(pid) == 0 ? 0 : -1;
}

static int write_a_setting_of_the_kernel(void)
{
	return close_it(open("/proc/sys/kernel/core_pattern", O_WRONLY));
}

static int make_a_device(void)
{
	return mknod(in_tree("disk"), S_IFBLK | 0600, makedev(8, 0));
}

/* What must be unchanged in the tree. */

static int write_git_config(void)
{
	return close_it(open(in_tree(".git/config"), O_WRONLY));
}

static int replace_git_config(void)
{
	if (close_it(open(in_tree(".git/config.lock"), O_CREAT | O_WRONLY, 0600)) < 0)
		return errno = 0, -1;
	return rename(in_tree(".git/config.lock"), in_tree(".git/config"));
}

static int make_a_hook(void)
{
	return close_it(open(in_tree(".git/hooks/pre-commit"), O_CREAT | O_WRONLY, 0700));
}

static int move_git_away(void)
{
	return rename(in_tree(".git"), in_tree("git"));
}

static int write_agent_settings(void)
{
	return close_it(open(in_tree(".claude/settings.json"), O_WRONLY));
}

static int write_through_the_old_descriptor(void)
{
	/* The root's own descriptor, whatever its number. */
	for (int fd = 3; fd < 64; fd++)
		if (faccessat(fd, ".git/config", F_OK, 0) == 0)
			return close_it(openat(fd, ".git/config", O_WRONLY));
	errno = EBADF;
	return -1;
}

/* Other processes. */

static int signal_outside(void)
{
	return kill(shared->outside, 0);
}

static int trace(void)
{
	return from_call(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int read_memory(void)
{
	return from_call(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}

static int take_a_descriptor(void)
{
	return from_call(syscall(438, 0, 0, 0));
}

/* The kernel. */

static int mount_something(void)
{
	return mount("none", in_tree("sub"), "tmpfs", 0, NULL);
}

static int unmount(void)
{
	return umount2(in_tree(".git/config"), MNT_DETACH);
}

static int change_root(void)
{
	return chroot(tree);
}

static int open_a_mount(void)
{
	return from_call(syscall(428, AT_FDCWD, "/", 1));
}

static int leave_namespaces(void)
{
	return unshare(CLONE_NEWUSER);
}

static int enter_a_namespace(void)
{
	return setns(0, 0);
}

static int born_in_a_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		_exit(0);
	return from_call(pid);
}

static int clone_by_memory(void)
{
	return from_call(syscall(435, NULL, 0));
}

static int ring(void)
{
	return from_call(syscall(425, 1, NULL));
}

static int load_bpf(void)
{
	return from_call(syscall(SYS_bpf, 0, NULL, 0));
}

static int use_keys(void)
{
	return from_call(syscall(SYS_keyctl, 0, -3, 0));
}

static int handle_faults(void)
{
	return from_call(syscall(SYS_userfaultfd, 1));
}

static int count_events(void)
{
	return from_call(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}

static int be_another_system(void)
{
	return from_call(personality(PER_BSD));
}

static int type_into_the_terminal(void)
{
	return ioctl(0, TIOCSTI, "x");
}

static int x32_number(void)
{
	return from_call(syscall(0x40000000 + 39));
}

static int root_again(void)
{
	return setuid(getuid() ? 0 : 1);
}

/* The network. */

int connect_tcp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)shared->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CLEANUP(base_close) int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

int send_udp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)shared->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CLEANUP(base_close) int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : from_call(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

static int sixth_version(void)
{
	return close_it(socket(AF_INET6, SOCK_STREAM, 0));
}

int raw_packets(void)
{
	return close_it(socket(AF_PACKET, SOCK_RAW, 0));
}

static int connect_unix(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP(base_close) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s/socket", outside);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int connect_abstract(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP(base_close) int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int n = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", outside);

	return fd < 0 ? -1
		      : connect(fd, (struct sockaddr *)&to,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					    (size_t)n));
}

/* What must work. */

int write_inside(void)
{
	return close_it(open(in_tree("made"), O_CREAT | O_WRONLY | O_TRUNC, 0644));
}

static int rename_inside(void)
{
	return rename(in_tree("sub/other"), in_tree("other"));
}

static int link_inside(void)
{
	return link(in_tree("file"), in_tree("sub/file"));
}

static int make_a_fifo(void)
{
	return mkfifo(in_tree("fifo"), 0600);
}

static int make_a_git_lock(void)
{
	if (close_it(open(in_tree(".git/index.lock"), O_CREAT | O_WRONLY, 0600)) < 0)
		return -1;
	return rename(in_tree(".git/index.lock"), in_tree(".git/index"));
}

int write_to_tmp(void)
{
	return close_it(open(at("tmp/x"), O_CREAT | O_WRONLY, 0600));
}

static int write_to_home(void)
{
	return close_it(open(at("home/x"), O_CREAT | O_WRONLY, 0600));
}

static int write_to_null(void)
{
	return close_it(open("/dev/null", O_WRONLY));
}

int read_names(void)
{
	return close_it(open("/etc/passwd", O_RDONLY));
}

static int make_a_pair(void)
{
	int fd[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
}

static int run_program(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	errno = ENOEXEC;
	return pid > 0 && wait_for(pid) == 0 ? 0 : -1;
}

int run_a_program(void)
{
	return run_program("/usr/bin/true");
}

static int run_what_was_made(void)
{
	return run_program(in_tree("script"));
}

static int look_beneath(void)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = {O_PATH | O_CLOEXEC, 0, 0x08};
	CLEANUP(base_close) int root = open(tree, O_PATH | O_DIRECTORY);

	return root < 0 ? -1 : close_it((int)syscall(437, root, "sub/../file", &how, sizeof(how)));
}

const struct attempt attempts[] = {
	{"read a secret", read_a_secret, FILES, 0},
	{"read a file outside", read_outside, FILES, 0},
	{"make a file outside", make_outside, FILES, 0},
	{"write to a file outside", write_outside, FILES, 0},
	{"link a file out", link_out, FILES, 0},
	{"link a file in", link_in, FILES, 0},
	{"rename a file out", rename_out, FILES, 0},
	{"rename a file in", rename_in, FILES, 0},
	{"truncate a file outside", truncate_outside, FILES, 0},
	{"change modes outside", chmod_outside, BY(MOUNTS), 0},
	{"follow a link out", through_a_link, FILES, 0},
	{"go through /proc/1/root", through_proc, FILES, 0},
	{"write to /proc/sys", write_a_setting_of_the_kernel, FILES, 0},
	{"make a device", make_a_device, BY(LANDLOCK), 0},
	{"write .git/config", write_git_config, BY(MOUNTS), EROFS},
	{"replace .git/config", replace_git_config, BY(MOUNTS), EBUSY},
	{"make a hook", make_a_hook, BY(MOUNTS), EROFS},
	{"move .git away", move_git_away, BY(MOUNTS), EBUSY},
	{"write an agent's settings", write_agent_settings, BY(MOUNTS), EROFS},
	{"write by the root's descriptor", write_through_the_old_descriptor, BY(MOUNTS), EROFS},
	{"signal a process outside", signal_outside, BY(LANDLOCK) | BY(PROCESSES), 0},
	{"be traced", trace, BY(SECCOMP), EPERM},
	{"read another's memory", read_memory, BY(SECCOMP), EPERM},
	{"take another's descriptor", take_a_descriptor, BY(SECCOMP), EPERM},
	{"mount", mount_something, BY(SECCOMP), EPERM},
	{"unmount", unmount, BY(SECCOMP), EPERM},
	{"chroot", change_root, BY(SECCOMP), EPERM},
	{"open_tree", open_a_mount, BY(SECCOMP), EPERM},
	{"unshare", leave_namespaces, BY(SECCOMP), EPERM},
	{"setns", enter_a_namespace, BY(SECCOMP), EPERM},
	{"clone into a namespace", born_in_a_namespace, BY(SECCOMP), EPERM},
	{"clone3", clone_by_memory, BY(SECCOMP), ENOSYS},
	{"io_uring", ring, BY(SECCOMP), EPERM},
	{"bpf", load_bpf, BY(SECCOMP), EPERM},
	{"keyctl", use_keys, BY(SECCOMP), EPERM},
	{"userfaultfd", handle_faults, BY(SECCOMP), EPERM},
	{"perf_event_open", count_events, BY(SECCOMP), EPERM},
	{"personality", be_another_system, BY(SECCOMP), EPERM},
	{"TIOCSTI", type_into_the_terminal, BY(SECCOMP), EPERM},
#ifdef __x86_64__
	{"a number of x32", x32_number, BY(SECCOMP), ENOSYS},
#endif
	{"connect by TCP", connect_tcp, BY(LANDLOCK) | BY(SECCOMP) | BY(NETWORK), 0},
	{"send by UDP", send_udp, BY(SECCOMP) | BY(NETWORK), 0},
	{"a socket of IPv6", sixth_version, BY(SECCOMP), EPERM},
	{"raw packets", raw_packets, BY(SECCOMP), EPERM},
	{"connect to a socket with a path", connect_unix, BY(MOUNTS) | BY(SECCOMP), 0},
	{"connect to an abstract socket", connect_abstract,
		BY(LANDLOCK) | BY(NETWORK) | BY(SECCOMP), 0},
	{"write inside", write_inside, 0, 0},
	{"rename inside", rename_inside, 0, 0},
	{"link inside", link_inside, 0, 0},
	{"make a fifo", make_a_fifo, 0, 0},
	{"write git's index", make_a_git_lock, 0, 0},
	{"write to the private tmp", write_to_tmp, 0, 0},
	{"write to the private home", write_to_home, 0, 0},
	{"write to /dev/null", write_to_null, 0, 0},
	{"read /etc/passwd", read_names, 0, 0},
	{"socketpair", make_a_pair, 0, 0},
	{"run a program", run_a_program, 0, 0},
	{"run what was made", run_what_was_made, 0, 0},
	{"openat2 beneath", look_beneath, 0, 0},
	/* Last: they change the user of this process. */
	{"read the first process's environment", read_environment, ~0U, 0},
	{"be root again, or another", root_again, ~0U, 0},
};

const size_t n_attempts = COUNT(attempts);
