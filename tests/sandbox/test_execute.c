/*
 * Runs, seen from the outside: their environment and what they leave behind. How they end:
 * test_endings.c.
 */
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "tests/lib/policy_exec_rig.h"

EXECUTE_TEST(statuses_and_output_come_back)
{
	assert_int_equal(execute_text("echo one; echo two >&2; false"), 0);
	execute_assert_out("one\ntwo\n");
	assert_int_equal(execute_end_seen.status, 1);
	assert_false(execute_end_seen.denied || execute_end_seen.timed_out ||
		     execute_end_seen.cancelled || execute_end_seen.cut);
	assert_int_equal(execute_text("printf x | tr x y; cd sub || true"), 0);
	assert_int_equal(execute_end_seen.status, 0);
	execute_probe("kill -9 $$");
	assert_int_equal(execute_text("./probe"), 0);
	assert_int_equal(execute_end_seen.status, 128 + SIGKILL);
	execute_probe("exit 7");
	assert_int_equal(execute_text("./probe"), 0);
	assert_int_equal(execute_end_seen.status, 7);
	execute_assert_no_child();
}

EXECUTE_TEST(two_outputs_are_kept_apart)
{
	struct execution x;

	execute_parse("echo one; echo two >&2", &x);
	x.err = open(at("errors"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(x.err >= 0);
	assert_int_equal(execute_parsed(&x), 0);
	close(x.err);
	execute_assert_out("one\n");
	assert_string_equal(scratch_read("errors"), "two\n");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

EXECUTE_TEST(the_environment_is_the_list)
{
	static const char *const list[] = {"ASAN_OPTIONS=detect_leaks=0", "GIT_CONFIG_COUNT=7",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_KEY_0=core.hooksPath",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_KEY_2=protocol.ext.allow",
		"GIT_CONFIG_KEY_3=safe.bareRepository", "GIT_CONFIG_KEY_4=core.attributesFile",
		"GIT_CONFIG_KEY_5=gc.auto", "GIT_CONFIG_KEY_6=branch.autoSetupMerge",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_VALUE_0=/dev/null", "GIT_CONFIG_VALUE_1=false",
		"GIT_CONFIG_VALUE_2=never", "GIT_CONFIG_VALUE_3=explicit",
		"GIT_CONFIG_VALUE_4=/dev/null", "GIT_CONFIG_VALUE_5=0", "GIT_CONFIG_VALUE_6=false",
		"GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=PRIVATE/home",
		"LANG=C.UTF-8", "LSAN_OPTIONS=detect_leaks=0", "PAGER=cat", "PATH=/usr/bin:/bin",
		"TERM=dumb", "TMPDIR=PRIVATE/tmp"};
	static struct program show = {.name = "printenv", .options = "", .operands = ""};
	char *lines[64];
	size_t n = 0;
	struct str rest, line;

	assert_int_equal(setenv("SECRET", "of the caller's", 1), 0);
	execute_allowed.programs = &show;
	execute_allowed.n_programs = 1;
	assert_int_equal(execute_text("printenv"), 0);
	rest = buf_str(&execute_out);
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

EXECUTE_TEST(no_descriptor_is_inherited)
{
	int extra[4];

	for (size_t i = 0; i < COUNT(extra); i++)
		extra[i] = fcntl(execute_root.fd, F_DUPFD, 20 + (int)i * 7); /* without CLOEXEC */
	execute_probe("ls /proc/self/fd");
	assert_int_equal(
		execute_text("./probe; { ./probe; } < probe | cat; ./probe 2>&1 > list"), 0);
	for (size_t i = 0; i < COUNT(extra); i++)
		close(extra[i]);
	execute_assert_out("0\n1\n2\n3\n0\n1\n2\n3\n"); /* 3 is the directory that ls reads */
}

/* A kernel or a container may refuse close_range(2). */
static int refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {COUNT(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

EXECUTE_TEST(none_is_inherited_without_close_range)
{
	int raw;
	pid_t pid;

	execute_probe("ls /proc/self/fd");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (refuse_close_range() < 0)
			_exit(2);
		(void)fcntl(execute_root.fd, F_DUPFD, 40);
		_exit(execute_text("./probe") < 0 ||
			!str_is(buf_str(&execute_out), "0\n1\n2\n3\n"));
	}
	assert_int_equal(waitpid(pid, &raw, 0), pid);
	if (WIFEXITED(raw) && WEXITSTATUS(raw) == 2)
		skip_because("no filter can be had here");
	assert_int_equal(raw, 0);
}

EXECUTE_TEST(standard_input_is_empty_or_given)
{
	struct execution x;

	assert_int_equal(execute_text("cat; wc -c"), 0);
	execute_assert_out("0\n");
	scratch_write("input", "given\n");
	execute_parse("cat", &x);
	x.in = open(at("input"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(execute_parsed(&x), 0);
	close(x.in);
	execute_assert_out("given\n");
	x.in = open("/dev/null", O_WRONLY | O_CLOEXEC); /* started with it closed */
	assert_int_equal(execute_parsed(&x), 0);
	close(x.in);
	execute_assert_out("");
	assert_int_equal(execute_end_seen.status, 0);
}

EXECUTE_TEST(files_are_no_others_to_write)
{
	mode_t mask = umask(0);
	struct stat st;

	assert_int_equal(execute_text("touch open; mkdir folder"), 0);
	assert_int_equal(stat(at("tree/open"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	umask(077);
	assert_int_equal(execute_text("touch closed"), 0);
	assert_int_equal(stat(at("tree/closed"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	umask(mask);
}

EXECUTE_TEST_TWICE(private_directories_go_with_the_run)
{
	scratch_write("tree/kept/file", "kept");
	execute_probe("cd \"$HOME\" && ln -s \"$OLDPWD/kept\" link && mkdir -p shut/in && touch "
		      "shut/in/x && chmod 0 shut/in shut && p=deep && while [ ${#p} -lt 1500 ]; do "
		      "p=$p/deep; done; mkdir -p $p && touch $p/end; cp $p/end \"$TMPDIR\"; cd "
		      "\"$TMPDIR\"; ls end");
	assert_int_equal(execute_text("./probe"), 0);
	assert_int_equal(execute_end_seen.status, 0);
	execute_assert_out("end\n");
	assert_int_equal(execute_private_runs(), 0);
	assert_true(path_exists(at("tree/kept/file")));
}

EXECUTE_TEST(what_a_killed_run_left_is_removed_by_the_next)
{
	char *left = arena_printf(
		&arena, "private/dev-team-%u/run.0123456789abcdef", (unsigned)geteuid());

	tree_write(arena_printf(&arena, "%s/home/some/file", at(left)), STR("left"));
	assert_int_equal(execute_text("true"), 0);
	assert_false(path_exists(at(left)));
	assert_int_equal(execute_private_runs(), 0);
}

EXECUTE_TEST(a_directory_of_somebody_else_is_left_alone)
{
	char *theirs = at(arena_printf(&arena, "private/dev-team-%u", (unsigned)geteuid()));
	size_t before;

	assert_int_equal(symlink(execute_root.path, theirs), 0);
	before = execute_private_runs();
	assert_int_equal(execute_text("echo \"$HOME\""), 0);
	assert_true(str_starts(buf_str(&execute_out), arena_printf(&arena, "%s.", theirs)));
	assert_int_equal(execute_private_runs(), before);
	assert_int_equal(unlink(theirs), 0);
	if (geteuid() != 0)
		return;
	tree_mkdirs(theirs);
	if (chown(theirs, 65534, (gid_t)-1) < 0) {
		print_message("no other user can be had here\n");
		return;
	}
	assert_int_equal(execute_text("echo \"$HOME\""), 0);
	assert_true(str_starts(buf_str(&execute_out), arena_printf(&arena, "%s.", theirs)));
}

EXECUTE_TEST(a_required_layer_that_is_not_there_is_an_error)
{
	execute_host.layers[LAYER_LANDLOCK].state = LAYER_ABSENT;
	execute_allowed.layers[LAYER_LANDLOCK] = NEED_REQUIRED;
	assert_fails(execute_text("touch after"), execute_err, ERR_STATE);
	assert_false(path_exists(at("tree/after")));
	assert_int_equal(execute_private_runs(), 0);
}

EXECUTE_TEST(another_user_finds_its_directories)
{
	if (geteuid() != 0)
		skip_because("only root can run a command as somebody else");
	if (chown(at("tree"), 65534, 65534) < 0)
		skip_because("no other user can be had here");
	execute_allowed.uid = execute_allowed.gid = 65534;
	assert_int_equal(chmod(base, 0711), 0);
	assert_int_equal(chmod(at("private"), 0711), 0);
	execute_probe("id -u; touch \"$HOME/x\" \"$TMPDIR/y\" made && ls \"$HOME\";"
		      " git config --get safe.directory");
	assert_int_equal(execute_text("./probe"), 0);
	execute_assert_out(arena_printf(&arena, "65534\nx\n%s\n", execute_root.path));
	assert_int_equal(execute_private_runs(), 0);
}

EXECUTE_TEST(who_commits_is_the_caller)
{
	tree_write(at("home/.gitconfig"),
		STR("[user]\n\tname = Some One\n\temail = one@example.org\n"));
	execute_probe("git init -q . && git add probe && git commit -q -m x && git log "
		      "--format='%an %ce'");
	assert_int_equal(execute_text("./probe"), 0);
	execute_assert_out("Some One one@example.org\n");
}

/* Mounts prevent it from being moved; without them it is put back. */
EXECUTE_TEST_TWICE(a_protected_file_stays_where_it_was)
{
	static const char *const protect[] = {"conf/deep/x"};

	execute_allowed.protect = (struct texts){(const char **)protect, 1};
	scratch_write("tree/conf/deep/x", "good");
	execute_probe("mv conf conf2 && mkdir -p conf/deep && echo bad > conf/deep/x");
	assert_int_equal(execute_text("./probe"), 0);
	if (execute_host.layers[LAYER_MOUNTS].state == LAYER_ABSENT) {
		assert_int_equal(execute_end_seen.changed.n, 1);
		assert_string_equal(execute_end_seen.changed.p[0], "conf/deep/x");
	}
	assert_string_equal(scratch_read("tree/conf/deep/x"), "good");
}

EXECUTE_TEST(programs_of_the_repository_are_run)
{
	CLEANUP(buf_release) struct buf program = BUF_INIT;

	execute_probe("exit 0");
	assert_int_equal(sys_read_file(&program, "/usr/bin/expr", 1 << 24, NULL, &execute_err), 0);
	tree_write(at("tree/probe"), buf_str(&program));
	assert_int_equal(chmod(at("tree/probe"), 0755), 0);
	assert_int_equal(execute_text("./probe 1 + 1"), 0);
	execute_assert_out("2\n");
	assert_int_equal(chmod(at("tree/probe"), 0644), 0);
	assert_int_equal(execute_text("./probe 1 + 1"), 0);
	execute_assert_denied(RULE_NAME_TRUSTED, "./probe");
}

EXECUTE_TEST(a_run_begins_where_it_is_told_to)
{
	struct execution x;

	scratch_write("tree/sub/file", "inner\n");
	execute_parse("cat file; cat ../sub/file", &x);
	x.cwd = "sub";
	assert_int_equal(execute_parsed(&x), 0);
	execute_assert_out("inner\ninner\n");
}
