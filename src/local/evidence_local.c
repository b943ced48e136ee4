/* evidence_local.c: collects evidence in the item's place from git, its remote and the forge. */
#include "src/local/local.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { COMMAND_S = 120, SHORT_ID = 12, ABBREVIATION = 4, FAULT_MAX = 1000 };

struct collector {
	struct arena *arena;
	const struct evidence_query *query;
	struct evidence *out;
	const char *dir, *branch; /* branch: that is checked out */
	const char *upstream;     /* last known commit of the remote's default branch; NULL: none */
	struct git_remotes remotes;
	struct git_identity now;
	const char *newest; /* commit of the remote's default branch that is trusted; NULL: none */
	bool replaced;      /* a program of the workflow */
	bool missing;       /* the branch, on the remote */
	const char *copied; /* a commit of the remote's default branch with the files of HEAD */
	bool merged;        /* the pull request, with HEAD as its head */
};

/* Records a contradiction. The first of each kind is kept. */
static int add_contradiction(struct collector *c, unsigned kinds, const char *fault)
{
	unsigned asked = c->query->kinds;

	asked |= asked & EVIDENCE_SHOWN ? EVIDENCE_REVIEW : 0; /* both are about HEAD */
	fault = arena_printable(c->arena, str_of(fault), FAULT_MAX);
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if ((kinds & asked) >> i & 1 && !c->out->faults[i])
			c->out->faults[i] = fault;
	return 0;
}

#define REFUTE(c, kinds, ...) add_contradiction(c, kinds, arena_printf((c)->arena, __VA_ARGS__))

/* ---- the work tree ---- */

/* Damage is a contradiction, not an error, because the agent can repair it. */
static int add_damage(struct collector *c, struct error *err)
{
	if (err->code != ERR_CHECK)
		return -1;
	(void)add_contradiction(c, EVIDENCE_ALL, err->text);
	*err = (struct error){0};
	return 0;
}

static int evidence_local_read_head(struct collector *c, struct error *err)
{
	struct git_tip tip;

	if (git_read_tip(c->arena, c->dir, &tip, err) < 0)
		return add_damage(c, err);
	c->branch = tip.branch;
	c->out->head = tip.commit;
	return 0;
}

static int evidence_local_check_branch(struct collector *c)
{
	const char *want = c->query->place->branch;

	if (!c->out->head)
		return add_contradiction(c, EVIDENCE_ALL, "the branch has no commit");
	if (!c->branch && !want && c->query->kinds == EVIDENCE_SHOWN)
		return 0; /* it was so when the item began */
	if (!c->branch)
		return add_contradiction(
			c, EVIDENCE_ALL, "HEAD is detached: switch to the item's branch");
	if (want && strcmp(want, c->branch) != 0)
		return REFUTE(c, EVIDENCE_ALL, "HEAD is on the branch '%s', not on '%s'", c->branch,
			want);
	return 0;
}

/* ---- the repository ---- */

static bool evidence_local_has_setting(const struct git_identity *id, const char *setting)
{
	for (size_t i = 0; i < id->settings.n; i++)
		if (strcmp(id->settings.items[i], setting) == 0)
			return true;
	return false;
}

/* Agents can write the files that identify the repository and its remote. *elsewhere: they have
 * changed, so no other check is possible. */
static int evidence_local_check_identity(struct collector *c, bool *elsewhere, struct error *err)
{
	const struct git_identity *was = &c->query->place->identity;
	struct git_identity *now = &c->now;

	*elsewhere = false;
	if (!was->directory)
		return 0;
	if (git_read_identity(c->arena, c->dir, now, err) < 0)
		return -1;
	*elsewhere = true;
	if (!now->directory || strcmp(now->directory, was->directory) != 0)
		return REFUTE(c, EVIDENCE_ALL,
			"'%s' is no longer the worktree of the repository '%s'", c->dir,
			was->directory);
	for (size_t i = 0; i < now->settings.n; i++)
		if (!evidence_local_has_setting(was, now->settings.items[i]))
			return REFUTE(c, EVIDENCE_ALL,
				"the repository's configuration has changed since the item began: "
				"undo the addition of '%s'",
				now->settings.items[i]);
	for (size_t i = 0; i < was->settings.n; i++)
		if (!evidence_local_has_setting(now, was->settings.items[i]))
			return REFUTE(c, EVIDENCE_ALL,
				"the repository's configuration has changed since the item began: "
				"undo the removal of '%s'",
				was->settings.items[i]);
	*elsewhere = false;
	return 0;
}

