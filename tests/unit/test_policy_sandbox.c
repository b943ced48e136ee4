#include <dirent.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include "tests/unit/sandbox_rig.h"

/* One thing tried inside. Each gives 0 or -1 with errno. */
struct attempt {
	const char *name;
	int (*attempt)(void);
	unsigned by; /* layers of which each refuses it alone; 0: it must work */
	int error;   /* where it matters, else 0 */
};

#define BY(l) (1U << LAYER_##l)
enum { FILES = BY(LANDLOCK) | BY(MOUNTS) };

static int close_it(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

static int from_call(long rc)
{
	return rc < 0 ? -1 : 0;
}

static const char *in_tree(const char *name)
{
	return path_join(&arena, tree, name);
}

static const char *in_outside(const char *name)
{
	return path_join(&arena, outside, name);
}

/* Files of others. */

static int read_a_secret(void)
{
	return close_it(open("/etc/shadow", O_RDONLY));
}

static int read_outside(void)
{
	return close_it(open(in_outside("canary"), O_RDONLY));
}

static int make_outside(void)
{
	return close_it(open(in_outside("new"), O_CREAT | O_WRONLY, 0600));
}

static int write_outside(void)
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

/* Of the process that waits for the run's programs: what it was started with is nobody's. */
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

/* What a tree must not have changed in it. */

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
	/* The root's own descriptor, whatever its number is. */
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

static int connect_tcp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)shared->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CLEANUP(close_fd) int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int send_udp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)shared->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CLEANUP(close_fd) int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : from_call(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

static int sixth_version(void)
{
	return close_it(socket(AF_INET6, SOCK_STREAM, 0));
}

static int raw_packets(void)
{
	return close_it(socket(AF_PACKET, SOCK_RAW, 0));
}

static int connect_unix(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s/socket", outside);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int connect_abstract(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int n = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", outside);

	return fd < 0 ? -1
		      : connect(fd, (struct sockaddr *)&to,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					    (size_t)n));
}

/* What must work. */

static int write_inside(void)
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

static int write_to_tmp(void)
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

static int read_names(void)
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

static int run_a_program(void)
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
	CLEANUP(close_fd) int root = open(tree, O_PATH | O_DIRECTORY);

	return root < 0 ? -1 : close_it((int)syscall(437, root, "sub/../file", &how, sizeof(how)));
}

static const struct attempt attempts[] = {
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
	/* Last: they change who we are. */
	{"read the first process's environment", read_environment, ~0U, 0},
	{"be root again, or another", root_again, ~0U, 0},
};

/* What no layer that is on would refuse is not tried: it would work. */
static bool tried(const struct attempt *t)
{
	unsigned on = 0;

	for (int l = 0; l < LAYERS; l++)
		if (shared->on[l])
			on |= 1U << l;
	return !t->by || t->by == ~0U || (t->by & on);
}

static int try_each(void)
{
	for (size_t i = 0; i < COUNT(attempts); i++) {
		if (!tried(&attempts[i]))
			continue;
		errno = 0;
		shared->got[i] = attempts[i].attempt() < 0 ? (errno ? errno : EIO) : 0;
	}
	return 0;
}

/* Sockets and a process outside, to be reached or not. */
struct lures {
	int tcp, path, abstract;
	pid_t pid;
};

static int listener(int family, const struct sockaddr *to, socklen_t n)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		print_message("skipped: no socket to be reached: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(bind(fd, to, n), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void lures_lay(struct lures *l)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	socklen_t n = sizeof(in);

	l->tcp = listener(AF_INET, (struct sockaddr *)&in, sizeof(in));
	assert_int_equal(getsockname(l->tcp, (struct sockaddr *)&in, &n), 0);
	shared->port = ntohs(in.sin_port);
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/socket", outside);
	l->path = listener(AF_UNIX, (struct sockaddr *)&un, sizeof(un));
	assert_int_equal(chmod(un.sun_path, 0777), 0);
	memset(un.sun_path, 0, sizeof(un.sun_path));
	n = (socklen_t)snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "%s", outside);
	l->abstract = listener(AF_UNIX, (struct sockaddr *)&un,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n));
	l->pid = fork();
	if (l->pid == 0)
		for (;;)
			pause();
	shared->outside = l->pid;
}

static void lures_take(struct lures *l)
{
	close(l->tcp);
	close(l->path);
	close(l->abstract);
	/* Were it gone, there would be nobody to end. */
	assert_int_equal(kill(l->pid, SIGKILL), 0);
	assert_int_equal(wait_for(l->pid), 128 + SIGKILL);
}

