#include <fcntl.h>
#include <sys/stat.h>
#define git_push git_push_type /* the name of a type of libgit2 and of a function of ours */
#include <git2.h>
#undef git_push
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/library.h"
#include "src/sys/path.h"

/* Loading the library takes longer than a whole step, and most steps do not need it. */
#define FUNCTIONS(X)                                                                               \
	X(git_libgit2_init)                                                                        \
	X(git_libgit2_opts)                                                                        \
	X(git_libgit2_version)                                                                     \
	X(git_error_last)                                                                          \
	X(git_repository_open_ext)                                                                 \
	X(git_repository_free)                                                                     \
	X(git_repository_workdir)                                                                  \
	X(git_repository_path)                                                                     \
	X(git_reference_name_to_id)                                                                \
	X(git_revparse_single)                                                                     \
	X(git_object_peel)                                                                         \
	X(git_object_id)                                                                           \
	X(git_object_free)                                                                         \
	X(git_oid_fromstr)                                                                         \
	X(git_oid_tostr)                                                                           \
	X(git_graph_ahead_behind)                                                                  \
	X(git_graph_reachable_from_any)                                                            \
	X(git_merge_base)                                                                          \
	X(git_revwalk_new)                                                                         \
	X(git_revwalk_push)                                                                        \
	X(git_revwalk_hide)                                                                        \
	X(git_revwalk_next)                                                                        \
	X(git_revwalk_free)                                                                        \
	X(git_commit_lookup)                                                                       \
	X(git_commit_tree_id)                                                                      \
	X(git_commit_free)                                                                         \
	X(git_oid_equal)                                                                           \
	X(git_object_type)                                                                         \
	X(git_repository_hashfile)                                                                 \
	X(git_reference_list)                                                                      \
	X(git_remote_lookup)                                                                       \
	X(git_remote_url)                                                                          \
	X(git_remote_free)                                                                         \
	X(git_remote_list)                                                                         \
	X(git_strarray_dispose)                                                                    \
	X(git_ignore_path_is_ignored)                                                              \
	X(git_diff_options_init)                                                                   \
	X(git_diff_tree_to_tree)                                                                   \
	X(git_diff_foreach)                                                                        \
	X(git_diff_free)                                                                           \
	X(git_patch_from_buffers)                                                                  \
	X(git_patch_to_buf)                                                                        \
	X(git_patch_free)                                                                          \
	X(git_buf_dispose)

static int sys_git_start(struct error *err);
LIBRARY(FUNCTIONS, LIBGIT2_SO, "git", sys_git_start);

/* For `make SAN=1`: libgit2 1.5 does not free what its regular expressions matched. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0"; /* else stderr lists them, also when nothing leaked */
}
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2\nleak:libgit2\n";
}

static const char *error_reason(void)
{
	const git_error *e = lib.git_error_last();

	return e && e->message ? e->message : "no reason given";
}

static int sys_git_fault(struct error *err, enum err code, const char *what, const char *subject)
{
	return error_set(err, code, "%s '%s': %s", what, subject, error_reason());
}

static int sys_git_start(struct error *err)
{
	/* These extensions do not change how references, configuration and index are read. */
	static const char *known[] = {
		"worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees"};

	if (lib.git_libgit2_init() < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot start", LIBGIT2_SO);
	if (lib.git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, known, COUNT(known)) < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot set up", LIBGIT2_SO);
	return 0;
}

int git_library_version(struct arena *a, char **version, struct error *err)
{
	int major, minor, patch;

	if (library_open(&library, err) < 0)
		return -1;
	lib.git_libgit2_version(&major, &minor, &patch);
	*version = arena_printf(a, "%d.%d.%d", major, minor, patch);
	return 0;
}

/* For CLEANUP: NAME_close() frees what a pointer to a libgit2 object holds. */
#define CLOSE(name, free)                                                                          \
	static void name##_close(git_##name **p)                                                   \
	{                                                                                          \
		if (*p)                                                                            \
			lib.free(*p);                                                              \
	}
CLOSE(repository, git_repository_free)
CLOSE(remote, git_remote_free)
CLOSE(patch, git_patch_free)
CLOSE(object, git_object_free)
CLOSE(commit, git_commit_free)
CLOSE(revwalk, git_revwalk_free)
CLOSE(diff, git_diff_free)

/* libgit2 skips a repository that belongs to another user as if it were not there. */
static bool sys_git_is_foreign(const char *dir_path)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(base_free) char *real = realpath(dir_path, NULL);
	struct stat st;

	for (const char *dir = real; dir; dir = arena_dup(&a, path_dir(dir))) {
		if (stat(path_join(&a, dir, ".git"), &st) == 0)
			return st.st_uid != geteuid();
		if (strcmp(dir, "/") == 0)
			break;
	}
	return false;
}