/* *own: git reported the file as modified when the worktree was created, for example because of its
 * line endings, and no commit has changed it since; or, in the checkout, the user had changed it.
 */
static int evidence_local_is_own(
	struct collector *c, const char *path, bool *own, struct error *err)
{
	const struct item_place *p = c->query->place;
	const char *touched = NULL;

	*own = place_was_dirty(p, path);
	if (!*own || p->in_place)
		return 0;
	if (git_find_touched(c->arena, c->dir, p->base, &path, 1, &touched, err) < 0)
		return -1;
	*own = !touched;
	return 0;
}

/* Until a script is requested, only agents and the hooks of their commits make files. */
static bool evidence_local_is_fresh(const struct collector *c)
{
	const struct item_place *p = c->query->place;

	return c->query->kinds & EVIDENCE_WORK && p->fresh && !p->in_place;
}

/* What an approval would be for, although the person has not seen it. */
static int check_seen(struct collector *c, const struct git_status *s)
{
	bool gone = false;
	const char *path = c->query->kinds & EVIDENCE_SHOWN
				   ? place_find_unseen(c->arena, c->query->place, s, &gone)
				   : NULL;

	if (gone)
		return add_contradiction(c, EVIDENCE_REVIEW,
			"a file that was not committed when the approval was requested has been "
			"removed or restored since: approve what is there now");
	return path ? REFUTE(c, EVIDENCE_REVIEW,
			      "'%s' has changed since the approval was requested and is not "
			      "committed: commit it, remove or restore it, have git ignore it, or "
			      "approve it as it is now",
			      path)
		    : 0;
}

#define IN_SUBMODULE "the submodule '%s' has uncommitted files"

/* Starts git only if the state of the files matters and cannot be read from the index. */
static int check_changes(struct collector *c, struct error *err)
{
	const char *tree;
	struct git_status s = {0};

	if (!(c->query->kinds & (EVIDENCE_WORK | EVIDENCE_TREE | EVIDENCE_SHOWN)))
		return 0;
	tree = git_unchanged_tree(
		c->arena, c->dir, evidence_local_is_fresh(c) || c->query->kinds & EVIDENCE_SHOWN);
	if (tree && c->out->tree && strcmp(tree, c->out->tree) == 0)
		return check_seen(c, &s);
	if (git_read_status(c->arena, c->dir, &s, err) < 0)
		return add_damage(c, err);
	if (!s.head || strcmp(s.head, c->out->head) != 0)
		return add_contradiction(c, EVIDENCE_WORK | EVIDENCE_TREE | EVIDENCE_REVIEW,
			"HEAD changed during the check");
	(void)check_seen(c, &s);
	for (size_t i = 0; i < s.changes.n; i++) {
		const struct git_change *change = &s.changes.items[i];
		bool own = change->untracked;

		if (own && evidence_local_is_fresh(c))
			return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
				change->inside ? IN_SUBMODULE
					       : "'%s' is not committed: commit it, remove it, or "
						 "have git ignore "
						 "it",
				change->path);
		if (!own && evidence_local_is_own(c, change->path, &own, err) < 0)
			return -1;
		if (!own)
			return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
				change->inside ? IN_SUBMODULE : "'%s' has uncommitted changes",
				change->path);
	}
	return 0;
}

/* Files that a sparse work tree leaves out are not validated, so commits must not change them. What
 * the default branch of the remote has brought does not count. */
static int evidence_local_check_hidden(
	struct collector *c, const struct git_hidden *h, struct error *err)
{
	const char *base = c->query->place->base, *head = c->out->head, *found, *fork = NULL;

	if (!h->skipped.n || !head)
		return 0;
	if (c->upstream)
		fork = git_fork_point(c->arena, c->dir, head, c->upstream);
	if (!fork && !base)
		return 0;
	if (git_find_differing(c->arena, c->dir, fork ? fork : base, head, h->skipped.items,
		    h->skipped.n, &found, err) < 0)
		return -1;
	return found ? REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
			       "the commits change '%s', which the sparse checkout leaves out: add "
			       "it with 'git sparse-checkout'",
			       found)
		     : 0;
}

