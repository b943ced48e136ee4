#include "context/file.h"
#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

struct pool_options {
	struct pool_choice pool;
	const char *base, *target, *sparse, *port, *parent, *run, *issue;
	int64_t base_port, ports, count, slots, holder;
	bool apply, confirm, json;
};

const struct option cli_pool_options[] = {
	CLI_REPO(struct pool_choice),
	CLI_RESOURCES(struct pool_choice),
	OPTION_TEXT(struct pool_choice, name, "pool", "NAME",
		"the WorktreePool; default: 'default', else the only one, else all defaults"),
	CLI_ARTIFACTS(struct pool_choice),
	OPTION_END,
};
static const struct option branch_options[] = {
	OPTION_TEXT(struct pool_options, base, "base", "COMMIT", "start point of a new branch"),
	OPTION_TEXT(struct pool_options, target, "target", "BRANCH",
		"branch to merge into; a new branch starts there; default: the remote's default"),
	OPTION_TEXT(struct pool_options, sparse, "sparse", "DIR",
		"check out only this directory of the repository"),
	OPTION_END,
};
static const struct option port_options[] = {
	OPTION_NUMBER(struct pool_options, ports, "ports", "N", 1, PORTS_MAX,
		"how many consecutive ports, at most 10; default: 1"),
	OPTION_TEXT(struct pool_options, port, "port", "N",
		"the first port; default: computed from the path"),
	OPTION_NUMBER(struct pool_options, slots, "slots", "N", 0, SLOTS_MAX,
		"reserve ports for N child worktrees, at most 20, as many for each; default: 0"),
	OPTION_TEXT(struct pool_options, parent, "parent", "BRANCH|PATH",
		"take the ports from those reserved by this worktree"),
	OPTION_TEXT(struct pool_options, run, "run", "ID", "the run that uses it"),
	OPTION_NUMBER(struct pool_options, holder, "holder", "PID", 1, 1 << 22,
		"the process that uses it; it is kept while the process lives"),
	OPTION_TEXT(struct pool_options, issue, "issue", "ID",
		"write the ports into the runtime.json of this issue"),
	OPTION_END,
};
static const struct option confirm_options[] = {
	OPTION_FLAG(struct pool_options, confirm, "confirm",
		"remove it in spite of uncommitted changes or unpushed commits; they are lost"),
	CLI_JSON(struct pool_options),
	OPTION_END,
};
static const struct option sweep_options[] = {
	OPTION_FLAG(struct pool_options, apply, "apply", "remove them; default: only print them"),
	OPTION_TEXT(struct pool_options, target, "target", "BRANCH",
		"branches merged into this one are due; default: the remote's default branch"),
	OPTION_END,
};
static const struct option lookup_options[] = {
	OPTION_NUMBER(struct pool_options, base_port, "base", "N", 1024, 65000,
		"the base port; default: the pool's"),
	OPTION_NUMBER(struct pool_options, count, "count", "N", 1, PORTS_MAX,
		"how many ports; default: 1"),
	OPTION_TEXT(struct pool_options, port, "port", "N",
		"the first port; default: $PORT, else computed from the path"),
	OPTION_END,
};

/* ---- as JSON and as text ---- */

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

#define TEXT(key, value) JSON_IF((value) && *(value), JSON_TEXT(key, value))

static json *allocation_json(const struct pool *p, const struct allocation *of)
{
	return JSON_OBJECT(TEXT("branch", of->branch), TEXT("slug", of->slug),
		TEXT("path", of->path), JSON_TEXT("repo", p->repo), TEXT("pool", of->pool),
		JSON_TEXT("state", states[of->state]), TEXT("base", of->base),
		TEXT("commit", of->tip), JSON_BOOL("madeBranch", of->made_branch),
		TEXT("sparse", of->sparse), JSON_IF(of->ports, JSON_INT("port", of->port)),
		JSON_IF(of->ports, JSON_VALUE("ports", port_list_json(of->port, of->ports))),
		JSON_IF(of->slots, JSON_INT("slots", of->slots)),
		JSON_IF(of->slots, JSON_VALUE("childPorts", port_list_json(of->port + of->ports,
								    of->slots * of->ports))),
		TEXT("parent", of->parent), TEXT("run", of->run),
		JSON_IF(of->holder, JSON_INT("holder", process_name_pid(of->holder))),
		JSON_IF(of->created, JSON_TIME("createdAt", of->created)));
}

