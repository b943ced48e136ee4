#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/merge/land.h"
#include "src/run/run.h"
#include "src/run/locate.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"

enum { WAIT_MAX_S = 7 * 86400, LEASE_MAX_S = 86400 };

struct gate_options {
	struct pool_choice pool;
	const char *who, *target, *issue;
	double wait_s;
	int64_t lease_s;
	int64_t fence;
	bool force, json;
};

static const struct option hold_options[] = {
	OPTION_TEXT(struct gate_options, who, "who", "TEXT",
		"what others see about the holder; default: the command, or the branch"),
	OPTION_DECIMAL(struct gate_options, wait_s, "wait", "SECONDS", 0, WAIT_MAX_S,
		"how long to wait for the gate, such as 1.5; default: 300"),
	OPTION_END,
};
static const struct option run_options[] = {
	OPTION_NUMBER(struct gate_options, lease_s, "lease", "SECONDS", 0, LEASE_MAX_S,
		"keep the gate for so long afterwards, for the next command with the same --who"),
	OPTION_END,
};
static const struct option rebase_options[] = {
	OPTION_TEXT(struct gate_options, target, "target", "BRANCH",
		"branch of origin to rebase onto; default: origin's default branch"),
	OPTION_TEXT(struct gate_options, issue, "issue", "ID", "write events for this issue"),
	CLI_JSON(struct gate_options),
	OPTION_END,
};
static const struct option release_options[] = {
	OPTION_FLAG(struct gate_options, force, "force", "end the holder's processes; required"),
	OPTION_NUMBER(struct gate_options, fence, "fence", "N", 1, JSON_MAX_INT,
		"only if the holder has this fence"),
	OPTION_END,
};
static const struct gate_options defaults = {.wait_s = GATE_WAIT_MS / 1000.0, .lease_s = -1};

static unsigned gate_wait_ms(const struct gate_options *o)
{
	return (unsigned)(o->wait_s * 1000 + 0.5);
}

/* A name that is empty, or that is the next option, was forgotten. */
static int check_who(const struct gate_options *o, struct error *err)
{
	return o->who && (!o->who[0] || o->who[0] == '-')
		       ? error_set(err, ERR_USAGE,
				 "--who must be the name of a holder, not '%.60s'", o->who)
		       : 0;
}

/* ---- run ---- */

static int gate_run_run(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct gate_options *o = in->values;
	struct gate_run_ask ask = {.gate = {.who = o->who ? o->who : in->words[0],
					   .wait_ms = gate_wait_ms(o),
					   .lease = o->lease_s >= 0,
					   .lease_s = o->lease_s > 0 ? (unsigned)o->lease_s : 0},
		.argv = in->words,
		.output = o->json ? STDERR_FILENO : -1}; /* standard output is the result's */
	int status = 0, rc;

	if (ask.gate.lease && !o->who)
		return error_set(err, ERR_USAGE, "--lease requires --who, the name of its holder");
	if (check_who(o, err) < 0 || locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		run_interrupt_begin(&ask.gate.cancel, err) < 0)
		return -1;
	rc = gate_run(in->arena, &p, &ask, &status, err);
	run_interrupt_end();
	if (rc < 0 && !run_interrupt_caught())
		return -1;
	if (rc < 0)
		error_log("dev-team: %s", err->text);
	if (run_interrupt_caught())
		status = 128 + run_interrupt_caught();
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_INT("fence", ask.fence), JSON_INT("status", status)));
	return status;
}

/* ---- status and release ---- */

static void gate_put_holder(struct buf *out, const struct gate_holder *h)
{
	char since[CLOCK_TEXT];

	clock_text(h->since, since);
	buf_addf(out, "held by '%s'\n  process  %ld on %s, %s\n  fence    %lld\n  since    %s\n",
		h->who, (long)h->pid, h->host,
		h->until     ? "ended; its lease holds the gate"
		: h->stopped ? "stopped"
		: h->live    ? "live"
			     : "ended; a process that it started is running",
		(long long)h->fence, since);
}

static void put_waiting(struct buf *out, const struct gate_holder *h)
{
	char since[CLOCK_TEXT];

	clock_text(h->since, since);
	buf_addf(out, "waiting  '%s', process %ld on %s%s, since %s\n", h->who, (long)h->pid,
		h->host, h->stopped ? ", stopped" : "", since);
}

static int gate_run_status(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct gate_options *o = in->values;
	struct gate_holder *line;
	json *waiting;
	int64_t fence;
	size_t length;

	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		gate_status(in->arena, &p, &line, &length, &fence, err) < 0)
		return -1;
	if (length)
		gate_put_holder(in->out, &line[0]);
	else
		buf_addf(in->out, "free (last fence %lld)\n", (long long)fence);
	waiting = json_array();
	for (size_t i = 1; i < length; i++) {
		json_push(waiting, gate_holder_json(&line[i]));
		put_waiting(in->out, &line[i]);
	}
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_TEXT("dir", p.dir), JSON_BOOL("held", length > 0),
			JSON_INT("fence", fence),
			JSON_IF(length, JSON_VALUE("holder", gate_holder_json(&line[0]))),
			JSON_VALUE("waiting", waiting)));
	return 0;
}

