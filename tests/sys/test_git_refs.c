#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

/* `make` makes the repository `d`, whose HEAD is `trunk`. `want`: the reference, ! if origin/HEAD
 * names it. */
static const struct {
	const char *make, *want;
} rows[] = {
	{"true", "none"},
	{"git branch master", "refs/heads/master"},
	{"git branch master; git branch main", "refs/heads/main"},
	{"git branch main; git update-ref refs/remotes/origin/master HEAD",
		"refs/remotes/origin/master"},
	{"git update-ref refs/remotes/origin/master HEAD; git update-ref refs/remotes/origin/main "
	 "HEAD",
		"refs/remotes/origin/main"},
	{"for b in main old/x; do git update-ref refs/remotes/origin/$b HEAD; done; git "
	 "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/old/x",
		"refs/remotes/origin/old/x!"},
	{"git update-ref refs/remotes/origin/main HEAD; git symbolic-ref refs/remotes/origin/HEAD "
	 "refs/remotes/origin/gone",
		"refs/remotes/origin/main"},
};

static void assert_default(const char *make, const char *want)
{
	const char *got;
	struct git_default d;

	assert_int_equal(git_read_default(&arena, at("d"), &d, &err), 0);
	got = d.ref ? arena_printf(&arena, "%s%s", d.ref,
			      d.head && strcmp(d.head, d.branch) == 0 ? "!" : "")
		    : "none";
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s, not %s", make, got, want);
	if (!d.ref)
		return;
	assert_true(str_ends(str_of(d.ref), d.branch));
	assert_int_equal(d.remote, str_starts(str_of(d.ref), "refs/remotes/origin/"));
	assert_sh("git -C d rev-parse HEAD", arena_printf(&arena, "%s\n", d.commit));
}

/* In files, packed, seen from a linked work tree, and in a form that only git reads. */
GIT_TEST(the_default_branch_is_what_origin_names_else_main_else_master)
{
	static const char linked[] = "git init -q -b trunk main; cd main; "
				     "git commit -q --allow-empty -m 0; "
				     "git worktree add -q --detach ../d; cd ../d";
	static const char *const forms[] = {"git init -q -b trunk d; cd d",
		"git init -q -b trunk d; cd d", linked,
		"git init -q -b trunk --object-format=sha256 d; cd d"};

	for (size_t form = 0; form < COUNT(forms); form++)
		for (size_t i = 0; i < COUNT(rows); i++) {
			sh(arena_printf(&arena,
				"rm -rf d main; %s; git commit -q --allow-empty -m 1; %s; %s",
				forms[form], rows[i].make,
				form == 1 ? "git pack-refs --all" : "true"));
			assert_default(rows[i].make, rows[i].want);
		}
}

GIT_TEST(a_damaged_default_branch_is_not_replaced_by_another)
{
	struct git_default d;

	sh("cd r; git update-ref refs/remotes/origin/master HEAD; git symbolic-ref "
	   "refs/remotes/origin/HEAD refs/remotes/origin/main; git pack-refs --all; echo x "
	   ">.git/refs/remotes/origin/main");
	assert_true(refused(git_read_default(&arena, at("r"), &d, &err), ERR_CHECK,
		"'refs/remotes/origin/main'"));
	sh(": >r/.git/refs/remotes/origin/main");
	assert_true(refused(git_read_default(&arena, at("r"), &d, &err), ERR_CHECK, "damaged"));
}

GIT_TEST(git_decides_what_a_branch_may_be_called)
{
	static const char *const good[] = {
		"a", "feat/x", "a.b", "a-", "a@b", "@a", "HEAD/x", "a/b.c/d", "\xc3\xbc"};
	static const char *const bad[] = {"", "-a", "@", "HEAD", "a..b", "a@{b", "a.", "a.lock",
		"a.lock/b", ".a", "a/.b", "/a", "a/", "a//b", "a b", "a~b", "a^b", "a:b", "a?b",
		"a*b", "a[b", "a\\b", "a\tb", "a\x7f"};

	for (size_t i = 0; i < COUNT(good); i++)
		if (!git_is_branch_name(good[i]))
			fail_msg("'%s' was refused", good[i]);
	for (size_t i = 0; i < COUNT(bad); i++) {
		char *script = arena_printf(
			&arena, "! git check-ref-format --branch '%s' >/dev/null 2>&1", bad[i]);

		if (git_is_branch_name(bad[i]))
			fail_msg("'%s' was taken", bad[i]);
		if (*bad[i] && strcmp(bad[i], "HEAD") != 0 && strcmp(bad[i], "@") != 0)
			sh(script);
	}
}
