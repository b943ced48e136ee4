#include "src/policy/table.h"

/* A text in which names of the world were replaced, and where. */
struct mapped {
	struct buf text;
	struct edit {
		size_t at, from, to; /* in the new text; lengths before and after */
	} * edits;
	size_t n, cap;
};

static void mapped_release(struct mapped *m)
{
	buf_release(&m->text);
	free(m->edits);
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-' || c == '/';
}

/* Length of the name of the world that `s` begins with, behind its "/w"; 0: none. The tree's is
 * also the beginning of its neighbour's. */
static size_t world_name(struct str s)
{
	static const char *const names[] = {"/w/tree", "/w/other", "/w/secret"};

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t n = strlen(names[i]);

		if (!str_starts(s, names[i]))
			continue;
		if (n == s.n || !in_name(s.p[n]) || s.p[n] == '/' || str_starts(s, "/w/tree-other"))
			return n - strlen("/w");
	}
	return 0;
}

static void edit(struct mapped *m, size_t from, size_t to)
{
	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 8;
		m->edits = xrealloc(m->edits, m->cap * sizeof(*m->edits));
	}
	m->edits[m->n++] = (struct edit){m->text.len, from, to};
}

/* `world`: what stands for /w. */
static void map(struct mapped *m, struct str text, struct str world, struct str tree)
{
	buf_reserve(&m->text, text.n + 1);
	for (size_t i = 0; i < text.n; i++) {
		struct str rest = str_sub(text, i, text.n);
		size_t name = i && in_name(text.p[i - 1]) ? 0 : world_name(rest);
		bool is_tree = name && str_starts(rest, "/w/tree");

		if (!name) {
			buf_addc(&m->text, text.p[i]);
			continue;
		}
		edit(m, strlen("/w") + name, is_tree ? tree.n : world.n + name);
		buf_add(&m->text, is_tree ? tree : world);
		if (!is_tree)
			buf_add(&m->text, str_sub(rest, 2, 2 + name));
		i += strlen("/w") + name - 1;
	}
}

/* Where byte `at` of the new text stood in the old one; inside a replaced name: at its end. */
static size_t unmap(const struct mapped *m, size_t at)
{
	size_t old = at;

	for (size_t i = 0; i < m->n && m->edits[i].at < at; i++) {
		const struct edit *e = &m->edits[i];

		if (at >= e->at + e->to)
			old = old + e->from - e->to;
		else
			old = old - (at - e->at) + e->from;
	}
	return old;
}

static void replace(struct buf *out, struct str text, struct str what, const char *with)
{
	size_t at;

	while ((at = str_find(text, what)) < text.n) {
		buf_add(out, str_sub(text, 0, at));
		buf_adds(out, with);
		text = str_sub(text, at + what.n, text.n);
	}
	buf_add(out, text);
}

/* Real paths as the rows call them. */
static struct str renamed(struct arena *a, const struct fixture *f, struct str text)
{
	CLEANUP(buf_release) struct buf tree = BUF_INIT, all = BUF_INIT;

	if (!text.p)
		return text;
	replace(&tree, text, str_of(f->tree), "/w/tree");
	if (!f->world)
		return arena_str(a, buf_str(&tree));
	replace(&all, buf_str(&tree), str_of(f->world), "/w");
	return arena_str(a, buf_str(&all));
}

static void rename_verdict(
	struct arena *a, const struct fixture *f, const struct mapped *m, struct verdict *v)
{
	struct str reason = renamed(a, f, str_of(v->reason));

	v->at = (struct span){unmap(m, v->at.from), unmap(m, v->at.to)};
	v->word = renamed(a, f, v->word);
	v->path = renamed(a, f, v->path);
	(void)snprintf(
		v->reason, sizeof(v->reason), "%.*s", (int)reason.n, reason.p ? reason.p : "");
}

int fixture_check(
	struct arena *a, const struct fixture *f, const struct table_row *row, struct verdict *v)
{
	CLEANUP(mapped_release) struct mapped command = {0}, cwd = {0};
	struct str tree = str_of(f->tree), world = {tree.p, tree.n};
	struct node *parsed;
	int rc;

	while (world.n && world.p[world.n - 1] != '/')
		world.n--;
	world.n -= world.n > 0;
	map(&command, row->command, world, tree);
	map(&cwd, str_of(row->cwd), world, tree);
	rc = policy_check(a, row->policy, &f->root, cwd.text.s ? cwd.text.s : "",
		arena_str(a, buf_str(&command.text)), &parsed, v, NULL);
	if (rc < 0)
		rename_verdict(a, f, &command, v);
	return rc;
}
