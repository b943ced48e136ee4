#include <math.h>
#include "src/review/classifier.h"
#include "tests/lib/scratch.h"

enum { T = 1 << REVIEW_TESTING, C = 1 << REVIEW_CRITIC, S = 1 << REVIEW_SECURITY, ALL = T | C | S };

static unsigned set_of(const struct classification *c)
{
	unsigned set = 0;

	for (int r = 0; r < REVIEWERS; r++)
		set |= c->chosen[r] ? 1U << r : 0;
	return set;
}

/* Paths with a blank between them; %20 is a blank in one. */
static struct change_stats change(const char *paths, unsigned traits)
{
	const char **list = arena_alloc(&arena, 32 * sizeof(*list));
	unsigned *bits = arena_alloc(&arena, 32 * sizeof(*bits));
	struct str rest = str_of(paths);
	size_t n = 0;

	while (rest.n) {
		size_t end = str_find(rest, STR(" "));
		char *name = arena_dup(&arena, str_sub(rest, 0, end));

		for (char *p; (p = strstr(name, "%20"));) {
			*p = ' ';
			memmove(p + 1, p + 3, strlen(p + 3) + 1);
		}
		list[n] = name;
		bits[n++] = traits;
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return (struct change_stats){.paths = list, .traits = bits, .files = n};
}

static struct classification ruled(const char *paths)
{
	struct change_stats s = change(paths, 0);
	struct classification c;

