#include "src/base/log.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/run/run_loop.h"
#include "src/run/run_many.h"
#include "src/run/run_worktree.h"
#include "src/store/lock.h"

enum {
	WORKFLOW,
	AGENTS,
	CONTEXT_FILE,
	RESEARCH_SKILL,
	PLUGIN_ROOT,
	REPO,
	OWNER,
	TAKE_OVER,
	MAX_ACTIONS,
	HARNESS,
	MODEL,
	TIMEOUT,
	PIPELINE,
	RESOURCES,
	ARTIFACTS,
	PASS_ENV,
	WORKTREE,
	SLOTS,
	PARENT,
	AT_ONCE
};

/* One name for all: a lock of its own sees to it that there are no two runs of
 * a work item, and one that was killed is gone on with at once. */
#define OWN_NAME "dev-team run"

/* Far above the budget of a workflow: a script that always says `continue` ends
 * somewhere. */
enum { DEFAULT_MAX_ACTIONS = 1000, MAX_ACTIONS_MAX = 9999999 };

enum { AGENT_S_MAX = 86400 };

static const struct option_spec options[] = {
	STEP_OPTIONS,
	[AGENTS] = {"agents", "SCRIPT", "what scripted agents do and answer (YAML)", false},
	[MAX_ACTIONS] = {"max-actions", "N", "stop after so many actions; default: 1000", false},
	[HARNESS] = {"harness", "NAME[,NAME...]",
		"real agents: the harness that runs them, and those to fall back on", false},
	[MODEL] = {"model", "NAME", "with --harness: alias or id; default: sonnet", false},
	[TIMEOUT] = {"timeout", "SECONDS", "for each real agent; default: 1800", false},
	[PIPELINE] = {"pipeline", "NAME",
		"real agents: a Pipeline whose stages say harness, model and limits", false},
	RESOURCES_OPTION,
	ARTIFACTS_OPTION,
	[PASS_ENV] = {"pass-env", "NAME",
		"a variable of yours that the agents get too (they get few); "
		"may be given again",
		true},
	[WORKTREE] = {"worktree", NULL,
		"in a worktree of its own, with ports of its own "
		"(docs/worktree-pool.md)",
		false},
	[SLOTS] = {"slots", "N", "with --worktree: keep N ports for worktrees of children", false},
	[PARENT] = {"parent", "BRANCH",
		"with --worktree: a child of BRANCH's worktree, with a port out of its range",
		false},
	[AT_ONCE] = {"max-concurrent", "N",
		"of several work items, how many at once; default: as the "
		"pipeline says, or 1",
		false},
	{0},
};

static int read_count(const char *name, const char *text, unsigned long max, unsigned long *out,
	struct error *err)
{
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 7 ||
		strtoul(text, NULL, 10) > max)
		return error_set(err, ERR_USAGE,
			"--%s must be a whole number up to %lu, not '%.60s'", name, max, text);
	*out = strtoul(text, NULL, 10);
	return 0;
}

static bool hired(const struct args *args)
{
	return args->value[HARNESS] || args->value[PIPELINE];
}

/* Where a run works. */
struct place {
	struct worktree_ask ask;
	struct own_worktree own;               /* path NULL: in the checkout */
	const struct worktree_pool_spec *spec; /* as written; may be NULL */
};

static int hire(struct invocation *in, struct loop *l, const struct place *at, struct error *err)
{
	const struct args *args = in->args;
	struct staff_ask ask = {.workflow = l->call.workflow,
		.harness = args->value[HARNESS],
		.model = args->value[MODEL],
		.pipeline = at->ask.pipeline,
		.pool = at->spec,
		.resources = args->value[RESOURCES],
		.artifacts = args->value[ARTIFACTS],
		.root = args->value[PLUGIN_ROOT],
		.id = l->call.id,
		.repo = l->call.repo,
		.context_file = l->call.context_file,
		.pass = args->repeated,
		.n_pass = args->n_repeated};
	long seconds = 0;

	if (args->value[TIMEOUT] &&
		read_seconds("timeout", args->value[TIMEOUT], 1, AGENT_S_MAX, &seconds, err) < 0)
		return -1;
	ask.timeout_s = (unsigned)seconds;
	l->call.agents_are_paid = true;
	l->agents.others = true;
	l->stage.staff = &l->staff;
	return staff_hire(in->arena, &ask, &l->staff, err);
}

/* What makes no sense together, before anything is made. */
static int check_options(const struct args *args, struct error *err)
{
	static const int real[] = {MODEL, TIMEOUT, PASS_ENV};

	if (!hired(args) && !args->value[AGENTS])
		return error_set(err, ERR_USAGE,
			"who plays the agents? --agents SCRIPT, --harness NAME or "
			"--pipeline NAME");
	for (size_t i = 0; !hired(args) && i < COUNT(real); i++)
		if (args->value[real[i]])
			return error_set(err, ERR_USAGE, "--%s needs --harness or --pipeline",
				options[real[i]].name);
	if (args->n > 1 && args->value[CONTEXT_FILE])
		return error_set(
			err, ERR_USAGE, "--context-file is of one work item, not of %zu", args->n);
	return need_option(&verb_run, args, WORKFLOW, err);
}

