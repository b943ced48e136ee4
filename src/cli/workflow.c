#include "src/base/error.h"
#include "context/file.h"
#include "src/cli/cli.h"
#include "src/graph/manifest.h"
#include "src/machine/node.h"
#include "src/policy/clearance.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/setup/setup.h"
#include "src/sys/directory.h"
#include "src/sys/dot.h"
#include "src/sys/path.h"
#include "src/verify/explore.h"
#include "steps/steps.h"

struct workflow_options {
	const char *plugin_root, *context_file, *format, *from, *repo;
	int64_t changes, states, trace;
	bool json, list;
};

static const struct option check_options[] = {
	CLI_PLUGIN_ROOT(struct workflow_options),
	OPTION_END,
};
static const struct option draw_options[] = {
	OPTION_TEXT(struct workflow_options, context_file, "context-file", "FILE",
		"mark the state that this document is in"),
	OPTION_CHOICE(struct workflow_options, format, "format", "mermaid|dot|svg",
		"the output; default: mermaid; svg needs Graphviz"),
	OPTION_END,
};
static const struct option explore_options[] = {
	OPTION_NUMBER(struct workflow_options, changes, "changes", "N", 0, 99999999,
		"how often in one run the troubleshooter may change things; default: 0"),
	OPTION_NUMBER(struct workflow_options, states, "states", "N", 0, 99999999,
		"stop after this many states; default: 200000"),
	OPTION_NUMBER(struct workflow_options, trace, "trace", "N", 0, 99999999,
		"print the agent script that reproduces finding N"),
	OPTION_FLAG(struct workflow_options, json, "json", "print the report as one JSON object"),
	OPTION_END,
};
static const struct option new_options[] = {
	OPTION_TEXT(struct workflow_options, from, "from", "WORKFLOW",
		"the shipped workflow that is copied"),
	OPTION_FLAG(struct workflow_options, list, "list", "list the shipped workflows"),
	CLI_REPO(struct workflow_options),
	OPTION_END,
};
static const struct workflow_options defaults = {.format = "mermaid", .states = EXPLORE_STATES};

static int cli_workflow_load(struct invocation *in, struct workflow *w, struct error *err)
{
	const struct workflow_options *o = in->values;
	const char *path;

	if (locate_workflow_file(in->arena, in->words[0], o->plugin_root, &path, err) < 0)
		return -1;
	return manifest_workflow_load(in->arena, path, w, err);
}

/* ---- the clearance file ---- */

/* The tools of the manifest's persona that the clearance file refuses; where the manifest lists
 * none, those that it leaves. */
static void add_narrower(
	const struct manifest_persona *p, const struct persona *by, struct buf *out)
{
	bool bash = !p->tools.n;
	size_t refused = 0;

	for (size_t i = 0; i < p->tools.n; i++) {
		struct verdict v = {0};

		bash |= strcmp(p->tools.list[i], "Bash") == 0;
		if (clearance_tool(by, str_of(p->tools.list[i]), &v) < 0)
			buf_addf(out, "%s%s", refused++ ? ", " : " it refuses the tools ",
				p->tools.list[i]);
	}
	if (!p->tools.n && by->tools_listed)
		for (size_t i = 0; i < by->tools.n || !i; i++)
			buf_addf(out, "%s%s", i ? ", " : " it allows only the tools ",
				by->tools.n ? by->tools.p[i] : "(none)");
	if (bash && clearance_tool(by, STR("Bash"), &(struct verdict){0}) == 0)
		buf_addf(out, "%s its commands run under the policy '%s'", out->len ? ";" : "",
			by->policy);
	else if (!p->tools.n && !by->policy)
		buf_addf(out, "%s it refuses commands", out->len ? ";" : "");
}

/* One line for what the clearance file says of `agent`, which carries out what the persona has to
 * do, where that is narrower than the manifest. */
static void report_narrower(struct invocation *in, const struct clearance *c,
	const struct manifest_persona *p, const char *agent)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct persona *by = NULL;
	struct verdict v = {0};

	if (clearance_persona(c, str_of(agent), &by, &v) < 0)
		buf_addf(&text, " it has no persona of this name, so it refuses every tool");
	else
		add_narrower(p, by, &text);
	if (text.len)
		buf_addf(in->out, "%s: narrower for the persona '%s', as the agent '%s':%s\n",
			c->file, p->name, agent, text.s);
}

