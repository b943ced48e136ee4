/*
 * Finds what somebody has written into the worktree during a rebase, or after one was killed: files
 * that differ from everything the rebase could have checked out. They go into the stash before the
 * reset, which would discard them.
 */
#include <fcntl.h>
#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { INDEX_MAX = 1 << 30, ADD_S = 600, BASES = 5 };

/* A list of names, each ended by NUL, as git prints them: in the order of strcmp(). */
struct names {
	struct buf text;
	size_t n;
};

static void names_release(struct names *n)
{
	buf_release(&n->text);
}

/* Git's own index stays unchanged: the files are added to a copy. */
static int copy_index(struct rebasing *w, const char *to, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(base_close) int fd = -1;
	bool missing = false;

	(void)unlink(arena_printf(w->a, "%s.lock", to));
	(void)unlink(to);
	if (sys_read_file(&text, path_join(w->a, w->git_dir, "index"), INDEX_MAX, &missing, err) <
		0)
		return missing ? 0 : -1;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot make '%s'", to);
	return sys_write_all(fd, buf_str(&text), to, err);
}

static int git_word(struct rebasing *w, const char *const *argv, const char *name,
	const char **word, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (rebase_git(w, argv, name, ADD_S, &out, NULL, err) < 0)
		return -1;
	*word = arena_dup(w->a, str_trim(buf_str(&out)));
	return 0;
}

/* *tree: all files of the worktree, including those in conflict, without ignored ones. */
static int tree_of_files(struct rebasing *w, const char **tree, struct error *err)
{
	static const char *const add[] = {
		"git", "-c", "advice.addEmbeddedRepo=false", "add", "--sparse", "-A", NULL};
	static const char *const write[] = {"git", "write-tree", NULL};
	const char *index = path_join(w->a, w->git_dir, "dev-team-kept");
	const char *const env[] = {arena_printf(w->a, "GIT_INDEX_FILE=%s", index), NULL};
	const char *ignored;
	int rc;

	if (copy_index(w, index, err) < 0)
		return -1;
	w->env = env;
	rc = git_word(w, add, "git add", &ignored, err) < 0 ||
			     git_word(w, write, "git write-tree", tree, err) < 0
		     ? -1
		     : 0;
	w->env = NULL;
	(void)unlink(index);
	return rc;
}

