#include "src/policy/bin.h"
#include "tests/lib/policy_rig.h"
#include "tests/lib/policy_tree.h"

struct policy rig_policy;
struct root rig_root = {.fd = -1};

int rig_make(void **state)
{
	struct error err = {0};

	if (policy_tree_lay(state) < 0)
		return -1;
	scratch_write("tree/.git/config", "x\n");
	scratch_write("tree/.git/HEAD", "x\n");
	link_to("..", "tree/up");
	if (root_open(&arena, at("tree"), &rig_root, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static const struct binary *const programs_tables[] = {binaries_text, binaries_system,
	binaries_files, binaries_build, binaries_wrap, binaries_shell, binaries_git};

int programs_make(void **state)
{
	static const char *names[512];
	size_t n = 0;

	if (rig_make(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(programs_tables); i++)
		for (const struct binary *b = programs_tables[i]; b->name && n < COUNT(names); b++)
			names[n++] = b->name;
	qsort(names, n, sizeof(*names), vec_by_text);
	rig_policy = (struct policy){.name = "all", .write = true, .network = true};
	rig_policy.allow = (struct texts){names, n};
	return 0;
}

int rig_remove(void **state)
{
	root_close(&rig_root);
	return scratch_remove(state);
}

void rig_use(const char *name)
{
	struct error err = {0};

	if (policy_load(&arena, name, &rig_policy, &err) < 0)
		fail_msg("%s", err.text);
}

void rig_use_json(const char *text)
{
	CLEANUP(json_free) json *j = NULL;
	struct error err = {0};

	assert_int_equal(json_parse(&j, str_of(text), &err), 0);
	if (policy_from_json(&arena, j, &rig_policy, &err) < 0)
		fail_msg("%s", err.text);
}

struct verdict rig_ask(const char *line)
{
	struct verdict v;
	struct node *tree;

	(void)policy_check(
		&arena, &rig_policy, &rig_root, rig_root.path, str_of(line), &tree, &v, NULL);
	return v;
}

void rig_allowed(const char *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct verdict v = rig_ask(line);

	verdict_line(&text, &v);
	if (v.denied)
		fail_msg("should be allowed: %s\n  %s", line, text.s);
}

void rig_denied(const char *line, const char *rule)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct verdict v = rig_ask(line);

	verdict_line(&text, &v);
	if (!v.denied)
		fail_msg("should be denied by %s: %s", rule, line);
	if (strcmp(rule_id(v.rule), rule) != 0)
		fail_msg("should be denied by %s: %s\n  %s", rule, line, text.s);
}
