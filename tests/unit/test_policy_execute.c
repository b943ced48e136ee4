/*
 * Runs, from the outside: what they get, what they leave, how they end. Where something must have
 * happened first, the run itself says so through a FIFO.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/base/procfs.h"
#include "tests/unit/execute_rig.h"

static const char *const scripts[] = {"probe"};

/* A program of the repository: what it does is up to it, only the kernel's layers hold it. */
static void probe(const char *text)
{
	policy.scripts = (struct texts){(const char **)scripts, 1};
	tree_write(at("tree/probe"), str_of(arena_printf(&arena, "#!/bin/sh\n%s\n", text)));
	assert_int_equal(chmod(at("tree/probe"), 0755), 0);
}

static void fifo(const char *name)
{
	assert_int_equal(mkfifo(at(name), 0600), 0);
}

static int begin(void **state)
{
	if (rig_begin(state) < 0 || setenv("TMPDIR", at("private"), 1) < 0 ||
		setenv("HOME", at("home"), 1) < 0)
		return -1;
	tree_mkdirs(at("private"));
	return 0;
}

/* As on a host that has none of the layers that end processes. */
static int begin_bare(void **state)
{
	static const enum layer layers[] = {LAYER_PROCESSES, LAYER_MOUNTS, LAYER_CGROUP};

	if (begin(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(layers); i++)
		host.layers[layers[i]].state = LAYER_ABSENT;
	return 0;
}

static int finish(void **state)
{
	return unsetenv("TMPDIR") < 0 ? -1 : rig_end(state);
}

static void count_marked(const struct proc_info *info, void *arg)
{
	if (proc_has_env(info->pid, "CI=marked-by-this-test"))
		(*(size_t *)arg)++;
}

/* Processes that a line `CI=marked-by-this-test ...` has left. */
static size_t marked(void)
{
	size_t n = 0;

	proc_each(count_marked, &n);
	return n;
}

static size_t private_runs(void)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	tree_list(at("private"), &list);
	return list.len;
}

static void assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void assert_out(const char *text)
{
	assert_string_equal(out.len ? out.s : "", text);
}

static void statuses_and_output_come_back(void **state)
{
	(void)state;
	assert_int_equal(rig_run("echo one; echo two >&2; false"), 0);
	assert_out("one\ntwo\n");
	assert_int_equal(end.status, 1);
	assert_false(end.denied || end.timed_out || end.cancelled || end.cut);
	assert_int_equal(rig_run("printf x | tr x y; cd sub || true"), 0);
	assert_int_equal(end.status, 0);
	probe("kill -9 $$");
	assert_int_equal(rig_run("./probe"), 0);
	assert_int_equal(end.status, 128 + SIGKILL);
	probe("exit 7");
	assert_int_equal(rig_run("./probe"), 0);
	assert_int_equal(end.status, 7);
	assert_no_child();
}

