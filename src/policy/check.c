#include <fnmatch.h>
#include "src/policy/check.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

enum { NESTED_MAX = 4 };

/* ---- prefix rules ---- */

/* Programs and their options whose value is the next word: before a subcommand, or before the
 * command that they start with the rest of their words, behind so many operands. */
static const struct program {
	const char *name, *valued;
	int operands; /* -1: they start none */
} programs[] = {
	{"git", "-C -c --git-dir --work-tree --namespace", -1},
	{"gh", "-R --repo --hostname", -1},
	{"npm", "--prefix -w --workspace -C", -1},
	{"pnpm", "--dir -C --filter", -1},
	{"cargo", "--config -Z", -1},
	{"docker", "--context -H --host", -1},
	{"env", "-u -C -S", 0},
	{"timeout", "-k -s --kill-after --signal", 1},
	{"nice", "-n", 0},
	{"nohup", "", 0},
	{"setsid", "", 0},
	{"stdbuf", "-i -o -e", 0},
	{"ionice", "-c -n", 0},
	{"xargs", "-n -I -L -P -d -a -s -E", 0},
	{"time", "-f -o", 0},
	{"command", "", 0},
	{"builtin", "", 0},
	{"exec", "-a", 0},
	{"sudo", "-u -g", 0},
};

/* NULL: it is none of them. */
static const struct program *policy_check_program_of(const char *name)
{
	for (size_t i = 0; name && i < COUNT(programs); i++)
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	return NULL;
}

static bool is_option_token(struct str token)
{
	return token.p[0] == '-' || memchr(token.p, '*', token.n);
}

bool rules_notation(struct str text)
{
	struct str token;
	bool options = false;

	if (!str_piece(&text, ' ', &token) || is_option_token(token))
		return false;
	while (str_piece(&text, ' ', &token)) {
		if (options && !is_option_token(token))
			return false;
		options = is_option_token(token);
	}
	return true;
}

/* Whether the word is one of a list. */
static bool rules_list_has(struct str list, char between, const char *word)
{
	struct str one;

	while (str_piece(&list, between, &one))
		if (str_is(one, word))
			return true;
	return false;
}

/* The index of the next word after `at` that is no option; n: none. */
static size_t policy_rules_next_word(const char *const *words, size_t n, size_t at)
{
	const struct program *program = policy_check_program_of(words[0]);

	for (at++; at < n; at++) {
		if (!words[at] || words[at][0] != '-')
			return at;
		if (program && rules_list_has(str_of(program->valued), ' ', words[at]))
			at++;
	}
	return n;
}

/* `-f` in `-uf`, `--force` or `--force=x`, or a pattern. */
static bool option_matches(struct str alternative, const char *word)
{
	char pattern[256];
	size_t n = alternative.n;

	if (memchr(alternative.p, '*', n)) {
		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)n, alternative.p);
		return fnmatch(pattern, word, 0) == 0;
	}
	if (n == 2 && word[0] == '-' && word[1] != '-')
		return strchr(word + 1, alternative.p[1]) != NULL;
	return strncmp(word, alternative.p, n) == 0 && (!word[n] || word[n] == '=');
}

static bool any_matches(struct str token, const char *const *words, size_t n)
{
	struct str one;

	while (str_piece(&token, '|', &one))
		for (size_t i = 1; i < n; i++)
			if (words[i] && option_matches(one, words[i]))
				return true;
	return false;
}

/* words[0] is the program's name without its directory; an unknown word is NULL. */
static bool describes(struct str rule, const char *const *words, size_t n)
{
	struct str token;
	size_t at = 0;

	(void)str_piece(&rule, ' ', &token);
	if (!rules_list_has(token, '|', words[0]))
		return false;
	while (str_piece(&rule, ' ', &token)) {
		if (is_option_token(token)) {
			if (!any_matches(token, words, n))
				return false;
			continue;
		}
		at = policy_rules_next_word(words, n, at);
		if (at >= n || !words[at] || !rules_list_has(token, '|', words[at]))
			return false;
	}
	return true;
}

struct check {
	struct arena *arena;
	const struct policy *policy;
	const struct root *root;
	struct str cwd; /* relative to the root */
	struct verdict *v;
	struct span outer; /* inside the text of `bash -c`: where that stands */
	bool moves;        /* a `cd` makes relative paths uncertain */
	unsigned depth;
};

static struct span policy_check_place_of(const struct check *c, struct span at)
{
	return c->depth ? c->outer : at;
}

static const char *policy_check_name_of(const struct command *m)
{
	return m->n_words && m->words[0].text ? path_base(m->words[0].text).p : NULL;
}

/* ---- wrappers ---- */

