#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include "context/lease.h"
#include "src/branchdb/branchdb.h"
#include "src/graph/manifest.h"
#include "src/harness/adapter.h"
#include "src/machine/place.h"
#include "src/setup/setup.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sandbox/sandbox.h"
#include "src/store/disk.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ANSWER_S = 10, OUTPUT_MAX = 65536, ENOUGH_MB = 100 };

struct doctor {
	struct arena *arena;
	struct buf *out;
	const struct run_step_call *call; /* what was asked for */
	const char *repo;                 /* NULL: none found */
	bool failed;
	const char *client; /* what `claude --version` prints; NULL: not found */
};

static void report_text(struct doctor *c, enum health health, const char *what, char *text)
{
	static const char *const names[] = {"ok", "warn", "fail"};

	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	buf_addf(c->out, "%-4s  %-12s  %s\n", names[health], what, text);
	c->failed = c->failed || health == HEALTH_FAIL;
}

/* The text is as of printf(). */
#define report(c, health, what, ...)                                                               \
	report_text(c, health, what, arena_printf((c)->arena, __VA_ARGS__))

/* Reports `good` if it is ok, else `bad`. */
static void report_if(struct doctor *c, bool ok, enum health otherwise, const char *what,
	const char *good, const char *bad)
{
	report(c, ok ? HEALTH_OK : otherwise, what, "%s", ok ? good : bad);
}

/* ---- programs ---- */

/* First line of what a program prints, in the arena; NULL when it is missing. *ok: it exited with 0
 * in time. */
static char *ask_program(
	struct arena *a, const char *cwd, const char *const *argv, unsigned timeout_s, bool *ok)
{
	static const char *const env[] = {"GIT_TERMINAL_PROMPT=0", "GH_PROMPT_DISABLED=1",
		"NO_COLOR=1", "GIT_ASKPASS=", "SSH_ASKPASS", "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", "GIT_COMMON_DIR", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct process p = {.argv = argv,
		.cwd = cwd,
		.env = env,
		.output = -1,
		.out = &out,
		.out_max = OUTPUT_MAX,
		.timeout_s = timeout_s};
	struct process_end end;
	struct error err = {0};
	struct str rest, line = {0};

	*ok = false;
	if (process_run(&p, &end, &err) < 0)
		return end.missing ? NULL : arena_dup(a, str_of(err.text));
	*ok = !end.timed_out && end.status == 0;
	if (end.timed_out)
		return arena_printf(a, "no answer within %u s", timeout_s);
	rest = buf_str(&out);
	while (str_line(&rest, &line) && !str_trim(line).n)
		;
	return arena_dup(a, str_trim(line));
}

#define ASK(c, cwd, ok, ...)                                                                       \
	ask_program((c)->arena, cwd, (const char *const[]){__VA_ARGS__, NULL}, ANSWER_S, ok)

/* `NAME --version`; NULL: it is missing. */
static const char *run_doctor_check_program(
	struct doctor *c, const char *name, enum health missing, const char *repair)
{
	bool ok;
	char *answer = ASK(c, NULL, &ok, name, "--version");

