/*
 * place.c: gives a work item its place: a worktree of the pool on a branch of its own, which begins
 * at the remote's default branch, or the user's checkout (checkout.c).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/store/disk.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* KILL comes after the grace period. */
enum { MODULES_S = 600, DIRTY_MAX = 32 << 10, HELD_MS = PROCESS_GRACE_MS + 2000, LOOK_MS = 20 };

/* ---- where the branch begins ---- */

static int set_damage_error(struct error *err)
{
	err->code = err->code == ERR_CHECK ? ERR_STATE : err->code;
	return error_prefix(err, "repair the repository ('git fsck' shows the damage)");
}

/* *current: what the last fetch left is what the remote has now. */
static int run_place_is_current(struct arena *a, const struct run_entry *e, const char *branch,
	bool *current, struct error *err)
{
	const struct remote_state *r = e->remote;
	const char *name = branch ? arena_printf(a, "refs/remotes/origin/%s", branch) : NULL,
		   *found;

	*current = false;
	if (!name || !r->branch || !r->commit || strcmp(branch, r->branch) != 0)
		return 0;
	if (git_read_ids(a, e->repo, &name, 1, &found, err) < 0)
		return -1;
	*current = found && strcmp(found, r->commit) == 0;
	return 0;
}

/* *branch: the given one, else the remote's default branch; NULL: unknown. Fetches it if the remote
 * can be reached. The first step has read the remote already. */
static int update_start(struct arena *a, struct run_entry *e, const char *id, const char **branch,
	struct error *err)
{
	bool fetched = false;
	char *url;

	if (remote_find_url(a, e->repo, &url, err) < 0)
		return -1;
	if (!url)
		return 0;
	if (!e->remote) {
		struct remote_state *now = arena_alloc(a, sizeof(*now));

		remote_read(a, e->repo, NULL, now);
		e->remote = now;
	}
	if (!*branch)
		*branch = e->remote->branch;
	if (run_place_is_current(a, e, *branch, &fetched, err) < 0)
		return -1;
	if (*branch && !fetched && !e->remote->fault &&
		git_fetch_branch(e->repo, *branch, &fetched, err) < 0)
		return -1;
	if (!fetched)
		e->notice = arena_printf(e->arena,
			"cannot fetch from 'origin': %s starts from the local commits", id);
	return 0;
}

struct start {
	const char *name; /* "refs/remotes/origin/main" */
	const char *commit;
	const char *local; /* commit of the local branch of that name; NULL: there is none */
	const char *head;  /* commit that is checked out; NULL: not looked for */
};

/* The default branch as it is known here, else HEAD. */
static int find_default_start(
	struct arena *a, const char *repo, struct start *out, struct error *err)
{
	const char *const head = "HEAD";
	const char *found;
	struct git_default known;

	if (git_read_default(a, repo, &known, err) < 0 ||
		git_read_ids(a, repo, &head, 1, &found, err) < 0)
		return set_damage_error(err);
	if (known.ref)
		*out = (struct start){.name = known.ref, .commit = known.commit};
	else if (found)
		*out = (struct start){.name = head, .commit = found};
	else
		return error_set(err, ERR_STATE,
			"'%s' has no commit for a worktree to start from: commit something first, "
			"or give --in-place",
			repo);
	return 0;
}

/* Of a node of a manifest: what its parent has not pushed is there, too. */
static int find_local_start(
	struct arena *a, const struct run_entry *e, struct start *out, struct error *err)
{
	const char *const name = arena_printf(a, "refs/heads/%s", e->call->base);
	const char *found;

	if (git_read_ids(a, e->repo, &name, 1, &found, err) < 0)
		return set_damage_error(err);
	if (!found)
		return error_set(err, ERR_STATE,
			"the branch '%s', where the work begins, is missing", e->call->base);
	*out = (struct start){.name = name, .commit = found};
	return 0;
}

/* The remote's branch: fetched, or the last known state if it cannot be. Without a remote, the
 * local default branch. A short name could be that of a tag. */
