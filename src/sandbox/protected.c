/*
 * protected.c: files that decide what runs outside: settings of agents, editors, servers and of
 * dev-team. In a linked worktree existing directories are private copies, so that checkout, merge
 * and rebase work; files are compared with copies afterwards; and names that were not there must
 * not be there. What then equals the default branch's version is taken; the rest is put back and
 * noted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/policy/where.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

/* Clients, the hook and editors read these again while a command runs, so they must not appear for
 * a moment: there is an empty directory in their place. */
static const char *const watched[] = {".claude", ".dev-team", ".vscode", ".idea", NULL};

static const char *in_root(const struct sandbox *s, const char *name)
{
	return path_join(s->arena, s->x->root->path, name);
}

static const char *in_copies(const struct sandbox *s, const char *name)
{
	return arena_printf(s->arena, "%s/protected/%s", s->dir, name);
}

static bool is_absent(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* The directory above a name of several words that is a link; NULL: none is. Behind one is another
 * place, which may be outside. */
static const char *link_above(const struct sandbox *s, const char *name)
{
	struct stat st;

	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
		const char *above = arena_dup(s->arena, (struct str){name, (size_t)(end - name)});

		if (lstat(in_root(s, above), &st) == 0 && S_ISLNK(st.st_mode))
			return above;
	}
	return NULL;
}

/* ---- copies ---- */

static enum kept_kind protected_kind_of(const struct sandbox *s, const char *name)
{
	struct stat st;
	bool missing = lstat(in_root(s, name), &st) < 0;

	if (link_above(s, name))
		return KEPT_COMPARED;
	if (!s->view.own)
		return missing ? KEPT_COMPARED : KEPT_READ_ONLY;
	return (missing ? str_in(str_of(name), watched) : S_ISDIR(st.st_mode)) ? KEPT_COPY
									       : KEPT_COMPARED;
}

static int protected_keep(struct sandbox *s, const struct kept_name *k, struct error *err)
{
	const char *place = in_root(s, k->name), *copy = in_copies(s, k->name);

	if (k->kind != KEPT_COPY || !path_is_directory(copy))
		sandbox_remove_tree(copy);
	if (k->kind == KEPT_COPY)
		return sandbox_sync_tree(s->arena, place, copy, err);
	if (k->kind == KEPT_READ_ONLY || link_above(s, k->name) || is_absent(place))
		return 0;
	return path_mkdirs(arena_dup(s->arena, path_dir(copy)), err) < 0
		       ? -1
		       : sandbox_copy_file(place, copy, err);
}

/* ---- what differs ---- */

/* What is at a path: a file's text or a link's target. p NULL: a file of another kind if n is 1,
 * else none. */
static struct str read_at(struct sandbox *s, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return (struct str){NULL, 0};
	if (S_ISLNK(st.st_mode)) {
		char target[PATH_MAX];
		ssize_t n = readlink(path, target, sizeof(target));

		buf_add(&text, (struct str){target, n > 0 ? (size_t)n : 0});
	} else if (!S_ISREG(st.st_mode) ||
		   sys_read_file(&text, path, (size_t)64 << 20, NULL, &ignored) < 0) {
		return (struct str){NULL, 1};
	}
	buf_adds(&text, "");
	return arena_str(s->arena, buf_str(&text));
}

static bool protected_same(struct str a, struct str b)
{
	return a.p && b.p ? str_eq(a, b) : a.p == b.p && a.n == b.n;
}

/* Puts `from`, or nothing, to `to`. */
static void protected_put(struct sandbox *s, const char *from, const char *to)
{
	struct error err = {0};

	if (is_absent(from))
		sandbox_remove_tree(to);
	else if (path_mkdirs(arena_dup(s->arena, path_dir(to)), &err) < 0 ||
		 sandbox_copy_file(from, to, &err) < 0)
		sandbox_note(s, "%s", err.text);
}

/* One file. A command has changed the copy of a directory, and in the root all else. `aside` gets
 * what is put back; NULL: it is not kept. */
static void protected_settle(
	struct sandbox *s, enum kept_kind kind, const char *path, const char *aside)
{
	const char *place = in_root(s, path), *copy = in_copies(s, path);
	const char *left = kind == KEPT_COPY ? copy : place, *kept = left == copy ? place : copy;
	struct str now = read_at(s, left), old = read_at(s, kept);

	if (protected_same(now, old))
		return;
	if (protected_same(now, sandbox_git_trusted(s, path))) {
		if (left == copy)
			protected_put(s, copy, place);
		return;
	}
	aside = aside && (now.p || now.n) ? path_join(s->arena, aside, path) : NULL;
	if (aside)
		protected_put(s, place, aside);
	if (left == place)
		protected_put(s, copy, place);
	sandbox_note(s, "'%s' is protected: %s; %s%s", path,
		old.p || old.n ? "it was put back" : "it was removed",
		aside ? "a killed command, or somebody since then, had changed it; a copy is "
		      : "people change it",
		aside ? aside : "");
}

static void settle_tree(struct sandbox *s, const struct kept_name *k, const char *aside)
{
	bool copied = k->kind == KEPT_COPY;
	const char *root = in_root(s, k->name), *copies = in_copies(s, k->name);
	const char *of[] = {copied ? copies : root, copied ? root : copies};

	for (size_t i = 0; i < COUNT(of); i++) {
		struct tree tree;

		sandbox_list_tree(s->arena, of[i], &tree);
		for (size_t at = 0; at < tree.n; at++)
			if (tree.items[at].type != FILE_DIRECTORY &&
				(!i || is_absent(path_join(s->arena, of[0], tree.items[at].path))))
				protected_settle(s, k->kind,
					path_join(s->arena, k->name, tree.items[at].path), aside);
	}
}