/* An agent is bounded by its manifest and by the clearance file. `run` calls it by its role's
 * name, the client by that of its type, which is another where the plugin lacks the role. */
static int report_clearance(struct invocation *in, const struct manifest *m, struct error *err)
{
	const struct workflow_options *o = in->values;
	const char *file = clearance_find(in->arena, "."), *root;
	struct clearance c;
	bool there = false;

	if (!file || clearance_load(in->arena, file, &c, &there, err) < 0 || !there)
		return file && there ? -1 : 0;
	if (locate_plugin(in->arena, o->plugin_root, &root, err) < 0)
		return -1;
	for (size_t i = 0; i < m->n_personas; i++) {
		const struct manifest_persona *p = &m->personas[i];
		const char *role = p->role ? p->role : p->name;
		const char *type = locate_agent_type(in->arena, root, role);
		const struct persona *run = NULL, *session = NULL;
		struct verdict v = {0};

		(void)clearance_persona(&c, str_of(role), &run, &v);
		(void)clearance_persona(&c, str_of(type), &session, &v);
		report_narrower(in, &c, p, role);
		if (session != run)
			report_narrower(in, &c, p, type);
	}
	return 0;
}

static int workflow_run_check(struct invocation *in, struct error *err)
{
	const struct workflow_options *o = in->values;
	struct workflow w;
	size_t faults;
	const char *path;

	if (locate_workflow_file(in->arena, in->words[0], o->plugin_root, &path, err) < 0)
		return -1;
	if (manifest_is_path(str_of(path))) {
		if (manifest_check_file(in->arena, path, in->out, &faults, err) < 0)
			return -1;
		if (faults)
			return ERR_CHECK;
	}
	if (manifest_workflow_load(in->arena, path, &w, err) < 0)
		return -1;
	if (run_workflow_check(in->arena, &w, o->plugin_root, in->out))
		return ERR_CHECK;
	if (w.n_declared && w.declared->manifest) {
		if (report_clearance(in, w.declared->manifest, err) < 0)
			return -1;
		buf_addf(in->out, "%s: good; %zu personas, %zu nodes, %zu edges\n", w.file,
			w.declared->manifest->n_personas, w.declared->n,
			w.declared->manifest->n_edges);
		return 0;
	}
	buf_addf(in->out, "%s: good; %zu states, %zu transitions, %zu declared%s%s\n", w.file,
		w.n_states, w.n_edges, w.n_declared,
		w.evidence.kinds ? ""
				 : "; 'evidence' lists no kind: the result words of "
				   "the built-in states are not verified",
		workflow_may_stay_local(&w, steps_builtin())
			? "; 'done' can be reached with commits that were not pushed"
			: "");
	return 0;
}

static int workflow_read_items(struct invocation *in, struct context *doc,
	const struct declared_state *d, const enum item_status **items, struct error *err)
{
	CLEANUP(json_free) json *actions = NULL;
	struct step_context c = {.arena = in->arena, .doc = doc, .declared = d};

	if (action_load(doc, &actions, err) < 0)
		return -1;
	c.actions = actions;
	*items = steps_declared_status(&c);
	return 0;
}

