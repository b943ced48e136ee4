#include <sys/stat.h>
/*
 * git_refs.c: HEAD and the default branch, read from the files that hold the references: libgit2
 * takes several times as long as a step to load. References in another form are read by git.
 */
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"

enum { PACKED_MAX = 64 << 20, REFLOG_MAX = 64 << 20, ID_SHA1 = 40, ID_SHA256 = 64 };

#define ORIGIN "refs/remotes/origin/"
#define HEADS  "refs/heads/"

char *git_first_line(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;

	if (sys_read_file(&text, path, 8192, NULL, &ignored) < 0)
		return NULL;
	rest = buf_str(&text);
	return str_line(&rest, &line) ? arena_dup(a, str_trim(line)) : NULL;
}

static bool is_bare(struct arena *a, const char *root)
{
	return !path_exists(path_join(a, root, ".git")) &&
	       path_exists(path_join(a, root, "HEAD")) &&
	       path_is_directory(path_join(a, root, "objects")) &&
	       path_is_directory(path_join(a, root, "refs"));
}

bool git_directories(struct arena *a, const char *root, char **own, char **common)
{
	char *line;

	*own = path_join(a, root, ".git");
	if (!path_is_directory(*own)) {
		line = git_first_line(a, *own);
		if (!line && is_bare(a, root)) {
			*own = *common = arena_dup(a, str_of(root));
			return true;
		}
		if (!line || !str_starts(str_of(line), "gitdir: "))
			return false;
		*own = path_join(a, root, line + strlen("gitdir: "));
	}
	line = git_first_line(a, path_join(a, *own, "commondir"));
	*common = line ? path_join(a, *own, line) : *own;
	return true;
}

static bool git_refs_is_id(struct str s, size_t length)
{
	return s.n == length && strspn(s.p, "0123456789abcdef") >= s.n;
}

/* `ID NAME` in lines; comments, and `^ID` of what a tag points at, are longer or shorter. */
static const char *packed_id(struct arena *a, const char *common, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;

	if (sys_read_file(&text, path_join(a, common, "packed-refs"), PACKED_MAX, NULL, &ignored) <
		0)
		return NULL;
	for (rest = buf_str(&text); str_line(&rest, &line);)
		if (line.n > ID_SHA1 + 1 && line.p[ID_SHA1] == ' ' &&
			str_is(str_sub(line, ID_SHA1 + 1, line.n), name) &&
			git_refs_is_id(str_sub(line, 0, ID_SHA1), ID_SHA1))
			return arena_dup(a, str_sub(line, 0, ID_SHA1));
	return NULL;
}

/* A reference is a file of its own, or else it is packed. NULL: there is none. "": unreadable. */
static const char *read_reference(struct arena *a, const char *common, const char *name)
{
	const char *path = path_join(a, common, name), *line = git_first_line(a, path);

	if (line)
		return line;
	return path_exists(path) && !path_is_directory(path) ? "" : packed_id(a, common, name);
}

/* As a write that was cut off leaves a file; what cannot be read may be whole. */
static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size == 0;
}

/* ---- HEAD ---- */

int git_read_branch(struct arena *a, const char *root, const char **branch, struct error *err)
{
	static const char ref[] = "ref: " HEADS;
	char *own, *common, *line = NULL;

	if (git_directories(a, root, &own, &common))
		line = git_first_line(a, path_join(a, own, "HEAD"));
	if (!line)
		return error_set(err, ERR_STATE, "cannot read the branch of '%s'", root);
	*branch = str_starts(str_of(line), ref) ? line + strlen(ref) : NULL;
	return 0;
}

bool git_plain_tip(struct arena *a, const char *root, struct git_tip *out)
{
	static const char ref[] = "ref: ";
	char *own, *common;
	const char *line, *name;

	*out = (struct git_tip){0};
	if (!git_directories(a, root, &own, &common))
		return false;
	line = git_first_line(a, path_join(a, own, "HEAD"));
	if (line && str_starts(str_of(line), ref)) {
		name = line + strlen(ref);
		if (!str_starts(str_of(name), HEADS) || strstr(name, ".."))
			return false;
		out->branch = name + strlen(HEADS);
		line = read_reference(a, common, name);
	}
	if (line && git_refs_is_id(str_of(line), ID_SHA1))
		out->commit = line;
	return out->commit != NULL;
}