static bool as_expected(const struct attempt *t, int got, bool unprivileged)
{
	if (!tried(t))
		return true;
	if (!t->by)
		return got == 0;
	/* What the user may not do anyway may be refused by somebody else first. */
	return got != 0 && (!t->error || got == t->error || unprivileged);
}

static void outside_is_untouched(void)
{
	CLEANUP(buf_release) struct buf canary = BUF_INIT;
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	struct stat st;

	assert_true(tree_read(at("outside/canary"), &canary));
	assert_string_equal(canary.s, "canary\n");
	tree_list(outside, &list);
	assert_string_equal(list.s, "canary\nsocket\n");
	assert_int_equal(stat(at("outside/canary"), &st), 0);
	if (shared->on[LAYER_MOUNTS])
		assert_int_equal(st.st_mode & 07777, 0644);
}

static void try_with(struct plan *p)
{
	struct lures l;
	int status, faults = 0;

	rig_assume_user(p);
	p->inside = try_each;
	p->policy.layers[LAYER_CGROUP] = NEED_OFF;
	tree_write(at("tree/script"), STR("#!/usr/bin/env true\n"));
	assert_int_equal(chmod(at("tree/script"), 0755), 0);
	lures_lay(&l);
	assert_int_equal(chmod(at("outside/canary"), 0644), 0);
	status = rig_run(p);
	lures_take(&l);
	if (status)
		print_message("%d %s%s\n", status, shared->error, shared->failed);
	assert_int_equal(status, 0);
	for (size_t i = 0; i < COUNT(attempts); i++) {
		if (as_expected(&attempts[i], shared->got[i], p->unprivileged || geteuid()))
			continue;
		print_message("%s: %s\n", attempts[i].name, strerror(shared->got[i]));
		faults++;
	}
	assert_int_equal(faults, 0);
	outside_is_untouched();
}

/* Each layer that is not there on this host is said. */
static void say_absent(void)
{
	for (int l = 0; l < LAYERS; l++)
		if (l != LAYER_CGROUP && shared->host.layers[l].state == LAYER_ABSENT)
			print_message("skipped what only '%s' refuses: %s\n",
				layer_name((enum layer)l), shared->host.layers[l].note);
}

static void all_layers_refuse_what_leads_out(void **state)
{
	struct plan p = {.policy = plain_policy()};

	(void)state;
	try_with(&p);
	say_absent();
}

static void the_same_for_a_user_without_rights(void **state)
{
	struct plan p = {.policy = plain_policy(), .unprivileged = true};

	(void)state;
	try_with(&p);
	say_absent();
}

static void after_a_drop_the_user_is_another(void **state)
{
	struct plan p = {.policy = plain_policy()};

	(void)state;
	if (geteuid() != 0)
		skip();
	rig_assume_user(&(struct plan){.unprivileged = true});
	p.policy.uid = p.policy.gid = NOBODY;
	give_away();
	try_with(&p);
}

/* Every set of the four layers that can stand alone. */
static void try_sets(bool unprivileged)
{
	static const enum layer four[] = {
		LAYER_LANDLOCK, LAYER_SECCOMP, LAYER_PROCESSES, LAYER_MOUNTS};

	for (unsigned set = 0; set < 16; set++) {
		struct plan p = {.policy = plain_policy(), .unprivileged = unprivileged};
		void *state = NULL;

		for (size_t i = 0; i < COUNT(four); i++)
			p.policy.layers[four[i]] = set & (1U << i) ? NEED_OFF : NEED_BEST_EFFORT;
		/* With neither of the two that bound files there is nothing to look at. */
		if ((set & 9) == 9)
			continue;
		rig_remove(&state);
		rig_make(&state);
		try_with(&p);
	}
}

static void each_layer_refuses_its_own_alone(void **state)
{
	(void)state;
	try_sets(false);
}

static void each_layer_refuses_its_own_for_a_user_without_rights(void **state)
{
	(void)state;
	try_sets(true);
}

static int lowered;

static void lower_abi(struct host *h)
{
	if (h->landlock_abi > lowered)
		h->landlock_abi = lowered;
}

static int write_and_read(void)
{
	if (write_inside() < 0 || run_a_program() < 0 || read_names() < 0)
		return 1;
	return read_outside() == 0;
}

