#include <limits.h>
#include "tests/lib/policy_tree.h"

static struct str program;

static int trust(const char *name)
{
	verdict = (struct verdict){0};
	return trusted_program(&arena, str_of(name), (struct span){0, 2}, &program, &verdict);
}

static void assert_trusted(const char *name)
{
	if (trust(name) < 0)
		fail_msg("%s", verdict_text());
	assert_true(program.n > 0);
	assert_int_equal(program.p[0], '/');
	assert_int_equal(access(program.p, X_OK), 0);
}

static void refused(const char *name, enum rule rule)
{
	if (trust(name) == 0)
		fail_msg("'%s' is '%s'", name, program.p);
	assert_denied_by(rule, name);
}

POLICY_TREE_TEST(names_lead_to_the_systems_programs)
{
	char real[PATH_MAX];

	assert_trusted("ls");
	assert_non_null(realpath("/usr/bin/ls", real));
	assert_string_equal(program.p, real);
	assert_trusted("/bin/ls");
	assert_string_equal(program.p, real);
	assert_trusted("/usr/bin/../bin/ls");
	assert_trusted("[");
	assert_trusted("make");
}

/* cc is a link in /etc/alternatives on some systems. */
POLICY_TREE_TEST(links_between_are_followed_to_the_file)
{
	struct stat st;

	assert_trusted("cc");
	assert_int_equal(lstat(program.p, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

POLICY_TREE_TEST(what_is_not_installed_is_no_denial)
{
	assert_int_equal(trust("no-such-program-anywhere"), 0);
	assert_int_equal(program.n, 0);
	refused("/usr/bin/no-such-program-anywhere", RULE_NAME_TRUSTED);
}

POLICY_TREE_TEST(other_files_are_refused)
{
	static const char *const bad[] = {"./git", "sub/git", "../ls", ".", "..", "/", "/bin/",
		"/usr/bin/.", "/usr/bin", "/etc/passwd", "/lib64/ld-linux-x86-64.so.2",
		"/proc/self/exe", "/proc/self/root/bin/ls", "bin/ls"};

	for (size_t i = 0; i < COUNT(bad); i++)
		refused(bad[i], RULE_NAME_TRUSTED);
	scratch_write("tree/ls", "#!/bin/sh\n");
	assert_int_equal(chmod(at("tree/ls"), 0755), 0);
	refused(at("tree/ls"), RULE_NAME_TRUSTED);
	link_to("/usr/bin/ls", "tree/cat");
	refused(at("tree/cat"), RULE_NAME_TRUSTED);
}

POLICY_TREE_TEST(names_are_plain_characters)
{
	static const char *const bad[] = {
		"", "l s", "ls\n", "g\xd1\x96t", "\x7f", "ls\t", "gi\xe2\x80\x8bt", "/bin/l\x01s"};

	for (size_t i = 0; i < COUNT(bad); i++)
		refused(bad[i], RULE_NAME_BYTES);
	verdict = (struct verdict){0};
	assert_int_equal(
		trusted_program(&arena, STR("ls\0x"), (struct span){0}, &program, &verdict), -1);
}

static int script(const char *cwd, const char *name)
{
	verdict = (struct verdict){0};
	return script_allowed(&arena, &root, &policy, str_of(cwd), str_of(name), (struct span){0},
		&program, &verdict);
}

POLICY_TREE_TEST(scripts_of_the_policy_may_be_named_by_path)
{
	policy.scripts =
		(struct texts){(const char *[]){"./sub/run", "build/test", "src/main.c"}, 3};
	scratch_write("tree/sub/run", "#!/bin/sh\n");
	assert_int_equal(chmod(at("tree/sub/run"), 0755), 0);
	link_to("sub/run", "tree/alias");
	assert_int_equal(script("", "sub/run"), 0);
	assert_string_equal(program.p, at("tree/sub/run"));
	assert_int_equal(script("sub", "./run"), 0);
	assert_int_equal(script("", "./alias"), 0);
	assert_int_equal(script("", at("tree/inlink/run")), 0);
	assert_int_equal(script("", "build/test"), 0);
	assert_int_equal(program.n, 0);
	assert_int_equal(script("sub", "run"), -1);
	assert_int_equal(script("", "src/main.c"), -1);
	assert_int_equal(script("", "src/util.c"), -1);
	assert_int_equal(script("", "/bin/sh"), -1);
	assert_int_equal(script("", "../secret"), -1);
	assert_denied_by(RULE_NAME_TRUSTED, "../secret");
}
