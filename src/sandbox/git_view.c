/*
 * git_view.c: the repository as a command sees it: a private copy of the common directory, whose
 * objects are added to the real ones, which are read-only. Whatever the command writes there, the
 * host's git never reads it: afterwards git itself verifies and takes over the new objects; refs
 * are moved only if they are the item's own or new, and of the settings only those of its branches
 * are taken. Only the directory of the linked worktree (HEAD, index, logs) is the real one.
 *
 * A copy whose run was killed is taken over by the next run.
 */
#include <strings.h>
#include <sys/stat.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { LOOSE_MAX = 200, PACK_MAX = 1 << 30, LATE_S = 300 };

struct ref {
	const char *name, *value; /* sorted by the first */
};
struct refs {
	VEC(struct ref) list;
};

static const char *in_copy(const struct sandbox *s, const char *name)
{
	return path_join(s->arena, s->view.copy, name);
}

static const char *in_common(const struct sandbox *s, const char *name)
{
	return path_join(s->arena, s->view.common, name);
}

static const char *in_place(const struct sandbox *s, const char *name)
{
	return path_join(s->arena, s->dir, name);
}

/* ---- git on the host ---- */

/* `objects`: of the command's copy, too. */
static int git_view_run(struct sandbox *s, bool objects, const char *const *argv, struct str input,
	struct buf *out, int *status, struct error *err)
{
	const char *const env[] = {GIT_RUNS_NOTHING,
		arena_printf(s->arena, "GIT_DIR=%s", s->view.common),
		objects ? arena_printf(s->arena, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s",
				  in_copy(s, "objects"))
			: NULL,
		NULL};

	/* Relative URLs of remotes begin at the main worktree. */
	return git_command(
		&(struct git_command){.dir = str_is(path_base(s->view.common), ".git")
						     ? arena_dup(s->arena, path_dir(s->view.common))
						     : s->view.common,
			.name = arena_printf(s->arena, "git %s", argv[1]),
			.argv = argv,
			.env = env,
			.input = input,
			.limit_s = LATE_S},
		out, status, err);
}

int sandbox_git_command(struct sandbox *s, const char *const *argv, struct str input,
	struct buf *out, int *status, struct error *err)
{
	return git_view_run(s, false, argv, input, out, status, err);
}

#define GIT(s, input, out, status, err, ...)                                                       \
	sandbox_git_command(                                                                       \
		s, (const char *const[]){"git", __VA_ARGS__, NULL}, input, out, status, err)

struct str sandbox_git_trusted(struct sandbox *s, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct git_default base = {0};
	struct error ignored;
	int status = 1;

	if (s->view.common && git_read_default(s->arena, s->view.common, &base, &ignored) == 0 &&
		base.commit)
		(void)GIT(s, STR(""), &text, &status, &ignored, "cat-file", "blob",
			arena_printf(s->arena, "%s:%s", base.commit, path));
	return status ? (struct str){0} : arena_str(s->arena, buf_str(&text));
}

/* ---- refs ---- */

/* NULL: there is none. */
static struct ref *refs_find(const struct refs *r, const char *name)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (strcmp(r->list.items[i].name, name) == 0)
			return &r->list.items[i];
	return NULL;
}

static bool is_object_id(struct str s)
{
	return (s.n == 40 || s.n == 64) &&
	       config_made_of(s, CONFIG_DIGIT, "abcdef", CONFIG_DIGIT, "abcdef");
}

/* Lines `VALUE NAME`, also of packed-refs. */
static void refs_parse(struct sandbox *s, const char *text, struct refs *out)
{
	struct str rest = str_of(text), line;

	while (str_line(&rest, &line)) {
		size_t blank = str_find(line, STR(" "));
		struct str value = str_sub(line, 0, blank);

		if (blank < line.n && is_object_id(value) &&
			!str_is(str_sub(line, blank + 1, line.n), "refs/stash"))
			vec_push_in(s->arena, &out->list,
				(struct ref){arena_dup(s->arena, str_sub(line, blank + 1, line.n)),
					arena_dup(s->arena, value)});
	}
}

