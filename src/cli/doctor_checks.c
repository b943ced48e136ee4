#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/cli/common.h"
#include "src/cli/doctor.h"

enum { ANSWER_S = 10, OUTPUT_MAX = 65536 };

char *ask_program(
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

static void check_git(struct checkup *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "git", "--version"), *version;
	struct error err = {0};

	if (!said)
		finding(c, HEALTH_FAIL, "git", "not found: install git");
	else
		finding(c, ok ? HEALTH_OK : HEALTH_FAIL, "git", "%s", said);
	if (git_library(c->arena, &version, &err) < 0)
		finding(c, HEALTH_FAIL, "libgit2", "%s: install libgit2, or build again", err.text);
	else
		finding(c, HEALTH_OK, "libgit2", "%s", version);
}

static void check_gh(struct checkup *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "gh", "--version");

	if (!said) {
		finding(c, HEALTH_WARN, "gh",
			"not found: pull requests cannot be made or watched: install the "
			"GitHub CLI");
		return;
	}
	finding(c, ok ? HEALTH_OK : HEALTH_FAIL, "gh", "%s", said);
	said = ASK(c, NULL, &ok, "gh", "auth", "status");
	if (ok)
		finding(c, HEALTH_OK, "gh login", "logged in");
	else
		finding(c, HEALTH_WARN, "gh login", "%s: run 'gh auth login' or set GH_TOKEN",
			said && *said ? said : "not logged in");
}

static void check_claude(struct checkup *c)
{
	bool ok;
	char *said = ASK(c, NULL, &ok, "claude", "--version");

	if (!said)
		finding(c, HEALTH_WARN, "claude",
			"not found: the slash commands run in it: install Claude Code");
	else
		finding(c, ok ? HEALTH_OK : HEALTH_FAIL, "claude", "%s", said);
}

void check_programs(struct checkup *c)
{
	check_git(c);
	check_gh(c);
	check_claude(c);
}

static void check_origin(struct checkup *c)
{
	struct error err = {0};
	char *slug;
	bool ok;

	if (git_slug(c->arena, c->repo, &slug, &err) < 0) {
		finding(c, HEALTH_FAIL, "origin", "%s: run 'git remote add origin URL'", err.text);
		return;
	}
	finding(c, HEALTH_OK, "origin", "%s", slug);
	check_leases(c, slug);
	(void)ASK(c, c->repo, &ok, "git", "rev-parse", "--verify", "--quiet", "origin/HEAD");
	if (!ok)
		finding(c, HEALTH_WARN, "origin/HEAD",
			"not set, so the default branch is a guess: run 'git remote set-head "
			"origin --auto'");
}

static void check_author(struct checkup *c)
{
	bool ok;

	(void)ASK(c, c->repo, &ok, "git", "var", "GIT_COMMITTER_IDENT");
	if (ok)
		finding(c, HEALTH_OK, "author", "git knows who commits");
	else
		finding(c, HEALTH_FAIL, "author",
			"git does not know who commits: run 'git config --global user.name' and "
			"user.email");
}

static void check_validation(struct checkup *c)
{
	const char *script = path_join(c->arena, c->repo, "scripts/validate.sh");

	if (path_exists(script))
		finding(c, HEALTH_OK, "validation", "scripts/validate.sh");
	else
		finding(c, HEALTH_WARN, "validation",
			"no scripts/validate.sh: write it, or name a command as 'validate' in a "
			"workflow of your own");
}

void check_repository(struct checkup *c)
{
	struct error err = {0};
	char *root;

	if (git_root(c->arena, c->given_repo ? c->given_repo : ".", &root, &err) < 0) {
		finding(c, c->given_repo ? HEALTH_FAIL : HEALTH_WARN, "repository",
			"%s: run this in the repository to work on", err.text);
		return;
	}
	c->repo = root;
	finding(c, HEALTH_OK, "repository", "%s", root);
	check_origin(c);
	check_author(c);
	check_validation(c);
}

static bool on_path(struct arena *a, const char *name)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "");

	while (rest.n) {
		size_t end = str_find(rest, STR(":"));
		const char *dir = arena_dup(a, str_sub(rest, 0, end));

		if (*dir && access(path_join(a, dir, name), X_OK) == 0)
			return true;
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return false;
}

void check_installation(struct checkup *c)
{
	static const char *const shipped[] = {"implement-task", "fix-issue"};
	struct error err = {0};
	char *root, *path;

	if (plugin_root(c->arena, NULL, &root, &err) < 0) {
		finding(c, HEALTH_FAIL, "workflows", "%s, or set DEV_TEAM_ROOT", err.text);
		return;
	}
	for (size_t i = 0; i < COUNT(shipped); i++)
		if (workflow_path(c->arena, shipped[i], root, &path, &err) < 0) {
			finding(c, HEALTH_FAIL, "workflows", "%s: install again", err.text);
			return;
		}
	finding(c, HEALTH_OK, "workflows", "%s/workflows", root);
	if (on_path(c->arena, "dev-team"))
		finding(c, HEALTH_OK, "command", "dev-team is on PATH");
	else
		finding(c, HEALTH_WARN, "command",
			"dev-team is not on PATH here (in Claude Code the plugin adds it): add "
			"'%s/bin'",
			root);
}
