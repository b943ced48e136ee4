#include "src/policy/binary.h"
#include "src/policy/policy_fields.h"

#define AT(member) offsetof(struct policy, member)

static const char *const needs[] = {
	[NEED_BEST_EFFORT] = "best_effort", [NEED_REQUIRED] = "require", [NEED_OFF] = "off"};

/* `[`, `:` and names as others have them. */
static bool program_valid(struct str text)
{
	return str_is(text, "[") || str_is(text, ":") || name_valid(text);
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

static int read_name(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	if (field_text(f, v, key, into) < 0)
		return -1;
	if (!name_valid(v->text))
		return field_fault(f, v,
			"'%s' must be 1 to 64 letters, digits and '.', '_', '+', '-' inside, not "
			"'%.80s'",
			key, v->text.p);
	return 0;
}

#define TEXTS(name, valid, form)                                                                   \
	static int name(const struct fields *f, const struct yml *v, const char *key, void *into)  \
	{                                                                                          \
		return field_texts(f, v, key, valid, form, into);                                  \
	}
TEXTS(read_programs_allowed, program_valid, "the plain name of a program")
TEXTS(read_git_keys, git_key_valid, "a key of git's configuration, like 'user.name'")
TEXTS(read_variables, variable_valid, "the name of a variable that may be left to commands to set")
TEXTS(read_relative, relative_valid, "a path relative to the root, without '.' and '..'")
TEXTS(read_absolute, absolute_valid,
	"an absolute path without '.' and '..', below neither /proc, /dev nor /sys")

static int read_git(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	struct policy *p = into;

	p->git_listed = true;
	return field_texts(f, v, key, git_command_valid, "the name of a git command", &p->git);
}

/* ---- programs ---- */

static int read_notation(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	if (v->kind == YML_SCALAR && !v->text.n && !v->plain)
		return *(const char **)into = "", 0;
	return field_text(f, v, key, into);
}

static const struct field program_keys[] = {
	{"options", read_notation, offsetof(struct program, options), false},
	{"operands", read_notation, offsetof(struct program, operands), false},
	{"runs_code", field_bool, offsetof(struct program, runs_code), false},
};

static int check_notation(const struct fields *f, const struct yml *at, const struct program *p)
{
	struct error err = {0};

	if (notation_check(p->options, p->operands, &err) < 0)
		return field_fault(f, at, "program '%s': %s", p->name, err.text);
	return 0;
}

static int read_programs(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	struct policy *p = into;

	if (v->kind != YML_MAP)
		return field_fault(f, v, "'%s' must be a map of programs", key);
	p->programs = arena_alloc(f->arena, (v->n + 1) * sizeof(*p->programs));
	for (size_t i = 0; i < v->n; i++) {
		struct program *one = &p->programs[p->n_programs++];

		*one = (struct program){v->map[i].key->text.p, "", "", false};
		if (!name_valid(v->map[i].key->text))
			return field_fault(f, v->map[i].key,
				"'%.80s' is not the plain name of a program", one->name);
		if (fields_read(f, v->map[i].value, "a program", program_keys, COUNT(program_keys),
			    one) < 0 ||
			check_notation(f, v->map[i].key, one) < 0)
			return -1;
	}
	return 0;
}

/* ---- limits, kernel, user ---- */

#define LIMIT(member) offsetof(struct policy_limits, member)
static const struct field limit_keys[] = {
	{"timeout", field_seconds, LIMIT(timeout_s), false},
	{"cpu", field_seconds, LIMIT(cpu_s), false},
	{"memory", field_size, LIMIT(memory), false},
	{"file_size", field_size, LIMIT(file_size), false},
	{"processes", field_count, LIMIT(processes), false},
	{"open_files", field_count, LIMIT(open_files), false},
	{"output", field_size, LIMIT(output), false},
};

static int read_limits(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	(void)key;
	return fields_read(f, v, "'limits'", limit_keys, COUNT(limit_keys), into);
}

static int read_need(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	size_t which;

	if (field_word(f, v, key, needs, COUNT(needs), &which) < 0)
		return -1;
	*(enum need *)into = (enum need)which;
	return 0;
}

static int read_kernel(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	struct field keys[LAYERS];

	(void)key;
	for (size_t i = 0; i < LAYERS; i++)
		keys[i] = (struct field){
			layer_name((enum layer)i), read_need, i * sizeof(enum need), false};
	return fields_read(f, v, "'kernel'", keys, LAYERS, into);
}

static int read_violation(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	static const char *const words[] = {"hard_abort", "validation_fail"};
	size_t which;

	if (field_word(f, v, key, words, COUNT(words), &which) < 0)
		return -1;
	*(enum violation *)into = (enum violation)which;
	return 0;
}

static const struct field user_keys[] = {
	{"uid", field_id, AT(uid), true},
	{"gid", field_id, AT(gid), true},
};

static int read_user(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	(void)key;
	return fields_read(f, v, "'user'", user_keys, COUNT(user_keys), into);
}

static const struct field policy_keys[] = {
	{"name", read_name, AT(name), false},
	{"allow", read_programs_allowed, AT(allow), true},
	{"write", field_bool, AT(write), false},
	{"network", field_bool, AT(network), false},
	{"git", read_git, 0, false},
	{"git_config", read_git_keys, AT(git_config), false},
	{"environment", read_variables, AT(environment), false},
	{"read", read_absolute, AT(read), false},
	{"protect", read_relative, AT(protect), false},
	{"scripts", read_relative, AT(scripts), false},
	{"programs", read_programs, 0, false},
	{"limits", read_limits, AT(limits), false},
	{"kernel", read_kernel, AT(layers), false},
	{"violation", read_violation, AT(violation), false},
	{"user", read_user, 0, false},
};

int policy_fields(const struct fields *f, const struct yml *map, struct policy *out)
{
	return fields_read(f, map, "a policy", policy_keys, COUNT(policy_keys), out);
}