static void refs_add_loose(struct sandbox *s, const char *dir, const char *name, struct refs *out)
{
	const char *text = sandbox_read_text(s->arena, path_join(s->arena, dir, name));
	struct str value = str_trim(str_of(text));
	struct ref *packed = refs_find(out, name);

	if (!is_object_id(value) || strcmp(name, "refs/stash") == 0 ||
		str_ends(str_of(name), ".lock")) /* git is writing it */
		return;
	if (packed)
		packed->value = arena_dup(s->arena, value);
	else
		vec_push_in(s->arena, &out->list, (struct ref){name, arena_dup(s->arena, value)});
}

/* Of a directory: packed ones, and loose ones over them. Symbolic refs are left out. */
static void refs_read(struct sandbox *s, const char *dir, struct refs *out)
{
	struct tree tree;

	*out = (struct refs){0};
	refs_parse(s, sandbox_read_text(s->arena, path_join(s->arena, dir, "packed-refs")), out);
	sandbox_list_tree(s->arena, path_join(s->arena, dir, "refs"), &tree);
	for (size_t i = 0; i < tree.n; i++)
		if (tree.items[i].type == FILE_REGULAR)
			refs_add_loose(
				s, dir, arena_printf(s->arena, "refs/%s", tree.items[i].path), out);
	vec_sort(&out->list, vec_by_text);
}

static int refs_keep(struct sandbox *s, const struct refs *r, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "");
	for (size_t i = 0; i < r->list.n; i++)
		buf_addf(&text, "%s %s\n", r->list.items[i].value, r->list.items[i].name);
	return sandbox_write_file(in_place(s, "refs"), buf_str(&text), 0600, err);
}

/* ---- which refs are the item's own ---- */

/* In a file of refs in the place of the root. */
static bool git_view_has_line(struct sandbox *s, const char *file, const char *name)
{
	struct str rest = str_of(sandbox_read_text(s->arena, in_place(s, file))), line;

	while (str_line(&rest, &line))
		if (str_is(line, name))
			return true;
	return false;
}

static const char *head_ref(struct sandbox *s, const char *dir)
{
	const char *text = sandbox_read_text(s->arena, path_join(s->arena, dir, "HEAD"));
	struct str head = str_trim(str_of(text));

	return str_starts(head, "ref: ")
		       ? arena_dup(s->arena, str_trim(str_sub(head, strlen("ref: "), head.n)))
		       : "";
}

bool sandbox_git_is_default(struct sandbox *s, const char *ref)
{
	struct str branch = str_sub(str_of(ref), strlen("refs/heads/"), strlen(ref));
	struct git_default base = {0};
	struct error ignored;

	return str_is(branch, "main") || str_is(branch, "master") ||
	       git_read_default(s->arena, s->view.common, &base, &ignored) < 0 ||
	       (base.branch && str_is(branch, base.branch)) ||
	       (base.head && str_is(branch, base.head));
}

bool sandbox_git_is_of_others(struct sandbox *s, const char *name)
{
	struct directory_names trees;
	struct error ignored;
	bool missing;

	if (strcmp(head_ref(s, s->view.common), name) == 0)
		return s->view.own != NULL;
	if (directory_list(s->arena, in_common(s, "worktrees"), &trees, &missing, &ignored) < 0)
		return false;
	for (size_t i = 0; i < trees.n; i++) {
		const char *dir =
			in_common(s, arena_printf(s->arena, "worktrees/%s", trees.items[i]));

		if ((!s->view.own || strcmp(dir, s->view.own) != 0) &&
			strcmp(head_ref(s, dir), name) == 0)
			return true;
	}
	return false;
}