static int not_opened(const char *dir_path, bool foreign, struct error *err)
{
	if (foreign || sys_git_is_foreign(dir_path))
		return error_set(err, ERR_STATE,
			"the repository of '%s' belongs to another user: add its directory to "
			"git's "
			"'safe.directory' to trust it",
			dir_path);
	return error_set(err, ERR_STATE, "'%s' is not in a git repository", dir_path);
}

static int open_repository(
	git_repository **out, const char *dir_path, unsigned flags, struct error *err)
{
	int rc;

	if (library_open(&library, err) < 0)
		return -1;
	rc = lib.git_repository_open_ext(out, dir_path, flags, getenv("GIT_CEILING_DIRECTORIES"));
	if (rc == GIT_ENOTFOUND || rc == GIT_EOWNER)
		return not_opened(dir_path, rc == GIT_EOWNER, err);
	if (rc < 0 && strstr(error_reason(), "extensions.objectformat"))
		return error_set(err, ERR_STATE,
			"the repository of '%s' has SHA-256 ids, which dev-team cannot read: use "
			"one "
			"with SHA-1 ids",
			dir_path);
	if (rc < 0)
		return sys_git_fault(err, ERR_STATE, "cannot open the repository of", dir_path);
	return 0;
}

int git_root(struct arena *a, const char *from, char **root, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	struct str dir;

	if (open_repository(&repo, from, 0, err) < 0)
		return -1;
	if (!lib.git_repository_workdir(repo))
		return error_set(err, ERR_STATE,
			"'%s' is in a bare repository: a work tree is needed", from);
	dir = str_of(lib.git_repository_workdir(repo));
	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	*root = arena_dup(a, dir);
	return 0;
}

/* There is no remote `origin`: 1, *err says so. The library takes a configuration that it cannot
 * read for an empty one. */
static int no_origin(struct arena *a, const char *root, struct error *err)
{
	struct git_identity id;

	if (git_read_identity(a, root, &id, err) < 0)
		return -1;
	for (size_t i = 0; i < id.remotes.list.n; i++)
		if (strcmp(id.remotes.list.items[i].name, "origin") == 0)
			return error_set(err, ERR_SYSTEM, "cannot read the remotes of '%s'", root);
	(void)error_set(err, ERR_STATE,
		"no remote 'origin' in '%s': run 'git remote add origin URL'", root);
	return 1;
}

int git_slug(struct arena *a, const char *root, char **slug, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(remote_close) git_remote *origin = NULL;
	CLEANUP(buf_release) struct buf plain = BUF_INIT, text = BUF_INIT;
	const char *url;
	int rc;

	if (git_config_origin(root, &plain) && git_slug_of_url(buf_str(&plain), &text)) {
		*slug = arena_dup(a, buf_str(&text));
		return 0;
	}
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	rc = lib.git_remote_lookup(&origin, repo, "origin");
	if (rc < 0 && rc != GIT_ENOTFOUND)
		return sys_git_fault(err, ERR_SYSTEM, "cannot read the remote 'origin' of", root);
	if (rc < 0)
		return no_origin(a, root, err);
	url = lib.git_remote_url(origin);
	if (!url || !git_slug_of_url(str_of(url), &text)) {
		(void)error_set(err, ERR_STATE,
			"no repository name in the URL of remote 'origin' of '%s': run 'git remote "
			"set-url origin URL'",
			root);
		return 1;
	}
	*slug = arena_dup(a, buf_str(&text));
	return 0;
}