/* The first that did not exist when the item began in the checkout, where such files are the user's
 * choice. */
static const char *first_new(struct collector *c, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!place_was_hidden(c->query->place, paths[i]))
			return paths[i];
	return NULL;
}

/* Files that `git status` skips. */
static int check_hidden(struct collector *c, struct error *err)
{
	const char *path, *attributes, *submodule;
	struct git_hidden h;
	bool there = false;

	if (c->out->faults[0] || c->out->faults[1] ||
		!(c->query->kinds & (EVIDENCE_WORK | EVIDENCE_TREE)))
		return 0;
	if (!c->query->place->in_place &&
		path_check_exists(path_join(c->arena, c->dir, GIT_WORKTREES), &there, err) < 0)
		return -1;
	if (there)
		return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
			"git does not see the files in '" GIT_WORKTREES
			"', which is for worktrees: move or remove them");
	if (git_find_hidden(c->arena, c->dir, place_is_sparse(c->query->place), &h, err) < 0)
		return -1;
	path = first_new(c, h.paths.items, h.paths.n);
	attributes = first_new(c, h.attributes.items, h.attributes.n);
	submodule = first_new(c, h.submodules.items, h.submodules.n);
	if (path)
		return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
			"the index hides changes of '%s': run 'git update-index "
			"--no-assume-unchanged --no-skip-worktree' on it",
			path);
	if (attributes)
		return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
			"'%s' is not committed, but changes how files are committed: commit it or "
			"remove it",
			attributes);
	if (submodule)
		return REFUTE(c, EVIDENCE_WORK | EVIDENCE_TREE,
			"git does not see the files in '%s', a submodule without a repository: "
			"remove them, or take the submodule out of the index ('git rm -q --cached "
			"%s') and commit the files",
			submodule, submodule);
	return evidence_local_check_hidden(c, &h, err);
}

/* ---- commits ---- */

/* Names a new file that the user's own settings have git ignore, and no `.gitignore` of the
 * repository: an agent that commits all, and the machine too, leave it behind. NULL: none. */
static const char *find_left_behind(struct collector *c)
{
	static const char *const argv[] = {
		"git", "ls-files", "--others", "-z", "--exclude-per-directory=.gitignore", NULL};
	static const char *const rules[] = {"git", "check-ignore", "-z", "--stdin", NULL};
	const struct git_command list = {.dir = c->dir, .name = "git ls-files", .argv = argv};
	struct git_command check = {.dir = c->dir, .name = "git check-ignore", .argv = rules};
	CLEANUP(buf_release) struct buf all = BUF_INIT, out = BUF_INIT;
	struct error ignored;

	if (c->query->place->in_place || git_command(&list, &all, NULL, &ignored) < 0 || !all.len)
		return NULL;
	check.input = buf_str(&all);
	if (git_command(&check, &out, NULL, &ignored) < 0 || !out.len)
		return NULL;
	return arena_printf(c->arena, /* each ends with a NUL */
		"git ignores '%s' by a setting of the user's, not of the repository: if it belongs "
		"to the work, commit it ('git add -f')",
		arena_printable(c->arena, str_of(out.s), FAULT_MAX));
}

/* The branch must have commits that `from` lacks, and different files. `what`: for the message. */
static int check_difference(
	struct collector *c, const struct git_commit *from, const char *what, struct error *err)
{
	const char *left;
	size_t n;

	if (!from->id)
		return 0;
	if (git_count_commits(c->dir, from->id, c->out->head, &n, err) < 0)
		return -1;
	left = n ? NULL : find_left_behind(c);
	if (left)
		return REFUTE(c, EVIDENCE_WORK, "the branch '%s' has no commits beyond %s, and %s",
			c->branch ? c->branch : "", what, left);
	if (!n)
		return REFUTE(c, EVIDENCE_WORK, "the branch '%s' has no commits beyond %s",
			c->branch ? c->branch : "", what);
	if (from->tree && strcmp(from->tree, c->out->tree) == 0)
		return REFUTE(c, EVIDENCE_WORK,
			"the commits of the branch '%s' beyond %s change no file",
			c->branch ? c->branch : "", what);
	return 0;
}