/* Directories that are empty now, and were made for or by the run. */
static void remove_traces(struct sandbox *s, const char *path)
{
	struct tree tree;

	sandbox_list_tree(s->arena, path, &tree);
	for (size_t i = tree.n; i-- > 0;)
		if (tree.items[i].type == FILE_DIRECTORY)
			(void)rmdir(path_join(s->arena, path, tree.items[i].path));
	(void)rmdir(path);
	if (strstr(path, "/.github/"))
		(void)rmdir(arena_dup(s->arena, path_dir(path)));
}

/* A command may have taken away the rights to see what it left, or to remove it: at the path, and
 * from the root to it. */
static void give_rights_back(const struct sandbox *s, const char *name, const char *path)
{
	if (!s->alone)
		return;
	sandbox_open_directory(AT_FDCWD, s->x->root->path);
	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/'))
		sandbox_open_directory(AT_FDCWD,
			in_root(s, arena_dup(s->arena, (struct str){name, (size_t)(end - name)})));
	sandbox_tidy_tree(path, false, true);
}

/* While another command runs it could put a link in the place of what is being removed: of those
 * that it can write the last command settles all. */
static void protected_settle_name(struct sandbox *s, const struct kept_name *k, const char *aside)
{
	const char *place = in_root(s, k->name), *copy = in_copies(s, k->name);
	const char *above = link_above(s, k->name);

	if (k->kind == KEPT_READ_ONLY || (k->kind == KEPT_COMPARED && !s->alone) ||
		(!above && is_absent(place) && is_absent(copy)))
		return;
	/* A link above the name goes, unless it is the default branch's. */
	if (above)
		protected_settle(s, KEPT_COMPARED, above, aside);
	if (link_above(s, k->name))
		return;
	give_rights_back(s, k->name, k->kind == KEPT_COPY ? copy : place);
	settle_tree(s, k, aside);
	if (s->alone)
		remove_traces(s, place);
	protected_settle(s, k->kind, k->name, aside); /* where one of the two is no directory */
}

/* ---- begin and end ---- */

/* The runs of a root that work at the same time keep the same names in the same way: the file of
 * the mutex has them, a line each. */
static struct str protected_record(struct sandbox *s)
{
	return str_of(sandbox_read_text(s->arena, path_join(s->arena, s->dir, "mutex")));
}

/* What runs left that were killed. Of directories they changed only copies. */
static void settle_killed(struct sandbox *s)
{
	struct str rest = protected_record(s), line;

	if (rest.n)
		sandbox_submodules_end(s);
	while (str_line(&rest, &line))
		if (line.p[0] == KEPT_COMPARED)
			protected_settle_name(s,
				&(struct kept_name){arena_dup(s->arena, str_sub(line, 1, line.n)),
					KEPT_COMPARED},
				path_join(s->arena, s->dir, "aside"));
	(void)(ftruncate(s->mutex, 0) + 1);
}

void sandbox_protected_end(struct sandbox *s)
{
	for (size_t i = 0; i < s->kept.n; i++)
		protected_settle_name(s, &s->kept.items[i], NULL);
	if (s->alone && s->kept.n)
		(void)(ftruncate(s->mutex, 0) + 1);
}

static void protected_add(struct sandbox *s, const char *name)
{
	vec_push_in(s->arena, &s->kept, ((struct kept_name){name, protected_kind_of(s, name)}));
}

/* The kinds are those of the run that works already. */
static int protected_join(struct sandbox *s, struct error *err)
{
	struct str rest = protected_record(s), line;
	size_t i = 0;

	for (; str_line(&rest, &line) && i < s->kept.n; i++) {
		if (!str_is(str_sub(line, 1, line.n), s->kept.items[i].name))
			break;
		s->kept.items[i].kind = (enum kept_kind)line.p[0];
	}
	if (i == s->kept.n && !rest.n)
		return 0;
	s->kept.n = 0;
	return error_set(err, ERR_STATE,
		"another command works in '%.200s' under a policy whose 'protect' is another: wait "
		"until it has ended",
		s->x->root->path);
}

int sandbox_protected_begin(struct sandbox *s, struct error *err)
{
	const struct texts *more = &s->x->policy->protect;

	if (!s->x->policy->write)
		return 0;
	if (s->alone)
		settle_killed(s);
	for (size_t i = 0; guarded_names[i]; i++)
		if (strcmp(guarded_names[i], ".git") != 0)
			protected_add(s, guarded_names[i]);
	protected_add(s, guarded_workflows);
	for (size_t i = 0; i < more->n; i++)
		protected_add(s, more->p[i]);
	if (!s->alone)
		return protected_join(s, err);
	for (size_t i = 0; i < s->kept.n; i++)
		if (protected_keep(s, &s->kept.items[i], err) < 0)
			return -1;
	return 0;
}

int sandbox_protected_begun(struct sandbox *s, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; s->alone && i < s->kept.n; i++)
		buf_addf(&text, "%c%s\n", s->kept.items[i].kind, s->kept.items[i].name);
	return pwrite(s->mutex, text.s, text.len, 0) == (ssize_t)text.len
		       ? 0
		       : error_errno(err, "cannot note what is protected in '%s'", s->dir);
}
