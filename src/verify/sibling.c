#include <limits.h>
#include <stdlib.h>
#include "src/setup/setup.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/verify/attest.h"

struct sibling {
	const char *path, *branch;
	char *root, *common; /* of its repository */
	char *commit;        /* of the branch; NULL: there is none */
	const char *state, *reason;
};

/* *line NULL: git failed, or printed nothing. */
static int sibling_git(struct arena *a, const struct sibling *s, const char *const *argv,
	char **line, struct error *err)
{
	if (remote_git_line(a, s->root, argv, line, err) < 0)
		return -1;
	if (*line && !**line)
		*line = NULL;
	return 0;
}
#define GIT(line, ...) sibling_git(a, s, (const char *const[]){"git", __VA_ARGS__, NULL}, line, err)

/* The directory that all work trees of the repository share; NULL: it cannot be read. */
static char *common_directory(struct arena *a, const char *root)
{
	char *own, *common, real[PATH_MAX];

	return git_directories(a, root, &own, &common) && realpath(common, real)
		       ? arena_dup(a, str_of(real))
		       : NULL;
}

/* The repository of a path, which need not exist yet. */
static void find_repository(struct arena *a, const char *base, struct sibling *s)
{
	char *dir =
		*s->path == '/' ? arena_dup(a, str_of(s->path)) : path_resolve(a, base, s->path);
	struct error ignored;

	while (!path_is_directory(dir))
		dir = arena_dup(a, path_dir(dir));
	if (git_root(a, dir, &s->root, &ignored) == 0)
		s->common = common_directory(a, s->root);
}

/* Changes count where the branch is checked out; elsewhere they may be anybody's. */
static int sibling_read_changes(struct arena *a, struct sibling *s, struct error *err)
{
	const char *checked_out;
	char *changed;

	if (git_read_branch(a, s->root, &checked_out, err) < 0 ||
		GIT(&changed, "status", "--porcelain", "-uall") < 0)
		return -1;
	if (!changed)
		return 0;
	if (checked_out && strcmp(checked_out, s->branch) == 0) {
		s->state = "uncommitted";
		s->reason = arena_printf(a, "'%s' is not committed", strchr(changed, ' ') + 1);
	} else if (!s->commit) {
		s->state = "unknown";
		s->reason = arena_printf(
			a, "there are changes, and no branch '%s': not verified", s->branch);
	}
	return 0;
}

static int sibling_read_commits(struct arena *a, struct sibling *s, struct error *err)
{
	const char *local = arena_printf(a, "refs/heads/%s", s->branch);
	char *count;

	if (GIT(&s->commit, "rev-parse", "-q", "--verify", local) < 0)
		return -1;
	if (!s->commit)
		return GIT(&s->commit, "for-each-ref", "--count=1", "--format=%(objectname)",
			arena_printf(a, "refs/remotes/*/%s", s->branch));
	if (GIT(&count, "rev-list", "--count", local, "--not", "--remotes") < 0)
		return -1;
	if (count && strcmp(count, "0") != 0) {
		s->state = "unpushed";
		s->reason = arena_printf(
			a, "branch '%s' has commits that are on no remote: %s", s->branch, count);
	}
	return 0;
}

static int read_one(struct arena *a, struct sibling *s, struct error *err)
{
	s->state = NULL;
	if (sibling_read_commits(a, s, err) < 0 ||
		(!s->state && sibling_read_changes(a, s, err) < 0))
		return -1;
	if (s->state)
		return 0;
	s->state = s->commit ? "pushed" : "none";
	s->reason =
		s->commit ? arena_printf(a, "branch '%s' is pushed at %.12s", s->branch, s->commit)
			  : arena_printf(a, "no branch '%s'", s->branch);
	return 0;
}

int sibling_read(struct arena *a, const char *repo, const char *branch, const char *const *paths,
	size_t n, json *out, struct error *err)
{
	const char *own = common_directory(a, repo), *base = own && str_ends(str_of(own), "/.git")
								     ? arena_dup(a, path_dir(own))
								     : repo;
	struct sibling *all = arena_alloc(a, (n + 1) * sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		struct sibling *s = &all[i];
		size_t k = 0;

		*s = (struct sibling){.path = paths[i],
			.branch = branch,
			.state = "unknown",
			.reason = "it is in no git repository: not verified"};
		find_repository(a, base, s);
		while (k < i &&
			(!s->common || !all[k].common || strcmp(all[k].common, s->common) != 0))
			k++;
		if (k < i || (own && s->common && strcmp(own, s->common) == 0))
			continue;
		if (s->common && read_one(a, s, err) < 0)
			return error_prefix(err, "%s", s->path);
		json_push(out, JSON_OBJECT(JSON_TEXT("path", s->path), JSON_TEXT("state", s->state),
				       JSON_TEXT("branch", branch),
				       JSON_IF(s->commit, JSON_TEXT("commit", s->commit)),
				       JSON_TEXT("reason", s->reason)));
	}
	return 0;
}

const char *sibling_text(struct arena *a, const json *found, bool unfinished)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (const json *s = json_first(found); s; s = json_next(s))
		if (!unfinished || json_str_is(s, "state", "uncommitted") ||
			json_str_is(s, "state", "unpushed"))
			buf_addf(&text, "%s'%s': %s", text.len ? "; " : "", json_get_str(s, "path"),
				json_get_str(s, "reason"));
	return text.len ? arena_dup(a, buf_str(&text)) : NULL;
}