static int load_pipeline(
	struct invocation *in, struct resources *all, const struct pipeline **p, struct error *err)
{
	const struct args *args = in->args;

	*all = (struct resources){0};
	*p = NULL;
	if (!args->value[PIPELINE])
		return 0;
	return staff_pipeline(in->arena,
		&(struct pipeline_ask){args->value[PIPELINE], args->value[RESOURCES],
			args->value[ARTIFACTS], args->value[REPO]},
		all, p, err);
}

/* A pipeline whose stages are isolated never works in the checkout that people are in. */
static bool wants_worktree(const struct args *args, const struct pipeline *p)
{
	if (args->value[WORKTREE] || args->value[SLOTS] || args->value[PARENT])
		return true;
	if (!p || !p->parallel ||
		parallelism_mode(getenv("AI_SDLC_PARALLELISM")) == PARALLELISM_OFF)
		return false;
	for (size_t i = 0; i < p->n_stages; i++)
		if (p->stages[i].isolation == ISOLATION_WORKTREE)
			return true;
	return !p->n_stages;
}

/* From here on the run's repository is its worktree. */
static int move_in(struct invocation *in, struct loop *l, struct place *at, struct error *err)
{
	const struct args *args = in->args;
	unsigned long slots = 0;

	if (args->value[SLOTS] &&
		read_count("slots", args->value[SLOTS], SLOTS_MAX, &slots, err) < 0)
		return -1;
	at->ask.port = getenv("PORT");
	at->ask.parent = args->value[PARENT];
	at->ask.slots = (unsigned)slots;
	if (run_worktree(in->arena, &at->ask, &at->own, err) < 0)
		return -1;
	l->call.repo = at->own.path;
	/* Scripts and scripted agents inherit it. */
	if (setenv("PORT", arena_printf(in->arena, "%u", at->own.port), 1) < 0)
		return error_errno(err, "cannot set PORT");
	log_line("dev-team: %s works in '%s', port %u", l->call.id, at->own.path, at->own.port);
	return 0;
}

