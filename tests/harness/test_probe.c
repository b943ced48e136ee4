#include "src/harness/adapter.h"
#include "tests/lib/harness_rig.h"

TEST(versions_lie_in_ranges_or_not)
{
	static const struct {
		const char *version, *range;
		bool in;
	} rows[] = {
		{"2.5.1", ">=2.0.0", true},
		{"1.9.9", ">=2.0.0", false},
		{"2.0.0", ">=2.0.0", true},
		{"10.0.0", ">=9.9.9", true},
		{"2.10.0", ">=2.9.0", true},
		{"2.9.0", ">=2.10.0", false},
		{"2.0.0-beta.1", ">=2.0.0", true},
		{"two-point-oh", ">=2.0.0", false},
		{"v2.0.0", ">=2.0.0", false},
		{" 2.0.0", ">=2.0.0", false},
		{"2.0", ">=2.0.0", false},
		{"2", ">=0.0.0", false},
		{"", ">=0.0.0", false},
		{"2.0.0", ">=2.0", false},
		{"2.0.0", ">=2.0.0-beta", false},
		{"2.0.0", ">=v2.0.0", false},
		{"999999999999999999.0.0", ">=2.0.0", true},
		{"99999999999999999999999.0.0", ">=2.0.0", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (harness_version_in_range(str_of(rows[i].version), str_of(rows[i].range)) !=
			rows[i].in)
			fail_msg("'%s' in '%s'", rows[i].version, rows[i].range);
}

TEST(the_first_version_in_a_text_is_found)
{
	static const struct {
		const char *text, *version;
	} rows[] = {
		{"2.1.329 (Claude Code)\n", "2.1.329"},
		{"codex-cli 0.169.0\n", "0.169.0"},
		{"v20.11.1", "20.11.1"},
		{"about 10.2 then 3.4.5 and 6.7.8", "3.4.5"},
		{"1.2.3.4", "1.2.3"},
		{"1..2.3.4", "2.3.4"},
		{"x1.2.3-rc.1", "1.2.3"},
		{"1.2", NULL},
		{"", NULL},
		{"no version here", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *found = harness_version_find(&arena, str_of(rows[i].text));

		if (rows[i].version)
			assert_string_equal(found, rows[i].version);
		else
			assert_null(found);
	}
}

static const struct harness own = {
	.name = "own", .binary = "own", .range = ">=2.0.0", .install = "make install"};

TEST(a_probe_has_five_outcomes_and_a_good_one)
{
	static const struct {
		const char *script, *outcome, *detail;
	} rows[] = {
		{"echo 2.1.0", "true - 2.1.0", NULL},
		{"echo 'own 2.1.0-beta'; exit 0", "true - 2.1.0", NULL},
		{"echo 1.8.2", "false version-out-of-range 1.8.2",
			"own 1.8.2 installed, adapter requires >=2.0.0; make install"},
		{"echo hello", "true probe-failed -",
			"'own --version' printed no version: 'hello'"},
		{"exit 0", "true probe-failed -", "'own --version' printed no version: ''"},
		{"echo 2.1.0 >&2", "true probe-failed -", NULL},
		{"printf '\\377\\n'", "true probe-failed -",
			"'own --version' printed no version: '?'"},
		{"echo 2.1.0; exit 2", "false probe-failed -",
			"'own --version' ended with exit status 2"},
		{"echo 2.1.0; kill -11 $$", "false probe-failed -",
			"'own --version' was killed by signal 11"},
		{"sleep 1000 & echo 2.1.0", "true - 2.1.0", NULL},
		{"echo 2.1.0; yes | head -c 3000000", "true - 2.1.0", NULL},
		{"[ \"$*\" = --version ] && echo 2.1.0", "true - 2.1.0", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		stand_in("own", rows[i].script);
		assert_string_equal(harness_probed(&own, WAIT_LIMIT_S), rows[i].outcome);
		if (rows[i].detail)
			assert_string_equal(harness_seen.detail, rows[i].detail);
	}
}

TEST(a_probe_that_hangs_is_ended)
{
	static const char *const scripts[] = {"echo 2.1.0; exec sleep 1000",
		"trap '' TERM; echo 2.1.0; while :; do sleep 1; done"};

	for (size_t i = 0; i < COUNT(scripts); i++) {
		stand_in("own", scripts[i]);
		assert_string_equal(harness_probed(&own, 1), "false probe-failed -");
		assert_string_equal(harness_seen.detail, "'own --version' did not end within 1 s");
	}
}

TEST(what_is_not_there_or_may_not_be_run_is_told)
{
	no_stand_in("own");
	assert_string_equal(harness_probed(&own, WAIT_LIMIT_S), "false binary-missing -");
	assert_string_equal(harness_seen.detail, "no 'own' on PATH; make install");
	tree_write(stand_in_path("own"), STR("#!/bin/sh\necho 2.1.0\n"));
	assert_int_equal(chmod(stand_in_path("own"), 0644), 0);
	assert_string_equal(harness_probed(&own, WAIT_LIMIT_S), "false probe-failed -");
	assert_string_equal(harness_seen.detail, "'own' is not executable; make install");
	tree_write(stand_in_path("own"), STR("#!/no/such/interpreter\n"));
	assert_int_equal(chmod(stand_in_path("own"), 0755), 0);
	assert_string_equal(harness_probed(&own, WAIT_LIMIT_S), "false probe-failed -");
	no_stand_in("own");
	tree_mkdirs(stand_in_path("own"));
	assert_string_equal(harness_probed(&own, WAIT_LIMIT_S), "false binary-missing -");
	assert_int_equal(rmdir(stand_in_path("own")), 0);
}

static const char *needs_a_key(struct arena *a, const char *const *env, unsigned seconds)
{
	(void)a, (void)seconds;
	return harness_env_get(env, "OWN_KEY") ? NULL : "no key";
}

TEST(a_health_check_follows_a_good_version)
{
	static const char *const keys[] = {"OWN_KEY", NULL};
	const struct harness keyed = {.name = "own",
		.binary = "own",
		.range = ">=1.0.0",
		.install = "-",
		.credentials = keys,
		.health = needs_a_key};
	const struct harness no_program = {
		.name = "api", .credentials = keys, .health = needs_a_key};

	stand_in("own", "echo 1.0.0");
	assert_string_equal(
		harness_probed(&keyed, WAIT_LIMIT_S), "false health-check-failed 1.0.0");
	assert_string_equal(
		harness_probed(&no_program, WAIT_LIMIT_S), "false health-check-failed -");
	setenv("OWN_KEY", "value", 1);
	assert_string_equal(harness_probed(&keyed, WAIT_LIMIT_S), "true - 1.0.0");
	assert_string_equal(harness_probed(&no_program, WAIT_LIMIT_S), "true - -");
	unsetenv("OWN_KEY");
}

TEST(a_probe_gets_no_keys_and_tells_none)
{
	setenv("ANTHROPIC_API_KEY", "the-secret-value", 1);
	stand_in("claude", "echo \"key ${ANTHROPIC_API_KEY-none} the-secret-value\"");
	assert_string_equal(
		harness_probed(&harness_claude_code, WAIT_LIMIT_S), "true probe-failed -");
	assert_string_equal(
		harness_seen.detail, "'claude --version' printed no version: 'key none ****'");
	unsetenv("ANTHROPIC_API_KEY");
}

TEST(it_is_asked_once_a_process)
{
	stand_in("codex", "echo x >>calls; echo 0.200.0");
	assert_true(harness_available(&harness_codex)->available);
	no_stand_in("codex");
	assert_true(harness_available(&harness_codex)->available);
	assert_string_equal(harness_available(&harness_codex)->version, "0.200.0");
	assert_string_equal(scratch_read("calls"), "x\n");
}

static const char *account(const struct harness *h)
{
	const char *id;

	assert_int_equal(harness_account(&arena, h, &id, &harness_err), 0);
	return id ? id : "none";
}

TEST(an_account_is_named_one_way)
{
	assert_string_equal(account(&harness_codex), "none");
	assert_string_equal(account(&harness_claude_code), "none");
	setenv("OPENAI_API_KEY", "sk-fake", 1);
	assert_string_equal(account(&harness_codex), "fe6b83c7ae505699");
	setenv("OPENAI_API_KEY", "shared-key", 1);
	setenv("ANTHROPIC_API_KEY", "shared-key", 1);
	assert_string_equal(account(&harness_claude_code), "4ce6ca8525a7c88b");
	assert_string_equal(account(&harness_codex), "66fabef0f61fad4d");
	setenv("ANTHROPIC_API_KEY", "", 1);
	setenv("CLAUDE_CODE_API_KEY", "sk-cc-fake", 1);
	setenv("ANTHROPIC_AUTH_TOKEN", "later", 1);
	assert_string_equal(account(&harness_claude_code), "7b4fbf16d87cf046");
	setenv("OPENAI_API_KEY", "", 1);
	setenv("CODEX_API_KEY", "sk-fake", 1);
	assert_string_equal(account(&harness_codex), "fe6b83c7ae505699");
	unsetenv("OPENAI_API_KEY");
	unsetenv("CODEX_API_KEY");
	unsetenv("ANTHROPIC_API_KEY");
	unsetenv("CLAUDE_CODE_API_KEY");
	unsetenv("ANTHROPIC_AUTH_TOKEN");
}

/* As the client writes it. */
static void log_in(const char *text)
{
	scratch_write("home/.claude.json", text);
}

TEST(a_login_without_a_key_names_the_account)
{
	static const char *const unknown[] = {"", "{", "{}", "[]", "{\"oauthAccount\":null}",
		"{\"oauthAccount\":{\"accountUuid\":7}}"};
	const char *first;

	setenv("HOME", at("home"), 1);
	for (size_t i = 0; i < COUNT(unknown); i++) {
		log_in(unknown[i]);
		assert_string_equal(account(&harness_claude_code), "none");
	}
	log_in("{\"numStartups\":3,\"oauthAccount\":{\"accountUuid\":\"a-1\","
	       "\"emailAddress\":\"ada@host.example\",\"organizationUuid\":\"o-1\"}}");
	first = account(&harness_claude_code);
	assert_string_equal(first, "cb0499c2fb25d51f");
	log_in("{\"oauthAccount\":{\"accountUuid\":\"a-1\",\"organizationUuid\":\"o-2\"}}");
	assert_string_not_equal(account(&harness_claude_code), first);
	setenv("CLAUDE_CONFIG_DIR", at("other"), 1);
	assert_string_equal(account(&harness_claude_code), "none");
	unsetenv("CLAUDE_CONFIG_DIR");
	setenv("ANTHROPIC_API_KEY", "shared-key", 1);
	assert_string_equal(account(&harness_claude_code), "4ce6ca8525a7c88b");
	unsetenv("ANTHROPIC_API_KEY");
}

TEST(names_are_found_or_the_others_told)
{
	const struct harness *h;
	enum harness_capability c;

	for (size_t i = 0; harness_all[i]; i++) {
		assert_int_equal(harness_find(harness_all[i]->name, &h, &harness_err), 0);
		assert_ptr_equal(h, harness_all[i]);
		assert_true(
			!h->binary || harness_version_in_range(STR("999.0.0"), str_of(h->range)));
	}
	assert_fails(harness_find("mystery-harness", &h, &harness_err), harness_err, ERR_INPUT);
	assert_memory_equal(harness_err.text,
		"unknown harness 'mystery-harness': one of claude-code, codex", 60);
	assert_int_equal(harness_find("inherit", &h, &harness_err), -1);
	assert_int_equal(harness_find("", &h, &harness_err), -1);
	for (int i = 0; i < HARNESS_CAPABILITIES; i++) {
		assert_true(harness_capability_find(harness_capability_names[i], &c));
		assert_int_equal(c, i);
	}
	assert_false(harness_capability_find("telepathy", &c));
}

TEST(models_are_listed_or_of_a_family)
{
	assert_true(harness_takes_model(&harness_claude_code, "claude-opus-4-7[1m]"));
	assert_true(harness_takes_model(&harness_claude_code, "claude-opus-9"));
	assert_false(harness_takes_model(&harness_claude_code, "gpt-5"));
	assert_false(harness_takes_model(&harness_codex, "claude-sonnet-4-6"));
	assert_true(harness_takes_model(&harness_codex, "gpt-9-codex"));
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
