#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include "src/config/resource_internal.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

enum { FILE_MAX = 1 << 20, FILES_MAX = 10000, FAULTS_MAX = 1000 };

/* ---- the kinds ---- */

const char *const resource_api_versions[] = {
	"dev-team/v1", "ai-sdlc.dev/v1alpha1", "ai-sdlc.io/v1alpha1", NULL};

_Static_assert(offsetof(struct pipeline, name) == 0 &&
		       offsetof(struct worktree_pool_spec, name) == 0 &&
		       offsetof(struct subscription_plan, name) == 0 &&
		       offsetof(struct database_pool_spec, name) == 0,
	"resource_metadata_fields puts the name there");

#define IN(member) CONFIG_AT(pipeline, member)

const struct config_field resource_metadata_fields[] = {
	{TEXT("name", name, name), .required = true, .about = "Unique among those of its kind."},
	{CHECKED_TEXT("namespace", name), .inert = true, .about = "A team or a project."},
	{LABELS("labels"), .inert = true, .about = "Texts to select by."},
	{LABELS("annotations"), .inert = true, .about = "Texts for other programs."},
	{0},
};

const struct resource_kind *const resource_kinds[] = {&resource_kind_pipeline,
	&resource_kind_worktree_pool, &resource_kind_subscription_plan,
	&resource_kind_database_pool, NULL};

const struct resource_kind *resource_kind(const char *name)
{
	const struct resource_kind *const *k = resource_kinds;

	while (*k && strcmp((*k)->name, name) != 0)
		k++;
	return *k;
}

/* Kinds of the same format that other programs read. */
static const char *const other_kinds[] = {"AdapterBinding", "AgentRole", "AutonomyPolicy",
	"DesignIntentDocument", "DesignSystemBinding", "DispatchConfig", "QualityGate", NULL};

/* ---- finding ---- */

static const void *resource_find(
	const struct resources *r, const struct resource_kind *kind, const char *name)
{
	for (size_t i = 0; i < r->n_docs; i++)
		if (r->docs[i].kind == kind && (!name || strcmp(r->docs[i].name, name) == 0))
			return r->docs[i].of;
	return NULL;
}

#define FINDER(noun, type, of)                                                                     \
	const struct type *resources_##noun(const struct resources *r, const char *name)           \
	{                                                                                          \
		return resource_find(r, &resource_kind_##of, name);                                \
	}
FINDER(pipeline, pipeline, pipeline)
FINDER(pool, worktree_pool_spec, worktree_pool)
FINDER(plan, subscription_plan, subscription_plan)
FINDER(database, database_pool_spec, database_pool)

/* ---- rules ---- */

void resource_fault(const struct resource_check *c, const char *path, const char *fmt, ...)
{
	char text[sizeof(c->reader->faults.items->text)];
	char *where = arena_dup(c->reader->arena, str_of(path));
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	config_fault(c->reader, config_node_above(c->doc->tree, where), "%s", text);
}

void resource_check_references(const struct resource_check *c, const char *path,
	const struct text_list *names, const struct resource_kind *kind)
{
	const struct yaml *list = config_node(c->doc->tree, path);

	/* Looks at the document, because refused items are not in `names`. */
	for (size_t i = 0; list && names->n && i < list->n; i++) {
		const struct yaml *item = list->kind == YAML_LIST ? list->list[i] : NULL;

		if (item && item->kind == YAML_SCALAR && config_name.valid(item->text) &&
			!resource_find(c->resources, kind, item->text.p))
			config_fault(c->reader, item, "there is no %s '%.253s'", kind->name,
				item->text.p);
	}
}

static void resource_check_name(const struct resource_check *c)
{
	for (const struct resource_doc *other = c->resources->docs; other < c->doc; other++) {
		const struct yaml *at = config_node(other->tree, "metadata.name");

		if (other->kind != c->doc->kind || !*c->doc->name ||
			strcmp(other->name, c->doc->name) != 0)
			continue;
		resource_fault(c, "metadata.name", "duplicate %s '%.253s': also %s:%u",
			c->doc->kind->name, c->doc->name, other->file, at ? at->line : 1);
		return;
	}
}

static void resource_check_rules(struct config_reader *reader, const struct resources *r)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		const struct resource_check c = {r, &r->docs[i], reader};

		reader->file = c.doc->file;
		resource_check_name(&c);
		c.doc->kind->check(&c);
	}
}

/* ---- reading ---- */

struct resource_loader {
	struct config_reader reader;
	struct resources *out;
	VEC(struct resource_doc) docs;
};

/* NULL: there is nothing to read, or it was refused. */
static const struct resource_kind *find_kind(struct resource_loader *l, const struct yaml *tree)
{
	const struct yaml *kind = yaml_get(tree, "kind");
	const struct resource_kind *found = NULL;

	if (tree->kind != YAML_MAP)
		config_fault(&l->reader, tree,
			"a resource must be a map: apiVersion, kind, metadata, spec");
	else if (!kind || kind->kind != YAML_SCALAR)
		config_fault(&l->reader, kind ? kind : tree, "'kind' is missing");
	else if (str_in(kind->text, other_kinds))
		l->out->n_other++;
	else if (!(found = resource_kind(kind->text.p)))
		config_fault(&l->reader, kind,
			"unknown kind: must be Pipeline, WorktreePool, SubscriptionPlan or "
			"DatabaseBranchPool");
	return found;
}

