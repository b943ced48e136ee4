/*
 * git_changelog.c: a changelog that two branches have added to is in conflict for git. Both lists
 * are kept; everything else in conflict is left to somebody who understands it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { CHANGELOG_MAX = 1000000 };

bool git_is_changelog(const char *path)
{
	return strcasecmp(path_base(path).p, "CHANGELOG.md") == 0;
}

/* A bullet, a line that continues one, or an empty line. */
static bool is_of_list(struct str line)
{
	struct str text = str_trim(line);

	return !text.n || line.p[0] == ' ' || line.p[0] == '\t' ||
	       (text.n > 1 && strchr("-*+", text.p[0]) && text.p[1] == ' ');
}

bool git_join_lists(struct str text, bool second_first, struct buf *out)
{
	enum { OUTSIDE, FIRST, SECOND } at = OUTSIDE;
	CLEANUP(buf_release) struct buf first = BUF_INIT, second = BUF_INIT;
	bool joined = false;
	struct str line;

	if (text.n > CHANGELOG_MAX)
		return false;
	while (text.n) {
		size_t end = str_find(text, STR("\n"));

		line = str_sub(text, 0, end + 1);
		text = str_sub(text, line.n, text.n);
		if (str_starts(line, "<<<<<<< ") && at == OUTSIDE) {
			at = FIRST;
		} else if (at == FIRST && str_is(str_trim(line), "=======")) {
			at = SECOND;
		} else if (at == SECOND && str_starts(line, ">>>>>>> ")) {
			buf_add(out, buf_str(second_first ? &second : &first));
			buf_add(out, buf_str(second_first ? &first : &second));
			buf_clear(&first);
			buf_clear(&second);
			at = OUTSIDE;
			joined = true;
		} else if (at != OUTSIDE && !is_of_list(line)) {
			return false;
		} else {
			buf_add(at == OUTSIDE ? out : at == FIRST ? &first : &second, line);
		}
	}
	return joined && at == OUTSIDE;
}

/* Where a branch has put a link in its place, nothing is written. */
static bool join_file(const char *dir, const char *name, bool second_first)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT, joined = BUF_INIT;
	const char *const argv[] = {GIT_QUIET, "--literal-pathspecs", "add", "--", name, NULL};
	const struct git_command c = {.dir = dir, .name = "git add", .argv = argv};
	const char *path = path_join(&a, dir, name);
	CLEANUP(base_close)
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct error ignored;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       sys_read_all(&text, fd, CHANGELOG_MAX, path, &ignored) == 0 &&
	       git_join_lists(buf_str(&text), second_first, &joined) && ftruncate(fd, 0) == 0 &&
	       lseek(fd, 0, SEEK_SET) == 0 &&
	       sys_write_all(fd, buf_str(&joined), path, &ignored) == 0 &&
	       git_command(&c, NULL, NULL, &ignored) == 0;
}

int git_join_changelogs(struct arena *a, const char *dir, bool second_first,
	const char *const **left, struct error *err)
{
	const char *const argv[] = {
		GIT_QUIET, "diff", "--name-only", "--no-renames", "--diff-filter=U", "-z", NULL};
	const struct git_command c = {.dir = dir, .name = "git diff", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	VEC(const char *) list = {0};
	struct error ignored;

	if (git_command(&c, &out, NULL, &ignored) < 0 || !out.len)
		return -1;
	for (size_t i = 0; i < out.len; i += strlen(out.s + i) + 1) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		if (git_is_changelog(out.s + i) && join_file(dir, out.s + i, second_first))
			continue;
		buf_adds(&name, out.s + i);
		buf_utf8_repair(&name);
		vec_push_in(a, &list, arena_dup(a, buf_str(&name)));
	}
	if (list.n)
		vec_push_in(a, &list, NULL);
	*left = list.items;
	if (!list.n)
		*err = (struct error){0};
	return 0;
}
