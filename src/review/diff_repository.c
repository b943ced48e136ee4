#include "src/base/git.h"
#include "src/base/path.h"
#include "src/review/diff.h"

enum { DIFF_S = 120, OUTPUT_MAX = 16 << 20 }; /* git_command() keeps no more */

static int check_base(const char *base, struct error *err)
{
	if (!base[0] || base[0] == '-' || strpbrk(base, " \t\n:^~?*[\\") || strstr(base, ".."))
		return error_set(err, ERR_USAGE,
			"bad value '%.100s' of --base: must be a branch, a tag or a commit", base);
	return 0;
}

/*
 * What the user or the repository has set is set aside, so that no attribute, filter or setting
 * decides what can be seen: both names of what was moved, submodules, no programs.
 */
int diff_of_repository(struct arena *a, const char *repo, const char *base,
	struct change_stats *out, struct error *err)
{
	const char *const argv[] = {"git", "-c", "core.quotePath=true", "-c",
		"diff.suppressBlankEmpty=false", "-c", "core.attributesFile=/dev/null", "diff",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--src-prefix=a/",
		"--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none", "--unified=3",
		"--inter-hunk-context=0", "--full-index", "--diff-algorithm=myers",
		arena_printf(a, "%s...HEAD", base), "--", NULL};
	const struct git_command c = {
		.dir = repo, .name = "git diff", .argv = argv, .limit_s = DIFF_S};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (check_base(base, err) < 0 || git_command(&c, &text, NULL, err) < 0)
		return -1;
	if (text.len >= OUTPUT_MAX)
		return error_set(err, ERR_INPUT,
			"the change is over %d MiB: too large to be looked through",
			OUTPUT_MAX >> 20);
	return diff_read(a, "git diff", buf_str(&text), out, err);
}
