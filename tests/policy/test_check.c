/* What a text gets. The rows are the readers' whole behaviour: each rule, and what must not be
 * refused. */
#include "src/policy/check.h"
#include "tests/lib/policy_tree.h"

static const char *answer(const char *name, const char *text)
{
	static char line[700];
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct policy p;
	struct verdict v;
	struct error err;

	if (policy_load(&arena, name, &p, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	(void)policy_check(&arena, &p, &root, root.path, str_of(text), &v);
	verdict_line(&b, &v);
	snprintf(line, sizeof(line), "%s", b.s);
	return line;
}

/* `want` is the beginning of the answer. */
struct row {
	const char *policy, *text, *want;
};

static void assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *got = answer(rows[i].policy, rows[i].text);

		if (strncmp(got, rows[i].want, strlen(rows[i].want)) != 0)
			fail_msg("%s: %s: got '%s'", rows[i].policy, rows[i].text, got);
	}
}
#define ASSERT_ROWS(rows) assert_rows(rows, COUNT(rows))

POLICY_TREE_TEST(prefix_rules_see_through_wrappers_and_substitutions)
{
	static const struct row rows[] = {
		{"developer", "git push --force", "deny command 0-16 'git'"},
		{"developer", "git push -uf origin x", "deny command"},
		{"developer", "git push --force-with-lease=x origin y", "deny command"},
		{"developer", "git -C sub -c a=b push origin +x", "deny command"},
		{"developer", "git push origin :x", "deny command"},
		{"developer", "git push origin --delete x", "deny command"},
		{"developer", "/usr/bin/git push -f", "deny command"},
		{"developer", "make && (cd src; git push -f)", "deny command 17-28"},
		{"developer", "env A=1 timeout -k 5 9 nice -n 5 git push -f", "deny command"},
		{"developer", "echo x | xargs -n 1 git push --force", "deny command"},
		{"developer", "bash -ec 'git push -f'", "deny command 9-22"},
		{"developer", "echo \"$(git push -f)\"", "deny command"},
		{"developer", "x=$(npm publish)", "deny command"},
		{"developer", "if make; then yarn publish; fi", "deny command"},
		{"developer", "case a in a) gh pr merge 1;; esac", "deny command"},
		{"developer", "sudo ls", "deny command"},
		/* what is no such command */
		{"developer", "git push -u origin HEAD", "run"},
		{"developer", "git log --grep push -f", "run"},
		{"developer", "echo git push --force", "run"},
		{"developer", "git commit -m 'git push --force'", "run"},
		{"developer", "npm run publish-docs", "run"},
		{"developer", "gh pr view 1 --json url", "run"},
		{"developer", "gh pr create --title x --body-file - <<'E'\nx\nE", "run"},
		{"developer", "$tool push -f", "run"},
	};

	ASSERT_ROWS(rows);
}

POLICY_TREE_TEST(texts_that_are_not_understood_run_but_for_their_limits)
{
	static const struct row rows[] = {
		{"developer", "f() { echo $((1 + 2)); }; [[ -f x ]] && f", "run"},
		{"developer", "for ((i = 0; i < 3; i++)); do echo `date`; done", "run"},
		{"developer", "cat <<E\n$HOME\nE", "run"},
		{"developer", "echo 'open", "run"},
		{"readonly", "ls ~", "run"},
		{"developer", "", "deny input.empty"},
		{"developer", "ls\r", "deny input.bytes"},
		{"developer", "ls \xff", "deny input.bytes"},
	};

	ASSERT_ROWS(rows);
}

POLICY_TREE_TEST(paths_out_of_the_root_are_refused_where_they_would_be_missed)
{
	static const struct row rows[] = {
		{"developer", "cat ../secret", "deny path.outside 4-13 '../secret'"},
		{"developer", "cat sub/../../secret", "deny path.outside"},
		{"developer", "ls ..", "deny path.outside"},
		{"developer", "cd ..", "deny path.outside"},
		{"developer", "echo x > /etc/motd", "deny path.outside 9-18"},
		{"developer", "echo x >> esc/motd", "deny path.outside"},
		{"developer", "(ls) &> ../x", "deny path.outside"},
		{"developer", "echo x > .git/hooks/x", "deny path.protected"},
		{"developer", "echo x > .github/workflows/x", "deny path.protected"},
		{"developer", "echo x > .vscode/tasks.json", "deny path.protected"},
		{"readonly", "echo x > x", "deny write 9-10"},
		/* harmless, or unknown */
		{"readonly", "echo x > /tmp/x && cat /tmp/x 2>/dev/null", "run"},
		{"readonly", "ls 2>&1 >/dev/null", "run"},
		{"developer", "grep '../lib' src/main.c", "run"},
		{"developer", "git diff HEAD~2..HEAD", "run"},
		{"developer", "cd sub && cat ../README.md", "run"},
		{"developer", "cat /etc/hosts /usr/include/stdio.h", "run"},
		{"developer", "echo x > sub/../y", "run"},
		{"developer", "cd /tmp && ls", "run"},
		{"developer", "echo > \"$x\"", "run"},
	};

	ASSERT_ROWS(rows);
}

POLICY_TREE_TEST(a_policy_that_lists_programs_knows_each_of_them)
{
	static const struct row rows[] = {
		{"P", "ls | wc -l", "deny name.listed 5-7 'wc'"},
		{"P", "ls && echo $(id)", "deny name.listed"},
		{"P", "$x", "deny name.dynamic 0-2"},
		{"P", "eval ls", "deny name.listed"},
		{"P", ". x", "deny name.listed"},
		{"P", "env ls", "deny name.listed"},
		{"P", "f() { ls; }", "deny construct"},
		{"P", "ls; cd sub && echo x; true", "run"},
		{"P", "/bin/ls", "run"},
	};
	struct row named[COUNT(rows)];

	scratch_write("p.yaml", "allow: [ls]\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		named[i] = rows[i];
		named[i].policy = at("p.yaml");
	}
	ASSERT_ROWS(named);
}

POLICY_TREE_TEST(a_rule_may_leave_it_to_the_user)
{
	scratch_write("p.yaml", "rules:\n"
				"  - {command: 'make deploy', answer: ask, instead: wait}\n"
				"  - {command: 'make *prod*', answer: deny}\n");
	assert_string_equal(answer(at("p.yaml"), "make all"), "run");
	assert_string_equal(answer(at("p.yaml"), "make deploy"),
		"ask command 0-11 'make': the policy's rule 'make deploy': wait");
	/* A denial later in the text counts more. */
	assert_string_equal(answer(at("p.yaml"), "make deploy; make x-prod"),
		"deny command 13-24 'make': the policy's rule 'make *prod*'");
}

POLICY_TREE_TEST(the_notation_of_rules)
{
	static const char *const good[] = {"git", "git push", "a|b c|d -e|--f g*"};
	static const char *const bad[] = {"", "-f", "git -f push", "*"};

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(rules_notation(str_of(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(rules_notation(str_of(bad[i])));
}

UNIT_GROUP(NULL, arena_end)
