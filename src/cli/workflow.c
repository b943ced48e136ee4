#include "src/base/log.h"
#include "context/file.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/verify/explore.h"
#include "src/policy/policy.h"
#include "src/workflow/workflow.h"
#include "steps/steps.h"

enum { CONTEXT_FILE, FORMAT, CHANGES, STATES, TRACE, JSON, PLUGIN_ROOT };

static const struct option_spec options[] = {
	[CONTEXT_FILE] = {"context-file", "FILE",
		"for 'draw': marks the state that this document is in", false},
	[FORMAT] = {"format", "mermaid|svg", "for 'draw': default mermaid", false},
	[CHANGES] = {"changes", "N",
		"for 'explore': how often in one run the troubleshooter may change things; "
		"default 0",
		false},
	[STATES] = {"states", "N", "for 'explore': stop at so many states; default 200000", false},
	[TRACE] = {"trace", "N", "for 'explore': print the script that shows finding N", false},
	[JSON] = {"json", NULL, "for 'explore': the report as one JSON object", false},
	[PLUGIN_ROOT] = {"plugin-root", "DIR", "where the shipped workflows are", false},
	{0},
};

/* A path is told in messages as it was given; a bare name is that of a shipped workflow. */
static int load(struct invocation *in, struct workflow *w, struct error *err)
{
	const char *name = in->args->words[1];
	char *path = arena_dup(in->arena, str_of(name));

	if (!strchr(name, '/') && !str_ends(str_of(name), ".md") && !path_exists(name) &&
		workflow_path(in->arena, name, in->args->value[PLUGIN_ROOT], &path, err) < 0)
		return -1;
	return workflow_load(in->arena, path, w, err);
}

/* A file of the repository is found when the script runs; the names are known. */
static size_t check_policy(struct invocation *in, const struct workflow *w)
{
	const struct workflow_security *s = &w->security;
	struct policy policy;
	struct error err = {0};

	if (!s->policy || strchr(s->policy, '/') || str_ends(str_of(s->policy), ".yaml") ||
		str_ends(str_of(s->policy), ".yml") ||
		policy_load(in->arena, s->policy, &policy, &err) == 0)
		return 0;
	buf_addf(in->out, "%s:%u:%u: %s\n", w->file, s->line, s->col, err.text);
	return 1;
}

static int run_check(struct invocation *in, struct error *err)
{
	struct workflow w;

	if (load(in, &w, err) < 0)
		return -1;
	if (workflow_check(&w, steps_builtin(), in->out) + check_policy(in, &w))
		return ERR_CHECK;
	buf_addf(in->out, "%s: good; %zu states, %zu transitions, %zu declared\n", w.file,
		w.n_states, w.n_edges, w.n_declared);
	return 0;
}

static int current_state(
	struct invocation *in, const struct workflow *w, const char **state, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *path = in->args->value[CONTEXT_FILE];

	*state = NULL;
	if (!path)
		return 0;
	if (context_open(&f, path, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	*state = arena_dup(in->arena, context_get(&f.doc, "state"));
	if (!workflow_state(w, *state))
		log_line("'%s' is in the state '%.64s', which '%s' does not have", path, *state,
			w->file);
	return 0;
}

static int run_draw(struct invocation *in, struct error *err)
{
	const char *format = in->args->value[FORMAT] ? in->args->value[FORMAT] : "mermaid";
	bool svg = !strcmp(format, "svg");
	struct workflow w;
	const char *state;

	if (!svg && strcmp(format, "mermaid") != 0)
		return error_set(
			err, ERR_USAGE, "unknown format '%.60s': one of mermaid, svg", format);
	if (load(in, &w, err) < 0 || current_state(in, &w, &state, err) < 0)
		return -1;
	if (svg)
		workflow_draw_svg(&w, state, in->out);
	else
		workflow_draw_mermaid(&w, state, in->out);
	return 0;
}

static int take_number(const struct invocation *in, int option, unsigned long otherwise,
	unsigned long *out, struct error *err)
{
	const char *text = in->args->value[option];

	*out = otherwise;
	if (!text)
		return 0;
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 8)
		return error_set(err, ERR_USAGE, "--%s must be a whole number, not '%.60s'",
			options[option].name, text);
	*out = strtoul(text, NULL, 10);
	return 0;
}

static int run_explore(struct invocation *in, struct error *err)
{
	unsigned long changes, states, trace;
	struct explore_wish wish;
	struct workflow w;

	if (take_number(in, CHANGES, 0, &changes, err) < 0 ||
		take_number(in, STATES, EXPLORE_STATES, &states, err) < 0 ||
		take_number(in, TRACE, 0, &trace, err) < 0 || load(in, &w, err) < 0)
		return -1;
	wish = (struct explore_wish){.changes = (unsigned)changes,
		.states = states,
		.trace = trace,
		.json = in->args->value[JSON] != NULL};
	return explore_workflow(&w, &wish, in->out, err);
}

static int run(struct invocation *in, struct error *err)
{
	if (!strcmp(in->args->words[0], "check"))
		return run_check(in, err);
	if (!strcmp(in->args->words[0], "draw"))
		return run_draw(in, err);
	if (!strcmp(in->args->words[0], "explore"))
		return run_explore(in, err);
	return error_set(err, ERR_USAGE,
		"workflow: unknown '%.60s' (see 'dev-team workflow --help')", in->args->words[0]);
}

const struct verb verb_workflow = {
	.name = "workflow",
	.synopsis = "check FILE | draw FILE [--context-file FILE] [--format mermaid|svg] | "
		    "explore FILE [--trace N] [--json]",
	.about = "check a workflow file, draw it, or walk all that can become of it",
	.details =
		"check  tells every fault as FILE:LINE:COL: a trigger without a transition, a "
		"state "
		"that nothing serves, that cannot be reached or cannot reach an end; exit status "
		"1. A file that cannot be read as a workflow: exit status 3\n"
		"draw   the diagram as mermaid text or as an SVG, the current state marked\n"
		"explore  plays every combination of what agents and scripts may answer, or not, "
		"with the real engine,\n"
		"and tells dead ends, livelocks, states that only a limit leaves, what is never "
		"reached, and how many\n"
		"actions a run can cost; exit status 1 when there are findings. --trace N prints "
		"a script of agents\n"
		"with which 'dev-team run' shows finding N\n"
		"FILE may be the name of a shipped workflow.",
	.options = options,
	.min_words = 2,
	.max_words = 2,
	.run = run,
};
