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
#include "tests/lib/tap.h"

#define BY(l) (1U << LAYER_##l)
enum { FILES = BY(LANDLOCK) | BY(MOUNTS) };

struct attempt attempts[ROWS];
size_t n_attempts;

static void add(const char *name, int (*attempt)(void), unsigned by, int error)
{
	if (n_attempts == ROWS)
		die("too many attempts");
	attempts[n_attempts++] = (struct attempt){name, attempt, by, error};
}

/* Begins the definition of an attempt. They are made in the order of this file. */
#define ATTEMPT(name, by, error)                                                                   \
	static int name(void);                                                                     \
	__attribute__((constructor)) static void name##_add(void)                                  \
	{                                                                                          \
		add(#name, name, by, error);                                                       \
	}                                                                                          \
	static int name(void)
/* An attempt of one call. */
#define REFUSED(name, by, error, call)                                                             \
	ATTEMPT(name, by, error)                                                                   \
	{                                                                                          \
		return call;                                                                       \
	}
#define ALLOWED(name, call) REFUSED(name, 0, 0, call)

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

static int create(const char *path)
{
	return close_it(open(path, O_CREAT | O_WRONLY, 0700));
}

/* Other users' files. */

int read_outside(void)
{
	return close_it(open(in_outside("canary"), O_RDONLY));
}

int write_outside(void)
{
	return close_it(open(in_outside("canary"), O_WRONLY));
}

REFUSED(read_a_secret, FILES, 0, close_it(open("/etc/shadow", O_RDONLY)))
REFUSED(read_a_file_outside, FILES, 0, read_outside())
REFUSED(make_a_file_outside, FILES, 0, create(in_outside("new")))
REFUSED(write_to_a_file_outside, FILES, 0, write_outside())
REFUSED(link_a_file_out, FILES, 0, link(in_tree("file"), in_outside("linked")))
REFUSED(link_a_file_in, FILES, 0, link(in_outside("canary"), in_tree("linked")))
REFUSED(rename_a_file_out, FILES, 0, rename(in_tree("file"), in_outside("moved")))
REFUSED(rename_a_file_in, FILES, 0, rename(in_outside("canary"), in_tree("moved")))
REFUSED(truncate_a_file_outside, FILES, 0, truncate(in_outside("canary"), 0))
REFUSED(change_modes_outside, BY(MOUNTS), 0, chmod(in_outside("canary"), 0777))

ATTEMPT(follow_a_link_out, FILES, 0)
{
	if (symlink(outside, in_tree("escape")) < 0)
		return errno = 0, -1;
	return close_it(open(in_tree("escape/canary"), O_RDONLY));
}

REFUSED(go_through_proc, FILES, 0, close_it(open("/proc/1/root/etc/shadow", O_RDONLY)))
REFUSED(write_a_setting_of_the_kernel, FILES, 0,
	close_it(open("/proc/sys/kernel/core_pattern", O_WRONLY)))
REFUSED(make_a_device, BY(LANDLOCK), 0, mknod(in_tree("disk"), S_IFBLK | 0600, makedev(8, 0)))

/* What must be unchanged in the tree. */

REFUSED(write_git_config, BY(MOUNTS), EROFS, close_it(open(in_tree(".git/config"), O_WRONLY)))

ATTEMPT(replace_git_config, BY(MOUNTS), EBUSY)
{
	if (create(in_tree(".git/config.lock")) < 0)
		return errno = 0, -1;
	return rename(in_tree(".git/config.lock"), in_tree(".git/config"));
}

REFUSED(make_a_hook, BY(MOUNTS), EROFS, create(in_tree(".git/hooks/pre-commit")))
REFUSED(move_git_away, BY(MOUNTS), EBUSY, rename(in_tree(".git"), in_tree("git")))
REFUSED(write_agent_settings, BY(MOUNTS), EROFS,
	close_it(open(in_tree(".claude/settings.json"), O_WRONLY)))

ATTEMPT(write_by_the_descriptor_of_the_root, BY(MOUNTS), EROFS)
{
	for (int fd = 3; fd < 64; fd++) /* whatever its number */
		if (faccessat(fd, ".git/config", F_OK, 0) == 0)
			return close_it(openat(fd, ".git/config", O_WRONLY));
	errno = EBADF;
	return -1;
}

/* Other processes. */

REFUSED(signal_a_process_outside, BY(LANDLOCK) | BY(PROCESSES), 0, kill(shared->outside, 0))
REFUSED(be_traced, BY(SECCOMP), EPERM, from_call(ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
REFUSED(read_memory_of_another, BY(SECCOMP), EPERM,
	from_call(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)))
REFUSED(take_a_descriptor_of_another, BY(SECCOMP), EPERM, from_call(syscall(438, 0, 0, 0)))

/* The kernel. */

REFUSED(mount_something, BY(SECCOMP), EPERM, mount("none", in_tree("sub"), "tmpfs", 0, NULL))
REFUSED(unmount, BY(SECCOMP), EPERM, umount2(in_tree(".git/config"), MNT_DETACH))
REFUSED(change_root, BY(SECCOMP), EPERM, chroot(tree))
REFUSED(open_a_mount, BY(SECCOMP), EPERM, from_call(syscall(428, AT_FDCWD, "/", 1)))
REFUSED(leave_namespaces, BY(SECCOMP), EPERM, unshare(CLONE_NEWUSER))
REFUSED(enter_a_namespace, BY(SECCOMP), EPERM, setns(0, 0))

ATTEMPT(clone_into_a_namespace, BY(SECCOMP), EPERM)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		_exit(0);
	return from_call(pid);
}

REFUSED(clone3, BY(SECCOMP), ENOSYS, from_call(syscall(435, NULL, 0)))
REFUSED(io_uring, BY(SECCOMP), EPERM, from_call(syscall(425, 1, NULL)))
REFUSED(bpf, BY(SECCOMP), EPERM, from_call(syscall(SYS_bpf, 0, NULL, 0)))
REFUSED(keyctl, BY(SECCOMP), EPERM, from_call(syscall(SYS_keyctl, 0, -3, 0)))
REFUSED(handle_page_faults, BY(SECCOMP), EPERM, from_call(syscall(SYS_userfaultfd, 1)))
REFUSED(perf_event_open, BY(SECCOMP), EPERM,
	from_call(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)))
