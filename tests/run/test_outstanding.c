/* run_outstanding_load(): the actions of an item and of its children. */
#include "src/run/run.h"
#include "tests/lib/scratch.h"

/* A document that waits for the child `ID.api`. */
#define PARENT(id)                                                                                 \
	"---\nstate: build\nwork_item_id: " id "\n---\n\n<!-- section:Actions -->\n\n"             \
	"{\"action\":\"run_item\",\"id\":\"" id "/build/1\",\"write_section\":\"Api\","            \
	"\"result_format\":\"success | failed\",\"item\":\"" id ".api\",\"workflow\":\"w.md\"}\n"

static struct error err;

static int load(void)
{
	struct run_outstanding o;
	int rc = run_outstanding_load(at("P.md"), &o, &err);

	run_outstanding_free(&o);
	return rc;
}

SCRATCH_TEST(a_copied_document_is_no_child_of_itself)
{
	scratch_write("P.md", PARENT("P"));
	assert_int_equal(load(), 0);
	scratch_write("P.api.md", PARENT("P.api"));
	assert_int_equal(load(), 0);
	scratch_write("P.api.md", PARENT("P"));
	assert_fails(load(), err, ERR_STATE);
	assert_string_equal(
		err.text, arena_printf(&arena, "'%s' belongs to work item 'P', not to 'P.api'",
				  at("P.api.md")));
}

UNIT_GROUP(NULL, arena_end)
