#include <dirent.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/policy/trail.h"

/* Programs and their libraries. On most systems all but the first are symbolic links. */
static const char *const programs[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* Public names and settings, without keys, passwords or tokens. Each is a mount. */
static const char *const settings[] = {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/alternatives",
	"/etc/ssl/openssl.cnf", "/etc/os-release"};

static const char *const network[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
	"/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ssl/certs",
	"/etc/ca-certificates", "/etc/pki/tls", "/etc/pki/ca-trust"};

/* Files of /proc that programs read and that reveal nothing of a process. */
static const char *const facts[] = {"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg",
	"/proc/uptime", "/proc/version", "/proc/filesystems", "/proc/sys/kernel/osrelease",
	"/proc/sys/vm/overcommit_memory"};

static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

/* The parts of the directory shared by linked worktrees that a commit needs. Hooks, config and info
 * are left out. */
static const char *const shared[] = {"objects", "refs", "logs"};

/* What git runs by, and who commits where: `.git` is a mount too, so that it cannot be moved away
 * and made anew. */
static const char *const git_settings[] = {
	"hooks", "config", "config.worktree", "info", "commondir", "gitdir"};

static struct grant *add(struct arena *a, struct sandbox *s, const char *path, enum grant_kind kind)
{
	struct grants *g = &s->state->grants;
	struct grant *bigger;

	if ((g->n & (g->n - 1)) == 0) {
		bigger = arena_alloc(a, (g->n ? g->n * 2 : 1) * sizeof(*bigger));
		if (g->n)
			memcpy(bigger, g->list, g->n * sizeof(*bigger));
		g->list = bigger;
	}
	g->list[g->n] = (struct grant){.path = path, .kind = kind};
	return &g->list[g->n++];
}

static bool below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool in_view(const struct sandbox *s, const char *path)
{
	const struct grants *g = &s->state->grants;

	for (size_t i = 0; i < g->n; i++)
		if (g->list[i].use == USE_VIEW && strcmp(g->list[i].path, path) == 0)
			return true;
	return false;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A mounted directory cannot be moved away, with the protected files below it, and created again.
 */
static void keep_way(struct arena *a, struct sandbox *s, const char *path)
{
	size_t root = strlen(s->root->path);
	struct grant *g;

	if (!below(path, s->root->path))
		return;
	for (struct str dir = path_dir(path); dir.n > root;) {
		char *copy = arena_dup(a, dir);

		if (!in_view(s, copy)) {
			g = add(a, s, copy, GRANT_WRITE);
			g->use = USE_VIEW;
			g->needed = true;
		}
		dir = path_dir(copy);
	}
}

/*
 * `path` as what it leads to. What is not there, or not below the root, cannot be mounted on; nor
 * can a link itself: these are looked at after the run.
 */
static void keep(struct arena *a, struct sandbox *s, const char *path, enum grant_kind kind)
{
	CLEANUP(base_free) char *real = realpath(path, NULL);
	const char *git = s->root->git_dir;
	struct grant *g;

	if (!real || !(below(real, s->root->path) || (git && below(real, git))))
		return;
	g = add(a, s, arena_dup(a, str_of(real)), kind);
	g->use = USE_VIEW;
	g->needed = true;
	keep_way(a, s, real);
}

static void keep_git(struct arena *a, struct sandbox *s, const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		keep(a, s, dir, GRANT_READ);
		return;
	}
	keep(a, s, dir, GRANT_WRITE);
	for (size_t i = 0; i < COUNT(git_settings); i++)
		keep(a, s, path_join(a, dir, git_settings[i]), GRANT_READ);
}

/* What the run may not change below what it may. */
static void add_protected(struct arena *a, struct sandbox *s)
{
	const char *root = s->root->path;

	keep_git(a, s, path_join(a, root, ".git"));
	if (s->root->inner_git)
		keep_git(a, s, path_join(a, root, s->root->inner_git));
	if (s->root->git_dir)
		keep_git(a, s, s->root->git_dir);
	for (size_t i = 0; guarded_names[i]; i++)
		if (strcmp(guarded_names[i], ".git") != 0)
			keep(a, s, path_join(a, root, guarded_names[i]), GRANT_READ);
	for (size_t i = 0; i < s->policy->protect.n; i++)
		keep(a, s, path_join(a, root, s->policy->protect.p[i]), GRANT_READ);
}

static bool is_shared(const char *name)
{
	for (size_t i = 0; i < COUNT(shared); i++)
		if (strcmp(shared[i], name) == 0)
			return true;
	return false;
}

/*
 * git creates lock files in the directory that worktrees share, even to delete a branch that is not
 * packed. The view therefore has a directory in memory there, with the entries of the real one: new
 * files in it are lost after the run, and hooks, config and packed-refs cannot be replaced.
 */
static void add_common_view(struct arena *a, struct sandbox *s, const char *common)
{
	DIR *d = opendir(common);
	struct dirent *e;

	if (!d)
		return;
	add(a, s, common, GRANT_SCRATCH)->use = USE_VIEW;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			!is_shared(e->d_name))
			add(a, s, path_join(a, common, e->d_name), GRANT_READ)->use = USE_VIEW;
	closedir(d);
}