static void two_outputs_are_kept_apart(void **state)
{
	struct execution x;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)state;
	rig_parse("echo one; echo two >&2", &x);
	x.err = open(at("errors"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(x.err >= 0);
	assert_int_equal(rig_execute(&x), 0);
	close(x.err);
	assert_out("one\n");
	assert_true(tree_read(at("errors"), &text));
	assert_str(buf_str(&text), "two\n");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void the_environment_is_the_list(void **state)
{
	static const char *const list[] = {"GIT_CONFIG_COUNT=7", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_KEY_1=core.fsmonitor",
		"GIT_CONFIG_KEY_2=protocol.ext.allow", "GIT_CONFIG_KEY_3=safe.bareRepository",
		"GIT_CONFIG_KEY_4=core.attributesFile", "GIT_CONFIG_KEY_5=gc.auto",
		"GIT_CONFIG_KEY_6=branch.autoSetupMerge", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_VALUE_0=/dev/null", "GIT_CONFIG_VALUE_1=false",
		"GIT_CONFIG_VALUE_2=never", "GIT_CONFIG_VALUE_3=explicit",
		"GIT_CONFIG_VALUE_4=/dev/null", "GIT_CONFIG_VALUE_5=0", "GIT_CONFIG_VALUE_6=false",
		"GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=PRIVATE/home",
		"LANG=C.UTF-8", "PAGER=cat", "PATH=/usr/bin:/bin", "TERM=dumb",
		"TMPDIR=PRIVATE/tmp"};
	static struct program show = {.name = "printenv", .options = "", .operands = ""};
	char *lines[64];
	size_t n = 0;
	struct str rest, line;

	(void)state;
	assert_int_equal(setenv("SECRET", "of the caller's", 1), 0);
	policy.programs = &show;
	policy.n_programs = 1;
	assert_int_equal(rig_run("printenv"), 0);
	rest = buf_str(&out);
	while (str_line(&rest, &line) && n < COUNT(lines))
		lines[n++] = arena_dup(&arena, line);
	qsort(lines, n, sizeof(lines[0]), by_text);
	assert_int_equal(n, COUNT(list));
	for (size_t i = 0; i < n; i++) {
		const char *tail = strstr(list[i], "PRIVATE/");
		const char *name = strrchr(lines[i], '/');

		if (!tail)
			assert_string_equal(lines[i], list[i]);
		else
			assert_string_equal(name, tail + strlen("PRIVATE"));
	}
	assert_int_equal(unsetenv("SECRET"), 0);
}

static void no_descriptor_is_inherited(void **state)
{
	int extra[4];

	(void)state;
	for (size_t i = 0; i < COUNT(extra); i++)
		extra[i] = fcntl(root.fd, F_DUPFD, 20 + (int)i * 7); /* without CLOEXEC */
	probe("ls /proc/self/fd");
	assert_int_equal(rig_run("./probe; { ./probe; } < probe | cat; ./probe 2>&1 > list"), 0);
	for (size_t i = 0; i < COUNT(extra); i++)
		close(extra[i]);
	assert_out("0\n1\n2\n3\n0\n1\n2\n3\n"); /* 3 is the folder that ls reads */
}

static void standard_input_is_empty_or_given(void **state)
{
	struct execution x;

	(void)state;
	assert_int_equal(rig_run("cat; wc -c"), 0);
	assert_out("0\n");
	tree_write(at("input"), STR("given\n"));
	rig_parse("cat", &x);
	x.in = open(at("input"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(rig_execute(&x), 0);
	close(x.in);
	assert_out("given\n");
}

static void files_are_no_others_to_write(void **state)
{
	mode_t mask = umask(0);
	struct stat st;

	(void)state;
	assert_int_equal(rig_run("touch open; mkdir folder"), 0);
	assert_int_equal(stat(at("tree/open"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	umask(077);
	assert_int_equal(rig_run("touch closed"), 0);
	assert_int_equal(stat(at("tree/closed"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	umask(mask);
}

static void private_folders_go_with_the_run(void **state)
{
	(void)state;
	tree_write(at("tree/kept/file"), STR("kept"));
	probe("cd \"$HOME\" && ln -s \"$OLDPWD/kept\" link && mkdir -p shut/in && touch shut/in/x "
	      "&&"
	      " chmod 0 shut/in shut && p=deep && while [ ${#p} -lt 1500 ]; do p=$p/deep; done;"
	      " mkdir -p $p && touch $p/end; cp $p/end \"$TMPDIR\"; cd \"$TMPDIR\"; ls end");
	assert_int_equal(rig_run("./probe"), 0);
	assert_int_equal(end.status, 0);
	assert_out("end\n");
	assert_int_equal(private_runs(), 0);
	assert_true(path_exists(at("tree/kept/file")));
}

/* It has left the session, does not listen, and holds none of the pipes. */
static const char unruly[] =
	"setsid sh -c 'trap \"\" TERM HUP INT; exec </dev/null >/dev/null 2>&1;"
	" echo ready > ready; read x < never' & read x < ready; cat never";

static void a_run_over_its_time_leaves_nothing(void **state)
{
	struct execution x;

	(void)state;
	probe(unruly);
	fifo("tree/ready");
	fifo("tree/never");
	rig_parse("CI=marked-by-this-test ./probe; echo not reached", &x);
	x.timeout_s = 1;
	assert_int_equal(rig_execute(&x), 0);
	assert_true(end.timed_out);
	assert_int_equal(end.status, 124);
	assert_out("");
	assert_int_equal(marked(), 0);
	assert_int_equal(private_runs(), 0);
	assert_no_child();
}

/* What the run writes into `stop` makes the caller's descriptor readable. */
static int stopper(void)
{
	int fd;

	fifo("tree/stop");
	fd = open(at("tree/stop"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void a_cancelled_run_leaves_nothing(void **state)
{
	struct execution x;

	(void)state;
	fifo("tree/ready");
	fifo("tree/never");
	probe(arena_printf(&arena, "%s",
		"setsid sh -c 'trap \"\" TERM; echo ready > ready;"
		" read x < never' & read x < ready; echo stop > stop; cat never"));
	rig_parse("CI=marked-by-this-test ./probe; echo not reached", &x);
	x.cancel = stopper();
	assert_int_equal(rig_execute(&x), 0);
	close(x.cancel);
	assert_true(end.cancelled);
	assert_false(end.timed_out);
	assert_int_equal(end.status, 128 + SIGTERM);
	assert_int_equal(marked(), 0);
	assert_no_child();
}

static void a_loop_without_end_is_ended(void **state)
{
	struct execution x;

	(void)state;
	rig_parse("echo stop > stop; while :; do :; done; echo not reached", &x);
	x.cancel = stopper();
	x.grace_ms = 20000; /* it ends at TERM */
	assert_int_equal(rig_execute(&x), 0);
	close(x.cancel);
	assert_true(end.cancelled);
	assert_out("");
	assert_true(end.ms < 20000);
}

static void what_is_left_behind_is_ended(void **state)
{
	(void)state;
	fifo("tree/ready");
	fifo("tree/never");
	probe("setsid sh -c 'echo ready > ready; read x < never' & read x < ready");
	assert_int_equal(rig_run("CI=marked-by-this-test ./probe; echo done"), 0);
	assert_out("done\n");
	assert_int_equal(end.status, 0);
	assert_int_equal(marked(), 0);
	assert_no_child();
}

static void jobs_in_the_background_are_waited_for(void **state)
{
	(void)state;
	fifo("tree/go");
	assert_int_equal(rig_run("cat go > got & echo x > go"), 0);
	assert_int_equal(rig_run("cat got; ( cat go > got & ) ; echo y > go & :"), 0);
	assert_out("x\n");
	assert_int_equal(rig_run("cat got"), 0);
	assert_out("y\n");
}

static void output_is_capped_and_the_run_goes_on(void **state)
{
	static const char mark[] = "\ndev-team: output over 100000 bytes was left out\n";

	(void)state;
	policy.limits.output = 100000;
	assert_int_equal(rig_run("seq 1 400000; echo more >&2; touch reached"), 0);
	assert_int_equal(end.status, 0);
	assert_true(end.cut);
	assert_int_equal(out.len, 100000 + sizeof(mark) - 1);
	assert_string_equal(out.s + 100000, mark);
	assert_true(path_exists(at("tree/reached")));
	assert_int_equal(rig_run("echo little"), 0);
	assert_false(end.cut);
	assert_out("little\n");
}

static void a_reader_that_went_away_ends_the_writer(void **state)
{
	struct execution x;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	policy.limits.output = 0;
	rig_parse("seq 1 100000000", &x);
	x.out = ends[1];
	assert_int_equal(rig_execute(&x), 0);
	close(ends[1]);
	assert_int_equal(end.status, 128 + SIGPIPE);
}

static void a_reader_that_sleeps_does_not_stop_the_clock(void **state)
{
	struct execution x;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	policy.limits.output = 0;
	rig_parse("seq 1 100000000 | { read x; echo stop > stop; cat; }", &x);
	x.out = ends[1];
	x.cancel = stopper();
	assert_int_equal(rig_execute(&x), 0);
	assert_true(end.cancelled);
	close(x.cancel);
	close(ends[0]);
	close(ends[1]);
	assert_no_child();
}

static void assert_denied(enum rule rule, const char *word)
{
	assert_true(end.denied);
	assert_string_equal(rule_id(end.verdict.rule), rule_id(rule));
	assert_true(str_is(end.verdict.word, word));
	assert_int_equal(end.status, 1);
	assert_false(path_exists(at("tree/after")));
}

static void what_is_known_during_the_run_alone_is_asked_then(void **state)
{
	(void)state;
	tree_write(at("tree/names"), STR("/etc/passwd\nprobe\n"));
	probe("ln -s /etc link");
	assert_int_equal(rig_run("./probe && echo x; cat link/passwd; touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
	assert_out("x\n");
	assert_int_equal(end.verdict.at.from, 23);
	assert_int_equal(end.verdict.at.to, 34);
	assert_int_equal(rig_run("read x < names; cat \"$x\" || touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_out("");
	assert_int_equal(rig_run("for i in 1; do cat $(head -n 1 names); done; touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(rig_run("( cat < link/passwd ) | cat; touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
	assert_int_equal(rig_run("cd link; touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "link");
	assert_int_equal(rig_run("x=$(cat link/passwd) || touch after"), 0);
	assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
}

static void a_denial_ends_what_runs(void **state)
{
	(void)state;
	fifo("tree/never");
	assert_int_equal(rig_run("CI=marked-by-this-test cat never | cat /etc/passwd;"
				 " touch after"),
		0);
	assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(marked(), 0);
	assert_int_equal(rig_run("CI=marked-by-this-test cat never & cat /etc/passwd & touch x;"
				 " cat never; touch after"),
		0);
	assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(marked(), 0);
	assert_no_child();
}

static _Noreturn void run_until_killed(int in, int other)
{
	struct execution x;

	close(other);
	rig_parse("CI=marked-by-this-test ./probe", &x);
	x.in = in;
	_exit(rig_execute(&x) < 0);
}

/* Its standard input is a pipe: the last process that has it is gone when writing fails. */
static void a_killed_caller_takes_its_run_with_it(void **state)
{
	int ends[2], raw, ready;
	struct pollfd fd = {0};
	pid_t pid;

	(void)state;
	if (host.layers[LAYER_PROCESSES].state == LAYER_ABSENT) {
		print_message("no PID namespaces here: nothing ends what a killed caller left\n");
		skip();
	}
	fifo("tree/ready");
	fifo("tree/never");
	probe("exec 3<&0; setsid sh -c 'trap \"\" TERM HUP; echo ready > ready; read x < never' &"
	      " wait");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_until_killed(ends[0], ends[1]);
	close(ends[0]);
	ready = open(at("tree/ready"), O_RDONLY | O_CLOEXEC); /* until somebody writes */
	assert_true(ready >= 0);
	close(ready);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &raw, 0), pid);
	fd.fd = ends[1];
	while (!(fd.revents & POLLERR))
		assert_true(poll(&fd, 1, 60000) > 0);
	close(ends[1]);
	assert_int_equal(marked(), 0);
}

static void what_a_killed_run_left_is_removed_by_the_next(void **state)
{
	char *left = arena_printf(
		&arena, "private/dev-team-%u/run.0123456789abcdef", (unsigned)geteuid());

	(void)state;
	tree_write(arena_printf(&arena, "%s/home/some/file", at(left)), STR("left"));
	assert_int_equal(rig_run("true"), 0);
	assert_false(path_exists(at(left)));
	assert_int_equal(private_runs(), 0);
}

static void a_folder_of_somebody_else_is_refused(void **state)
{
	char *theirs = at(arena_printf(&arena, "private/dev-team-%u", (unsigned)geteuid()));

	(void)state;
	assert_int_equal(symlink("/tmp", theirs), 0);
	assert_int_equal(rig_run("true"), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(unlink(theirs), 0);
	if (geteuid() != 0)
		return;
	tree_mkdirs(theirs);
	assert_int_equal(chown(theirs, 65534, (gid_t)-1), 0);
	assert_int_equal(rig_run("true"), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_string_equal(
		err.text, arena_printf(&arena, "folder '%s' is another user's", theirs));
}

static void a_required_layer_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	host.layers[LAYER_LANDLOCK].state = LAYER_ABSENT;
	policy.layers[LAYER_LANDLOCK] = NEED_REQUIRED;
	assert_int_equal(rig_run("touch after"), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_false(path_exists(at("tree/after")));
	assert_int_equal(private_runs(), 0);
}

static void another_user_finds_its_folders(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("only root can run a command as somebody else\n");
		skip();
	}
	policy.uid = policy.gid = 65534;
	assert_int_equal(chmod(base, 0711), 0);
	assert_int_equal(chmod(at("private"), 0711), 0);
	assert_int_equal(chown(at("tree"), 65534, 65534), 0);
	probe("id -u; touch \"$HOME/x\" \"$TMPDIR/y\" made && ls \"$HOME\";"
	      " git config --get safe.directory");
	assert_int_equal(rig_run("./probe"), 0);
	assert_out(arena_printf(&arena, "65534\nx\n%s\n", root.path));
	assert_int_equal(private_runs(), 0);
}

static void who_commits_is_the_caller(void **state)
{
	(void)state;
	tree_write(at("home/.gitconfig"),
		STR("[user]\n\tname = Some One\n\temail = one@example.org\n"));
	probe("git init -q . && git add probe && git commit -q -m x && git log --format='%an %ce'");
	assert_int_equal(rig_run("./probe"), 0);
	assert_out("Some One one@example.org\n");
}

static void programs_of_the_repository_are_run(void **state)
{
	CLEANUP(buf_release) struct buf program = BUF_INIT;

	(void)state;
	probe("exit 0");
	assert_int_equal(file_read(&program, "/usr/bin/expr", 1 << 24, NULL, &err), 0);
	tree_write(at("tree/probe"), buf_str(&program));
	assert_int_equal(chmod(at("tree/probe"), 0755), 0);
	assert_int_equal(rig_run("./probe 1 + 1"), 0);
	assert_out("2\n");
	assert_int_equal(chmod(at("tree/probe"), 0644), 0);
	assert_int_equal(rig_run("./probe 1 + 1 2>&1"), 0);
	assert_int_equal(end.status, 126);
	assert_out("dev-team: cannot run './probe': Permission denied\n");
	assert_int_equal(unlink(at("tree/probe")), 0);
	assert_int_equal(rig_run("./probe"), 0);
	assert_int_equal(end.status, 127);
}

static void a_run_begins_where_it_is_told_to(void **state)
{
	struct execution x;

	(void)state;
	tree_write(at("tree/sub/file"), STR("inner\n"));
	rig_parse("cat file; cat ../sub/file", &x);
	x.cwd = "sub";
	assert_int_equal(rig_execute(&x), 0);
	assert_out("inner\ninner\n");
}

#define sound_test(f) cmocka_unit_test_setup_teardown(f, begin, finish)
#define bare_test(f)                                                                               \
	{                                                                                          \
#f " (bare host)", f, begin_bare, finish, NULL                                     \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sound_test(statuses_and_output_come_back),
		sound_test(two_outputs_are_kept_apart),
		sound_test(the_environment_is_the_list),
		sound_test(no_descriptor_is_inherited),
		sound_test(standard_input_is_empty_or_given),
		sound_test(files_are_no_others_to_write),
		sound_test(private_folders_go_with_the_run),
		bare_test(private_folders_go_with_the_run),
		sound_test(a_run_over_its_time_leaves_nothing),
		bare_test(a_run_over_its_time_leaves_nothing),
		sound_test(a_cancelled_run_leaves_nothing),
		bare_test(a_cancelled_run_leaves_nothing),
		sound_test(a_loop_without_end_is_ended),
		sound_test(what_is_left_behind_is_ended),
		bare_test(what_is_left_behind_is_ended),
		sound_test(jobs_in_the_background_are_waited_for),
		sound_test(output_is_capped_and_the_run_goes_on),
		sound_test(a_reader_that_went_away_ends_the_writer),
		sound_test(a_reader_that_sleeps_does_not_stop_the_clock),
		sound_test(what_is_known_during_the_run_alone_is_asked_then),
		bare_test(what_is_known_during_the_run_alone_is_asked_then),
		sound_test(a_denial_ends_what_runs),
		bare_test(a_denial_ends_what_runs),
		sound_test(a_killed_caller_takes_its_run_with_it),
		sound_test(what_a_killed_run_left_is_removed_by_the_next),
		sound_test(a_folder_of_somebody_else_is_refused),
		sound_test(a_required_layer_that_is_not_there_is_an_error),
		sound_test(another_user_finds_its_folders),
		sound_test(who_commits_is_the_caller),
		sound_test(programs_of_the_repository_are_run),
		sound_test(a_run_begins_where_it_is_told_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
