#include "src/sys/path.h"
#include "src/policy/policy.h"

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

/* What file a policy without a name gets its name from. */
static const char *policy_name_of(struct arena *a, const char *file)
{
	struct str base = path_base(file), end = str_of(strrchr(base.p, '.'));

	base = str_sub(base, 0, base.n - end.n);
	return policy_name_valid(base) ? arena_dup(a, base) : "policy";
}

int policy_parse(
	struct arena *a, const char *file, struct str text, struct policy *out, struct error *err)
{
	struct yaml *map;

	*out = (struct policy){.limits = usual};
	if (yaml_parse(a, text, file, 1, &map, err) < 0 ||
		config_decode(a, file, map, "a policy", policy_fields, out, err) < 0)
		return -1;
	if (out->hosts.n && out->network == NETWORK_HOST)
		return error_at(err, file, yaml_get(map, "hosts")->line,
			yaml_get(map, "hosts")->col,
			"'hosts' has no effect with 'network: host': remove one of them");
	if (!out->name)
		out->name = policy_name_of(a, file);
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

	for (size_t i = 0; shipped[i]; i++)
		if (strcmp(shipped[i], name) == 0)
			return str_of(texts[i]);
	return (struct str){0};
}
