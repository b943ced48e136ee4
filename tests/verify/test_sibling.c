/* What is said of the repositories beside that of a task. */
#include "src/verify/attest.h"
#include "tests/lib/git_rig.h"

static int sibling_of(const char *path, json *out)
{
	return sibling_read(&arena, at("r"), "dev-team/A", &path, 1, out, &err);
}

GIT_TEST(a_repository_that_cannot_be_read_is_a_fault_and_not_one_without_a_branch)
{
	CLEANUP(json_free) json *found = json_array();

	sh("git clone -q org/o.git beside 2>&1");
	assert_int_equal(sibling_of("../beside", found), 0);
	assert_string_equal(json_get_str(json_at(found, 0), "state"), "none");
	sh("printf 'ref: refs/heads/main%9000s\\n' >beside/.git/HEAD"); /* longer than is read */
	assert_true(refused(sibling_of("../beside", found), ERR_STATE, "../beside: cannot read"));
	assert_int_equal(json_len(found), 1);
}
