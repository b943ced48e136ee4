/*
 * git_rig.h: for each test a repository, a home with a name for its commits, and nothing of the
 * user's own settings.
 */
#ifndef DT_TESTS_GIT_RIG_H
#define DT_TESTS_GIT_RIG_H

#include "tests/lib/shell.h"

static struct error err;

static inline void rig_environment(void)
{
	static const char *const not_wanted[] = {
		"XDG_CONFIG_HOME", "GIT_SSH_COMMAND", "http_proxy", "all_proxy"};

	for (size_t i = 0; i < COUNT(not_wanted); i++)
		unsetenv(not_wanted[i]);
	setenv("HOME", at(".home"), 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", arena_dup(&arena, path_dir(base)), 1);
	setenv("LC_ALL", "C", 1);
	tree_write(at(".home/.gitconfig"),
		STR("[user]\n\tname = T\n\temail = t@e\n[init]\n\tdefaultBranch = main\n"));
}

/* One commit on main in `r`, cloned from the bare `org/o.git` whose HEAD is main. */
static inline int rig_setup(void **state)
{
	(void)scratch_make(state);
	rig_environment();
	err = (struct error){0};
	sh("git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo one >a && git add a && git commit -qm first && git push -q origin main\n"
	   "git remote set-head origin main");
	return 0;
}

static inline bool contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' is not in '%s'\n", part, text);
	return strstr(text, part) != NULL;
}

#define git_test(f) cmocka_unit_test_setup_teardown(f, rig_setup, scratch_remove)

#endif
