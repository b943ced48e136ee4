#include <ctype.h>
#include "src/review/classifier.h"

/* What a path is, in the order of how much review it needs; the first that fits. */
enum path_kind {
	PATH_AUTH,       /* authentication, secrets, keys */
	PATH_ODD,        /* a name or a trait that other programs may interpret differently */
	PATH_AGENT,      /* instructions or configuration of agents */
	PATH_DEPENDENCY, /* a lock file, or what CI runs */
	PATH_DOCS,       /* prose and pictures */
	PATH_OTHER,
	PATH_KINDS
};

/* ---- words: lower case; docs/review-classifier.md explains them ---- */

/* Words within a component: AuthGuard, sign-in, api_tokens; also with a plural s. */
static const char *const auth_words[] = {"auth", "authn", "authz", "authentication", "authenticate",
	"authenticator", "authorization", "authorisation", "authorize", "authorise", "authorizer",
	"oauth", "oidc", "openid", "saml", "sso", "crypto", "cryptography", "encryption", "cipher",
	"secret", "iam", "jwt", "jwk", "session", "login", "logon", "logout", "signin", "signup",
	"signout", "rbac", "acl", "token", "credential", "password", "passwd", "passphrase", "mfa",
	"totp", "otp", "permission", "privilege", "keystore", "keyring", "keychain", "vault",
	"csrf", "xsrf", "sudoer", "security", "ssh", "tls", "mtls", "ssl", "pki", "x509",
	"certificate", "cert", "kerberos", "ldap"};

/* Suffixes and prefixes of the last component. */
static const char *const key_ends[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".crt",
	".cer", ".der", ".p8", ".gpg", ".kdbx", ".env", ".ovpn"};