int git_check_open(const char *root, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;

	return open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err);
}

/* ---- commits ---- */

/* The id of `object` peeled to `type`, or NULL. */
static const char *peeled_id(struct arena *a, git_object *object, git_object_t type)
{
	CLEANUP(object_close) git_object *peeled = NULL;
	char id[GIT_OID_HEXSZ + 1];

	if (lib.git_object_peel(&peeled, object, type) < 0)
		return NULL;
	return arena_dup(a, str_of(lib.git_oid_tostr(id, sizeof(id), lib.git_object_id(peeled))));
}

/* The library finds no object where the disk has a fault; but there is a branch, or an id. */
static bool is_lost(git_repository *repo, const char *name)
{
	static const char *const prefixes[] = {"", "refs/heads/", "refs/remotes/"};
	CLEANUP(arena_release) struct arena a = {0};
	git_oid id;

	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (lib.git_reference_name_to_id(
			    &id, repo, arena_printf(&a, "%s%s", prefixes[i], name)) == 0)
			return true;
	return strlen(name) == GIT_OID_HEXSZ && lib.git_oid_fromstr(&id, name) == 0;
}

/* Garbage in a reference is not a fault of the disk. */
static int unreadable(const char *name, struct error *err)
{
	const git_error *e = lib.git_error_last();
	bool damaged = e && e->klass == GIT_ERROR_REFERENCE;

	return sys_git_fault(err, damaged ? ERR_CHECK : ERR_SYSTEM, "cannot read commit", name);
}

int git_read_commits(struct arena *a, const char *root, const char *const *names, size_t n,
	struct git_commit *out, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;

	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		CLEANUP(object_close) git_object *object = NULL;
		int rc = lib.git_revparse_single(&object, repo, names[i]);

		out[i] = (struct git_commit){0};
		/* No reference can have a name that is not valid. */
		if (rc < 0 && rc != GIT_ENOTFOUND && rc != GIT_EINVALIDSPEC)
			return unreadable(names[i], err);
		if (rc == 0)
			out[i] = (struct git_commit){peeled_id(a, object, GIT_OBJECT_COMMIT),
				peeled_id(a, object, GIT_OBJECT_TREE)};
		if ((rc < 0 && is_lost(repo, names[i])) || (out[i].id && !out[i].tree))
			return sys_git_fault(err, ERR_SYSTEM, "cannot read commit", names[i]);
	}
	return 0;
}

int git_read_file_id(struct arena *a, const char *root, const char *commit, const char *path,
	const char **id, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(object_close) git_object *object = NULL;
	char text[GIT_OID_HEXSZ + 1];
	git_oid oid;
	int rc;

	*id = NULL;
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (commit)
		rc = lib.git_revparse_single(&object, repo, arena_printf(a, "%s:%s", commit, path));
	else
		rc = lib.git_repository_hashfile(
			&oid, repo, path_join(a, root, path), GIT_OBJECT_BLOB, NULL);
	if (rc < 0 && rc != GIT_ENOTFOUND)
		return sys_git_fault(err, ERR_SYSTEM, "cannot read file", path);
	if (rc == 0 && object && lib.git_object_type(object) == GIT_OBJECT_BLOB)
		oid = *lib.git_object_id(object);
	else if (rc < 0 || object)
		return 0;
	*id = arena_dup(a, str_of(lib.git_oid_tostr(text, sizeof(text), &oid)));
	return 0;
}

