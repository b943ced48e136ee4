#include <dirent.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/work.h"

/* Finds what `git status` never shows, from a list of the index: TAG MODE SHA STAGE<tab>NAME. */

#define LINK_MODE "160000 "

/* The first entry of a directory; NULL: it is empty, or is not a directory. */
static const char *first_in(struct arena *a, const char *dir)
{
	DIR *list = opendir(dir);
	const char *name = NULL;
	struct dirent *entry;

	while (list && !name && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			name = arena_dup(a, str_of(entry->d_name));
	if (list)
		closedir(list);
	return name;
}

/* git considers the directory of a submodule without a repository empty, whatever it contains. */
static void look_at_link(struct arena *a, const char *files, const char *name, struct links *out)
{
	const char *dir = path_join(a, files, name), *in;
	struct stat st;

	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
		lstat(path_join(a, dir, ".git"), &st) == 0)
		return;
	in = first_in(a, dir);
	if (in)
		out->file = path_join(a, name, in);
}

/* `S` skip-worktree, which counts when the file is there; lower case assume-unchanged. */
static bool is_hidden(struct arena *a, const char *files, char tag, const char *name)
{
	struct stat st;

	if (tag >= 'a' && tag <= 'z')
		return true;
	return tag == 'S' && lstat(path_join(a, files, name), &st) == 0;
}

void links_look(struct arena *a, const char *files, struct str list, struct links *out)
{
	*out = (struct links){0};
	for (size_t at = 0; at < list.n; at += strlen(list.p + at) + 1) {
		const char *line = list.p + at, *tab = strchr(line, '\t');

		if (!tab)
			continue;
		/* A warning of git precedes the first entry. */
		for (const char *end;
			line[1] != ' ' && (end = memchr(line, '\n', (size_t)(tab - line)));)
			line = end + 1;
		if (!out->hidden)
			out->hidden = is_hidden(a, files, line[0], tab + 1);
		if (!out->file && strncmp(line + 2, LINK_MODE, strlen(LINK_MODE)) == 0)
			look_at_link(a, files, tab + 1, out);
	}
}
