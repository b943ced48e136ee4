/* land.c: brings the branch of a finished work item into its target branch. */
#include "src/cli/cli.h"
#include "src/machine/evidence.h"
#include "src/merge/land.h"
#include "src/run/databases.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/setup/setup.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { WAIT_MAX_S = 7 * 86400 };

struct land_options {
	struct pool_choice pool;
	const char *context_file, *target, *check;
	double wait_s;
	int64_t check_s;
	bool pr, direct, json;
	const char *method;
};

static const struct option options[] = {
	OPTION_TEXT(struct land_options, target, "target", "BRANCH",
		"branch of origin to land on; default: origin's default branch"),
	OPTION_TEXT(struct land_options, check, "check", "COMMAND",
		"must succeed on the rebased files; empty: none; default: scripts/validate.sh if "
		"there is one"),
	OPTION_NUMBER(struct land_options, check_s, "check-timeout", "SECONDS", 1, LAND_CHECK_MAX_S,
		"time limit of the check, and of the forge's checks; default: 1800"),
	OPTION_FLAG(struct land_options, pr, "pr",
		"let the forge merge the pull request, by gh or glab, once its checks have passed"),
	OPTION_FLAG(struct land_options, direct, "direct", "push the target itself; the default"),
	OPTION_CHOICE(struct land_options, method, "method", "rebase|squash|merge",
		"how the forge merges; default: rebase"),
	OPTION_DECIMAL(struct land_options, wait_s, "wait", "SECONDS", 0, WAIT_MAX_S,
		"how long to wait for the merge gate, such as 1.5; default: 300"),
	CLI_DOCUMENT(struct land_options),
	CLI_JSON(struct land_options),
	OPTION_END,
};
static const struct land_options defaults = {
	.wait_s = GATE_WAIT_MS / 1000.0, .check_s = LAND_CHECK_S, .method = "rebase"};

/* ---- what is landed ---- */

/* A state of a workflow may land its own item, before the item ends. */
static bool is_own_script(const char *id)
{
	const char *own = getenv("DEV_TEAM_ID");

	return own && strcmp(own, id) == 0;
}

static int land_read_item(
	struct invocation *in, const char *document, struct land_ask *ask, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *id = in->words[0];
	struct evidence_approved approved;
	struct item_place place;
	struct str outcome;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		place_load(in->arena, &f, &place, err) < 0 ||
		evidence_load_approved(in->arena, &f, &approved, err) < 0)
		return -1;
	outcome = context_get(&f.doc, "outcome");
	if (!str_is(context_get(&f.doc, "state"), "done") && !is_own_script(id))
		return error_set(err, ERR_STATE,
			"'%s' has not ended with success: it is in '%.*s'%s%.*s", id,
			(int)context_get(&f.doc, "state").n, context_get(&f.doc, "state").p,
			outcome.n ? ": " : "", (int)outcome.n, outcome.p);
	if (!place.branch)
		return error_set(err, ERR_STATE, "'%s' has no branch", id);
	if (!approved.head)
		return error_set(err, ERR_STATE,
			"no review of '%s' is recorded: land its branch '%s' by name", id,
			place.branch);
	ask->branch = place.branch;
	ask->pull = arena_dup(in->arena, context_get(&f.doc, "pr_url"));
	ask->issue = id;
	ask->approved = approved.head;
	ask->patch = approved.patch;
	ask->base = approved.base;
	return 0;
}

/* A word is a work item if there is one of that id, else a branch. *item: its document; NULL: a
 * branch. */
static int land_find_branch(
	struct invocation *in, struct land_ask *ask, const char **item, struct error *err)
{
	const struct land_options *o = in->values;
	const char *document, *root;
	struct error ignored;
	bool there = false;

	*item = NULL;
	ask->branch = in->words[0];
	if (path_check_id(in->words[0], &ignored) < 0)
		return o->context_file ? path_check_id(in->words[0], err) : 0;
	if (locate_repository(in->arena, o->pool.repo, &root, err) < 0 ||
		locate_document(in->arena, o->context_file, root, in->words[0], &document, err) <
			0 ||
		path_check_exists(document, &there, err) < 0)
		return -1;
	if (!there && o->context_file)
		return status_refuse_unknown(in->words[0], document, err);
	*item = there ? document : NULL;
	return there ? land_read_item(in, document, ask, err) : 0;
}