bool sandbox_git_is_own(struct sandbox *s, const char *ref)
{
	const char *dir = s->view.own ? s->view.own : s->view.common;
	struct str rest = str_of(s->view.write ? sandbox_read_text(s->arena, in_place(s, "own"))
					       : head_ref(s, dir)),
		   first = {0};

	(void)str_line(&rest, &first);
	return str_is(first, ref) || git_view_has_line(s, "pushed", ref);
}

const char *sandbox_git_branch(struct sandbox *s)
{
	const char *head = head_ref(s, s->view.own ? s->view.own : s->view.common);

	return str_starts(str_of(head), "refs/heads/") ? head + strlen("refs/heads/") : NULL;
}

/* The item's branch is the one that the host has checked out; a command may add others. */
static int keep_own_branch(struct sandbox *s, struct error *err)
{
	const char *head = head_ref(s, s->view.own),
		   *last = sandbox_read_text(s->arena, in_place(s, "head"));

	if (last && strcmp(last, head) == 0)
		return 0;
	if (sandbox_write_file(in_place(s, "own"), str_of(arena_printf(s->arena, "%s\n", head)),
		    0600, err) < 0)
		return -1;
	return sandbox_write_file(in_place(s, "head"), str_of(head), 0600, err);
}

void sandbox_git_add_line(struct sandbox *s, const char *file, const char *ref)
{
	const char *text = sandbox_read_text(s->arena, in_place(s, file));
	struct error ignored;

	(void)sandbox_write_file(in_place(s, file),
		str_of(arena_printf(s->arena, "%s%s\n", text ? text : "", ref)), 0600, &ignored);
}

static int move_ref(struct sandbox *s, const char *name, const char *value, const char *before)
{
	static const char none[] = "0000000000000000000000000000000000000000";
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};
	int status = 0, rc;

	if (value)
		rc = GIT(s, STR(""), &out, &status, &err, "update-ref", "-m", "dev-team: contained",
			name, value, before ? before : none);
	else
		rc = GIT(s, STR(""), &out, &status, &err, "update-ref", "-d", name, before);
	if (rc == 0 && status == 0)
		return 0;
	sandbox_note(s, "'%s' was not moved: %s", name, rc < 0 ? err.text : out.s ? out.s : "");
	return -1;
}

/* Branches and tags. Others work unseen: refs/replace would change what the history of other
 * branches contains. A short name must not come to mean another ref than before. */
static bool is_takeable(struct sandbox *s, const struct refs *host, const char *name, bool fresh)
{
	bool tag = str_starts(str_of(name), "refs/tags/");
	const char *last = name + strlen(tag ? "refs/tags/" : "refs/heads/");

	if (!tag && !str_starts(str_of(name), "refs/heads/"))
		return false;
	return !fresh ||
	       (strcmp(last, "HEAD") != 0 &&
		       !refs_find(host, arena_printf(s->arena, "refs/remotes/%s", last)) &&
		       (!tag || !refs_find(host, arena_printf(s->arena, "refs/heads/%s", last))));
}

static void take_ref(struct sandbox *s, const struct refs *host, const char *name,
	const char *before, const char *now)
{
	const struct ref *there = refs_find(host, name);
	const char *here = there ? there->value : NULL;

	if ((now && here && strcmp(now, here) == 0) || (!now && !here) ||
		str_starts(str_of(name), "refs/remotes/"))
		return;
	if (!is_takeable(s, host, name, !before && !here) || sandbox_git_is_of_others(s, name) ||
		sandbox_git_is_default(s, name) ||
		(!now && strcmp(head_ref(s, s->view.own), name) == 0) ||
		((before || here) && !git_view_has_line(s, "own", name))) {
		sandbox_note(s,
			"'%s' is not the item's: it was %s inside only; make a branch of its own",
			name, now ? "moved" : "deleted");
		return;
	}
	if (move_ref(s, name, now, here) == 0 && !before)
		sandbox_git_add_line(s, "own", name);
}