static const char *const key_begins[] = {".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	".netrc", ".pgpass", ".htpasswd", ".htaccess", "known_hosts", "authorized_keys"};

/* Prose that agents follow as instructions, and their configuration. */
static const char *const agent_names[] = {"claude.md", "claude.local.md", "agents.md", "agent.md",
	"agents.override.md", "gemini.md", "qwen.md", "codex.md", "copilot.md", "warp.md",
	"copilot-instructions.md", "skill.md", "conventions.md", "rules.md", "prompt.md",
	"system.md", "memory.md", "soul.md", "persona.md", "llms.txt", "llms-full.txt",
	".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".mcp.json", "mcp.json",
	"opencode.json", "opencode.jsonc", ".aiderignore", ".claudeignore", ".geminiignore",
	".cursorignore"};
static const char *const agent_ends[] = {".prompt.md", ".instructions.md", ".chatmode.md",
	".agent.md", ".agents.md", ".skill.md", ".prompt.txt", "-prompt.md", "-prompts.md",
	"_prompt.md", "_prompts.md", "-prompt.txt", "_prompt.txt", ".mdc"};
static const char *const agent_begins[] = {".aider"};
/* Everything in these directories. */
static const char *const agent_directories[] = {".claude", ".claude-plugin", ".cursor", ".codex",
	".gemini", ".qwen", ".opencode", ".aider", ".windsurf", ".continue", ".roo", ".kilocode",
	".clinerules", ".goose", ".amazonq", ".kiro", ".agents", ".agent", ".dev-team", ".ai-sdlc"};
/* Prose in these directories. */
static const char *const agent_prose[] = {"agents", "agent", "skills", "skill", "commands",
	"prompts", "prompt", "hooks", "personas", "workflows", "instructions", "rules", "memory"};

/* Case-sensitive: another spelling is another file. */
static const char *const dependency_names[] = {"package.json", "package-lock.json",
	"requirements.txt", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "poetry.lock",
	"Pipfile.lock", "Gemfile.lock", "composer.lock", "go.sum", "bun.lockb"};
static const char *const pip_directories[] = {"requirements"};
static const char *const ci_begins[] = {".github/workflows/", ".circleci/"};
static const char *const ci_names[] = {".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines.yml"};

static const char *const docs_ends[] = {
	".md", ".rst", ".txt", ".png", ".jpg", ".jpeg", ".svg", ".gif", ".ico", ".pdf"};
static const char *const binary_ends[] = {
	".png", ".jpg", ".jpeg", ".gif", ".ico", ".pdf", ".lockb"};
/* Programs read these, whatever the suffix. */
static const char *const never_docs_begins[] = {"dockerfile", "containerfile", "makefile",
	"gnumakefile", "jenkinsfile", "vagrantfile", "procfile", "rakefile", "gemfile", "justfile",
	"codeowners", "cmakelists", "brewfile", "buildfile", "package.", "pom."};
static const char *const never_docs_ends[] = {".sh", ".lock"};
/* A second suffix that a server or shell may use. */
static const char *const code_inside[] = {".php", ".phtml", ".sh.", ".bash.", ".js.", ".mjs.",
	".py.", ".rb.", ".pl.", ".html.", ".htm.", ".cgi.", ".exe.", ".asp", ".jsp.", ".bat.",
	".cmd.", ".ps1.", ".rs.", ".go.", ".c.", ".h.", ".cc.", ".cpp.", ".hpp.", ".java.", ".ts.",
	".tsx.", ".jsx.", ".cjs.", ".cs.", ".kt.", ".swift.", ".scala.", ".lua.", ".sql.", ".tf.",
	".xml.", ".json.", ".yaml.", ".yml.", ".toml.", ".ini.", ".proto."};
/* Programs read the prose and pictures in these: tests, pages, mails, third-party code. */
static const char *const not_docs_directories[] = {"test", "tests", "__tests__", "spec", "specs",
	"e2e", "testdata", "fixtures", "fixture", "snapshots", "__snapshots__", "golden", "corpus",
	"templates", "template", "layouts", "views", "partials", "includes", "_includes",
	"_layouts", "migrations", "seeds", "config", "conf", "locales", "i18n", "vendor",
	"vendored", "node_modules", "bower_components", "third_party", "third-party", "thirdparty",
	"external", "extern", "submodules", "site-packages"};
static const char *const docs_directories[] = {
	"docs", "doc", "documentation", "wiki", "manual", "guide", "guides", "rfcs", "rfc", "adr"};
/* .txt outside docs_directories: names that begin with these. */
static const char *const prose_begins[] = {"readme", "license", "licence", "copying", "notice",
	"changelog", "changes", "history", "news", "authors", "contributors", "contributing",
	"credits", "thanks", "todo", "install", "notes", "faq"};
/* .txt anywhere: not these, which build tools, servers and installers read. */
static const char *const not_prose[] = {"requirement", "constraint", "depend", "deps", "package",
	"meson", "conanfile", "robots", "allow", "deny", "block", "host", "runtime", "version",
	"prompt", "lock", "manifest", "domain"};

/* Whitespace at the ends of lines has no meaning in these, except in strings over several lines. */
static const char *const whitespace_ends[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp",
	".hxx", ".java", ".js", ".mjs", ".cjs", ".ts", ".go", ".cs", ".json", ".css", ".scss",
	".less", ".proto"};
/* And these have no strings over several lines. */
static const char *const no_long_string_ends[] = {".json", ".css", ".scss", ".proto"};

enum { PATH_LENGTH_MAX = 4096, PATH_SHOWN = 120 };

#define IN(list, test, text) any((list), COUNT(list), (test), (text))

static bool review_rules_contains(struct str text, const char *word)
{
	return str_find(text, str_of(word)) < text.n;
}

static bool any(
	const char *const *list, size_t n, bool (*test)(struct str, const char *), struct str text)
{
	for (size_t i = 0; i < n; i++)
		if (test(text, list[i]))
			return true;
	return false;
}

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool letter(char c)
{
	return upper(c) || (c >= 'a' && c <= 'z');
}

static struct str review_rules_base_of(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? str_sub(path, (size_t)(slash - path.p) + 1, path.n) : path;
}

/* Cuts the next component off. */
static bool review_rules_next_part(struct str *rest, struct str *part)
{
	size_t end = str_find(*rest, STR("/"));

	if (!rest->n)
		return false;
	*part = str_sub(*rest, 0, end);
	*rest = str_sub(*rest, end < rest->n ? end + 1 : end, rest->n);
	return true;
}

/* Whether a directory above the file is in the list. */
#define IN_DIRECTORY(list, path) some_directory((path), (list), COUNT(list))

static bool some_directory(struct str path, const char *const *list, size_t n)
{
	struct str rest = str_sub(path, 0, path.n - review_rules_base_of(path).n), part;

	while (review_rules_next_part(&rest, &part))
		if (any(list, n, str_is, part))
			return true;
	return false;
}

/* ---- kinds of paths ---- */

static bool plain_part(struct str part)
{
	for (size_t i = 0; i < part.n; i++)
		if (!letter(part.p[i]) &&
			(!part.p[i] || !strchr("0123456789._-+@()[]{}#~,=& ", part.p[i])))
			return false;
	return part.n && !str_is(part, ".") && !str_is(part, "..") && part.p[0] != ' ' &&
	       part.p[part.n - 1] != ' ' && part.p[part.n - 1] != '.';
}

static bool review_rules_plain(struct str path)
{
	struct str rest = path, part;

	if (!path.n || path.n > PATH_LENGTH_MAX || path.p[path.n - 1] == '/')
		return false;
	while (review_rules_next_part(&rest, &part))
		if (!plain_part(part))
			return false;
	return true;
}

/* `word`: letters alone, lower case. */
static bool auth_word(struct str word)
{
	if (IN(auth_words, str_is, word))
		return true;
	return word.n > 1 && word.p[word.n - 1] == 's' &&
	       IN(auth_words, str_is, str_sub(word, 0, word.n - 1));
}

/* The end of the word of letters that begins at `from`; `camel`: words also end as in signIn and
 * JWTParser. */
static size_t word_end(struct str s, size_t from, bool camel)
{
	size_t i = from + 1;

	for (; i < s.n && letter(s.p[i]); i++) {
		bool next_lower = i + 1 < s.n && letter(s.p[i + 1]) && !upper(s.p[i + 1]);

		if (camel && upper(s.p[i]) && (!upper(s.p[i - 1]) || next_lower))
			break;
	}
	return i;
}

static bool auth_words_of(struct str path, struct str low, bool camel)
{
	size_t end;

	for (size_t i = 0; i < path.n; i = end) {
		end = letter(path.p[i]) ? word_end(path, i, camel) : i + 1;
		if (auth_word(str_sub(low, i, end)))
			return true;
	}
	return false;
}

static bool auth_path(struct str path, struct str low)
{
	struct str base = review_rules_base_of(low);

	return auth_words_of(path, low, true) || auth_words_of(path, low, false) ||
	       IN(key_ends, str_ends, base) || IN(key_begins, str_starts, base);
}

static bool agent_path(struct str low)
{
	struct str base = review_rules_base_of(low);

	return IN(agent_names, str_is, base) || IN(agent_ends, str_ends, base) ||
	       IN(agent_begins, str_starts, base) || IN_DIRECTORY(agent_directories, low) ||
	       IN(agent_directories, str_is, base) ||
	       (IN(docs_ends, str_ends, base) && IN_DIRECTORY(agent_prose, low));
}

static bool pip_list(struct str base)
{
	return str_ends(base, ".txt") &&
	       (str_starts(base, "requirements") || str_ends(base, "requirements.txt") ||
		       str_starts(base, "constraints"));
}

static bool dependency_path(struct str path)
{
	struct str base = review_rules_base_of(path);

	return IN(dependency_names, str_is, base) || IN(ci_names, str_is, base) ||
	       IN(ci_begins, str_starts, path) || pip_list(base) ||
	       (str_ends(base, ".txt") && IN_DIRECTORY(pip_directories, path));
}

/* The file, or a directory above it, has a name that begins with a dot. */
static bool hidden(struct str path)
{
	return str_starts(path, ".") || review_rules_contains(path, "/.");
}

/* Build tools read .txt and browsers run .svg: prose only by their directory or name. */
static bool txt_or_svg_is_docs(struct str low, struct str base)
{
	bool text = str_ends(base, ".txt");

	if (!text && !str_ends(base, ".svg"))
		return true;
	if (text && IN(not_prose, review_rules_contains, base))
		return false;
	return IN_DIRECTORY(docs_directories, low) || (text && IN(prose_begins, str_starts, base));
}

static bool docs_path(struct str low)
{
	struct str base = review_rules_base_of(low);

	return IN(docs_ends, str_ends, base) && !hidden(low) &&
	       !IN(never_docs_begins, str_starts, base) && !IN(never_docs_ends, str_ends, base) &&
	       !IN(code_inside, review_rules_contains, base) &&
	       !IN_DIRECTORY(not_docs_directories, low) && txt_or_svg_is_docs(low, base);
}

/* An executable document, or a text that git treats as binary, is not what its name says. */
static bool disguised(struct str low, unsigned traits)
{
	bool binary = IN(binary_ends, str_ends, low);

	return traits & (TRAIT_EXECUTABLE | TRAIT_MODE) || (!binary && traits & TRAIT_BINARY);
}

static enum path_kind review_rules_kind_of(struct str path, struct str low, unsigned traits)
{
	enum path_kind kind = PATH_OTHER;

	if (auth_path(path, low))
		return PATH_AUTH;
	if (!review_rules_plain(path) || traits & (TRAIT_SYMLINK | TRAIT_SUBMODULE))
		return PATH_ODD;
	if (agent_path(low))
		return PATH_AGENT;
	if (dependency_path(path))
		kind = PATH_DEPENDENCY;
	else if (docs_path(low))
		kind = PATH_DOCS;
	return kind != PATH_OTHER && disguised(low, traits) ? PATH_ODD : kind;
}

static enum path_kind path_kind(const char *path, unsigned traits)
{
	CLEANUP(buf_release) struct buf low = BUF_INIT;

	buf_adds(&low, path);
	for (size_t i = 0; i < low.len; i++)
		low.s[i] = (char)tolower((unsigned char)low.s[i]);
	return review_rules_kind_of(str_of(path), buf_str(&low), traits);
}

/* ---- the rules ---- */

/* The kinds of the paths of a change, with the first path of each. */
struct path_census {
	size_t count[PATH_KINDS];
	const char *first[PATH_KINDS];
	bool whitespace_ignored; /* it has no meaning in any of the files */
};

static bool whitespace_ignored(const struct change_stats *s, const char *path)
{
	struct str name = str_of(path);

	/* A string over several lines may begin and end outside the excerpts. */
	return IN(whitespace_ends, str_ends, name) &&
	       (!s->excerpts || IN(no_long_string_ends, str_ends, name));
}

static struct path_census take_census(const struct change_stats *s)
{
	struct path_census census = {.whitespace_ignored = true};

	for (size_t i = 0; i < s->files; i++) {
		enum path_kind k = path_kind(s->paths[i], s->traits ? s->traits[i] : 0);

		if (!census.count[k]++)
			census.first[k] = s->paths[i];
		if (k != PATH_DOCS && !(k == PATH_OTHER && whitespace_ignored(s, s->paths[i])))
			census.whitespace_ignored = false;
	}
	return census;
}

/* The reviewers of a kind, as bits by enum reviewer, and why. */
enum {
	TESTING = 1 << REVIEW_TESTING,
	CRITIC = 1 << REVIEW_CRITIC,
	SECURITY = 1 << REVIEW_SECURITY,
	ALL = TESTING | CRITIC | SECURITY
};
static const struct rule {
	unsigned reviewers;
	double confidence;
	const char *why;
} rules[PATH_KINDS] = {
	[PATH_AUTH] = {ALL, 0.99, "authentication, secrets or keys"},
	[PATH_ODD] = {ALL, 0.8, "the name may be misleading"},
	[PATH_AGENT] = {ALL, 0.8, "instructions for agents"},
	[PATH_DEPENDENCY] = {CRITIC | SECURITY, 0.9, "dependencies or CI"},
	[PATH_DOCS] = {CRITIC, 0.95, "only prose and pictures"},
	[PATH_OTHER] = {ALL, 0.8, "code or configuration"},
};

/* The kind that decides. No reviewer is lost when a change gets another file. */
static enum path_kind deciding_kind(const struct path_census *census)
{
	static const enum path_kind order[] = {
		PATH_AUTH, PATH_ODD, PATH_AGENT, PATH_OTHER, PATH_DEPENDENCY};

	for (size_t i = 0; i < COUNT(order); i++)
		if (census->count[order[i]])
			return order[i];
	return PATH_DOCS;
}

/* Chooses the reviewers of the kind that `out` does not have; `added` may be NULL. */
static void review_rules_choose(struct arena *a, const struct path_census *census, enum path_kind k,
	struct classification *out, bool *added)
{
	for (int r = 0; r < REVIEWERS; r++) {
		if (!(rules[k].reviewers & 1U << r) || out->chosen[r])
			continue;
		out->chosen[r] = true;
		out->rationale[r] = arena_printf(a, "%s: %s", rules[k].why,
			arena_printable(a, str_of(census->first[k]), PATH_SHOWN));
		if (added)
			added[r] = true;
	}
}

void classifier_apply_rules(
	struct arena *a, const struct change_stats *s, struct classification *out)
{
	struct path_census census = take_census(s);
	enum path_kind k = deciding_kind(&census);

	*out = (struct classification){.confident = true, .confidence = 1};
	if (!s->files || (s->whitespace_only && census.whitespace_ignored))
		return;
	out->confidence = rules[k].confidence;
	review_rules_choose(a, &census, k, out, NULL);
	if (k == PATH_AUTH)
		out->model_override[REVIEW_SECURITY] = "opus";
}

void classifier_add_required(
	struct arena *a, const struct change_stats *s, struct review_decision *decision)
{
	static const enum path_kind required[] = {PATH_AUTH, PATH_ODD, PATH_AGENT, PATH_DEPENDENCY};
	struct path_census census = take_census(s);
	struct classification *c = &decision->of;
	const char *model = c->model_override[REVIEW_SECURITY];

	for (size_t i = 0; i < COUNT(required); i++)
		if (census.count[required[i]])
			review_rules_choose(a, &census, required[i], c, decision->added_by_rules);
	if (census.count[PATH_AUTH] && !(model && strncmp(model, "opus", 4) == 0))
		c->model_override[REVIEW_SECURITY] = "opus";
}
