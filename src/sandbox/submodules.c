/*
 * submodules.c: repositories among the files. The host's git looks into those that the index names,
 * and would start what their settings say: a command can write them, so such settings go. Only
 * files that a command can write are changed.
 */
#include <fnmatch.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { DEPTH_MAX = 8, INDEX_MAX = 256 << 20 };

/* Settings that name programs or files, or let git fetch by itself. */
static bool submodules_is_harmful(const char *key)
{
	static const char *const patterns[] = {"filter.*", "include.*", "includeif.*", "alias.*",
		"credential.*", "diff.*", "merge.*.driver", "gpg.*", "extensions.partialclone",
		"remote.*.promisor", "remote.*.uploadpack", "remote.*.receivepack", "remote.*.vcs",
		"core.fsmonitor", "core.hookspath", "core.sshcommand", "core.gitproxy",
		"core.askpass", "core.attributesfile", "core.alternaterefscommand"};

	for (size_t i = 0; i < COUNT(patterns); i++)
		if (fnmatch(patterns[i], key, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool git(struct sandbox *s, const char *dir, const char *const *argv, struct buf *out)
{
	const struct git_command c = {
		.dir = dir, .name = arena_printf(s->arena, "git %s", argv[1]), .argv = argv};
	struct error ignored;
	int status = 0;

	return git_command(&c, out, &status, &ignored) == 0 && status == 0;
}

static void clean_file(struct sandbox *s, const char *sub, const char *path)
{
	const char *const list[] = {"git", "config", "--no-includes", "--file", path, "--name-only",
		"--list", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (!git(s, s->x->root->path, list, &out))
		return;
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) {
		const char *key = out.s + at;
		const char *const unset[] = {
			"git", "config", "--file", path, "--unset-all", key, NULL};

		if (submodules_is_harmful(key) && git(s, s->x->root->path, unset, NULL))
			sandbox_note(s, "the setting '%s' of the repository '%s' was removed", key,
				sub + strlen(s->x->root->path) + 1);
	}
}

static void clean_settings(struct sandbox *s, const char *sub)
{
	static const char *const ask[] = {"git", "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--git-path", "config.worktree", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, tail, line;

	if (!git(s, sub, ask, &out))
		return;
	rest = buf_str(&out);
	for (bool first = true; str_line(&rest, &line); first = false) {
		const char *path = arena_dup(s->arena, line);
		CLEANUP(base_free)
		char *real = realpath(first ? path_join(s->arena, path, "config") : path, NULL);

		if (real && (path_below(str_of(real), str_of(s->x->root->path), &tail) ||
				    (s->view.own &&
					    path_below(str_of(real), str_of(s->view.own), &tail))))
			clean_file(s, sub, real);
	}
}

/* Mostly the index of the root names no repository, and need not be read by git: no entry has the
 * mode 160000, and no part of it is in another file. */
static bool may_name_repositories(struct sandbox *s)
{
	static const char mode[] = {0, 0, '\xe0', 0}, split[] = {'l', 'i', 'n', 'k', 0, 0};
	CLEANUP(buf_release) struct buf index = BUF_INIT;
	const char *path = path_join(s->arena, s->view.own ? s->view.own : s->view.common, "index");
	struct error ignored;
	bool missing = false;

	if (sys_read_file(&index, path, INDEX_MAX, &missing, &ignored) < 0)
		return !missing;
	return str_find(buf_str(&index), (struct str){mode, sizeof(mode)}) < index.len ||
	       str_find(buf_str(&index), (struct str){split, sizeof(split)}) < index.len;
}

static void clean_below(struct sandbox *s, const char *dir, unsigned depth)
{
	static const char *const list[] = {"git", "ls-files", "--stage", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (depth > DEPTH_MAX || !git(s, dir, list, &out))
		return;
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) {
		const char *name = strchr(out.s + at, '\t'), *sub;

		if (!name || !str_starts(str_of(out.s + at), "160000 "))
			continue;
		sub = path_join(s->arena, dir, name + 1);
		if (!path_exists(path_join(s->arena, sub, ".git")))
			continue;
		clean_settings(s, sub);
		clean_below(s, sub, depth + 1);
	}
}

void sandbox_submodules_end(struct sandbox *s)
{
	if (s->x->policy->write && s->view.common && may_name_repositories(s))
		clean_below(s, s->x->root->path, 0);
}
