#include <fcntl.h>
#include <sys/stat.h>
#define git_push git_push_type /* the name of a type of libgit2 and of a function of ours */
#include <git2.h>
#undef git_push
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
	X(git_repository_state)                                                                    \
	X(git_repository_index)                                                                    \
	X(git_reference_lookup)                                                                    \
	X(git_reference_symbolic_target)                                                           \
	X(git_reference_free)                                                                      \
	X(git_reference_name_to_id)                                                                \
	X(git_graph_ahead_behind)                                                                  \
	X(git_remote_lookup)                                                                       \
	X(git_remote_url)                                                                          \
	X(git_remote_free)                                                                         \
	X(git_ignore_path_is_ignored)                                                              \
	X(git_index_entrycount)                                                                    \
	X(git_index_get_byindex)                                                                   \
	X(git_index_free)                                                                          \
	X(git_diff_options_init)                                                                   \
	X(git_patch_from_buffers)                                                                  \
	X(git_patch_to_buf)                                                                        \
	X(git_patch_free)                                                                          \
	X(git_buf_dispose)

static int start(struct error *err);
LIBRARY(FUNCTIONS, LIBGIT2_SO, "git", start);

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

static int fault(struct error *err, enum err code, const char *what, const char *subject)
{
	return error_set(err, code, "%s '%s': %s", what, subject, error_reason());
}

static int start(struct error *err)
{
	/* These extensions do not change how references, configuration and index are read. */
	static const char *known[] = {
		"worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees"};

	if (lib.git_libgit2_init() < 0)
		return fault(err, ERR_SYSTEM, "cannot start", LIBGIT2_SO);
	if (lib.git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, known, COUNT(known)) < 0)
		return fault(err, ERR_SYSTEM, "cannot set up", LIBGIT2_SO);
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
CLOSE(reference, git_reference_free)
CLOSE(index, git_index_free)
CLOSE(patch, git_patch_free)

/* libgit2 skips a repository that belongs to another user as if it were not there. */
static bool is_foreign(const char *dir_path)
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
	if (foreign || is_foreign(dir_path))
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
	if (rc < 0)
		return fault(err, ERR_STATE, "cannot open the repository of", dir_path);
	if (!lib.git_repository_workdir(*out))
		return error_set(err, ERR_STATE,
			"'%s' is in a bare repository: a work tree is needed", dir_path);
	return 0;
}

int git_root(struct arena *a, const char *from, char **root, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	struct str dir;

	if (open_repository(&repo, from, 0, err) < 0)
		return -1;
	dir = str_of(lib.git_repository_workdir(repo));
	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	*root = arena_dup(a, dir);
	return 0;
}

int git_slug(struct arena *a, const char *root, char **slug, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	CLEANUP(remote_close) git_remote *origin = NULL;
	CLEANUP(buf_release) struct buf plain = BUF_INIT, text = BUF_INIT;
	const char *url;

	if (git_config_origin(root, &plain) && git_slug_of_url(buf_str(&plain), &text)) {
		*slug = arena_dup(a, buf_str(&text));
		return 0;
	}
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	if (lib.git_remote_lookup(&origin, repo, "origin") < 0)
		return error_set(err, ERR_STATE, "no remote 'origin' in '%s'", root);
	url = lib.git_remote_url(origin);
	if (!url || !git_slug_of_url(str_of(url), &text))
		return error_set(err, ERR_STATE,
			"no repository name in the URL of remote 'origin' of '%s'", root);
	*slug = arena_dup(a, buf_str(&text));
	return 0;
}

static const char *operation_in_progress(git_repository *repo)
{
	switch (lib.git_repository_state(repo)) {
	case GIT_REPOSITORY_STATE_NONE:
		return NULL;
	case GIT_REPOSITORY_STATE_MERGE:
		return "merge";
	case GIT_REPOSITORY_STATE_REVERT:
	case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
		return "revert";
	case GIT_REPOSITORY_STATE_CHERRYPICK:
	case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
		return "cherry-pick";
	case GIT_REPOSITORY_STATE_BISECT:
		return "bisect";
	default:
		return "rebase";
	}
}

/* What a symbolic reference points at, in the arena; NULL when it is missing or not symbolic. */
static const char *target_of(struct arena *a, git_repository *repo, const char *name)
{
	CLEANUP(reference_close) git_reference *ref = NULL;
	const char *target;

	if (lib.git_reference_lookup(&ref, repo, name) < 0)
		return NULL;
	target = lib.git_reference_symbolic_target(ref);
	return target ? arena_dup(a, str_of(target)) : NULL;
}

enum certainty { KNOWN, GUESSED, UNKNOWN };

