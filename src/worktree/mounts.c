/*
 * mounts.c: file systems that are mounted within a directory. They follow a rename. They must not
 * be deleted, because they may be bound from elsewhere.
 */
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { MOUNTS_MAX = 16 << 20, POINT = 4 /* the fields before it */ };

static bool is_octal(const char *p, const char *end)
{
	return end - p >= 4 && p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' &&
	       p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
}

/* Blanks and similar bytes are escaped as three octal digits. */
static char *plain(struct arena *a, struct str word)
{
	char *out = arena_alloc(a, word.n + 1), *to = out;

	for (const char *p = word.p, *end = p + word.n; p < end;) {
		if (is_octal(p, end)) {
			*to++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
	return out;
}

static struct str word_of(struct str line, unsigned n)
{
	for (;; n--) {
		const char *end = memchr(line.p, ' ', line.n);
		size_t len = end ? (size_t)(end - line.p) : line.n;

		if (!n || !end)
			return n ? (struct str){0} : str_sub(line, 0, len);
		line = str_sub(line, len + 1, line.n);
	}
}

const char *mounts_find(struct arena *a, struct str mounts, const char *dir)
{
	struct str line;

	while (str_line(&mounts, &line)) {
		struct str word = word_of(line, POINT);
		char *point = word.n ? plain(a, word) : NULL;

		if (point && (strcmp(point, dir) == 0 || path_beneath(dir, point)))
			return point;
	}
	return NULL;
}

const char *mount_inside(struct arena *a, const char *dir)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (sys_read_file(&text, "/proc/self/mountinfo", MOUNTS_MAX, NULL, &ignored) < 0)
		return NULL;
	return mounts_find(a, buf_str(&text), dir);
}
