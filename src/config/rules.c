#include <stdarg.h>
#include "src/config/rules.h"

void rule_fault(const struct rules *s, const struct resource_doc *doc, const char *path,
	const char *fmt, ...)
{
	char text[sizeof(s->faults->list->text)];
	char *where = arena_dup(s->a, str_of(path));
	const struct yml *at;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	while (!(at = yml_at(doc->tree, where))) {
		char *dot = strrchr(where, '.');

		*(dot ? dot : where) = '\0';
	}
	fault_add(s->faults, doc->file, at, "%s", text);
}

static bool there(const struct resources *r, const char *kind, const char *name)
{
	for (size_t i = 0; i < r->n_docs; i++)
		if (strcmp(r->docs[i].kind->name, kind) == 0 && strcmp(r->docs[i].name, name) == 0)
			return true;
	return false;
}

void reference_rules(const struct rules *s, const struct resource_doc *doc, const char *path,
	const struct words *names, const char *kind)
{
	const struct yml *list = yml_at(doc->tree, path);

	/* By the document, because what was refused of the list is not in `names`. */
	for (size_t i = 0; list && names->n && i < list->n; i++) {
		const struct yml *item = list->kind == YML_LIST ? list->list[i] : NULL;

		if (item && item->kind == YML_SCALAR && form_facts(FORM_NAME)->good(item->text) &&
			!there(s->r, kind, item->text.p))
			fault_add(s->faults, doc->file, item, "there is no %s '%.253s'", kind,
				item->text.p);
	}
}

/* Two that an agent would find in one variable. */
static void injection_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct worktree_pool_spec *p = doc->of;
	const struct words *names = &p->database_pools;

	for (size_t i = 0; i < names->n; i++) {
		const struct database_pool_spec *x = resources_database(s->r, names->list[i]);

		for (size_t k = 0; x && x->target_env && k < i; k++) {
			const struct database_pool_spec *y =
				resources_database(s->r, names->list[k]);

			if (y && y->target_env && strcmp(x->target_env, y->target_env) == 0)
				rule_fault(s, doc, "spec.databaseBranchPools",
					"'%.100s' and '%.100s' are both injected as '%s'",
					names->list[k], names->list[i], x->target_env);
		}
	}
}

static bool has_part(const char *path, const char *part)
{
	struct str rest = str_of(path);

	while (rest.n) {
		size_t slash = str_find(rest, STR("/"));

		if (str_is(str_sub(rest, 0, slash), part))
			return true;
		rest = str_sub(rest, slash < rest.n ? slash + 1 : rest.n, rest.n);
	}
	return false;
}

/* Where no folder can be, or nobody means one to be. */
static bool root_odd(const char *root)
{
	static const char *const system[] = {"/proc", "/sys", "/dev"};

	if (has_part(root, "..") || strspn(root, "/.") == strlen(root))
		return true;
	for (size_t i = 0; i < COUNT(system); i++) {
		size_t n = strlen(system[i]);

		if (strncmp(root, system[i], n) == 0 && (!root[n] || root[n] == '/'))
			return true;
	}
	return false;
}

static void pool_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct worktree_pool_spec *p = doc->of;

	if (p->root && p->root_declared && root_odd(p->root))
		rule_fault(s, doc, "spec.rootDir",
			"'rootDir' must be no system's folder, and without '..'");
	if (p->repo_local && p->root_declared)
		rule_fault(s, doc, "spec.rootDir",
			"'rootDir' and 'layout: repo-local' are two places for the worktrees");
	reference_rules(
		s, doc, "spec.databaseBranchPools", &p->database_pools, "DatabaseBranchPool");
	reference_rules(s, doc, "spec.subscriptionPlans", &p->plans, "SubscriptionPlan");
	injection_rules(s, doc);
}

static void database_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct database_pool_spec *d = doc->of;

	if (d->migration_cwd && has_part(d->migration_cwd, ".."))
		rule_fault(s, doc, "spec.migrations.migrationCwd",
			"'migrationCwd' leads out of the worktree");
}

static void name_rules(const struct rules *s, const struct resource_doc *doc)
{
	for (const struct resource_doc *other = s->r->docs; other < doc; other++) {
		const struct yml *at = yml_at(other->tree, "metadata.name");

		if (other->kind != doc->kind || !*doc->name || strcmp(other->name, doc->name) != 0)
			continue;
		rule_fault(s, doc, "metadata.name", "duplicate %s '%.253s': also %s:%u",
			doc->kind->name, doc->name, other->file, at ? at->line : 1);
		return;
	}
}

/* A field whose nothing would mean something else. */
static void duration_rules(const struct rules *s, const struct resource_doc *doc,
	const struct row *rows, const struct yml *map)
{
	for (; map && map->kind == YML_MAP && rows->key; rows++) {
		const struct yml *v = yml_get(map, rows->key);
		int64_t seconds;

		if (!v)
			continue;
		if (rows->kind == ROW_GROUP)
			duration_rules(s, doc, rows->rows, v);
		for (size_t i = 0; rows->kind == ROW_LIST && v->kind == YML_LIST && i < v->n; i++)
			duration_rules(s, doc, rows->rows, v->list[i]);
		if (rows->kind == ROW_DURATION && rows->min > 0 && v->kind == YML_SCALAR &&
			duration_parse(v->text.p, &seconds) == 0 && seconds < (int64_t)rows->min)
			fault_add(s->faults, doc->file, v, "'%s' must be longer than nothing",
				rows->key);
	}
}

void rules_check(struct arena *a, const struct resources *r, struct faults *f)
{
	static const struct {
		const char *kind;
		void (*check)(const struct rules *s, const struct resource_doc *doc);
	} checks[] = {
		{"Pipeline", pipeline_rules},
		{"WorktreePool", pool_rules},
		{"SubscriptionPlan", plan_rules},
		{"DatabaseBranchPool", database_rules},
	};
	const struct rules s = {a, r, f};

	for (size_t i = 0; i < r->n_docs; i++) {
		name_rules(&s, &r->docs[i]);
		duration_rules(&s, &r->docs[i], r->docs[i].kind->rows, r->docs[i].tree);
		for (size_t k = 0; k < COUNT(checks); k++)
			if (strcmp(checks[k].kind, r->docs[i].kind->name) == 0)
				checks[k].check(&s, &r->docs[i]);
	}
}
