#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/config/rows.h"

enum { FILE_MAX = 1 << 20, FILES_MAX = 10000 };

struct loading {
	struct arena *a;
	struct resources *out;
	struct faults faults;
	size_t cap;
};

static const struct yml beginning = {.line = 1, .col = 1};

static void doc_push(struct loading *l, struct resource_doc doc)
{
	struct resources *r = l->out;

	if (r->n_docs == l->cap) {
		struct resource_doc *more =
			arena_alloc(l->a, (l->cap = l->cap ? l->cap * 2 : 16) * sizeof(*more));

		if (r->n_docs)
			memcpy(more, r->docs, r->n_docs * sizeof(*more));
		r->docs = more;
	}
	r->docs[r->n_docs++] = doc;
}

/* Its kind; NULL when there is nothing more to be done with it, which may have been said. */
static const struct resource_kind *kind_of(
	struct loading *l, const char *file, const struct yml *tree)
{
	const struct yml *kind = yml_get(tree, "kind");
	const struct resource_kind *found;

	if (tree->kind != YML_MAP) {
		fault_add(&l->faults, file, tree,
			"a resource is a map: apiVersion, kind, metadata, spec");
		return NULL;
	}
	if (!kind || kind->kind != YML_SCALAR) {
		fault_add(&l->faults, file, kind ? kind : tree, "'kind' is missing");
		return NULL;
	}
	found = resource_kind(kind->text.p);
	if (found)
		return found;
	if (resource_kind_other(kind->text.p))
		l->out->n_other++;
	else
		fault_add(&l->faults, file, kind,
			"unknown kind: one of Pipeline, WorktreePool, SubscriptionPlan, "
			"DatabaseBranchPool");
	return NULL;
}

static void read_document(struct loading *l, const char *file, struct str text)
{
	struct error err = {0};
	struct yml *tree;
	struct resource_doc doc = {.file = file, .name = ""};

	if (str_starts(text, "\xef\xbb\xbf")) /* some editors begin a file with this mark */
		text = str_sub(text, 3, text.n);
	if (yml_parse(l->a, text, file, 1, &tree, &err) < 0) {
		const struct yml at = {.line = err.line, .col = err.col};

		fault_add(&l->faults, file, &at, "%s", err.text);
		return;
	}
	doc.kind = kind_of(l, file, tree);
	if (!doc.kind)
		return;
	doc.tree = tree;
	doc.of = arena_alloc(l->a, doc.kind->size);
	document_read(&l->faults, file, doc.kind, tree, doc.of);
	if (!*(const char **)doc.of)
		*(const char **)doc.of = "";
	doc.kind->settle(l->a, tree, doc.of);
	doc.name = *(const char **)doc.of;
	((const char **)doc.of)[1] = file;
	doc_push(l, doc);
}

static int read_file(struct loading *l, const char *path, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	l->out->n_files++;
	if (file_read(&text, path, FILE_MAX, NULL, err) < 0) {
		if (err->code != ERR_INPUT)
			return -1;
		fault_add(&l->faults, path, &beginning, "%s", err->text);
		return 0;
	}
	read_document(l, path, arena_str(l->a, buf_str(&text)));
	return 0;
}

static int is_resource(const struct dirent *e)
{
	struct str name = str_of(e->d_name);

	return name.p[0] != '.' && (str_ends(name, ".yaml") || str_ends(name, ".yml"));
}

/* By bytes, whatever the locale. */
static int by_name(const struct dirent **x, const struct dirent **y)
{
	return strcmp((*x)->d_name, (*y)->d_name);
}

static int read_folder(struct loading *l, const char *dir, struct error *err)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, is_resource, by_name), rc = 0;

	if (n < 0)
		return error_errno(err, "cannot read the folder '%s'", dir);
	if (n > FILES_MAX)
		rc = error_set(err, ERR_INPUT, "more than %d files in '%s'", FILES_MAX, dir);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = read_file(l, path_join(l->a, dir, names[i]->d_name), err);
		free(names[i]);
	}
	free(names);
	return rc;
}

/* The documents of a kind side by side, as struct resources has them. */
static void pack(struct arena *a, struct resources *r, const struct resource_kind *kind)
{
	char *list;
	size_t n = 0;

	for (size_t i = 0; i < r->n_docs; i++)
		n += r->docs[i].kind == kind;
	list = arena_alloc(a, (n + 1) * kind->size);
	memcpy((char *)r + kind->list_at, &list, sizeof(list));
	memcpy((char *)r + kind->count_at, &n, sizeof(n));
	for (size_t i = 0; i < r->n_docs; i++) {
		if (r->docs[i].kind != kind)
			continue;
		memcpy(list, r->docs[i].of, kind->size);
		r->docs[i].of = list;
		list += kind->size;
	}
}

static int by_place(const void *x, const void *y)
{
	const struct error *a = x, *b = y;
	int rc = strcmp(a->file, b->file);

	if (rc)
		return rc;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->col != b->col ? (a->col < b->col ? -1 : 1) : strcmp(a->text, b->text);
}

static bool same_place(const struct error *a, const struct error *b)
{
	return strcmp(a->file, b->file) == 0 && a->line == b->line && a->col == b->col;
}

static void finish(struct loading *l)
{
	for (const struct resource_kind *k = resource_kinds; k->name; k++)
		pack(l->a, l->out, k);
	rules_check(l->a, l->out, &l->faults);
	if (l->faults.n)
		qsort(l->faults.list, l->faults.n, sizeof(*l->faults.list), by_place);
	l->out->faults = l->faults.list;
	l->out->n_faults = l->faults.n;
}

int resources_load(struct arena *a, const char *dir, struct resources *out, struct error *err)
{
	struct loading l = {.a = a, .out = out, .faults.arena = a};
	struct stat st;

	*out = (struct resources){0};
	if (stat(dir, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return error_set(err, ERR_USAGE, "no folder or file '%s'", dir);
		return error_errno(err, "cannot look at '%s'", dir);
	}
	if (S_ISDIR(st.st_mode) ? read_folder(&l, dir, err) < 0 : read_file(&l, dir, err) < 0)
		return -1;
	finish(&l);
	return 0;
}

int resources_parse(struct arena *a, const char *file, struct str text, struct resources *out,
	struct error *err)
{
	struct loading l = {.a = a, .out = out, .faults.arena = a};

	*out = (struct resources){.n_files = 1};
	read_document(&l, file, text);
	finish(&l);
	if (!out->n_faults)
		return 0;
	*err = out->faults[0];
	return -1;
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
			" (the first of %zu faults; 'dev-team resources check' tells them all)",
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
	size_t at = 0;

	while (at < r->n_faults && by_place(&r->faults[at], fault) < 0)
		at++;
	for (size_t i = 0; i < r->n_faults; i++) {
		if (same_place(&r->faults[i], fault))
			return;
		list[i < at ? i : i + 1] = r->faults[i];
	}
	list[at] = *fault;
	r->faults = list;
	r->n_faults++;
}
