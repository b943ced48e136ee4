/*
 * read.c: reads a manifest and makes a workflow of it: `init --> spec-finding --> graph`, whose
 * items are the nodes. `FILE#NODE` is the workflow of one node alone, for a child that works in a
 * worktree of its own.
 */
#include "src/config/decode.h"
#include "src/graph/manifest.h"
#include "src/sys/path.h"

enum { FAULTS_MAX = 100, ACTIONS_LEAST = 60, ACTIONS_PER_NODE = 4, MERGE_TIMEOUT_S = 7200 };

static struct str read_file_of(struct str path)
{
	return str_sub(path, 0, str_find(path, STR("#")));
}

bool manifest_is_path(struct str path)
{
	struct str file = read_file_of(path);

	return str_ends(file, ".yaml") || str_ends(file, ".yml") || str_ends(file, ".json");
}

/* ---- the workflow ---- */

static const struct {
	const char *from, *to, *trigger;
} edges[] = {{"init", "spec-finding", "start"}, {"spec-finding", MANIFEST_STATE, "spec_found"},
	{MANIFEST_STATE, "done", "success"}, {MANIFEST_STATE, "failed", "failure"}};
static const char *const states[] = {"init", "spec-finding", MANIFEST_STATE, "done", "failed"};

static size_t state_index(const char *name)
{
	size_t i = 0;

	while (strcmp(states[i], name) != 0)
		i++;
	return i;
}

static void add_diagram(struct arena *a, struct workflow *w)
{
	w->initial = states[0];
	w->n_states = COUNT(states);
	w->states = arena_alloc(a, COUNT(states) * sizeof(*w->states));
	for (size_t i = 0; i < COUNT(states); i++)
		w->states[i] = (struct workflow_state){.name = states[i],
			.label = states[i],
			.line = 1,
			.col = 1,
			.terminal = i >= COUNT(states) - 2};
	w->n_edges = COUNT(edges);
	w->edges = arena_alloc(a, COUNT(edges) * sizeof(*w->edges));
	for (size_t i = 0; i < COUNT(edges); i++)
		w->edges[i] = (struct workflow_edge){.from = edges[i].from,
			.to = edges[i].to,
			.trigger = edges[i].trigger,
			.from_state = state_index(edges[i].from),
			.to_state = state_index(edges[i].to),
			.line = 1,
			.col = 1};
}

/* The words of an item, in the order of enum node_status. */
static void add_outcomes(struct arena *a, const struct manifest_node *n, struct declared_action *it)
{
	static const char *const words[][NODE_STATUSES] = {
		{"success", "validation_fail", "failure"}, {"passed", "failed", NULL},
		{"success", "failed", NULL}, {"success", "failed", "failure"}};
	const char *const *w = manifest_node_merges(n) ? merge_status_names
						       : words[it->command     ? 1
								 : n->workflow ? 2
								 : it->child   ? 3
									       : 0];

	it->outcomes = arena_alloc(a, NODE_STATUSES * sizeof(*it->outcomes));
	for (; it->n_outcomes < NODE_STATUSES && w[it->n_outcomes]; it->n_outcomes++)
		it->outcomes[it->n_outcomes] = (struct declared_outcome){
			w[it->n_outcomes], it->n_outcomes ? "failure" : "success", n->line, n->col};
}

static unsigned evidence_kinds(const struct manifest_node *n)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < n->evidence.n; i++)
		for (size_t k = 0; k < EVIDENCE_KINDS - 1; k++)
			if (!strcmp(n->evidence.list[i], evidence_name(1u << k)))
				kinds |= 1u << k;
	return kinds;
}

/* `alone`: in the workflow of one node it works in the item's own worktree. */
static void read_add_item(struct arena *a, struct workflow *w, const struct manifest_node *n,
	struct declared_action *it, bool alone)
{
	const char *base = path_base(w->file).p;

