/*
 * What git's index names: that is what `git ls-files` puts out, whether it is in the tree or not,
 * and a look at the tree cannot tell which links are among it.
 */
#include <errno.h>
#include <fcntl.h>
#include "src/policy/beneath.h"
#include "src/policy/found.h"
#include "src/sys/git.h"

enum { INDEX_MAX = 64 << 20 };

static int open_index(struct check *c)
{
	const char *dir = c->root->git_dir ? c->root->git_dir : c->root->path;

	return beneath_open(c->root->fd,
		arena_printf(c->arena, c->root->git_dir ? "%s/index" : "%s/.git/index", dir),
		O_RDONLY | O_NONBLOCK, 0, 0);
}

/* 1: there is none, because nothing was added yet. */
static int read_index(struct check *c, struct str *index)
{
	CLEANUP(base_close) int fd = open_index(c);
	struct stat st;
	char *text;
	size_t n = 0;
	ssize_t got = 1;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > INDEX_MAX)
		return -1;
	text = arena_alloc(c->arena, (size_t)st.st_size + 1);
	while (n < (size_t)st.st_size && (got = read(fd, text + n, (size_t)st.st_size - n)) > 0)
		n += (size_t)got;
	*index = (struct str){text, n};
	return 0;
}

int check_index_each(struct check *c, bool (*good)(void *of, const struct git_tracked *e), void *of)
{
	struct str index;
	int rc = read_index(c, &index);

	return rc ? (rc > 0 ? 0 : -1) : git_index_each(index, good, of);
}
