/* The ids of outstanding actions in the store, of which there may be thousands. */
#include "src/machine/action.h"
#include "tests/lib/scratch.h"

static struct error err;

static void add(json *array, const char *kind, const char *part, unsigned n, const char *answered)
{
	json_push(array, JSON_OBJECT(JSON_TEXT("action", kind),
				 JSON_TEXT("id", arena_printf(&arena, "A-1/%s/%u", part, n)),
				 JSON_TEXT("write_section", "None"),
				 JSON_IF(answered, JSON_TEXT("answered", answered))));
}

static bool waits(const json *noted, const char *part, unsigned n)
{
	return action_is_noted(noted, arena_printf(&arena, "A-1/%s/%u", part, n), NULL);
}

SCRATCH_TEST(a_long_list_of_ids_is_short_in_the_store)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = json_array(), *noted = NULL;
	const json *one;
	struct str kept;

	for (unsigned i = 1; i <= 2000; i++)
		if (i % 500 != 0)
			add(array, "spawn_agent", "build", i, i == 700 ? "done" : NULL);
	add(array, "run_script", "check", 1, NULL);
	add(array, "run_script", "check", 2, "passed");
	add(array, "run_script", "check", 3, NULL);
	add(array, "run_script", "check", 4, NULL);
	assert_int_equal(context_open(&f, at("A-1.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_int_equal(context_create(&f, "A-1", "build", &err), 0);
	assert_int_equal(action_note(&f, array, NULL, &err), 0);
	assert_int_equal(context_save(&f, &err), 0);
	assert_int_equal(context_get_key(&f, "asked", &kept, &err), 0);
	assert_str(kept, "[\"A-1/build/1\",[2,499],[501,699],[701,999],[1001,1499],[1501,1999],"
			 "\"A-1/check/1\",{\"id\":2,\"result\":\"passed\"},[3,4]]");
	assert_int_equal(action_noted(&f, &noted, &err), 0);
	assert_int_equal(json_len(noted), 2000 - 4 - 1 + 4);
	for (unsigned i = 1; i <= 2001; i++)
		assert_int_equal(waits(noted, "build", i), i % 500 != 0 && i != 700 && i <= 2000);
	for (unsigned i = 1; i <= 5; i++)
		assert_int_equal(waits(noted, "check", i), i != 2 && i < 5);
	one = json_at(noted, json_len(noted) - 3);
	assert_string_equal(json_get_str(one, "id"), "A-1/check/2");
}

/* Only the program writes the key; what an older one or a fault left in it costs no more than a
 * long list. */
SCRATCH_TEST(a_range_without_end_is_bounded)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *noted = NULL;

	assert_int_equal(context_open(&f, at("A-1.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_int_equal(context_create(&f, "A-1", "build", &err), 0);
	context_put_key(&f, "asked", STR("[\"A-1/build/1\",[2,9000000],[9000002,9900000]]"));
	assert_int_equal(context_save(&f, &err), 0);
	assert_int_equal(action_noted(&f, &noted, &err), 0);
	assert_int_equal(json_len(noted), 1 + 10000);
}
