/*
 * What git's index names: that is what `git ls-files` puts out, whether it is in the tree or not,
 * and a look at the tree cannot tell which links are among it.
 */
#include <errno.h>
#include <fcntl.h>
#include "src/policy/beneath.h"
#include "src/policy/found.h"

enum {
	INDEX_MAX = 64 << 20,
	HEADER = 12,
	FIXED = 62,
	LINK = 0120000,
	EXTENDED = 0x4000,
	NAME = 0xfff
};

struct index {
	struct str text;
	size_t at, left; /* the next entry; how many there are from here */
	struct str last; /* name before */
};

static uint32_t number(const struct index *x, size_t at)
{
	const unsigned char *p = (const unsigned char *)x->text.p + at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int open_index(struct check *c)
{
	const char *dir = c->root->git_dir ? c->root->git_dir : c->root->path;

	return beneath_open(c->root->fd,
		arena_printf(c->arena, c->root->git_dir ? "%s/index" : "%s/.git/index", dir),
		O_RDONLY | O_NONBLOCK, 0, 0);
}

static int read_index(struct check *c, struct index *x)
{
	CLEANUP(base_close) int fd = open_index(c);
	struct stat st;
	char *text;
	size_t n = 0;
	ssize_t got = 1;

	*x = (struct index){.at = 0};
	/* Nothing was added yet. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < HEADER ||
		st.st_size > INDEX_MAX)
		return -1;
	text = arena_alloc(c->arena, (size_t)st.st_size);
	while (n < (size_t)st.st_size && (got = read(fd, text + n, (size_t)st.st_size - n)) > 0)
		n += (size_t)got;
	*x = (struct index){.text = {text, n}, .at = HEADER};
	if (n < HEADER || memcmp(text, "DIRC", 4) || number(x, 4) < 2 || number(x, 4) > 3)
		return -1;
	x->left = number(x, 8);
	return 0;
}

/* False at the end, and with *bad when it is not understood. */
static bool next_entry(struct index *x, bool *link, struct str *name, bool *bad)
{
	size_t from = x->at, flags, n;

	*bad = x->left && x->text.n - from < FIXED + 8;
	if (!x->left || *bad)
		return false;
	flags = number(x, from + FIXED - 4) & 0xffff;
	*link = (number(x, from + 24) & 0170000) == LINK;
	from += FIXED + (flags & EXTENDED ? 2 : 0);
	n = strnlen(x->text.p + from, x->text.n - from);
	*name = (struct str){x->text.p + from, n};
	/* Names are in order: with hashes of another length they would not be. */
	*bad = !n || from + n >= x->text.n || ((flags & NAME) != NAME && (flags & NAME) != n) ||
	       (x->last.n && memcmp(x->last.p, name->p, x->last.n < n ? x->last.n : n) > 0);
	x->last = *name;
	x->at += (from + n - x->at + 8) & ~(size_t)7;
	x->left--;
	return !*bad && x->at <= x->text.n;
}

/* Part of the index may be in another file. */
static bool is_whole(const struct index *x)
{
	return x->text.n < x->at + 4 || memcmp(x->text.p + x->at, "link", 4);
}

int git_index_each(struct check *c, bool (*good)(void *of, struct str name, bool link), void *of)
{
	struct index x;
	struct str name;
	bool link, bad = false;

	if (read_index(c, &x) < 0)
		return -1;
	while (next_entry(&x, &link, &name, &bad))
		if (!good(of, name, link))
			return 1;
	return bad || x.left || !is_whole(&x) ? -1 : 0;
}
