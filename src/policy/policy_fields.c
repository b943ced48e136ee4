#include "src/base/number.h"
#include "src/config/decode.h"
#include "src/policy/binary.h"

enum { FIELD_TEXT_MAX = 4096 };

/* ---- forms of texts ---- */

bool policy_name_valid(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_';

		if (!word && (i == 0 || !memchr(".+-", c, 3)))
			return false;
	}
	return text.n && text.n <= 64;
}

/* `[`, `:` and names as others have them. */
static bool program_valid(struct str text)
{
	return str_is(text, "[") || str_is(text, ":") || policy_name_valid(text);
}

/* `log`, or with a subcommand or the form that is meant: `stash list`, `push --force`. */
static bool git_command_valid(struct str text)
{
	size_t blank = str_find(text, STR(" "));

	for (size_t i = 0; i < text.n; i++)
		if ((text.p[i] < 'a' || text.p[i] > 'z') && i != blank &&
			(i == 0 || text.p[i] != '-'))
			return false;
	return text.n && text.n <= 64 && blank + 1 != text.n;
}

/* `section.name` or `section.any thing.name`. */
static bool git_key_valid(struct str text)
{
	const char *first = text.n ? memchr(text.p, '.', text.n) : NULL;
	const char *last = text.n ? memrchr(text.p, '.', text.n) : NULL;

	if (!first || first == text.p || last == text.p + text.n - 1 || text.n > 200)
		return false;
	for (const char *p = text.p; p < text.p + text.n; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
		bool digit = (*p >= '0' && *p <= '9') || *p == '-';

		if ((p < first || p > last) && !letter && !digit)
			return false;
		if ((unsigned char)*p < ' ' || *p == '=')
			return false;
	}
	return true;
}

/* Each of these runs something else, or changes which files a program takes for its own. */
static bool variable_overrules(struct str name)
{
	static const char *const begins[] = {
		"LD_", "DYLD_", "BASH", "GIT_CONFIG", "GLIBC_", "MALLOC_", "DEV_TEAM_"};
	static const char *const names[] = {"PATH", "IFS", "ENV", "PS4", "SHELL", "SHELLOPTS",
		"CDPATH", "HOME", "TMPDIR", "PWD", "OLDPWD", "GIT_EXEC_PATH", "GCC_EXEC_PREFIX"};

	for (size_t i = 0; i < COUNT(begins); i++)
		if (str_starts(name, begins[i]))
			return true;
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool variable_valid(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return text.n && text.n <= 128 && !variable_overrules(text);
}

/* No empty, `.` or `..` part; no control characters. */
static bool parts_valid(struct str path)
{
	size_t from = 0;

	for (size_t i = 0; i <= path.n; i++) {
		struct str part;

		if (i < path.n && (unsigned char)path.p[i] < ' ')
			return false;
		if (i < path.n && path.p[i] != '/')
			continue;
		part = str_sub(path, from, i);
		if (!part.n || str_is(part, ".") || str_is(part, ".."))
			return false;
		from = i + 1;
	}
	return path.n <= 4096;
}

static bool relative_valid(struct str text)
{
	return text.n && parts_valid(text);
}

/* Links of /proc lead anywhere, and devices are no files. */
static bool absolute_valid(struct str text)
{
	static const char *const never[] = {"/proc", "/dev", "/sys"};

	for (size_t i = 0; i < COUNT(never); i++)
		if (str_starts(text, never[i]) &&
			(text.n == strlen(never[i]) || text.p[strlen(never[i])] == '/'))
			return false;
	return text.n > 1 && text.p[0] == '/' && parts_valid(str_sub(text, 1, text.n));
}

static bool is_notation(struct str text)
{
	return !text.n || (text.n <= FIELD_TEXT_MAX && config_line.valid(text));
}

#define FORM(name, is, text)                                                                       \
	static const struct config_form name = {.valid = is, .what = text, .ascii = true}

FORM(name_form, policy_name_valid, "1 to 64 letters, digits and '.', '_', '+', '-' inside");
FORM(own_program_form, policy_name_valid, "the plain name of a program");
FORM(program_form, program_valid, "the plain name of a program");
FORM(git_form, git_command_valid, "the name of a git command");
FORM(git_key_form, git_key_valid, "a key of git's configuration, like 'user.name'");
FORM(variable_form, variable_valid, "the name of a variable that commands may set");
FORM(relative_form, relative_valid, "a path relative to the root, without '.' and '..'");
FORM(absolute_form, absolute_valid,
	"an absolute path without '.' and '..', below neither /proc, /dev nor /sys");
FORM(notation_form, is_notation, "at most 4096 characters on one line");

/* ---- the tables ---- */

#define TEXTS(name, of, member)                                                                    \
	.key = name, .kind = CONFIG_TEXTS, .form = &of, .once = true, .sorted = true,              \
	CONFIG_LIST_AT(policy, member.p, member.n)
#define BOOL(name, type, member) .key = name, .kind = CONFIG_BOOL, CONFIG_AT(type, member)
#define GROUP(name, table)       .key = name, .kind = CONFIG_GROUP, .fields = table
#define NOTATION(name, member)                                                                     \
	.key = name, .kind = CONFIG_TEXT, .form = &notation_form, CONFIG_AT(program, member)

static const struct config_field program_fields[] = {
	{NOTATION("options", options)},
	{NOTATION("operands", operands)},
	{BOOL("runs_code", program, runs_code)},
	{0},
};

static void check_program(struct config_reader *r, const struct yaml *map, void *of)
{
	struct program *p = of;
	const struct yaml key = {.line = p->line, .col = p->col};
	struct error err = {0};

	(void)map;
	p->options = p->options ? p->options : "";
	p->operands = p->operands ? p->operands : "";
	if (notation_check(p->options, p->operands, &err) < 0)
		config_fault(r, &key, "program '%s': %s", p->name, err.text);
}

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
	{SIZE("output", output)},
	{0},
};