	classifier_apply_rules(&arena, &s, &c);
	return c;
}

TEST(no_file_needs_nobody)
{
	struct classification c = ruled("");

	assert_int_equal(set_of(&c), 0);
	assert_true(c.confident && c.confidence >= 1);
}

struct row {
	const char *paths;
	unsigned set;
	double confidence;
	bool opus;
};

static void assert_row(const struct row *row)
{
	struct classification c = ruled(row->paths);
	bool opus = c.model_override[REVIEW_SECURITY] &&
		    strcmp(c.model_override[REVIEW_SECURITY], "opus") == 0;

	if (set_of(&c) != row->set || opus != row->opus || !c.confident ||
		fabs(c.confidence - row->confidence) > 1e-9)
		fail_msg("%s: set %u opus %d confidence %g", row->paths, set_of(&c), opus,
			c.confidence);
	for (int r = 0; r < REVIEWERS; r++)
		assert_int_equal(!!c.rationale[r], c.chosen[r]);
}

static void assert_rows(
	const char *const *paths, size_t n, unsigned set, double confidence, bool opus)
{
	for (size_t i = 0; i < n; i++)
		assert_row(&(struct row){paths[i], set, confidence, opus});
}

TEST(the_rules_choose_by_what_the_paths_are)
{
	static const struct row rows[] = {
		{"README.md docs/intro.md", C, .95, false},
		{"docs/a.PNG docs/b.svg LICENSE.txt CHANGES.rst logo.gif", C, .95, false},
		{"src/auth/session.ts", ALL, .99, true},
		{"package.json", S | C, .9, false},
		{"package-lock.json", S | C, .9, false},
		{"requirements.txt", S | C, .9, false},
		{"pnpm-lock.yaml yarn.lock Cargo.lock poetry.lock Pipfile.lock", S | C, .9, false},
		{"Gemfile.lock", S | C, .9, false},
		{"composer.lock", S | C, .9, false},
		{"go.sum", S | C, .9, false},
		{"bun.lockb", S | C, .9, false},
		{"web/app/package-lock.json", S | C, .9, false},
		{".github/workflows/ci.yml", S | C, .9, false},
		{".circleci/config.yml", S | C, .9, false},
		{".gitlab-ci.yml", S | C, .9, false},
		{"Jenkinsfile", S | C, .9, false},
		{"azure-pipelines.yml", S | C, .9, false},
		{"README.md go.sum", S | C, .9, false},
		{"src/index.ts", ALL, .8, false},
		{"src/index.ts README.md", ALL, .8, false},
		{"docs/install.sh", ALL, .8, false},
		{"docs/Dockerfile", ALL, .8, false},
		{"docs/Dockerfile.md", ALL, .8, false},
		{"docs/.env", ALL, .99, true},
		{"docs/.env.local", ALL, .99, true},
		{"docs/private-key.pem", ALL, .99, true},
		{"docs/signing.key", ALL, .99, true},
		{"src/oauth/provider.ts", ALL, .99, true},
		{"src/login.ts", ALL, .99, true},
		{"src/tokens.ts", ALL, .99, true},
		{"src/password-reset.ts", ALL, .99, true},
		{"src/signup/handler.ts", ALL, .99, true},
		{"src/crypto/aes.c src/iam/role.tf src/jwt.go lib/rbac.rb", ALL, .99, true},
		{"config/secrets.yml", ALL, .99, true},
		{"lib/credentials.rb", ALL, .99, true},
		{"app/signin.tsx", ALL, .99, true},
		{"README.md src/login.ts package.json", ALL, .99, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(&rows[i]);
}

TEST(words_count_wherever_they_stand_and_parts_of_words_do_not)
{
	static const char *const auth[] = {"src/UserAuth.ts", "src/JWTParser.java", "src/OAuth2.c",
		"src/auth_utils.py", "src/authentication/x.c", "src/my-passwords.txt",
		"SRC/LOGIN.TS", "src/apiToken.ts", "src/signIn.ts", "src/sessions/x.rb", "x/id_rsa",
		"prod.env", ".envrc", "cert.p12", "docs/auth/guide.md", "docs/authentication.md",
		"docs/sessions.md", "docs/secrets/list.txt"};
	static const char *const other[] = {"src/authors.ts", "src/tokenizer.c", "src/secretary.c",
		"src/cryptocurrency.ts", "src/blogin.ts", "src/passworded.c", "src/obsession.c",
		"src/keys.c", "src/environment.c"};

	assert_rows(auth, COUNT(auth), ALL, .99, true);
	assert_rows(other, COUNT(other), ALL, .8, false);
}

/* Two known ways to evade the rules, and similar ones. */
TEST(a_list_of_dependencies_is_no_prose)
{
	static const char *const lists[] = {"requirements-dev.txt", "requirements/base.txt",
		"requirements_test.txt", "constraints.txt", "dev-requirements.txt",
		"docs/requirements.txt"};
	static const char *const built[] = {"CMakeLists.txt", "src/CMakeLists.txt", "docs/deps.txt",
		"meson_options.txt", "conanfile.txt", "packages.txt", "dependencies.txt",
		"Requirements.TXT", "runtime.txt", "PACKAGE.JSON", "Package-Lock.json",
		".GitHub/workflows/ci.yml", "setup.py", "pyproject.toml", ".npmrc", "go.mod",
		"Cargo.toml", "Makefile", "Dockerfile.dev", "build/Dockerfile.txt", "Makefile.md",
		".github/CODEOWNERS", "CODEOWNERS.md", ".github/dependabot.yml",
		".github/actions/x/action.yml", ".github/README.md", ".gitmodules",
		".gitattributes", "package.json src/index.ts", "package.json Makefile"};

	assert_rows(lists, COUNT(lists), S | C, .9, false);
	assert_rows(built, COUNT(built), ALL, .8, false);
}

TEST(prose_that_something_runs_is_no_prose)
{
	static const char *const paths[] = {"CLAUDE.md", "docs/AGENTS.md", "claude.MD",
		".claude/settings.json", ".claude/commands/x.md", ".cursor/rules/a.mdc",
		".cursorrules", ".mcp.json", "agents/coder.md", "skills/review/SKILL.md",
		"src/prompts/system.txt", "commands/go.md", "x.prompt.md", "llms.txt",
		".github/copilot-instructions.md", ".github/workflows/notes.md", ".dev-team/x.md",
		"tests/spec/case.md", "vendor/lib/README.md", "node_modules/a/readme.md",
		"templates/mail.txt", "src/words.txt", "public/logo.svg", "data/allow.txt",
		"docs/x.php.png", "docs/page.html.md", "docs/.hidden.md", "Makefile.txt",
		"docs/robots.txt"};
	static const char *const prose[] = {"packages/a/README.md", "docs/guide/pic.png",
		"docs/notes/x.txt", "docs/pic.svg", "assets/logo.png", "spec.md", "INSTALL.txt"};

	assert_rows(paths, COUNT(paths), ALL, .8, false);
	assert_rows(prose, COUNT(prose), C, .95, false);
}

TEST(names_that_others_read_differently_are_no_prose)
{
	static const char *const paths[] = {"docs/\xd0\xb0uth/x.md", "docs/x\xe2\x80\xae.md",
		"docs\\..\\src\\x.md", "docs/../src/x.md", "/etc/x.md", "docs//x.md", "docs/x.md.",
		"docs/x.md%20", "docs/x.md:y.md", "docs/a\nb.md", "docs/\x01.md", "docs/\xff.md",
		"docs/", "./x.md", "docs/x\xc2\xa0.md", "docs/a*b.md"};

	assert_rows(paths, COUNT(paths), ALL, .8, false);
	assert_row(&(struct row){"docs/a%20b.md", C, .95, false});
}

static unsigned ruled_set(const struct change_stats *s)
{
	struct classification c;

	classifier_apply_rules(&arena, s, &c);
	return set_of(&c);
}

TEST(what_a_file_is_goes_before_its_name)
{
	static const struct {
		const char *path;
		unsigned traits, set;
	} rows[] = {
		{"docs/run.md", TRAIT_EXECUTABLE, ALL},
		{"docs/run.md", TRAIT_MODE, ALL},
		{"docs/link.md", TRAIT_SYMLINK, ALL},
		{"docs/sub.md", TRAIT_SUBMODULE, ALL},
		{"docs/a.md", TRAIT_BINARY, ALL},
		{"docs/a.png", TRAIT_BINARY, C},
		{"package.json", TRAIT_SYMLINK, ALL},
		{"package.json", TRAIT_EXECUTABLE, ALL},
		{"bun.lockb", TRAIT_BINARY, S | C},
		{"go.sum", TRAIT_BINARY, ALL},
		{"package.json", 0, S | C},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s = change(rows[i].path, rows[i].traits);

		assert_int_equal(ruled_set(&s), rows[i].set);
	}
}

TEST(blanks_alone_need_nobody_where_they_mean_nothing)
{
	static const struct {
		const char *paths;
		unsigned set;
	} rows[] = {
		{"src/a.ts", 0},
		{"src/a.c src/b.json README.md", 0},
		{"src/a.py", ALL},
		{"Makefile", ALL},
		{"src/a.c src/a.yml", ALL},
		{"src/auth/a.ts", ALL},
		{".github/workflows/ci.yml", S | C},
		{"package.json", S | C},
		{"CLAUDE.md", ALL},
		{"src/A.C", ALL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s = change(rows[i].paths, 0);

		s.whitespace_only = true;
		assert_int_equal(ruled_set(&s), rows[i].set);
	}
}

/* Without its repository a diff shows only excerpts. */
TEST(blanks_in_excerpts_count_where_texts_go_over_lines)
{
	static const struct {
		const char *paths;
		unsigned set;
	} rows[] = {{"src/a.ts", ALL}, {"src/a.go", ALL}, {"src/a.c", ALL}, {"src/a.less", ALL},
		{"src/b.json src/a.proto x.css README.md", 0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s = change(rows[i].paths, 0);

		s.whitespace_only = s.excerpts = true;
		assert_int_equal(ruled_set(&s), rows[i].set);
	}
}

TEST(prose_about_keys_and_orders_gets_all)
{
	static const char *const auth[] = {"docs/ssh.md", "docs/tls.md", "docs/certificates.md",
		"docs/kerberos.md", "SECURITY.md", "docs/security.txt"};
	static const char *const orders[] = {"docs/system-prompt.md", "README.agents.md"};
	static const char *const code[] = {"docs/mod.rs.txt", "docs/a.go.md", "docs/x.php.png"};

	assert_rows(auth, COUNT(auth), ALL, .99, true);
	assert_rows(orders, COUNT(orders), ALL, .8, false);
	assert_rows(code, COUNT(code), ALL, .8, false);
}

/* A change with another file never gets fewer reviewers. */
TEST(a_larger_change_never_gets_fewer)
{
	static const char *const paths[] = {"README.md", "package.json", "src/a.c", "src/auth.c",
		"CLAUDE.md", "docs/\xff.md", "Makefile", ".github/workflows/a.yml", "docs/a.png"};

	for (size_t i = 0; i < COUNT(paths); i++)
		for (size_t k = 0; k < COUNT(paths); k++) {
			struct classification one = ruled(paths[i]);
			struct classification two =
				ruled(arena_printf(&arena, "%s %s", paths[i], paths[k]));

			assert_int_equal(set_of(&one) & ~set_of(&two), 0);
		}
}

/* ---- answers ---- */

#define WHOLE(more) "{\"reviewers\":[\"critic\"],\"rationale\":{},\"confident\":true," more "}"
#define SURE        "\"confidence\":0.9"

TEST(an_answer_is_taken_when_it_is_whole_and_sure)
{
	static const struct {
		const char *raw;
		enum fell_open open;
		const char *fault;
	} rows[] = {
		{WHOLE(SURE), NOT_OPEN, NULL},
		{" \n" WHOLE(SURE) "\n", NOT_OPEN, NULL},
		{WHOLE("\"confidence\":0.7"), NOT_OPEN, NULL},
		{WHOLE("\"confidence\":1"), NOT_OPEN, NULL},
		{WHOLE(SURE ",\"$schema\":\"x\",\"more\":[1]"), NOT_OPEN, NULL},
		{WHOLE(SURE ",\"modelOverride\":{\"security\":\"opus\"}"), NOT_OPEN, NULL},
		{WHOLE(SURE ",\"harnessOverride\":{\"security\":\"codex\"}"), NOT_OPEN, NULL},
		{"", OPEN_PARSE_ERROR, "empty text"},
		{"no", OPEN_PARSE_ERROR, "this is not JSON"},
		{"```json\n{}\n```", OPEN_PARSE_ERROR, "this is not JSON"},
		{WHOLE(SURE) " I hope this helps", OPEN_PARSE_ERROR, "text after the JSON value"},
		{"{\"reviewers\":[],\"reviewers\":[\"critic\"]}", OPEN_PARSE_ERROR,
			"duplicate key"},
		{"[]", OPEN_SCHEMA, "the answer is not an object"},
		{"null", OPEN_SCHEMA, "the answer is not an object"},
		{"\"testing\"", OPEN_SCHEMA, "the answer is not an object"},
		{"{}", OPEN_SCHEMA, "'reviewers' is not an array"},
		{"{\"reviewers\":\"critic\"}", OPEN_SCHEMA, "'reviewers' is not an array"},
		{"{\"reviewers\":[\"linter\"]}", OPEN_SCHEMA,
			"'reviewers' has one that is not testing, critic or security"},
		{"{\"reviewers\":[1]}", OPEN_SCHEMA,
			"'reviewers' has one that is not testing, critic or security"},
		{"{\"reviewers\":[\"critic\",\"critic\"]}", OPEN_SCHEMA,
			"'reviewers' names one twice"},
		{"{\"reviewers\":[]}", OPEN_SCHEMA, "'rationale' is not an object"},
		{"{\"reviewers\":[],\"rationale\":{\"critic\":1}}", OPEN_SCHEMA,
			"'rationale' has a member that is not a text"},
		{"{\"reviewers\":[],\"rationale\":{}}", OPEN_SCHEMA,
			"'confident' is not true or false"},
		{"{\"reviewers\":[],\"rationale\":{},\"confident\":1}", OPEN_SCHEMA,
			"'confident' is not true or false"},
		{"{\"reviewers\":[],\"rationale\":{},\"confident\":true}", OPEN_SCHEMA,
			"'confidence' is not a number from 0 to 1"},
		{WHOLE("\"confidence\":1.1"), OPEN_SCHEMA,
			"'confidence' is not a number from 0 to 1"},
		{WHOLE("\"confidence\":-0.1"), OPEN_SCHEMA,
			"'confidence' is not a number from 0 to 1"},
		{WHOLE("\"confidence\":\"0.9\""), OPEN_SCHEMA,
			"'confidence' is not a number from 0 to 1"},
		{WHOLE("\"confidence\":0.69"), OPEN_SCHEMA,
			"'confident' is true and 'confidence' is under 0.7"},
		{WHOLE(SURE ",\"modelOverride\":{\"unknown\":\"opus\"}"), OPEN_SCHEMA,
			"'modelOverride' is not {reviewer: haiku, sonnet, opus or opus[1m]}"},
		{WHOLE(SURE ",\"modelOverride\":{\"security\":\"mystery\"}"), OPEN_SCHEMA,
			"'modelOverride' is not {reviewer: haiku, sonnet, opus or opus[1m]}"},
		{WHOLE(SURE ",\"modelOverride\":null"), OPEN_SCHEMA,
			"'modelOverride' is not {reviewer: haiku, sonnet, opus or opus[1m]}"},
		{WHOLE(SURE ",\"harnessOverride\":{\"security\":\"mystery\"}"), OPEN_SCHEMA,
			"'harnessOverride' is not {reviewer: name of a harness}"},
		{"{\"reviewers\":[],\"rationale\":{},\"confident\":false,\"confidence\":0.3}",
			OPEN_UNSURE, "the model was not sure"},
		{"{\"reviewers\":[],\"rationale\":{},\"confident\":false,\"confidence\":0.9}",
			OPEN_UNSURE, "the model was not sure"},
		{NULL, OPEN_INVOCATION, "the model could not be asked"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct review_decision d;

		classifier_read_answer(&arena, rows[i].raw, &d);
		if (d.open != rows[i].open)
			fail_msg("%s: %d", rows[i].raw, d.open);
		assert_int_equal(set_of(&d.of), d.open ? ALL : C);
		assert_int_equal(d.of.confident, !d.open);
		assert_ptr_equal(d.raw, rows[i].raw);
		if (rows[i].fault)
			assert_string_equal(d.fault, rows[i].fault);
		else
			assert_null(d.fault);
	}
}

TEST(what_an_answer_says_is_kept)
{
	struct review_decision d;

	classifier_read_answer(&arena,
		"{\"reviewers\":[\"security\",\"testing\"],\"rationale\":{\"security\":\"keys\","
		"\"all\":\"x\"},\"confident\":true,\"confidence\":0.75,\"modelOverride\":"
		"{\"security\":\"opus[1m]\"},\"harnessOverride\":{\"testing\":\"aider\"}}",
		&d);
	assert_int_equal(d.open, NOT_OPEN);
	assert_int_equal(set_of(&d.of), T | S);
	assert_string_equal(d.of.rationale[REVIEW_SECURITY], "keys");
	assert_string_equal(d.of.model_override[REVIEW_SECURITY], "opus[1m]");
	assert_string_equal(d.of.harness_override[REVIEW_TESTING], "aider");
}

TEST(words_are_those_of_the_record)
{
	static const char *const words[] = {
		NULL, "parse-error", "schema-validation", "confident-false", "invocation-failed"};

	assert_null(fell_open_word(NOT_OPEN));
	for (int f = OPEN_PARSE_ERROR; f <= OPEN_INVOCATION; f++)
		assert_string_equal(fell_open_word((enum fell_open)f), words[f]);
	assert_string_equal(reviewer_word(REVIEW_TESTING), "testing");
	assert_string_equal(reviewer_word(REVIEW_SECURITY), "security");
}

/* The change may contain instructions for the model. */
TEST(a_model_cannot_send_away_whom_the_rules_know_to_be_needed)
{
	static const struct {
		const char *paths;
		unsigned set;
		bool opus;
	} rows[] = {
		{"src/a.c", 0, false},
		{"README.md", 0, false},
		{"src/a.c README.md", 0, false},
		{"src/auth.c", ALL, true},
		{"src/a.c package.json", C | S, false},
		{"CLAUDE.md", ALL, false},
		{"docs/\xff.md", ALL, false},
		{"package.json src/login.c", ALL, true},
	};
	struct review_decision d;
	struct change_stats s;

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool opus;

		classifier_read_answer(&arena,
			"{\"reviewers\":[],\"rationale\":{},\"confident\":true,\"confidence\":1,"
			"\"modelOverride\":{\"security\":\"haiku\"}}",
			&d);
		s = change(rows[i].paths, 0);
		classifier_add_required(&arena, &s, &d);
		opus = strcmp(d.of.model_override[REVIEW_SECURITY], "opus") == 0;
		assert_int_equal(set_of(&d.of), rows[i].set);
		assert_int_equal(opus, rows[i].opus);
		for (int r = 0; r < REVIEWERS; r++)
			assert_int_equal(d.added_by_rules[r], d.of.chosen[r]);
	}
}

UNIT_GROUP(NULL, arena_end)