static int find_start(struct arena *a, struct run_entry *e, const char *id, const char *target,
	struct start *out, struct error *err)
{
	const char *branch = target;
	const char *names[3] = {NULL, NULL, "HEAD"}, *found[COUNT(names)];

	if (e->call->base)
		return find_local_start(a, e, out, err);
	if (update_start(a, e, id, &branch, err) < 0)
		return -1;
	if (!branch)
		return find_default_start(a, e->repo, out, err);
	names[0] = arena_printf(a, "refs/remotes/origin/%s", branch);
	names[1] = arena_printf(a, "refs/heads/%s", branch);
	if (git_read_ids(a, e->repo, names, COUNT(names), found, err) < 0)
		return set_damage_error(err);
	if (found[0])
		*out = (struct start){names[0], found[0], found[1], found[2]};
	else if (found[1])
		*out = (struct start){.name = names[1], .commit = found[1]};
	if (found[0] || found[1])
		return 0;
	if (!target)
		return find_default_start(a, e->repo, out, err);
	return error_set(err, ERR_STATE, "no branch '%s' in '%s': fetch it, or name another target",
		target, e->repo);
}

/* ---- whose the worktree is ---- */

/* The document of a worktree, in its git directory: a copy of the document differs from it. */
static const char *note_path(struct arena *a, const char *git_dir)
{
	return path_join(a, git_dir, "dev-team-item");
}

/* -1: another item that has not ended works there. The original of a copied document has the
 * worktree that this one is a copy of. */
static int check_other_item(
	struct arena *a, const struct run_entry *e, const char *directory, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf other = BUF_INIT;
	struct item_place place;
	struct error ignored;
	const char *noted = NULL;
	char *own, *common;

	directory = path_real(a, directory);
	if (git_directories(a, directory, &own, &common))
		noted = sys_read_small(a, note_path(a, own), PATH_MAX);
	if (!noted || strcmp(noted, e->document) == 0 ||
		strcmp(path_real(a, noted), path_real(a, e->document)) == 0 ||
		context_open(&f, noted, CONTEXT_READ_ONLY, &ignored) < 0 ||
		new_item_ended(&f.doc) || place_load(a, &f, &place, &ignored) < 0 ||
		(place.directory && strcmp(path_real(a, place.directory), directory) != 0))
		return 0;
	buf_adds(&other, context_get(&f.doc, "work_item_id").p);
	buf_add_argument(&other, " --context-file ", f.path);
	return error_set(err, ERR_STATE,
		"'%s' is the worktree of '%s', which has not ended; to go on with that item: "
		"dev-team run %s; to end it: dev-team cancel %s",
		directory, f.path, other.s, other.s);
}

/* ---- the worktree ---- */

/* *base: the merge base of the branch and the one that it began from. */
static int run_place_find_base(struct arena *a, const struct run_worktree *w, const struct start *s,
	const char **base, struct error *err)
{
	const char *const argv[] = {"git", "merge-base", "HEAD", s->commit, NULL};
	bool begins = s->commit && w->created && strcmp(w->of.tip, s->commit) == 0;
	char *line = NULL;

	if (s->commit && !begins && remote_git_line(a, w->of.path, argv, &line, err) < 0)
		return -1;
	*base = line ? line : w->of.tip;
	return 0;
}

/* The branch of an item that has begun, if this repository has lost it (a new clone, or somebody
 * removed it): as it is on the remote, else the commit that was pushed last. To begin again where
 * the item once began would lose that work with the next push. */
