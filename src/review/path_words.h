/*
 * path_words.h: the words by which path_kind.c tells files apart, lower case, each list sorted by
 * what it is about. docs/review-classifier.md tells of them.
 */
#ifndef DT_REVIEW_PATH_WORDS_H
#define DT_REVIEW_PATH_WORDS_H

/* Words within a component: AuthGuard, sign-in, api_tokens. A plural s is taken off before. */
static const char *const auth_words[] = {"auth", "authn", "authz", "authentication", "authenticate",
	"authenticator", "authorization", "authorisation", "authorize", "authorise", "authorizer",
	"oauth", "oidc", "openid", "saml", "sso", "crypto", "cryptography", "encryption", "cipher",
	"secret", "iam", "jwt", "jwk", "session", "login", "logon", "logout", "signin", "signup",
	"signout", "rbac", "acl", "token", "credential", "password", "passwd", "passphrase", "mfa",
	"totp", "otp", "permission", "privilege", "keystore", "keyring", "keychain", "vault",
	"csrf", "xsrf", "sudoer", "security", "ssh", "tls", "mtls", "ssl", "pki", "x509",
	"certificate", "cert", "kerberos", "ldap"};

/* Ends and beginnings of the last component. */
static const char *const key_ends[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".crt",
	".cer", ".der", ".p8", ".gpg", ".kdbx", ".env", ".ovpn"};
static const char *const key_begins[] = {".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	".netrc", ".pgpass", ".htpasswd", ".htaccess", "known_hosts", "authorized_keys"};

/* Prose that an agent takes as orders, and what sets up agents. */
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
/* Whatever is in these folders. */
static const char *const agent_folders[] = {".claude", ".claude-plugin", ".cursor", ".codex",
	".gemini", ".qwen", ".opencode", ".aider", ".windsurf", ".continue", ".roo", ".kilocode",
	".clinerules", ".goose", ".amazonq", ".kiro", ".agents", ".agent", ".dev-team", ".ai-sdlc"};
/* Prose in these. */
static const char *const agent_prose[] = {"agents", "agent", "skills", "skill", "commands",
	"prompts", "prompt", "hooks", "personas", "workflows", "instructions", "rules", "memory"};

/* Written as they are written: on a disk that tells case apart another spelling is another file. */
static const char *const dependency_names[] = {"package.json", "package-lock.json",
	"requirements.txt", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "poetry.lock",
	"Pipfile.lock", "Gemfile.lock", "composer.lock", "go.sum", "bun.lockb"};
static const char *const ci_begins[] = {".github/workflows/", ".circleci/"};
static const char *const ci_names[] = {".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines.yml"};

static const char *const docs_ends[] = {
	".md", ".rst", ".txt", ".png", ".jpg", ".jpeg", ".svg", ".gif", ".ico", ".pdf"};
static const char *const binary_ends[] = {
	".png", ".jpg", ".jpeg", ".gif", ".ico", ".pdf", ".lockb"};
/* Programs read these whatever stands behind the name. */
static const char *const never_docs_begins[] = {"dockerfile", "containerfile", "makefile",
	"gnumakefile", "jenkinsfile", "vagrantfile", "procfile", "rakefile", "gemfile", "justfile",
	"codeowners", "cmakelists", "brewfile", "buildfile", "package.", "pom."};
static const char *const never_docs_ends[] = {".sh", ".lock"};
/* A second suffix that some server or shell would go by. */
static const char *const code_inside[] = {".php", ".phtml", ".sh.", ".bash.", ".js.", ".mjs.",
	".py.", ".rb.", ".pl.", ".html.", ".htm.", ".cgi.", ".exe.", ".asp", ".jsp.", ".bat.",
	".cmd.", ".ps1.", ".rs.", ".go.", ".c.", ".h.", ".cc.", ".cpp.", ".hpp.", ".java.", ".ts.",
	".tsx.", ".jsx.", ".cjs.", ".cs.", ".kt.", ".swift.", ".scala.", ".lua.", ".sql.", ".tf.",
	".xml.", ".json.", ".yaml.", ".yml.", ".toml.", ".ini.", ".proto."};
/* Prose and pictures in these are read by programs: tests, pages, mails, other people's code. */
static const char *const not_docs_folders[] = {"test", "tests", "__tests__", "spec", "specs", "e2e",
	"testdata", "fixtures", "fixture", "snapshots", "__snapshots__", "golden", "corpus",
	"templates", "template", "layouts", "views", "partials", "includes", "_includes",
	"_layouts", "migrations", "seeds", "config", "conf", "locales", "i18n", "vendor",
	"vendored", "node_modules", "bower_components", "third_party", "third-party", "thirdparty",
	"external", "extern", "submodules", "site-packages"};
static const char *const docs_folders[] = {
	"docs", "doc", "documentation", "wiki", "manual", "guide", "guides", "rfcs", "rfc", "adr"};
/* .txt outside of docs_folders: only these, at their beginning. */
static const char *const prose_begins[] = {"readme", "license", "licence", "copying", "notice",
	"changelog", "changes", "history", "news", "authors", "contributors", "contributing",
	"credits", "thanks", "todo", "install", "notes", "faq"};
/* .txt anywhere: not these, which build tools, servers and installers read. */
static const char *const not_prose[] = {"requirement", "constraint", "depend", "deps", "package",
	"meson", "conanfile", "robots", "allow", "deny", "block", "host", "runtime", "version",
	"prompt", "lock", "manifest", "domain"};

/* Blanks at the ends of lines mean nothing in these. */
static const char *const blank_ends[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx",
	".java", ".js", ".mjs", ".cjs", ".ts", ".go", ".cs", ".json", ".css", ".scss", ".less",
	".proto"};
/* And of these no text goes over several lines. */
static const char *const short_text_ends[] = {".json", ".css", ".scss", ".proto"};

#endif