static void resource_read_document(struct resource_loader *l, const char *file, struct str text)
{
	struct resource_doc doc = {.file = file};
	struct error err = {0};
	struct yaml *tree;
	const char **head; /* name and file, which every kind's struct begins with */

	l->reader.file = file;
	if (str_starts(text, "\xef\xbb\xbf")) /* some editors begin a file with this mark */
		text = str_sub(text, 3, text.n);
	if (yaml_parse(l->reader.arena, text, file, 1, &tree, &err) < 0) {
		const struct yaml at = {.line = err.line, .col = err.col};

		config_fault(&l->reader, &at, "%s", err.text);
		return;
	}
	doc.kind = find_kind(l, tree);
	if (!doc.kind)
		return;
	doc.tree = tree;
	doc.of = head = arena_alloc(l->reader.arena, doc.kind->size);
	config_fields(&l->reader, doc.kind->fields, tree, doc.of);
	if (!head[0])
		head[0] = "";
	if (doc.kind->complete)
		doc.kind->complete(l->reader.arena, tree, doc.of);
	doc.name = head[0];
	head[1] = file;
	vec_push_in(l->reader.arena, &l->docs, doc);
}

static int resource_read_file(struct resource_loader *l, const char *path, struct error *err)
{
	static const struct yaml beginning = {.line = 1, .col = 1};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	l->out->n_files++;
	if (sys_read_file(&text, path, FILE_MAX, NULL, err) < 0) {
		if (err->code != ERR_INPUT)
			return -1;
		l->reader.file = path;
		config_fault(&l->reader, &beginning, "%s", err->text);
		return 0;
	}
	resource_read_document(l, path, arena_str(l->reader.arena, buf_str(&text)));
	return 0;
}

static int resource_read_directory(struct resource_loader *l, const char *dir, struct error *err)
{
	struct directory_names names;
	size_t n = 0;

	if (directory_list(l->reader.arena, dir, &names, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct str name = str_of(names.items[i]);

		if (name.p[0] == '.' || (!str_ends(name, ".yaml") && !str_ends(name, ".yml")))
			continue;
		if (n++ == FILES_MAX)
			return error_set(
				err, ERR_INPUT, "more than %d files in '%s'", FILES_MAX, dir);
		if (resource_read_file(l, path_join(l->reader.arena, dir, name.p), err) < 0)
			return -1;
	}
	return 0;
}

static int resource_by_place(const void *x, const void *y)
{
	const struct error *a = x, *b = y;
	int rc = strcmp(a->file, b->file);

	if (rc)
		return rc;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->col != b->col ? (a->col < b->col ? -1 : 1) : strcmp(a->text, b->text);
}

static void resource_finish(struct resource_loader *l)
{
	struct config_reader *reader = &l->reader;

	l->out->docs = l->docs.items;
	l->out->n_docs = l->docs.n;
	for (size_t i = 0; i < l->docs.n; i++)
		++*(size_t *)(void *)((char *)l->out + l->docs.items[i].kind->count_at);
	resource_check_rules(reader, l->out);
	resources_link_databases(reader->arena, l->out);
	vec_sort(&reader->faults, resource_by_place);
	l->out->faults = reader->faults.items;
	l->out->n_faults = reader->faults.n;
}

static struct resource_loader loader_init(struct arena *a, struct resources *out)
{
	*out = (struct resources){0};
	return (struct resource_loader){
		.reader = {.arena = a, .json_types = true, .limit = FAULTS_MAX}, .out = out};
}

int resources_load(struct arena *a, const char *dir, struct resources *out, struct error *err)
{
	struct resource_loader l = loader_init(a, out);
	struct stat st;

	if (stat(dir, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return error_set(err, ERR_USAGE, "no directory or file '%s'", dir);
		return error_errno(err, "cannot read '%s'", dir);
	}
	if (S_ISDIR(st.st_mode) ? resource_read_directory(&l, dir, err) < 0
				: resource_read_file(&l, dir, err) < 0)
		return -1;
	resource_finish(&l);
	return 0;
}

int resources_parse(struct arena *a, const char *file, struct str text, struct resources *out,
	struct error *err)
{
	struct resource_loader l = loader_init(a, out);

	out->n_files = 1;
	resource_read_document(&l, file, text);
	resource_finish(&l);
	return config_result(&l.reader, err);
}

void resources_default(struct arena *a, struct resources *out)
{
	static const char text[] = "apiVersion: dev-team/v1\nkind: WorktreePool\n"
				   "metadata:\n  name: default\nspec: {layout: repo-local}\n";
	struct error none;

	(void)resources_parse(a, NULL, STR(text), out, &none);
}

int resources_fault(const struct resources *r, struct error *err)
{
	size_t n;

	if (!r->n_faults)
		return 0;
	*err = r->faults[0];
	n = strlen(err->text);
	if (r->n_faults > 1)
		snprintf(err->text + n, sizeof(err->text) - n,
			" (the first of %zu faults; 'dev-team resources check' lists all of them)",
			r->n_faults);
	return -1;
}

int resources_need(struct arena *a, const char *dir, struct resources *out, struct error *err)
{
	return resources_load(a, dir, out, err) < 0 ? -1 : resources_fault(out, err);
}

void resources_refuse(struct arena *a, struct resources *r, const struct error *fault)
{
	struct error *list = arena_alloc(a, (r->n_faults + 1) * sizeof(*list));

	for (size_t i = 0; i < r->n_faults; i++) {
		list[i] = r->faults[i];
		if (strcmp(list[i].file, fault->file) == 0 && list[i].line == fault->line &&
			list[i].col == fault->col)
			return;
	}
	list[r->n_faults++] = *fault;
	r->faults = list;
	qsort(list, r->n_faults, sizeof(*list), resource_by_place);
}
