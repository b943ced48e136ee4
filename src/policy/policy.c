#include "src/sys/path.h"
#include "src/base/number.h"
#include "src/policy/clearance.h"
#include "src/policy/where.h"

/* ---- forms of texts ---- */

bool policy_name_valid(struct str text)
{
	return text.n <= 64 && config_made_of(text, CONFIG_ALNUM, "_", CONFIG_ALNUM, "_.+-");
}

/* `[`, `:` and names as others have them. */
static bool program_valid(struct str text)
{
	return str_is(text, "[") || str_is(text, ":") || policy_name_valid(text);
}

static bool variable_valid(struct str text)
{
	/* Each of these runs something else, or changes which files a program takes for its own. */
	static const char *const never[] = {"LD_*", "DYLD_*", "BASH*", "GIT_CONFIG*", "GLIBC_*",
		"MALLOC_*", "DEV_TEAM_*", "PATH", "IFS", "ENV", "PS4", "SHELL", "SHELLOPTS",
		"CDPATH", "HOME", "TMPDIR", "PWD", "OLDPWD", "GIT_EXEC_PATH", "GCC_EXEC_PREFIX"};

	for (size_t i = 0; i < COUNT(never); i++)
		if (clearance_tool_matches(never[i], text))
			return false;
	return text.n <= 128 && config_made_of(text, CONFIG_LETTER, "_", CONFIG_ALNUM, "_");
}

/* Without an empty, `.` or `..` part. */
static bool relative_valid(struct str text)
{
	struct str rest = text, part;
	size_t n = 0;

	while (str_piece(&rest, '/', &part)) {
		if (str_is(part, ".") || str_is(part, ".."))
			return false;
		n += part.n + 1;
	}
	return n == text.n + 1 && text.n <= 4096 && config_line.valid(text);
}

/* Links of /proc lead anywhere, and devices are no files. */
static bool absolute_valid(struct str text)
{
	static const char *const never[] = {"/proc", "/dev", "/sys"};

	return !path_below_any(text, never, COUNT(never)) && str_starts(text, "/") &&
	       relative_valid(str_sub(text, 1, text.n));
}

/* As in `git branch`; `*` stands for anything. */
static bool branch_valid(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || strchr("~^:?[\\", text.p[i]))
			return false;
	return text.n && text.n <= 200 && text.p[0] != '-';
}

/* `HOST` or `HOST:PORT`, with `*.` in front for all below it. A local service is a port. */
static bool host_valid(struct str text)
{
	size_t end = str_find(text, STR(":"));
	struct str name = str_sub(text, str_starts(text, "*.") ? 2 : 0, end);
	uint64_t port;

	if (end < text.n && !number_parse(str_sub(text, end + 1, text.n), 1, 65535, &port))
		return false;
	return name.n <= 253 && config_made_of(name, CONFIG_ALNUM, "_", CONFIG_ALNUM, ".-_") &&
	       (end < text.n || (!str_is(name, "localhost") && !str_starts(name, "127.")));
}

/* Two words, or the path of an API: `api repos/{owner}/...`. */
static bool forge_valid(struct str text)
{
	size_t blank = str_find(text, STR(" "));

	return blank && blank + 1 < text.n && text.n <= 200 && text.p[0] != '-' &&
	       config_line.valid(text) && !memchr(text.p + blank + 1, ' ', text.n - blank - 1);
}

static bool rule_valid(struct str text)
{
	return text.n <= 400 && config_line.valid(text) && rules_notation(text);
}

#define FORM(name, is, text)                                                                       \
	static const struct config_form name = {.valid = is, .what = text, .ascii = true}

FORM(name_form, policy_name_valid, "1 to 64 letters, digits and '.', '_', '+', '-' inside");
FORM(program_form, program_valid, "the plain name of a program");
FORM(variable_form, variable_valid, "the name of a variable that commands may get");
FORM(relative_form, relative_valid, "a path relative to the root, without '.' and '..'");
FORM(absolute_form, absolute_valid,
	"an absolute path without '.' and '..', below neither /proc, /dev nor /sys");
FORM(remote_form, policy_name_valid, "the name of a remote");
FORM(branch_form, branch_valid, "the name of a branch, or a pattern with '*'");
FORM(host_form, host_valid, "HOST or HOST:PORT, with a port if it is this machine");
FORM(forge_form, forge_valid, "a command of gh or glab, like 'pr view'");
FORM(rule_form, rule_valid, "a program's name and words, like 'git push --force|-f'");

/* ---- the tables ---- */

#define TEXTS(name, of, member)                                                                    \
	.key = name, .kind = CONFIG_TEXTS, .form = &of, .once = true, .sorted = true,              \
	CONFIG_LIST_AT(policy, member.p, member.n)