/* The branch must contain its base. If the remote's default branch was rewritten and no longer
 * contains the base, the branch may begin at their merge base. */
static int check_descent(struct collector *c, const char *base, const char *fork, struct error *err)
{
	size_t n, lacks = 0;

	if (git_count_commits(c->dir, c->out->head, base, &n, err) < 0 ||
		(n && fork && git_count_commits(c->dir, c->upstream, base, &lacks, err) < 0))
		return -1;
	return n && !lacks ? REFUTE(c, EVIDENCE_WORK, "the branch does not contain its base %.*s",
				     SHORT_ID, base)
			   : 0;
}

/* Commits that are on another branch of the remote, or of another item, are somebody else's work.
 * So is a merge of them that changes nothing more. */
static int check_own(struct collector *c, struct error *err)
{
	struct git_history since;
	bool others = false;

	if (git_list_history(c->arena, c->dir, c->query->place->base, c->out->head, &since, err) <
		0)
		return -1;
	for (size_t i = 0; i < since.list.n && !others; i++)
		if (strcmp(since.list.items[i].tree, c->out->tree) == 0 &&
			git_is_on_other_branch(
				c->dir, since.list.items[i].id, c->branch, &others, err) < 0)
			return -1;
	return others ? REFUTE(c, EVIDENCE_WORK,
				"the branch '%s' has no commits that are not on another branch of "
				"its remote or of another item, or they change no file",
				c->branch ? c->branch : "")
		      : 0;
}

static int check_commits(struct collector *c, const struct git_commit *found, struct error *err)
{
	const char *base = c->query->place->base, *since = c->query->since;
	const char *fork =
		c->upstream ? git_fork_point(c->arena, c->dir, c->out->head, c->upstream) : NULL;
	struct git_commit forked = {0};

	if (base &&
		(check_descent(c, base, fork, err) < 0 ||
			check_difference(c, &found[0],
				arena_printf(c->arena, "its base %.*s", SHORT_ID, base), err) < 0))
		return -1;
	if (since && check_difference(c, &found[1],
			     arena_printf(c->arena, "%.*s, its commit when this was requested",
				     SHORT_ID, since),
			     err) < 0)
		return -1;
	if (!since)
		return 0;
	if (!c->out->faults[0])
		c->out->left = find_left_behind(c);
	if (check_own(c, err) < 0)
		return -1;
	if (!fork)
		return 0;
	if (git_read_commits(c->arena, c->dir, &fork, 1, &forked, err) < 0)
		return -1;
	return check_difference(c, &forked, "the default branch of 'origin'", err);
}

/* `id` may be shorter, as git abbreviates it. */
static bool evidence_local_is_id(const char *id, const char *commit)
{
	size_t n = strlen(id);

	return n >= ABBREVIATION && n == strspn(id, "0123456789abcdefABCDEF") &&
	       strncasecmp(id, commit, n) == 0;
}

/* *own: exactly one commit that was made since the work was requested has that id, and it is on no
 * other branch of the remote or of another item. */
