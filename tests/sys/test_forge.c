#include <sys/stat.h>
#include "src/sys/forge.h"
#include "tests/lib/git_rig.h"
#include "tests/lib/tree.h"

/* A program `name` in `bin` that logs its arguments and the token, prints `out` and `errors`, and
 * exits with `status`. */
static void lay_tool(const char *name, const char *out, const char *errors, int status)
{
	scratch_write("out", out);
	scratch_write("errors", errors);
	scratch_program(arena_printf(&arena, "bin/%s", name),
		arena_printf(&arena,
			"/bin/cat %s; /bin/cat %s >&2; echo \"$*|$GH_TOKEN\" >%s; exit %d",
			at("out"), at("errors"), at("args"), status));
}

/* PATH is `bin` meanwhile. */
static int in_bin(int (*call)(void *data), void *data)
{
	CLEANUP(base_free) char *before = strdup(getenv("PATH"));
	int rc;

	sh("mkdir -p bin; ln -sf /bin/sh bin/sh");
	setenv("PATH", at("bin"), 1);
	rc = call(data);
	setenv("PATH", before, 1);
	return rc;
}

/* ---- URLs ---- */

TEST(pull_requests_are_found_in_text)
{
	static const struct {
		const char *text, *url, *host, *path, *number;
		enum forge_kind kind;
	} cases[] = {
		{"see https://github.com/acme/slug/pull/12.",
			"https://github.com/acme/slug/pull/12", "github.com", "acme/slug", "12",
			FORGE_GITHUB},
		{"<https://ghe.example:8443/a/b/pull/1/files#r1>",
			"https://ghe.example:8443/a/b/pull/1", "ghe.example:8443", "a/b", "1",
			FORGE_GITHUB},
		{"https://gitlab.example/g/sub/deep/r/-/merge_requests/7\n",
			"https://gitlab.example/g/sub/deep/r/-/merge_requests/7", "gitlab.example",
			"g/sub/deep/r", "7", FORGE_GITLAB},
		{"http://gitlab.example/g/r/merge_requests/7",
			"http://gitlab.example/g/r/merge_requests/7", "gitlab.example", "g/r", "7",
			FORGE_GITLAB},
		{"[x](https://codeberg.org/a/b/pulls/3)", "https://codeberg.org/a/b/pulls/3",
			"codeberg.org", "a/b", "3", FORGE_GITEA},
		{"https://bitbucket.org/w/r/pull-requests/44/diff",
			"https://bitbucket.org/w/r/pull-requests/44", "bitbucket.org", "w/r", "44",
			FORGE_BITBUCKET},
		{"https://git.corp/projects/KEY/repos/r/pull-requests/9/overview",
			"https://git.corp/projects/KEY/repos/r/pull-requests/9", "git.corp",
			"projects/KEY/repos/r", "9", FORGE_BITBUCKET},
		{"https://dev.azure.com/org/proj/_git/r/pullrequest/5?_a=files",
			"https://dev.azure.com/org/proj/_git/r/pullrequest/5", "dev.azure.com",
			"org/proj/_git/r", "5", FORGE_AZURE},
		{"http https:// https://x https://github.com/a/b/issues/1 "
		 "https://github.com/a/b/pull/2",
			"https://github.com/a/b/pull/2", "github.com", "a/b", "2", FORGE_GITHUB},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct forge_pull p;

		if (!forge_find_pull(str_of(cases[i].text), &p))
			fail_msg("nothing in '%s'", cases[i].text);
		assert_true(str_is(p.url, cases[i].url));
		assert_true(str_is(p.host, cases[i].host));
		assert_true(str_is(p.path, cases[i].path));
		assert_true(str_is(p.number, cases[i].number));
		assert_int_equal(p.kind, cases[i].kind);
	}
}

