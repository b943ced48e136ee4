#include "tests/lib/git_rig.h"

struct error err;

static char *callers_path;

void path_begins_with(const char *name)
{
	setenv("PATH", arena_printf(&arena, "%s:%s", at(name), callers_path), 1);
}

void rig_environment(void)
{
	static const char *const unwanted[] = {"XDG_CONFIG_HOME", "GIT_SSH_COMMAND", "http_proxy",
		"all_proxy", "GIT_ASKPASS", "SSH_ASKPASS"};

	for (size_t i = 0; i < COUNT(unwanted); i++)
		unsetenv(unwanted[i]);
	callers_path = callers_path ? callers_path : strdup(getenv("PATH"));
	setenv("PATH", callers_path, 1);
	setenv("HOME", at(".home"), 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", arena_dup(&arena, path_dir(base)), 1);
	setenv("LC_ALL", "C", 1);
	tree_write(at(".home/.gitconfig"),
		STR("[user]\n\tname = T\n\temail = t@e\n[init]\n\tdefaultBranch = main\n"
		    "[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
		    "[receive]\n\tautogc = false\n"));
}

static struct git_template *templates; /* to remove at the end */

static void templates_remove(void)
{
	for (struct git_template *t = templates; t; t = t->next)
		if (t->owner == getpid())
			tree_remove(t->copy);
}

static void template_keep(struct git_template *t)
{
	t->copy = tree_scratch("template");
	t->base = strdup(base);
	t->owner = getpid();
	t->next = templates;
	if (!templates)
		(void)atexit(templates_remove);
	templates = t;
	for (const char *const *d = t->directories; *d; d++)
		tree_copy(at(*d), path_join(&arena, t->copy, *d));
}

/* Replaces the path of the template's directory in a file of git. */
static void file_relocate(const struct git_template *t, const char *path)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, fresh = BUF_INIT;
	struct str text;
	size_t found;

	if (!tree_read(path, &old))
		fail_msg("no file '%s'", path);
	text = buf_str(&old);
	found = str_find(text, str_of(t->base));
	buf_add(&fresh, str_sub(text, 0, found));
	buf_adds(&fresh, base);
	buf_add(&fresh, str_sub(text, found + strlen(t->base), text.n));
	tree_write(path, buf_str(&fresh));
}

void git_template_use(struct git_template *t)
{
	(void)scratch_make(NULL);
	rig_environment();
	err = (struct error){0};
	if (!t->copy) {
		t->make();
		template_keep(t);
		return;
	}
	for (const char *const *d = t->directories; *d; d++)
		tree_copy(path_join(&arena, t->copy, *d), at(*d));
	for (const char *const *f = t->files; *f; f++)
		file_relocate(t, at(*f));
}

void rig_repositories(void)
{
	sh("git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo one >a && git add a && git commit -qm first && git push -q origin main\n"
	   "git remote set-head origin main");
}

int rig_setup(void **state)
{
	static struct git_template template = {
		.make = rig_repositories, .directories = {"org", "r"}, .files = {"r/.git/config"}};

	(void)state;
	git_template_use(&template);
	return 0;
}

bool contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' is not in '%s'\n", part, text);
	return strstr(text, part) != NULL;
}

bool refused(int rc, enum err code, const char *part)
{
	if (rc != -1 || err.code != code)
		print_error("rc %d, code %d, text '%s'\n", rc, (int)err.code, err.text);
	return rc == -1 && err.code == code && contains(err.text, part);
}