/* The library does not know where the history of a shallow clone ends. */
static int count_shallow(
	const char *root, const char *from, const char *to, size_t *n, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *const argv[] = {
		"git", "rev-list", "--count", arena_printf(&a, "%s..%s", from, to), "--", NULL};
	const struct git_command c = {.dir = root, .name = "git rev-list", .argv = argv};

	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	*n = strtoul(buf_str(&out).p, NULL, 10);
	return 0;
}

int git_count_commits(
	const char *root, const char *from, const char *to, size_t *n, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	git_oid ours, theirs;
	size_t behind;

	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (lib.git_oid_fromstr(&ours, to) < 0 || lib.git_oid_fromstr(&theirs, from) < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot count the commits of", root);
	if (lib.git_graph_ahead_behind(n, &behind, repo, &ours, &theirs) == 0)
		return 0;
	return count_shallow(root, from, to, n, err);
}

static const char *ask_fork_point(
	struct arena *a, const char *root, const char *one, const char *other)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *const argv[] = {"git", "merge-base", one, other, NULL};
	const struct git_command c = {.dir = root, .name = "git merge-base", .argv = argv};
	struct error ignored;

	if (git_command(&c, &out, NULL, &ignored) < 0)
		return NULL;
	return out.len ? arena_dup(a, str_trim(buf_str(&out))) : NULL;
}

const char *git_fork_point(struct arena *a, const char *root, const char *one, const char *other)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	char id[GIT_OID_HEXSZ + 1];
	struct error ignored;
	git_oid x, y, at;

	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, &ignored) < 0 ||
		lib.git_oid_fromstr(&x, one) < 0 || lib.git_oid_fromstr(&y, other) < 0)
		return NULL;
	if (lib.git_merge_base(&at, repo, &x, &y) < 0)
		return ask_fork_point(a, root, one, other); /* as count_shallow() */
	return arena_dup(a, str_of(lib.git_oid_tostr(id, sizeof(id), &at)));
}

/* `name` is `other`, or that of a child item: `.CHILD` follows the id, behind which both may have
 * the same text. */
static bool is_below(const char *name, const char *other)
{
	size_t n = 0;

	while (name[n] && name[n] == other[n])
		n++;
	return (!name[n] && !other[n]) || (name[n] == '.' && str_ends(str_of(name + n), other + n));
}

/* `refs/remotes/REMOTE/BRANCH`, or the local branch of another item. What is not one of these is
 * skipped, and so are the branches of parents and children. */
static bool is_other_branch(const char *name, const char *branch)
{
	static const char remotes[] = "refs/remotes/", heads[] = "refs/heads/";
	const char *slash = NULL;

	if (str_starts(str_of(name), GIT_ITEMS))
		slash = name + strlen(heads) - 1;
	else if (str_starts(str_of(name), remotes))
		slash = strchr(name + strlen(remotes), '/');
	return slash && strcmp(slash + 1, "HEAD") != 0 &&
	       (!branch || (!is_below(slash + 1, branch) && !is_below(branch, slash + 1)));
}

/* The library cannot follow the history of a shallow clone. */
static int ask_other_branch(
	const char *root, const char *commit, const char *branch, bool *yes, struct error *err)
{
	const char *const argv[] = {"git", "for-each-ref", "--contains", commit,
		"--format=%(refname)", "refs/remotes", GIT_ITEMS, NULL};
	const struct git_command c = {.dir = root, .name = "git for-each-ref", .argv = argv};
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;

	*yes = false;
	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	for (rest = buf_str(&out); !*yes && str_line(&rest, &line);)
		*yes = is_other_branch(arena_dup(&a, line), branch);
	return 0;
}