static int take_refs(struct sandbox *s, const struct refs *now, struct error *err)
{
	struct refs before = {0}, host;

	refs_parse(s, sandbox_read_text(s->arena, in_place(s, "refs")), &before);
	refs_read(s, s->view.common, &host);
	for (size_t i = 0; i < before.list.n; i++)
		if (!refs_find(now, before.list.items[i].name))
			take_ref(s, &host, before.list.items[i].name, before.list.items[i].value,
				NULL);
	for (size_t i = 0; i < now->list.n; i++) {
		const struct ref *r = &now->list.items[i], *old = refs_find(&before, r->name);

		if (!old || strcmp(old->value, r->value) != 0)
			take_ref(s, &host, r->name, old ? old->value : NULL, r->value);
	}
	return refs_keep(s, now, err);
}

/* ---- objects ---- */

static int import_pack(struct sandbox *s, struct str pack, bool small, struct error *err)
{
	return small ? GIT(s, pack, NULL, NULL, err, "unpack-objects", "-q")
		     : GIT(s, pack, NULL, NULL, err, "index-pack", "--stdin");
}

/* pack-objects reads them by their names, and unpack-objects names them by their contents. */
static int import_loose(struct sandbox *s, const struct tree *objects, struct error *err)
{
	static const char *const argv[] = {"git", "pack-objects", "-q", "--stdout", NULL};
	CLEANUP(buf_release) struct buf ids = BUF_INIT, pack = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < objects->n; i++) {
		const char *path = objects->items[i].path;
		const char *id = strcspn(path, "/") == 2
					 ? arena_printf(s->arena, "%.2s%s", path, path + 3)
					 : "";

		if (objects->items[i].type != FILE_REGULAR || !is_object_id(str_of(id)))
			continue;
		buf_addf(&ids, "%s\n", id);
		n++;
	}
	if (!n)
		return 0;
	return git_view_run(s, true, argv, buf_str(&ids), &pack, NULL, err) < 0
		       ? -1
		       : import_pack(s, buf_str(&pack), n <= LOOSE_MAX, err);
}

int sandbox_git_import(struct sandbox *s, bool unused, struct error *err)
{
	const char *dir = s->view.write ? in_copy(s, "objects") : NULL;
	struct tree objects;
	int rc;

	if (!dir)
		return 0;
	sandbox_tidy_tree(dir, true, false);
	sandbox_list_tree(s->arena, dir, &objects);
	rc = import_loose(s, &objects, err);
	for (size_t i = 0; rc == 0 && i < objects.n; i++) {
		struct str path = str_of(objects.items[i].path);
		CLEANUP(buf_release) struct buf pack = BUF_INIT;

		if (!str_starts(path, "pack/pack-") || !str_ends(path, ".pack"))
			continue;
		rc = sys_read_file(&pack, path_join(s->arena, dir, path.p), PACK_MAX, NULL, err);
		rc = rc < 0 ? rc : import_pack(s, buf_str(&pack), false, err);
	}
	for (size_t i = 0; rc == 0 && unused && i < objects.n; i++)
		if (objects.items[i].type == FILE_REGULAR &&
			!str_starts(str_of(objects.items[i].path), "info/"))
			(void)unlink(path_join(s->arena, dir, objects.items[i].path));
	return rc < 0 ? error_prefix(err,
				"what the command committed cannot be taken over; it "
				"remains in '%s'",
				s->view.copy)
		      : 0;
}

/* ---- settings ---- */

/* `//user:secret@host` becomes `//host`. */
static void add_without_secret(struct buf *out, struct str line)
{
	size_t at = str_find(line, STR("://")), end;

	if (at == line.n) {
		buf_add(out, line);
		return;
	}
	at += 3;
	buf_add(out, str_sub(line, 0, at));
	line = str_sub(line, at, line.n);
	end = str_find(line, STR("@"));
	if (end < str_find(line, STR("/")))
		line = str_sub(line, end + 1, line.n);
	buf_add(out, line);
}

static bool begins_with(struct str line, const char *name)
{
	return line.n >= strlen(name) && strncasecmp(line.p, name, strlen(name)) == 0;
}

