/*
 * git_squash.c: replaces the commits of a branch that were never pushed by a single commit.
 * git-commit-tree(1) makes that commit, then git-update-ref(1) moves the branch. A call that is
 * killed between the two has changed nothing. The tree stays the same, so the function touches
 * neither files nor index.
 */
#include "src/base/vec.h"
#include "src/sys/git.h"

struct squash {
	struct arena *arena;
	const char *root;
	const char *head, *parent; /* the last commit, and the parent of the first */
	size_t n;
};

#define GIT(s, input, env, out, err, ...)                                                          \
	squash_git(s, input, env, (const char *const[]){"git", __VA_ARGS__, NULL}, out, err)

static int squash_git(const struct squash *s, struct str input, const char *const *env,
	const char *const *argv, struct buf *out, struct error *err)
{
	const struct git_command c = {
		.dir = s->root, .name = "git", .argv = argv, .env = env, .input = input};

	return git_command(&c, out, NULL, err);
}

/* Leaves n at 0 unless there are two or more, each with one parent. */
static int find_unpushed(struct squash *s, const char *branch, const char *since, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line, id, parent, more;
	size_t n = 0;

	if (GIT(s, STR(""), NULL, &out, err, "rev-list", "--topo-order", "--reverse", "--parents",
		    "--ignore-missing", "HEAD", "--not", "--remotes", "--tags",
		    arena_printf(s->arena, "--exclude=%s", branch), "--branches", since) < 0)
		return -1;
	for (rest = buf_str(&out); str_line(&rest, &line); n++) {
		if (!str_piece(&line, ' ', &id) || !str_piece(&line, ' ', &parent) ||
			str_piece(&line, ' ', &more))
			return 0;
		if (!n)
			s->parent = arena_dup(s->arena, parent);
		s->head = arena_dup(s->arena, id);
	}
	s->n = n < 2 ? 0 : n;
	return 0;
}

/* All messages, then the authors who are not that of the first commit. */
static int squash_message(const struct squash *s, struct buf *text, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *range = arena_printf(s->arena, "%s..%s", s->parent, s->head);
	struct str rest, author;
	VEC(struct str) seen = {0};

	if (GIT(s, STR(""), NULL, text, err, "-c", "i18n.logOutputEncoding=UTF-8", "log",
		    "--reverse", "--no-show-signature", "--format=%B", range, "--") < 0 ||
		GIT(s, STR(""), NULL, &out, err, "-c", "i18n.logOutputEncoding=UTF-8", "log",
			"--reverse", "--no-show-signature", "--format=%an <%ae>", range, "--") < 0)
		return -1;
	for (rest = buf_str(&out); str_line(&rest, &author);) {
		size_t i = 0;

		while (i < seen.n && !str_eq(seen.items[i], author))
			i++;
		if (i < seen.n)
			continue;
		if (i)
			buf_addf(text, "Co-authored-by: %.*s\n", (int)author.n, author.p);
		vec_push_in(s->arena, &seen, author);
	}
	return 0;
}

/* The author of the first commit, as the environment of `git commit-tree`. */
static int squash_author(const struct squash *s, const char *const **env, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	static const char *const names[] = {
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"};
	const char **set = arena_alloc(s->arena, (COUNT(names) + 1) * sizeof(*set));
	struct str rest, line;

	if (GIT(s, STR(""), NULL, &out, err, "-c", "i18n.logOutputEncoding=UTF-8", "log",
		    "--reverse", "--no-show-signature", "--format=%an%n%ae%n%ad", "--date=raw",
		    arena_printf(s->arena, "%s..%s", s->parent, s->head), "--") < 0)
		return -1;
	rest = buf_str(&out);
	for (size_t i = 0; i < COUNT(names) && str_line(&rest, &line); i++)
		set[i] = arena_printf(s->arena, "%s=%.*s", names[i], (int)line.n, line.p);
	*env = set;
	return 0;
}

/* "-S" if the user's git signs commits, else an option without effect. */
static int squash_signing(const struct squash *s, const char **option, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (GIT(s, STR(""), NULL, &out, err, "config", "--type=bool", "--default=false",
		    "commit.gpgSign") < 0)
		return -1;
	*option = str_is(str_trim(buf_str(&out)), "true") ? "-S" : "--no-gpg-sign";
	return 0;
}

int git_squash_unpushed(const char *root, const char *since, size_t *n, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT, made = BUF_INIT;
	struct squash s = {.arena = &a, .root = root};
	const char *const *env;
	const char *branch, *signing;

	*n = 0;
	if (git_read_branch(&a, root, &branch, err) < 0)
		return -1;
	if (!branch)
		return 0;
	if (find_unpushed(&s, branch, since, err) < 0)
		return -1;
	if (!s.n)
		return 0;
	if (squash_message(&s, &text, err) < 0 || squash_author(&s, &env, err) < 0 ||
		squash_signing(&s, &signing, err) < 0 ||
		GIT(&s, buf_str(&text), env, &made, err, "-c", "i18n.commitEncoding=UTF-8",
			"commit-tree", signing, "-p", s.parent,
			arena_printf(&a, "%s^{tree}", s.head)) < 0 ||
		GIT(&s, STR(""), NULL, NULL, err, "update-ref", "-m", "dev-team: squash", "HEAD",
			arena_dup(&a, str_trim(buf_str(&made))), s.head) < 0)
		return -1;
	*n = s.n;
	return 0;
}
