#include <dirent.h>
#include "tests/lib/sandbox_rig.h"

/* Forks until it fails, and reports the number of children. They end with this process. */
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
	struct sandbox_plan p = {.policy = plain_policy(),
		.unprivileged = unprivileged,
		.host = host,
		.inside = fork_bomb};

	p.policy.limits.processes = 350;
	host_probe(&shared->host);
	if (host)
		host(&shared->host);
	if (!unprivileged && geteuid() == 0 && !shared->host.pid_limit &&
		!shared->host.groups_count)
		skip_because("root: nothing counts its processes here");
	sandbox_rig_assume_user(&p);
	assert_int_equal(sandbox_rig_run(&p), 0);
	assert_in_range(shared->number, 200, 350);
}

SANDBOX_TEST(processes_are_counted)
{
	bomb(false, NULL);
	bomb(true, NULL);
}

static void no_pid_limit(struct host *h)
{
	h->pid_limit = false;
}

SANDBOX_TEST(processes_are_counted_on_older_kernels)
{
	bomb(true, no_pid_limit);
	bomb(false, no_pid_limit);
}

static int held[2];

/* A grandchild in a session of its own, which holds the pipe. */
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

SANDBOX_TEST(nothing_is_left_when_the_first_process_ends)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = leave_one_behind};
	char byte;

	assert_int_equal(pipe(held), 0);
	p.policy.layers[LAYER_PROCESSES] = NEED_BEST_EFFORT;
	host_probe(&shared->host);
	if (shared->host.layers[LAYER_PROCESSES].state == LAYER_ABSENT)
		skip_because("%s", shared->host.layers[LAYER_PROCESSES].note);
	assert_int_equal(sandbox_rig_run(&p), 0);
	close(held[1]);
	/* Returns when the last writer has ended; would wait for ever for one that has not. */
	assert_int_equal(read(held[0], &byte, 1), 0);
	close(held[0]);
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

static void groups_that_kill(struct host *h)
{
	h->groups_v2 = true;
	h->groups_count = false;
	copy_text(h->groups, sizeof(h->groups), "/sys/fs/cgroup/unified");
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		h->groups[strlen("/sys/fs/cgroup")] = '\0';
	if (access(h->groups, W_OK) < 0)
		h->layers[LAYER_CGROUP].state = LAYER_ABSENT;
	else
		h->layers[LAYER_CGROUP].state = LAYER_PARTIAL;
}

/* Without a PID namespace the cgroup is ended, of either version. */
static void nothing_is_left_of_a_group(void (*host)(struct host *h))
{
	struct sandbox_plan p = {
		.policy = plain_policy(), .host = host, .inside = leave_one_behind};
	char byte;

	assert_int_equal(pipe(held), 0);
	p.policy.layers[LAYER_PROCESSES] = NEED_OFF;
	p.policy.limits.processes = 20;
	host_probe(&shared->host);
	if (host)
		host(&shared->host);
	if (shared->host.layers[LAYER_CGROUP].state == LAYER_ABSENT) {
		print_message("skipped: no group of ours may be made\n");
		return;
	}
	assert_int_equal(sandbox_rig_run(&p), 0);
	close(held[1]);
	if (shared->on[LAYER_CGROUP])
		assert_int_equal(read(held[0], &byte, 1), 0);
	else
		print_message("skipped: %s\n", shared->report);
	close(held[0]);
	assert_int_equal(groups_of(shared->maker), 0);
}

SANDBOX_TEST(nothing_is_left_when_a_group_is_ended)
{
	nothing_is_left_of_a_group(NULL);
	nothing_is_left_of_a_group(groups_that_kill);
}

static int use_limits(void)
{
	char byte[4096] = {0};
	int fd = open(at("tree/big"), O_CREAT | O_WRONLY, 0600);

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

SANDBOX_TEST(limits_hold)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = use_limits};

	p.policy.limits.file_size = 8192;
	p.policy.limits.open_files = 32;
#ifdef SANITIZED
	skip_because("memory: the sanitizer has more than any limit");
#endif
	p.policy.limits.memory = 256 << 20;
	assert_int_equal(sandbox_rig_run(&p), 0);
}

static int join_group(void)
{
	return shared->on[LAYER_CGROUP] ? fork_bomb() : 77;
}

SANDBOX_TEST(a_group_is_made_used_and_removed)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = join_group};

	host_probe(&shared->host);
	if (!shared->host.groups_count)
		skip_because("%s", shared->host.layers[LAYER_CGROUP].note);
	p.policy.layers[LAYER_CGROUP] = NEED_REQUIRED;
	p.policy.layers[LAYER_PROCESSES] = NEED_OFF;
	p.policy.limits.processes = 20;
	assert_int_equal(sandbox_rig_run(&p), 0);
	assert_in_range(shared->number, 10, 20);
	assert_int_equal(groups_of(shared->maker), 0);
}