/* Cuts the wrapper off; false: it is none, or starts nothing that is known. */
static bool unwrap(struct command *m)
{
	const struct program *program = policy_check_program_of(policy_check_name_of(m));
	size_t at = 1;

	if (!program || program->operands < 0)
		return false;
	while (at < m->n_words && m->words[at].text) {
		const char *word = m->words[at].text;

		if (word[0] == '-' && word[1])
			at += rules_list_has(str_of(program->valued), ' ', word) ? 2 : 1;
		else if (strcmp(program->name, "env") == 0 && strchr(word, '='))
			at++;
		else
			break;
	}
	if (at < m->n_words && m->words[at].text) /* else it can be several words */
		at += (size_t)program->operands;
	if (at >= m->n_words)
		return false;
	m->words += at;
	m->n_words -= at;
	return true;
}

/* ---- the readers ---- */

static int policy_check_text(struct check *c, struct str text);

/* `bash -c TEXT` */
static int check_shell(struct check *c, const struct command *m)
{
	static const char *const shells[] = {"bash", "sh", "dash", "zsh", NULL};
	const char *name = policy_check_name_of(m);
	struct check inner = *c;

	if (!name || !str_in(str_of(name), shells) || c->depth == NESTED_MAX)
		return 0;
	for (size_t i = 1; i + 1 < m->n_words && m->words[i].text && m->words[i].text[0] == '-';
		i++) {
		const char *option = m->words[i].text;

		if (option[1] == '-' || option[strlen(option) - 1] != 'c' || !m->words[i + 1].text)
			continue;
		inner.depth++;
		inner.outer = m->words[i + 1].at;
		return policy_check_text(&inner, str_of(m->words[i + 1].text));
	}
	return 0;
}

static int check_listed(const struct check *c, const struct command *m)
{
	/* Without those that read files as programs, or run what they are given. */
	static const char *const builtins[] = {":", "[", "alias", "bg", "break", "cd", "continue",
		"declare", "dirs", "echo", "exit", "export", "false", "fg", "getopts", "hash",
		"jobs", "kill", "let", "local", "mapfile", "popd", "printf", "pushd", "pwd", "read",
		"readonly", "return", "set", "shift", "shopt", "test", "times", "trap", "true",
		"type", "ulimit", "umask", "unalias", "unset", "wait", NULL};
	const char *name = policy_check_name_of(m);

	if (!c->policy->allow_listed)
		return 0;
	if (!name)
		return deny(c->v, RULE_NAME_DYNAMIC, m->words[0].at,
			"the program is known only when the command runs: write its name");
	if (texts_have(&c->policy->allow, str_of(name)) || str_in(str_of(name), builtins))
		return 0;
	return deny_word(c->v, RULE_NAME_LISTED, m->words[0].at, str_of(name), STR(""),
		"the policy does not allow this program");
}

/* By the first rule that describes the command. */
static int policy_check_rules(const struct check *c, const struct command *m)
{
	const char **words = arena_alloc(c->arena, (m->n_words + 1) * sizeof(*words));
	const struct policy_rule *rule = NULL;
	struct verdict *v = c->v;

	for (size_t i = 0; i < m->n_words; i++)
		words[i] = i ? m->words[i].text : policy_check_name_of(m);
	for (size_t i = 0; i < c->policy->n_rules && words[0] && !rule; i++)
		if (describes(str_of(c->policy->rules[i].command), words, m->n_words))
			rule = &c->policy->rules[i];
	if (!rule || (rule->answer == ANSWER_ASK && v->ask))
		return 0;
	(void)deny_word(v, RULE_COMMAND,
		(struct span){m->words[0].at.from, m->words[m->n_words - 1].at.to},
		str_of(words[0]), STR(""), "the policy's rule '%.150s'%s%.150s", rule->command,
		rule->instead ? ": " : "", rule->instead ? rule->instead : "");
	if (rule->answer == ANSWER_DENY)
		return -1;
	v->denied = false;
	v->ask = true;
	return 0;
}

const char *policy_artifacts(struct arena *a)
{
	const char *dir = getenv("ARTIFACTS_DIR"), *id = getenv("DEV_TEAM_ID");

	return dir && dir[0] == '/' && id && policy_name_valid(str_of(id)) ? path_join(a, dir, id)
									   : NULL;
}

/* *below: the path leads below the root, as far as the text shows. */
static int check_place(
	const struct check *c, const char *path, struct span at, enum access access, bool *below)
{
	/* Private to each run, or to the item, so that anything may be written there. */
	const char *const private[] = {"/tmp", "/var/tmp", "/dev", "/proc", getenv("TMPDIR"),
		getenv("HOME"), policy_artifacts(c->arena)};
	struct verdict judged = {0};
	struct place place;

	*below = false;
	if (path[0] != '/' && c->moves)
		return 0;
	if (where(c->arena, c->root, c->policy, c->cwd, str_of(path), access, at, &place,
		    &judged) == 0) {
		*below = !place.outside;
		return 0;
	}
	if (path[0] == '/' && judged.rule == RULE_PATH_OUTSIDE &&
		path_below_any(str_of(path), private, COUNT(private)))
		return 0;
	*c->v = judged;
	return -1;
}