static void every_abi_of_landlock_has_its_rights(void **state)
{
	(void)state;
	for (lowered = 1; lowered <= 6; lowered++) {
		struct plan p = {
			.policy = plain_policy(), .host = lower_abi, .inside = write_and_read};

		p.policy.layers[LAYER_MOUNTS] = NEED_OFF;
		assert_int_equal(rig_run(&p), 0);
		if (shared->host.layers[LAYER_LANDLOCK].state == LAYER_ABSENT)
			skip();
	}
}

static enum layer missing;

static void take_away(struct host *h)
{
	h->layers[missing].state = LAYER_ABSENT;
	copy_text(h->layers[missing].note, sizeof(h->layers[missing].note), "taken away");
}

static int nothing(void)
{
	return 0;
}

static void a_layer_that_is_required_and_absent_is_named(void **state)
{
	char want[200];

	(void)state;
	for (int l = 0; l < LAYERS; l++) {
		struct plan p = {.policy = plain_policy(), .host = take_away, .inside = nothing};

		missing = (enum layer)l;
		p.policy.layers[l] = NEED_REQUIRED;
		assert_int_equal(rig_run(&p), FAILED + ERR_STATE);
		(void)snprintf(want, sizeof(want),
			"layer '%s' is required by policy 'test' and is not on this host: taken "
			"away",
			layer_name(missing));
		assert_string_equal(shared->error, want);
		p.policy.layers[l] = NEED_BEST_EFFORT;
		assert_int_equal(rig_run(&p), 0);
		assert_false(shared->on[l]);
		assert_non_null(strstr(shared->report, "\"absent: taken away\""));
	}
}

static void another_user_without_root_is_refused(void **state)
{
	struct plan p = {.policy = plain_policy(), .unprivileged = true, .inside = nothing};

	(void)state;
	rig_assume_user(&p);
	p.policy.uid = 12345;
	assert_int_equal(rig_run(&p), FAILED + ERR_STATE);
	assert_string_equal(
		shared->error, "policy 'test' names another user, and only root can change to one");
}

/* Without network the policy has none; with it, addresses of others are there and packets are not.
 */
static int try_network(void)
{
	if (connect_tcp() < 0 || send_udp() < 0)
		return 1;
	return raw_packets() == 0 || from_call(syscall(425, 1, NULL)) == 0 ? 2 : 0;
}

static void a_policy_with_network_connects(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = try_network};
	struct lures l;
	int status;

	(void)state;
	p.policy.network = true;
	lures_lay(&l);
	status = rig_run(&p);
	lures_take(&l);
	assert_int_equal(status, 0);
	assert_non_null(strstr(shared->report, "\"network\":\"off: the policy has it\""));
}

/* A policy that does not write. */
static int only_read(void)
{
	if (write_inside() == 0 || close_it(open(in_tree("file"), O_WRONLY)) == 0)
		return 1;
	if (close_it(open(in_tree("file"), O_RDONLY)) < 0 || write_to_tmp() < 0)
		return 2;
	return 0;
}

static void a_policy_that_does_not_write_only_reads(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = only_read};

	(void)state;
	p.policy.write = false;
	assert_int_equal(rig_run(&p), 0);
	p.policy.layers[LAYER_MOUNTS] = NEED_OFF;
	assert_int_equal(rig_run(&p), 0);
}

static int read_more(void)
{
	return close_it(open(in_outside("canary"), O_RDONLY)) < 0 || write_outside() == 0;
}

static void more_folders_can_be_read(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = read_more};

	(void)state;
	p.policy.read = (struct texts){(const char *[]){outside, "/there/is/none"}, 2};
	assert_int_equal(rig_run(&p), 0);
	p.policy.layers[LAYER_MOUNTS] = NEED_OFF;
	assert_int_equal(rig_run(&p), 0);
}

/* Children without end: how many there were when there could be no more. They end with us. */
static int fork_bomb(void)
{
	int held[2];
	char byte;

	if (pipe(held) < 0)
		return 2;
	for (shared->number = 0; shared->number < 2000; shared->number++) {
		pid_t pid = fork();

		if (pid < 0)
			return 0;
		if (pid == 0) {
			close(held[1]);
			_exit(read(held[0], &byte, 1) < 0);
		}
	}
	return 1;
}

static void bomb(bool unprivileged, void (*host)(struct host *h))
{
	struct plan p = {.policy = plain_policy(),
		.unprivileged = unprivileged,
		.host = host,
		.inside = fork_bomb};

	p.policy.limits.processes = 350;
	host_probe(&shared->host);
	if (host)
		host(&shared->host);
	if (!unprivileged && geteuid() == 0 && !shared->host.pid_limit &&
		!shared->host.groups_count) {
		print_message("skipped: root: nothing counts its processes here\n");
		skip();
	}
	rig_assume_user(&p);
	assert_int_equal(rig_run(&p), 0);
	assert_in_range(shared->number, 200, 350);
}

