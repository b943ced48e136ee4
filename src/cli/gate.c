#include "src/base/log.h"
#include "src/cli/gate.h"
#include "src/cli/subcommands.h"
#include "src/sys/path.h"
#include "src/run/interrupt.h"
#include "src/cli/common.h"

enum { ARTIFACTS = GATE_ARTIFACTS, RESOURCES = GATE_RESOURCES, WAIT_MAX_S = 7 * 86400 };

static const struct option_spec options[] = {
	RESOURCES_OPTION,
	[GATE_POOL] = {"pool", "NAME",
		"the WorktreePool among the resources; default: the only one, else all defaults",
		false},
	[GATE_REPO] = {"repo", "DIR", "the repository; default: the one around the caller", false},
	ARTIFACTS_OPTION,
	[GATE_WHO] = {"who", "TEXT", "what others are told about the holder", false},
	[GATE_WAIT] = {"wait", "SECONDS", "how long to wait for the gate, also 1.5; default: 300",
		false},
	[GATE_TTL] = {"ttl", "SECONDS",
		"the lease; it is renewed while the holder works; default: 600", false},
	[GATE_TARGET] = {"target", "BRANCH",
		"what to rebase onto, a branch of origin; default: origin's default branch", false},
	[GATE_ATTEMPTS] = {"attempts", "N",
		"conflicts after which it is not tried any more; default: 3", false},
	[GATE_AGAIN] = {"again", NULL, "forget the conflicts that there were", false},
	[GATE_ISSUE] = {"issue", "ID", "whose events and runtime.json tell of it", false},
	[GATE_FENCE] = {"fence", "N", "for 'release': only when this is the holder's", false},
	[GATE_FORCE] = {"force", NULL, "for 'release': yes, end what the holder runs", false},
	[GATE_JSON] = {"json", NULL, "the result as one line of JSON", false},
	{0},
};

int gate_number(struct invocation *in, enum gate_option k, int64_t min, int64_t max,
	int64_t otherwise, int64_t *out, struct error *err)
{
	const char *text = in->args->value[k];
	size_t n = text ? strspn(text, "0123456789") : 0;
	int64_t value;

	*out = otherwise;
	if (!text)
		return 0;
	value = n && n <= 15 ? strtoll(text, NULL, 10) : -1;
	if (!n || n > 15 || text[n] || value < min || value > max)
		return error_set(err, ERR_USAGE, "bad value '%.40s' of --%s: must be %lld to %lld",
			text, options[k].name, (long long)min, (long long)max);
	*out = value;
	return 0;
}

/* 300, 1.5, 0.025 */
static int read_wait(const char *text, unsigned *out, struct error *err)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
	const char *end = text + whole + (part ? part + 1 : 0);
	double s = whole && whole < 9 && part < 9 ? strtod(text, NULL) : -1;

	if (*end || s < 0 || s > WAIT_MAX_S)
		return error_set(err, ERR_USAGE,
			"bad value '%.40s' of --wait: must be 0 to %d seconds", text, WAIT_MAX_S);
	*out = (unsigned)(s * 1000 + 0.5);
	return 0;
}

int gate_times(struct invocation *in, unsigned *wait_ms, int *ttl_s, struct error *err)
{
	int64_t ttl;

	*wait_ms = GATE_WAIT_MS;
	if ((in->args->value[GATE_WAIT] &&
		    read_wait(in->args->value[GATE_WAIT], wait_ms, err) < 0) ||
		gate_number(in, GATE_TTL, 1, GATE_TTL_MAX_S, GATE_TTL_S, &ttl, err) < 0)
		return -1;
	*ttl_s = (int)ttl;
	return 0;
}

static void put_run(struct invocation *in, const struct gate_run_ask *ask, int status)
{
	json *j;

	if (!in->args->value[GATE_JSON])
		return;
	j = json_object();
	json_put_int(j, "fence", ask->fence);
	json_put_int(j, "status", status);
	put_line(in->out, j);
}

int gate_run_run(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const char **argv = arena_alloc(in->arena, (in->args->n + 1) * sizeof(*argv));
	struct gate_run_ask ask = {.who = in->args->value[GATE_WHO], .argv = argv, .output = -1};
	int status = 0, rc;

	for (size_t i = 1; i < in->args->n; i++)
		argv[i - 1] = in->args->words[i];
	if (!argv[0])
		return error_set(err, ERR_USAGE, "no command for 'gate run'");
	if (!ask.who)
		ask.who = argv[0];
	if (in->args->value[GATE_JSON])
		ask.output = STDERR_FILENO; /* standard output is the result's */
	if (gate_times(in, &ask.wait_ms, &ask.ttl_s, err) < 0 || pool_of(in, &p, err) < 0 ||
		interrupt_begin(&ask.cancel, err) < 0)
		return -1;
	rc = gate_run(in->arena, &p, &ask, &status, err);
	interrupt_end();
	if (rc < 0 && !interrupt_caught())
		return -1;
	if (rc < 0)
		log_line("dev-team: %s", err->text);
	if (interrupt_caught())
		status = 128 + interrupt_caught();
	put_run(in, &ask, status);
	return status;
}

enum {
	ANY = OPTION(GATE_RESOURCES) | OPTION(GATE_POOL) | OPTION(GATE_REPO) |
	      OPTION(GATE_ARTIFACTS) | OPTION(GATE_JSON),
	HELD = ANY | OPTION(GATE_WHO) | OPTION(GATE_WAIT) | OPTION(GATE_TTL),
	REBASED = HELD | OPTION(GATE_TARGET) | OPTION(GATE_ATTEMPTS) | OPTION(GATE_AGAIN) |
		  OPTION(GATE_ISSUE),
};

static const struct subcommand parts[] = {
	{"run", gate_run_run, HELD, 0, MAX_WORDS},
	{"status", gate_run_status, ANY, 0, 0},
	{"rebase", gate_run_rebase, REBASED, 0, 1},
	{"release", gate_run_release, ANY | OPTION(GATE_FENCE) | OPTION(GATE_FORCE), 0, 0},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_gate, parts, in, err);
}

const struct verb verb_gate = {
	.name = "gate",
	.synopsis = "run|status|rebase|release [OPTION...] [BRANCH | -- COMMAND...]",
	.about = "let one at a time merge: run a command, rebase and push under a pool's gate",
	.details =
		"  run -- COMMAND     wait for the gate, run COMMAND, give the gate back; the exit "
		"status is\n"
		"                     the command's own. It and all that it starts end when the "
		"gate is lost\n"
		"  status             who holds it, and which branches are suspended\n"
		"  rebase BRANCH      a worktree of the pool (branch, slug or path): fetch, "
		"rebase onto the\n"
		"                     target, push with the expected sha. A conflict leaves the "
		"worktree as it\n"
		"                     was\n"
		"  release --force    take the gate away from its holder, whose processes are "
		"ended first\n"
		"\n"
		"There is one gate for each directory of a pool. A holder that has died holds it "
		"no more; one\n"
		"whose lease is over is ended before the next one comes in. What runs under the "
		"gate has\n"
		"DEV_TEAM_GATE_FENCE in its environment, a number higher than that of any holder "
		"before.\n"
		"\n"
		"Exit status 1: 'rebase' met a conflict. 4: the gate was not free in time "
		"(MergeGateLockTimeout)\n"
		"or was lost; somebody else has pushed the branch; the worktree is not fit for "
		"it.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
