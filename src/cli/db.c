/* db.c: database branches of worktrees. */
#include <limits.h>
#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/run/databases.h"
#include "src/run/locate.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

struct db_options {
	struct pool_choice pool;
	const char *database, *worktree, *access;
	bool apply, json;
};

static const struct option database_options[] = {
	OPTION_TEXT(struct db_options, database, "database", "NAME",
		"only this DatabaseBranchPool; default: all of the pool"),
	OPTION_END,
};
static const struct option apply_options[] = {
	OPTION_FLAG(struct db_options, apply, "apply", "remove them; default: only print them"),
	OPTION_END,
};
static const struct option env_options[] = {
	OPTION_TEXT(struct db_options, worktree, "worktree", "BRANCH|SLUG|PATH",
		"the worktree; default: the one around the working directory"),
	OPTION_CHOICE(struct db_options, access, "access", "none|read|write",
		"what COMMAND may do with the databases; default: write"),
	OPTION_END,
};

/* ---- the pool ---- */

struct db_session {
	struct pool pool;
	struct pool_databases d;
};

static void db_close(struct db_session *s)
{
	pool_databases_close(&s->d);
	pool_close(&s->pool);
}

/* A worktree has the resources that are committed on its branch. */
static int refuse_no_database(struct invocation *in, struct error *err)
{
	const struct db_options *o = in->values;
	const char *dir;

	if (locate_resources(in->arena, o->pool.resources, o->pool.repo, &dir, err) < 0)
		return -1;
	return error_set(err, ERR_STATE,
		"no WorktreePool in '%s' names a DatabaseBranchPool: add 'databaseBranchPools' to "
		"one, and commit it on the branch of each worktree",
		dir ? dir : ".dev-team/resources");
}

/* With --database, that pool alone. */
static int choose_database(
	struct invocation *in, struct db_session *s, const char *name, struct error *err)
{
	struct pool *p = &s->pool;

	for (size_t i = 0; name && i < p->spec.n_databases; i++)
		if (strcmp(p->spec.databases[i]->name, name) == 0) {
			p->spec.databases += i;
			p->spec.n_databases = 1;
			return 0;
		}
	if (name)
		return error_set(err, ERR_USAGE,
			"WorktreePool '%s' names no DatabaseBranchPool '%.100s'", p->spec.name,
			name);
	return p->spec.n_databases ? 0 : refuse_no_database(in, err);
}

static int db_open(struct invocation *in, struct db_session *s, struct error *err)
{
	const struct db_options *o = in->values;

	return locate_pool(in->arena, &o->pool, &s->pool, err) < 0 ||
			       choose_database(in, s, o->database, err) < 0 ||
			       pool_databases_open(in->arena, &s->pool, &s->d, err) < 0
		       ? -1
		       : 0;
}

/* ---- check ---- */

static int run_db_check(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	const struct db_options *o = in->values;
	bool failed = false;
	json *rows;

	if (db_open(in, &s, err) < 0)
		return -1;
	rows = json_array();
	for (size_t i = 0; i < s.pool.spec.n_databases; i++) {
		const struct database_pool_spec *d = s.pool.spec.databases[i];
		struct error why;
		bool bad = branchdb_check(&s.d.db, d, true, &why) < 0;

		failed = failed || bad;
		buf_addf(in->out, "%-4s  %s  %s%s%s\n", bad ? "fail" : "ok", d->name, d->adapter,
			bad ? ": " : "", bad ? why.text : "");
		json_push(rows,
			JSON_OBJECT(JSON_TEXT("pool", d->name), JSON_TEXT("adapter", d->adapter),
				JSON_BOOL("ok", !bad), JSON_IF(bad, JSON_TEXT("fault", why.text))));
	}
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_BOOL("ok", !failed), JSON_VALUE("databases", rows)));
	return failed ? ERR_CHECK : 0;
}

/* ---- allocate, reclaim, list ---- */

static json *branch_json(const struct branchdb_branch *b)
{
	return JSON_OBJECT(JSON_TEXT("key", b->key), JSON_TEXT("pool", b->pool),
		JSON_TEXT("adapter", b->adapter), JSON_TEXT("branch", b->of),
		JSON_TEXT("state", branchdb_state_word(b->state)),
		JSON_IF(b->method, JSON_TEXT("method", b->method)),
		JSON_IF(b->warm, JSON_BOOL("warm", true)), JSON_TIME("created", b->created),
		JSON_TIME("active", b->active), JSON_IF(b->fault, JSON_TEXT("fault", b->fault)));
}

