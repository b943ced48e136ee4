#include <signal.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	OUTPUT_MAX = 16 << 20,
	LOCAL_S = 120,
	COMMIT_S = 600, /* hooks run tests */
	NETWORK_S = 120,
	LIST_REMOTE_S = 60,
	INDEX_LOCK_MS = 5000,
	CHECKS_S = 60,
	CHECKS_MAX = 1 << 20,
};

/*
 * No prompt, no editor, no window: an empty GIT_ASKPASS has precedence over core.askPass and leaves
 * the credential helpers alone. A caller's own GIT_DIR and the like (we may be run by a hook) do
 * not apply to this work tree. refs/replace and grafts, which anyone with access to the repository
 * can make, do not replace commits.
 */
static const char *const git_environment[] = {"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
	"GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=", "SSH_ASKPASS",
	"SSH_ASKPASS_REQUIRE=never", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR",
	"GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NO_REPLACE_OBJECTS=1",
	"GIT_GRAFT_FILE=/dev/null/none"};

/* TERM at our death: git then removes its lock files. */
static int run(const struct git_command *c, const char *const *env, struct buf *out, int *status,
	struct error *err)
{
	struct process p = {.argv = c->argv,
		.cwd = c->dir,
		.env = env,
		.input = c->input,
		.output = -1,
		.out = out,
		.out_max = OUTPUT_MAX,
		.timeout_s = c->limit_s ? c->limit_s : LOCAL_S,
		.on_death = SIGTERM};
	struct process_end end;

	if (process_run(&p, &end, err) < 0)
		return -1;
	if (status && !end.timed_out) {
		*status = end.status;
		return 0;
	}
	return process_check(&p, &end, c->name, buf_str(out), err);
}

int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	VEC(const char *) env = {0};
	int rc;

	for (size_t i = 0; i < COUNT(git_environment); i++)
		vec_push(&env, git_environment[i]);
	if (c->batch_ssh)
		vec_push(&env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes");
	for (const char *const *e = c->env; e && *e; e++)
		vec_push(&env, *e);
	vec_push(&env, NULL);
	rc = run(c, env.items, out ? out : &own, status, err);
	vec_release(&env);
	return rc;
}

/* *yes: the command's exit status is 0. */
static int ask_git(const struct git_command *c, bool *yes, struct error *err)
{
	int status = 1, rc = git_command(c, NULL, &status, err);

	*yes = status == 0;
	return rc;
}

/* ---- commits ---- */

/* Another git, perhaps one of ours that is being ended, may hold the index for a moment. */
static void await_index(const char *git_dir)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int64_t until = clock_ticks() + INDEX_LOCK_MS;
	CLEANUP(arena_release) struct arena a = {0};
	const char *lock = path_join(&a, git_dir, "index.lock");

	while (path_exists(lock) && clock_ticks() < until)
		nanosleep(&moment, NULL);
}

