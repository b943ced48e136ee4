/*
 * merge.c: merges one branch into the branch that is checked out, or closes that branch by landing
 * it. The merge is made without the worktree (`git merge-tree`), so that a conflict leaves nothing
 * in it, whenever the program is killed.
 */
#include "src/cli/cli.h"
#include "src/machine/place.h"
#include "src/merge/land.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { WAIT_MAX_S = 7 * 86400, TRIES = 3, FETCH_S = 300 };

#define MARKERS "^(<<<<<<<|>>>>>>>) "
/* An agent can write the repository's configuration: no hook runs. */
#define GIT "git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"

struct merge_options {
	struct pool_choice pool;
	const char *context_file, *since;
	double wait_s;
	bool close, json;
};

static const struct option options[] = {
	OPTION_FLAG(struct merge_options, close, "close",
		"land the branch that is checked out on origin's default branch, as 'land' does"),
	OPTION_TEXT(struct merge_options, since, "since", "COMMIT",
		"the branch before somebody resolved the conflict: what left markers since is "
		"discarded"),
	OPTION_DECIMAL(struct merge_options, wait_s, "wait", "SECONDS", 0, WAIT_MAX_S,
		"how long to wait for the merge gate, such as 1.5; default: 300"),
	CLI_DOCUMENT(struct merge_options),
	CLI_JSON(struct merge_options),
	OPTION_END,
};
static const struct merge_options defaults = {.wait_s = GATE_WAIT_MS / 1000.0};

enum merge_end { MERGE_SUCCESS, MERGE_CONFLICT, MERGE_FATAL };
static const char *const merge_words[] = {"success", "conflict", "fatal_error"};

struct merging {
	struct arena *a;
	const struct merge_options *o;
	struct gate *gate;
	const char *dir;    /* the worktree */
	const char *into;   /* the branch that is checked out */
	const char *branch; /* what is merged; with --close the target */
	const char *theirs; /* its commit */
	bool child;         /* it is that of a work item */
	const char *head;   /* of `into` */
	enum merge_end end;
	const char *reason, *commit;
	json *paths; /* in conflict; NULL: none */
};

static void merging_release(struct merging *m)
{
	json_free(&m->paths);
	gate_drop(&m->gate);
}

static int merge_conclude(struct merging *m, enum merge_end end, const char *reason)
{
	m->end = end;
	m->reason = reason;
	return 0;
}

static int merge_run_git(
	struct merging *m, const char *const *argv, struct buf *out, int *status, struct error *err)
{
	const struct git_command c = {
		.dir = m->dir, .name = "git", .argv = argv, .limit_s = FETCH_S};

	return git_command(&c, out, status, err);
}

