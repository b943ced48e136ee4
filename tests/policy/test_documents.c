/* A policy's keys, and what is refused at its place. */
#include "src/policy/policy.h"
#include "tests/lib/scratch.h"

static struct error err;

static struct policy parsed(const char *text)
{
	struct policy p;

	if (policy_parse(&arena, "p.yaml", str_of(text), &p, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return p;
}

static void assert_refused(const char *text, unsigned line, unsigned col, const char *message)
{
	struct policy p;

	if (policy_parse(&arena, "p.yaml", str_of(text), &p, &err) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.text, message);
	assert_int_equal(err.line, line);
	assert_int_equal(err.col, col);
}

TEST(every_key_is_read)
{
	struct policy p =
		parsed("name: mine\n"
		       "allow: [make, git]\n"
		       "write: true\n"
		       "network: host\n"
		       "environment: [NPM_TOKEN]\n"
		       "read: [/srv/data]\n"
		       "protect: [deploy/keys]\n"
		       "remotes: [origin, fork]\n"
		       "push: ['dev-team/*']\n"
		       "forge: [pr view, 'api repos/{owner}/*']\n"
		       "rules:\n"
		       "  - {command: 'make deploy', answer: ask, instead: ask somebody}\n"
		       "  - {command: 'git push -f|--force'}\n"
		       "limits: {timeout: 5, cpu: 6, memory: 1M, file_size: 2M,\n"
		       "  processes: 7, open_files: 8}\n"
		       "violation: validation_fail\n");

	assert_string_equal(p.name, "mine");
	assert_true(p.allow_listed && texts_have(&p.allow, STR("git")));
	assert_true(p.write && p.network == NETWORK_HOST);
	assert_true(texts_have(&p.environment, STR("NPM_TOKEN")));
	assert_true(texts_have(&p.read, STR("/srv/data")));
	assert_true(texts_have(&p.protect, STR("deploy/keys")));
	assert_true(texts_have(&p.remotes, STR("fork")));
	assert_true(texts_have(&p.push, STR("dev-team/*")));
	assert_true(texts_have(&p.forge, STR("pr view")));
	assert_int_equal(p.n_rules, 2);
	assert_int_equal(p.rules[0].answer, ANSWER_ASK);
	assert_string_equal(p.rules[0].instead, "ask somebody");
	assert_int_equal(p.rules[1].answer, ANSWER_DENY);
	assert_int_equal(p.limits.timeout_s, 5);
	assert_int_equal(p.limits.cpu_s, 6);
	assert_int_equal(p.limits.memory, 1 << 20);
	assert_int_equal(p.limits.file_size, 2 << 20);
	assert_int_equal(p.limits.processes, 7);
	assert_int_equal(p.limits.open_files, 8);
	assert_int_equal(p.violation, VIOLATION_VALIDATION_FAIL);
}

TEST(hosts_are_read)
{
	struct policy p = parsed("hosts: ['*.example.org:8443', a.example, 'localhost:80']\n");

	assert_int_equal(p.hosts.n, 3);
	assert_true(texts_have(&p.hosts, STR("*.example.org:8443")));
}

TEST(an_empty_policy_reads_and_reaches_nothing)
{
	struct policy p = parsed("{}\n");

	assert_string_equal(p.name, "p");
	assert_false(p.allow_listed || p.write || p.network || p.push.n || p.remotes.n ||
		     p.forge.n || p.environment.n);
	assert_int_equal(p.limits.timeout_s, 600);
}

TEST(faults_are_refused_at_their_place)
{
	assert_refused("wirte: true\n", 1, 1, "unknown key 'wirte'");
	assert_refused("network: all\n", 1, 10, "'network' must be 'none' or 'host', not 'all'");
	assert_refused("environment: [PATH]\n", 1, 15,
		"'environment' must be the name of a variable that commands may get, not 'PATH'");
	assert_refused("read: [/proc]\n", 1, 8,
		"'read' must be an absolute path without '.' and '..', below neither /proc, /dev "
		"nor /sys, not '/proc'");
	assert_refused("protect: [../x]\n", 1, 11,
		"'protect' must be a path relative to the root, without '.' and '..', not '../x'");
	assert_refused("push: [':x']\n", 1, 8,
		"'push' must be the name of a branch, or a pattern with '*', not ':x'");
	assert_refused("forge: [merge]\n", 1, 9,
		"'forge' must be a command of gh or glab, like 'pr view', not 'merge'");
	assert_refused("hosts: [localhost]\n", 1, 9,
		"'hosts' must be HOST or HOST:PORT, with a port if it is this machine, not "
		"'localhost'");
	assert_refused("hosts: ['a.example:0']\n", 1, 9,
		"'hosts' must be HOST or HOST:PORT, with a port if it is this machine, not "
		"'a.example:0'");
	assert_refused("hosts: [a.example]\nnetwork: host\n", 1, 8,
		"'hosts' has no effect with 'network: host': remove one of them");
	assert_refused("rules: [{command: '--force push'}]\n", 1, 19,
		"'command' must be a program's name and words, like 'git push --force|-f', not "
		"'--force push'");
	assert_refused("rules: [{answer: ask}]\n", 1, 9, "'command' is missing");
	assert_refused("rules: [{command: x, answer: run}]\n", 1, 30,
		"'answer' must be 'deny' or 'ask', not 'run'");
}

TEST(shipped_policies_are_whole)
{
	static const bool writes[] = {true, true, false, false};
	const char *const *names = policy_shipped();
	struct policy p;

	for (size_t i = 0; names[i]; i++) {
		if (policy_load(&arena, names[i], &p, &err) < 0)
			fail_msg("%s:%u:%u: %s", names[i], err.line, err.col, err.text);
		assert_string_equal(p.name, names[i]);
		assert_int_equal(p.write, writes[i]);
		assert_int_equal(p.network, NETWORK_NONE);
		assert_false(p.allow_listed);
	}
}

UNIT_GROUP(NULL, arena_end)