#define LAYER(name, which)                                                                         \
	.key = name, .kind = CONFIG_WORD, CONFIG_AT(policy, layers[which]),                        \
	CONFIG_WORDS("best_effort", "require", "off")

static const struct config_field layer_fields[] = {
	{LAYER("landlock", LAYER_LANDLOCK)},
	{LAYER("seccomp", LAYER_SECCOMP)},
	{LAYER("processes", LAYER_PROCESSES)},
	{LAYER("network", LAYER_NETWORK)},
	{LAYER("mounts", LAYER_MOUNTS)},
	{LAYER("cgroup", LAYER_CGROUP)},
	{0},
};

#define ID(name, member)                                                                           \
	.key = name, .kind = CONFIG_INTEGER, .required = true, CONFIG_RANGE(1, 4294967294),        \
	CONFIG_AT(policy, member)

static const struct config_field user_fields[] = {
	{ID("uid", uid)},
	{ID("gid", gid)},
	{0},
};

const struct config_field policy_fields[] = {
	{.key = "name", .kind = CONFIG_TEXT, .form = &name_form, CONFIG_AT(policy, name)},
	{TEXTS("allow", program_form, allow), .required = true},
	{BOOL("write", policy, write)},
	{BOOL("network", policy, network)},
	{TEXTS("git", git_form, git), CONFIG_SEEN(policy, git_listed)},
	{TEXTS("git_config", git_key_form, git_config)},
	{TEXTS("environment", variable_form, environment)},
	{TEXTS("read", absolute_form, read)},
	{TEXTS("protect", relative_form, protect)},
	{TEXTS("scripts", relative_form, scripts)},
	{.key = "programs",
		.kind = CONFIG_ENTRIES,
		.form = &own_program_form,
		CONFIG_ITEMS_AT(policy, programs, n_programs),
		.fields = program_fields,
		.check = check_program,
		CONFIG_PLACE(program, line)},
	{GROUP("limits", limit_fields)},
	{GROUP("kernel", layer_fields)},
	{.key = "violation",
		.kind = CONFIG_WORD,
		CONFIG_AT(policy, violation),
		CONFIG_WORDS("hard_abort", "validation_fail")},
	{GROUP("user", user_fields)},
	{0},
};