static int find_lost_branch(struct arena *a, struct run_entry *e, const char *id,
	const char *branch, struct start *s, struct error *err)
{
	const char *const names[] = {arena_printf(a, "refs/heads/%s", branch),
		arena_printf(a, "refs/remotes/origin/%s", branch)};
	const char *found[COUNT(names)];
	struct evidence_approved known;
	struct error ignored;
	char *commit = NULL;
	bool fetched;

	if (git_read_ids(a, e->repo, names, 1, found, err) < 0)
		return set_damage_error(err);
	if (found[0])
		return 0;
	(void)git_fetch_branch(e->repo, branch, &fetched, &ignored);
	if (git_read_ids(a, e->repo, names + 1, 1, found + 1, err) < 0)
		return set_damage_error(err);
	if (found[1]) {
		*s = (struct start){.name = names[1], .commit = found[1]};
		return 0;
	}
	if (evidence_load_approved(a, (struct context_file *)(uintptr_t)e->file, &known, err) < 0)
		return -1;
	if (!known.pushed)
		return 0;
	if (remote_git_line(a, e->repo,
		    (const char *const[]){"git", "rev-parse", "--verify", "--quiet",
			    arena_printf(a, "%s^{commit}", known.pushed), NULL},
		    &commit, err) < 0)
		return -1;
	if (!commit)
		return error_set(err, ERR_STATE,
			"the branch '%s' of '%s' is gone, here and on 'origin', and so is its "
			"commit %.12s: fetch it from where it is, or end the item with 'dev-team "
			"cancel %s'",
			branch, id, known.pushed, id);
	*s = (struct start){.name = known.pushed, .commit = known.pushed};
	return 0;
}

static int create_worktree(struct arena *a, struct run_entry *e, const char *id, bool again,
	struct run_worktree *w, struct start *s, struct error *err)
{
	struct arena *keep = w->arena ? w->arena : a;
	CLEANUP(pool_close) struct pool pool = {0};
	struct allocate_ask ask = {
		.branch = w->branch ? w->branch : arena_printf(keep, "dev-team/%s", id),
		.target = w->target,
		.run = w->run,
		.issue = w->run ? id : NULL,
		.port = w->run ? getenv("PORT") : NULL,
		.parent = w->parent,
		.slots = w->slots ? w->slots : e->slots};
	const char *target = getenv(RUN_TARGET_VARIABLE);
	struct allocation there;
	int rc;

	if (run_pool_open(keep, w, e->repo, &pool, err) < 0 ||
		pool_find(a, &pool, ask.branch, false, &there, err) < 0 ||
		(there.there && check_other_item(a, e, there.path, err) < 0) ||
		find_start(keep, e, id, w->target, s, err) < 0 ||
		preflight_check_branch(a, e->repo, ask.branch, err) < 0 ||
		(again && find_lost_branch(keep, e, id, ask.branch, s, err) < 0))
		return -1;
	ask.base = s->name;
	if (e->call->base && target && *target)
		ask.sparse = target;
	rc = pool_allocate(keep, &pool, &ask, &w->of, &w->created, err);
	if (rc < 0 && ask.sparse && err->code == ERR_INPUT)
		return error_prefix(err, RUN_TARGET_VARIABLE);
	if (rc == 0 || !e->call->base || !ask.parent || err->code != ERR_STATE)
		return rc;
	/* Its parent has no port for it: it gets one as any item does. */
	ask.parent = NULL;
	return pool_allocate(keep, &pool, &ask, &w->of, &w->created, err);
}

static void add_notice(struct run_entry *e, const char *text)
{
	e->notice = e->notice ? arena_printf(e->arena, "%s; %s", e->notice, text) : text;
}

/* A spec or a fix that was committed and not pushed, for example, is not where the agents work. */
static void add_unpushed(
	struct run_entry *e, const char *id, const struct start *s, const char *where, uint64_t n)
{
	if (n)
		add_notice(e, arena_printf(e->arena,
				      "%s has %" PRIu64 " unpushed commit%s: '%s' starts from "
				      "'origin/%s', without them",
				      where, n, n == 1 ? "" : "s", id,
				      s->name + strlen("refs/remotes/origin/")));
}