/* The full name of the remote's default branch, and its commit. */
static enum certainty default_branch(
	struct arena *a, git_repository *repo, const char **name, git_oid *at)
{
	const char *const guesses[] = {target_of(a, repo, "refs/remotes/origin/HEAD"),
		"refs/remotes/origin/main", "refs/remotes/origin/master"};

	for (size_t i = 0; i < COUNT(guesses); i++) {
		*name = guesses[i];
		if (*name && lib.git_reference_name_to_id(at, repo, *name) == 0)
			return i ? GUESSED : KNOWN;
	}
	return UNKNOWN;
}

static void read_default(struct arena *a, git_repository *repo, struct git_head *h)
{
	static const size_t prefix = sizeof("refs/remotes/origin/") - 1;
	size_t ahead = 0, behind = 0;
	enum certainty known;
	const char *name;
	git_oid theirs, ours;

	if (!h->branch || !h->origin)
		return;
	known = default_branch(a, repo, &name, &theirs);
	h->on_default =
		known != UNKNOWN && strlen(name) > prefix && strcmp(name + prefix, h->branch) == 0;
	h->unsure = !h->on_default && known != KNOWN;
	h->guessed = h->unsure && known == GUESSED;
	if (!h->on_default || h->unborn || lib.git_reference_name_to_id(&ours, repo, "HEAD") < 0)
		return;
	if (lib.git_graph_ahead_behind(&ahead, &behind, repo, &ours, &theirs) < 0)
		ahead = 1; /* if unknown, protect it */
	h->ahead = ahead > 0;
}

/*
 * Whether there is a remote `origin`, and an ssh command of the user's. git is asked: libgit2
 * treats a configuration that cannot be read as absent, and work would be committed and never
 * pushed.
 */
static int read_config(const char *root, struct git_head *h, struct error *err)
{
	static const char *const argv[] = {"git", "config", "--name-only", "--get-regexp",
		"^(remote\\.origin\\.(push)?url|core\\.sshcommand)$", NULL};
	const struct git_command c = {.dir = root, .name = "git config", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line = {"", 0};
	int status;

	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	rest = buf_str(&out);
	if (status > 1) { /* 1: neither is there */
		(void)str_line(&rest, &line);
		return error_set(err, ERR_SYSTEM, "cannot read git's configuration of '%s': %.*s",
			root, (int)line.n, line.p);
	}
	while (status == 0 && str_line(&rest, &line)) {
		h->origin |= str_starts(line, "remote.");
		h->own_ssh |= str_is(line, "core.sshcommand");
	}
	return 0;
}

int git_read_head(struct arena *a, const char *root, struct git_head *h, struct error *err)
{
	CLEANUP(repository_close) git_repository *repo = NULL;
	const char *target;
	git_oid ignored;

	*h = (struct git_head){0};
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	target = target_of(a, repo, "HEAD");
	if (target && str_starts(str_of(target), "refs/heads/"))
		h->branch = target + sizeof("refs/heads/") - 1;
	h->git_dir = arena_dup(a, str_of(lib.git_repository_path(repo)));
	h->unborn = lib.git_reference_name_to_id(&ignored, repo, "HEAD") < 0;
	if (read_config(root, h, err) < 0)
		return -1;
	h->busy = operation_in_progress(repo);
	read_default(a, repo, h);
	return 0;
}

/* ---- files ---- */

/* Git does not ignore what it tracks, whatever the patterns say. */
static int add_tracked(struct git_search *s, git_repository *repo, struct error *err)
{
	CLEANUP(index_close) git_index *index = NULL;

	if (lib.git_repository_index(&index, repo) < 0)
		return fault(err, ERR_SYSTEM, "cannot read the index of", s->root);
	for (size_t i = 0; i < lib.git_index_entrycount(index); i++)
		git_search_add_tracked(s, lib.git_index_get_byindex(index, i)->path);
	return 0;
}

static bool is_ignored(void *repo, const char *path, const char *name)
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
	struct git_search s = {.arena = a, .root = root, .want = want, .is_ignored = is_ignored};
	int plain = git_find_files_plain(a, root, want, paths, n, err);

	if (plain)
		return plain < 0 ? -1 : 0;
	if (open_repository(&repo, root, GIT_REPOSITORY_OPEN_NO_SEARCH, err) < 0)
		return -1;
	s.data = repo;
	if (add_tracked(&s, repo, err) < 0 || git_search_walk(&s, err) < 0)
		return -1;
	git_search_list(&s, paths, n);
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
		return fault(err, ERR_SYSTEM, "cannot diff", new_name);
	add_patch(out, &text);
	lib.git_buf_dispose(&text);
	return 0;
}