/* By git rather than by the library, so that filters (large files, line ends) apply. */
static int find_changes(const char *root, bool *any, struct error *err)
{
	static const char *const argv[] = {
		"git", "status", "--porcelain=v2", "--ignore-submodules=dirty", NULL};
	const struct git_command c = {.dir = root, .name = "git status", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;

	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	rest = buf_str(&out);
	*any = false;
	while (str_line(&rest, &line)) {
		if (str_starts(line, "u "))
			return error_set(err, ERR_STATE, "unresolved conflicts in '%s'", root);
		*any = *any || (line.n > 1 && strchr("12?", line.p[0]) && line.p[1] == ' ');
	}
	return 0;
}

static int branch_exists(const char *root, const char *branch, bool *exists, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *const argv[] = {"git", "show-ref", "--verify", "--quiet",
		arena_printf(&a, "refs/heads/%s", branch), NULL};

	return ask_git(&(struct git_command){.dir = root, .name = "git show-ref", .argv = argv},
		exists, err);
}

/* A branch of that name is ours from an earlier run: it is reused and fast-forwarded to where HEAD
 * was. */
static int switch_branch(
	const char *root, const struct git_head *h, const char *branch, struct error *err)
{
	const char *const create[] = {"git", "checkout", "-q", "-b", branch, NULL};
	const char *const reuse[] = {"git", "checkout", "-q", branch, "--", NULL};
	const char *const forward[] = {"git", "merge", "-q", "--ff-only", h->branch, NULL};
	struct git_command c = {.dir = root, .name = "git checkout"};
	bool exists;

	if (branch_exists(root, branch, &exists, err) < 0)
		return -1;
	c.argv = exists ? reuse : create;
	if (git_command(&c, NULL, NULL, err) < 0)
		return -1;
	if (!exists || !h->ahead)
		return 0;
	c.name = "git merge";
	c.argv = forward;
	return git_command(&c, NULL, NULL, err);
}

/* After `git add` there may be nothing to commit after all: line ends, for one. */
static int is_staged(const char *root, bool unborn, bool *any, struct error *err)
{
	static const char *const argv[] = {"git", "diff", "--cached", "--quiet", NULL};
	const struct git_command c = {.dir = root, .name = "git diff", .argv = argv};
	bool clean = false;

	if (!unborn && ask_git(&c, &clean, err) < 0)
		return -1;
	*any = !clean;
	return 0;
}

static int add_and_commit(
	const char *root, bool unborn, const char *message, bool *made, struct error *err)
{
	static const char *const add[] = {"git", "add", "-A", NULL};
	static const char *const commit[] = {"git", "-c", "gc.auto=0", "-c",
		"maintenance.auto=false", "commit", "-q", "-F", "-", NULL};
	const struct git_command adding = {.dir = root, .name = "git add", .argv = add};
	const struct git_command committing = {.dir = root,
		.name = "git commit",
		.argv = commit,
		.input = str_of(message),
		.limit_s = COMMIT_S};
	bool any;

	if (git_command(&adding, NULL, NULL, err) < 0 || is_staged(root, unborn, &any, err) < 0)
		return -1;
	if (!any)
		return 0;
	if (git_command(&committing, NULL, NULL, err) < 0)
		return -1;
	*made = true;
	return 0;
}

/* ---- the remote ---- */

/* An ssh command that the user has set stays as it is. */
static bool uses_plain_ssh(const struct git_head *h)
{
	return !h->own_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

/* `ref: refs/heads/trunk TAB HEAD` and, for each branch, `ID TAB refs/heads/NAME`. */
struct remote_refs {
	struct str head; /* its default branch; empty: not known */
	struct str tip;  /* commit of the requested branch; empty: there is no such branch */
	bool any;        /* it has branches */
};

static void parse_refs(struct str output, const char *branch, struct remote_refs *r)
{
	static const char head[] = "ref: refs/heads/", named[] = "\trefs/heads/";
	struct str line;

	while (str_line(&output, &line)) {
		size_t tab = str_find(line, STR("\t"));
		struct str first = str_sub(line, 0, tab), name = str_sub(line, tab, line.n);

		if (str_is(name, "\tHEAD") && str_starts(first, head))
			r->head = str_sub(first, strlen(head), first.n);
		if (!str_starts(name, named))
			continue;
		r->any = true;
		if (str_is(str_sub(name, strlen(named), name.n), branch))
			r->tip = first;
	}
}

static int head_is_in(const char *root, struct str commit, bool *yes, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *const argv[] = {
		"git", "merge-base", "--is-ancestor", "HEAD", arena_dup(&a, commit), NULL};

	return ask_git(&(struct git_command){.dir = root, .name = "git merge-base", .argv = argv},
		yes, err);
}

static int apply_refs(
	const char *root, struct str output, struct git_head *h, bool *known, struct error *err)
{
	struct remote_refs r = {0};
	bool pushed = false;

	parse_refs(output, h->branch, &r);
	*known = r.head.n || !r.any;
	if (!r.head.n || !r.tip.n || !str_is(r.head, h->branch))
		return 0;
	if (!h->unborn && head_is_in(root, r.tip, &pushed, err) < 0)
		return -1;
	h->on_default = true;
	h->ahead = !pushed;
	return 0;
}

/*
 * Asks the remote whether this branch is its default branch. If it does not say, it is treated as
 * one, except for branches that we create; an empty remote has no default branch to protect.
 */
static int resolve_default(const char *root, struct git_head *h, struct error *err)
{
	static const char *const argv[] = {
		"git", "ls-remote", "--symref", "origin", "HEAD", "refs/heads/*", NULL};
	const struct git_command c = {.dir = root,
		.name = "git ls-remote",
		.argv = argv,
		.limit_s = LIST_REMOTE_S,
		.batch_ssh = uses_plain_ssh(h)};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool known = false;
	int status = 0;

	if (!h->unsure || str_starts(str_of(h->branch), "dev-team/"))
		return 0;
	if (git_command(&c, &out, &status, err) == 0 && status == 0 &&
		apply_refs(root, buf_str(&out), h, &known, err) < 0)
		return -1;
	if (!known && !h->guessed)
		h->on_default = h->ahead = true;
	return 0;
}

int git_commit_all(
	const char *root, const char *branch, const char *message, bool *made, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct git_head h;
	bool any;

	*made = false;
	if (git_read_head(&a, root, &h, err) < 0)
		return -1;
	if (h.busy)
		return error_set(err, ERR_STATE, "a %s is in progress in '%s'", h.busy, root);
	await_index(h.git_dir);
	if (find_changes(root, &any, err) < 0 || resolve_default(root, &h, err) < 0)
		return -1;
	if (((h.on_default && (any || h.ahead)) || (!h.branch && any)) &&
		switch_branch(root, &h, branch, err) < 0)
		return -1;
	return any ? add_and_commit(root, h.unborn, message, made, err) : 0;
}

static int push_head(const char *root, const struct git_head *h, struct error *err)
{
	static const char *const argv[] = {
		"git", "-c", "gc.auto=0", "push", "-u", "origin", "HEAD", NULL};
	const struct git_command c = {.dir = root,
		.name = "git push",
		.argv = argv,
		.limit_s = NETWORK_S,
		.batch_ssh = uses_plain_ssh(h)};

	if (!h->branch)
		return error_set(err, ERR_STATE, "no branch is checked out in '%s'", root);
	if (h->unborn)
		return error_set(err, ERR_STATE, "no commit on branch '%s' yet", h->branch);
	if (h->on_default && h->unsure)
		return error_set(err, ERR_STATE,
			"'%s' may be the default branch of 'origin': nothing is pushed to it: run "
			"'git remote set-head origin --auto'",
			h->branch);
	if (h->on_default)
		return error_set(err, ERR_STATE,
			"'%s' is the default branch of 'origin': nothing is pushed to it",
			h->branch);
	return git_command(&c, NULL, NULL, err);
}

int git_push(const char *root, bool *skipped, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct git_head h;
	int rc = git_read_head(&a, root, &h, err);

	if (rc == 0 && h.branch && !h.unborn)
		rc = resolve_default(root, &h, err);
	*skipped = rc == 0 && (!h.origin || (h.on_default && !h.ahead));
	return rc == 0 && !*skipped ? push_head(root, &h, err) : rc;
}

/* ---- pull requests ---- */

enum { SOME_FAILED = 1, SOME_PENDING = 8 }; /* exit statuses of `gh pr checks` */

/* `name TAB state TAB time TAB url`, as gh writes without a terminal. */
static bool is_failed_check(struct str line)
{
	size_t tab = str_find(line, STR("\t"));
	struct str state = tab < line.n ? str_sub(line, tab + 1, line.n) : (struct str){0};

	state = str_sub(state, 0, str_find(state, STR("\t")));
	return str_is(state, "fail") || str_is(state, "cancel");
}

static void add_failed_checks(struct str output, struct buf *out)
{
	struct str line;

	while (str_line(&output, &line)) {
		if (!is_failed_check(line))
			continue;
		if (out->len)
			buf_addc(out, '\n');
		buf_add(out, line);
	}
}

static bool is_github(struct str url)
{
	return str_starts(url, "https://") && str_find(url, STR("/merge_requests/")) == url.n;
}

static int judge(const struct process *p, const struct process_end *end, struct buf *lines,
	struct error *err)
{
	struct str output = buf_str(p->out);

	add_failed_checks(output, lines);
	if (end->status == SOME_PENDING && !end->timed_out)
		return 0;
	if (end->status == SOME_FAILED && !end->timed_out &&
		(lines->len || str_find(output, STR("no checks reported")) < output.n))
		return 0;
	return process_check(p, end, "gh pr checks", output, err);
}

int git_failing_checks(
	struct arena *a, const char *root, const char *pr_url, char **text, struct error *err)
{
	const char *const argv[] = {"gh", "pr", "checks", pr_url, NULL};
	static const char *const env[] = {"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
		"NO_COLOR=1", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT, lines = BUF_INIT;
	struct process p = {.argv = argv,
		.cwd = root,
		.env = env,
		.output = -1,
		.out = &out,
		.out_max = CHECKS_MAX,
		.timeout_s = CHECKS_S};
	struct process_end end;

	*text = arena_dup(a, STR(""));
	if (!is_github(str_of(pr_url)))
		return 0;
	if (process_run(&p, &end, err) < 0)
		return end.missing ? 0 : -1;
	if (judge(&p, &end, &lines, err) < 0)
		return -1;
	buf_utf8_repair(&lines);
	*text = arena_dup(a, buf_str(&lines));
	return 0;
}