/* How many commits HEAD has that are neither on origin nor in `local`, which may be NULL. */
static int count_unpushed(
	struct arena *a, const char *repo, const char *local, uint64_t *n, struct error *err)
{
	const char *const argv[] = {
		"git", "rev-list", "--count", "HEAD", "--not", "--remotes=origin", local, NULL};
	char *line = NULL;

	*n = 0;
	if (remote_git_line(a, repo, argv, &line, err) < 0)
		return -1;
	if (line)
		(void)number_digits(str_of(line), n);
	return 0;
}

/* Of the local branch that the item's work begins at, and of another one that is checked out. */
static int note_unpushed(struct arena *a, struct run_entry *e, const char *id,
	const struct start *s, struct error *err)
{
	const char *branch;
	size_t n = 0;
	uint64_t more;

	if (s->local && strcmp(s->local, s->commit) != 0 &&
		git_count_commits(e->repo, s->commit, s->local, &n, err) < 0)
		return -1;
	if (n)
		add_unpushed(e, id, s,
			arena_printf(e->arena, "the local branch '%s'",
				s->name + strlen("refs/remotes/origin/")),
			n);
	if (!s->head || strcmp(s->head, s->commit) == 0 ||
		(s->local && strcmp(s->head, s->local) == 0))
		return 0;
	if (count_unpushed(a, e->repo, s->local, &more, err) < 0 ||
		git_read_branch(a, e->repo, &branch, err) < 0)
		return -1;
	add_unpushed(e, id, s,
		branch ? arena_printf(e->arena, "the branch '%s', which is checked out,", branch)
		       : "the commit that is checked out",
		more);
	return 0;
}

/* git ends at the first submodule that it cannot have, such as a link that .gitmodules does not
 * name. The others are not left out for that. */
static void init_each_module(struct git_command c)
{
	static const char *const list[] = {"git", "config", "-z", "-f", ".gitmodules",
		"--get-regexp", "^submodule\\..*\\.path$", NULL};
	const struct git_command paths = {.dir = c.dir, .name = "git config", .argv = list};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error ignored;

	if (git_command(&paths, &out, NULL, &ignored) < 0)
		return;
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) { /* KEY LF PATH */
		const char *path = strchr(out.s + at, '\n');
		const char *const argv[] = {"git", "submodule", "--quiet", "update", "--init",
			"--recursive", "--", path ? path + 1 : "", NULL};

		c.argv = argv;
		if (path)
			(void)git_command(&c, NULL, NULL, &ignored);
	}
}

/* A new worktree has empty directories for submodules. The user's checkout may have them, so that
 * what is missing would be noticed late. */
static int init_modules(
	struct arena *a, struct run_entry *e, const char *dir, const char *id, struct error *err)
{
	static const char *const argv[] = {
		"git", "submodule", "--quiet", "update", "--init", "--recursive", NULL};
	const struct git_command c = {.dir = dir,
		.name = "git submodule",
		.argv = argv,
		.limit_s = MODULES_S,
		.batch_ssh = remote_plain_ssh()};

	if (!path_exists(path_join(a, dir, ".gitmodules")) || git_command(&c, NULL, NULL, err) == 0)
		return 0;
	if (err->code != ERR_SYSTEM && err->code != ERR_CHECK)
		return -1;
	if (!strstr(err->text, "did not end within"))
		init_each_module(c);
	add_notice(e, arena_printf(e->arena,
			      "the submodules of '%s' are empty or incomplete: run 'git submodule "
			      "update --init --recursive' in its worktree: %s",
			      id, err->text));
	return 0;
}

/* Records the files that git reports as modified right after the checkout, because line endings or
 * filters do not match the committed file. Changes of an earlier agent are not recorded. */
static int note_dirty(
	struct arena *a, const struct run_worktree *w, struct item_place *place, struct error *err)
{
	struct git_status s;
	size_t bytes = 0;
	bool begins;

