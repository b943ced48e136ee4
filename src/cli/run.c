#include <signal.h>
#include "src/base/path.h"
#include "src/cli/interrupt.h"
#include "src/cli/run_jobs.h"
#include "src/cli/run_show.h"
#include "src/cli/step_run.h"
#include "src/machine/agents_uses.h"
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
	MAX_ACTIONS
};

/* One name for all: a lock of its own sees to it that there are no two runs of a work item, and
 * one that was killed is gone on with at once. */
#define OWN_NAME "dev-team run"

/* Far above the budget of a workflow: a script that always says `continue` ends somewhere. */
enum { DEFAULT_MAX_ACTIONS = 1000 };

static const struct option_spec options[] = {
	STEP_OPTIONS,
	[AGENTS] = {"agents", "SCRIPT", "what the agents do and answer (YAML)", false},
	[MAX_ACTIONS] = {"max-actions", "N", "stop after so many actions; default: 1000", false},
	{0},
};

/* One run: what it is about, and how far it is. */
struct loop {
	struct step_call call;
	struct script_agents agents;
	struct stage stage;
	struct show show;
	unsigned long served, max;
	const json *array; /* of the last step */
	struct buf line;   /* the same as text */
};

static int plan_one(struct loop *l, const json *action, struct part *p, struct error *err)
{
	size_t uses;

	*p = (struct part){.action = action};
	if (agents_find(&l->agents, action, &p->entry, err) < 0)
		return -1;
	if (!p->entry)
		return 0;
	if (agents_uses(l->call.context_file, p->entry->key, json_get_str(action, "id"), &uses,
		    err) < 0)
		return -1;
	return agents_turn(&l->agents, p->entry, uses, action, &p->turn, err);
}

/* Nothing of an array is done before all of it can be. */
static int plan(struct arena *a, struct loop *l, struct part **parts, struct error *err)
{
	size_t n = json_len(l->array), i = 0;

	*parts = arena_alloc(a, n * sizeof(**parts));
	for (const json *action = json_first(l->array); action; action = json_next(action))
		if (plan_one(l, action, &(*parts)[i++], err) < 0)
			return -1;
	if (l->served + n > l->max)
		return error_set(
			err, ERR_STATE, "stopped after %lu actions (see --max-actions)", l->served);
	l->served += n;
	return 0;
}

static void part_done(void *data, const struct part *p, const struct outcome *o)
{
	const struct loop *l = data;

	show_part(&l->show, p->action, o->word);
}

static int serve(struct loop *l, struct error *err)
{
	struct arena a = {0};
	struct part *parts;
	int rc = plan(&a, l, &parts, err);

	if (rc == 0)
		rc = jobs_run(&l->stage, parts, json_len(l->array), part_done, l, err);
	arena_release(&a);
	l->call.returned = true;
	l->call.take_over = false;
	return rc;
}

static bool is_done(const json *array)
{
	return strcmp(json_get_str(json_first(array), "action"), "done") == 0;
}

/* 1: served, go on. 0: done, and l->line says how. */
static int round_of(struct loop *l, bool *good, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	struct arena a = {0};
	int rc;

	buf_clear(&l->line);
	rc = step_run(&a, &l->call, &l->line, err);
	arena_release(&a);
	if (rc < 0 || json_parse(&array, buf_str(&l->line), err) < 0)
		return -1;
	l->array = array;
	if (is_done(array)) {
		show_done(&l->show, json_first(array));
		*good = strcmp(json_get_str(json_first(array), "result"), "success") == 0;
		return 0;
	}
	return interrupt_caught() || serve(l, err) < 0 ? -1 : 1;
}

/* What was answered stays answered; the caller sees a program that was ended by the signal. */
static void die_of(int signal)
{
	say("dev-team: interrupted; the same command goes on from here");
	(void)raise(signal);
}

static int go(struct loop *l, struct buf *out, struct error *err)
{
	bool good = false;
	int rc, signal;

	if (interrupt_begin(&l->stage.cancel, err) < 0)
		return -1;
	show_begin(&l->show);
	do
		rc = round_of(l, &good, err);
	while (rc > 0);
	signal = rc < 0 ? interrupt_caught() : 0;
	interrupt_end();
	if (rc < 0)
		step_give_back(&l->call);
	if (signal) {
		die_of(signal);
		return error_set(err, ERR_STATE, "interrupted by signal %d", signal);
	}
	if (rc < 0)
		return -1;
	buf_add(out, buf_str(&l->line));
	buf_addc(out, '\n');
	return good ? 0 : ERR_CHECK;
}

static int take_number(const char *text, unsigned long *out, struct error *err)
{
	*out = DEFAULT_MAX_ACTIONS;
	if (!text)
		return 0;
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 7)
		return error_set(err, ERR_USAGE,
			"--max-actions must be a whole number up to 9999999, not '%.60s'", text);
	*out = strtoul(text, NULL, 10);
	return 0;
}

static int prepare(struct invocation *in, struct loop *l, struct error *err)
{
	const struct args *args = in->args;

	l->call = (struct step_call){STEP_CALL(args)};
	if (!l->call.owner)
		l->call.owner = OWN_NAME;
	if (need_option(&verb_run, args, WORKFLOW, err) < 0 ||
		need_option(&verb_run, args, AGENTS, err) < 0 ||
		take_number(args->value[MAX_ACTIONS], &l->max, err) < 0)
		return -1;
	if (step_resolve(in->arena, &l->call, err) < 0)
		return -1;
	l->stage = (struct stage){.id = l->call.id,
		.repo = l->call.repo,
		.context_file = l->call.context_file,
		.script = args->value[AGENTS]};
	return agents_load(in->arena, args->value[AGENTS], &l->agents, err);
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

static int run(struct invocation *in, struct error *err)
{
	CLEANUP(lock_drop) struct lock *lock = NULL;
	struct loop l = {0};
	int rc;

	if (prepare(in, &l, err) < 0 || lock_run(in->arena, l.call.context_file, &lock, err) < 0)
		return -1;
	rc = go(&l, in->out, err);
	buf_release(&l.line);
	return rc;
}

const struct verb verb_run = {
	.name = "run",
	.synopsis = "ID --workflow FILE --agents SCRIPT [OPTION...]",
	.about = "bring a work item to its end with agents that a script plays",
	.details =
		"The loop without Claude Code: steps, has each action served as SCRIPT says, and "
		"steps again, until\n"
		"the work item is done. Scripts (run_script) are really run. A line for each "
		"action goes to\n"
		"standard error; the last array to standard output. Exit status 1 when the "
		"run ended failed.\n\n"
		"After an interruption or an error the same command goes on from there.\n"
		"The form of SCRIPT: docs/agent-scripts.md.",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
