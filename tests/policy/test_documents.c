#include "src/policy/binary.h"
#include "tests/lib/scratch.h"

static struct policy parsed(const char *text)
{
	struct error err = {0};
	struct policy p;

	if (policy_parse(&arena, "a.yaml", str_of(text), &p, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return p;
}

static void assert_refused(const char *text, const char *message)
{
	struct error err = {0};
	struct policy p;

	if (policy_parse(&arena, "a.yaml", str_of(text), &p, &err) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(err.code, ERR_INPUT);
	assert_error(&err, message);
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

TEST(every_refusal_has_its_place)
{
	static const char *const cases[][2] = {
		{"", "a.yaml:1:1: 'allow' is missing"},
		{"- ls\n", "a.yaml:1:1: a policy must be a map, not a list"},
		{"allow: [ls]\nwirte: true\n", "a.yaml:2:1: unknown key 'wirte'"},
		{"allow: [ls]\n? \"\\e[31m\"\n: x\n", "a.yaml:2:3: unknown key '\\x1b[31m'"},
		{"allow: [ls]\nwrite: true\nwrite: true\n", "a.yaml:3:1: duplicate key 'write'"},
		{"allow: [ls]\nwrite: yes\n",
			"a.yaml:2:8: 'write' must be true or false, not 'yes'"},
		{"allow: [ls]\nwrite: 'true'\n",
			"a.yaml:2:8: 'write' must be true or false, not 'true'"},
		{"allow: [ls]\nnetwork:\n",
			"a.yaml:2:9: 'network' must be true or false, not nothing"},
		{"allow: ls\n", "a.yaml:1:8: 'allow' must be a list, not 'ls'"},
		{"allow: [ls, cat, ls]\n", "a.yaml:1:18: 'allow' names 'ls' twice"},
		{"allow: [./ls]\n",
			"a.yaml:1:9: 'allow' must be the plain name of a program, not './ls'"},
		{"allow: [/bin/ls]\n",
			"a.yaml:1:9: 'allow' must be the plain name of a program, not '/bin/ls'"},
		{"allow: [ls, '']\n",
			"a.yaml:1:13: 'allow' must be the plain name of a program, not ''"},
		{"allow: [ls, ~]\n",
			"a.yaml:1:13: 'allow' must be the plain name of a program, not nothing"},
		{"allow: [ls, .]\n",
			"a.yaml:1:13: 'allow' must be the plain name of a program, not '.'"},
		{"allow: [ls, [cat]]\n",
			"a.yaml:1:13: 'allow' must be the plain name of a program, not a list"},
		{"allow: [g\xd1\x96t]\n", "a.yaml:1:9: 'allow' must be the plain name of a "
					  "program, not 'g\\xd1\\x96t'"},
		{"allow: [ls]\nname: a b\n", "a.yaml:2:7: 'name' must be 1 to 64 letters, digits "
					     "and '.', '_', '+', '-' inside, not 'a b'"},
		{"allow: [ls]\nname: [a]\n", "a.yaml:2:7: 'name' must be 1 to 64 letters, digits "
					     "and '.', '_', '+', '-' inside, not a list"},
		{"allow: [ls]\ngit: status\n", "a.yaml:2:6: 'git' must be a list, not 'status'"},
		{"allow: [ls]\ngit: [-c]\n",
			"a.yaml:2:7: 'git' must be the name of a git command, not '-c'"},
		{"allow: [ls]\ngit: [a b c]\n",
			"a.yaml:2:7: 'git' must be the name of a git command, not 'a b c'"},
		{"allow: [ls]\ngit_config: [name]\n",
			"a.yaml:2:14: 'git_config' must be a key of git's "
			"configuration, like 'user.name', not 'name'"},
		{"allow: [ls]\ngit_config: [user.name=x]\n",
			"a.yaml:2:14: 'git_config' must be a key of git's "
			"configuration, like 'user.name', not 'user.name=x'"},
		{"allow: [ls]\nenvironment: [LD_PRELOAD]\n",
			"a.yaml:2:15: 'environment' must be the name of a "
			"variable that commands may set, not 'LD_PRELOAD'"},
		{"allow: [ls]\nenvironment: [PATH]\n",
			"a.yaml:2:15: 'environment' must be the name of a variable "
			"that commands may set, not 'PATH'"},
		{"allow: [ls]\nenvironment: [1A]\n",
			"a.yaml:2:15: 'environment' must be the name of a variable that "
			"commands may set, not '1A'"},
		{"allow: [ls]\nread: [usr]\n",
			"a.yaml:2:8: 'read' must be an absolute path without '.' and "
			"'..', below neither /proc, /dev nor /sys, not 'usr'"},
		{"allow: [ls]\nread: [/]\n",
			"a.yaml:2:8: 'read' must be an absolute path without '.' and "
			"'..', below neither /proc, /dev nor /sys, not '/'"},
		{"allow: [ls]\nread: [/proc/1]\n",
			"a.yaml:2:8: 'read' must be an absolute path without '.' "
			"and '..', below neither /proc, /dev nor /sys, not '/proc/1'"},
		{"allow: [ls]\nread: [/usr/../etc]\n",
			"a.yaml:2:8: 'read' must be an absolute path without "
			"'.' and '..', below neither /proc, /dev nor /sys, not '/usr/../etc'"},
		{"allow: [ls]\nprotect: [/etc]\n",
			"a.yaml:2:11: 'protect' must be a path relative to the root, "
			"without '.' and '..', not '/etc'"},
		{"allow: [ls]\nscripts: [../x]\n",
			"a.yaml:2:11: 'scripts' must be a path relative to the root, "
			"without '.' and '..', not '../x'"},
		{"allow: [ls]\nprograms: [x]\n",
			"a.yaml:2:11: 'programs' must be a map, not a list"},
		{"allow: [ls]\nprograms:\n  x: {option: ''}\n",
			"a.yaml:3:7: unknown key 'option': must be 'options', 'operands' or "
			"'runs_code'"},
		{"allow: [ls]\nprograms:\n  a/b: {}\n",
			"a.yaml:3:3: name 'a/b' must be the plain name of a program"},
		{"allow: [ls]\nlimits: 5\n", "a.yaml:2:9: 'limits' must be a map, not '5'"},
		{"allow: [ls]\nlimits: {cpus: 5}\n", "a.yaml:2:10: unknown key 'cpus'"},
		{"allow: [ls]\nlimits: {timeout: 0}\n", "a.yaml:2:19: 'timeout' must be a whole "
							"number from 1 to 86400, or none, not '0'"},
		{"allow: [ls]\nlimits: {cpu: 86401}\n", "a.yaml:2:15: 'cpu' must be a whole number "
							"from 1 to 86400, or none, not '86401'"},
		{"allow: [ls]\nlimits: {timeout: 1m}\n",
			"a.yaml:2:19: 'timeout' must be a whole number from 1 to 86400, or none, "
			"not '1m'"},
		{"allow: [ls]\nlimits: {processes: -1}\n",
			"a.yaml:2:21: 'processes' must be a whole number from 1 to 1000000, or "
			"none, not '-1'"},
		{"allow: [ls]\nlimits: {open_files: 99999999999999999999}\n",
			"a.yaml:2:22: 'open_files' must be a whole number from 1 to 1000000, or "
			"none, not "
			"'99999999999999999999'"},
		{"allow: [ls]\nlimits: {memory: 1T}\n",
			"a.yaml:2:18: 'memory' must be bytes, like 65536, 64K, 512M or 2G, at most "
			"1048576G, or none, not '1T'"},
		{"allow: [ls]\nlimits: {output: M}\n",
			"a.yaml:2:18: 'output' must be bytes, like 65536, 64K, 512M or 2G, at most "
			"1048576G, or none, not 'M'"},
		{"allow: [ls]\nlimits: {file_size: 1048577G}\n",
			"a.yaml:2:21: 'file_size' must be bytes, like 65536, 64K, 512M or 2G, at "
			"most 1048576G, or none, not '1048577G'"},
		{"allow: [ls]\nkernel: {lndlock: off}\n",
			"a.yaml:2:10: unknown key 'lndlock': must be 'landlock', 'seccomp', "
			"'processes', 'network', 'mounts' or 'cgroup'"},
		{"allow: [ls]\nkernel: {seccomp: maybe}\n",
			"a.yaml:2:19: 'seccomp' must be 'best_effort', 'require' or 'off', not "
			"'maybe'"},
		{"allow: [ls]\nviolation: abort\n", "a.yaml:2:12: 'violation' must be 'hard_abort' "
						    "or 'validation_fail', not 'abort'"},
		{"allow: [ls]\nuser: {uid: 5}\n", "a.yaml:2:7: 'gid' is missing"},
		{"allow: [ls]\nuser: {uid: 0, gid: 5}\n",
			"a.yaml:2:13: 'uid' must be a whole number from 1 to 4294967294, not '0'"},
		{"allow: [ls, nonesuch]\n", "a.yaml:1:13: nothing is known of the program "
					    "'nonesuch': describe it under "
					    "'programs'"},
		{"allow: [ls, bash]\n",
			"a.yaml:1:13: nothing is known of the program 'bash': describe it under "
			"'programs'"},
		{"allow: [find]\nprograms:\n  find: {}\n",
			"a.yaml:3:3: the program 'find' has rules of its own: they cannot be "
			"replaced"},
		{"allow: [cd]\nprograms:\n  cd: {}\n", "a.yaml:3:3: the program 'cd' has rules of "
						       "its own: they cannot be replaced"},
		{"allow: [x]\nprograms:\n  x: {options: \"-a:nonesuch\"}\n",
			"a.yaml:3:3: program 'x': unknown kind 'nonesuch'"},
		{"allow: &x [ls]\n", "a.yaml:1:8: anchors and tags are not allowed"},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_refused(cases[i][0], cases[i][1]);
}

static struct policy row(const char *text, struct error *err, int *rc)
{
	CLEANUP(json_free) json *j = NULL;
	struct policy p = {0};

	assert_int_equal(json_parse(&j, str_of(text), err), 0);
	*rc = policy_from_json(&arena, j, &p, err);
	return p;
}

TEST(a_row_of_a_table_is_read_as_a_policy)
{
	struct error err = {0};
	int rc;
	struct policy p =
		row("{\"name\":\"ro\",\"allow\":[\"git\",\"[\",\"ls\"],\"write\":false,"
		    "\"git\":[\"log\",\"diff\"],\"limits\":{\"memory\":\"2G\",\"timeout\":7}}",
			&err, &rc);

	assert_int_equal(rc, 0);
	assert_string_equal(p.name, "ro");
	assert_true(texts_have(&p.allow, STR("[")) && p.git_listed && !p.write);
	assert_int_equal(p.limits.memory, (uint64_t)2 << 30);
	assert_int_equal(p.limits.timeout_s, 7);
	/* Rows are about words: those that leave it out mean no denial by it. */
	assert_true(p.network);
	p = row("{\"allow\":[],\"network\":false}", &err, &rc);
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
	struct error err = {0};
	int rc;

	for (size_t i = 0; i < COUNT(cases); i++) {
		row(cases[i][0], &err, &rc);
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
	struct error err = {0};
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
	struct error err = {0};

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
	struct error err = {0};
	struct policy p;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("allow: [ls]\n", f);
	fclose(f);
	assert_int_equal(policy_load(&arena, path, &p, &err), 0);
	assert_string_equal(p.name, "mine");
	assert_int_equal(policy_load(&arena, "nonesuch", &p, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_error(&err,
		"dev-team: unknown policy 'nonesuch': there are build, developer, readonly "
		"and reviewer, or give the path of a file");
	assert_int_equal(policy_load(&arena, "./none.yaml", &p, &err), -1);
	assert_error(&err, "dev-team: no policy './none.yaml'");
	assert_int_equal(policy_load(&arena, base, &p, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(policy_load(&arena, "", &p, &err), -1);
}

UNIT_GROUP(NULL, arena_end)