REFUSED(be_another_system, BY(SECCOMP), EPERM, from_call(personality(PER_BSD)))
REFUSED(type_into_the_terminal, BY(SECCOMP), EPERM, ioctl(0, TIOCSTI, "x"))
#ifdef __x86_64__
REFUSED(use_a_number_of_x32, BY(SECCOMP), ENOSYS, from_call(syscall(0x40000000 + 39)))
#endif

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

int raw_packets(void)
{
	return close_it(socket(AF_PACKET, SOCK_RAW, 0));
}

REFUSED(connect_by_tcp, BY(LANDLOCK) | BY(SECCOMP) | BY(NETWORK), 0, connect_tcp())
REFUSED(send_by_udp, BY(SECCOMP) | BY(NETWORK), 0, send_udp())
REFUSED(make_a_socket_of_ipv6, BY(SECCOMP), EPERM, close_it(socket(AF_INET6, SOCK_STREAM, 0)))
REFUSED(receive_raw_packets, BY(SECCOMP), EPERM, raw_packets())

ATTEMPT(connect_to_a_socket_with_a_path, BY(MOUNTS) | BY(SECCOMP), 0)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP(base_close) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s/socket", outside);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

ATTEMPT(connect_to_an_abstract_socket, BY(LANDLOCK) | BY(NETWORK) | BY(SECCOMP), 0)
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

int write_to_tmp(void)
{
	return create(at("tmp/x"));
}

int read_names(void)
{
	return close_it(open("/etc/passwd", O_RDONLY));
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

ALLOWED(write_in_the_tree, write_inside())
ALLOWED(rename_inside, rename(in_tree("sub/other"), in_tree("other")))
ALLOWED(link_inside, link(in_tree("file"), in_tree("sub/file")))
ALLOWED(make_a_fifo, mkfifo(in_tree("fifo"), 0600))

ATTEMPT(write_the_index_of_git, 0, 0)
{
	if (create(in_tree(".git/index.lock")) < 0)
		return -1;
	return rename(in_tree(".git/index.lock"), in_tree(".git/index"));
}

ALLOWED(write_to_the_private_tmp, write_to_tmp())
ALLOWED(write_to_the_private_home, create(at("home/x")))
ALLOWED(write_to_null, close_it(open("/dev/null", O_WRONLY)))
ALLOWED(read_the_names_of_users, read_names())
ALLOWED(make_a_pair_of_sockets, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))
ALLOWED(run_a_program_of_the_host, run_a_program())
ALLOWED(run_what_was_made, run_program(in_tree("script")))

ATTEMPT(look_beneath, 0, 0)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = {O_PATH | O_CLOEXEC, 0, 0x08};
	CLEANUP(base_close) int root = open(tree, O_PATH | O_DIRECTORY);

	return root < 0 ? -1 : close_it((int)syscall(437, root, "sub/../file", &how, sizeof(how)));
}

/* Last: they change the user of this process. */

/* The process that waits for the run's programs: its environment and arguments are private. */
ATTEMPT(read_the_environment_of_the_first_process, ~0U, 0)
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

REFUSED(be_root_again_or_another, ~0U, 0, setuid(getuid() ? 0 : 1))
