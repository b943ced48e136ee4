/*
 * What git puts out, where its words become words of another command. Exact: an option that is not
 * here may add text of its own (--format, --notes, --dirty=MARK), marks (--boundary) or paths
 * (--objects).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/policy/bin_git.h"

enum { REFS_MAX = 64 << 20 };

struct output {
	const char *command;
	const char *options; /* between blanks; `*`: and what follows */
	const char *needs;   /* one of these must be there; NULL: none */
	bool names;          /* of branches and tags, not of commits alone */
};

#define PICK                                                                                       \
	" --max-count=* --skip=* --first-parent --merges --no-merges --all --reverse --author=* "  \
	"--grep=* --since=* --until=* --after=* --before=* --branches --tags --remotes "           \
	"--topo-order --date-order -n -# "
#define HASHES                                                                                     \
	" --format=%H --format=%h --format=%T --pretty=%H --pretty=%h --pretty=format:%H "         \
	"--pretty=format:%h --pretty=tformat:%H --pretty=tformat:%h "

static const struct output commits[] = {
	{"merge-base", "-a --all --octopus --independent --fork-point", NULL, false},
	{"rev-parse", "--verify -q --quiet --short --short=* --revs-only", NULL, false},
	{"rev-parse", "-q --quiet --abbrev-ref --abbrev-ref=* --symbolic-full-name", NULL, true},
	{"rev-list", PICK "--count --max-parents=* --min-parents=* --abbrev-commit", NULL, false},
	{"describe",
		"--all --tags --long --first-parent --abbrev=* --exact-match --always --contains "
		"--candidates=* --match=* --exclude=* --dirty --match",
		NULL, true},
	{"symbolic-ref", "-q --quiet --short", NULL, true},
	{"name-rev", "--name-only --tags --refs=* --always --no-undefined", "--name-only", true},
	{"branch", "--show-current", "--show-current", true},
	{"log", PICK HASHES "-s --no-patch --follow --no-walk", HASHES, false},
	{"show", HASHES "-s --no-patch", HASHES, false},
	{"write-tree", "", NULL, false},
	{0},
};

static bool is_number(struct str s)
{
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 1;
}

static bool in_list(const char *list, struct str word)
{
	struct str rest = str_of(list);

	while (rest.n) {
		size_t to = str_find(rest, STR(" "));
		struct str one = str_sub(rest, 0, to);

		rest = str_sub(rest, to < rest.n ? to + 1 : to, rest.n);
		if (!one.n)
			continue;
		if (str_is(one, "-#") ? is_number(word) : str_eq(one, word))
			return true;
		if (one.p[one.n - 1] == '*' && word.n >= one.n && !memcmp(word.p, one.p, one.n - 1))
			return true;
	}
	return false;
}

/* git puts it out as it is when it finds no such revision. */
static bool is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] <= ' ' || word.p[i] == 0x7f || strchr("*?[\\", word.p[i]))
			return false;
	return true;
}

static bool is_option(struct str word)
{
	return word.n > 1 && word.p[0] == '-';
}

/* Options are the row's, other words plain. */
static bool fits(const struct output *row, const struct call *call)
{
	bool met = !row->needs;

	for (size_t i = 2; i < call->n; i++) {
		struct str word = call->args[i].text;

		if ((call->args[i].origin != ARG_KNOWN && !call->args[i].commits) ||
			!is_plain(word))
			return false;
		if (is_option(word) && !in_list(row->options, word))
			return false;
		met |= row->needs && in_list(row->needs, word);
	}
	return met;
}

/* Of a name that git would put out by itself: `-x` is a good name for a ref. */
static bool begins_badly(const char *name)
{
	return name[0] == '-';
}

static bool folder_is_plain(int git, const char *name)
{
	int fd = openat(git, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool good = true;

	if (!list) {
		base_close(&fd);
		return errno == ENOENT;
	}
	while ((e = readdir(list)))
		good = good && !begins_badly(e->d_name);
	closedir(list);
	return good;
}

static bool file_is_plain(int git, const char *name, const char *const *bad)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(base_close) int fd = openat(git, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored;

	if (fd < 0)
		return errno == ENOENT;
	if (sys_read_all(&text, fd, REFS_MAX, name, &ignored) < 0)
		return false;
	for (; *bad; bad++)
		if (str_find(buf_str(&text), str_of(*bad)) < text.len)
			return false;
	return true;
}

static bool repository_is_plain(int git)
{
	static const char *const packed[] = {" refs/tags/-", " refs/heads/-", NULL};
	static const char *const head[] = {"refs/heads/-", NULL};

	return git >= 0 && folder_is_plain(git, "refs/tags") &&
	       folder_is_plain(git, "refs/heads") && file_is_plain(git, "packed-refs", packed) &&
	       file_is_plain(git, "HEAD", head);
}

/*
 * No branch and no tag of the root's repository begins with a dash: then what names them puts out
 * no option. A line that has brought others meanwhile may have brought such names.
 */
static bool names_are_plain(const struct check *c, const struct call *call)
{
	const struct root *r = c->root;
	const char *shared = r->common_dir ? r->common_dir : r->git_dir;
	struct stat st;
	struct str at = call->cwd;
	bool good;

	for (; at.n && !c->live; at.n--)
		if ((at.n == call->cwd.n || at.p[at.n] == '/') &&
			fstatat(r->fd, arena_printf(c->arena, "%.*s/.git", (int)at.n, at.p), &st,
				AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	{
		CLEANUP(base_close)
		int git = openat(r->fd,
			shared         ? shared
			: r->inner_git ? r->inner_git
				       : ".git",
			O_PATH | O_DIRECTORY | O_CLOEXEC);
		CLEANUP(base_close)
		int own = r->git_dir ? openat(r->fd, r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC)
				     : -1;

		good = !c->unforeseen && repository_is_plain(git) &&
		       (own < 0 || repository_is_plain(own));
	}
	return good;
}

bool git_puts_commits(const struct check *c, const struct call *call)
{
	if (call->n < 2 || !bin_is(&call->args[0], "git") || call->args[1].origin != ARG_KNOWN)
		return false;
	for (size_t i = 2; i < call->n; i++)
		if (str_is(call->args[i].text, "--"))
			return false;
	for (const struct output *row = commits; row->command; row++)
		if (str_is(call->args[1].text, row->command) && fits(row, call))
			return !row->names || names_are_plain(c, call);
	return false;
}
