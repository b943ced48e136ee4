/*
 * git_remote.c: what `origin` has, fetches, and pushes of the branch that is checked out.
 */
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	NETWORK_S = 120,
	LIST_REMOTE_S = 60,
	FETCH_S = 60,
	PUSH_FAILED = 1, /* exit status of `git push`: a refusal, or the connection broke */
};

/* *yes: the command's exit status is 0. */
static int git_remote_ask_git(const struct git_command *c, bool *yes, struct error *err)
{
	int status = 1, rc = git_command(c, NULL, &status, err);

	*yes = status == 0;
	return rc;
}

static bool git_remote_has(struct str text, const char *what)
{
	return str_find(text, str_of(what)) < text.n;
}

/* An ssh command that the user has set stays as it is. */
static bool uses_plain_ssh(const struct git_head *h)
{
	return !h->own_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

/* `ref: refs/heads/trunk TAB HEAD` and, for each branch, `ID TAB refs/heads/NAME`. */
struct remote_refs {
	struct str head; /* its default branch; empty: not known */
	struct str tip;  /* commit of the requested branch; empty: there is no such branch */
	struct str at;   /* commit of the default branch; empty: not known */
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
		else if (str_is(name, "\tHEAD"))
			r->at = first;
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

	return git_remote_ask_git(
		&(struct git_command){.dir = root, .name = "git merge-base", .argv = argv}, yes,
		err);
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

int git_read_remote_branch(struct arena *a, const char *root, const char *branch, const char **id,
	const char **others, struct error *err)
{
	const char *ref = arena_printf(a, "refs/heads/%s", branch);
	const char *const argv[] = {"git", "ls-remote", "origin", "HEAD", ref, NULL};
	const struct git_command c = {
		.dir = root, .name = "git ls-remote", .argv = argv, .limit_s = LIST_REMOTE_S};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct remote_refs r = {0};

	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	parse_refs(buf_str(&out), branch, &r);
	*id = r.tip.n ? arena_dup(a, r.tip) : NULL;
	*others = r.at.n ? arena_dup(a, r.at) : NULL;
	return 0;
}

/* `what`: a refspec, or a name on the remote, of which only the objects are fetched. */
static int fetch_from_origin(const char *root, const char *what, int *status, struct error *err)
{
	const char *const argv[] = {"git", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		"--refmap=", "origin", what, NULL};
	const struct git_command c = {.dir = root,
		.name = "git fetch",
		.argv = argv,
		.limit_s = FETCH_S,
		.late = true,
		.batch_ssh = !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH")};

	return git_command(&c, NULL, status, err);
}

int git_fetch_branch(const char *root, const char *branch, bool *fetched, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	int status = 0;

	*fetched = false;
	if (fetch_from_origin(root,
		    arena_printf(&a, "+refs/heads/%s:refs/remotes/origin/%s", branch, branch),
		    &status, err) < 0)
		return -1;
	*fetched = status == 0;
	return 0;
}

const char *git_fetch_newest(struct arena *a, const char *root)
{
	struct git_commit found = {0};
	const char *none, *newest;
	struct error ignored;
	int status;

	if (git_read_remote_branch(a, root, "HEAD", &none, &newest, &ignored) < 0 || !newest)
		return NULL;
	if (git_read_commits(a, root, &newest, 1, &found, &ignored) < 0 || found.id)
		return found.id;
	(void)fetch_from_origin(root, "HEAD", &status, &ignored);
	return git_read_commits(a, root, &newest, 1, &found, &ignored) < 0 ? NULL : found.id;
}

struct push_result {
	int status; /* exit status of `git push` */
	struct buf output;
};

/* `lease`: the commit that the remote's branch must have, to be replaced by another history; NULL:
 * the push must be a fast-forward. */
static int run_push(const char *root, const struct git_head *h, const char *lease,
	struct push_result *out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *argv[] = {"git", "-c", "gc.auto=0", "push", "--no-follow-tags",
		"--recurse-submodules=check", "origin", "HEAD",
		lease ? arena_printf(&a, "--force-with-lease=refs/heads/%s:%s", h->branch, lease)
		      : NULL,
		NULL};
	/* no translation: is_refusal() reads the output */
	static const char *const env[] = {"LANGUAGE=en", NULL};
	const struct git_command c = {.dir = root,
		.name = "git push",
		.argv = argv,
		.env = env,
		.limit_s = NETWORK_S,
		.batch_ssh = uses_plain_ssh(h)};

	buf_clear(&out->output);
	return git_command(&c, &out->output, &out->status, err);
}

/* The remote or a hook says no. Else git did not get as far as that: no network, no permission. */
static bool is_refusal(const struct push_result *p)
{
	struct str text = buf_str(&p->output);

	if (p->status != PUSH_FAILED)
		return false;
	return git_remote_has(text, "[rejected]") || git_remote_has(text, "[remote rejected]") ||
	       !(git_remote_has(text, "fatal: ") || git_remote_has(text, "RPC failed") ||
		       git_remote_has(text, "[remote failure]"));
}

#define NOWHERE "not be found on any remote:\n"

/* The branch refers to submodule commits that are on no remote. */
static int submodules_error(struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf paths = BUF_INIT;
	struct str rest = str_sub(text, str_find(text, STR(NOWHERE)) + strlen(NOWHERE), text.n),
		   line;

	while (str_line(&rest, &line) && str_starts(line, "  ")) {
		buf_adds(&paths, paths.len ? "', '" : "'");
		buf_add(&paths, str_trim(line));
	}
	return error_set(err, ERR_CHECK,
		"the branch names commits of the submodules %s' that are on none of their remotes: "
		"push them there first",
		paths.s);
}

static int push_error(const struct push_result *p, struct error *err)
{
	struct str text = buf_str(&p->output);

	if (p->status && git_remote_has(text, NOWHERE))
		return submodules_error(text, err);
	return git_check_status("git push", p->status, &p->output, is_refusal(p), err);
}

/* Commits that were pushed may have been amended or rebased since. If the remote has got others
 * meanwhile, the first refusal says more. */
static int push_branch(const char *root, const struct git_head *h, const char *lease,
	struct push_result *out, struct error *err)
{
	if (run_push(root, h, NULL, out, err) < 0)
		return -1;
	if (push_error(out, err) == 0)
		return 0;
	if (!lease || err->code != ERR_CHECK ||
		!git_remote_has(buf_str(&out->output), "[rejected]"))
		return -1;
	if (run_push(root, h, lease, out, err) < 0)
		return -1;
	return git_remote_has(buf_str(&out->output), "(stale info)") ? -1 : push_error(out, err);
}

static int push_head(
	const char *root, const struct git_head *h, const char *lease, struct error *err)
{
	struct push_result p = {0};
	int rc;

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
	rc = push_branch(root, h, lease, &p, err);
	buf_release(&p.output);
	return rc;
}

int git_push(const char *root, const char *lease, bool *skipped, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct git_head h;
	int rc = git_read_head(&a, root, &h, err);

	if (rc == 0 && h.branch && !h.unborn)
		rc = resolve_default(root, &h, err);
	*skipped = rc == 0 && (!h.origin || (h.on_default && !h.ahead));
	return rc == 0 && !*skipped ? push_head(root, &h, lease, err) : rc;
}