static int gate_run_release(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct gate_options *o = in->values;
	struct gate_holder was;

	if (!o->force)
		return error_set(err, ERR_USAGE,
			"the holder releases its gate itself; give --force to end its processes "
			"and take the gate away");
	if (locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		gate_force(in->arena, &p, o->fence, &was, err) < 0)
		return -1;
	if (was.held)
		buf_addf(in->out, "released: fence %lld, '%s', process %ld on %s\n",
			(long long)was.fence, was.who, (long)was.pid, was.host);
	else
		buf_adds(in->out, "the gate was free\n");
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_BOOL("released", was.held),
			JSON_IF(was.held, JSON_VALUE("was", gate_holder_json(&was)))));
	return 0;
}

/* ---- rebase ---- */

static void put_rebase(struct buf *out, const struct land *l)
{
	buf_addf(out, "%s: ", land_word(l));
	if (l->fate == LAND_LANDED)
		buf_addf(out, "'%s' at %.12s, on '%s' at %.12s", l->branch, l->commit, l->target,
			l->onto);
	else
		buf_adds(out, l->reason);
	for (size_t i = 0; l->paths && l->paths[i]; i++)
		buf_addf(out, "%s %s", i ? "," : ":", l->paths[i]);
	buf_addc(out, '\n');
}

static int run_rebase(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct gate_options *o = in->values;
	struct allocation of;
	struct gate_ask wait = {.who = o->who, .wait_ms = gate_wait_ms(o)};
	struct land_ask ask = {.target = o->target, .issue = o->issue};
	struct land l;

	if (check_who(o, err) < 0 || (o->issue && path_check_id(o->issue, err) < 0) ||
		locate_pool(in->arena, &o->pool, &p, err) < 0 ||
		pool_find(in->arena, &p, in->words[0], true, &of, err) < 0)
		return -1;
	ask.branch = of.branch;
	ask.follow = of.path;
	if (!ask.target)
		ask.target = remote_default(in->arena, p.repo);
	if (!wait.who)
		wait.who = arena_printf(in->arena, "rebase %.150s", of.branch);
	if (cli_land_branch(in, &p, &ask, &wait, &l, err) < 0)
		return -1;
	if (l.kept)
		error_log("dev-team: '%s' stays at %.12s, which was rebased and pushed: %s",
			of.path, l.head, l.kept);
	put_rebase(in->out, &l);
	cli_put_json(in, o->json, land_json(&l));
	return land_status(&l);
}

/* ---- the subcommands ---- */

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("run", "-- COMMAND...", gate_run_run,
		"wait for the gate, run COMMAND, release the gate",
		.details = "The exit status is the command's own. What it leaves in the "
			   "background is ended with it. With --json the command's "
			   "output goes to standard error.",
		.options = {hold_options, run_options, cli_pool_options,
			CLI_JSON_TABLE(struct gate_options)}),
	CLI_SUBCOMMAND("status", NULL, gate_run_status,
		"print the holder of the gate and those that wait for it",
		.options = {cli_pool_options, CLI_JSON_TABLE(struct gate_options)}),
	CLI_SUBCOMMAND("rebase", "BRANCH|SLUG|PATH", run_rebase,
		"fetch, rebase a branch of the pool onto its target, and push it",
		.details = "Pushes only if the branch on the remote is the expected commit. After "
			   "a conflict the worktree is as it was before. Exit status: 1 after a "
			   "conflict; 4 if someone else has pushed the branch, or the remote or a "
			   "hook refuses it.",
		.options = {rebase_options, hold_options, cli_pool_options}),
	CLI_SUBCOMMAND("release", NULL, gate_run_release,
		"end the holder's processes and take the gate away from it",
		.options = {release_options, cli_pool_options,
			CLI_JSON_TABLE(struct gate_options)}),
	NULL,
};

const struct verb verb_gate = {
	.name = "gate",
	.group = "Plumbing",
	.about = "let one process at a time merge: run a command, rebase and push under a lock",
	.details = "Each directory of a pool has one gate. A dead holder loses the gate at once. "
		   "Commands "
		   "under the gate have DEV_TEAM_GATE_FENCE in their environment, a number higher "
		   "than that "
		   "of any earlier holder.\n"
		   "\n"
		   "Exit status: 4 if the gate was not free in time (MergeGateLockTimeout) or was "
		   "lost.",
	.examples = "dev-team gate rebase feat/issue-42\n"
		    "dev-team gate run --wait 60 -- make release\n"
		    "dev-team gate status",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.subcommands = subcommands,
};