int git_is_on_other_branch(
	const char *root, const char *commit, const char *branch, bool *yes, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	VEC(git_oid) tips = {0};
	git_strarray names;
	git_oid head, tip;
	int rc;

	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (lib.git_oid_fromstr(&head, commit) < 0 || lib.git_reference_list(&names, repo) < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot list the branches of", root);
	for (size_t i = 0; i < names.count; i++)
		if (is_other_branch(names.strings[i], branch) &&
			lib.git_reference_name_to_id(&tip, repo, names.strings[i]) == 0)
			vec_push(&tips, tip);
	lib.git_strarray_dispose(&names);
	rc = tips.n ? lib.git_graph_reachable_from_any(repo, &head, tips.items, tips.n) : 0;
	vec_release(&tips);
	*yes = rc == 1;
	return rc < 0 ? ask_other_branch(root, commit, branch, yes, err) : 0;
}

static int start_walk(git_revwalk **walk, git_repository *repo, const char *from, const char *to)
{
	git_oid first, last;

	return lib.git_oid_fromstr(&last, to) < 0 || lib.git_revwalk_new(walk, repo) < 0 ||
			       lib.git_revwalk_push(*walk, &last) < 0 ||
			       (from && (lib.git_oid_fromstr(&first, from) < 0 ||
						lib.git_revwalk_hide(*walk, &first) < 0))
		       ? -1
		       : 0;
}

/* The library cannot follow the history of a shallow clone. */
static int ask_history(struct arena *a, const char *root, const char *from, const char *to,
	struct git_history *out, struct error *err)
{
	const char *const argv[] = {"git", "log", "--no-show-signature", "--format=%H %T",
		from ? arena_printf(a, "%s..%s", from, to) : to, "--", NULL};
	const struct git_command c = {.dir = root, .name = "git log", .argv = argv};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;

	if (git_command(&c, &text, NULL, err) < 0)
		return -1;
	for (rest = buf_str(&text); str_line(&rest, &line);)
		if (line.n > GIT_OID_HEXSZ)
			vec_push_in(a, &out->list,
				((struct git_commit){arena_dup(a, str_sub(line, 0, GIT_OID_HEXSZ)),
					arena_dup(a, str_sub(line, GIT_OID_HEXSZ + 1, line.n))}));
	return 0;
}

static const char *id_text(struct arena *a, const git_oid *id)
{
	char text[GIT_OID_HEXSZ + 1];

	return arena_dup(a, str_of(lib.git_oid_tostr(text, sizeof(text), id)));
}

int git_list_history(struct arena *a, const char *root, const char *from, const char *to,
	struct git_history *out, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(revwalk_close) git_revwalk *walk = NULL;
	git_oid at;
	int rc = -1;

	*out = (struct git_history){0};
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (start_walk(&walk, repo, from, to) == 0)
		while ((rc = lib.git_revwalk_next(&at, walk)) == 0) {
			CLEANUP(commit_close) git_commit *commit = NULL;

			if (lib.git_commit_lookup(&commit, repo, &at) < 0)
				break;
			vec_push_in(a, &out->list,
				((struct git_commit){id_text(a, &at),
					id_text(a, lib.git_commit_tree_id(commit))}));
		}
	if (rc == GIT_ITEROVER)
		return 0;
	*out = (struct git_history){0};
	return ask_history(a, root, from, to, out, err);
}

/* The library refuses a remote whose configuration it does not know: a negative refspec, for one.
 */
static int ask_url(
	struct arena *a, const char *root, const char *remote, const char **url, struct error *err)
{
	const char *const argv[] = {
		"git", "config", "--get", arena_printf(a, "remote.%s.url", remote), NULL};
	const struct git_command c = {.dir = root, .name = "git config", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0;

	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	*url = status == 0 ? arena_dup(a, str_trim(buf_str(&out))) : NULL;
	return 0;
}

static int read_url(struct arena *a, git_repository *repo, const char *root, const char *name,
	const char **url, struct error *err)
{
	CLEANUP(remote_close) git_remote *remote = NULL;
	const char *known;

	if (lib.git_remote_lookup(&remote, repo, name) < 0)
		return ask_url(a, root, name, url, err);
	known = lib.git_remote_url(remote);
	*url = known ? arena_dup(a, str_of(known)) : NULL;
	return 0;
}

int git_read_remotes(struct arena *a, const char *root, struct git_remotes *out, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	git_strarray names;
	int rc = 0;

	*out = (struct git_remotes){0};
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (lib.git_remote_list(&names, repo) < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot list the remotes of", root);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		const char *url = NULL;

		rc = read_url(a, repo, root, names.strings[i], &url, err);
		if (url)
			vec_push_in(a, &out->list,
				(struct git_remote){arena_dup(a, str_of(names.strings[i])), url});
	}
	lib.git_strarray_dispose(&names);
	return rc;
}

/* ---- files ---- */

/* Git does not ignore what it tracks, whatever the patterns say. libgit2 cannot read a split index.
 */
static int add_tracked(struct git_search *s, struct error *err)
{
	const char *const argv[] = {"git", "ls-files", "-z", NULL};
	const struct git_command c = {.dir = s->root, .name = "git ls-files", .argv = argv};
	CLEANUP(buf_release) struct buf paths = BUF_INIT;

	if (git_command(&c, &paths, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < paths.len; at += strlen(paths.s + at) + 1)
		git_search_add_tracked(s, paths.s + at);
	return 0;
}

static bool sys_git_is_ignored(void *repo, const char *path, const char *name)
{
	int ignored = 0;

	(void)name;
	return lib.git_ignore_path_is_ignored(&ignored, repo, path) == 0 && ignored;
}

int git_find_files(struct arena *a, const char *root, bool (*want)(struct str name), char ***paths,
	size_t *n, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(git_search_release)
	struct git_search s = {
		.arena = a, .root = root, .want = want, .is_ignored = sys_git_is_ignored};
	int plain = git_find_files_plain(a, root, want, paths, n, err);

	if (plain)
		return plain < 0 ? -1 : 0;
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	s.data = repo;
	if (add_tracked(&s, err) < 0 || git_search_walk(&s, err) < 0)
		return -1;
	git_search_list(&s, paths, n);
	return 0;
}

/* ---- the digest of a patch ---- */

/* Folds in what was collected, so that only one file's changes are in memory. */
static void fold(struct buf *b)
{
	char digest[DIGEST_TEXT];

	digest_text(buf_str(b), digest);
	buf_clear(b);
	buf_adds(b, digest);
}

static int digest_file(const git_diff_delta *d, float progress, void *data)
{
	struct buf *b = data;

	(void)progress;
	fold(b);
	buf_addf(b, "%d %o %o %s", (int)d->status, d->old_file.mode, d->new_file.mode,
		d->old_file.path);
	buf_addc(b, '\0');
	buf_adds(b, d->new_file.path);
	buf_addc(b, '\0');
	return 0;
}

static int digest_binary(const git_diff_delta *d, const git_diff_binary *binary, void *data)
{
	char id[GIT_OID_HEXSZ + 1];

	(void)binary;
	buf_adds(data, lib.git_oid_tostr(id, sizeof(id), &d->old_file.id));
	buf_adds(data, lib.git_oid_tostr(id, sizeof(id), &d->new_file.id));
	return 0;
}

static int digest_line(
	const git_diff_delta *d, const git_diff_hunk *hunk, const git_diff_line *line, void *data)
{
	(void)hunk;
	if (line->origin == ' ' && git_is_changelog(d->new_file.path))
		return 0;
	buf_addc(data, line->origin);
	buf_add(data, (struct str){line->content, line->content_len});
	return 0;
}

static int find_tree(git_object **out, git_repository *repo, const char *commit)
{
	CLEANUP(object_close) git_object *object = NULL;

	return lib.git_revparse_single(&object, repo, commit) < 0
		       ? -1
		       : lib.git_object_peel(out, object, GIT_OBJECT_TREE);
}

static void digest_patch(
	git_repository *repo, const char *from, const char *to, char out[GIT_PATCH_TEXT])
{
	CLEANUP(object_close) git_object *old = NULL, *new = NULL;
	CLEANUP(diff_close) git_diff *diff = NULL;
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	git_diff_options options;

	*out = '\0';
	if (find_tree(&old, repo, from) < 0 || find_tree(&new, repo, to) < 0)
		return;
	(void)lib.git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	if (lib.git_diff_tree_to_tree(&diff, repo, (git_tree *)old, (git_tree *)new, &options) <
			0 ||
		lib.git_diff_foreach(diff, digest_file, digest_binary, NULL, digest_line, &b) < 0 ||
		!b.len)
		return;
	digest_text(buf_str(&b), out);
}

void git_patch_digest(const char *root, const char *from, const char *to, char out[GIT_PATCH_TEXT])
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	struct error ignored;

	*out = '\0';
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, &ignored) == 0)
		digest_patch(repo, from, to, out);
}

