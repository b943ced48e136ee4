#include <signal.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/said.h"

enum {
	OUTPUT_MAX = 16 << 20,
	LOCAL_S = 120,
	COMMIT_S = 600, /* hooks run tests */
	PUSH_S = 120,
	ASK_S = 60,
	INDEX_LOCK_MS = 5000,
};

struct call {
	const char *root;
	const char *name; /* for people */
	const char *const *argv;
	struct str input;
	unsigned timeout_s;
	bool batch_ssh;
	const char *const *more; /* more of the environment; may be NULL */
};

enum { MORE_MAX = 16 };

/*
 * No prompt, no editor, no window: an empty GIT_ASKPASS goes before core.askPass and leaves the
 * credential helpers alone. A caller's own GIT_DIR and the like (we may be run by a hook) do
 * not apply to this work tree. Commits are what they are: refs/replace and grafts, which anybody
 * who works in the repository can make, put nothing else in their place. TERM at our death: git
 * then takes its lock files away.
 */
static int run(const struct call *c, struct buf *out, int *status, struct error *err)
{
	const char *env[32 + MORE_MAX] = {"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
		"GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=", "SSH_ASKPASS",
		"SSH_ASKPASS_REQUIRE=never", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"GIT_COMMON_DIR", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH",
		"GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none"};
	size_t n = 0;
	struct process p = {.argv = c->argv,
		.cwd = c->root,
		.env = env,
		.input = c->input,
		.output = -1,
		.out = out,
		.out_max = OUTPUT_MAX,
		.timeout_s = c->timeout_s,
		.on_death = SIGTERM};
	struct process_end end;

	while (env[n])
		n++;
	if (c->batch_ssh)
		env[n++] = "GIT_SSH_COMMAND=ssh -oBatchMode=yes";
	for (size_t i = 0; c->more && c->more[i] && i < MORE_MAX; i++)
		env[n++] = c->more[i];
	if (process_run(&p, &end, err) < 0)
		return -1;
	if (status && !end.timed_out) {
		*status = end.status;
		return 0;
	}
	return said_check(&p, &end, c->name, buf_str(out), err);
}

int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err)
{
	const struct call call = {.root = c->dir,
		.name = c->name,
		.argv = c->argv,
		.timeout_s = c->limit_s,
		.more = c->env};
	CLEANUP(buf_release) struct buf own = BUF_INIT;

	return run(&call, out ? out : &own, status, err);
}

static int must(const struct call *c, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	return run(c, &out, NULL, err);
}

/* Another git, perhaps one of ours that is just being ended, may hold the index for a moment. */
static void await_index(const char *git_dir)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int64_t until = clock_ticks() + INDEX_LOCK_MS;
	struct arena a = {0};
	const char *lock = path_join(&a, git_dir, "index.lock");

	while (path_exists(lock) && clock_ticks() < until)
		nanosleep(&moment, NULL);
	arena_release(&a);
}