static char *allocation_ports(struct arena *a, const struct allocation *of)
{
	if (!of->ports)
		return arena_printf(a, "-");
	if (of->ports == 1)
		return arena_printf(a, "%u", of->port);
	return arena_printf(a, "%u-%u", of->port, of->port + of->ports - 1);
}

static const char *pool_entry_status(const struct allocation *e)
{
	if (e->removed)
		return "removed";
	if (e->state == ALLOCATION_LIVE && !e->there)
		return "gone";
	if (e->reason)
		return e->reason;
	return e->state == ALLOCATION_LIVE && e->stale ? "stale" : states[e->state];
}

static json *pool_entry_json(const struct pool *p, const struct allocation *e)
{
	return JSON_ADD(allocation_json(p, e), JSON_TEXT("status", pool_entry_status(e)),
		JSON_BOOL("there", e->there), JSON_BOOL("stale", e->stale),
		JSON_IF(e->changed, JSON_TIME("changed", e->changed)),
		JSON_IF(e->reason, JSON_TEXT("reason", e->reason)),
		JSON_IF(e->keep, JSON_TEXT("keep", e->keep)),
		JSON_IF(e->keep, JSON_TEXT("why", e->why)));
}

/* ---- allocations ---- */

static void put_allocation(struct invocation *in, const struct allocation *of, bool created)
{
	buf_addf(in->out, "%s '%s'\n  path   %s\n", created ? "allocated" : "adopted", of->branch,
		of->path);
	if (created && of->base)
		buf_addf(in->out, "  from   %s\n", of->base);
	if (of->sparse)
		buf_addf(in->out, "  only   %s\n", of->sparse);
	buf_addf(in->out, "  ports  %s\n", allocation_ports(in->arena, of));
	if (of->slots)
		buf_addf(in->out, "  slots  %u, each of %u ports\n", of->slots, of->ports);
}

static int run_allocate(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	struct allocate_ask ask = {.branch = in->words[0],
		.base = o->base,
		.target = o->target,
		.sparse = o->sparse,
		.port = o->port,
		.parent = o->parent,
		.run = o->run,
		.issue = o->issue,
		.ports = (unsigned)o->ports,
		.slots = (unsigned)o->slots,
		.holder = (pid_t)o->holder,
		.adopt = strcmp(in->path, "pool adopt") == 0};
	struct allocation of;
	bool created;

	if ((o->issue && path_check_id(o->issue, err) < 0) ||
		locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		pool_allocate(in->arena, &p, &ask, &of, &created, err) < 0)
		return -1;
	if (of.warning)
		error_log("%s", of.warning);
	put_allocation(in, &of, created);
	cli_put_json(in, o->json,
		JSON_ADD(allocation_json(&p, &of), JSON_BOOL("created", created),
			JSON_IF(of.warning, JSON_TEXT("warning", of.warning))));
	return 0;
}

#define OF_ITEM "dev-team/"

/* Of the item whose branch it is; NULL: there is none. A bare repository has no name of its own. */
static const char *document_of(
	struct invocation *in, const struct pool *p, const struct allocation *of)
{
	const char *document, *branch = of->branch ? of->branch : "";
	const char *repo = strcmp(p->repo, p->common) == 0 ? of->path : p->repo;
	struct error ignored;

	if (!str_starts(str_of(branch), OF_ITEM) || !path_is_id(str_of(branch + strlen(OF_ITEM))) ||
		locate_document(
			in->arena, NULL, repo, branch + strlen(OF_ITEM), &document, &ignored) < 0)
		return NULL;
	return document;
}