bool sandbox_git_settings(const char *text, struct buf *out)
{
	struct str rest = str_of(text), line;
	bool skip = false;

	buf_adds(out, "");
	while (str_line(&rest, &line)) {
		struct str bare = str_trim(line);

		if (str_starts(bare, "["))
			skip = begins_with(bare, "[http") || begins_with(bare, "[credential") ||
			       begins_with(bare, "[include") || begins_with(bare, "[sendemail");
		if (skip || begins_with(bare, "gpgsign"))
			continue;
		add_without_secret(out, line);
		buf_addc(out, '\n');
	}
	return str_is(buf_str(out), text);
}

/* If nothing is left out, a worktree that is no linked one needs no copy of the repository. */
static int copy_config(struct sandbox *s, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *text = sandbox_read_text(s->arena, in_common(s, "config"));

	if (sandbox_git_settings(text ? text : "", &out) && text && !s->view.own &&
		!path_exists(in_common(s, "config.worktree")))
		s->view.copy = NULL;
	return sandbox_write_file(in_place(s, "config"), buf_str(&out), 0600, err);
}

/* Settings as `KEY NEWLINE VALUE NUL`. */
static int list_settings(struct sandbox *s, const char *file, struct buf *out, struct error *err)
{
	int status;

	return GIT(s, STR(""), out, &status, err, "config", "--no-includes", "--file", file,
		"--list", "-z");
}

static bool has_setting(struct str all, struct str setting, bool whole)
{
	struct str one;

	while (str_piece(&all, '\0', &one))
		if (whole ? str_eq(one, setting) : str_starts(one, setting.p))
			return true;
	return false;
}

/* `branch.NAME.remote` and the like of the item's own branches. A remote is one of the repository,
 * or `.`: a URL or a path would be a repository of the command's, with hooks that a push runs. */
static bool is_taken_setting(struct sandbox *s, struct str before, struct str key, struct str value)
{
	static const char *const taken[] = {"remote", "merge", "rebase", "description", NULL};
	const char *name = arena_dup(s->arena, key), *last = strrchr(name, '.');

	if (!str_starts(key, "branch.") || !str_in(str_of(last + 1), taken) ||
		(strcmp(last, ".remote") == 0 && !str_is(value, ".") &&
			!has_setting(before,
				str_of(arena_printf(
					s->arena, "remote.%.*s.url\n", (int)value.n, value.p)),
				false)) ||
		(strcmp(last, ".merge") == 0 && !str_starts(value, "refs/heads/")))
		return false;
	name += strlen("branch.");
	return last > name &&
	       git_view_has_line(s, "own",
		       arena_printf(s->arena, "refs/heads/%.*s", (int)(last - name), name));
}

static void take_setting(struct sandbox *s, struct str before, struct str setting)
{
	size_t end = str_find(setting, STR("\n"));
	struct str key = str_sub(setting, 0, end),
		   value = str_sub(setting, end < setting.n ? end + 1 : end, setting.n);
	struct error err = {0};

	if (!is_taken_setting(s, before, key, value))
		sandbox_note(s, "the setting '%.*s' of git holds inside this command only",
			(int)key.n, key.p);
	else if (GIT(s, STR(""), NULL, NULL, &err, "config", "--file", in_common(s, "config"),
			 "--replace-all", arena_dup(s->arena, key), arena_dup(s->arena, value)) < 0)
		sandbox_note(s, "%s", err.text);
}

static void take_settings(struct sandbox *s)
{
	const char *before = sandbox_read_text(s->arena, in_place(s, "config"));
	const char *now = sandbox_read_text(s->arena, in_copy(s, "config"));
	CLEANUP(buf_release) struct buf old = BUF_INIT;
	CLEANUP(buf_release) struct buf new = BUF_INIT;
	struct error ignored = {0};
	struct str rest, one;

	if (!before || !now || strcmp(before, now) == 0 ||
		list_settings(s, in_place(s, "config"), &old, &ignored) < 0 ||
		list_settings(s, in_copy(s, "config"), &new, &ignored) < 0)
		return;
	rest = buf_str(&new);
	while (str_piece(&rest, '\0', &one))
		if (!has_setting(buf_str(&old), one, true))
			take_setting(s, buf_str(&old), one);
	(void)sandbox_write_file(in_place(s, "config"), str_of(now), 0600, &ignored);
}

