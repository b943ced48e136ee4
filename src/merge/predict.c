#include "src/merge/land.h"
#include "src/base/vec.h"
#include "src/sys/git.h"

/* A merge to try: `i` with `with`; -1: with the target. */
struct pair {
	size_t i;
	int with;
};

struct prediction {
	struct arena *arena;
	const char *repo, *target, *ref, *tree; /* ref, tree: of the target */
	struct predicted *list;
	VEC(struct pair) pairs;
};

/* The next text before a NUL. */
static struct str predict_take(struct str *rest)
{
	size_t n = strnlen(rest->p, rest->n);
	struct str text = str_sub(*rest, 0, n);

	*rest = str_sub(*rest, n + 1, rest->n);
	return text;
}

static void add_conflict(struct predicted *of, const char *with, const json *paths)
{
	json_push(of->conflicts,
		JSON_OBJECT(JSON_TEXT("with", with), JSON_VALUE("paths", json_copy(paths))));
}

/* Of each merge `git merge-tree --stdin` prints "1" if it is clean, the tree, the paths in
 * conflict, and an empty text. */
static void read_merges(struct prediction *p, struct str rest)
{
	for (size_t k = 0; k < p->pairs.n && rest.n; k++) {
		const struct pair *of = &p->pairs.items[k];
		CLEANUP(json_free) json *paths = json_array();
		struct predicted *one = &p->list[of->i];
		bool clean = str_is(predict_take(&rest), "1");
		struct str tree = predict_take(&rest), path;

		while ((path = predict_take(&rest)).n)
			if (!git_is_changelog(path.p))
				json_push_str(paths, path);
		if (of->with < 0)
			one->merged = clean && str_is(tree, p->tree);
		if (clean || !json_first(paths))
			continue;
		add_conflict(one, of->with < 0 ? p->target : p->list[of->with].name, paths);
		if (of->with >= 0)
			add_conflict(&p->list[of->with], one->name, paths);
	}
}

static int merge_pairs(struct prediction *p, struct error *err)
{
	static const char *const argv[] = {"git", "-c", "merge.directoryRenames=false",
		"merge-tree", "--stdin", "--name-only", "--no-messages", NULL};
	CLEANUP(buf_release) struct buf in = BUF_INIT, out = BUF_INIT;
	struct git_command c = {.dir = p->repo, .name = "git merge-tree", .argv = argv};

	for (size_t k = 0; k < p->pairs.n; k++) {
		const struct pair *of = &p->pairs.items[k];

		if (of->with < 0)
			buf_adds(&in, p->ref);
		else
			buf_addf(&in, "refs/heads/%s", p->list[of->with].branch);
		buf_addf(&in, " refs/heads/%s\n", p->list[of->i].branch);
	}
	c.input = buf_str(&in);
	if (p->pairs.n && git_command(&c, &out, NULL, err) < 0)
		return -1;
	read_merges(p, buf_str(&out));
	return 0;
}

/* That of origin, else a local one. */
static int predict_find_target(struct prediction *p, struct error *err)
{
	const char *const names[] = {arena_printf(p->arena, "refs/remotes/origin/%s", p->target),
		arena_printf(p->arena, "refs/heads/%s", p->target)};
	struct git_commit found[COUNT(names)];
	size_t i;

	if (git_read_commits(p->arena, p->repo, names, COUNT(names), found, err) < 0)
		return -1;
	i = found[0].id ? 0 : 1;
	p->ref = names[i];
	p->tree = found[i].tree;
	return p->tree ? 0 : error_set(err, ERR_STATE, "there is no branch '%s'", p->target);
}

static int look_at_branches(struct prediction *p, size_t n, struct error *err)
{
	const char **names = arena_alloc(p->arena, (n + 1) * sizeof(*names));
	const char **ids = arena_alloc(p->arena, (n + 1) * sizeof(*ids));

	for (size_t i = 0; i < n; i++) {
		p->list[i].merged = false;
		p->list[i].conflicts = json_array();
		names[i] = arena_printf(p->arena, "refs/heads/%s", p->list[i].branch);
	}
	if (git_read_ids(p->arena, p->repo, names, n, ids, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		p->list[i].there = ids[i] && i < PREDICT_MAX;
		if (p->list[i].there)
			vec_push_in(p->arena, &p->pairs, (struct pair){i, -1});
	}
	return 0;
}

int land_predict(struct arena *a, const char *repo, const char *target, struct predicted *list,
	size_t n, struct error *err)
{
	struct prediction p = {.arena = a, .repo = repo, .target = target, .list = list};

	if (predict_find_target(&p, err) < 0 || look_at_branches(&p, n, err) < 0 ||
		merge_pairs(&p, err) < 0)
		return -1;
	p.pairs.n = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i && list[i].there && !list[i].merged; k++)
			if (list[k].there && !list[k].merged)
				vec_push_in(a, &p.pairs, (struct pair){i, (int)k});
	return merge_pairs(&p, err);
}