/* That of the item, else the open one of the branch. */
static int land_find_pull(
	struct arena *a, const struct pool *p, struct land_ask *ask, struct error *err)
{
	struct forge_open_pulls open;

	if (ask->pull && ask->pull[0])
		return 0;
	if (forge_list_open(a, p->repo, &open, err) < 0)
		return -1;
	for (size_t i = 0; i < open.n; i++)
		if (strcmp(open.items[i].branch, ask->branch) == 0)
			ask->pull = open.items[i].url;
	return ask->pull && ask->pull[0]
		       ? 0
		       : error_set(err, ERR_STATE,
				 "'%s' has no open pull request: land it without --pr",
				 ask->branch);
}

static const char *default_check(struct arena *a, const char *repo)
{
	struct error ignored;
	bool there = false;

	(void)path_check_exists(path_join(a, repo, "scripts/validate.sh"), &there, &ignored);
	return there ? WORKFLOW_VALIDATE : NULL;
}

/* ---- the result ---- */

static void land_put_result(struct buf *out, const struct land *l, bool pr)
{
	if (l->output && l->output[0])
		buf_addf(out, "%s\n", l->output);
	if (l->fate == LAND_LANDED) {
		buf_addf(out, "%s: '%s' is on '%s' as %.12s%s\n", land_word(l), l->branch,
			l->target, l->commit, l->already ? ", since an earlier landing" : "");
		return;
	}
	buf_addf(out, "%s: %s%s", land_word(l), l->reason,
		l->fate == LAND_NEEDS_PERSON && !pr
			? "; if the forge is to merge it: 'dev-team land --pr'"
			: "");
	for (size_t i = 0; l->paths && l->paths[i]; i++)
		buf_addf(out, "%s %s", i ? "," : ":", l->paths[i]);
	buf_addf(out, "; '%s' is as it was\n", l->target);
}

int cli_land_branch(struct invocation *in, struct pool *p, struct land_ask *ask,
	const struct gate_ask *wait, struct land *out, struct error *err)
{
	CLEANUP(gate_drop) struct gate *g = NULL;
	struct pool_renewal renewal = {
		.arena = in->arena, .pool = p, .branch = ask->branch, .issue = ask->issue};
	const struct rebase_part part = pool_renewal_part(&renewal);
	int cancel, rc;

	if (gate_take(in->arena, p, wait, &g, err) < 0 || run_interrupt_begin(&cancel, err) < 0)
		return -1;
	g->cancel = cancel;
	ask->part = &part;
	rc = land_branch(in->arena, p, ask, g, out, err);
	run_interrupt_end();
	return rc;
}

/* ---- what can land ---- */

struct waiting {
	json *items; /* of this repository, with a branch */
	struct predicted *list;
};

static void waiting_release(struct waiting *w)
{
	for (size_t i = 0; i < json_len(w->items); i++)
		json_free(&w->list[i].conflicts);
	json_free(&w->items);
}

static int load_waiting(struct invocation *in, const char *repo, const char *target,
	struct waiting *w, struct error *err)
{
	CLEANUP(json_free) json *all = NULL;
	const char *dir;
	size_t n = 0;

	w->items = json_array();
	if (status_directory(in->arena, repo, &dir, err) < 0 || status_items(dir, &all, err) < 0)
		return -1;
	for (const json *i = json_first(all); i; i = json_next(i))
		if (json_get_str(i, "branch"))
			json_push(w->items, json_copy(i));
	w->list = arena_alloc(in->arena, ((size_t)json_len(w->items) + 1) * sizeof(*w->list));
	for (const json *i = json_first(w->items); i; i = json_next(i))
		w->list[n++] = (struct predicted){
			.name = json_get_str(i, "id"), .branch = json_get_str(i, "branch")};
	return land_predict(in->arena, repo, target, w->list, n, err);
}