	*it = (struct declared_action){.writes = n->id,
		.task = n->task,
		.reads = (const char **)(uintptr_t)n->reads.list,
		.n_reads = n->reads.n,
		.command = manifest_node_merges(n) ? "dev-team merge" : n->command,
		.timeout_s = manifest_node_merges(n) ? MERGE_TIMEOUT_S : n->timeout_s,
		.workflow = n->workflow,
		.child = n->workflow ? n->id : NULL,
		.needed = true,
		.optional = true,
		.line = n->line,
		.col = n->col};
	if (n->worktree && !alone) {
		it->child = n->id;
		it->workflow = arena_printf(a, "./%s%c%s", base, MANIFEST_NODE, n->id);
	} else if (n->actor) {
		it->agent = n->actor->role ? n->actor->role : n->actor->name;
		it->skill = n->actor->skill;
	}
	add_outcomes(a, n, it);
	if (!it->child)
		it->evidence = (struct evidence_rule){evidence_kinds(n), NULL, true};
	w->evidence.kinds |= it->evidence.kinds;
}

static int read_compare_writes(const void *a, const void *b)
{
	return strcmp((*(const struct declared_action *const *)a)->writes,
		(*(const struct declared_action *const *)b)->writes);
}

static bool reads_project(const struct manifest *m)
{
	for (size_t i = 0; i < m->n_nodes; i++)
		for (size_t k = 0; k < m->nodes[i].reads.n; k++)
			if (!strcmp(m->nodes[i].reads.list[k], MANIFEST_PROJECT))
				return true;
	return false;
}

static void read_compile(struct arena *a, struct workflow *w, struct manifest *m, bool alone)
{
	struct declared_state *d = arena_alloc(a, sizeof(*d));

	*d = (struct declared_state){.name = MANIFEST_STATE, .line = 1, .col = 1, .manifest = m};
	d->n = m->n_nodes;
	d->items = arena_alloc(a, d->n * sizeof(*d->items));
	d->by_section = arena_alloc(a, d->n * sizeof(*d->by_section));
	w->evidence = (struct evidence_rule){.given = true};
	for (size_t i = 0; i < d->n; i++) {
		read_add_item(a, w, &m->nodes[i], &d->items[i], alone);
		d->by_section[i] = &d->items[i];
	}
	vec_sort_items(d->by_section, d->n, sizeof(*d->by_section), read_compare_writes);
	d->order = m->order;
	m->reads_project = reads_project(m);
	w->declared = d;
	w->n_declared = 1;
	add_diagram(a, w);
	w->states[state_index(MANIFEST_STATE)].declared = d;
	w->limits.max_actions = m->max_actions                            ? m->max_actions
				: ACTIONS_PER_NODE * d->n > ACTIONS_LEAST ? ACTIONS_PER_NODE * d->n
									  : ACTIONS_LEAST;
	w->security.policy = m->policy;
	w->security.line = m->policy_line;
	w->security.col = m->policy_col;
	w->security.violation = m->policy ? m->violation : NULL;
}

/* ---- one node alone ---- */

/* Its parent counts its retries, and knows its block. */
static int select_node(struct arena *a, const char *file, const char *id,
	const struct manifest *all, struct manifest **out, struct error *err)
{
	struct manifest *m = arena_alloc(a, sizeof(*m));
	size_t i = 0;

	while (i < all->n_nodes && strcmp(all->nodes[i].id, id) != 0)
		i++;
	if (i == all->n_nodes)
		return error_set(err, ERR_INPUT, "%s: the manifest has no node '%.60s'", file, id);
	*m = *all;
	m->entry = id;
	m->nodes = arena_alloc(a, sizeof(*m->nodes));
	*m->nodes = all->nodes[i];
	m->nodes->max_retries = 0;
	m->nodes->block = NULL; /* its failure ends the child at once */
	m->n_blocks = 0;
	m->n_nodes = 1;
	m->n_edges = 0;
	m->order = arena_alloc(a, sizeof(*m->order));
	m->in_first = m->out_first = arena_alloc(a, 2 * sizeof(*m->in_first));
	*out = m;
	return 0;
}

/* ---- reading ---- */

static int read_compare_faults(const void *pa, const void *pb)
{
	const struct error *a = pa, *b = pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->col < b->col ? -1 : a->col > b->col;
}

/* Its faults are in `r`. -1: it is no YAML. */
static int read_manifest(struct arena *a, const char *file, struct str text,
	struct config_reader *r, struct manifest **out, struct error *err)
{
	struct manifest *m = arena_alloc(a, sizeof(*m));
	struct yaml *tree;