static int find_named(struct collector *c, const char *id, bool *own, struct error *err)
{
	const char *since = c->query->since ? c->query->since : c->query->place->base,
		   *found = NULL;
	struct git_history all;
	bool others = false;
	size_t n = 0;

	*own = false;
	if (git_list_history(c->arena, c->dir, since, c->out->head, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.list.n; i++)
		if (evidence_local_is_id(id, all.list.items[i].id)) {
			found = all.list.items[i].id;
			n++;
		}
	if (n == 1 && git_is_on_other_branch(c->dir, found, c->branch, &others, err) < 0)
		return -1;
	*own = n == 1 && !others;
	return 0;
}

/* The commit that an answer names as its work, or as what it approves. */
static int check_named(struct collector *c, const struct evidence_named *named, struct error *err)
{
	const char *reviewed = c->query->reviewed;
	bool own;

	if (!c->out->head)
		return 0;
	if (named->kinds & EVIDENCE_REVIEW && !evidence_local_is_id(named->commit, c->out->head) &&
		!(reviewed && evidence_local_is_id(named->commit, reviewed)))
		return REFUTE(c, EVIDENCE_REVIEW,
			"'commitSha' is '%.60s', which is not the commit that was to be reviewed: "
			"HEAD is %.*s",
			named->commit, SHORT_ID, c->out->head);
	if (!(named->kinds & EVIDENCE_WORK))
		return 0;
	if (find_named(c, named->commit, &own, err) < 0)
		return -1;
	return own ? 0
		   : REFUTE(c, EVIDENCE_WORK,
			     "'commitSha' is '%.60s', which is no commit of the branch '%s' that "
			     "was "
			     "made since this was requested: HEAD is %.*s",
			     named->commit, c->branch ? c->branch : "", SHORT_ID, c->out->head);
}

static int check_kept(struct collector *c, struct error *err)
{
	const char *fault;

	if (place_check_commits(c->arena, c->query->place, &fault, err) < 0)
		return -1;
	return fault ? add_contradiction(c, EVIDENCE_WORK, fault) : 0;
}

static int read_commits(struct collector *c, struct error *err)
{
	const char *base = c->query->place->base, *since = c->query->since, *head = c->out->head;
	const char *names[] = {head, base ? base : head, since ? since : head, head};
	bool work = c->query->kinds & EVIDENCE_WORK;
	struct git_commit found[COUNT(names)];
	struct git_default of;

	if (!head || !c->query->kinds)
		return 0;
	if (git_read_default(c->arena, c->dir, &of, err) < 0)
		return add_damage(c, err);
	if (of.remote)
		names[3] = of.ref;
	if (git_read_commits(c->arena, c->dir, names, COUNT(names), found, err) < 0)
		return add_damage(c, err);
	c->out->tree = found[0].tree;
	c->upstream = of.remote ? found[3].id : NULL;
	if (check_changes(c, err) < 0 || (work && check_kept(c, err) < 0))
		return -1;
	if (work && check_commits(c, found + 1, err) < 0)
		return -1;
	for (size_t i = 0; i < c->query->named.n; i++)
		if (check_named(c, &c->query->named.items[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the remote ---- */

static bool has_origin(const struct git_remotes *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (strcmp(r->list.items[i].name, "origin") == 0)
			return true;
	return false;
}

/* A branch without changes has the files of the commit where it has left the default branch. If
 * that is HEAD, the branch was merged, unless the default branch is there too. `tip` may not be
 * known here. */
static int find_copied(struct collector *c, const char *tip, struct error *err)
{
	bool same = strcmp(tip, c->out->head) == 0;
	const char *fork = same ? tip : git_fork_point(c->arena, c->dir, c->out->head, tip);
	struct git_commit at = {0};

	if (!fork || (!same && strcmp(fork, c->out->head) == 0))
		return 0;
	if (git_read_commits(c->arena, c->dir, &fork, 1, &at, err) < 0)
		return -1;
	if (at.tree && c->out->tree && strcmp(at.tree, c->out->tree) == 0)
		c->copied = fork;
	return 0;
}

/* The changes since the branch has left the default branch, which a rebase keeps. */
static const char *digest_changes(struct collector *c, const char *commit, const char **base)
{
	const char *fork = c->newest ? git_fork_point(c->arena, c->dir, commit, c->newest) : NULL;
	char digest[GIT_PATCH_TEXT];

	*base = fork ? fork : c->query->place->base;
	if (!*base)
		return NULL;
	git_patch_digest(c->dir, *base, commit, digest);
	return *digest ? arena_dup(c->arena, str_of(digest)) : NULL;
}

static void read_changes(struct collector *c)
{
	const char *reviewed = c->query->reviewed, *base, *patch;

	if (!(c->query->kinds & (EVIDENCE_REVIEW | EVIDENCE_SHOWN)) || !c->out->head)
		return;
	c->out->patch = digest_changes(c, c->out->head, &c->out->base);
	if (!reviewed || !c->out->patch || strcmp(reviewed, c->out->head) == 0)
		return;
	patch = digest_changes(c, reviewed, &base);
	if (patch && strcmp(patch, c->out->patch) == 0)
		c->out->same_as = arena_dup(c->arena, str_of(reviewed));
}

/* The default branch contains HEAD, and more; or, after a squash or a rebase, the changes of the
 * branch in one commit, or in as many. The claims decide whether that is approved work. Where it is
 * at HEAD itself, that was landed if it was reviewed. */
static void evidence_local_find_landed(struct collector *c, const char *tip)
{
	const char *head = c->out->head, *commit = NULL, *reviewed = c->query->reviewed;
	bool same = strcmp(tip, head) == 0;
	struct error ignored;

	if (!c->query->confirmed || (same && !(reviewed && strcmp(reviewed, head) == 0)))
		return;
	(void)git_find_landed(c->arena, c->dir, head, tip, NULL, &commit, &ignored);
	c->out->landed = commit && strcmp(commit, head) == 0 ? tip : commit;
}

/* Somebody may have merged the branch and deleted it: the commit of the default branch that tells
 * may not be here yet. */
static int fetch_newest(struct collector *c, const char *tip, struct error *err)
{
	struct git_default known;
	bool fetched;

	if (git_fork_point(c->arena, c->dir, c->out->head, tip))
		return 0;
	if (git_read_default(c->arena, c->dir, &known, err) < 0)
		return -1;
	return known.remote ? git_fetch_branch(c->dir, known.branch, &fetched, err) : 0;
}

/* A landing has pushed what it rebased to the branch too. */
static bool is_landed(struct collector *c, const char *remote)
{
	return c->out->landed && strcmp(c->out->landed, remote) == 0;
}

static int read_remote(struct collector *c, struct error *err)
{
	const char *remote, *others;

	c->newest = c->upstream;
	if (!(c->query->kinds & (EVIDENCE_PULL | EVIDENCE_REVIEW)))
		return 0;
	if (git_read_remotes(c->arena, c->dir, &c->remotes, err) < 0)
		return -1;
	/* The git library treats an unreadable configuration as an empty one. */
	if (!has_origin(&c->remotes) && has_origin(&c->now.remotes))
		return error_set(err, ERR_SYSTEM, "cannot read the remotes of '%s'", c->dir);
	if (!c->branch || !c->out->head || !has_origin(&c->remotes))
		return 0;
	if (git_read_remote_branch(c->arena, c->dir, c->branch, &remote, &others, err) < 0)
		return -1;
	c->missing = !remote;
	c->newest = others;
	if (others && c->missing && c->query->confirmed && fetch_newest(c, others, err) < 0)
		return -1;
	if (others && find_copied(c, others, err) < 0)
		return -1;
	if (others)
		evidence_local_find_landed(c, others);
	if (remote && strcmp(remote, c->out->head) != 0 && !is_landed(c, remote))
		return REFUTE(c, EVIDENCE_PULL | EVIDENCE_REVIEW,
			"the remote has the branch '%s' at %.*s, but HEAD is %.*s", c->branch,
			SHORT_ID, remote, SHORT_ID, c->out->head);
	return 0;
}

/* ---- programs ---- */

/* A changed program contradicts WORK as well, because the developer can undo the change. `kinds`:
 * the claims that rely on it. */
static int evidence_local_check_program(
	struct collector *c, const char *command, unsigned kinds, struct error *err)
{
	const char *fault;

	if (!command || !c->out->head || !(c->query->kinds & (kinds | EVIDENCE_WORK)))
		return 0;
	if (evidence_check_programs(c->arena, c->query->place, c->newest, command, &fault, err) < 0)
		return -1;
	c->replaced |= fault != NULL;
	return fault ? add_contradiction(c, kinds | EVIDENCE_WORK, fault) : 0;
}

static int evidence_local_check_programs(struct collector *c, struct error *err)
{
	if (evidence_local_check_program(c, c->query->forge, EVIDENCE_PULL, err) < 0 ||
		evidence_local_check_program(c, c->query->later, EVIDENCE_COMMAND, err) < 0)
		return -1;
	for (size_t i = 0; i < c->query->commands.n; i++)
		if (evidence_local_check_program(
			    c, c->query->commands.items[i], EVIDENCE_COMMAND, err) < 0)
			return -1;
	return 0;
}

/* ---- the pull request ---- */

/* Some forges shorten ids. */
static bool is_id_of(const char *id, const char *commit)
{
	size_t n = strlen(id);

	return commit && n >= SHORT_ID && strncasecmp(id, commit, n) == 0;
}

static int check_view(struct collector *c, const struct forge_view *v, const char *url)
{
	bool merged;

	if (!v->tool) /* only the remote can be checked */
		return 0;
	if (v->missing)
		return REFUTE(c, EVIDENCE_PULL, "the pull request '%s' does not exist", url);
	merged = strcmp(v->state, "merged") == 0 && c->query->confirmed &&
		 strcmp(url, c->query->confirmed) == 0;
	if (!merged && strcmp(v->state, "open") != 0)
		return REFUTE(
			c, EVIDENCE_PULL, "the pull request '%s' is %s, not open", url, v->state);
	if (!c->branch || strcmp(v->branch, c->branch) != 0)
		return REFUTE(c, EVIDENCE_PULL,
			"the pull request '%s' is of the branch '%s', not of '%s'", url, v->branch,
			c->branch ? c->branch : "");
	c->merged = merged && is_id_of(v->head, c->out->head);
	if (c->merged || is_id_of(v->head, c->out->head))
		return 0;
	return REFUTE(c, EVIDENCE_PULL, "the pull request '%s' %s at %.*s, but HEAD is %.*s%s", url,
		merged ? "was merged" : "is", SHORT_ID, v->head, SHORT_ID,
		c->out->head ? c->out->head : "",
		merged ? ": open one for the rest of the branch and name it with 'dev-team context "
			 "set FILE pr_url'"
		       : "");
}

static bool had_remote(const struct git_identity *was, const char *url)
{
	for (size_t i = 0; i < was->remotes.list.n; i++)
		if (strcmp(was->remotes.list.items[i].url, url) == 0)
			return true;
	return false;
}

/* Agents can add remotes, so only those of the time when the item began count. For origin the URL
 * in the configuration counts: `insteadOf` may rewrite it to a path, which has no host. */
static bool evidence_local_is_of(
	const struct collector *c, const struct forge_pull *p, const struct git_remote *remote)
{
	const char *written = NULL;

	for (size_t i = 0; i < c->now.remotes.list.n; i++) {
		const struct git_remote *r = &c->now.remotes.list.items[i];

		if (strcmp(r->name, remote->name) != 0)
			continue;
		if (!had_remote(&c->query->place->identity, r->url))
			return false;
		written = r->url;
	}
	if (written && forge_pull_is_of(p, str_of(written)))
		return true;
	return (!written || strcmp(remote->name, "origin") != 0) &&
	       forge_pull_is_of(p, str_of(remote->url));
}

static bool is_of_a_remote(const struct collector *c, const struct forge_pull *p)
{
	for (size_t i = 0; i < c->remotes.list.n; i++)
		if (evidence_local_is_of(c, p, &c->remotes.list.items[i]))
			return true;
	return false;
}

static int refute_foreign(struct collector *c, const char *url)
{
	struct error ignored;
	char *slug;
	bool named = git_slug(c->arena, c->dir, &slug, &ignored) == 0;

	return REFUTE(c, EVIDENCE_PULL,
		"the pull request '%s' does not belong to a repository that was a remote when the "
		"item began%s%s%s",
		url, named ? ", as 'origin', '" : "", named ? slug : "", named ? "', was" : "");
}

static int evidence_local_check_pull(struct collector *c, struct error *err)
{
	const char *url = c->query->pr_url;
	struct forge_view view;
	struct forge_pull p;

	if (!(c->query->kinds & EVIDENCE_PULL))
		return 0;
	if (!url || !forge_find_pull(str_of(url), &p))
		return add_contradiction(c, EVIDENCE_PULL,
			"there is no pull request: the answer must contain its URL");
	url = arena_dup(c->arena, p.url);
	if (!is_of_a_remote(c, &p))
		return refute_foreign(c, url);
	if (c->replaced)
		return 0;
	if (forge_view(c->arena, c->dir, &p, c->query->forge, &view, err) < 0)
		return error_prefix(err, "cannot verify the pull request '%s'", url);
	return check_view(c, &view, url);
}

/* After a merge the default branch contains the commits, and the forge may have deleted the branch.
 */
static void check_unmerged(struct collector *c)
{
	if (c->merged || c->out->landed)
		return;
	if (c->copied && strcmp(c->copied, c->out->head) == 0)
		(void)add_contradiction(c, EVIDENCE_PULL,
			"HEAD is the default branch of 'origin': there are no commits beyond it");
	else if (c->copied)
		(void)REFUTE(c, EVIDENCE_PULL | EVIDENCE_REVIEW,
			"the commits of the branch beyond %.*s of the default branch of 'origin' "
			"change no file",
			SHORT_ID, c->copied);
	if (c->missing)
		(void)REFUTE(c, EVIDENCE_PULL | EVIDENCE_REVIEW,
			"the branch '%s' is not on the remote 'origin'", c->branch);
}

/* ---- commands ---- */

static int evidence_local_run_command(struct collector *c, const char *command, struct error *err)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const struct process p = {.argv = argv,
		.cwd = c->dir,
		.output = -1,
		.out = &out,
		.out_max = 1 << 16,
		.timeout_s = COMMAND_S};
	struct process_end end;
	struct error why = {0};

	if (process_run(&p, &end, err) < 0)
		return -1;
	if (process_check(&p, &end, command, buf_str(&out), &why) == 0)
		return 0;
	return add_contradiction(c, EVIDENCE_COMMAND, why.text);
}

int evidence_collect(
	struct arena *a, const struct evidence_query *q, struct evidence *out, struct error *err)
{
	struct collector c = {.arena = a, .query = q, .out = out, .dir = q->place->directory};
	bool elsewhere;

	*out = (struct evidence){0};
	if (evidence_local_check_identity(&c, &elsewhere, err) < 0)
		return -1;
	if (elsewhere && q->kinds)
		return 0;
	if (evidence_local_read_head(&c, err) < 0)
		return -1;
	evidence_local_check_branch(&c);
	if (read_commits(&c, err) < 0 || check_hidden(&c, err) < 0 || read_remote(&c, err) < 0 ||
		evidence_local_check_programs(&c, err) < 0 ||
		evidence_local_check_pull(&c, err) < 0)
		return -1;
	check_unmerged(&c);
	read_changes(&c);
	for (size_t i = 0; i < q->commands.n && !c.replaced; i++)
		if (evidence_local_run_command(&c, q->commands.items[i], err) < 0)
			return -1;
	return 0;
}

/* ---- what cannot be verified ---- */

static bool evidence_local_is_installed(struct arena *a, const char *program)
{
	bool blocked;

	return path_find_program(a, program, &blocked) != NULL;
}

#define ONLY_REMOTE                                                                                \
	": only the repository of a pull request, and its branch on the remote, are verified; "
#define NAME_FORGE "name a 'forge' command in the workflow"

const char *evidence_limits(
	struct arena *a, const struct workflow *w, unsigned kinds, const char *repo)
{
	CLEANUP(buf_release) struct buf origin = BUF_INIT;
	struct git_remotes remotes = {0};
	const char *url = "", *program;
	struct error ignored;
	bool plain = git_config_origin(repo, &origin);

	if (!(kinds & EVIDENCE_PULL) ||
		(!plain && git_read_remotes(a, repo, &remotes, &ignored) < 0))
		return NULL;
	if (plain)
		url = arena_dup(a, buf_str(&origin));
	else if (!remotes.list.n)
		return "there is no remote: no pull request can be verified";
	for (size_t i = 0; i < remotes.list.n; i++)
		if (!i || strcmp(remotes.list.items[i].name, "origin") == 0)
			url = remotes.list.items[i].url;
	program = forge_program(str_of(url));
	if ((w && w->forge) || (program ? *program && evidence_local_is_installed(a, program)
					: evidence_local_is_installed(a, "gh") ||
						       evidence_local_is_installed(a, "glab")))
		return NULL;
	if (!program)
		return "neither 'gh' nor 'glab' is installed" ONLY_REMOTE
		       "install one, or " NAME_FORGE;
	if (!*program)
		return "no program is known for the forge of 'origin'" ONLY_REMOTE NAME_FORGE;
	return arena_printf(
		a, "'%s' is not installed" ONLY_REMOTE "install it, or " NAME_FORGE, program);
}