static void add_conflicts(struct buf *out, const json *conflicts)
{
	if (!json_len(conflicts))
		buf_adds(out, "no conflicts");
	for (const json *c = json_first(conflicts); c; c = json_next(c)) {
		buf_addf(out, "%s '%s':", c == json_first(conflicts) ? "conflicts with" : ";",
			json_get_str(c, "with"));
		for (const json *p = json_first(json_get(c, "paths")); p; p = json_next(p)) {
			buf_addc(out, ' ');
			buf_add_printable(out, str_of(json_text(p)), 200);
		}
	}
}

static const char *default_target(struct arena *a, const char *repo)
{
	struct git_default known = {0};
	struct error ignored;

	return git_read_default(a, repo, &known, &ignored) == 0 && known.branch ? known.branch
										: "main";
}

/* Whether the target has the commits that were approved, or one commit with their changes. */
static bool is_merged(struct arena *a, const char *repo, const char *target,
	const struct evidence_approved *approved)
{
	const char *name = arena_printf(a, "refs/remotes/origin/%s", target), *tip, *commit;
	struct error ignored;

	return git_read_ids(a, repo, &name, 1, &tip, &ignored) == 0 && tip &&
	       git_find_landed(a, repo, approved->head, tip, approved->patch, &commit, &ignored) ==
		       0 &&
	       commit;
}

/* An approved item whose branch is not here: it can land from origin, or be made again. */
static int add_lost(struct invocation *in, const char *repo, const char *target, const json *item,
	json *rows, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *id = json_get_str(item, "id"), *status = json_get_str(item, "status");
	const char *branch = json_get_str(item, "branch"), *ids[2];
	const char *const names[] = {arena_printf(in->arena, "refs/heads/%s", branch),
		arena_printf(in->arena, "refs/remotes/origin/%s", branch)};
	struct evidence_approved approved;

	if (git_read_ids(in->arena, repo, names, 2, ids, err) < 0 ||
		context_open(&f, json_get_str(item, "file"), CONTEXT_READ_ONLY, err) < 0 ||
		evidence_load_approved(in->arena, &f, &approved, err) < 0)
		return -1;
	if (ids[0] || !approved.head || is_merged(in->arena, repo, target, &approved))
		return 0;
	json_push(rows, JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("status", status),
				JSON_TEXT("branch", branch),
				JSON_IF(!ids[1], JSON_TEXT("lost", approved.head))));
	buf_addf(in->out, "%-12s  %-7s  ", id, status);
	if (ids[1])
		buf_addf(in->out, "'%s' is only on 'origin'\n", branch);
	else
		buf_addf(in->out, "no branch '%s' any more; to restore it: git branch %s %s\n",
			branch, branch, approved.head);
	return 0;
}

/* What is not on the target yet, as the branches are now. */
static int list_waiting(struct invocation *in, struct error *err)
{
	CLEANUP(waiting_release) struct waiting w = {0};
	CLEANUP(json_free) json *rows = json_array();
	const struct land_options *o = in->values;
	const struct predicted *p;
	const char *repo, *target = o->target;

	if (locate_repository(in->arena, o->pool.repo, &repo, err) < 0)
		return -1;
	if (!target)
		target = default_target(in->arena, repo);
	if (load_waiting(in, repo, target, &w, err) < 0)
		return -1;
	p = w.list;
	for (const json *i = json_first(w.items); i; i = json_next(i), p++) {
		if (!p->there && strcmp(json_get_str(i, "status"), "done") == 0 &&
			!json_get(i, "landed") && add_lost(in, repo, target, i, rows, err) < 0)
			return -1;
		if (!p->there || p->merged)
			continue;
		json_push(rows, JSON_OBJECT(JSON_TEXT("id", p->name),
					JSON_TEXT("status", json_get_str(i, "status")),
					JSON_TEXT("branch", p->branch),
					JSON_VALUE("conflicts", json_copy(p->conflicts))));
		buf_addf(in->out, "%-12s  %-7s  ", p->name, json_get_str(i, "status"));
		add_conflicts(in->out, p->conflicts);
		buf_addc(in->out, '\n');
	}
	if (!in->out->len)
		buf_adds(in->out, "nothing waits to be landed\n");
	cli_put_json(in, o->json, json_copy(rows));
	return 0;
}