static void processes_are_counted(void **state)
{
	(void)state;
	bomb(false, NULL);
	bomb(true, NULL);
}

static void no_pid_limit(struct host *h)
{
	h->pid_limit = false;
}

static void processes_are_counted_on_older_kernels(void **state)
{
	(void)state;
	bomb(true, no_pid_limit);
	bomb(false, no_pid_limit);
}

static int held[2];

/* A grandchild in a session of its own, that holds the pipe. */
static int leave_one_behind(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	return wait_for(pid);
}

static void nothing_is_left_when_the_first_process_ends(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = leave_one_behind};
	char byte;

	(void)state;
	assert_int_equal(pipe(held), 0);
	p.policy.layers[LAYER_PROCESSES] = NEED_BEST_EFFORT;
	host_probe(&shared->host);
	if (shared->host.layers[LAYER_PROCESSES].state == LAYER_ABSENT) {
		print_message("skipped: %s\n", shared->host.layers[LAYER_PROCESSES].note);
		skip();
	}
	assert_int_equal(rig_run(&p), 0);
	close(held[1]);
	/* Ends when the last writer is gone; would wait for ever for one that is not. */
	assert_int_equal(read(held[0], &byte, 1), 0);
	close(held[0]);
}

static int use_limits(void)
{
	char byte[4096] = {0};
	int fd = open(in_tree("big"), O_CREAT | O_WRONLY, 0600);

	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 4; i++)
		if (write(fd, byte, sizeof(byte)) < 0)
			break;
	if (errno != EFBIG || lseek(fd, 0, SEEK_CUR) != 8192)
		return 1;
	if (mmap(NULL, 1UL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		MAP_FAILED)
		return 2;
	for (int i = 0; i < 64; i++)
		if (dup(fd) < 0)
			return errno == EMFILE ? 0 : 3;
	return 4;
}

static void limits_hold(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = use_limits};

	(void)state;
	p.policy.limits.file_size = 8192;
	p.policy.limits.open_files = 32;
#ifdef __SANITIZE_ADDRESS__
	print_message("skipped: memory: the sanitizer has more than any limit\n");
	skip();
#endif
	p.policy.limits.memory = 256 << 20;
	assert_int_equal(rig_run(&p), 0);
}

static int join_group(void)
{
	return shared->on[LAYER_CGROUP] ? fork_bomb() : 77;
}

static int groups_of(pid_t maker)
{
	DIR *d = opendir(shared->host.groups);
	char name[64];
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	(void)snprintf(name, sizeof(name), "dev-team-run.%d.", (int)maker);
	while ((e = readdir(d)))
		n += strncmp(e->d_name, name, strlen(name)) == 0;
	closedir(d);
	return n;
}

static void a_group_is_made_used_and_removed(void **state)
{
	struct plan p = {.policy = plain_policy(), .inside = join_group};

	(void)state;
	host_probe(&shared->host);
	if (!shared->host.groups_count) {
		print_message("skipped: %s\n", shared->host.layers[LAYER_CGROUP].note);
		skip();
	}
	p.policy.layers[LAYER_CGROUP] = NEED_REQUIRED;
	p.policy.layers[LAYER_PROCESSES] = NEED_OFF;
	p.policy.limits.processes = 20;
	assert_int_equal(rig_run(&p), 0);
	assert_in_range(shared->number, 10, 20);
	assert_int_equal(groups_of(shared->maker), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(all_layers_refuse_what_leads_out),
		rig_test(the_same_for_a_user_without_rights),
		rig_test(after_a_drop_the_user_is_another),
		rig_test(each_layer_refuses_its_own_alone),
		rig_test(each_layer_refuses_its_own_for_a_user_without_rights),
		rig_test(every_abi_of_landlock_has_its_rights),
		rig_test(a_layer_that_is_required_and_absent_is_named),
		rig_test(another_user_without_root_is_refused),
		rig_test(a_policy_with_network_connects),
		rig_test(a_policy_that_does_not_write_only_reads),
		rig_test(more_folders_can_be_read),
		rig_test(processes_are_counted),
		rig_test(processes_are_counted_on_older_kernels),
		rig_test(nothing_is_left_when_the_first_process_ends),
		rig_test(limits_hold),
		rig_test(a_group_is_made_used_and_removed),
	};

	return cmocka_run_group_tests_name("policy sandbox", tests, NULL, NULL);
}
