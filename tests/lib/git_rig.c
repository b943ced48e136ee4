#include "tests/lib/git_rig.h"

struct error err;

void rig_environment(void)
{
	static const char *const unwanted[] = {
		"XDG_CONFIG_HOME", "GIT_SSH_COMMAND", "http_proxy", "all_proxy"};

	for (size_t i = 0; i < COUNT(unwanted); i++)
		unsetenv(unwanted[i]);
	setenv("HOME", at(".home"), 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", arena_dup(&arena, path_dir(base)), 1);
	setenv("LC_ALL", "C", 1);
	tree_write(at(".home/.gitconfig"),
		STR("[user]\n\tname = T\n\temail = t@e\n[init]\n\tdefaultBranch = main\n"));
}

static char *template; /* of the repositories; made by the first test of a file */
static char *template_base;
static pid_t template_owner;

static void template_remove(void)
{
	if (getpid() == template_owner)
		tree_remove(template);
}

static void template_make(void)
{
	sh("git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo one >a && git add a && git commit -qm first && git push -q origin main\n"
	   "git remote set-head origin main");
	template = tree_scratch("template");
	template_base = strdup(base);
	template_owner = getpid();
	(void)atexit(template_remove);
	tree_copy(at("org"), path_join(&arena, template, "org"));
	tree_copy(at("r"), path_join(&arena, template, "r"));
}

/* The clone has the absolute path of its origin. */
static void template_use(void)
{
	CLEANUP(buf_release) struct buf config = BUF_INIT, fresh = BUF_INIT;
	struct str rest;
	size_t found;

	tree_copy(path_join(&arena, template, "org"), at("org"));
	tree_copy(path_join(&arena, template, "r"), at("r"));
	(void)tree_read(at("r/.git/config"), &config);
	rest = buf_str(&config);
	found = str_find(rest, str_of(template_base));
	buf_add(&fresh, str_sub(rest, 0, found));
	buf_adds(&fresh, base);
	buf_add(&fresh, str_sub(rest, found + strlen(template_base), rest.n));
	tree_write(at("r/.git/config"), buf_str(&fresh));
}

int rig_setup(void **state)
{
	(void)scratch_make(state);
	rig_environment();
	err = (struct error){0};
	if (template)
		template_use();
	else
		template_make();
	return 0;
}

bool contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' is not in '%s'\n", part, text);
	return strstr(text, part) != NULL;
}