/* *tree NULL: `name` is not a commit. */
static int tree_at(struct rebasing *w, const char *name, const char **tree, struct error *err)
{
	const char *const argv[] = {"git", "rev-parse", "--verify", "--quiet",
		arena_printf(w->a, "%s^{tree}", name), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	*tree = NULL;
	if (rebase_git(w, argv, "git rev-parse", 0, &out, &status, err) < 0)
		return -1;
	if (status == 0)
		*tree = arena_dup(w->a, str_trim(buf_str(&out)));
	return 0;
}

/* The empty blob, with which git begins each file, for both hash algorithms. */
static bool is_empty_file(struct str sha)
{
	return str_starts(sha, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") ||
	       str_starts(sha, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

/* `:mode mode sha sha LETTER`, NUL, name, NUL. Deleted files are not included. */
static int changed_since(struct rebasing *w, const char *base, const char *tree, struct names *out,
	struct error *err)
{
	const char *const argv[] = {"git", "diff-tree", "-r", "-z", "--raw", "--no-abbrev",
		"--no-renames", "--diff-filter=d", base, tree, NULL};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (rebase_git(w, argv, "git diff-tree", ADD_S, &text, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < text.len;) {
		struct str head = str_of(text.s + at);
		struct str name = str_of(text.s + at + head.n + (at + head.n < text.len));
		size_t last = head.n;

		while (last && head.p[last - 1] != ' ')
			last--;
		at += head.n + name.n + 2;
		while (last && head.p[last - 1] == ' ')
			last--;
		while (last && head.p[last - 1] != ' ')
			last--;
		if (is_empty_file(str_sub(head, last, head.n)))
			continue;
		buf_add(&out->text, name);
		buf_addc(&out->text, '\0');
		out->n++;
	}
	return 0;
}

/* Intersects `all` with `more`. */
static void names_meet(struct names *all, const struct names *more)
{
	CLEANUP(names_release) struct names both = {.text = BUF_INIT};
	struct buf swap;
	size_t i = 0, k = 0;

	while (i < all->text.len && k < more->text.len) {
		const char *x = all->text.s + i, *y = more->text.s + k;
		int order = strcmp(x, y);

		if (order == 0) {
			buf_add(&both.text, str_of(x));
			buf_addc(&both.text, '\0');
			both.n++;
		}
		i += order <= 0 ? strlen(x) + 1 : 0;
		k += order >= 0 ? strlen(y) + 1 : 0;
	}
	swap = all->text;
	all->text = both.text;
	all->n = both.n;
	both.text = swap;
}

/* Each file that git has checked out equals one of these: that of the conflict, of a picked commit,
 * of the branch, or of the target. */
static int unlike_all(
	struct rebasing *w, struct rebase_theirs *t, struct names *out, struct error *err)
{
	const char *const bases[BASES] = {
		"AUTO_MERGE", "HEAD", w->rec.before, w->rec.onto, w->rec.after};
	bool first = true;

	for (size_t i = 0; i < BASES; i++) {
		CLEANUP(names_release) struct names more = {.text = BUF_INIT};
		const char *base = NULL;

		if ((bases[i] && tree_at(w, bases[i], &base, err) < 0) ||
			(base && changed_since(w, base, t->tree, first ? out : &more, err) < 0))
			return -1;
		if (!base)
			continue;
		if (!t->laid)
			t->laid = base;
		if (!first)
			names_meet(out, &more);
		first = false;
	}
	return 0;
}

int rebase_theirs(struct rebasing *w, struct rebase_theirs *out, struct error *err)
{
	CLEANUP(names_release) struct names list = {.text = BUF_INIT};
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const char *dirty;

	*out = (struct rebase_theirs){0};
	if (rebase_dirty(w, &dirty, err) < 0)
		return -1;
	if (!dirty)
		return 0;
	if (tree_of_files(w, &out->tree, err) < 0 || unlike_all(w, out, &list, err) < 0)
		return -1;
	out->n = list.n;
	if (!list.n)
		return 0;
	buf_adds(&name, list.text.s);
	buf_utf8_repair(&name);
	out->first = arena_dup(w->a, buf_str(&name));
	return 0;
}

static int commit_tree(struct rebasing *w, const char *tree, const char *parent, const char *second,
	const char *text, const char **sha, struct error *err)
{
	const char *argv[] = {
		"git", "commit-tree", "-m", text, "-p", parent, "-p", second, tree, NULL};

	if (!second) {
		argv[6] = tree;
		argv[7] = NULL;
	}
	return git_word(w, argv, "git commit-tree", sha, err);
}

/* As `git stash` does: based on what git checked out, so that `git stash show` prints only the
 * user's changes. */
static int put_by(struct rebasing *w, const struct rebase_theirs *t, struct error *err)
{
	const char *text =
		arena_printf(w->a, "dev-team: written in '%s' while it was rebased", w->path);
	const char *base, *index, *sha;
	const char *store[] = {"git", "stash", "store", "-m", text, NULL, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (commit_tree(w, t->laid, "HEAD", NULL, "dev-team: as a rebase had it", &base, err) < 0 ||
		commit_tree(w, t->laid, base, NULL, "index", &index, err) < 0 ||
		commit_tree(w, t->tree, base, index, text, &sha, err) < 0)
		return -1;
	store[5] = sha;
	if (rebase_git(w, store, "git stash store", 0, &out, NULL, err) < 0)
		return -1;
	w->out->kept = sha;
	w->out->kept_path = t->first;
	return 0;
}

int rebase_keep(struct rebasing *w, const struct rebase_theirs *t, struct error *err)
{
	return t->n ? put_by(w, t, err) : 0;
}