	if (git_refresh_status(a, place->directory, &s, err) < 0)
		return -1;
	begins = s.head && place->base && strcmp(s.head, place->base) == 0;
	place->dirty.n = 0;
	place->tree = begins && !s.changes.n ? git_unchanged_tree(a, place->directory, true) : NULL;
	if (!w->created && !begins)
		return 0;
	for (size_t i = 0; i < s.changes.n && bytes < DIRTY_MAX; i++) {
		const struct git_change *c = &s.changes.items[i];

		if (c->untracked || c->staged || str_utf8_fault(str_of(c->path)))
			continue;
		bytes += strlen(c->path);
		vec_push_in(a, &place->dirty, c->path);
	}
	return 0;
}

static int enter_worktree(struct arena *a, struct run_entry *e, const char *id,
	struct item_place *place, bool *changed, struct error *err)
{
	struct run_worktree own = {0}, *w = e->call->worktree ? e->call->worktree : &own;
	const char *old = place->directory;
	bool linked = false;
	struct stat st;
	struct start start = {0};

	/* Commits of the agents would land on the branch of whatever the link leads to. */
	if (old && lstat(old, &st) == 0 && S_ISLNK(st.st_mode))
		return error_set(err, ERR_STATE,
			"'%s' is a symbolic link now, not the worktree of '%s': remove the link "
			"('rm'), and run the same command again, which makes the worktree again",
			old, id);
	if (old && path_check_exists(path_join(a, old, ".git"), &linked, err) < 0)
		return -1;
	if (linked && check_other_item(a, e, old, err) < 0)
		return -1;
	if (linked && (w->entered || !w->run))
		return 0;
	if (create_worktree(a, e, id, place->base != NULL, w, &start, err) < 0)
		return -1;
	w->entered = true;
	*changed = !old || strcmp(old, w->of.path) != 0;
	place->directory = w->of.path;
	place->branch = w->of.branch;
	place->target = w->of.sparse;
	if (!place->base && run_place_find_base(a, w, &start, &place->base, err) < 0)
		return -1;
	if ((*changed || w->created) && (note_unpushed(a, e, id, &start, err) < 0 ||
						init_modules(a, e, place->directory, id, err) < 0))
		return -1;
	if (!*changed)
		return 0;
	return git_read_identity(a, place->directory, &place->identity, err) < 0
		       ? -1
		       : note_dirty(a, w, place, err);
}

/* ---- an item that was copied to another path ---- */

/* How many bytes of a path are in front of its `.dev-team/worktrees/NAME`; 0: it has none. */
static size_t before_worktrees(const char *path)
{
	struct str up = path_dir(path);

	return str_ends(up, "/" GIT_WORKTREES) ? up.n - strlen("/" GIT_WORKTREES) : 0;
}

/* Where the item would be in the repository at `root`; NULL: nowhere else than it is. */
static const char *own_directory(struct arena *a, const char *root, const struct item_place *place)
{
	const char *old = place->directory, *in;
	size_t n = place->in_place ? 0 : before_worktrees(old);

	if (!n && place->repo && str_starts(str_of(old), place->repo))
		n = strlen(place->repo); /* the checkout, or another directory in it */
	if (!n || (old[n] && old[n] != '/'))
		return NULL;
	in = arena_printf(a, "%s%s", root, old + n);
	return strcmp(in, old) == 0 ? NULL : in;
}

/* The main work tree of the repository of the call. A worktree that was copied with it still names
 * the other repository. */
static const char *main_tree(struct arena *a, const char *repo)
{
	const char *top = arena_dup(a, (struct str){repo, before_worktrees(repo)});
	char *own, *common;

	if (*top && path_is_directory(path_join(a, top, ".git")))
		return top;
	return git_directories(a, repo, &own, &common) && strcmp(own, common) != 0
		       ? git_main_tree(a, path_real(a, common))
		       : repo;
}

/* The directory for the item's worktree in the repository at `root`; NULL: there is none. */
static const char *admin_directory(
	struct arena *a, const char *root, const struct item_place *place)
{
	const char *known = place->identity.directory;
	char *own, *common;