static int policy_check_redirects(const struct check *c, const struct command *n)
{
	for (const struct redirect *r = n->redirects; r; r = r->next) {
		const char *path = r->kind == REDIRECT_WRITE ? r->word.text : NULL;
		struct span at = policy_check_place_of(c, r->word.at);
		bool below;

		if (!path || !*path)
			continue;
		if (check_place(c, path, at, ACCESS_WRITE, &below) < 0)
			return -1;
		if (!c->policy->write && below)
			return deny_word(c->v, RULE_WRITE, at, str_of(path), STR(""),
				"the policy does not allow writing; write below $TMPDIR");
	}
	return 0;
}

/* Paths that climb out of the root, and directories that `cd` names, to what is there: inside the
 * sandbox it is not, and the command would fail without saying why. */
static int check_paths(struct check *c, const struct command *m)
{
	static const char *const movers[] = {"cd", "pushd", "popd", NULL};
	/* Directories that exist inside as outside. */
	static const char *const system[] = {"/usr", "/etc", "/opt", "/bin", "/lib", "/sbin",
		"/proc", "/sys", "/tmp", "/var/tmp", "/dev"};
	const char *name = policy_check_name_of(m), *path;
	bool moves = name && str_in(str_of(name), movers), below;
	const char *dir = path_join(c->arena, c->root->path, arena_dup(c->arena, c->cwd));

	for (size_t i = 1; i < m->n_words; i++) {
		path = m->words[i].text;
		if (!path || path[0] == '-' || (path[0] != '/' && c->moves))
			continue;
		if (moves && i == m->n_words - 1
				? !path[strspn(path, "/")] ||
					  path_below_any(str_of(path), system, COUNT(system))
				: path[0] == '/' ||
					  (!str_starts(str_of(path), "../") &&
						  strcmp(path, "..") != 0 && !strstr(path, "/../")))
			continue;
		if (path_exists(path[0] == '/' ? path : path_join(c->arena, dir, path)) &&
			check_place(c, path, m->words[i].at, ACCESS_READ, &below) < 0)
			return -1;
	}
	c->moves |= moves;
	return 0;
}

static int policy_check_command(struct check *c, const struct command *n)
{
	struct command m = *n;

	for (size_t i = 0; i < m.n_words; i++)
		m.words[i].at = policy_check_place_of(c, m.words[i].at);
	if (policy_check_redirects(c, n) < 0)
		return -1;
	while (m.n_words) {
		if (check_listed(c, &m) < 0 || policy_check_rules(c, &m) < 0 ||
			check_shell(c, &m) < 0 || check_paths(c, &m) < 0)
			return -1;
		if (!unwrap(&m))
			break;
	}
	return 0;
}

/* Bash reads more than the parser does. What only the parser refuses, by a rule behind the limits,
 * runs, unless the policy needs to know each program. */
static int policy_check_text(struct check *c, struct str text)
{
	struct verdict parsed = {0};
	struct command *commands;

	if (shell_parse(c->arena, text, &commands, &parsed) == 0) {
		for (; commands; commands = commands->next)
			if (policy_check_command(c, commands) < 0)
				return -1;
		return 0;
	}
	c->v->unread = true;
	if (!c->policy->allow_listed && parsed.rule > RULE_LIMIT)
		return 0;
	parsed.at = policy_check_place_of(c, parsed.at);
	*c->v = parsed;
	return -1;
}

int policy_check(struct arena *a, const struct policy *p, const struct root *r, const char *cwd,
	struct str command, struct verdict *v)
{
	struct check c = {.arena = a, .policy = p, .root = r, .v = v};

	*v = (struct verdict){0};
	return policy_cwd(a, r, cwd, &c.cwd, v) < 0 ? -1 : policy_check_text(&c, command);
}

int policy_cwd(
	struct arena *a, const struct root *r, const char *cwd, struct str *out, struct verdict *v)
{
	static const struct policy none = {.name = "none"};
	CLEANUP(base_free) char *real = realpath(cwd, NULL);
	struct verdict judged = {0};
	struct place place;

	if (!real)
		return deny_word(v, RULE_CWD, (struct span){0}, str_of(cwd), STR(""),
			"the working directory does not exist");
	if (where(a, r, &none, STR(""), str_of(real), ACCESS_READ, (struct span){0}, &place,
		    &judged) < 0 ||
		!place.folder || place.outside)
		return deny_word(v, RULE_CWD, (struct span){0}, arena_str(a, str_of(real)), STR(""),
			"the working directory is outside the root");
	*out = place.path;
	return 0;
}