	*r = (struct config_reader){.arena = a,
		.file = file,
		.json_types = str_ends(str_of(file), ".json"),
		.limit = FAULTS_MAX};
	if (yaml_parse(a, text, file, 1, &tree, err) < 0)
		return -1;
	if (tree->kind == YAML_MAP)
		config_fields(r, manifest_kind.fields, tree, m);
	else
		config_fault(r, tree, "a manifest must be a map: apiVersion, kind, metadata, spec");
	if (!r->faults.n)
		manifest_check(r, tree, m);
	vec_sort(&r->faults, read_compare_faults);
	*out = m;
	return 0;
}

static int read_first_fault(const struct config_reader *r, struct error *err)
{
	if (r->faults.n == 0)
		return 0;
	*err = r->faults.items[0];
	if (r->faults.n > 1) {
		size_t n = strlen(err->text);

		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; %zu more: 'dev-team workflow check'", r->faults.n - 1);
	}
	return -1;
}

static int read_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err)
{
	struct str path = read_file_of(str_of(file));
	const char *name = arena_dup(a, path),
		   *node = path.n < strlen(file) ? file + path.n + 1 : NULL;
	struct config_reader r;
	struct manifest *m;

	*w = (struct workflow){
		.file = arena_dup(a, str_of(file)), .limits = WORKFLOW_LIMITS, .worktree = true};
	if (workflow_check_text(name, text, MANIFEST_BYTES_MAX, err) < 0)
		return -1;
	w->source = arena_str(a, text);
	if (read_manifest(a, name, w->source, &r, &m, err) < 0 || read_first_fault(&r, err) < 0 ||
		(node && select_node(a, name, node, m, &m, err) < 0))
		return -1;
	read_compile(a, w, m, node != NULL);
	return 0;
}

int manifest_check_run(const struct workflow *w, struct error *err)
{
	const struct manifest *m = w->n_declared ? w->declared->manifest : NULL;

	if (!m || m->n_nodes <= MANIFEST_RUN_MAX)
		return 0;
	return error_at(err, w->file, m->nodes[MANIFEST_RUN_MAX].line,
		m->nodes[MANIFEST_RUN_MAX].col,
		"the manifest has %zu nodes; at most %d can run: put parts of it into manifests of "
		"their own, which nodes name as 'workflow'",
		m->n_nodes, MANIFEST_RUN_MAX);
}

int manifest_workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err)
{
	return manifest_is_path(str_of(file)) ? read_parse(a, file, text, w, err)
					      : workflow_parse(a, file, text, w, err);
}

static int graph_read_text(const char *path, struct buf *text, struct error *err)
{
	bool missing;

	if (sys_read_file(text, path, MANIFEST_BYTES_MAX, &missing, err) == 0)
		return 0;
	return missing ? error_set(err, ERR_INPUT, "no workflow file '%s'", path)
		       : error_prefix(err, "workflow");
}

int manifest_workflow_load(struct arena *a, const char *path, struct workflow *w, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!manifest_is_path(str_of(path)))
		return workflow_load(a, path, w, err);
	return graph_read_text(arena_dup(a, read_file_of(str_of(path))), &text, err) < 0
		       ? -1
		       : read_parse(a, path, buf_str(&text), w, err);
}

int manifest_check_file(
	struct arena *a, const char *path, struct buf *out, size_t *n, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *name = arena_dup(a, read_file_of(str_of(path)));

	return graph_read_text(name, &text, err) < 0
		       ? -1
		       : manifest_check_text(a, name, arena_str(a, buf_str(&text)), out, n, err);
}

int manifest_check_text(struct arena *a, const char *name, struct str text, struct buf *out,
	size_t *n, struct error *err)
{
	struct config_reader r;
	struct manifest *m;

	if (workflow_check_text(name, text, MANIFEST_BYTES_MAX, err) < 0 ||
		read_manifest(a, name, text, &r, &m, err) < 0)
		return -1;
	for (size_t i = 0; i < r.faults.n; i++)
		buf_addf(out, "%s:%u:%u: %s\n", name, r.faults.items[i].line, r.faults.items[i].col,
			r.faults.items[i].text);
	*n = r.faults.n;
	return 0;
}