/* Bytes, also with K, M or G behind. */
static bool parse_size(struct str text, uint64_t *out)
{
	static const char units[] = "KMG";
	static const uint64_t most = (uint64_t)1 << 50;
	const char *unit = text.n > 1 ? strchr(units, text.p[text.n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (!number_parse(str_sub(text, 0, text.n - (unit != NULL)), 1, most >> shift, out))
		return false;
	*out <<= shift;
	return true;
}

static void read_size(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	uint64_t *bytes = into;

	if (v->kind == YAML_SCALAR && str_is(v->text, "none"))
		*bytes = 0;
	else if (v->kind != YAML_SCALAR || !parse_size(v->text, bytes))
		config_refuse(r, f, key, v,
			"bytes, like 65536, 64K, 512M or 2G, at most 1048576G, or none");
}

#define LIMIT(name, member, most)                                                                  \
	.key = name, .kind = CONFIG_INTEGER, CONFIG_RANGE(1, most), .none = true,                  \
	CONFIG_AT(policy, limits.member)
#define SIZE(name, member)                                                                         \
	.key = name, .kind = CONFIG_CUSTOM, .read = read_size, CONFIG_AT(policy, limits.member)

static const struct config_field limit_fields[] = {
	{LIMIT("timeout", timeout_s, 86400)},
	{LIMIT("cpu", cpu_s, 86400)},
	{SIZE("memory", memory)},
	{SIZE("file_size", file_size)},
	{LIMIT("processes", processes, 1000000)},
	{LIMIT("open_files", open_files, 1000000)},
	{0},
};

static const struct config_field rule_fields[] = {
	{.key = "command",
		.kind = CONFIG_TEXT,
		.form = &rule_form,
		.required = true,
		CONFIG_AT(policy_rule, command)},
	{.key = "answer",
		.kind = CONFIG_WORD,
		CONFIG_AT(policy_rule, answer),
		CONFIG_WORDS("deny", "ask")},
	{.key = "instead",
		.kind = CONFIG_TEXT,
		.form = &config_line,
		CONFIG_AT(policy_rule, instead)},
	{0},
};

static const struct config_field policy_fields[] = {
	{.key = "name", .kind = CONFIG_TEXT, .form = &name_form, CONFIG_AT(policy, name)},
	{TEXTS("allow", program_form, allow), CONFIG_SEEN(policy, allow_listed)},
	{.key = "write", .kind = CONFIG_BOOL, CONFIG_AT(policy, write)},
	{.key = "network",
		.kind = CONFIG_WORD,
		CONFIG_AT(policy, network),
		CONFIG_WORDS("none", "host")},
	{TEXTS("hosts", host_form, hosts)},
	{TEXTS("environment", variable_form, environment)},
	{TEXTS("read", absolute_form, read)},
	{TEXTS("protect", relative_form, protect)},
	{TEXTS("remotes", remote_form, remotes)},
	{TEXTS("push", branch_form, push)},
	{TEXTS("forge", forge_form, forge)},
	{.key = "rules",
		.kind = CONFIG_LIST,
		CONFIG_ITEMS_AT(policy, rules, n_rules),
		.fields = rule_fields},
	{.key = "limits", .kind = CONFIG_GROUP, .fields = limit_fields},
	{.key = "violation",
		.kind = CONFIG_WORD,
		CONFIG_AT(policy, violation),
		CONFIG_WORDS("hard_abort", "validation_fail")},
	{0},
};

/* ---- reading one ---- */

enum { POLICY_MAX = 256 << 10 };

/* What a policy has that says nothing of limits. */
static const struct policy_limits usual = {
	.timeout_s = 600, .file_size = (uint64_t)4 << 30, .open_files = 4096};

bool texts_have(const struct texts *t, struct str text)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_is(text, t->p[i]))
			return true;
	return false;
}

int policy_parse(
	struct arena *a, const char *file, struct str text, struct policy *out, struct error *err)
{
	struct str base = path_base(file), end = str_of(strrchr(base.p, '.'));
	struct yaml *map;

	*out = (struct policy){.limits = usual};
	if (yaml_parse(a, text, file, 1, &map, err) < 0 ||
		config_decode(a, file, map, "a policy", policy_fields, out, err) < 0)
		return -1;
	if (out->hosts.n && out->network == NETWORK_HOST)
		return error_at(err, file, yaml_get(map, "hosts")->line,
			yaml_get(map, "hosts")->col,
			"'hosts' has no effect with 'network: host': remove one of them");
	base = str_sub(base, 0, base.n - end.n);
	if (!out->name)
		out->name = policy_name_valid(base) ? arena_dup(a, base) : "policy";
	return 0;
}

bool policy_is_path(const char *name)
{
	return strchr(name, '/') || str_ends(str_of(name), ".yaml") ||
	       str_ends(str_of(name), ".yml");
}

static int fault_of_name(const char *name, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (const char *const *p = policy_shipped(); *p; p++)
		buf_addf(&list, "%s%s", p == policy_shipped() ? "" : p[1] ? ", " : " and ", *p);
	return error_set(err, ERR_INPUT,
		"unknown policy '%.200s': there are %s, or give the path of a file", name, list.s);
}

int policy_load(struct arena *a, const char *name, struct policy *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str shipped = policy_shipped_text(name);
	bool missing;

	if (shipped.p)
		return policy_parse(
			a, arena_printf(a, "policies/%s.yaml", name), shipped, out, err);
	if (!policy_is_path(name))
		return fault_of_name(name, err);
	if (sys_read_file(&text, name, POLICY_MAX, &missing, err) < 0) {
		if (missing)
			error_set(err, ERR_INPUT, "no policy '%.400s'", name);
		return -1;
	}
	/* Nodes of the tree have copies of what they say. */
	return policy_parse(a, arena_dup(a, str_of(name)), buf_str(&text), out, err);
}

/* ---- the shipped ones ---- */

/* The files of policies/ as they are, so that what is shipped is what can be read and copied. */
#define SHIPPED(name)                                                                              \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl policy_" #name "\n"                                                        \
		"policy_" #name ":\n"                                                              \
		".incbin \"policies/" #name ".yaml\"\n"                                            \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char policy_##name[]
SHIPPED(build);
SHIPPED(developer);
SHIPPED(readonly);
SHIPPED(reviewer);

static const char *const shipped[] = {"build", "developer", "readonly", "reviewer", NULL};

const char *const *policy_shipped(void)
{
	return shipped;
}

struct str policy_shipped_text(const char *name)
{
	static const char *const texts[] = {
		policy_build, policy_developer, policy_readonly, policy_reviewer};

	unsigned at;

	return str_index(str_of(name), shipped, &at) ? str_of(texts[at]) : (struct str){0};
}