	if (answer)
		report(c, ok ? HEALTH_OK : HEALTH_FAIL, name, "%s", answer);
	else
		report(c, missing, name, "not found: %s", repair);
	return answer;
}

static void check_login(struct doctor *c, const char *program, const char *token)
{
	bool ok;
	char *answer = ASK(c, NULL, &ok, program, "auth", "status");

	report_if(c, ok, HEALTH_WARN, arena_printf(c->arena, "%s login", program), "logged in",
		arena_printf(c->arena, "%s: run '%s auth login' or set %s",
			answer && *answer ? answer : "not logged in", program, token));
}

/* The program for the pull requests of the remote; of GitHub where no remote is known. */
static void check_forge_program(struct doctor *c)
{
	const char *repo = c->call->repo ? c->call->repo : ".", *program;
	struct error ignored;
	char *url = NULL;
	bool blocked;

	(void)remote_find_url(c->arena, repo, &url, &ignored);
	program = url ? forge_program(str_of(url)) : "gh";
	if (!program && path_find_program(c->arena, "gh", &blocked))
		program = "gh"; /* a forge of unknown kind may be GitHub's */
	if (!program || !*program)
		return;
	if (run_doctor_check_program(c, program, HEALTH_WARN,
		    "pull requests cannot be made or watched: install the command-line program of "
		    "the forge"))
		check_login(c, program, strcmp(program, "gh") == 0 ? "GH_TOKEN" : "GITLAB_TOKEN");
}

/* A harness of the settings, or any that is installed. */
static bool knows_agents(struct doctor *c)
{
	struct settings settings = {0};
	struct error ignored;
	const char *repo;
	bool blocked, known;

	known = locate_repository(c->arena, c->call->repo, &repo, &ignored) == 0 &&
		settings_load(c->arena, repo, &settings, &ignored) == 0 && settings.harness;
	for (size_t i = 0; harness_all[i] && !known; i++)
		known = harness_all[i]->binary &&
			path_find_program(c->arena, harness_all[i]->binary, &blocked);
	return known;
}

static void run_doctor_check_programs(struct doctor *c)
{
	struct error err = {0};
	char *version;

	(void)run_doctor_check_program(c, "git", HEALTH_FAIL, "install git");
	if (git_library_version(c->arena, &version, &err) < 0)
		report(c, HEALTH_FAIL, "libgit2", "%s: install libgit2, or build again", err.text);
	else
		report(c, HEALTH_OK, "libgit2", "%s", version);
	check_forge_program(c);
	c->client = run_doctor_check_program(c, "claude", HEALTH_WARN,
		knows_agents(c) ? "the slash commands run in it: install Claude Code"
				: "the slash commands run in it: install Claude Code; no other "
				  "agent program was found, so 'dev-team run' needs --harness or "
				  "--agents");
}

/* ---- the state directory ---- */

/* False: nothing can be written there, so the rest cannot be tried. */
static bool check_writing(struct doctor *c, const char *dir)
{
	struct error err;
	char *path = arena_printf(c->arena, "%s/.doctor.%ld", dir, (long)getpid());
	CLEANUP(base_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool written = fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0;

	if (written) {
		report(c, HEALTH_OK, "state dir", "%s", dir);
		report_if(c, disk_probe(dir, &err) == 0, HEALTH_FAIL, "locks",
			"a file there can be locked, once", err.text);
	} else {
		report(c, HEALTH_FAIL, "state dir",
			"'%s' cannot be written: %s: make it writable or set DEV_TEAM_STATE_DIR",
			dir, strerror(errno));
	}
	(void)unlink(path);
	return written;
}

static void check_file_system(struct doctor *c, const char *dir)
{
	struct statfs fs;
	const char *name;
	enum disk_kind kind;

	if (statfs(dir, &fs) < 0)
		return;
	kind = disk_kind((uint32_t)fs.f_type, &name);
	report(c, kind == DISK_LOCAL ? HEALTH_OK : HEALTH_WARN, "file system", "%s%s", name,
		kind == DISK_LOCAL ? ""
		: kind == DISK_MEMORY
			? ": lost when the machine stops: set DEV_TEAM_STATE_DIR to a disk"
			: ": locks may not hold between machines: set DEV_TEAM_STATE_DIR to a "
			  "local disk");
}

static void check_space(struct doctor *c, const char *dir)
{
	struct statvfs fs;
	unsigned long long mb;

	if (statvfs(dir, &fs) < 0)
		return;
	mb = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	if (fs.f_files && !fs.f_favail)
		report(c, HEALTH_FAIL, "free space", "no more files can be made there");
	else if (mb < ENOUGH_MB)
		report(c, mb ? HEALTH_WARN : HEALTH_FAIL, "free space",
			"%llu MiB: make room, logs need it", mb);
	else
		report(c, HEALTH_OK, "free space", "%llu MiB", mb);
}

static void run_doctor_check_state(struct doctor *c)
{
	struct error err = {0};
	char *dir = NULL;
	bool existed = context_state_directory(c->arena, &dir, &err) == 0 && path_exists(dir);

	if (!dir || path_mkdirs(dir, &err) < 0) {
		report(c, HEALTH_FAIL, "state dir", "%s: set DEV_TEAM_STATE_DIR", err.text);
		return;
	}
	if (check_writing(c, dir)) {
		check_file_system(c, dir);
		check_space(c, dir);
	}
	if (!existed)
		(void)rmdir(dir); /* the check leaves nothing behind */
}

/* ---- the sandbox ---- */

/* Of the harnesses of a run without options, those that ask no hook. */
static void check_uncontained(struct doctor *c)
{
	static const char *const names[] = {"codex", "gemini-cli", "opencode", NULL};
	struct text_list chain = {0};
	struct settings settings;
	struct error ignored;

	if (!c->repo || settings_load(c->arena, c->repo, &settings, &ignored) < 0 ||
		!settings.harness || (settings.policy && strcmp(settings.policy, "none") != 0) ||
		run_read_harnesses(c->arena, settings.harness, &chain, &ignored) < 0)
		return;
	for (size_t i = 0; i < chain.n; i++)
		if (str_in(str_of(chain.list[i]), names))
			report(c, HEALTH_WARN, "sandbox",
				"dev-team does not contain the commands of '%s': see "
				"docs/policy.md",
				chain.list[i]);
}

/* Whether agents' commands can be contained. */
static void check_sandbox(struct doctor *c)
{
	const char *version;
	struct error err = {0};

	if (sandbox_probe(c->arena, &version, &err) < 0)
		report(c, HEALTH_WARN, "sandbox", "%s", err.text);
	else
		report(c, HEALTH_OK, "sandbox", "%s", version);
}

/* ---- the repository ---- */

static void report_owner(struct doctor *c, const char *path)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct lease_holder h;

	if (context_open(&f, path, CONTEXT_READ_ONLY, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live)
		return;
	lease_describe(&text, &h);
	report(c, HEALTH_OK, "at work", "%s: %s", f.name, text.s);
}

static void check_slug(struct doctor *c)
{
	struct store_paths paths = {0};
	struct error err = {0};
	const char *dir;
	char *slug;

	if (git_slug(c->arena, c->repo, &slug, &err) != 0) {
		report(c, HEALTH_FAIL, "origin", "%s", err.text);
		return;
	}
	report(c, HEALTH_OK, "origin", "%s", slug);
	if (status_directory(c->arena, c->repo, &dir, &err) == 0 &&
		store_documents(store_backend(), c->arena, dir, &paths, &err) == 0)
		for (size_t i = 0; i < paths.n; i++)
			report_owner(c, paths.items[i]);
}

/* The worktree of an item that has begun; NULL. */
static const char *run_doctor_find_directory(struct arena *a, const char *document)
{
	struct item_place place;
	struct error ignored;

	return path_exists(document) && place_read(a, document, &place, &ignored) == 0 &&
			       place.directory && !place.in_place && path_exists(place.directory)
		       ? place.directory
		       : NULL;
}

/* The item that is asked for, as its first step sees it. False: it has none. */
static bool run_doctor_find_item(struct doctor *c, struct preflight *p, struct workflow *w)
{
	struct run_step_call call = *c->call;
	struct error err = {0};

	if (!call.id)
		return true;
	if (run_step_resolve(c->arena, &call, &err) < 0 ||
		manifest_workflow_load(c->arena, call.workflow, w, &err) < 0) {
		report(c, HEALTH_FAIL, "item", "%s", err.text);
		return false;
	}
	p->id = call.id;
	p->branch = arena_printf(c->arena, "dev-team/%s", call.id);
	p->workflow = w;
	p->in_place = call.in_place || !w->worktree;
	p->allow_dirty = call.allow_dirty;
	p->directory = run_doctor_find_directory(c->arena, call.context_file);
	return true;
}

static void check_start(struct doctor *c)
{
	struct preflight p = {.repo = c->repo};
	struct workflow w;

	if (!run_doctor_find_item(c, &p, &w))
		return;
	preflight_check(c->arena, &p);
	for (size_t i = 0; i < p.list.n; i++)
		report(c, p.list.items[i].health, p.list.items[i].subject, "%s",
			p.list.items[i].text);
}

static void check_repository(struct doctor *c)
{
	struct error err = {0};
	char *root;

	if (git_root(c->arena, c->call->repo ? c->call->repo : ".", &root, &err) < 0) {
		bool none = !c->call->repo && strstr(err.text, "is not in a git repository");

		report(c, none ? HEALTH_WARN : HEALTH_FAIL, "repository", "%s%s", err.text,
			none ? ": run this in the repository to work on" : "");
		return;
	}
	c->repo = root;
	report(c, HEALTH_OK, "repository", "%s", root);
	check_slug(c);
	check_start(c);
}

/* ---- the installation ---- */

static void check_installation(struct doctor *c)
{
	static const char *const shipped[] = {"implement-task", "fix-issue"};
	struct error err = {0};
	const char *root, *path;
	bool blocked;

	if (locate_plugin(c->arena, NULL, &root, &err) < 0) {
		report(c, HEALTH_FAIL, "workflows", "%s, or set DEV_TEAM_ROOT", err.text);
		return;
	}
	for (size_t i = 0; i < COUNT(shipped); i++)
		if (locate_workflow(c->arena, shipped[i], root, NULL, &path, &err) < 0) {
			report(c, HEALTH_FAIL, "workflows", "%s: install again", err.text);
			return;
		}
	report(c, HEALTH_OK, "workflows", "%s/workflows", root);
	report_if(c, path_find_program(c->arena, "dev-team", &blocked), HEALTH_WARN, "command",
		"dev-team is on PATH",
		arena_printf(c->arena,
			"dev-team is not on PATH here (in Claude Code the plugin adds it): add "
			"'%s/bin'",
			root));
}

/* ---- the form of the loop (docs/loop.md) ---- */

#define CONDUCTOR "a conductor, which is an agent of the client"
#define PROSE     "a conductor without hooks: "

static json *read_json(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	json *j = NULL;

	if (!path_exists(path) || sys_read_file(&text, path, OUTPUT_MAX, NULL, &ignored) < 0 ||
		json_parse(&j, buf_str(&text), &ignored) < 0)
		return NULL;
	return j;
}

static const char *config_directory(struct doctor *c)
{
	const char *given = getenv("CLAUDE_CONFIG_DIR"), *home = getenv("HOME");

	return given && *given ? given : path_join(c->arena, home ? home : "/", ".claude");
}

struct loop_settings {
	const char *plugin; /* its name in the client, such as dev-team@dev-team; NULL: unknown */
	const char *no_hooks, *no_plugin, *no_script; /* the file that says so; NULL: none does */
	bool managed;                                 /* no_hooks lets only managed hooks run */
};

/* A later file has precedence for the plugin; any of them can turn off the others. */
static void read_settings(const char *path, bool managed, struct loop_settings *s)
{
	CLEANUP(json_free) json *j = read_json(path);
	const json *plugin = s->plugin ? json_get(json_get(j, "enabledPlugins"), s->plugin) : NULL;

	if (json_is_true(json_get(j, "disableAllHooks")) ||
		(managed && json_is_true(json_get(j, "allowManagedHooksOnly")))) {
		s->no_hooks = path;
		s->managed = !json_is_true(json_get(j, "disableAllHooks"));
	}
	if (json_is_true(json_get(j, "disableWorkflows")) ||
		(json_get(j, "enableWorkflows") && !json_is_true(json_get(j, "enableWorkflows"))) ||
		json_get(json_get(j, "env"), "CLAUDE_CODE_DISABLE_WORKFLOWS"))
		s->no_script = path;
	if (plugin)
		s->no_plugin = json_is_true(plugin) ? NULL : path;
}

/* *directory and *version are those of the installed plugin; NULL: it is not installed. */
static void find_plugin(
	struct doctor *c, struct loop_settings *s, const char **directory, const char **version)
{
	CLEANUP(json_free)
	json *j = read_json(
		path_join(c->arena, config_directory(c), "plugins/installed_plugins.json"));

	*directory = *version = NULL;
	for (const json *p = json_first(json_get(j, "plugins")); p; p = json_next(p)) {
		const char *name = json_key(p), *at = json_get_str(json_at(p, 0), "installPath"),
			   *is = json_get_str(json_at(p, 0), "version");

		if (!name || !at || !is || !str_starts(str_of(name), "dev-team@"))
			continue;
		s->plugin = arena_dup(c->arena, str_of(name));
		*directory = arena_dup(c->arena, str_of(at));
		*version = arena_dup(c->arena, str_of(is));
	}
}

static bool is_since(const char *version, unsigned major, unsigned minor, unsigned patch)
{
	unsigned v[3];

	if (sscanf(version, "%u.%u.%u", &v[0], &v[1], &v[2]) != 3)
		return true;
	if (v[0] != major)
		return v[0] > major;
	return v[1] != minor ? v[1] > minor : v[2] >= patch;
}

/* Why /dev-team:workflow cannot run its script; NULL: it can. */
static const char *run_doctor_script_fault(struct doctor *c, const struct loop_settings *s)
{
	if (!is_since(c->client, 2, 1, 154))
		return "the client is older than 2.1.154";
	if (getenv("CLAUDE_CODE_DISABLE_WORKFLOWS"))
		return "CLAUDE_CODE_DISABLE_WORKFLOWS is set";
	return s->no_script ? arena_printf(c->arena, "workflows are disabled in '%s'", s->no_script)
			    : NULL;
}

/* Why the hooks do not work, and the remedy; NULL: they do. */
static const char *hooks_fault(
	struct doctor *c, const struct loop_settings *s, const char *directory, const char *version)
{
	bool ok;
	char *answer;

	if (s->no_hooks)
		return arena_printf(c->arena,
			s->managed ? "'%s' lets only managed hooks run: ask its administrator"
				   : "'disableAllHooks' in '%s': remove it",
			s->no_hooks);
	if (!directory)
		return "the plugin is not installed (or given with --plugin-dir): run 'claude "
		       "plugin install dev-team@dev-team', see README.md";
	if (s->no_plugin)
		return arena_printf(c->arena,
			"the plugin is disabled in '%s': run 'claude plugin enable %s'",
			s->no_plugin, s->plugin);
	if (strcmp(version, DEV_TEAM_VERSION) != 0)
		return arena_printf(c->arena,
			"the plugin is version %s, the program " DEV_TEAM_VERSION
			": run 'claude plugin update %s'",
			version, s->plugin);
	answer = ASK(c, NULL, &ok, path_join(c->arena, directory, "bin/dev-team"), "--version");
	if (!ok)
		return arena_printf(c->arena,
			"the plugin in '%s' finds no program: put dev-team on PATH, or run 'make' "
			"there",
			directory);
	if (!strstr(answer, DEV_TEAM_VERSION))
		return arena_printf(c->arena,
			"the plugin in '%s' finds another program, '%s': install it again",
			directory, answer);
	return NULL;
}

static void check_loop(struct doctor *c)
{
	struct loop_settings s = {0};
	const char *directory, *version, *fault, *script, *config = config_directory(c);

	if (!c->client)
		return;
	find_plugin(c, &s, &directory, &version);
	read_settings(path_join(c->arena, config, "settings.json"), false, &s);
	if (c->repo) {
		read_settings(path_join(c->arena, c->repo, ".claude/settings.json"), false, &s);
		read_settings(
			path_join(c->arena, c->repo, ".claude/settings.local.json"), false, &s);
	}
	read_settings("/etc/claude-code/managed-settings.json", true, &s);
	fault = hooks_fault(c, &s, directory, version);
	if (fault)
		report(c, HEALTH_WARN, "loop", PROSE "%s", fault);
	else if (!is_since(c->client, 2, 0, 77))
		report(c, HEALTH_WARN, "loop",
			"in the main conversation, with prompts: the client is older than 2.0.77: "
			"run 'claude update'");
	else if ((script = run_doctor_script_fault(c, &s)))
		report(c, HEALTH_OK, "loop", CONDUCTOR "; no /dev-team:workflow, because %s",
			script);
	else
		report(c, HEALTH_OK, "loop",
			CONDUCTOR "; or, with /dev-team:workflow, its tool Workflow");
}

/* ---- databases ---- */

static void check_databases(struct doctor *c)
{
	const struct pool_choice choice = {.repo = c->repo};
	const struct branchdb_site site = {.repo = c->repo, .files = ""};
	struct branchdb db = {.arena = c->arena, .site = &site};
	struct worktree_pool_spec pool;
	struct error err;

	/* Faults of the resources are for `resources check`. */
	if (!c->repo || locate_pool_spec(c->arena, &choice, &pool, &err) < 0)
		return;
	for (size_t i = 0; i < pool.n_databases; i++) {
		const struct database_pool_spec *d = pool.databases[i];
		bool bad = branchdb_check(&db, d, true, &err) < 0;

		report(c, bad ? HEALTH_WARN : HEALTH_OK, "database", "%s, %s%s%s", d->name,
			d->adapter, bad ? ": " : "", bad ? err.text : "");
	}
}

bool run_doctor(struct arena *a, const struct run_step_call *call, struct buf *out)
{
	static void (*const checks[])(struct doctor * c) = {run_doctor_check_programs,
		run_doctor_check_state, check_sandbox, check_installation, check_repository,
		check_uncontained, check_databases, check_loop};
	struct doctor c = {.arena = a, .out = out, .call = call};

	for (size_t i = 0; i < COUNT(checks); i++)
		checks[i](&c);
	return !c.failed;
}
