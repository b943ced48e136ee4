#include <signal.h>
#include <sys/prctl.h>
#include "tests/lib/policy_tree.h"

struct root root;
struct policy policy;
struct verdict verdict;

void link_to(const char *target, const char *name)
{
	assert_int_equal(symlink(target, at(name)), 0);
}

void open_root(const char *name)
{
	struct error err;

	if (root_open(&arena, at(name), &root, &err) < 0)
		fail_msg("%s", err.text);
}

int policy_tree_lay(void **state)
{
	static const char *const directories[] = {"tree/src", "tree/include", "tree/sub",
		"tree/build", "tree/.git/hooks", "tree-other", "other", "tree/a b"};
	static const char *const files[] = {"tree/README.md", "tree/Makefile", "tree/sub/Makefile",
		"tree/src/main.c", "tree/src/util.c", "tree/src/h.h", "tree/sub/deep.txt",
		"tree/backup~", "secret", "tree-other/secret"};

	if (scratch_make(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(directories); i++)
		tree_mkdirs(at(directories[i]));
	for (size_t i = 0; i < COUNT(files); i++)
		scratch_write(files[i], "x\n");
	link_to("sub", "tree/inlink");
	link_to("/etc", "tree/esc");
	return 0;
}

int policy_tree_make(void **state)
{
	if (policy_tree_lay(state) < 0)
		return -1;
	open_root("tree");
	policy = (struct policy){.name = "test", .write = true};
	return 0;
}

int policy_tree_remove(void **state)
{
	return scratch_remove(state);
}

pid_t policy_tree_swap(const char *dir, const char *aside, const char *target)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (rename(dir, aside) == 0 && symlink(target, dir) == 0 && unlink(dir) == 0)
			(void)rename(aside, dir);
	}
}

const char *verdict_text(void)
{
	static struct buf line;

	buf_clear(&line);
	verdict_line(&line, &verdict);
	return line.s;
}

void assert_denied_by(enum rule rule, const char *about)
{
	if (!verdict.denied || verdict.rule != rule)
		fail_msg("'%s': %s", about, verdict_text());
}