/* Without --context-file, at->state is NULL. */
static int workflow_find_current(struct invocation *in, const struct workflow *w,
	struct workflow_current *at, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct workflow_options *o = in->values;
	const struct workflow_state *state;

	if (!o->context_file)
		return 0;
	if (context_open(&f, o->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	at->state = arena_dup(in->arena, context_get(&f.doc, "state"));
	state = workflow_state(w, at->state);
	if (!state)
		error_log("'%s' is in the state '%.64s', which '%s' does not have", o->context_file,
			at->state, w->file);
	return state && state->declared && state->declared->n > 1 && !state->declared->manifest
		       ? workflow_read_items(in, &f.doc, state->declared, &at->items, err)
		       : 0;
}

/* The nodes, not the states, which every manifest has. */
static int draw_manifest(struct invocation *in, const struct workflow *w, struct error *err)
{
	CLEANUP(buf_release) struct buf dot = BUF_INIT;
	const struct workflow_options *o = in->values;
	struct node_drawn *run = NULL;

	if (o->context_file &&
		node_drawn_load(in->arena, o->context_file, w->declared, &run, err) < 0)
		return -1;

	if (strcmp(o->format, "mermaid") == 0) {
		manifest_draw_mermaid(w->declared->manifest, run, in->out);
		return 0;
	}
	manifest_draw_dot(w->declared->manifest, w->file, run, &dot);
	if (strcmp(o->format, "svg") == 0)
		return dot_draw_svg(buf_str(&dot), "--format dot or mermaid", in->out, err);
	buf_add(in->out, buf_str(&dot));
	return 0;
}

static int workflow_run_draw(struct invocation *in, struct error *err)
{
	const struct workflow_options *o = in->values;
	struct workflow_current found = {0}, *at;
	struct workflow w;

	if (cli_workflow_load(in, &w, err) < 0)
		return -1;
	if (w.n_declared && w.declared->manifest)
		return draw_manifest(in, &w, err);
	if (workflow_find_current(in, &w, &found, err) < 0)
		return -1;
	at = found.state ? &found : NULL;
	if (strcmp(o->format, "svg") == 0)
		return workflow_draw_svg(&w, at, in->out, err);
	if (strcmp(o->format, "dot") == 0)
		workflow_draw_dot(&w, at, in->out);
	else
		workflow_draw_mermaid(&w, at, in->out);
	return 0;
}

static int run_explore(struct invocation *in, struct error *err)
{
	const struct workflow_options *o = in->values;
	struct explore_options explore = {.changes = (unsigned)o->changes,
		.states = (size_t)o->states,
		.trace = (size_t)o->trace,
		.json = o->json};
	struct workflow w;

	return cli_workflow_load(in, &w, err) < 0 ? -1
						  : explore_workflow(&w, &explore, in->out, err);
}

/* ---- the shipped workflows ---- */

static int find_shipped(
	struct invocation *in, const char **dir, struct directory_names *names, struct error *err)
{
	const struct workflow_options *o = in->values;
	bool missing;

	if (locate_plugin(in->arena, o->plugin_root, dir, err) < 0)
		return -1;
	*dir = path_join(in->arena, *dir, "workflows");
	if (directory_list(in->arena, *dir, names, &missing, err) < 0)
		return missing ? error_set(err, ERR_STATE, "no '%s': install again", *dir) : -1;
	for (size_t i = names->n; i-- > 0;)
		if (!str_ends(str_of(names->items[i]), ".md") &&
			!manifest_is_path(str_of(names->items[i])))
			vec_remove(names, i);
	return 0;
}

/* The name of a workflow file without its end. */
static struct str workflow_stem_of(const char *name)
{
	return str_sub(str_of(name), 0, (size_t)(strrchr(name, '.') - name));
}

/* The heading of its text; of a manifest, its first comment. */
static struct str title_of(const char *name, struct str text)
{
	struct str title;

	if (!manifest_is_path(str_of(name)))
		text = str_sub(text, str_find(text, STR("\n# ")) + 1, text.n);
	(void)str_line(&text, &title);
	return str_sub(title, 2, title.n);
}

/* NAME, and the heading of its file. */
static int list_shipped(struct invocation *in, struct error *err)
{
	struct directory_names names = {0};
	const char *dir;

	if (find_shipped(in, &dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct workflow w;
		struct str stem = workflow_stem_of(names.items[i]), title;

		if (manifest_workflow_load(
			    in->arena, path_join(in->arena, dir, names.items[i]), &w, err) < 0)
			return -1;
		title = title_of(names.items[i], w.source);
		buf_addf(in->out, "%-18.*s %.*s\n", (int)stem.n, stem.p, (int)title.n, title.p);
	}
	return 0;
}

static int refuse_unknown(struct invocation *in, const char *name,
	const struct directory_names *names, struct error *err)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	for (size_t i = 0; i < names->n; i++) {
		struct str stem = workflow_stem_of(names->items[i]);

		buf_addf(&all, "%s%.*s", i ? ", " : "", (int)stem.n, stem.p);
	}
	return error_set(
		err, ERR_USAGE, "%s: there is no '%.100s': give --from %s", in->path, name, all.s);
}

/* *end: that of the file's name. */
static int read_shipped(struct invocation *in, const char *name, struct str *text, const char **end,
	struct error *err)
{
	struct directory_names names = {0};
	struct workflow w;
	const char *dir;

	if (find_shipped(in, &dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_is(workflow_stem_of(names.items[i]), name))
			continue;
		if (manifest_workflow_load(
			    in->arena, path_join(in->arena, dir, names.items[i]), &w, err) < 0)
			return -1;
		*text = w.source;
		*end = strrchr(names.items[i], '.');
		return 0;
	}
	return refuse_unknown(in, name, &names, err);
}

/* `--workflow` takes a word that ends like a file for a path. */
static int check_name(const char *name, struct error *err)
{
	if (path_is_id(str_of(name)) && !str_ends(str_of(name), ".md") &&
		!manifest_is_path(str_of(name)))
		return 0;
	return error_set(err, ERR_USAGE,
		"bad workflow name '%.100s': must be letters, digits, '.', '_', '-', at most 100, "
		"begin with a letter or digit, no '..', and not end as a file does (.md, .yaml)",
		name);
}

static int workflow_run_new(struct invocation *in, struct error *err)
{
	const struct workflow_options *o = in->values;
	const char *repo, *path, *shipped, *end = NULL;
	struct error ignored;
	struct str text;
	int rc;

	if (o->list ? in->n || o->from : !in->n || !o->from)
		return error_set(err, ERR_USAGE, "%s: give NAME and --from, or --list", in->path);
	if (o->list)
		return list_shipped(in, err);
	if (check_name(in->words[0], err) < 0 || read_shipped(in, o->from, &text, &end, err) < 0 ||
		locate_repository(in->arena, o->repo, &repo, err) < 0)
		return -1;
	path = arena_printf(in->arena, LOCATE_WORKFLOWS "/%s%s", in->words[0], end);
	if (!path_exists(path_join(in->arena, repo, path)) &&
		locate_workflow(
			in->arena, in->words[0], o->plugin_root, repo, &shipped, &ignored) == 0)
		return error_set(err, ERR_USAGE, "'%s' is the name of '%s': choose another",
			in->words[0], shipped);
	rc = setup_create_file(in->arena, repo, path, text, 0666, err);
	if (rc > 0)
		return error_set(err, ERR_STATE,
			"'%s' exists: choose another name, or remove it first", path);
	if (rc == 0)
		buf_addf(in->out,
			"%s\nuse it with: dev-team run ID --workflow %s\nand commit it, once it is "
			"as you want it\n",
			path, in->words[0]);
	return rc;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("new", "[NAME]", workflow_run_new, "copy a shipped workflow, to change it",
		.details =
			"Copies a shipped workflow to .dev-team/workflows/NAME.md, or of a "
			"manifest to NAME.yaml, of the "
			"repository, where '--workflow NAME' finds it. Edit the copy as you like.",
		.options = {check_options, new_options}),
	CLI_SUBCOMMAND("check", "FILE", workflow_run_check,
		"print every fault as FILE:LINE:COL; exit status 1 if there is one",
		.details = "Faults are triggers without a transition, states that no step handles, "
			   "and states that cannot be reached or cannot reach an end. Exit status "
			   "3: the file cannot be read as a workflow.",
		.options = {check_options}),
	CLI_SUBCOMMAND("draw", "FILE", workflow_run_draw,
		"print the diagram as mermaid, DOT or SVG, with the current state and its items "
		"marked",
		.options = {check_options, draw_options}),
	CLI_SUBCOMMAND("explore", "FILE", run_explore,
		"run every combination of answers through the engine and report dead ends",
		.details = "Plays every combination of what agents and scripts may answer, or not "
			   "answer, with the real engine. Reports dead ends, livelocks, states "
			   "that only a limit leaves, unreachable states, and how many actions a "
			   "run can cost. Exit status 1 if there are findings. --trace N prints a "
			   "script of agents with which 'dev-team run' reproduces finding N.",
		.options = {check_options, explore_options}),
	NULL,
};

const struct verb verb_workflow = {
	.name = "workflow",
	.group = "Workflows",
	.about = "write, check, draw and explore workflow files",
	.details = "FILE may be the name of a shipped workflow, or of one of the repository.",
	.examples = "dev-team workflow new tests-first --from tdd\n"
		    "dev-team workflow check implement\n"
		    "dev-team workflow draw implement --format svg >implement.svg\n"
		    "dev-team workflow explore my-workflow.md --trace 1 >agents.yaml",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.subcommands = subcommands,
};
