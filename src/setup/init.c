/*
 * init.c: sets up a repository: finds out what builds and tests it, writes the script that
 * validates changes, the settings and a first spec, and says what comes next. A file that exists is
 * left alone.
 */
#include <sys/stat.h>
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define VALIDATE "scripts/validate.sh"

enum { PYTHON_S = 10 };

struct init {
	struct arena *arena;
	const char *repo;
	struct buf *out;
	struct projects projects;
	const char *origin; /* URL; NULL: none */
	struct remote_state remote;
	const char *program; /* of the forge; NULL: unknown */
	const char *harness; /* installed; NULL: none */
	const char *first;   /* id of the spec to start with; NULL: none */
};

/* One line of the report. `text` may be empty. */
static void say(struct init *t, const char *what, const char *subject, const char *text)
{
	buf_addf(t->out, *text ? "%-8s  %-21s  %s\n" : "%-8s  %s%s\n", what, subject, text);
}

/* ---- looking ---- */

static bool setup_init_is_installed(struct arena *a, const char *program)
{
	bool blocked;

	return path_find_program(a, program, &blocked) != NULL;
}

/* One of the commands is a module that this machine's python3 does not have. Without it each
 * validation would fail, and agents would be paid to fix it. */
static bool lacks_pytest(const struct project *p)
{
	static const char *const argv[] = {"python3", "-c", "import pytest", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct process ask = {
		.argv = argv, .output = -1, .out = &out, .out_max = 4096, .timeout_s = PYTHON_S};
	struct process_end end;
	struct error ignored;
	bool runs = false;

	for (size_t i = 0; i < p->commands.n; i++)
		runs |= strcmp(p->commands.items[i], PROJECT_PYTEST) == 0;
	return runs && process_run(&ask, &end, &ignored) == 0 && !end.timed_out && end.status != 0;
}

static void say_project(struct init *t, const struct project *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < p->commands.n; i++)
		if (!str_starts(str_of(p->commands.items[i]), "export ") &&
			!str_starts(str_of(p->commands.items[i]), "build="))
			buf_addf(&text, "%s%s", text.len ? ", " : "", p->commands.items[i]);
	say(t, "found",
		arena_printf(t->arena, "%s%s%s", p->language, *p->dir ? " in " : "", p->dir),
		text.s);
	if (!setup_init_is_installed(t->arena, p->tool))
		say(t, "missing", p->tool, "not on PATH: install it, or change the commands");
	else if (lacks_pytest(p))
		say(t, "missing", "pytest",
			"python3 has no such module: install it, or change the commands");
	if (!p->tested)
		say(t, "missing", "tests",
			"no command that runs tests was found: add it to " VALIDATE);
}

/* The harnesses in the order in which they are proposed. NULL: none is installed. */
static const char *setup_init_find_harness(struct arena *a)
{
	static const char *const programs[][2] = {{"claude", "claude-code"}, {"codex", "codex"},
		{"gemini", "gemini-cli"}, {"opencode", "opencode"}, {"aider", "aider"}};

	for (size_t i = 0; i < COUNT(programs); i++)
		if (setup_init_is_installed(a, programs[i][0]))
			return programs[i][1];
	return NULL;
}

int setup_agents(struct arena *a, const char *repo, const char **option, struct error *err)
{
	struct settings settings;
	const char *harness;

	if (settings_load(a, repo, &settings, err) < 0)
		return -1;
	harness = settings.harness ? NULL : setup_init_find_harness(a);
	*option = settings.harness
			  ? ""
			  : arena_printf(a, " --harness %s", harness ? harness : "claude-code");
	return 0;
}

static int find_origin(struct init *t, struct error *err)
{
	struct git_remotes remotes;

	if (git_read_remotes(t->arena, t->repo, &remotes, err) < 0)
		return -1;
	for (size_t i = 0; i < remotes.list.n; i++)
		if (strcmp(remotes.list.items[i].name, "origin") == 0)
			t->origin = remotes.list.items[i].url;
	if (!t->origin)
		return 0;
	t->program = forge_program(str_of(t->origin));
	remote_read(t->arena, t->repo, NULL, &t->remote);
	return 0;
}

static void say_origin(struct init *t)
{
	if (!t->origin) {
		say(t, "missing", "origin",
			"no remote: make a repository at your forge, then 'git remote add origin "
			"URL' and 'git push -u origin HEAD'");
		return;
	}
	say(t, "found", "origin", arena_printable(t->arena, str_of(t->origin), SIZE_MAX));
	if (t->remote.branch)
		say(t, "found", "default branch", t->remote.branch);
	else if (t->remote.fault)
		say(t, "missing", "default branch",
			arena_printf(t->arena, "'origin' cannot be asked: %s", t->remote.fault));
	else
		say(t, "missing", "default branch",
			"'origin' has no commit: commit, and run 'git push -u origin HEAD'");
	if (t->program && *t->program)
		say(t, setup_init_is_installed(t->arena, t->program) ? "found" : "missing",
			t->program,
			setup_init_is_installed(t->arena, t->program)
				? "makes and reads pull requests"
				: "not on PATH: pull requests need it");
}