static int run_reclaim(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	const char *what = in->words[0], *document;
	struct allocation of;
	bool removed;

	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		pool_find(in->arena, &p, what, false, &of, err) < 0)
		return -1;
	document = document_of(in, &p, &of);
	/* The item's agents send no further figures, so the ledger settles its reservations. */
	if (pool_reclaim(in->arena, &p, what, o->confirm, &removed, err) < 0 ||
		(removed && document &&
			run_quota_end_item(in->arena, document, of.branch + strlen(OF_ITEM), err) <
				0))
		return -1;
	buf_addf(in->out, "%s '%s'\n", removed ? "reclaimed" : "nothing to reclaim:", what);
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_TEXT("what", what), JSON_BOOL("removed", removed)));
	return 0;
}

/* ---- list and sweep: a table ---- */

enum { BRANCH, STATE, PORT, AGE, LAST, COLUMNS };
enum { DAY_S = 86400, HOUR_S = 3600 };

static const char *age_of(struct arena *a, const struct allocation *e, int64_t now)
{
	int64_t age = now - e->changed;

	if (!e->changed || age < 0)
		return e->changed ? "0h" : "-";
	return age >= DAY_S ? arena_printf(a, "%lldd", (long long)(age / DAY_S))
			    : arena_printf(a, "%lldh", (long long)(age / HOUR_S));
}

static const char *pool_path_of(struct arena *a, const struct allocation *e)
{
	if (!e->parent)
		return e->path;
	return arena_printf(a, "%s (child of %s)", e->path, e->parent);
}

static const char *fate_of(struct arena *a, const struct allocation *e)
{
	if (e->removed)
		return e->reason ? arena_printf(a, "removed (%s)", e->reason) : "removed";
	if (!e->keep)
		return "would be removed";
	return arena_printf(a, "stays (%s): %s", e->keep, e->why);
}

static void fill_row(
	struct arena *a, const struct allocation *e, int64_t now, const char *row[COLUMNS])
{
	row[BRANCH] = e->branch;
	row[STATE] = pool_entry_status(e);
	row[PORT] = allocation_ports(a, e);
	if (e->slots) /* reserved for children, behind its own */
		row[PORT] = arena_printf(a, "%s +%ux%u", row[PORT], e->slots, e->ports);
	row[AGE] = age_of(a, e, now);
}

static void put_table(struct invocation *in, const struct allocation *list, size_t n,
	const char *title, const char *(*last)(struct arena *a, const struct allocation *e))
{
	const char *(*rows)[COLUMNS] = arena_alloc(in->arena, (n + 1) * sizeof(*rows));
	static const char *const heads[LAST] = {"BRANCH", "STATE", "PORTS", "AGE"};
	int widths[LAST] = {0};

	memcpy(rows[0], heads, sizeof(heads));
	rows[0][LAST] = title;
	for (size_t i = 0; i < n; i++) {
		fill_row(in->arena, &list[i], clock_now(), rows[i + 1]);
		rows[i + 1][LAST] = last(in->arena, &list[i]);
	}
	for (size_t i = 0; i <= n; i++)
		for (int k = 0; k < LAST; k++)
			if ((int)strlen(rows[i][k]) > widths[k])
				widths[k] = (int)strlen(rows[i][k]);
	for (size_t i = 0; i <= n; i++) {
		for (int k = 0; k < LAST; k++)
			buf_addf(in->out, "%-*s  ", widths[k], rows[i][k]);
		buf_addf(in->out, "%s\n", rows[i][LAST]);
	}
}

/* The pool, with `rows` as the member `key`. */
static json *pool_json(const struct pool *p, struct json_member extra, const char *key, json *rows)
{
	return JSON_OBJECT(JSON_TEXT("pool", p->spec.name), JSON_TEXT("dir", p->dir),
		JSON_TEXT("repo", p->repo), extra, JSON_VALUE(key, rows));
}

static int pool_run_list(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	struct allocation *list;
	json *rows;
	size_t n;

	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		pool_list(in->arena, &p, &list, &n, err) < 0)
		return -1;
	put_table(in, list, n, "PATH", pool_path_of);
	rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_push(rows, pool_entry_json(&p, &list[i]));
	cli_put_json(in, o->json, pool_json(&p, JSON_NONE, "worktrees", rows));
	return 0;
}

static json *sweep_json(const struct pool *p, bool apply, const struct allocation *list, size_t n)
{
	json *rows = json_array();

	for (size_t i = 0; i < n; i++)
		json_push(rows, JSON_ADD(pool_entry_json(p, &list[i]),
					JSON_BOOL("removed", list[i].removed)));
	return pool_json(p, JSON_BOOL("applied", apply), "stale", rows);
}

