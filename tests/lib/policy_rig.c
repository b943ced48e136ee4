#include "tests/lib/policy_rig.h"

struct policy rig_policy;
struct root rig_root = {.fd = -1};

void rig_file(const char *name, const char *text)
{
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

int rig_make(void **state)
{
	static const char *const directories[] = {"tree/src", "tree/include", "tree/sub",
		"tree/build", "tree/.git/hooks", "tree-other", "tree/a b"};
	static const char *const files[] = {"secret", "tree-other/secret", "tree/README.md",
		"tree/Makefile", "tree/src/main.c", "tree/src/util.c", "tree/src/h.h",
		"tree/sub/Makefile", "tree/sub/deep.txt", "tree/.git/config", "tree/.git/HEAD",
		"tree/backup~"};
	struct error err = {0};

	if (scratch_make(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(directories); i++)
		assert_int_equal(path_mkdirs(at(directories[i]), &err), 0);
	for (size_t i = 0; i < COUNT(files); i++)
		rig_file(files[i], "x\n");
	assert_int_equal(symlink("sub", at("tree/inlink")), 0);
	assert_int_equal(symlink("/etc", at("tree/esc")), 0);
	assert_int_equal(symlink("..", at("tree/up")), 0);
	if (root_open(&arena, at("tree"), &rig_root, &err) < 0)
		fail_msg("%s", err.text);
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
