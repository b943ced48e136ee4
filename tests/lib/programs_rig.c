#include "src/base/vec.h"
#include "src/policy/bin.h"
#include "tests/lib/programs_rig.h"

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