/* Whether a commit and the n - 1 before it make these changes. */
static bool has_patch(git_repository *repo, const char *id, size_t n, const char *digest)
{
	char before[GIT_OID_HEXSZ + 24], found[GIT_PATCH_TEXT];

	(void)snprintf(before, sizeof(before), "%s~%zu", id, n);
	digest_patch(repo, before, id, found);
	return strcmp(found, digest) == 0;
}

/* The newest commit that `to` has and `from` has not, and that makes the changes with this digest,
 * or does so together with the n - 1 commits before it. */
static const char *find_same_patch(struct arena *a, const char *root, const char *from,
	const char *to, const char *digest, size_t n)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(revwalk_close) git_revwalk *walk = NULL;
	char id[GIT_OID_HEXSZ + 1];
	struct error ignored;
	git_oid at;

	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, &ignored) < 0 ||
		start_walk(&walk, repo, from, to) < 0)
		return NULL;
	while (lib.git_revwalk_next(&at, walk) == 0) {
		(void)lib.git_oid_tostr(id, sizeof(id), &at);
		if (has_patch(repo, id, 1, digest) || (n > 1 && has_patch(repo, id, n, digest)))
			return arena_dup(a, str_of(id));
	}
	return NULL;
}

int git_find_landed(struct arena *a, const char *root, const char *head, const char *tip,
	const char *digest, const char **commit, struct error *err)
{
	const char *fork = git_fork_point(a, root, head, tip);
	char own[GIT_PATCH_TEXT];
	size_t n;

	*commit = fork && strcmp(fork, head) == 0 ? head : NULL;
	if (!fork || *commit || strcmp(fork, tip) == 0)
		return 0;
	if (git_count_commits(root, fork, head, &n, err) < 0)
		return -1;
	if (!digest)
		git_patch_digest(root, fork, head, own);
	digest = digest ? digest : own;
	*commit = *digest ? find_same_patch(a, root, fork, tip, digest, n) : NULL;
	return 0;
}

/* ---- diff ---- */

/* Without the header lines that only git can use. */
static void add_patch(struct buf *out, const git_buf *text)
{
	struct str all = {text->ptr, text->size};
	size_t at = str_find(all, STR("\n--- "));

	if (at < all.n)
		buf_add(out, str_sub(all, at + 1, all.n));
}

int git_diff_texts(struct buf *out, const char *old_name, struct str old_text, const char *new_name,
	struct str new_text, struct error *err)
{
	CLEANUP(patch_close) git_patch *patch = NULL;
	git_diff_options options;
	git_buf text = {0};

	if (library_open(&library, err) < 0)
		return -1;
	(void)lib.git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	options.flags = GIT_DIFF_FORCE_TEXT; /* a damaged document may contain any bytes */
	options.old_prefix = options.new_prefix = "";
	if (lib.git_patch_from_buffers(&patch, old_text.p ? old_text.p : "", old_text.n, old_name,
		    new_text.p ? new_text.p : "", new_text.n, new_name, &options) < 0 ||
		lib.git_patch_to_buf(&text, patch) < 0)
		return sys_git_fault(err, ERR_SYSTEM, "cannot diff", new_name);
	add_patch(out, &text);
	lib.git_buf_dispose(&text);
	return 0;
}