	if (place->in_place || !git_directories(a, root, &own, &common))
		return NULL;
	return path_real(a, arena_printf(a, "%s/worktrees/%s", common,
				    path_base(known ? known : place->directory).p));
}

/* *repo: the checkout that the item belongs to; not changed if it is not there. */
static bool works_at(
	struct arena *a, const char *document, const char *directory, const char **repo)
{
	struct item_place place;
	struct error ignored;

	if (!document || !path_exists(document) || place_read(a, document, &place, &ignored) < 0 ||
		!place.directory || strcmp(path_real(a, place.directory), directory) != 0)
		return false;
	if (place.in_place)
		*repo = directory;
	else if (place.repo && path_exists(place.repo))
		*repo = place.repo;
	return true;
}

int run_place_repository(struct arena *a, const char *given, const char *document,
	const char **root, struct error *err)
{
	const char *noted, *repo;
	char *own, *common;

	if (locate_repository(a, given, root, err) < 0)
		return -1;
	if (!git_directories(a, *root, &own, &common) || strcmp(own, common) == 0)
		return 0;
	noted = sys_read_small(a, note_path(a, own), PATH_MAX);
	repo = main_tree(a, *root);
	if ((works_at(a, document, *root, &repo) || works_at(a, noted, *root, &repo) || noted) &&
		path_exists(path_join(a, repo, ".git")))
		*root = repo;
	return 0;
}

static int note_document(
	struct arena *a, const char *document, const struct item_place *place, struct error *err)
{
	const char *noted;

	if (place->in_place || !place->identity.directory ||
		!path_is_directory(place->identity.directory))
		return 0;
	noted = sys_read_small(a, note_path(a, place->identity.directory), PATH_MAX);
	return noted && strcmp(noted, document) == 0
		       ? 0
		       : disk_replace(disk_real(), ".new", note_path(a, place->identity.directory),
				 str_of(document), err);
}

/* Whether `document` is a copy of the one that has the place, which still exists. */
static bool document_is_copied(
	struct arena *a, const char *document, const struct item_place *place)
{
	const char *noted;

	if (place->in_place)
		return checkout_is_copied(a, document, place->directory);
	if (!place->identity.directory)
		return false;
	noted = sys_read_small(a, note_path(a, place->identity.directory), PATH_MAX);
	return noted && path_exists(noted) &&
	       strcmp(path_real(a, noted), path_real(a, document)) != 0;
}

/* Where the item goes on though its directory is there: in a copy that the repository at `root`
 * has. NULL: the state directory may serve several clones, of which one has the worktree, and may
 * be a copy of another. */
static const char *find_copy(
	struct arena *a, const char *root, const char *document, const struct item_place *place)
{
	const char *here = own_directory(a, root, place), *own = admin_directory(a, root, place);

	return here && document_is_copied(a, document, place) &&
			       (place->in_place || (own && git_is_copied_worktree(a, own, here,
								   place->identity.directory)))
		       ? here
		       : NULL;
}

int run_place_check_copy(
	struct arena *a, const char *document, const char *action, struct error *err)
{
	struct item_place place;
	struct error ignored;
	const char *repo, *here;

	if (place_read(a, document, &place, err) < 0)
		return -1;
	if (!place.directory || !path_exists(place.directory) ||
		locate_repository(a, NULL, &repo, &ignored) < 0)
		return 0;
	here = find_copy(a, place.in_place ? repo : main_tree(a, repo), document, &place);
	return !here ? 0
		     : error_set(err, ERR_STATE,
			       "'%.200s' runs in '%s', of which this clone has a copy: a 'dev-team "
			       "step' here goes on in '%s'",
			       action, place.directory, here);
}

