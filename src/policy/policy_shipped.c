#include "src/policy/policy.h"

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

static const char *const names[] = {"build", "developer", "readonly", "reviewer", NULL};

const char *const *policy_shipped(void)
{
	return names;
}

struct str policy_shipped_text(const char *name)
{
	static const char *const texts[] = {
		policy_build, policy_developer, policy_readonly, policy_reviewer};

	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return str_of(texts[i]);
	return (struct str){0};
}