static int setup_init_look(struct init *t, struct error *err)
{
	if (project_find(t->arena, t->repo, &t->projects, err) < 0 || find_origin(t, err) < 0)
		return -1;
	t->harness = setup_init_find_harness(t->arena);
	for (size_t i = 0; i < t->projects.n; i++)
		say_project(t, &t->projects.items[i]);
	if (t->projects.fault)
		say(t, "missing", "build and tests", t->projects.fault);
	else if (!t->projects.n)
		say(t, "missing", "build and tests", "no build file was found that says how");
	say_origin(t);
	return 0;
}

/* ---- writing ---- */

static int setup_init_put(
	struct init *t, const char *path, const char *text, mode_t mode, struct error *err)
{
	int rc = setup_create_file(t->arena, t->repo, path, str_of(text), mode, err);

	if (rc >= 0)
		say(t, rc ? "kept" : "wrote", path, rc ? "exists" : "");
	return rc < 0 ? -1 : 0;
}

/* Without commands there is none: one that passes always would be a lie. */
static int put_script(struct init *t, struct error *err)
{
	if (t->projects.n || path_exists(path_join(t->arena, t->repo, VALIDATE)))
		return setup_init_put(
			t, VALIDATE, project_script(t->arena, &t->projects), 0777, err);
	say(t, "missing", VALIDATE, "write one that builds and tests, and fails if they do");
	return 0;
}

static int put_settings(struct init *t, struct error *err)
{
	const char *key;

	if (new_item_key(t->arena, t->repo, &key, err) < 0)
		return -1;
	return setup_init_put(t, SETTINGS_FILE,
		arena_printf(t->arena,
			"# Settings of dev-team for this repository.\n"
			"workflow: implement-task  # of items that name none; or the path of a "
			"workflow file\n"
			"key: %s  # new items are %s-1, %s-2 ...\n"
			"specs: .  # directory of new specs\n"
			"%sharness: %s  # of 'dev-team run' without agents\n",
			key, key, key, t->harness ? "" : "# ",
			t->harness ? t->harness : "claude-code"),
		0666, err);
}

/* A small task that any repository can start with. */
static const char *first_text(struct init *t)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "say in the README how to build and test\n"
			"\n"
			"README.md has a section 'Build and test': what must be installed, and the "
			"commands");
	for (size_t i = 0; i < t->projects.n; i++)
		for (size_t k = 0; k < t->projects.items[i].commands.n; k++)
			buf_addf(&text, "%s `%s`", i || k ? "," : ":",
				t->projects.items[i].commands.items[k]);
	buf_adds(&text, ". Each command was run before it was written down.");
	return arena_dup(t->arena, buf_str(&text));
}

static int put_spec(struct init *t, struct error *err)
{
	struct new_item item = {.text = first_text(t)};
	char **specs;
	size_t n;

	if (git_find_files(t->arena, t->repo, environment_is_spec, &specs, &n, err) < 0)
		return -1;
	if (n) {
		say(t, "kept", specs[0], n > 1 ? "exists, and others" : "exists");
		return 0;
	}
	if (new_item_write(t->arena, t->repo, &item, err) < 0)
		return -1;
	t->first = item.id;
	say(t, "wrote", item.path, arena_printf(t->arena, "%s: %s", item.id, item.title));
	return 0;
}

/* ---- what comes next ---- */

static int say_next(struct init *t, struct error *err)
{
	const char *how;
	bool scripted = path_exists(path_join(t->arena, t->repo, VALIDATE));

	if (setup_agents(t->arena, t->repo, &how, err) < 0)
		return -1;
	buf_addf(t->out, "\nNext: %s%s, commit and push what was written%s. Then\n\n",
		scripted ? "read " VALIDATE " and run it once" : "write " VALIDATE,
		t->origin ? "" : ", add the remote",
		t->harness ? "" : ", and install a coding agent such as Claude Code");
	if (t->first)
		buf_addf(t->out, "    dev-team run %s%s\n", t->first, how);
	buf_addf(t->out, "    dev-team run \"WHAT YOU WANT\"%s\n", how);
	buf_adds(t->out, "\nor in Claude Code /dev-team:implement with an id or such words. "
			 "'dev-team doctor' shows what is missing.\n");
	return 0;
}

int setup_init(struct arena *a, const char *repo, struct buf *out, struct error *err)
{
	struct init t = {.arena = a, .repo = repo, .out = out};

	if (setup_init_look(&t, err) < 0 || put_script(&t, err) < 0 || put_settings(&t, err) < 0 ||
		put_spec(&t, err) < 0)
		return -1;
	return say_next(&t, err);
}
