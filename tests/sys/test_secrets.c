#include <fcntl.h>
#include "src/sys/secrets.h"
#include "tests/lib/scratch.h"

TEST(a_variable_name_tells_whether_it_is_secret)
{
	static const struct {
		const char *name;
		bool secret;
	} rows[] = {
		{"ANTHROPIC_API_KEY", true},
		{"OPENAI_API_KEY", true},
		{"GITHUB_TOKEN", true},
		{"ANTHROPIC_AUTH_TOKEN", true},
		{"MYAPIKEY", true},
		{"DB_PASSWORD", true},
		{"PGPASSWORD", true},
		{"aws_secret_access_key", true},
		{"SMTP_PASS", true},
		{"CLIENT_SECRET", true},
		{"GIT_AUTHOR_NAME", false},
		{"MONKEY", false},
		{"HOME", false},
		{"ANTHROPIC_CUSTOM_HEADERS", true},
		{"SSH_AUTH_SOCK", false},
		{"KEYBOARD", false},
		{"PASSAGE", false},
		{"DB_PWD", true},
		{"PWD", false}, /* the working directory */
		{"", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const env[] = {arena_printf(&arena, "%s=value-1", rows[i].name), NULL};
		struct secrets s = {0};

		secrets_add(&arena, &s, env, NULL);
		if (s.n != rows[i].secret)
			fail_msg("'%s'", rows[i].name);
	}
}

TEST(secrets_are_masked)
{
	static const char *const env[] = {"A_KEY=hunter22", "B_TOKEN=hunter22-long",
		"SHORT_KEY=abc", "PLAIN=visible", "C=named-one", NULL};
	static const char *const names[] = {"C", NULL};
	static const struct {
		const char *text, *masked;
	} rows[] = {
		{"", ""},
		{"x hunter22 y", "x **** y"},
		{"xhunter22hunter22y", "x********y"},
		{"hunter22-long", "****"},
		{"abc visible named-one", "abc visible ****"},
		{"key sk-ant-api03-abcdefgh.", "key ****"},
		{"task-force and sk-1", "task-force and sk-1"},
		{"Authorization: Bearer abcdefgh12", "Authorization: Bearer ****"},
		{"bearer of news", "bearer of news"},
		{"https://u:pw@h/x and https://h/u:p", "https://****@h/x and https://h/u:p"},
		{"ghp_0123456789abcdef'", "****'"},
	};
	struct secrets s = {0};

	secrets_add(&arena, &s, env, names);
	secrets_add(&arena, &s, env, NULL);
	assert_int_equal(s.n, 3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;

		secrets_mask(&s, str_of(rows[i].text), &out);
		assert_string_equal(out.s ? out.s : "", rows[i].masked);
	}
}

/* A program seldom prints all lines of such a value. */
TEST(each_line_of_a_secret_is_masked)
{
	static const char *const env[] = {"PEM_KEY=-----BEGIN-----\nMIIEabcd\n-----END-----\n",
		"X_HEADERS=X-Api-Key: value-one\nB: two", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct secrets s = {0};

	secrets_add(&arena, &s, env, NULL);
	secrets_mask(&s, STR("at MIIEabcd, x-api-key=value-one, two"), &out);
	assert_string_equal(out.s, "at ****, x-api-key=****, two");
}

/* Pieces end anywhere. */
SCRATCH_TEST(a_secret_in_a_long_line_of_output_and_behind_one_is_masked)
{
	static const char *const env[] = {"A_KEY=hunter22-long", NULL};
	char *wide = arena_printf(&arena, "%70000s", "");
	struct masked_output m = {.fd = open(at("log"), O_WRONLY | O_CREAT, 0600), .max = 1 << 20};
	char *text;

	secrets_add(&arena, &m.secrets, env, NULL);
	masked_output_add(&m, str_sub(str_of(wide), 0, 65530));
	masked_output_add(&m, STR("hunter22-"));
	masked_output_add(&m, STR("long"));
	masked_output_add(&m, str_of(arena_printf(&arena, "%s\nhunter22-", wide)));
	masked_output_add(&m, STR("long"));
	masked_output_end(&m);
	base_close(&m.fd);
	text = scratch_read("log");
	assert_int_equal(strlen(text), 65530 + 4 + 70000 + 1 + 4);
	assert_string_equal(text + strlen(text) - 6, " \n****");
}

UNIT_GROUP(NULL, arena_end)

TEST(files_of_credentials_are_known_by_their_names)
{
	static const char *const secret[] = {".env", "a/.env", ".env.local", "web/.env.production",
		"id_rsa", ".ssh/id_ed25519", "tls/server.key", "x.pem", ".npmrc", "a/b/.netrc",
		"aws/credentials", "store.p12", ".env-production", ".env~", ".ENV", "prod.env",
		"TLS/Server.PEM", "id_ed25519_sk", "id_rsa_work", ".envs/.local/.django",
		".ssh/config", "apple.p8", ".env.dist", ".env.example.local", "server.key"};
	static const char *const harmless[] = {"", "/", ".env.example", "a/.env.sample",
		".env.template", "id_rsa.example", "env", "environment.c", "id_rsa.pub",
		"src/keys.c", "key", "credentials.c", "my.env.md", "a.env/x", "id_rsa.c",
		"ssh/config", "env.key.md"};

	for (size_t i = 0; i < COUNT(secret); i++)
		if (!secrets_is_file(str_of(secret[i])))
			fail_msg("%s", secret[i]);
	for (size_t i = 0; i < COUNT(harmless); i++)
		if (secrets_is_file(str_of(harmless[i])))
			fail_msg("%s", harmless[i]);
}
