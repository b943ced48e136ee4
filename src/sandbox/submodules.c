/*
 * submodules.c: repositories among the files. The host's git looks into those that the index names,
 * and would start what their settings and hooks say. A command can write them, so such settings are
 * removed, and such hooks lose the right to be executed. A repository whose directory is elsewhere,
 * where the commands of another worktree may write, is set aside. None of this happens while a
 * command runs in the root.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { DEPTH_MAX = 8, INDEX_MAX = 256 << 20, LIST_MAX = 1 << 20, SETTINGS_MAX = 64 << 10 };

#define ASIDE  ".refused"
#define GITDIR "gitdir: "

struct repository {
	struct sandbox *s;
	const char *path; /* of its files, real */
	const char *name; /* the same, relative to the root */
};

/* Settings that name programs or files, or let git fetch by itself. */
static bool submodules_is_harmful(const char *key)
{
	static const char *const patterns[] = {"filter.*", "include.*", "includeif.*", "alias.*",
		"credential.*", "diff.*", "merge.*.driver", "gpg.*", "pager.*", "*.pager",
		"*.editor", "*.cmd", "*.command", "submodule.*.update", "extensions.partialclone",
		"remote.*.promisor", "remote.*.uploadpack", "remote.*.receivepack", "remote.*.vcs",
		"core.fsmonitor", "core.hookspath", "core.sshcommand", "core.gitproxy",
		"core.askpass", "core.attributesfile", "core.alternaterefscommand"};

	for (size_t i = 0; i < COUNT(patterns); i++)
		if (fnmatch(patterns[i], key, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool git(const struct repository *r, const char *const *argv, struct buf *out)
{
	const struct git_command c = {.dir = r->path, .name = "git", .argv = argv};
	struct error ignored;
	int status = 0;

	return git_command(&c, out, &status, &ignored) == 0 && status == 0;
}

/* False: it cannot be cleaned, for example because of a lock file. */
static bool clean_file(const struct repository *r, const char *path)
{
	const char *const list[] = {"git", "config", "--no-includes", "--file", path, "--name-only",
		"--list", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool harmful = path_exists(path);

	for (int round = 0; harmful && round < 2; round++) {
		harmful = false;
		buf_clear(&out);
		if (!git(r, list, &out) || out.len > SETTINGS_MAX)
			return false;
		for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) {
			const char *key = out.s + at;
			const char *const unset[] = {
				"git", "config", "--file", path, "--unset-all", key, NULL};

			if (!submodules_is_harmful(key))
				continue;
			harmful = true;
			if (round == 0 && git(r, unset, NULL))
				sandbox_note(r->s,
					"the setting '%s' of the repository '%s' was removed", key,
					r->name);
		}
	}
	return !harmful;
}

static void disarm_hooks(const struct repository *r, const char *dir)
{
	struct tree hooks;
	struct stat st;

	sandbox_list_tree(r->s->arena, dir, &hooks);
	for (size_t i = 0; i < hooks.n; i++) {
		const char *name = hooks.items[i].path, *path = path_join(r->s->arena, dir, name);

		if (hooks.items[i].type == FILE_REGULAR && !str_ends(str_of(name), ".sample") &&
			lstat(path, &st) == 0 && (st.st_mode & 0111) &&
			chmod(path, st.st_mode & 0666) == 0)
			sandbox_note(r->s,
				"the hook '%s' of the repository '%s' is no longer executable: git "
				"outside would run it",
				name, r->name);
	}
}

/* What `gitdir: PATH` in the file names. NULL: it is not this, or the path has a link, which the
 * commands of another worktree may change. */
static char *directory_of_file(const struct repository *r, const char *file)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(base_close) int fd = -1;
	struct error ignored;
	struct str line, rest;
	const char *path;

	if (sys_read_file(&text, file, PATH_MAX, NULL, &ignored) < 0)
		return NULL;
	rest = buf_str(&text);
	if (!str_line(&rest, &line) || rest.n || !str_starts(line, GITDIR) ||
		strlen(line.p) < line.n)
		return NULL;
	path = arena_dup(r->s->arena, str_sub(line, strlen(GITDIR), line.n));
	if (path[0] != '/')
		path = path_join(r->s->arena, r->path, path);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	return fd < 0 ? NULL : path_real(r->s->arena, path);
}

/* False: it cannot be made harmless. No command writes the `modules` of the repository itself; what
 * is elsewhere outside may be written by the commands of another worktree. */
static bool clean_repository(struct repository *r, const char *git, bool is_directory)
{
	const struct git_view *view = &r->s->view;
	struct sandbox *s = r->s;
	const char *dir = is_directory ? git : directory_of_file(r, git);
	struct str rest;

	if (!dir)
		return false;
	if (!view->own || !path_is_below(view->own, dir)) {
		if (path_below(str_of(dir), str_of(view->common), &rest))
			return str_starts(rest, "modules/");
		if (!path_is_below(s->x->root->path, dir))
			return false;
	}
	sandbox_tidy_tree(dir, true, true);
	disarm_hooks(r, path_join(s->arena, dir, "hooks"));
	return !path_exists(path_join(s->arena, dir, "commondir")) &&
	       clean_file(r, path_join(s->arena, dir, "config")) &&
	       clean_file(r, path_join(s->arena, dir, "config.worktree"));
}

static void submodules_set_aside(struct sandbox *s, const char *path, const char *why)
{
	const char *aside = arena_printf(s->arena, "%s" ASIDE, path);

	sandbox_remove_tree(aside);
	if (rename(path, aside) == 0)
		sandbox_note(s, "'%s' was renamed to '%s': %s", path, aside, why);
}

static bool is_no_repository(void *data, const struct git_tracked *e)
{
	(void)data;
	return !e->submodule;
}

/* Mostly the index of the root names no repository, and need not be read by git. */
static bool may_name_repositories(struct sandbox *s)
{
	CLEANUP(buf_release) struct buf index = BUF_INIT;
	const char *path = path_join(s->arena, s->view.own ? s->view.own : s->view.common, "index");
	struct error ignored;
	bool missing = false;

	if (sys_read_file(&index, path, INDEX_MAX, &missing, &ignored) < 0)
		return !missing;
	return git_index_each(buf_str(&index), is_no_repository, NULL) != 0;
}

static void clean_below(struct sandbox *s, const char *dir, unsigned depth);

/* git looks at no repository behind a link. */
static void clean_one(struct repository *r, unsigned depth)
{
	const char *dot = path_join(r->s->arena, r->path, ".git");
	CLEANUP(base_free) char *real = realpath(r->path, NULL);
	struct stat st;

	if (!real || strcmp(real, r->path) != 0 || lstat(dot, &st) < 0)
		return;
	if (depth <= DEPTH_MAX && clean_repository(r, dot, S_ISDIR(st.st_mode)))
		clean_below(r->s, r->path, depth);
	else
		submodules_set_aside(r->s, dot,
			"git outside would start what it names; make it again, with its directory "
			"in the worktree");
}

/* The list of a large index is larger than what git_command() returns. */
static void clean_below(struct sandbox *s, const char *dir, unsigned depth)
{
	static const char *const list[] = {"sh", "-c",
		"git -c safe.directory='*' ls-files --stage -z | grep -z '^160000 '", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct repository r = {.s = s, .path = dir};

	if (!git(&r, list, &out))
		return;
	if (out.len > LIST_MAX && (depth || s->view.own)) {
		submodules_set_aside(s,
			depth ? path_join(s->arena, dir, ".git")
			      : path_join(s->arena, s->view.own, "index"),
			"its index names too many repositories");
		return;
	}
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) {
		const char *name = strchr(out.s + at, '\t');

		if (!name)
			continue;
		r.path = path_join(s->arena, dir, name + 1);
		r.name = r.path + strlen(s->x->root->path) + 1;
		clean_one(&r, depth + 1);
	}
}

void sandbox_submodules_end(struct sandbox *s)
{
	if (s->alone && s->x->policy->write && s->view.common && may_name_repositories(s))
		clean_below(s, s->x->root->path, 0);
}
