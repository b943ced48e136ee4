#include "src/policy/binary.h"
#include "tests/lib/scratch.h"

static struct error err;

static struct policy parsed(const char *text)
{
	struct policy p;

	if (policy_parse(&arena, "a.yaml", str_of(text), &p, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return p;
}

static void assert_refused(const char *text, const char *message)
{
	struct policy p;

	if (policy_parse(&arena, "a.yaml", str_of(text), &p, &err) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.file, "a.yaml");
	assert_string_equal(
		arena_printf(&arena, "%u:%u: %s", err.line, err.col, err.text), message);
}

TEST(every_key_is_read)
{
	struct policy p = parsed(
		"name: mine\n"
		"allow: [ls, '[', git, lint]\n"
		"write: true\n"
		"network: true\n"
		"git: [status, stash list, push --force]\n"
		"git_config: [user.name, url.https://example.org/.insteadOf]\n"
		"environment: [MODE, X_1]\n"
		"read: [/usr/share/dict, /opt/sdk]\n"
		"protect: [ci, deploy/keys.txt]\n"
		"scripts: [scripts/check]\n"
		"programs:\n"
		"  lint: {options: '-q --fix@write', operands: 'read*', runs_code: true}\n"
		"limits: {timeout: 5, cpu: 4, memory: 512M, file_size: 3K, processes: 9,\n"
		"  open_files: 8, output: 77}\n"
		"kernel: {landlock: require, seccomp: off, mounts: best_effort, cgroup: off}\n"
		"violation: validation_fail\n"
		"user: {uid: 1000, gid: 1001}\n");

	assert_string_equal(p.name, "mine");
	assert_int_equal(p.allow.n, 4);
	assert_string_equal(p.allow.p[0], "[");
	assert_string_equal(p.allow.p[3], "ls");
	assert_true(p.write && p.network && p.git_listed);
	assert_int_equal(p.git.n, 3);
	assert_true(texts_have(&p.git, STR("push --force")));
	assert_string_equal(p.git_config.p[0], "url.https://example.org/.insteadOf");
	assert_string_equal(p.environment.p[1], "X_1");
	assert_string_equal(p.read.p[0], "/opt/sdk");
	assert_string_equal(p.protect.p[1], "deploy/keys.txt");
	assert_string_equal(p.scripts.p[0], "scripts/check");
	assert_int_equal(p.n_programs, 1);
	assert_string_equal(p.programs[0].name, "lint");
	assert_string_equal(p.programs[0].options, "-q --fix@write");
	assert_string_equal(p.programs[0].operands, "read*");
	assert_true(p.programs[0].runs_code);
	assert_int_equal(p.limits.timeout_s, 5);
	assert_int_equal(p.limits.cpu_s, 4);
	assert_int_equal(p.limits.memory, 512 << 20);
	assert_int_equal(p.limits.file_size, 3 << 10);
	assert_int_equal(p.limits.processes, 9);
	assert_int_equal(p.limits.open_files, 8);
	assert_int_equal(p.limits.output, 77);
	assert_int_equal(p.layers[LAYER_LANDLOCK], NEED_REQUIRED);
	assert_int_equal(p.layers[LAYER_SECCOMP], NEED_OFF);
	assert_int_equal(p.layers[LAYER_MOUNTS], NEED_BEST_EFFORT);
	assert_int_equal(p.violation, VIOLATION_VALIDATION_FAIL);
	assert_int_equal(p.uid, 1000);
	assert_int_equal(p.gid, 1001);
}

TEST(what_is_left_out_is_the_careful_choice)
{
	struct policy p = parsed("allow: [ls]\n");

	assert_string_equal(p.name, "a");
	assert_false(p.write || p.network || p.git_listed);
	assert_int_equal(p.limits.timeout_s, 600);
	assert_int_equal(p.limits.cpu_s, 0);
	assert_int_equal(p.limits.memory, 0);
	assert_int_equal(p.limits.processes, 512);
	assert_int_equal(p.limits.output, 16 << 20);
	for (size_t i = 0; i < LAYERS; i++)
		assert_int_equal(p.layers[i], NEED_BEST_EFFORT);
	assert_int_equal(p.violation, VIOLATION_HARD_ABORT);
	assert_int_equal(p.uid, 0);
	p = parsed("allow: []\nlimits: {timeout: none}\ngit: []\n");
	assert_int_equal(p.limits.timeout_s, 0);
	assert_int_equal(p.limits.processes, 512);
	assert_true(p.git_listed && !p.git.n);
}

#define NO_PROGRAM  "'allow' must be the plain name of a program, not "
#define NO_NAME     "'name' must be 1 to 64 letters, digits and '.', '_', '+', '-' inside, not "
#define NO_KEY      "'git_config' must be a key of git's configuration, like 'user.name', not "
#define NO_VARIABLE "'environment' must be the name of a variable that commands may set, not "
#define NO_DIRECTORY                                                                               \
	"'read' must be an absolute path without '.' and '..', below neither /proc, /dev nor "     \
	"/sys, not "
#define RELATIVE " must be a path relative to the root, without '.' and '..', not "
#define SECONDS  " must be a whole number from 1 to 86400, or none, not "
#define MILLIONS " must be a whole number from 1 to 1000000, or none, not "
#define BYTES    " must be bytes, like 65536, 64K, 512M or 2G, at most 1048576G, or none, not "

TEST(every_refusal_has_its_place)
{
	static const char *const cases[][2] = {
		{"", "1:1: 'allow' is missing"},
		{"- ls\n", "1:1: a policy must be a map, not a list"},
		{"allow: ls\n", "1:8: 'allow' must be a list, not 'ls'"},
		{"allow: [ls, cat, ls]\n", "1:18: 'allow' names 'ls' twice"},
		{"allow: [./ls]\n", "1:9: " NO_PROGRAM "'./ls'"},
		{"allow: [/bin/ls]\n", "1:9: " NO_PROGRAM "'/bin/ls'"},
		{"allow: [ls, '']\n", "1:13: " NO_PROGRAM "''"},
		{"allow: [ls, ~]\n", "1:13: " NO_PROGRAM "nothing"},
		{"allow: [ls, .]\n", "1:13: " NO_PROGRAM "'.'"},
		{"allow: [ls, [cat]]\n", "1:13: " NO_PROGRAM "a list"},
		{"allow: [g\xd1\x96t]\n", "1:9: " NO_PROGRAM "'g\\xd1\\x96t'"},
		{"allow: [ls, nonesuch]\n", "1:13: nothing is known of the program 'nonesuch': "
					    "describe it under 'programs'"},
		{"allow: [ls, bash]\n", "1:13: nothing is known of the program 'bash': describe it "
					"under 'programs'"},
		{"allow: [find]\nprograms:\n  find: {}\n",
			"3:3: the program 'find' has rules of its own: they cannot be replaced"},
		{"allow: [cd]\nprograms:\n  cd: {}\n",
			"3:3: the program 'cd' has rules of its own: they cannot be replaced"},
		{"allow: [x]\nprograms:\n  x: {options: \"-a:nonesuch\"}\n",
			"3:3: program 'x': unknown kind 'nonesuch'"},
		{"allow: &x [ls]\n", "1:8: anchors and tags are not allowed"},
	};
	/* Behind a first line with `allow`. */
	static const char *const keys[][2] = {
		{"wirte: true", "2:1: unknown key 'wirte'"},
		{"? \"\\e[31m\"\n: x", "2:3: unknown key '\\x1b[31m'"},
		{"write: true\nwrite: true", "3:1: duplicate key 'write'"},
		{"write: yes", "2:8: 'write' must be true or false, not 'yes'"},
		{"write: 'true'", "2:8: 'write' must be true or false, not 'true'"},
		{"network:", "2:9: 'network' must be true or false, not nothing"},
		{"name: a b", "2:7: " NO_NAME "'a b'"},
		{"name: [a]", "2:7: " NO_NAME "a list"},
		{"git: status", "2:6: 'git' must be a list, not 'status'"},
		{"git: [-c]", "2:7: 'git' must be the name of a git command, not '-c'"},
		{"git: [a b c]", "2:7: 'git' must be the name of a git command, not 'a b c'"},
		{"git_config: [name]", "2:14: " NO_KEY "'name'"},
		{"git_config: [user.name=x]", "2:14: " NO_KEY "'user.name=x'"},
		{"environment: [LD_PRELOAD]", "2:15: " NO_VARIABLE "'LD_PRELOAD'"},
		{"environment: [PATH]", "2:15: " NO_VARIABLE "'PATH'"},
		{"environment: [1A]", "2:15: " NO_VARIABLE "'1A'"},
		{"read: [usr]", "2:8: " NO_DIRECTORY "'usr'"},
		{"read: [/]", "2:8: " NO_DIRECTORY "'/'"},
		{"read: [/proc/1]", "2:8: " NO_DIRECTORY "'/proc/1'"},
		{"read: [/usr/../etc]", "2:8: " NO_DIRECTORY "'/usr/../etc'"},
		{"protect: [/etc]", "2:11: 'protect'" RELATIVE "'/etc'"},
		{"scripts: [../x]", "2:11: 'scripts'" RELATIVE "'../x'"},
		{"programs: [x]", "2:11: 'programs' must be a map, not a list"},
		{"programs:\n  x: {option: ''}",
			"3:7: unknown key 'option': must be 'options', 'operands' or 'runs_code'"},
		{"programs:\n  a/b: {}", "3:3: name 'a/b' must be the plain name of a program"},
		{"limits: 5", "2:9: 'limits' must be a map, not '5'"},
		{"limits: {cpus: 5}", "2:10: unknown key 'cpus'"},
		{"limits: {timeout: 0}", "2:19: 'timeout'" SECONDS "'0'"},
		{"limits: {cpu: 86401}", "2:15: 'cpu'" SECONDS "'86401'"},
		{"limits: {timeout: 1m}", "2:19: 'timeout'" SECONDS "'1m'"},
		{"limits: {processes: -1}", "2:21: 'processes'" MILLIONS "'-1'"},
		{"limits: {open_files: 99999999999999999999}",
			"2:22: 'open_files'" MILLIONS "'99999999999999999999'"},
		{"limits: {memory: 1T}", "2:18: 'memory'" BYTES "'1T'"},
		{"limits: {output: M}", "2:18: 'output'" BYTES "'M'"},
		{"limits: {file_size: 1048577G}", "2:21: 'file_size'" BYTES "'1048577G'"},
		{"kernel: {lndlock: off}",
			"2:10: unknown key 'lndlock': must be 'landlock', 'seccomp', 'processes', "
			"'network', 'mounts' or 'cgroup'"},
		{"kernel: {seccomp: maybe}",
			"2:19: 'seccomp' must be 'best_effort', 'require' or 'off', not 'maybe'"},
		{"violation: abort",
			"2:12: 'violation' must be 'hard_abort' or 'validation_fail', not 'abort'"},
		{"user: {uid: 5}", "2:7: 'gid' is missing"},
		{"user: {uid: 0, gid: 5}",
			"2:13: 'uid' must be a whole number from 1 to 4294967294, not '0'"},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_refused(cases[i][0], cases[i][1]);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_refused(arena_printf(&arena, "allow: [ls]\n%s\n", keys[i][0]), keys[i][1]);
}

static struct policy row(const char *text, int *rc)
{
	CLEANUP(json_free) json *j = NULL;
	struct policy p = {0};

	assert_int_equal(json_parse(&j, str_of(text), &err), 0);
	*rc = policy_from_json(&arena, j, &p, &err);
	return p;
}

TEST(a_row_of_a_table_is_read_as_a_policy)
{
	int rc;
	struct policy p =
		row("{\"name\":\"ro\",\"allow\":[\"git\",\"[\",\"ls\"],\"write\":false,"
		    "\"git\":[\"log\",\"diff\"],\"limits\":{\"memory\":\"2G\",\"timeout\":7}}",
			&rc);

	assert_int_equal(rc, 0);
	assert_string_equal(p.name, "ro");
	assert_true(texts_have(&p.allow, STR("[")) && p.git_listed && !p.write);
	assert_int_equal(p.limits.memory, (uint64_t)2 << 30);
	assert_int_equal(p.limits.timeout_s, 7);
	/* Rows are about words: those that leave it out mean no denial by it. */
	assert_true(p.network);
	p = row("{\"allow\":[],\"network\":false}", &rc);
	assert_false(p.network);
	assert_string_equal(p.name, "row");
}

TEST(a_bad_row_is_refused)
{
	static const char *const cases[][2] = {
		{"{}", "dev-team: 'allow' is missing"},
		{"[]", "dev-team: a policy must be a map, not a list"},
		{"null", "dev-team: a policy must be a map, not nothing"},
		{"{\"allow\":[],\"x\":1}", "dev-team: unknown key 'x'"},
		{"{\"allow\":[],\"write\":\"true\"}",
			"dev-team: 'write' must be true or false, not 'true'"},
		{"{\"allow\":[null]}",
			"dev-team: 'allow' must be the plain name of a program, not nothing"},
		{"{\"allow\":[{\"a\":1}]}",
			"dev-team: 'allow' must be the plain name of a program, not a map"},
	};
	int rc;

	for (size_t i = 0; i < COUNT(cases); i++) {
		row(cases[i][0], &rc);
		assert_int_equal(rc, -1);
		assert_error(&err, cases[i][1]);
	}
}

TEST(texts_are_found_whole_and_only_so)
{
	const char *list[] = {"[", "cat", "git", "gitk", "ls"};
	const struct texts t = {list, COUNT(list)};

	for (size_t i = 0; i < COUNT(list); i++)
		assert_true(texts_have(&t, str_of(list[i])));
	assert_false(texts_have(&t, STR("")));
	assert_false(texts_have(&t, STR("gi")));
	assert_false(texts_have(&t, STR("gitkk")));
	assert_false(texts_have(&t, STR("git\0")));
	assert_false(texts_have(&t, STR("git\0x")));
	assert_false(texts_have(&t, STR("~")));
	assert_true(texts_have(&t, str_sub(STR("gitk"), 0, 3)));
	assert_false(texts_have(&(struct texts){0}, STR("git")));
}

TEST(the_shipped_policies_are_there_under_their_names)
{
	static const char *const names[] = {"build", "developer", "readonly", "reviewer"};
	size_t n = 0;

	for (const char *const *p = policy_shipped(); *p; p++, n++) {
		struct policy got;

		assert_string_equal(*p, names[n]);
		if (policy_load(&arena, *p, &got, &err) < 0)
			fail_msg("%s:%u:%u: %s", err.file, err.line, err.col, err.text);
		assert_string_equal(got.name, *p);
		for (size_t i = 0; i < got.allow.n; i++)
			if (!binary_find(&arena, &got, str_of(got.allow.p[i])))
				fail_msg("%s: no row for '%s'", *p, got.allow.p[i]);
		assert_true(texts_have(&got.allow, STR("git")));
		assert_false(texts_have(&got.allow, STR("bash")));
	}
	assert_int_equal(n, COUNT(names));
	assert_null(policy_shipped_text("nonesuch").p);
}

TEST(only_who_builds_or_edits_may_write)
{
	struct policy p;

	assert_int_equal(policy_load(&arena, "readonly", &p, &err), 0);
	assert_true(
		!p.write && !p.network && p.git_listed && !texts_have(&p.git, STR("ls-remote")));
	assert_int_equal(policy_load(&arena, "reviewer", &p, &err), 0);
	assert_true(!p.write && p.network && texts_have(&p.git, STR("ls-remote")));
	assert_false(texts_have(&p.git, STR("push")) || texts_have(&p.git, STR("fetch")));
	assert_int_equal(policy_load(&arena, "build", &p, &err), 0);
	assert_true(p.write && !p.network && p.layers[LAYER_LANDLOCK] == NEED_REQUIRED);
	assert_int_equal(policy_load(&arena, "developer", &p, &err), 0);
	assert_true(p.write && p.network && !p.git_listed);
}

SCRATCH_TEST(a_policy_is_found_by_name_or_path)
{
	char *path = at("mine.yaml");
	struct policy p;

	scratch_write("mine.yaml", "allow: [ls]\n");
	assert_int_equal(policy_load(&arena, path, &p, &err), 0);
	assert_string_equal(p.name, "mine");
	assert_fails(policy_load(&arena, "nonesuch", &p, &err), err, ERR_INPUT);
	assert_error(&err,
		"dev-team: unknown policy 'nonesuch': there are build, developer, readonly "
		"and reviewer, or give the path of a file");
	assert_int_equal(policy_load(&arena, "./none.yaml", &p, &err), -1);
	assert_error(&err, "dev-team: no policy './none.yaml'");
	assert_fails(policy_load(&arena, base, &p, &err), err, ERR_INPUT);
	assert_int_equal(policy_load(&arena, "", &p, &err), -1);
}

UNIT_GROUP(NULL, arena_end)
