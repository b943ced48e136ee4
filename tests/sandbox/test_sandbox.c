#include <netinet/in.h>
#include <sys/un.h>
#include "tests/lib/sandbox_attempts.h"

/* Attempts that no active layer refuses are left out: they would succeed. */
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
	for (size_t i = 0; i < n_attempts; i++) {
		if (!tried(&attempts[i]))
			continue;
		errno = 0;
		shared->got[i] = attempts[i].attempt() < 0 ? (errno ? errno : EIO) : 0;
	}
	return 0;
}

/* Sockets and a process outside, as targets. */
struct lures {
	int tcp, path, abstract;
	pid_t pid;
};

static int listener(int family, const struct sockaddr *to, socklen_t n)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		skip_because("no socket to be reached: %s", strerror(errno));
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
	/* Without it there would be no process to end. */
	assert_int_equal(kill(l->pid, SIGKILL), 0);
	assert_int_equal(wait_for(l->pid), 128 + SIGKILL);
}

static bool as_expected(const struct attempt *t, int got, bool unprivileged)
{
	if (!tried(t))
		return true;
	if (!t->by)
		return got == 0;
	/* What the user may not do anyway may be refused for another reason first. */
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

static void try_with(struct sandbox_plan *p)
{
	struct lures l;
	int status, faults = 0;

	sandbox_rig_assume_user(p);
	p->inside = try_each;
	p->policy.layers[LAYER_CGROUP] = NEED_OFF;
	tree_write(at("tree/script"), STR("#!/usr/bin/env true\n"));
	assert_int_equal(chmod(at("tree/script"), 0755), 0);
	lures_lay(&l);
	assert_int_equal(chmod(at("outside/canary"), 0644), 0);
	status = sandbox_rig_run(p);
	lures_take(&l);
	if (status)
		print_message("%d %s%s\n", status, shared->error, shared->failed);
	assert_int_equal(status, 0);
	for (size_t i = 0; i < n_attempts; i++) {
		if (as_expected(&attempts[i], shared->got[i], p->unprivileged || geteuid()))
			continue;
		print_message("%s: %s\n", attempts[i].name, strerror(shared->got[i]));
		faults++;
	}
	assert_int_equal(faults, 0);
	outside_is_untouched();
}

/* Each layer that is missing on this host is reported. */
static void say_absent(void)
{
	for (int l = 0; l < LAYERS; l++)
		if (l != LAYER_CGROUP && shared->host.layers[l].state == LAYER_ABSENT)
			print_message("skipped what only '%s' refuses: %s\n",
				layer_name((enum layer)l), shared->host.layers[l].note);
}

SANDBOX_TEST(all_layers_refuse_what_leads_out)
{
	struct sandbox_plan p = {.policy = plain_policy()};

	try_with(&p);
	say_absent();
}

SANDBOX_TEST(the_same_for_a_user_without_rights)
{
	struct sandbox_plan p = {.policy = plain_policy(), .unprivileged = true};

	try_with(&p);
	say_absent();
}

SANDBOX_TEST(after_a_drop_the_user_is_another)
{
	struct sandbox_plan p = {.policy = plain_policy()};

	if (geteuid() != 0)
		skip();
	sandbox_rig_assume_user(&(struct sandbox_plan){.unprivileged = true});
	p.policy.uid = p.policy.gid = NOBODY;
	give_away();
	try_with(&p);
}

/* Every set of the four layers that work alone. */
static void try_sets(bool unprivileged)
{
	static const enum layer four[] = {
		LAYER_LANDLOCK, LAYER_SECCOMP, LAYER_PROCESSES, LAYER_MOUNTS};

	for (unsigned set = 0; set < 16; set++) {
		struct sandbox_plan p = {.policy = plain_policy(), .unprivileged = unprivileged};
		void *state = NULL;

		for (size_t i = 0; i < COUNT(four); i++)
			p.policy.layers[four[i]] = set & (1U << i) ? NEED_OFF : NEED_BEST_EFFORT;
		/* Without either of the two that restrict files there is nothing to test. */
		if ((set & 9) == 9)
			continue;
		sandbox_rig_remove(&state);
		sandbox_rig_make(&state);
		try_with(&p);
	}
}

SANDBOX_TEST(each_layer_refuses_its_own_alone)
{
	try_sets(false);
}

SANDBOX_TEST(each_layer_refuses_its_own_for_a_user_without_rights)
{
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

/* Only Landlock is left to restrict files. */
static void without_mounts(struct sandbox_plan *p)
{
	host_probe(&shared->host);
	if (shared->host.layers[LAYER_LANDLOCK].state == LAYER_ABSENT)
		skip_because("landlock: %s", shared->host.layers[LAYER_LANDLOCK].note);
	p->policy.layers[LAYER_MOUNTS] = NEED_OFF;
	assert_int_equal(sandbox_rig_run(p), 0);
}

/* One of the two that restrict files must be active. */
static void with_all(struct sandbox_plan *p)
{
	host_probe(&shared->host);
	if (shared->host.layers[LAYER_LANDLOCK].state == LAYER_ABSENT &&
		shared->host.layers[LAYER_MOUNTS].state == LAYER_ABSENT)
		skip_because("nothing bounds files here");
	assert_int_equal(sandbox_rig_run(p), 0);
}

SANDBOX_TEST(every_abi_of_landlock_has_its_rights)
{
	for (lowered = 1; lowered <= 6; lowered++) {
		struct sandbox_plan p = {
			.policy = plain_policy(), .host = lower_abi, .inside = write_and_read};

		without_mounts(&p);
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

SANDBOX_TEST(a_layer_that_is_required_and_absent_is_named)
{
	char want[200];

	for (int l = 0; l < LAYERS; l++) {
		struct sandbox_plan p = {
			.policy = plain_policy(), .host = take_away, .inside = nothing};

		missing = (enum layer)l;
		p.policy.layers[l] = NEED_REQUIRED;
		assert_int_equal(sandbox_rig_run(&p), FAILED + ERR_STATE);
		(void)snprintf(want, sizeof(want),
			"layer '%s' is required by policy 'test' and is not on this host: taken "
			"away",
			layer_name(missing));
		assert_string_equal(shared->error, want);
		p.policy.layers[l] = NEED_BEST_EFFORT;
		assert_int_equal(sandbox_rig_run(&p), 0);
		assert_false(shared->on[l]);
		assert_non_null(strstr(shared->report, "\"absent: taken away\""));
	}
}

SANDBOX_TEST(another_user_without_root_is_refused)
{
	struct sandbox_plan p = {.policy = plain_policy(), .unprivileged = true, .inside = nothing};

	sandbox_rig_assume_user(&p);
	p.policy.uid = 12345;
	assert_int_equal(sandbox_rig_run(&p), FAILED + ERR_STATE);
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

SANDBOX_TEST(a_policy_with_network_connects)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = try_network};
	struct lures l;
	int status;

	p.policy.network = true;
	lures_lay(&l);
	status = sandbox_rig_run(&p);
	lures_take(&l);
	assert_int_equal(status, 0);
	assert_non_null(strstr(shared->report, "\"network\":\"off: the policy has it\""));
}

/* A policy without write access. */
static int only_read(void)
{
	if (write_inside() == 0 || close_it(open(in_tree("file"), O_WRONLY)) == 0)
		return 1;
	if (close_it(open(in_tree("file"), O_RDONLY)) < 0 || write_to_tmp() < 0)
		return 2;
	return 0;
}

SANDBOX_TEST(a_policy_that_does_not_write_only_reads)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = only_read};

	p.policy.write = false;
	with_all(&p);
	without_mounts(&p);
}

static int read_more(void)
{
	return close_it(open(in_outside("canary"), O_RDONLY)) < 0 || write_outside() == 0;
}

SANDBOX_TEST(more_directories_can_be_read)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = read_more};

	p.policy.read = (struct texts){(const char *[]){outside, "/there/is/none"}, 2};
	with_all(&p);
	without_mounts(&p);
}

/* The directory above a protected file cannot be moved, nor the file in it be written. */
static int move_the_way(void)
{
	if (rename(in_tree("conf/deep"), in_tree("conf/other")) == 0 ||
		rename(in_tree("conf"), in_tree("other")) == 0)
		return 1;
	if (close_it(open(in_tree("conf/deep/kept"), O_WRONLY)) == 0)
		return 2;
	return close_it(open(in_tree("conf/deep/free"), O_CREAT | O_WRONLY, 0600)) < 0 ? 3 : 0;
}

SANDBOX_TEST(the_way_to_what_is_protected_stays)
{
	struct sandbox_plan p = {.policy = plain_policy(), .inside = move_the_way};

	tree_write(at("tree/conf/deep/kept"), STR("x\n"));
	tree_write(at("tree/conf/second"), STR("x\n"));
	p.policy.protect =
		(struct texts){(const char *[]){"conf/deep/kept", "conf/none", "conf/second"}, 3};
	host_probe(&shared->host);
	if (shared->host.layers[LAYER_MOUNTS].state == LAYER_ABSENT)
		skip_because("mounts: %s", shared->host.layers[LAYER_MOUNTS].note);
	assert_int_equal(sandbox_rig_run(&p), 0);
}