/* ---- the copy ---- */

/* Directories of other worktrees, so that git knows their branches. */
static void copy_worktrees(struct sandbox *s)
{
	static const char *const files[] = {"HEAD", "gitdir", "commondir"};
	struct directory_names trees;
	struct error ignored;
	bool missing;

	if (directory_list(s->arena, in_common(s, "worktrees"), &trees, &missing, &ignored) < 0)
		return;
	for (size_t i = 0; i < trees.n; i++) {
		const char *name = arena_printf(s->arena, "worktrees/%s", trees.items[i]);

		(void)path_mkdirs(in_copy(s, name), &ignored);
		for (size_t k = 0; k < COUNT(files); k++)
			(void)sandbox_copy_file(path_join(s->arena, in_common(s, name), files[k]),
				path_join(s->arena, in_copy(s, name), files[k]), &ignored);
	}
}

/* The stash of the user stays outside, and the command's stays inside. */
static int copy_refs(struct sandbox *s, struct error *err)
{
	const char *stash = sandbox_read_text(s->arena, in_copy(s, "refs/stash"));
	struct refs refs;

	if (sandbox_sync_tree(s->arena, in_common(s, "refs"), in_copy(s, "refs"), err) < 0 ||
		sandbox_copy_file(in_common(s, "packed-refs"), in_copy(s, "packed-refs"), err) < 0)
		return -1;
	if (s->view.own)
		(void)unlink(in_copy(s, "refs/stash"));
	if (s->view.own && stash &&
		sandbox_write_file(in_copy(s, "refs/stash"), str_of(stash), 0600, err) < 0)
		return -1;
	refs_read(s, s->view.copy, &refs);
	return refs_keep(s, &refs, err);
}

/* Directories that are there for the run only are not git's, or `git clean` would fail. */
static int copy_info(struct sandbox *s, struct error *err)
{
	const char *text = sandbox_read_text(s->arena, in_common(s, "info/exclude"));
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (path_mkdirs(in_copy(s, "info"), err) < 0 ||
		sandbox_copy_file(
			in_common(s, "info/attributes"), in_copy(s, "info/attributes"), err) < 0)
		return -1;
	buf_addf(&out, "%s\n", text ? text : "");
	for (size_t i = 0; i < s->kept.n; i++)
		if (s->kept.items[i].kind == KEPT_COPY &&
			!path_exists(path_join(s->arena, s->x->root->path, s->kept.items[i].name)))
			buf_addf(&out, "/%s\n", s->kept.items[i].name);
	return sandbox_write_file(in_copy(s, "info/exclude"), buf_str(&out), 0600, err);
}

static int refresh(struct sandbox *s, struct error *err)
{
	/* Behind the third: of a worktree that is not a linked one. */
	static const char *const files[] = {"HEAD", "shallow", "description", "index", "ORIG_HEAD",
		"FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD",
		"BISECT_LOG", "BISECT_START"};
	static const char *const directories[] = {
		"hooks", "modules", "lfs", "logs", "objects/info", "objects/pack"};

	/* A command could have put one where a directory is expected. */
	sandbox_tidy_tree(s->view.copy, true, true);
	for (size_t i = 0; i < COUNT(directories); i++)
		if (path_mkdirs(in_copy(s, directories[i]), err) < 0)
			return -1;
	for (size_t i = 0; i < (s->view.own ? 3 : COUNT(files)); i++)
		if (sandbox_copy_file(in_common(s, files[i]), in_copy(s, files[i]), err) < 0)
			return -1;
	copy_worktrees(s);
	return sandbox_write_file(in_copy(s, "objects/info/alternates"), STR(BOX_OBJECTS "\n"),
		       0600, err) < 0 ||
			       copy_refs(s, err) < 0 || copy_info(s, err) < 0
		       ? -1
		       : sandbox_copy_file(in_place(s, "config"), in_copy(s, "config"), err);
}