/* *linked: the worktree and its repository name each other again. `followed`: it is a copy. */
static int link_place(struct arena *a, const char *root, const char *document,
	const struct item_place *place, bool followed, bool *linked, struct error *err)
{
	const char *dir = place->directory, *own = admin_directory(a, root, place), *here;
	char *git, *common;
	const char *other = dir;
	enum git_link is;

	if (!own || !path_exists(dir))
		return 0;
	if (git_link_worktree(a, own, dir, &is, err) < 0)
		return -1;
	*linked = is == GIT_LINK_MADE;
	if (is == GIT_LINK_LOST)
		return error_set(err, ERR_STATE,
			"'%s' is no worktree of '%s' any more: move it away, and run the same "
			"command again, which makes the worktree of its branch again",
			dir, root);
	if (is == GIT_LINK_CLAIMED ? !document_is_copied(a, document, place)
				   : is != GIT_LINK_OTHER || !followed)
		return 0;
	if (git_directories(a, dir, &git, &common))
		other = git_main_tree(a, path_real(a, common));
	if (is == GIT_LINK_OTHER)
		return error_set(err, ERR_STATE,
			"'%s' is a copy of a worktree of '%s', and '%s' was not copied with it: "
			"copy that, too, or give --repo '%s'",
			dir, other, own, other);
	here = own_directory(a, root, place);
	return error_set(err, ERR_STATE,
		"'%s' is the worktree of '%s', and was not copied with it to '%s': %s%s%sgive "
		"--repo '%s'",
		dir, other, root, here ? "copy it to '" : "", here ? here : "",
		here ? "', or " : "", other);
}

/* An agent has removed `.git`, or moved the worktree. What is in it may be work, so it is made a
 * worktree again as it is. What git refuses here is reported by the steps that follow. */
static int restore_worktree(struct arena *a, struct run_entry *e, const struct item_place *place,
	const char *dir, struct error *err)
{
	const char *known = place->in_place ? NULL : place->identity.directory;
	const char *at = known ? git_worktree_directory(a, known) : NULL;
	const char *const move[] = {"git", "worktree", "move", at, dir, NULL};
	const struct git_command c = {.dir = e->repo, .name = "git worktree", .argv = move};
	bool there, linked;
	enum git_link is;
	struct error ignored;

	if (!at)
		return 0;
	if (path_check_exists(dir, &there, err) < 0 ||
		path_check_exists(path_join(a, there ? dir : at, ".git"), &linked, err) < 0)
		return -1;
	if (there ? linked || strcmp(at, path_real(a, dir)) != 0 : !linked)
		return 0;
	if ((there ? git_link_worktree(a, known, dir, &is, &ignored)
		   : git_command(&c, NULL, NULL, &ignored)) < 0)
		return 0;
	e->damage = there ? arena_printf(e->arena,
				    "'.git' was removed from the worktree '%s'; it is there again: "
				    "leave it, and commit your work on the item's branch",
				    dir)
			  : arena_printf(e->arena,
				    "the worktree '%s' was moved to '%s'; it is back: leave it "
				    "there, and commit your work on the item's branch",
				    dir, at);
	return 0;
}

int run_place_evidence(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct run_entry *e = data;
	const struct evidence_query *q = input->evidence;

	if (environment_local.evidence(data, a, input, answer, err) < 0)
		return -1;
	for (size_t i = 0; e->damage && !q->before && i < EVIDENCE_KINDS; i++)
		if (q->kinds >> i & 1)
			json_set(json_inner(*answer, "faults"), evidence_name(1u << i),
				json_string(str_of(e->damage)));
	if (!q->before)
		e->damage = NULL;
	return 0;
}

static int find_moved(
	struct arena *a, struct run_entry *e, struct item_place *place, struct error *err)
{
	const char *old = place->directory, *known = place->identity.directory, *here;
	const char *root = place->in_place ? e->repo : main_tree(a, e->repo);
	bool was, there, linked = false;