static void put_branch(struct buf *out, const struct branchdb_branch *b)
{
	char active[CLOCK_TEXT];

	clock_text(b->active, active);
	buf_addf(out, "%s  %s  %s  %s  used %s%s%s\n", b->key, b->pool,
		*b->of    ? b->of
		: b->warm ? "(warm)"
			  : "(shared)",
		branchdb_state_word(b->state), active, b->fault ? "  " : "",
		b->fault ? b->fault : "");
}

static int run_db_allocate(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	CLEANUP(json_free) json *rows = json_array();
	const struct db_options *o = in->values;
	struct allocation of;

	if (db_open(in, &s, err) < 0 ||
		pool_find(in->arena, &s.pool, in->words[0], true, &of, err) < 0)
		return -1;
	for (size_t i = 0; i < s.pool.spec.n_databases; i++) {
		const struct branchdb_request q = {
			.pool = s.pool.spec.databases[i], .branch = of.branch, .worktree = of.path};
		struct branchdb_branch b;

		if (branchdb_allocate(&s.d.db, &q, &b, err) < 0)
			return -1;
		put_branch(in->out, &b);
		json_push(rows, branch_json(&b));
	}
	cli_put_json(in, o->json, JSON_OBJECT(JSON_VALUE("branches", json_copy(rows))));
	return 0;
}

static bool db_is_meant(const struct db_session *s, const struct branchdb_branch *b,
	const char *word, const struct db_options *o)
{
	if (o->database && strcmp(b->pool, s->pool.spec.databases[0]->name) != 0)
		return false;
	return strcmp(b->key, word) == 0 || (*b->of && strcmp(b->of, word) == 0);
}

/* A branch with our mark that no record has, as an audit names it. */
static int reclaim_unlisted(struct db_session *s, const char *key, size_t *n, struct error *err)
{
	struct error why;

	for (size_t i = 0; i < s->pool.spec.n_databases && !*n; i++)
		if (branchdb_remove_unlisted(&s->d.db, s->pool.spec.databases[i], key, &why) == 0)
			++*n;
		else if (why.code != ERR_STATE)
			return *err = why, -1;
	return 0;
}

static int run_db_reclaim(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	const struct db_options *o = in->values;
	const char *word = in->words[0];
	struct branchdb_list all;
	size_t n = 0;

	if (db_open(in, &s, err) < 0 || branchdb_list(&s.d.db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct branchdb_branch *b = &all.items[i];
		bool used = false;

		if (!db_is_meant(&s, b, word, o))
			continue;
		if (*b->of && pool_databases_in_use(&s.d, b->of, &used, err) < 0)
			return -1;
		if (used)
			return error_set(err, ERR_STATE,
				"database branch '%s' is in use: the worktree of '%s' is live",
				b->key, b->of);
		if (branchdb_remove(&s.d.db, b, "manual-reclaim", err) < 0)
			return -1;
		n++;
	}
	if (!n && str_starts(str_of(word), "dt-") && reclaim_unlisted(&s, word, &n, err) < 0)
		return -1;
	if (n)
		buf_addf(in->out, "reclaimed %zu of '%s'\n", n, word);
	else
		buf_addf(in->out, "nothing to reclaim: '%s'\n", word);
	cli_put_json(in, o->json, JSON_OBJECT(JSON_TEXT("what", word), JSON_INT("removed", n)));
	return 0;
}

static int run_db_list(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	const struct db_options *o = in->values;
	struct branchdb_list all;
	json *rows;

	/* Also of databases that the resources no longer name. */
	if (locate_pool(in->arena, &o->pool, &s.pool, err) < 0 ||
		pool_databases_open(in->arena, &s.pool, &s.d, err) < 0 ||
		branchdb_list(&s.d.db, &all, err) < 0)
		return -1;
	rows = json_array();
	for (size_t i = 0; i < all.n; i++) {
		put_branch(in->out, &all.items[i]);
		json_push(rows, branch_json(&all.items[i]));
	}
	if (!all.n)
		buf_adds(in->out, "no database branches\n");
	cli_put_json(in, o->json, JSON_OBJECT(JSON_VALUE("branches", rows)));
	return 0;
}

/* ---- sweep ---- */

static int run_db_sweep(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	const struct db_options *o = in->values;
	struct branchdb_due_list due = {0};
	bool failed = false;
	json *rows;

	if (db_open(in, &s, err) < 0 || branchdb_sweep(&s.d.db, o->apply, true, &due, err) < 0)
		return -1;
	rows = json_array();
	for (size_t i = 0; i < due.n; i++) {
		const struct branchdb_due *e = &due.items[i];

		failed = failed || e->fault;
		buf_addf(in->out, "%s  %s  %s\n", e->of.key, e->reason,
			e->removed ? "removed"
			: e->fault ? e->fault
				   : "would be removed");
		json_push(rows, JSON_ADD(branch_json(&e->of), JSON_TEXT("reason", e->reason),
					JSON_BOOL("removed", e->removed)));
	}
	if (!due.n)
		buf_adds(in->out, "nothing to sweep\n");
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_BOOL("applied", o->apply), JSON_VALUE("due", rows)));
	return failed ? ERR_CHECK : 0;
}