TEST(other_texts_have_no_pull_request)
{
	static const char *const cases[] = {"", "http", "https://", "https:///pull/1",
		"https://github.com/pull/1", "https://github.com/acme/pull/1",
		"https://github.com/acme/slug/pull/", "https://github.com/acme/slug/pull/new",
		"https://github.com/acme/slug/pull/12a", "https://github.com/acme/slug/pulls",
		"github.com/acme/slug/pull/1", "ftp://h/a/b/pull/1",
		"https://github.com/acme/ slug/pull/1"};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct forge_pull p;

		if (forge_find_pull(str_of(cases[i]), &p))
			fail_msg("'%.*s' in '%s'", (int)p.url.n, p.url.p, cases[i]);
	}
}

TEST(a_pull_request_belongs_to_the_repository_of_a_remote)
{
	static const struct {
		const char *pull, *remote;
		bool same;
	} cases[] = {
		{"https://github.com/acme/slug/pull/1", "git@github.com:Acme/slug.git", true},
		{"https://github.com/acme/slug/pull/1", "https://token@github.com/acme/slug", true},
		{"https://github.com/acme/slug/pull/1",
			"ssh://git@ssh.github.com:443/acme/slug.git", true},
		{"https://github.com/acme/slug/pull/1", "work:acme/slug.git", true},
		{"https://github.com/acme/slug/pull/1", "/srv/git/acme/slug.git", true},
		{"https://github.com/acme/slug/pull/1", "file:///srv/git/acme/slug.git", true},
		{"https://github.com/acme/slug/pull/1", "git@github.com:acme/slug2.git", false},
		{"https://github.com/acme/slug/pull/1", "git@github.com:other/slug.git", false},
		{"https://github.com/acme/slug/pull/1", "git@gitlab.com:acme/slug.git", false},
		{"https://github.com/acme/slug/pull/1", "git@evilgithub.com:acme/slug.git", false},
		{"https://github.com/acme/slug/pull/1", "", false},
		{"https://gl.x/g/s/r/-/merge_requests/1", "ssh://git@gl.x:2222/g/s/r.git", true},
		{"https://gl.x/g/s/r/-/merge_requests/1", "https://gl.x/s/r.git", false},
		{"https://gl.x/g/projects/r/-/merge_requests/1", "https://gl.x/g/r.git", false},
		{"https://github.com/acme/repos/slug/pull/1", "git@github.com:acme/slug.git",
			false},
		{"https://git.corp/users/ada/r/pulls/1", "https://git.corp/ada/r", false},
		{"https://git.corp/projects/KEY/repos/r/pull-requests/9",
			"https://git.corp/scm/key/r.git", true},
		{"https://git.corp/users/ada/repos/r/pull-requests/9",
			"https://git.corp/scm/~ada/r.git", true},
		{"https://git.corp/users/Ada/repos/r/pull-requests/9",
			"ssh://git@git.corp:7999/~ada/r.git", true},
		{"https://git.corp/projects/~ADA/repos/r/pull-requests/9",
			"https://git.corp/scm/%7Eada/r.git", true},
		{"https://git.corp/users/ada/repos/r/pull-requests/9",
			"https://git.corp/scm/ada/r.git", false},
		{"https://git.corp/projects/ADA/repos/r/pull-requests/9",
			"https://git.corp/scm/~ada/r.git", false},
		{"https://git.corp/users/bob/repos/r/pull-requests/9",
			"https://git.corp/scm/~ada/r.git", false},
		{"https://dev.azure.com/org/proj/_git/r/pullrequest/5",
			"git@ssh.dev.azure.com:v3/org/proj/r", true},
		{"https://org.visualstudio.com/proj/_git/r/pullrequest/5",
			"https://org@dev.azure.com/org/proj/_git/r", true},
		{"https://org.visualstudio.com/proj/_git/r/pullrequest/5",
			"https://dev.azure.com/other/proj/_git/r", false},
		{"https://org.visualstudio.com/proj/_git/r/pullrequest/5",
			"org@vs-ssh.visualstudio.com:v3/org/proj/r", true},
		{"https://dev.azure.com/org/_git/r/pullrequest/5",
			"git@ssh.dev.azure.com:v3/org/r/r", true},
		{"https://dev.azure.com/org/My%20App/_git/r/pullrequest/5",
			"git@ssh.dev.azure.com:v3/org/My App/r", true},
		{"https://dev.azure.com/org/My%20App/_git/My%20App/pullrequest/5",
			"https://org@dev.azure.com/org/_git/My%20App", true},
		{"https://dev.azure.com/org/My%20App/_git/r/pullrequest/5",
			"https://dev.azure.com/org/My-App/_git/r", false},
		{"https://git.corp/acme/\xC3\xBC/pulls/1", "https://git.corp/acme/%c3%bc.git",
			true},
		{"https://git.corp/~ada/r/pulls/1", "git@git.corp:~ada/r", true},
		{"https://com/acme/slug/pull/1", "git@github.com:acme/slug.git", false},
		{"https://github.com/acme/slug/pulls/1", "git@github.com:acme/slug.git", false},
		{"https://api.github.com/repos/acme/slug/pulls/1", "git@github.com:acme/slug.git",
			false},
		{"https://gitlab.com/acme/slug/pull/1", "git@gitlab.com:acme/slug.git", false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct forge_pull p;

		assert_true(forge_find_pull(str_of(cases[i].pull), &p));
		if (forge_pull_is_of(&p, str_of(cases[i].remote)) != cases[i].same)
			fail_msg("%s and %s", cases[i].pull, cases[i].remote);
	}
}

/* ---- what a forge says ---- */

struct view_call {
	const char *url, *command;
	struct forge_view view;
};

static int view(void *data)
{
	struct view_call *c = data;
	struct forge_pull p;

	assert_true(forge_find_pull(str_of(c->url), &p));
	return forge_view(&arena, at("r"), &p, c->command, &c->view, &err);
}

static void assert_view(struct view_call *c, const char *tool, const char *state,
	const char *branch, const char *head)
{
	assert_int_equal(in_bin(view, c), 0);
	assert_string_equal(c->view.tool, tool);
	assert_string_equal(c->view.state, state);
	assert_string_equal(c->view.branch, branch);
	assert_string_equal(c->view.head, head);
}

/* `out` gives the head abc. */
static void assert_tool_view(struct view_call *c, const char *tool, const char *out,
	const char *state, const char *branch)
{
	lay_tool(tool, out, "a warning\n", 0);
	assert_view(c, tool, state, branch, "abc");
}

GIT_TEST(gh_says_what_a_pull_request_is)
{
	struct view_call c = {.url = "https://github.com/acme/slug/pull/7"};

	assert_tool_view(&c, "gh",
		"{\"state\":\"OPEN\",\"headRefName\":\"dev-team/A-1\",\"headRefOid\":\"abc\","
		"\"baseRefName\":\"main\"}",
		"open", "dev-team/A-1");
	assert_string_equal(c.view.target, "main");
	assert_sh("cut -d'|' -f1 args", "pr view https://github.com/acme/slug/pull/7 --json "
					"state,headRefName,headRefOid,baseRefName,mergedAt\n");
	assert_tool_view(&c, "gh",
		"{\"state\":\"MERGED\",\"headRefName\":\"b\",\"headRefOid\":\"abc\"}", "merged",
		"b");
	assert_null(c.view.target);
}

GIT_TEST(glab_says_what_a_merge_request_is)
{
	struct view_call c = {.url = "https://gl.example/g/s/r/-/merge_requests/7"};

	assert_tool_view(&c, "glab",
		"{\"state\":\"opened\",\"source_branch\":\"b\",\"sha\":\"abc\",\"id\":1,"
		"\"target_branch\":\"main\"}",
		"open", "b");
	assert_string_equal(c.view.target, "main");
	assert_sh(
		"cut -d'|' -f1 args", "mr view 7 --output json --repo https://gl.example/g/s/r\n");
}

GIT_TEST(a_command_answers_for_other_forges)
{
	struct view_call c = {.url = "https://codeberg.org/a/b/pulls/3",
		.command = "echo \"{\\\"state\\\":\\\"open\\\",\\\"branch\\\":\\\"$1\\\","
			   "\\\"head\\\":\\\"abc\\\"}\""};

	assert_view(&c, c.command, "open", "https://codeberg.org/a/b/pulls/3", "abc");
	c.command = "echo '{\"state\": \"missing\"}'";
	assert_int_equal(in_bin(view, &c), 0);
	assert_true(c.view.missing);
	c.command = "echo no json";
	assert_int_equal(in_bin(view, &c), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	c.command = "echo '{\"state\": \"open\"}'";
	assert_int_equal(in_bin(view, &c), -1);
	assert_string_equal(err.text, "'echo '{\"state\": \"open\"}'' printed no 'branch' and "
				      "'head' for the pull request");
	c.command = "echo away >&2; exit 3";
	assert_int_equal(in_bin(view, &c), -1);
	assert_string_equal(err.text, "'echo away >&2; exit 3' failed: away");
}

GIT_TEST(without_a_program_nobody_says_anything)
{
	static const char *const urls[] = {"https://github.com/a/b/pull/1",
		"https://gitlab.com/a/b/-/merge_requests/1", "https://codeberg.org/a/b/pulls/1"};

	for (size_t i = 0; i < COUNT(urls); i++) {
		struct view_call c = {.url = urls[i]};

		assert_int_equal(in_bin(view, &c), 0);
		assert_null(c.view.tool);
	}
}

/* The form of another forge does not save a pull request from being verified. */
GIT_TEST(a_program_that_knows_the_host_knows_no_form_of_another_forge)
{
	struct view_call c = {.url = "https://ghe.example/a/b/pulls/1"};

	lay_tool("gh", "Logged in\n", "", 0);
	assert_int_equal(in_bin(view, &c), 0);
	assert_string_equal(c.view.tool, "gh");
	assert_true(c.view.missing);
	assert_sh("cut -d'|' -f1 args", "auth status --hostname ghe.example\n");
	lay_tool("gh", "", "You are not logged into any accounts on ghe.example\n", 1);
	assert_int_equal(in_bin(view, &c), 0);
	assert_null(c.view.tool);
}

TEST(the_host_of_a_remote_tells_the_program)
{
	assert_string_equal(forge_program(STR("git@github.com:a/b.git")), "gh");
	assert_string_equal(forge_program(STR("https://gitlab.corp/a/b.git")), "glab");
	assert_string_equal(forge_program(STR("git@codeberg.org:a/b.git")), "");
	assert_string_equal(forge_program(STR("o@vs-ssh.visualstudio.com:v3/o/p/r")), "");
	assert_null(forge_program(STR("git@git.example:a/b.git")));
	assert_null(forge_program(STR("/srv/github.com/a/b.git")));
}

GIT_TEST(a_missing_pull_request_is_not_a_failure_of_the_program)
{
	static const char *const missing[] = {
		"GraphQL: Could not resolve to a PullRequest with the number of 99.",
		"no pull requests found for branch", "HTTP 404: Not Found",
		"GET https://h/api/v4/projects/a%2Fb/merge_requests/9: 404 {404 Not found}"};
	struct view_call c = {.url = "https://github.com/a/b/pull/99"};

	for (size_t i = 0; i < COUNT(missing); i++) {
		lay_tool("gh", "", missing[i], 1);
		assert_int_equal(in_bin(view, &c), 0);
		assert_true(c.view.missing);
	}
	lay_tool("gh", "", "error connecting to api.github.com: could not resolve host\n", 1);
	assert_int_equal(in_bin(view, &c), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(err.text,
		"'gh' failed: error connecting to api.github.com: could not resolve host");
}

/* ---- checks ---- */

struct checks_call {
	const char *url;
	char *text;
	struct forge_checks checks;
};

static int read_checks(void *data)
{
	struct checks_call *c = data;

	return forge_checks(&arena, at("r"), c->url ? c->url : "https://github.com/o/r/pull/7",
		&c->checks, &err);
}

static void assert_checks(const char *out, const char *errors, int status,
	enum forge_checks_state state, const char *failed)
{
	struct checks_call c = {0};

	lay_tool("gh", out, errors, status);
	assert_int_equal(in_bin(read_checks, &c), 0);
	assert_int_equal(c.checks.state, state);
	assert_string_equal(c.checks.tool, "gh");
	assert_string_equal(c.checks.failed, failed);
}

GIT_TEST(failed_checks_are_the_lines_that_say_so)
{
	setenv("GH_TOKEN", "t0ken", 1);
	assert_checks("build\tfail\t1m\thttps://x/1\nlint\tpass\t2s\thttps://x/2\nfail\tpass"
		      "\t1s\tu\ne2e\tcancel\t0\tu\n",
		"", 1, FORGE_CHECKS_FAILED, "build\tfail\t1m\thttps://x/1\ne2e\tcancel\t0\tu");
	assert_sh("cat args", "pr checks https://github.com/o/r/pull/7|t0ken\n");
	unsetenv("GH_TOKEN");
	assert_checks("build\tfail\t1m\tu\nlint\tpending\t0\tu\n", "", 1, FORGE_CHECKS_PENDING,
		"build\tfail\t1m\tu");
}

GIT_TEST(passing_pending_and_missing_checks_are_no_failures)
{
	struct checks_call c = {.url = "https://codeberg.org/o/r/pulls/1"};

	assert_checks("build\tpass\t1m\tu\n", "", 0, FORGE_CHECKS_PASSED, "");
	assert_checks("build\tpending\t0\tu\n", "", 8, FORGE_CHECKS_PENDING, "");
	assert_checks("", "no checks reported on the 'dev-team/ADR-1' branch\n", 1,
		FORGE_CHECKS_NONE, "");
	sh("rm bin/gh");
	for (; c.url; c.url = strstr(c.url, "codeberg") ? "https://github.com/o/r/pull/7" : NULL) {
		assert_int_equal(in_bin(read_checks, &c), 0);
		assert_null(c.checks.tool);
		assert_int_equal(c.checks.state, FORGE_CHECKS_NONE);
		assert_string_equal(c.checks.failed, "");
	}
}

GIT_TEST(the_pipeline_of_the_head_is_the_check_of_a_merge_request)
{
	static const struct {
		const char *pipeline;
		enum forge_checks_state state;
	} rows[] = {{"null", FORGE_CHECKS_NONE},
		{"{\"id\":1,\"status\":\"success\"}", FORGE_CHECKS_PASSED},
		{"{\"id\":1,\"status\":\"skipped\"}", FORGE_CHECKS_PASSED},
		{"{\"id\":1,\"status\":\"waiting_for_resource\"}", FORGE_CHECKS_PENDING},
		{"{\"id\":1,\"status\":\"canceled\",\"web_url\":\"https://x/1\"}",
			FORGE_CHECKS_FAILED}};
	struct checks_call c = {.url = "https://gitlab.com/g/s/r/-/merge_requests/7"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lay_tool("glab",
			arena_printf(&arena,
				"{\"iid\":7,\"state\":\"opened\",\"pipeline\":null,\"head_"
				"pipeline\":%s}\n",
				rows[i].pipeline),
			"", 0);
		assert_int_equal(in_bin(read_checks, &c), 0);
		assert_int_equal(c.checks.state, rows[i].state);
	}
	assert_string_equal(c.checks.failed, "pipeline\tcanceled\thttps://x/1");
	assert_sh("cat args", "mr view 7 --output json --repo https://gitlab.com/g/s/r|\n");
	lay_tool("glab", "", "GET https://gitlab.com/api: 401 {message: 401 Unauthorized}\n", 1);
	assert_int_equal(in_bin(read_checks, &c), -1);
	assert_string_equal(err.text,
		"'glab mr view' failed: GET https://gitlab.com/api: 401 {message: 401 "
		"Unauthorized}");
}

GIT_TEST(a_gh_that_fails_is_reported)
{
	struct checks_call c = {0};

	lay_tool("gh", "", "To get started, please run: gh auth login\n", 4);
	assert_int_equal(in_bin(read_checks, &c), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(
		err.text, "'gh pr checks' failed: To get started, please run: gh auth login");
}

/* ---- comments ---- */

static int read_comments(void *data)
{
	struct checks_call *c = data;

	return forge_open_comments(
		&arena, at("r"), c->url ? c->url : "https://github.com/o/r/pull/7", &c->text, &err);
}

/* A comment of `n` bytes. */
static const char *comment(unsigned id, int n, const char *more)
{
	return arena_printf(&arena,
		"{\"url\":\"https://github.com/o/r/pull/7#issuecomment-%u\",\"body\":\"%0*d\","
		"\"author\":null}%s",
		id, n, 0, more);
}

GIT_TEST(comments_are_cut_and_counted)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct checks_call c = {0};

	buf_adds(&out, "{\"data\":{\"repository\":{\"pullRequest\":{\"comments\":{\"nodes\":[");
	for (unsigned i = 1; i <= 9; i++)
		buf_adds(&out, comment(i, 2000, i < 9 ? "," : "]}}}}}"));
	lay_tool("gh", out.s, "", 0);
	assert_int_equal(in_bin(read_comments, &c), 0);
	assert_true(strlen(c.text) < 9000);
	assert_non_null(
		strstr(c.text, "https://github.com/o/r/pull/7#issuecomment-1: ? (?)\n> 00"));
	assert_non_null(strstr(c.text, "0\n(It is longer.)\n"));
	assert_non_null(strstr(c.text, "issuecomment-4: "));
	assert_null(strstr(c.text, "issuecomment-5: "));
	assert_non_null(strstr(c.text, "\n(5 more are on the pull request.)"));
}

/* An answer names the whole id. */
GIT_TEST(a_comment_is_answered_by_its_own_id_alone)
{
	struct checks_call c = {0};

	lay_tool("gh",
		arena_printf(&arena,
			"{\"data\":{\"repository\":{\"pullRequest\":{\"comments\":{\"nodes\":[%s%s"
			"{\"url\":\"u4\",\"body\":\"<!-- dev-team: 112, 2 -->\"}]}}}}}",
			comment(1, 1, ","), comment(2, 1, ",")),
		"", 0);
	assert_int_equal(in_bin(read_comments, &c), 0);
	assert_string_equal(c.text, "https://github.com/o/r/pull/7#issuecomment-1: ? (?)\n> 0");
}

GIT_TEST(comments_are_not_asked_without_gh_or_of_another_forge)
{
	struct checks_call c = {.url = "https://gitlab.example/o/r/-/merge_requests/1"};

	lay_tool("gh", "no JSON", "", 0);
	assert_int_equal(in_bin(read_comments, &c), 0);
	assert_null(c.text);
	c.url = NULL;
	assert_int_equal(in_bin(read_comments, &c), -1);
	assert_string_equal(err.text, "'gh api graphql' printed no JSON");
	lay_tool("gh", "", "HTTP 401\n", 1);
	assert_int_equal(in_bin(read_comments, &c), -1);
	assert_string_equal(err.text, "'gh api graphql' failed: HTTP 401");
	sh("rm bin/gh");
	assert_int_equal(in_bin(read_comments, &c), 0);
	assert_null(c.text);
}