/* *id NULL: there is no such commit. */
static int merge_read_id(struct merging *m, const char *name, const char **id, struct error *err)
{
	const char *const argv[] = {GIT, "rev-parse", "--quiet", "--verify", "--end-of-options",
		arena_printf(m->a, "%s^{commit}", name), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (merge_run_git(m, argv, &out, &status, err) < 0)
		return -1;
	*id = status ? NULL : arena_dup(m->a, str_trim(buf_str(&out)));
	return 0;
}

/* ---- what an attempt to resolve a conflict has left ---- */

/* The files with markers, of a commit or (NULL) of the worktree, one a line. */
static int find_marked(struct merging *m, const char *commit, struct buf *out, struct error *err)
{
	const char *const argv[] = {
		GIT, "grep", "-I", "-l", "-E", "-e", MARKERS, commit ? commit : "--", NULL};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	int status;

	if (merge_run_git(m, argv, &text, &status, err) < 0)
		return -1;
	if (status > 1)
		return error_set(err, ERR_SYSTEM, "git grep: %.400s", text.s);
	rest = buf_str(&text);
	while (status == 0 && str_line(&rest, &line)) {
		buf_add(out, str_sub(line, commit ? str_find(line, STR(":")) + 1 : 0, line.n));
		buf_addc(out, '\n');
	}
	return 0;
}

static bool merge_has_line(struct str text, struct str wanted)
{
	struct str line;

	while (str_line(&text, &line))
		if (str_eq(line, wanted))
			return true;
	return false;
}

/* *in_progress: a merge or rebase was. It was not committed: it is repeated. */
static int abort_unfinished(struct merging *m, bool *in_progress, struct error *err)
{
	static const struct {
		const char *ref, *verb;
	} kinds[] = {{"MERGE_HEAD", "merge"}, {"REBASE_HEAD", "rebase"}};

	*in_progress = false;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const char *const argv[] = {GIT, kinds[i].verb, "--abort", NULL};
		const char *id;

		if (merge_read_id(m, kinds[i].ref, &id, err) < 0)
			return -1;
		if (!id)
			continue;
		*in_progress = true;
		if (merge_run_git(m, argv, NULL, NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* Files of the worktree with markers that HEAD does not have are as in HEAD again. */
static int restore_marked(struct merging *m, struct error *err)
{
	CLEANUP(buf_release) struct buf here = BUF_INIT, before = BUF_INIT;
	struct str rest, line;

	if (find_marked(m, NULL, &here, err) < 0 || find_marked(m, "HEAD", &before, err) < 0)
		return -1;
	rest = buf_str(&here);
	while (str_line(&rest, &line)) {
		const char *const argv[] = {
			GIT, "checkout", "--quiet", "HEAD", "--", arena_dup(m->a, line), NULL};

		if (!merge_has_line(buf_str(&before), line) &&
			merge_run_git(m, argv, NULL, NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* Commits with markers that neither side had are no resolution. */
static int discard_marked(struct merging *m, struct error *err)
{
	const char *const argv[] = {GIT, "reset", "--keep", "--quiet", m->o->since, NULL};
	CLEANUP(buf_release) struct buf now = BUF_INIT, ours = BUF_INIT;
	struct str rest, line;
	bool left = false;

	if (find_marked(m, "HEAD", &now, err) < 0 || find_marked(m, m->o->since, &ours, err) < 0 ||
		find_marked(m, m->theirs, &ours, err) < 0)
		return -1;
	rest = buf_str(&now);
	while (str_line(&rest, &line) && !left)
		left = !merge_has_line(buf_str(&ours), line);
	return left ? merge_run_git(m, argv, NULL, NULL, err) : 0;
}

static int clean(struct merging *m, struct error *err)
{
	bool in_progress;

	if (abort_unfinished(m, &in_progress, err) < 0)
		return -1;
	if (!m->o->since && !in_progress)
		return 0;
	if (restore_marked(m, err) < 0)
		return -1;
	return m->o->since ? discard_marked(m, err) : 0;
}

/* ---- a merge ---- */

/* `ADR-7.core`, whose document is beside that of its parent; else a branch. */
static int merge_find_branch(struct merging *m, const char *word, struct error *err)
{
	struct item_place place;
	const char *document;

	m->branch = word;
	if (!m->o->context_file || strchr(word, '/'))
		return 0;
	document = run_child_document(m->a, m->o->context_file, word);
	if (!path_exists(document))
		return 0;
	if (place_read(m->a, document, &place, err) < 0)
		return -1;
	if (!place.branch)
		return error_set(err, ERR_STATE, "'%s' has no branch", word);
	m->branch = place.branch;
	m->child = true;
	return 0;
}

static int find_theirs(struct merging *m, struct error *err)
{
	static const char *const fetch[] = {GIT, "fetch", "--quiet", "origin", NULL};
	bool remote = str_starts(str_of(m->branch), "origin/");
	const char *name =
		arena_printf(m->a, "refs/%s/%s", remote ? "remotes" : "heads", m->branch);
	struct git_default known = {0};

	if (remote && merge_run_git(m, fetch, NULL, NULL, err) < 0)
		return -1;
	if (strcmp(m->branch, "origin/HEAD") == 0) {
		if (git_read_default(m->a, m->dir, &known, err) < 0)
			return -1;
		name = known.ref ? known.ref : name;
	}
	if (merge_read_id(m, name, &m->theirs, err) < 0)
		return -1;
	return m->theirs || m->child ? 0 : error_set(err, ERR_STATE, "no branch '%s'", m->branch);
}

static int merge_read_head(struct merging *m, struct error *err)
{
	struct git_tip tip;

	if (git_read_tip(m->a, m->dir, &tip, err) < 0)
		return -1;
	if (!tip.branch || !tip.commit)
		return error_set(
			err, ERR_STATE, "no branch with a commit is checked out in '%s'", m->dir);
	m->into = tip.branch;
	m->head = tip.commit;
	return 0;
}

/* *tree NULL: it conflicts, and the paths are known. */
static int merge_trees(struct merging *m, const char **tree, struct error *err)
{
	const char *const argv[] = {GIT, "-c", "merge.directoryRenames=false", "merge-tree",
		"--write-tree", "-z", "--name-only", "--no-messages", m->head, m->theirs, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t at;
	int status;

	if (merge_run_git(m, argv, &out, &status, err) < 0)
		return -1;
	if (status > 1)
		return error_set(err, ERR_STATE, "'%s' cannot be merged: %.400s", m->branch, out.s);
	at = strlen(out.s) + 1;
	*tree = status ? NULL : arena_dup(m->a, str_of(out.s));
	m->paths = status ? json_array() : NULL;
	for (; status && at < out.len && out.s[at]; at += strlen(out.s + at) + 1)
		json_push_str(m->paths, str_of(out.s + at));
	return 0;
}

/* *again: the branch has moved meanwhile. */
static int merge_advance(struct merging *m, const char *tree, bool *again, struct error *err)
{
	const char *text = arena_printf(m->a, "Merge branch '%s' into %s", m->branch, m->into);
	const char *const make[] = {
		GIT, "commit-tree", tree, "-p", m->head, "-p", m->theirs, "-m", text, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT, said = BUF_INIT;
	const char *now = NULL;
	int status;

	if (merge_run_git(m, make, &out, NULL, err) < 0)
		return -1;
	m->commit = arena_dup(m->a, str_trim(buf_str(&out)));
	const char *const move[] = {GIT, "merge", "--quiet", "--ff-only", m->commit, NULL};

	if (gate_check(m->gate, err) < 0 || merge_run_git(m, move, &said, &status, err) < 0)
		return -1;
	if (status == 0)
		return merge_conclude(m, MERGE_SUCCESS, NULL);
	if (merge_read_id(m, "HEAD", &now, err) < 0)
		return -1;
	*again = now && strcmp(now, m->head) != 0;
	m->commit = NULL;
	return merge_conclude(m, MERGE_FATAL, arena_printable(m->a, str_trim(buf_str(&said)), 400));
}

static int merge_once(struct merging *m, bool *again, struct error *err)
{
	const char *tree = NULL;
	const char *const argv[] = {GIT, "merge-base", "--is-ancestor", m->theirs, "HEAD", NULL};
	int status;

	*again = false;
	if (merge_read_head(m, err) < 0 || merge_run_git(m, argv, NULL, &status, err) < 0)
		return -1;
	if (status == 0) {
		m->commit = m->head;
		return merge_conclude(m, MERGE_SUCCESS, NULL);
	}
	if (merge_trees(m, &tree, err) < 0)
		return -1;
	return tree ? merge_advance(m, tree, again, err)
		    : merge_conclude(m, MERGE_CONFLICT,
			      arena_printf(m->a, "'%s' conflicts with '%s'", m->branch, m->into));
}

static int merge_branches(struct merging *m, struct error *err)
{
	bool again = true;
	int rc = 0;

	if (find_theirs(m, err) < 0 || merge_read_head(m, err) < 0)
		return -1;
	if (!m->theirs) { /* its worktree went back to the pool: it contained no work */
		m->commit = m->head;
		return merge_conclude(m, MERGE_SUCCESS, NULL);
	}
	if (clean(m, err) < 0)
		return -1;
	for (unsigned i = 0; rc == 0 && again && i < TRIES; i++)
		rc = merge_once(m, &again, err);
	return rc;
}

/* ---- a landing ---- */

/* *again: only its rebase conflicts, not a merge of the target into it, which is made: a branch
 * that already has a resolved merge. */
static int merge_target(struct merging *m, const struct land *l, bool *again, struct error *err)
{
	bool moved;

	m->branch = arena_printf(m->a, "origin/%s", l->target);
	m->theirs = l->onto;
	if (l->fate != LAND_CONFLICT)
		return 0;
	if (merge_once(m, &moved, err) < 0)
		return -1;
	*again = m->end == MERGE_SUCCESS && strcmp(m->commit, l->head) != 0;
	json_free(&m->paths);
	return 0;
}

static int close_branch(struct merging *m, struct pool *p, struct error *err)
{
	struct land_ask ask = {.check_s = LAND_CHECK_S};
	bool again = true;
	struct land l;

	m->branch = "origin/HEAD";
	if (find_theirs(m, err) < 0 || merge_read_head(m, err) < 0 || clean(m, err) < 0 ||
		merge_read_head(m, err) < 0)
		return -1;
	ask.branch = m->into;
	if (path_exists(path_join(m->a, p->repo, "scripts/validate.sh")))
		ask.check = WORKFLOW_VALIDATE;
	for (unsigned i = 0; again && i < TRIES; i++) {
		again = false;
		if (land_branch(m->a, p, &ask, m->gate, &l, err) < 0 ||
			merge_target(m, &l, &again, err) < 0)
			return -1;
	}
	m->commit = l.commit;
	m->paths = l.paths ? json_names(l.paths) : NULL;
	return merge_conclude(m,
		l.fate == LAND_LANDED     ? MERGE_SUCCESS
		: l.fate == LAND_CONFLICT ? MERGE_CONFLICT
					  : MERGE_FATAL,
		l.reason);
}

/* ---- the verb ---- */

static json *merge_result_json(const struct merging *m)
{
	return JSON_OBJECT(JSON_TEXT("result", merge_words[m->end]),
		JSON_IF(m->branch, JSON_TEXT("branch", m->branch)),
		JSON_IF(m->into, JSON_TEXT("into", m->into)),
		JSON_IF(m->head, JSON_TEXT("head", m->head)),
		JSON_IF(m->commit, JSON_TEXT("commit", m->commit)),
		JSON_IF(m->paths, JSON_VALUE("paths", json_copy(m->paths))),
		JSON_IF(m->reason, JSON_TEXT("reason", m->reason)));
}

static void merge_put_result(struct buf *out, const struct merging *m)
{
	buf_adds(out, merge_words[m->end]);
	if (m->end == MERGE_SUCCESS)
		buf_addf(out, ": '%s' %s as %.12s", m->o->close ? m->into : m->branch,
			m->o->close ? "has landed" : "is merged", m->commit);
	else
		buf_addf(out, ": %s", m->reason);
	for (const json *p = json_first(m->paths); p; p = json_next(p)) {
		buf_adds(out, p == json_first(m->paths) ? ": " : ", ");
		buf_add_printable(out, str_of(json_text(p)), 200);
	}
	buf_addc(out, '\n');
}

static int merge_or_close(
	struct invocation *in, struct merging *m, struct pool *p, struct error *err)
{
	const struct gate_ask wait = {
		.who = arena_printf(m->a, "merge %.150s", in->n ? in->words[0] : m->dir),
		.wait_ms = (unsigned)(m->o->wait_s * 1000 + 0.5)};
	int cancel, rc;

	if (gate_take(m->a, p, &wait, &m->gate, err) < 0 || run_interrupt_begin(&cancel, err) < 0)
		return -1;
	m->gate->cancel = cancel;
	rc = m->o->close ? close_branch(m, p, err) : merge_branches(m, err);
	run_interrupt_end();
	return rc;
}

static int merge_run(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct merge_options *o = in->values;
	CLEANUP(merging_release) struct merging m = {.a = in->arena, .o = o};
	struct error ignored;
	bool removed;

	if (!in->n == !o->close)
		return error_set(err, ERR_USAGE, "give a branch to merge, or --close");
	m.dir = path_absolute(in->arena, o->pool.repo ? o->pool.repo : ".");
	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		(in->n && merge_find_branch(&m, in->words[0], err) < 0))
		return -1;
	if (merge_or_close(in, &m, &p, err) < 0) {
		if (!o->json)
			return -1;
		(void)merge_conclude(&m, MERGE_FATAL, arena_dup(in->arena, str_of(err->text)));
	}
	if (m.child && m.end == MERGE_SUCCESS) /* unless it contains other work */
		(void)pool_reclaim(in->arena, &p, m.branch, false, &removed, &ignored);
	merge_put_result(in->out, &m);
	cli_put_json(in, o->json, merge_result_json(&m));
	return m.end == MERGE_SUCCESS ? 0 : m.end == MERGE_CONFLICT ? ERR_CHECK : ERR_STATE;
}

const struct verb verb_merge = {
	.name = "merge",
	.group = "Plumbing",
	.about = "merge a branch into the one that is checked out, under the merge gate",
	.details =
		"The merge is made outside of the worktree, which then follows: a conflict leaves "
		"no markers. ID is a work item below the one of --context-file, whose branch is "
		"merged; origin/BRANCH is fetched first. With --close the branch lands instead.\n"
		"\n"
		"A merge or rebase that somebody has begun in the worktree and not ended is "
		"aborted first.\n"
		"\n"
		"Exit status 1: conflict; 4: fatal_error: anything else keeps it from being "
		"merged. The branch is then as it was.",
	.examples = "dev-team merge feature/x\n"
		    "dev-team merge origin/main --json\n"
		    "dev-team merge --close",
	.words = "[ID|BRANCH]",
	.options = {options, cli_pool_options},
	.size = sizeof(struct merge_options),
	.defaults = &defaults,
	.run = merge_run,
};