static int run_sweep(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	struct allocation *list;
	size_t n;

	if (locate_pool(in->arena, &o->pool, &p, err) < 0)
		return -1;
	p.target = o->target;
	if (pool_sweep(in->arena, &p, o->apply, o->confirm, &list, &n, err) < 0)
		return -1;
	if (n)
		put_table(in, list, n, "FATE", fate_of);
	else
		buf_adds(in->out, "nothing to sweep\n");
	cli_put_json(in, o->json, sweep_json(&p, o->apply, list, n));
	return 0;
}

/* ---- audit ---- */

struct audit_result {
	struct buf *text;
	json *rows;
};

static void audit_add(void *data, const char *kind, const char *path, const char *text)
{
	struct audit_result *r = data;

	json_push(r->rows, JSON_OBJECT(JSON_TEXT("kind", kind), JSON_TEXT("path", path),
				   JSON_TEXT("text", text)));
	buf_addf(r->text, "%s  %s  %s\n", kind, path, text);
}

static int run_audit(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	CLEANUP(json_free) json *rows = json_array();
	struct audit_result r = {in->out, rows};

	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		pool_audit(in->arena, &p, audit_add, &r, err) < 0)
		return -1;
	if (!json_len(rows))
		buf_adds(in->out, "nothing is orphaned\n");
	cli_put_json(in, o->json,
		pool_json(&p, JSON_BOOL("clean", !json_len(rows)), "leaks", json_copy(rows)));
	return json_len(rows) ? ERR_CHECK : 0;
}

/* ---- port ---- */

/* Never a branch. */
static bool pool_is_path(const char *word)
{
	return word[0] == '/' || strcmp(word, ".") == 0 || strcmp(word, "..") == 0 ||
	       strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0;
}

struct port_answer_of {
	struct port_ask ask;
	struct port_answer got;
	const char *source;
};

/* The ports of the worktree. */
static int tell_recorded(
	struct port_answer_of *r, const struct allocation *of, bool by_name, struct error *err)
{
	if (!r->ask.count)
		r->ask.count = by_name ? of->ports : 1;
	if (of->ports < r->ask.count)
		return error_set(err, ERR_STATE, "'%s' has %u ports, fewer than the requested %u",
			of->path, of->ports, r->ask.count);
	r->got.first = of->port;
	r->source = "record";
	return 0;
}

/* A branch or slug of the pool (NULL: there is none), else a path: a branch that has no worktree
 * would get the port of a path of that name, which is wrong. */
static int find_port(
	struct invocation *in, struct pool *p, struct port_answer_of *r, struct error *err)
{
	const char *word = in->words[0];
	struct allocation of = {0};
	struct allocation *taken = NULL;

	if (!*word)
		return error_set(err, ERR_USAGE, "no path to compute a port from");
	if (p && pool_find(in->arena, p, word, false, &of, err) < 0)
		return -1;
	if (!of.branch && !pool_is_path(word) && !path_exists(word))
		return error_set(err, ERR_STATE,
			"'%.200s' is neither a branch of the pool nor an existing path; write "
			"'./%.200s' for a path that does not exist yet",
			word, word);
	if (!r->ask.override && (!of.branch || pool_is_path(word)))
		r->ask.override = getenv("PORT");
	r->ask.path = path_normalize(in->arena, of.branch ? of.path : word);
	if (of.branch && !(r->ask.override && *r->ask.override))
		return tell_recorded(r, &of, !pool_is_path(word), err);
	r->ask.count = r->ask.count ? r->ask.count : 1;
	if (p && pool_list(in->arena, p, &taken, &r->ask.n_taken, err) < 0)
		return -1;
	r->ask.taken = taken;
	if (port_find(&r->ask, &r->got, err) < 0)
		return -1;
	r->source = r->got.candidate ? "computed" : "override";
	return 0;
}