/* Git's own eyes rather than the library's: filters (large files, line ends) are then right. */
static int look_for_changes(const char *root, bool *any, struct error *err)
{
	static const char *const argv[] = {
		"git", "status", "--porcelain=v2", "--ignore-submodules=dirty", NULL};
	const struct call c = {
		.root = root, .name = "git status", .argv = argv, .timeout_s = LOCAL_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;

	if (run(&c, &out, NULL, err) < 0)
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

static int has_branch(const char *root, const char *branch, bool *there, struct error *err)
{
	struct arena a = {0};
	const char *const argv[] = {"git", "show-ref", "--verify", "--quiet",
		arena_printf(&a, "refs/heads/%s", branch), NULL};
	const struct call c = {
		.root = root, .name = "git show-ref", .argv = argv, .timeout_s = LOCAL_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0, rc = run(&c, &out, &status, err);

	*there = status == 0;
	arena_release(&a);
	return rc;
}

/* A branch of that name is ours from an earlier run: adopted, and brought up to where we were. */
static int leave_branch(
	const char *root, const struct git_head *h, const char *branch, struct error *err)
{
	const char *const make[] = {"git", "checkout", "-q", "-b", branch, NULL};
	const char *const adopt[] = {"git", "checkout", "-q", branch, "--", NULL};
	const char *const follow[] = {"git", "merge", "-q", "--ff-only", h->branch, NULL};
	struct call c = {.root = root, .name = "git checkout", .timeout_s = LOCAL_S};
	bool there;

	if (has_branch(root, branch, &there, err) < 0)
		return -1;
	c.argv = there ? adopt : make;
	if (must(&c, err) < 0)
		return -1;
	if (!there || !h->ahead)
		return 0;
	c.name = "git merge";
	c.argv = follow;
	return must(&c, err);
}

/* After `git add` there may be nothing after all: line ends, for one. */
static int something_staged(const char *root, bool unborn, bool *any, struct error *err)
{
	static const char *const argv[] = {"git", "diff", "--cached", "--quiet", NULL};
	const struct call c = {
		.root = root, .name = "git diff", .argv = argv, .timeout_s = LOCAL_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0;

	*any = true;
	if (unborn)
		return 0;
	if (run(&c, &out, &status, err) < 0)
		return -1;
	*any = status != 0;
	return 0;
}

static int commit_all(
	const char *root, bool unborn, const char *message, bool *made, struct error *err)
{
	static const char *const add[] = {"git", "add", "-A", NULL};
	static const char *const commit[] = {"git", "-c", "gc.auto=0", "-c",
		"maintenance.auto=false", "commit", "-q", "-F", "-", NULL};
	const struct call adding = {
		.root = root, .name = "git add", .argv = add, .timeout_s = LOCAL_S};
	const struct call committing = {.root = root,
		.name = "git commit",
		.argv = commit,
		.input = str_of(message),
		.timeout_s = COMMIT_S};
	bool any;

	if (must(&adding, err) < 0 || something_staged(root, unborn, &any, err) < 0)
		return -1;
	if (!any)
		return 0;
	if (must(&committing, err) < 0)
		return -1;
	*made = true;
	return 0;
}

/* What the user has set for ssh stays as it is. */
static bool plain_ssh(const struct git_head *h)
{
	return !h->own_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

/* `ref: refs/heads/trunk TAB HEAD` and, for each branch, `ID TAB refs/heads/NAME`. */
struct remote {
	struct str head; /* its default branch; empty: not told */
	struct str at;   /* the id there of the branch that was asked for; empty: it has none */
	bool any;        /* it has branches */
};

static void read_remote(struct str said, const char *branch, struct remote *r)
{
	static const char head[] = "ref: refs/heads/", named[] = "\trefs/heads/";
	struct str line;

	while (str_line(&said, &line)) {
		size_t tab = str_find(line, STR("\t"));
		struct str first = str_sub(line, 0, tab), name = str_sub(line, tab, line.n);

		if (str_is(name, "\tHEAD") && str_starts(first, head))
			r->head = str_sub(first, strlen(head), first.n);
		if (!str_starts(name, named))
			continue;
		r->any = true;
		if (str_is(str_sub(name, strlen(named), name.n), branch))
			r->at = first;
	}
}

/* Is all that we have there already? */
static int has_all(const char *root, struct str at, bool *all, struct error *err)
{
	struct arena a = {0};
	const char *const argv[] = {
		"git", "merge-base", "--is-ancestor", "HEAD", arena_dup(&a, at), NULL};
	const struct call c = {
		.root = root, .name = "git merge-base", .argv = argv, .timeout_s = LOCAL_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 1, rc = run(&c, &out, &status, err);

	*all = status == 0;
	arena_release(&a);
	return rc;
}

static int take_answer(
	const char *root, struct str said, struct git_head *h, bool *told, struct error *err)
{
	struct remote r = {0};
	bool all = false;

	read_remote(said, h->branch, &r);
	*told = r.head.n || !r.any;
	if (!r.head.n || !r.at.n || !str_is(r.head, h->branch))
		return 0;
	if (!h->unborn && has_all(root, r.at, &all, err) < 0)
		return -1;
	h->on_default = true;
	h->ahead = !all;
	return 0;
}

/*
 * Asks the remote whether this branch is its default one. In doubt it is, unless it is one of those
 * that we make; an empty remote has none to protect.
 */
static int settle_default(const char *root, struct git_head *h, struct error *err)
{
	static const char *const argv[] = {
		"git", "ls-remote", "--symref", "origin", "HEAD", "refs/heads/*", NULL};
	const struct call c = {.root = root,
		.name = "git ls-remote",
		.argv = argv,
		.timeout_s = ASK_S,
		.batch_ssh = plain_ssh(h)};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool told = false;
	int status = 0;

	if (!h->unsure || str_starts(str_of(h->branch), "dev-team/"))
		return 0;
	if (run(&c, &out, &status, err) == 0 && status == 0 &&
		take_answer(root, buf_str(&out), h, &told, err) < 0)
		return -1;
	if (!told && !h->guessed)
		h->on_default = h->ahead = true;
	return 0;
}

static int commit_rest(struct arena *a, const char *root, const char *branch, const char *message,
	bool *made, struct error *err)
{
	struct git_head h;
	bool any;

	if (git_look(a, root, &h, err) < 0)
		return -1;
	if (h.busy)
		return error_set(err, ERR_STATE, "a %s is in progress in '%s'", h.busy, root);
	await_index(h.git_dir);
	if (look_for_changes(root, &any, err) < 0 || settle_default(root, &h, err) < 0)
		return -1;
	if ((h.on_default && (any || h.ahead)) || (!h.branch && any)) {
		if (leave_branch(root, &h, branch, err) < 0)
			return -1;
	}
	return any ? commit_all(root, h.unborn, message, made, err) : 0;
}

int git_commit_rest(
	const char *root, const char *branch, const char *message, bool *made, struct error *err)
{
	struct arena a = {0};
	int rc;

	*made = false;
	rc = commit_rest(&a, root, branch, message, made, err);
	arena_release(&a);
	return rc;
}

static int push(const char *root, const struct git_head *h, struct error *err)
{
	static const char *const argv[] = {
		"git", "-c", "gc.auto=0", "push", "-u", "origin", "HEAD", NULL};
	const struct call c = {.root = root,
		.name = "git push",
		.argv = argv,
		.timeout_s = PUSH_S,
		.batch_ssh = plain_ssh(h)};

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
	return must(&c, err);
}

int git_push(const char *root, bool *skipped, struct error *err)
{
	struct arena a = {0};
	struct git_head h;
	int rc = git_look(&a, root, &h, err);

	if (rc == 0 && h.branch && !h.unborn)
		rc = settle_default(root, &h, err);
	*skipped = rc == 0 && (!h.origin || (h.on_default && !h.ahead));
	if (rc == 0 && !*skipped)
		rc = push(root, &h, err);
	arena_release(&a);
	return rc;
}
