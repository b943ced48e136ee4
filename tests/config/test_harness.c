/*
 * What a resource may name is what the room of harnesses has.
 */
#include "src/harness/harness.h"
#include "tests/lib/resource_rig.h"

static void every_harness_can_be_named(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; harness_words[i]; i++) {
		const struct harness *h;
		struct error err;

		if (harness_find(harness_words[i], &h, &err) < 0)
			fail_msg("%s", err.text);
	}
	while (harnesses[n] && harness_words[n])
		n++;
	assert_null(harnesses[n]);
	assert_null(harness_words[n]);
}

static void every_capability_can_be_asked_for(void **state)
{
	(void)state;
	for (unsigned c = 0; c < CAPABILITIES; c++)
		assert_string_equal(capability_words[c], capability_name(c));
	assert_null(capability_words[CAPABILITIES]);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_harness_can_be_named),
		cmocka_unit_test(every_capability_can_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, arena_end);
}