static json *port_json(const struct port_answer_of *r)
{
	struct error ignored;
	unsigned candidate;

	if (port_candidate(r->ask.path, r->ask.base, &candidate, &ignored) < 0 ||
		candidate > PORT_LAST)
		candidate = 0;
	return JSON_OBJECT(JSON_TEXT("path", r->ask.path), JSON_INT("basePort", r->ask.base),
		JSON_IF(candidate, JSON_INT("candidate", candidate)),
		JSON_INT("port", r->got.first),
		JSON_VALUE("ports", port_list_json(r->got.first, r->ask.count)),
		JSON_TEXT("source", r->source),
		JSON_VALUE("attempted", port_list_json(r->got.candidate, r->got.n_tried)));
}

static int run_port(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_options *o = in->values;
	struct port_answer_of r = {.ask = {.override = o->port,
					   .base = (unsigned)o->base_port,
					   .count = (unsigned)o->count}};
	struct worktree_pool_spec spec;
	struct error ignored;
	bool known;

	if (locate_pool_spec(in->arena, &o->pool, &spec, err) < 0)
		return -1;
	if (!r.ask.base)
		r.ask.base = spec.base_port;
	/* A path outside of any repository has no pool. */
	known = locate_pool(in->arena, &o->pool, &p, &ignored) == 0;
	if (find_port(in, known ? &p : NULL, &r, err) < 0)
		return -1;
	for (unsigned i = 0; i < r.ask.count; i++)
		buf_addf(in->out, "%u\n", r.got.first + i);
	cli_put_json(in, o->json, port_json(&r));
	return 0;
}

/* ---- the subcommands ---- */

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("allocate", "BRANCH", run_allocate,
		"create a worktree with ports for BRANCH, or adopt the one that exists",
		.details = "The worktree, its ports and its record are created together or not at "
			   "all.",
		.options = {branch_options, port_options, cli_pool_options,
			CLI_JSON_TABLE(struct pool_options)}),
	CLI_SUBCOMMAND("adopt", "BRANCH", run_allocate,
		"record an existing worktree of BRANCH and give it ports",
		.options = {port_options, cli_pool_options, CLI_JSON_TABLE(struct pool_options)}),
	CLI_SUBCOMMAND("reclaim", "BRANCH|SLUG|PATH", run_reclaim,
		"remove a worktree and free its ports; not an error if there is none",
		.options = {confirm_options, cli_pool_options}),
	CLI_SUBCOMMAND("list", NULL, pool_run_list, "list the worktrees of this repository",
		.options = {cli_pool_options, CLI_JSON_TABLE(struct pool_options)}),
	CLI_SUBCOMMAND("sweep", NULL, run_sweep,
		"find worktrees that are merged, left by a failed run, or stale",
		.details = "A worktree is stale if it was not changed for staleThresholdDays.",
		.options = {sweep_options, confirm_options, cli_pool_options}),
	CLI_SUBCOMMAND("audit", NULL, run_audit,
		"report records and worktrees that do not match; exit status 1 if any",
		.options = {cli_pool_options, CLI_JSON_TABLE(struct pool_options)}),
	CLI_SUBCOMMAND("port", "PATH|BRANCH|SLUG", run_port,
		"print the port of a path, or the ports of a worktree of the pool",
		.options = {lookup_options, cli_pool_options, CLI_JSON_TABLE(struct pool_options)}),
	NULL,
};

const struct verb verb_pool = {
	.name = "pool",
	.group = "Plumbing",
	.about = "give branches worktrees and ports, and remove them when they are done",
	.details =
		"Work is never lost by accident: uncommitted changes, and commits that are on no "
		"remote and on no other branch, keep a worktree unless --confirm is given. A live "
		"run, child worktrees, a lock, or the worktree of another clone keep it always. "
		"The "
		"next command deletes what a killed command had begun to create, and finishes what "
		"it had begun to remove.\n"
		"\n"
		"Exit status: 4 if the worktree is kept, or if the directory, the branch or the "
		"ports are taken.",
	.examples = "dev-team pool allocate feat/issue-42 --ports 2\n"
		    "dev-team pool list\n"
		    "dev-team pool sweep --apply\n"
		    "dev-team pool reclaim feat/issue-42",
	.size = sizeof(struct pool_options),
	.subcommands = subcommands,
};