	if (path_check_exists(old, &was, err) < 0)
		return -1;
	here = was ? find_copy(a, root, e->document, place) : own_directory(a, root, place);
	if (here)
		place->directory = here;
	if (restore_worktree(a, e, place, place->directory, err) < 0 ||
		link_place(a, root, e->document, place, here != NULL, &linked, err) < 0 ||
		path_check_exists(place->directory, &there, err) < 0)
		return -1;
	linked = linked && known &&
		 strcmp(path_real(a, known), admin_directory(a, root, place)) != 0;
	if (!there || (!here && !linked)) { /* a worktree that is missing is made again */
		place->directory = old;
		return 0;
	}
	place->repo = root;
	if (was && here)
		add_notice(e, arena_printf(e->arena,
				      "'%s' goes on in '%s', a copy of '%s', which stays as it is",
				      e->call->id, here, old));
	return git_read_identity(a, place->directory, &place->identity, err);
}

int run_place_enter(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct run_entry *e = data;
	struct item_place place = *input->place;
	CLEANUP(json_free) json *was = place_to_json(&place, e->file->dir), *is = NULL;
	CLEANUP(buf_release) struct buf before = BUF_INIT, after = BUF_INIT;
	const char *id = input->text;
	bool in_place = place.directory ? place.in_place : e->in_place, changed = false;

	if (place.directory && find_moved(a, e, &place, err) < 0)
		return -1;
	if (place.directory && !place.in_place) /* the last agent may have been killed */
		git_clear_locks(place.directory, place.branch);
	if ((e->in_place && !in_place) || (e->call->own_worktree && in_place))
		return error_set(err, ERR_STATE,
			"'%s' already works in '%s': --%s is only for its first step", id,
			place.directory, in_place ? "worktree" : "in-place");
	if ((in_place ? checkout_enter(a, e, id, &place, &changed, err)
		      : enter_worktree(a, e, id, &place, &changed, err)) < 0)
		return -1;
	if (note_document(a, e->document, &place, err) < 0)
		return -1;
	if (changed || !place.repo || !path_exists(place.repo))
		place.repo = e->repo;
	is = place_to_json(&place, e->file->dir);
	json_print(&before, was);
	json_print(&after, is);
	if (!str_eq(buf_str(&before), buf_str(&after)))
		*answer = json_copy(is);
	return 0;
}

/* ---- agents that a killed run has left ---- */

/* A lock of the directory itself, which lasts as long as this process, and leaves no file behind.
 */
void run_place_hold(const char *directory)
{
	struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		(void)fcntl(fd, F_OFD_SETLK, &whole);
}

static bool place_is_held(const char *directory)
{
	CLEANUP(base_close) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

struct place_holder {
	const char *directory; /* resolved */
	pid_t pid;
};

static void find_holder(const struct process_info *info, void *arg)
{
	struct place_holder *h = arg;

	if (!h->pid && process_has_locked(info->pid, h->directory))
		h->pid = info->pid;
}

static int wait_for_place(struct arena *a, const char *directory, const char *id, struct error *err)
{
	int64_t until = clock_ticks() + HELD_MS;
	struct place_holder h = {.directory = path_real(a, directory)};

	for (bool said = false; place_is_held(directory); said = true) {
		if (!said) {
			process_each(find_holder, &h);
			error_log("dev-team: %s waits until process %ld ends its work in '%s'", id,
				(long)h.pid, directory);
		}
		if (run_interrupt_wait(LOOK_MS) || clock_ticks() >= until)
			return status_refuse_beside(h.pid, id, directory, err);
	}
	return 0;
}

int run_place_wait(struct arena *a, const char *document, const char *id, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct run_begun_list children;
	struct item_place place;
	struct error ignored;

	if (!path_exists(document) || status_check_free(a, document, id, &ignored) < 0 ||
		context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0 ||
		place_load(a, &f, &place, &ignored) < 0)
		return 0;
	if (place.directory && !place.in_place && !context_get(&f.doc, "outcome").n &&
		wait_for_place(a, place.directory, id, err) < 0)
		return -1;
	children = run_begun_children(a, &f);
	for (size_t i = 0; i < children.n; i++)
		if (run_place_wait(a, children.items[i].document, children.items[i].id, err) < 0)
			return -1;
	return 0;
}