/* ---- begin and end ---- */

/* Files of the worktree's directory that would lead the host's git to the command's settings; and
 * HEAD, without which it would not see a worktree any more. */
static const char *const own_files[] = {"commondir", "gitdir", "config.worktree", "HEAD"};
enum { OWN_SETTINGS = 2, OWN_HEAD };

static void clean_own(struct sandbox *s)
{
	struct error ignored;

	sandbox_tidy_tree(s->view.own, true, false);
	for (size_t i = 0; i < COUNT(own_files); i++) {
		const char *path = path_join(s->arena, s->view.own, own_files[i]),
			   *kept = s->view.files[i];
		struct str now = str_of(sandbox_read_text(s->arena, path)), head = str_trim(now);

		if (!kept || str_is(now, kept) ||
			(i == OWN_HEAD && (str_starts(head, "ref: refs/") || is_object_id(head))))
			continue;
		(void)sandbox_write_file(path, str_of(kept), 0644, &ignored);
		if (i == OWN_HEAD)
			sandbox_note(s, "HEAD of the worktree was put back");
	}
}

static int take_over(struct sandbox *s, struct error *err)
{
	struct refs now;

	if (s->alone)
		sandbox_tidy_tree(s->view.copy, true, true);
	clean_own(s);
	refs_read(s, s->view.copy,
		&now); /* before the objects: another command may commit meanwhile */
	if (sandbox_git_import(s, s->alone, err) < 0 || take_refs(s, &now, err) < 0)
		return -1;
	take_settings(s);
	return sandbox_write_file(in_place(s, "head"), str_of(head_ref(s, s->view.own)), 0600, err);
}

static int read_own_files(struct sandbox *s, struct error *err)
{
	for (size_t i = 0; i < COUNT(own_files); i++)
		s->view.files[i] =
			sandbox_read_text(s->arena, path_join(s->arena, s->view.own, own_files[i]));
	if (s->view.files[OWN_SETTINGS])
		return 0;
	s->view.files[OWN_SETTINGS] = "";
	return sandbox_write_file(
		path_join(s->arena, s->view.own, own_files[OWN_SETTINGS]), STR(""), 0600, err);
}

int sandbox_git_begin(struct sandbox *s, struct error *err)
{
	const char *begun = in_place(s, "begun"), *aside = in_place(s, "git.refused");

	if (!s->view.common)
		return 0;
	s->view.copy = in_place(s, "git");
	if (s->view.own && read_own_files(s, err) < 0)
		return -1;
	if (s->alone && s->view.write && path_exists(begun) && take_over(s, err) < 0) {
		/* What could not be taken over twice must not stop all commands that follow. */
		sandbox_remove_tree(aside);
		(void)(rename(s->view.copy, aside) + 0);
		sandbox_note(s, "'%s' was moved to '%s': %s", s->view.copy, aside, err->text);
		*err = (struct error){0};
	}
	if (s->alone && s->view.write && keep_own_branch(s, err) < 0)
		return -1;
	if ((s->alone || !s->view.own) && copy_config(s, err) < 0)
		return -1;
	if (!s->alone || !s->view.copy)
		return 0;
	if (refresh(s, err) < 0)
		return -1;
	return s->view.write ? sandbox_write_file(begun, STR(""), 0600, err) : 0;
}

int sandbox_git_end(struct sandbox *s, struct error *err)
{
	if (!s->view.write)
		return 0;
	if (take_over(s, err) < 0)
		return -1;
	if (s->alone)
		(void)unlink(in_place(s, "begun"));
	return 0;
}