/* False: another form, which the library must read. */
static bool read_plain_id(
	struct arena *a, const char *root, const char *common, const char *name, const char **id)
{
	struct git_tip tip;
	bool head = strcmp(name, "HEAD") == 0;

	if (head ? !git_plain_tip(a, root, &tip)
		 : !str_starts(str_of(name), "refs/") || strstr(name, ".."))
		return false;
	*id = head ? tip.commit : read_reference(a, common, name);
	return !*id || git_refs_is_id(str_of(*id), ID_SHA1);
}

bool git_plain_ids(
	struct arena *a, const char *root, const char *const *names, size_t n, const char **ids)
{
	char *own, *common;
	size_t i = 0;

	if (git_plain_directories(a, root, &own, &common))
		while (i < n && read_plain_id(a, root, common, names[i], &ids[i]))
			i++;
	return i == n;
}

int git_read_ids(struct arena *a, const char *root, const char *const *names, size_t n,
	const char **ids, struct error *err)
{
	struct git_commit *found;

	if (git_plain_ids(a, root, names, n, ids))
		return 0;
	found = arena_alloc(a, n * sizeof(*found));
	if (git_read_commits(a, root, names, n, found, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		ids[i] = found[i].id;
	return 0;
}

/* ---- the state of a work tree ---- */

/* In this order, as `git status` looks for them. */
static const char *operation_in_progress(struct arena *a, const char *own)
{
	static const char *const signs[][2] = {{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"REVERT_HEAD", "revert"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"BISECT_LOG", "bisect"}};

	for (size_t i = 0; i < COUNT(signs); i++)
		if (path_exists(path_join(a, own, signs[i][0])))
			return signs[i][1];
	return NULL;
}

/* The directory of the work tree in its repository, which can be opened. */
static int find_own_directory(struct arena *a, const char *root, char **own, struct error *err)
{
	char *common;

	if (git_plain_directories(a, root, own, &common))
		return 0;
	if (git_check_open(root, err) < 0)
		return -1;
	return git_directories(a, root, own, &common)
		       ? 0
		       : error_set(err, ERR_SYSTEM, "cannot read the repository of '%s'", root);
}

int git_read_operation(const char *root, const char **name, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *own;

	if (find_own_directory(&a, root, &own, err) < 0)
		return -1;
	*name = operation_in_progress(&a, own);
	return 0;
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

static int compare_with_default(struct arena *a, const char *root, const char *commit,
	struct git_head *h, struct error *err)
{
	struct git_default known;
	struct error ignored;
	size_t ahead;

	if (!h->branch || !h->origin)
		return 0;
	if (git_read_default(a, root, &known, err) < 0)
		return -1;
	h->on_default = known.remote && strcmp(known.branch, h->branch) == 0;
	h->unsure = !h->on_default; /* it may have moved since the last fetch */
	h->guessed = h->unsure && known.remote;
	if (h->on_default && commit) /* if unknown, protect it */
		h->ahead = git_count_commits(root, known.commit, commit, &ahead, &ignored) < 0 ||
			   ahead;
	return 0;
}

int git_read_head(struct arena *a, const char *root, struct git_head *h, struct error *err)
{
	struct git_tip tip;
	char *own;

	*h = (struct git_head){0};
	if (find_own_directory(a, root, &own, err) < 0 || git_read_tip(a, root, &tip, err) < 0 ||
		read_config(root, h, err) < 0)
		return -1;
	h->branch = tip.branch;
	h->git_dir = own;
	h->unborn = !tip.commit;
	h->busy = operation_in_progress(a, own);
	return compare_with_default(a, root, tip.commit, h, err);
}

/* ---- the default branch ---- */

/* In this order, after the branch that origin/HEAD names. */
static const char *const guesses[] = {ORIGIN "main", ORIGIN "master", HEADS "main", HEADS "master"};

static void set_default(const char *ref, const char *commit, struct git_default *out)
{
	out->ref = ref;
	out->commit = commit;
	out->remote = str_starts(str_of(ref), ORIGIN);
	out->branch = ref + (out->remote ? strlen(ORIGIN) : strlen(HEADS));
}

/* 0: read; 1: git must be asked; -1: damaged. */
static int read_plain_default(struct arena *a, const char *root, const char *common,
	struct git_default *out, struct error *err)
{
	const char *head = read_reference(a, common, ORIGIN "HEAD"), *named = NULL;

	if (path_exists(path_join(a, common, "reftable")))
		return 1;
	if (head && str_starts(str_of(head), "ref: " ORIGIN) && !strstr(head, ".."))
		named = head + strlen("ref: ");
	out->head = named ? named + strlen(ORIGIN) : NULL;
	for (size_t i = 0; i <= COUNT(guesses); i++) {
		const char *ref = i ? guesses[i - 1] : named;
		const char *id = ref ? read_reference(a, common, ref) : NULL;

		if (!id)
			continue;
		if (git_refs_is_id(str_of(id), ID_SHA256) || str_starts(str_of(id), "ref: "))
			return 1;
		if (!*id && !is_empty(path_join(a, common, ref)))
			return error_set(err, ERR_SYSTEM, "cannot read the reference '%s' in '%s'",
				ref, root);
		if (!git_refs_is_id(str_of(id), ID_SHA1))
			return error_set(err, ERR_CHECK,
				"the reference '%s' in '%s' is damaged: 'git fsck' shows the "
				"damage",
				ref, root);
		set_default(ref, id, out);
		return 0;
	}
	return 0;
}

/* `line`: NAME ID TARGET. *rank: of what *out has; lower ones replace it. */
static void note_default(struct arena *a, struct str line, size_t *rank, struct git_default *out)
{
	size_t one = str_find(line, STR(" ")), two;
	struct str name = str_sub(line, 0, one), rest = str_sub(line, one + 1, line.n), target;
	const char *commit;

	two = str_find(rest, STR(" "));
	target = str_trim(str_sub(rest, two, rest.n));
	commit = arena_dup(a, str_sub(rest, 0, two));
	if (str_is(name, ORIGIN "HEAD") && str_starts(target, ORIGIN)) {
		name = str_of(arena_dup(a, target));
		set_default(name.p, commit, out);
		out->head = out->branch;
		*rank = 0;
	}
	for (size_t i = 0; i + 1 < *rank; i++)
		if (str_is(name, guesses[i])) {
			set_default(guesses[i], commit, out);
			*rank = i + 1;
		}
}

static int ask_default(
	struct arena *a, const char *root, struct git_default *out, struct error *err)
{
	const char *const argv[] = {"git", "for-each-ref",
		"--format=%(refname) %(objectname) %(symref)", ORIGIN "HEAD", guesses[0],
		guesses[1], guesses[2], guesses[3], NULL};
	const struct git_command c = {.dir = root, .name = "git for-each-ref", .argv = argv};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t rank = COUNT(guesses) + 1;

	if (git_command(&c, &text, NULL, err) < 0)
		return -1;
	for (rest = buf_str(&text); str_line(&rest, &line);)
		note_default(a, line, &rank, out);
	return 0;
}

int git_read_default(struct arena *a, const char *root, struct git_default *out, struct error *err)
{
	char *own, *common;
	int rc = 1;

	*out = (struct git_default){0};
	if (git_directories(a, root, &own, &common))
		rc = read_plain_default(a, root, common, out, err);
	return rc > 0 ? ask_default(a, root, out, err) : rc;
}

bool git_is_branch_name(const char *name)
{
	static const char *const never[] = {"..", "@{", "//", "/.", ".lock/"};
	struct str s = str_of(name);
	bool bad = !*name || strchr("-/.", *name) || str_is(s, "@") || str_is(s, "HEAD") ||
		   str_ends(s, "/") || str_ends(s, ".") || str_ends(s, ".lock") ||
		   strpbrk(name, " ~^:?*[\\\x7f") || str_utf8_fault(s);

	for (size_t i = 0; i < COUNT(never); i++)
		bad |= strstr(name, never[i]) != NULL;
	for (size_t i = 0; i < s.n; i++)
		bad |= (unsigned char)s.p[i] < ' ';
	return !bad;
}

bool git_branch_was_at(const char *common, const char *branch, const char *commit)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf log = BUF_INIT;
	struct error ignored;

	return sys_read_file(&log, arena_printf(&a, "%s/logs/" HEADS "%s", common, branch),
		       REFLOG_MAX, NULL, &ignored) == 0 &&
	       str_find(buf_str(&log), str_of(commit)) < log.len;
}