/* ---- refill ---- */

static int run_db_refill(struct invocation *in, struct error *err)
{
	CLEANUP(db_close) struct db_session s = {0};
	const struct db_options *o = in->values;
	size_t made;

	if (db_open(in, &s, err) < 0 || pool_databases_refill(&s.d, &made, err) < 0)
		return -1;
	buf_addf(in->out, "made %zu\n", made);
	cli_put_json(in, o->json, JSON_OBJECT(JSON_INT("made", made)));
	return 0;
}

/* ---- env ---- */

static int find_around(
	struct invocation *in, struct pool *p, struct allocation *out, struct error *err)
{
	char cwd[PATH_MAX];
	struct allocation of = {0};

	if (!getcwd(cwd, sizeof(cwd)))
		return error_errno(err, "cannot find the working directory");
	for (char *at = cwd; !of.branch && strcmp(at, "/") != 0;
		at = arena_dup(in->arena, path_dir(at)))
		if (pool_find(in->arena, p, at, false, &of, err) < 0)
			return -1;
	if (!of.branch)
		return error_set(err, ERR_STATE,
			"'%s' is not in a worktree of the pool: give --worktree", cwd);
	return pool_find(in->arena, p, of.path, true, out, err);
}

static int run_db_env(struct invocation *in, struct error *err)
{
	const struct db_options *o = in->values;
	struct branchdb_environment env = {0};
	enum database_access access = !o->access                       ? DATABASE_WRITE
				      : strcmp(o->access, "none") == 0 ? DATABASE_NONE
				      : strcmp(o->access, "read") == 0 ? DATABASE_READ
								       : DATABASE_WRITE;
	struct allocation of;

	{
		CLEANUP(db_close) struct db_session s = {0};

		if (db_open(in, &s, err) < 0 ||
			(o->worktree ? pool_find(in->arena, &s.pool, o->worktree, true, &of, err)
				     : find_around(in, &s.pool, &of, err)) < 0 ||
			pool_databases_environment(&s.d, &of, access, NULL, &env, err) < 0)
			return -1;
	}
	return process_become(in->words, env.items, err);
}

/* ---- the subcommands ---- */

#define TABLES database_options, cli_pool_options, CLI_JSON_TABLE(struct db_options)

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("check", NULL, run_db_check,
		"check that each database and all that its adapter needs is there",
		.details = "Names variables, programs and servers that are missing, never a value. "
			   "Exit status 1 if any is.",
		.options = {TABLES}),
	CLI_SUBCOMMAND("allocate", "BRANCH|SLUG|PATH", run_db_allocate,
		"create and migrate the database branches of a worktree that has none yet",
		.options = {TABLES}),
	CLI_SUBCOMMAND("reclaim", "BRANCH|KEY", run_db_reclaim,
		"remove the database branches of a worktree, or one by its key",
		.options = {TABLES}),
	CLI_SUBCOMMAND("list", NULL, run_db_list, "list the database branches of this repository",
		.options = {cli_pool_options, CLI_JSON_TABLE(struct db_options)}),
	CLI_SUBCOMMAND("sweep", NULL, run_db_sweep,
		"find branches that are interrupted, too old, or unused for too long",
		.options = {apply_options, cli_pool_options, CLI_JSON_TABLE(struct db_options)}),
	CLI_SUBCOMMAND("refill", NULL, run_db_refill,
		"make branches in advance, as many as 'warmPoolSize' says",
		.details = "A command that creates a worktree starts it in the background. Nothing "
			   "is done while another one works.",
		.options = {cli_pool_options, CLI_JSON_TABLE(struct db_options)}),
	CLI_SUBCOMMAND("env", "COMMAND...", run_db_env,
		"run a command with the variables of a worktree's database branches",
		.details = "Replaces this program by COMMAND. Put '--' before it.",
		.options = {env_options, database_options, cli_pool_options}),
	NULL,
};

const struct verb verb_db = {
	.name = "db",
	.group = "Plumbing",
	.about = "give worktrees branches of databases, and remove them when they are done",
	.details = "A worktree gets its branches when it is created, and loses them with it; these "
		   "commands are for what is done by hand. No connection string is printed.\n"
		   "\n"
		   "Exit status: 4 if a limit is reached or a branch is in use, 5 if a database "
		   "cannot be reached.",
	.examples = "dev-team db check\n"
		    "dev-team db list\n"
		    "dev-team db env -- npm test",
	.size = sizeof(struct db_options),
	.subcommands = subcommands,
};