/* The receipt, which `status` shows. What has landed has landed, whether it is noted or not; what
 * is found to have landed before has less to say. */
static void note_landed(const char *item, const struct land *l)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	if (context_open(&f, item, CONTEXT_MUST_EXIST, &err) == 0 && l->already &&
		context_get(&f.doc, "landed").n)
		return;
	buf_addf(&text, "%s as %.12s; commit %s, patch %s", l->target, l->commit, l->commit,
		l->patch);
	if (l->tree)
		buf_addf(&text, ", checked tree %s", l->tree);
	if (err.code || context_set_key(&f, "landed", buf_str(&text), &err) < 0)
		error_log("dev-team: the branch has landed, but its receipt cannot be written: %s",
			err.text);
}

static int land_run(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct land_options *o = in->values;
	struct land_ask ask = {
		.target = o->target, .check = o->check, .check_s = (unsigned)o->check_s};
	const char *item, *kept = NULL;
	struct gate_ask wait = {.wait_ms = (unsigned)(o->wait_s * 1000 + 0.5)};
	struct land l;

	if (o->pr && o->direct)
		return error_set(err, ERR_USAGE, "give --pr or --direct, not both");
	if (!in->n)
		return list_waiting(in, err);
	if (land_find_branch(in, &ask, &item, err) < 0 ||
		locate_pool(in->arena, &o->pool, &p, err) < 0)
		return -1;
	if (!ask.check)
		ask.check = default_check(in->arena, p.repo);
	else if (!ask.check[0])
		ask.check = NULL;
	if (!o->pr)
		ask.pull = NULL;
	else if (land_find_pull(in->arena, &p, &ask, err) < 0)
		return -1;
	ask.method = o->method;
	if (!ask.target)
		ask.target = remote_default(in->arena, p.repo);
	wait.who = arena_printf(in->arena, "land %.150s", ask.branch);
	if (cli_land_branch(in, &p, &ask, &wait, &l, err) < 0)
		return -1;
	land_put_result(in->out, &l, o->pr);
	cli_put_json(in, o->json, land_json(&l));
	if (l.fate != LAND_LANDED)
		return land_status(&l);
	if (item)
		note_landed(item, &l);
	if (is_own_script(in->words[0]))
		return 0;
	if (land_return(in->arena, &p, l.branch, l.target, &kept, err) < 0)
		return -1;
	if (kept)
		error_log("dev-team: the worktree stays: %s", kept);
	return 0;
}

const struct verb verb_land = {
	.name = "land",
	.group = "Everyday",
	.about = "bring the branch of a finished work item into its target branch",
	.details =
		"Without a word it lists the items whose branches are not on the target yet, and "
		"which of them would conflict, with the target or with one another.\n"
		"\n"
		"One landing at a time, under the merge gate: fetches, rebases the branch in a "
		"throw-away worktree, compares the result with the approved changes, runs the "
		"check there, and pushes the target and the branch together. Then the item's "
		"worktree goes back to the pool. It can be repeated at any time: what has landed "
		"does not land twice. A BRANCH lands as it is, without an approval. With --pr only "
		"the branch is pushed; the forge checks the pull request and merges it.\n"
		"\n"
		"Exit status 1: conflict, changed (not the approved changes, or others changed the "
		"lines around them) or checks_failed; 4: moved (others pushed meanwhile, three "
		"times), needs_person (the remote or a hook refuses), or the item has not ended "
		"with success. The target is then as it was.",
	.examples = "dev-team land\n"
		    "dev-team land ADR-1\n"
		    "dev-team land feature/x --target release --check 'make test'",
	.words = "[ID|BRANCH]",
	.options = {options, cli_pool_options},
	.size = sizeof(struct land_options),
	.defaults = &defaults,
	.run = land_run,
};
