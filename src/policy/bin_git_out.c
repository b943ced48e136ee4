/*
 * What git puts out, where its words become words of another command. Exact: an option that is not
 * here may add text of its own (--format, --notes, --dirty=MARK), marks (--boundary) or paths
 * (--objects).
 */
#include "src/policy/bin_git.h"

struct output {
	const char *command;
	const char *options; /* between blanks; `*`: and what follows */
	const char *needs;   /* one of these must be there; NULL: none */
};

#define PICK                                                                                       \
	" --max-count=* --skip=* --first-parent --merges --no-merges --all --reverse --author=* "  \
	"--grep=* --since=* --until=* --after=* --before=* --branches --tags --remotes "           \
	"--topo-order --date-order -n -# "
#define HASHES                                                                                     \
	" --format=%H --format=%h --format=%T --pretty=%H --pretty=%h --pretty=format:%H "         \
	"--pretty=format:%h --pretty=tformat:%H --pretty=tformat:%h "

static const struct output commits[] = {
	{"merge-base", "-a --all --octopus --independent --fork-point", NULL},
	{"rev-parse",
		"--verify -q --quiet --short --short=* --abbrev-ref --abbrev-ref=* "
		"--symbolic-full-name --revs-only",
		NULL},
	{"rev-list", PICK "--count --max-parents=* --min-parents=* --abbrev-commit", NULL},
	{"describe",
		"--all --tags --long --first-parent --abbrev=* --exact-match --always --contains "
		"--candidates=* --match=* --exclude=* --dirty --match",
		NULL},
	{"symbolic-ref", "-q --quiet --short", NULL},
	{"name-rev", "--name-only --tags --refs=* --always --no-undefined", "--name-only"},
	{"branch", "--show-current", "--show-current"},
	{"log", PICK HASHES "-s --no-patch --follow --no-walk", HASHES},
	{"show", HASHES "-s --no-patch", HASHES},
	{"write-tree", "", NULL},
	{0},
};

static const struct output files[] = {
	{"ls-files",
		"-z -c --cached -m --modified -o --others -d --deleted --exclude-standard "
		"--exclude=* --error-unmatch --deduplicate",
		NULL},
	{"grep",
		"-z --null -l -L --files-with-matches --files-without-match --name-only -i "
		"--ignore-case -w --word-regexp -E -F -P -G -I --extended-regexp --fixed-strings "
		"--perl-regexp -lz -lE -lF -lP -lw -li -il",
		"-l -L --files-with-matches --files-without-match --name-only -lz -lE -lF -lP -lw "
		"-li -il"},
	{"diff", "-z --name-only --relative --diff-filter=*", "--name-only"},
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

static const struct output *find(const struct output *rows, const struct call *call)
{
	if (call->n < 2 || !bin_is(&call->args[0], "git") || call->args[1].origin != ARG_KNOWN)
		return NULL;
	for (; rows->command; rows++)
		if (str_is(call->args[1].text, rows->command))
			return rows;
	return NULL;
}

/* Up to a `--`: options are the row's, other words are few and plain. */
static bool fits(const struct output *row, const struct call *call, size_t operands)
{
	bool met = !row->needs, plain = true;

	for (size_t i = 2; i < call->n; i++) {
		struct str word = call->args[i].text;

		if (call->args[i].origin != ARG_KNOWN && !call->args[i].commits)
			return false;
		if (str_is(word, "--"))
			break;
		plain &= is_plain(word) || operands;
		if (!is_option(word) && operands && !--operands)
			return false;
		if (is_option(word) && !in_list(row->options, word))
			return false;
		met |= row->needs && in_list(row->needs, word);
	}
	return met && plain;
}

bool git_puts_commits(const struct call *call)
{
	const struct output *row = find(commits, call);

	for (size_t i = 2; row && i < call->n; i++)
		if (str_is(call->args[i].text, "--"))
			return false;
	return row && fits(row, call, 0);
}

static bool has_nul(const struct call *call)
{
	for (size_t i = 2; i < call->n; i++) {
		struct str word = call->args[i].text;

		if (str_is(word, "--"))
			break;
		if (str_is(word, "-z") || str_is(word, "-lz") || str_is(word, "--null"))
			return true;
	}
	return false;
}

/*
 * Of diff and grep only what is now in the worktree: a name of another commit may lead through what
 * is a link by now. diff names files from the worktree's top.
 */
bool git_lists_files(const struct call *call, bool *nul)
{
	const struct output *row = find(files, call);
	size_t operands = SIZE_MAX;

	if (!row)
		return false;
	if (str_is(call->args[1].text, "diff")) {
		if (call->cwd.n)
			return false;
		operands = 1;
	} else if (str_is(call->args[1].text, "grep")) {
		operands = 2;
	}
	*nul = has_nul(call);
	return fits(row, call, operands);
}
