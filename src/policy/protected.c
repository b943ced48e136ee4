#include <dirent.h>
#include <errno.h>
#include "src/sys/path.h"
#include "src/policy/protected_internal.h"

enum { MODULES_DEPTH = 8 };

/* Of a git directory: what says which programs git runs, and which repository it is. */
static const char *const git_settings[] = {
	"hooks", "config", "config.worktree", "info", "commondir", "gitdir"};

bool watched(const char *path)
{
	struct str rest, name = str_of(path);

	/* Worktrees of other sessions. */
	if (path_below(name, STR(".claude/worktrees"), &rest))
		return false;
	/* What this program writes for other runs is no setting. */
	if (path_below(name, STR(".dev-team"), &rest) && rest.n)
		return !memchr(rest.p, '/', rest.n) &&
		       (str_ends(rest, ".yaml") || str_ends(rest, ".yml"));
	return true;
}

static struct watch *add(
	struct protected *p, const struct base *base, const char *path, enum watch_kind kind)
{
	if (p->n == p->cap) {
		struct watch *more;

		p->cap = p->cap ? 2 * p->cap : 32;
		more = arena_alloc(p->arena, p->cap * sizeof(*more));
		if (p->n)
			memcpy(more, p->list, p->n * sizeof(*more));
		p->list = more;
	}
	p->list[p->n] = (struct watch){.base = base, .path = path, .kind = kind};
	return &p->list[p->n++];
}

static bool has(const struct protected *p, const struct base *base, struct str path)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].base == base && p->list[i].kind == WATCH_KIND &&
			str_is(path, p->list[i].path))
			return true;
	return false;
}

/* The directories on the way to `path`. */
static void add_way(struct protected *p, const struct base *base, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct str way = {path, (size_t)(slash - path)};

		if (!has(p, base, way))
			add(p, base, arena_dup(p->arena, way), WATCH_KIND);
	}
}

static bool there(int base, const char *path, mode_t *kind)
{
	const char *name;
	struct stat st;
	CLEANUP(base_close) int dir = beneath_parent(base, path, BENEATH | NO_LINKS, &name);

	if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	*kind = st.st_mode & S_IFMT;
	return true;
}

/* Mounts keep what exists, but no link. */
static void add_kept(struct protected *p, const struct base *base, const char *path, bool mounted)
{
	mode_t kind;

	if (mounted && there(base->fd, path, &kind) && kind != S_IFLNK)
		return;
	add_way(p, base, path);
	add(p, base, path, WATCH_ALL);
}

/* Settings of the directories in `dir` that others come and go with: only what is there counts. */
static void add_known(struct protected *p, const struct base *base, const char *dir, unsigned depth)
{
	int fd = list_folder(base->fd, dir);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (fd >= 0 && !list)
		close(fd);
	while (list && (e = readdir(list))) {
		char *below = arena_printf(p->arena, "%s/%s", dir, e->d_name);
		mode_t kind;

		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		if (!there(fd, path_join(p->arena, e->d_name, "HEAD"), &kind)) {
			if (depth)
				add_known(p, base, below, depth - 1);
			continue;
		}
		for (size_t i = 0; i < COUNT(git_settings); i++)
			add(p, base, path_join(p->arena, below, git_settings[i]), WATCH_KNOWN);
	}
	if (list)
		closedir(list);
}

/* `dir`: the git directory, "" where it is the base. */
static void add_git(struct protected *p, const struct base *base, const char *dir, bool mounted)
{
	static const char *const more[] = {"modules", "worktrees"};

	for (size_t i = 0; i < COUNT(git_settings); i++)
		add_kept(p, base, path_join(p->arena, dir, git_settings[i]), mounted);
	add_kept(p, base, path_join(p->arena, dir, "objects/info/alternates"), false);
	for (size_t i = 0; i < COUNT(more); i++)
		add_known(p, base, path_join(p->arena, dir, more[i]), MODULES_DEPTH);
}

static void add_root_git(struct protected *p, const struct root *r, bool mounted)
{
	mode_t kind;

	if (!there(p->root.fd, ".git", &kind))
		add(p, &p->root, ".git", WATCH_NEW_GIT);
	else if (S_ISDIR(kind))
		add_git(p, &p->root, ".git", mounted);
	else
		add_kept(p, &p->root, ".git", mounted);
	if (r->inner_git)
		add_git(p, &p->root, r->inner_git, mounted);
}

/* Where a link of the root leads, below the root, as far as it can be followed. */
static void add_target(struct protected *p, const struct root *r, const char *path)
{
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;

	if (trail_follow(r, STR(""), str_of(path), false, &t) == 0 && t.below && t.rel.n &&
		!str_is(t.rel, path))
		add_kept(p, &p->root, arena_dup(p->arena, t.rel), false);
}

static void add_root(
	struct protected *p, const struct root *r, const struct policy *policy, bool mounted)
{
	for (size_t i = 0; guarded_names[i]; i++) {
		const char *name = guarded_names[i];

		if (strcmp(name, ".git") == 0)
			continue;
		add_kept(p, &p->root, name, mounted);
		if (r->linked)
			add_target(p, r, name);
	}
	for (size_t i = 0; i < policy->protect.n; i++) {
		struct str path = str_of(policy->protect.p[i]);

		while (str_starts(path, "./"))
			path = str_sub(path, 2, path.n);
		while (str_ends(path, "/"))
			path.n--;
		if (!path.n || path.p[0] == '/' || str_starts(path, "../"))
			continue;
		add_kept(p, &p->root, arena_dup(p->arena, path), mounted);
		add_target(p, r, arena_dup(p->arena, path));
	}
}

static int open_base(
	struct base *b, int from, const char *path, const char *name, struct error *err)
{
	*b = (struct base){beneath_open(from, path, O_PATH | O_DIRECTORY, 0, NO_LINKS), name};
	return b->fd < 0 ? error_errno(err, "cannot open '%.200s'", path) : 0;
}

int protected_remember(struct arena *a, const struct root *r, const struct policy *policy,
	struct keeping keeping, struct protected **out, struct error *err)
{
	struct protected *p = *out = arena_alloc(a, sizeof(*p));

	*p = (struct protected){.arena = a, .root.fd = -1, .own.fd = -1, .common.fd = -1};
	if (open_base(&p->root, r->fd, ".", "", err) < 0 ||
		(r->git_dir && open_base(&p->own, AT_FDCWD, r->git_dir, r->git_dir, err) < 0) ||
		(r->common_dir &&
			open_base(&p->common, AT_FDCWD, r->common_dir, r->common_dir, err) < 0))
		return -1;
	add_root_git(p, r, keeping.mounted);
	add_root(p, r, policy, keeping.mounted);
	if (r->git_dir)
		add_git(p, &p->own, "", keeping.mounted);
	if (r->common_dir && !keeping.confined)
		add_git(p, &p->common, "", false);
	for (size_t i = 0; i < p->n; i++)
		if (keep_watch(p, &p->list[i], err) < 0)
			return -1;
	return 0;
}

void protected_release(struct protected **p)
{
	if (!*p)
		return;
	base_close(&(*p)->root.fd);
	base_close(&(*p)->own.fd);
	base_close(&(*p)->common.fd);
	*p = NULL;
}
