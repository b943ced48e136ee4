#include "tests/lib/policy_rig.h"

UNIT_TEST(the_calls_of_the_skills_are_allowed, rig_make, rig_remove)
{
	rig_use("developer");
	rig_allowed("gh issue view 12 --comments");
	rig_allowed("gh pr view --json url,state --jq '.state + \" \" + .url'");
	rig_allowed("gh pr create --head dev-team/A-1 --title 'A-1: x' --body-file - "
		    "<<'END'\ntext\nEND");
	rig_allowed("gh pr create -F README.md -t x --draft");
	rig_allowed("gh pr list --json number --limit 5");
	rig_allowed("gh pr checks --watch");
	rig_allowed("gh run view --log-failed | tail -n 100");
	rig_allowed("gh pr diff 7 --name-only");
	rig_allowed("gh --version");
}

UNIT_TEST(what_could_run_or_show_more_is_denied, rig_make, rig_remove)
{
	static const char *const lines[] = {"gh api /user", "gh auth token", "gh alias set x '!id'",
		"gh extension install a/b", "gh repo clone a/b", "gh pr checkout 7",
		"gh gist create x", "gh secret set X", "gh", "gh pr", "gh pr merge 7",
		"gh x pr view"};

	rig_use("developer");
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "operand");
	rig_denied("gh pr create -R other/repo -t x -b y", "option");
	rig_denied("gh pr view --web", "option");
	rig_denied("gh pr create --editor", "option");
	rig_denied("gh pr comment 7 --body-file ../secret", "path.outside");
	rig_denied("gh $X view", "value.dynamic");
}

UNIT_TEST(who_may_not_write_only_looks, rig_make, rig_remove)
{
	rig_use("reviewer");
	rig_allowed("gh pr diff 7");
	rig_allowed("gh pr view 7 --comments -R other/repo");
	rig_denied("gh pr comment 7 -b x", "write");
	rig_denied("gh pr review --approve", "write");
	rig_use("readonly");
	rig_denied("gh pr view", "name.listed");
	rig_use_json("{\"allow\":[\"gh\"],\"write\":true,\"network\":false}");
	rig_denied("gh pr view", "network");
}