/* The machine commits what is left over: also what was there before. */
static void warn_of_checkout(const char *repo)
{
	static const char *const argv[] = {"git", "status", "--porcelain", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct git_command look = {.dir = repo, .name = "git status", .argv = argv, .limit_s = 60};
	struct error ignored;

	if (git_command(&look, &out, NULL, &ignored) == 0 && out.len)
		log_line("dev-team: there are changes in '%s' that are not committed: they will go "
			 "with the work; --worktree keeps them apart",
			repo);
}

/* Settled when the pipeline is loaded; one of several runs leaves it to the one that began them. */
static int settle(struct invocation *in, const struct resources *all, const struct pipeline *p,
	const char *artifacts, struct error *err)
{
	unsigned ignored;

	return run_at_once(in->arena, in->args->value[AT_ONCE], all, p, artifacts, &ignored, err);
}

static int find_place(struct invocation *in, struct loop *l, struct place *at, struct error *err)
{
	const struct args *args = in->args;
	struct resources all;
	char *artifacts;

	at->ask = (struct worktree_ask){
		.id = l->call.id, .repo = l->call.repo, .resources = args->value[RESOURCES]};
	if (load_pipeline(in, &all, &at->ask.pipeline, err) < 0 ||
		artifacts_folder(in->arena, args->value[ARTIFACTS], l->call.repo, &artifacts, err) <
			0 ||
		settle(in, &all, at->ask.pipeline, artifacts, err) < 0)
		return -1;
	at->ask.artifacts = artifacts;
	if (at->ask.pipeline)
		at->spec = resources_pool(&all, at->ask.pipeline->worktree_pool);
	if (wants_worktree(args, at->ask.pipeline))
		return move_in(in, l, at, err);
	if (hired(args))
		warn_of_checkout(l->call.repo);
	return 0;
}

static int cast(struct invocation *in, struct loop *l, const struct place *at, struct error *err)
{
	const struct args *args = in->args;

	l->stage = (struct stage){.id = l->call.id,
		.repo = l->call.repo,
		.context_file = l->call.context_file,
		.script = args->value[AGENTS]};
	if (args->value[AGENTS] && agents_load(in->arena, args->value[AGENTS], &l->agents, err) < 0)
		return -1;
	if (hired(args) && hire(in, l, at, err) < 0)
		return -1;
	l->staff.branch = at->own.branch;
	l->staff.main_repo = at->ask.repo;
	l->staff.port = at->own.port;
	return 0;
}

static int resolve(struct invocation *in, struct loop *l, struct error *err)
{
	const struct args *args = in->args;

	l->call = (struct step_call){STEP_CALL(args)};
	if (!l->call.owner)
		l->call.owner = OWN_NAME;
	l->max = DEFAULT_MAX_ACTIONS;
	if (args->value[MAX_ACTIONS] && read_count("max-actions", args->value[MAX_ACTIONS],
						MAX_ACTIONS_MAX, &l->max, err) < 0)
		return -1;
	return step_resolve(in->arena, &l->call, err);
}

/* Two runs of one work item would play each action twice. */
static int lock_run(struct arena *a, const char *document, struct lock **lock, struct error *err)
{
	char *dir = arena_dup(a, path_dir(document));
	struct str base = path_base(document);

	if (path_mkdirs(dir, err) < 0)
		return -1;
	return lock_take(
		lock, arena_printf(a, "%s/.%.*s.run.lock", dir, (int)base.n, base.p), 0, err);
}

static int run_one(struct invocation *in, struct error *err)
{
	CLEANUP(lock_drop) struct lock *lock = NULL;
	struct place at = {0};
	struct loop l = {0};
	int rc;

	if (resolve(in, &l, err) < 0 || lock_run(in->arena, l.call.context_file, &lock, err) < 0)
		return -1;
	rc = find_place(in, &l, &at, err);
	if (rc == 0)
		rc = cast(in, &l, &at, err);
	if (rc == 0)
		rc = loop_go(&l, in->out, err);
	if (rc < 0 && !l.served)
		run_worktree_undo(in->arena, &at.ask, &at.own);
	return rc;
}

/* The options that each of several runs gets: all that were given, and a
 * worktree of its own. */
static void pass_options(struct invocation *in, struct many *m)
{
	const struct args *args = in->args;
	const char **list =
		arena_alloc(in->arena, (COUNT(options) + args->n_repeated + 2) * sizeof(*list));

	for (size_t k = 0; options[k].name; k++)
		if (args->value[k] && k != WORKTREE && k != AT_ONCE && k != PASS_ENV)
			list[m->n_options++] =
				options[k].argument
					? arena_printf(in->arena, "--%s=%s", options[k].name,
						  args->value[k])
					: arena_printf(in->arena, "--%s", options[k].name);
	for (size_t i = 0; i < args->n_repeated; i++)
		list[m->n_options++] = arena_printf(in->arena, "--pass-env=%s", args->repeated[i]);
	list[m->n_options++] = "--worktree";
	list[m->n_options++] = arena_printf(in->arena, "--max-concurrent=%u", m->at_once);
	m->options = list;
}

/* Each once: a second run of one would be refused when the first is at work already. */
static int check_ids(const struct args *args, struct error *err)
{
	for (size_t i = 0; i < args->n; i++) {
		if (id_check(args->words[i], err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(args->words[i], args->words[k]) == 0)
				return error_set(
					err, ERR_USAGE, "'%s' stands there twice", args->words[i]);
	}
	return 0;
}

static int run_several(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	struct many m = {.ids = args->words, .n = args->n};
	const struct pipeline *p;
	struct resources all;
	char *repo, *artifacts;

	if (check_ids(args, err) < 0)
		return -1;
	if (load_pipeline(in, &all, &p, err) < 0 ||
		repo_root(in->arena, args->value[REPO], &repo, err) < 0 ||
		artifacts_folder(in->arena, args->value[ARTIFACTS], repo, &artifacts, err) < 0 ||
		run_at_once(in->arena, args->value[AT_ONCE], &all, p, artifacts, &m.at_once, err) <
			0)
		return -1;
	m.artifacts = artifacts;
	pass_options(in, &m);
	return run_many(in->arena, &m, in->out, err);
}

static int run(struct invocation *in, struct error *err)
{
	if (check_options(in->args, err) < 0)
		return -1;
	return in->args->n > 1 ? run_several(in, err) : run_one(in, err);
}

const struct verb verb_run = {
	.name = "run",
	.synopsis = "ID... --workflow FILE (--agents SCRIPT | --harness NAME | "
		    "--pipeline NAME) "
		    "[OPTION...]",
	.about = "bring a work item to its end with scripted agents, or headless "
		 "with real ones",
	.details = "The loop without a person: steps, has each action served, and steps "
		   "again, until "
		   "the work item is\n"
		   "done. Scripts (run_script) are really run. A line for each action "
		   "goes to "
		   "standard error; the last\n"
		   "array to standard output. Exit status 1 when the run ended failed.\n\n"
		   "With --agents the agents do and answer what SCRIPT says "
		   "(docs/agent-scripts.md). "
		   "With --harness each\n"
		   "agent is one call of a coding agent's program, which gets its task as "
		   "one prompt "
		   "and whose last\n"
		   "message is the answer; --pipeline takes harness, model and limits of "
		   "each state "
		   "from the stage of\n"
		   "that name (docs/harness.md). With both, SCRIPT plays what it has an "
		   "entry for.\n\n"
		   "Several IDs are run at one time, each in a worktree of its own; the "
		   "result is an "
		   "array with an object\n"
		   "for each.\n\n"
		   "After an interruption or an error the same command goes on from "
		   "there.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