static void add_git(struct arena *a, struct sandbox *s)
{
	const struct root *r = s->root;
	bool scratch = s->policy->write && s->state->on[LAYER_MOUNTS];
	struct grant *g;
	char *path;

	/* A linked worktree's own directory, or a submodule's. */
	if (r->git_dir)
		add(a, s, r->git_dir, s->policy->write ? GRANT_WRITE : GRANT_READ)->needed = true;
	if (!r->common_dir)
		return;
	g = add(a, s, r->common_dir, GRANT_READ);
	g->use = scratch ? USE_RULES : USE_BOTH;
	g->needed = true;
	if (scratch)
		add_common_view(a, s, r->common_dir);
	for (size_t i = 0; s->policy->write && i < COUNT(shared); i++) {
		path = path_join(a, r->common_dir, shared[i]);
		/* git creates `logs` with the first entry, which is impossible from inside. */
		if (mkdir(path, 0777) == 0 || path_exists(path))
			add(a, s, path, GRANT_WRITE);
	}
}

static bool has_place(const struct sandbox *s, const char *path)
{
	const struct grants *g = &s->state->grants;

	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->list[i].path, path) == 0)
			return true;
	return false;
}

/* Directories of all that many programs know by name alone are the run's own, and in memory: the
 * others' are out of sight, and what is made on the way to directories below them costs next to
 * nothing.
 */
static void add_private(struct arena *a, struct sandbox *s)
{
	static const char *const names[] = {"/tmp", "/dev/shm"};

	add(a, s, s->home, GRANT_WRITE)->needed = true;
	add(a, s, s->tmp, GRANT_WRITE)->needed = true;
	for (size_t i = 0; s->state->on[LAYER_MOUNTS] && i < COUNT(names); i++)
		if (!has_place(s, names[i]))
			add(a, s, names[i], GRANT_SCRATCH)->use = USE_VIEW;
}

/* One by one: programs take a file that is not there well, and one that they may not read ill. */
static void add_settings(struct arena *a, struct sandbox *s)
{
	for (size_t i = 0; i < COUNT(settings); i++)
		add(a, s, settings[i], GRANT_READ);
	for (size_t i = 0; s->policy->network && i < COUNT(network); i++) {
		/* Some are links to files of a service below /run. */
		CLEANUP(base_free) char *real = realpath(network[i], NULL);

		if (real)
			add(a, s, arena_dup(a, str_of(real)), GRANT_READ);
		if (real && strcmp(real, network[i]) != 0)
			add(a, s, network[i], GRANT_READ);
	}
}

static void add_read(struct arena *a, struct sandbox *s)
{
	for (size_t i = 0; i < s->policy->read.n; i++) {
		CLEANUP(base_free) char *real = realpath(s->policy->read.p[i], NULL);

		/* Below the root it says nothing more, and must not take writing away. */
		if (!real || below(real, s->root->path))
			continue;
		add(a, s, arena_dup(a, str_of(real)), GRANT_READ)->use =
			strcmp(real, "/") == 0 ? USE_RULES : USE_BOTH;
	}
}

/* Of two in one place the second is seen: what is granted, then what of it is taken away. */
static int turn_of(const struct grant *g)
{
	if (g->use != USE_VIEW)
		return g->kind == GRANT_WRITE;
	return g->kind == GRANT_WRITE ? 2 : 3;
}

static int by_place(const void *x, const void *y)
{
	const struct grant *g = x, *h = y;
	int order = strcmp(g->path, h->path);

	return order ? order : turn_of(g) - turn_of(h);
}

void grants_prepare(struct arena *a, struct sandbox *s)
{
	const struct policy *p = s->policy;

	for (size_t i = 0; i < COUNT(programs); i++)
		if (!is_link(programs[i]))
			add(a, s, programs[i], GRANT_READ);
	add_settings(a, s);
	for (size_t i = 0; !s->state->own_proc && i < COUNT(facts); i++)
		add(a, s, facts[i], GRANT_READ)->use = USE_RULES;
	for (size_t i = 0; i < COUNT(devices); i++)
		add(a, s, devices[i], GRANT_DEVICE);
	add_read(a, s);
	add(a, s, s->root->path, p->write ? GRANT_WRITE : GRANT_READ)->needed = true;
	add_git(a, s);
	add_private(a, s);
	if (p->write)
		add_protected(a, s);
	qsort(s->state->grants.list, s->state->grants.n, sizeof(struct grant), by_place);
}
