/*
 * A repository that came to be during a run: as `git init` makes it, nothing in it runs anything.
 */
#include <dirent.h>
#include "src/policy/protected_internal.h"

/* The only settings that git itself writes into a new repository, or one that it has cloned. */
static bool is_plain_setting(struct str line)
{
	static const char *const plain[] = {
		"repositoryformatversion = ", "filemode = ", "bare = false", "logallrefupdates = ",
		"ignorecase = ", "symlinks = ", "precomposeunicode = ", "url = ", "fetch = +refs/",
		"remote = origin", "merge = refs/heads/"};
	struct str colons = STR("::");

	line = str_trim(line);
	if (!line.n || str_is(line, "[core]") || str_is(line, "[remote \"origin\"]") ||
		(str_starts(line, "[branch \"") && str_ends(line, "\"]")))
		return true;
	/* A backslash goes on in the next line, `x::` is a program that fetches. */
	if (memchr(line.p, '\\', line.n) || str_find(line, colons) < line.n)
		return false;
	for (size_t i = 0; i < COUNT(plain); i++)
		if (str_starts(line, plain[i]))
			return true;
	return false;
}

static bool is_plain_config(int git)
{
	char text[1024];
	struct stat st;
	struct str rest, line;
	CLEANUP(base_close)
	int fd = beneath_open(git, "config", O_RDONLY | O_NONBLOCK, 0, BENEATH | NO_LINKS);
	ssize_t n = fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1
			    ? -1
			    : read(fd, text, sizeof(text));

	if (n < 0 || n == (ssize_t)sizeof(text) || memchr(text, '\0', (size_t)n))
		return false;
	rest = (struct str){text, (size_t)n};
	while (str_line(&rest, &line))
		if (!is_plain_setting(line))
			return false;
	return true;
}

static bool has_samples_alone(int git)
{
	int fd = list_folder(git, "hooks");
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;
	bool good = true;

	if (!list) {
		base_close(&fd);
		return fstatat(git, "hooks", &st, AT_SYMLINK_NOFOLLOW) < 0;
	}
	while ((e = readdir(list)))
		good = good && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
				       str_ends(str_of(e->d_name), ".sample"));
	closedir(list);
	return good;
}

bool git_is_fresh(int dir, const char *name)
{
	static const char *const odd[] = {"config.worktree", "commondir", "gitdir", "modules",
		"worktrees", "info/attributes", "info/grafts", "objects/info/alternates"};
	CLEANUP(base_close) int git = list_folder(dir, name);
	struct stat st;

	if (git < 0 || !is_plain_config(git) || !has_samples_alone(git))
		return false;
	for (size_t i = 0; i < COUNT(odd); i++)
		if (fstatat(git, odd[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	return true;
}
