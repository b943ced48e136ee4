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

static const struct {
	const char *name, *text;
} shipped[] = {
	{"build", policy_build},
	{"developer", policy_developer},
	{"readonly", policy_readonly},
	{"reviewer", policy_reviewer},
};

const char *const *policy_shipped(void)
{
	static const char *const names[] = {"build", "developer", "readonly", "reviewer", NULL};

	return names;
}

struct str policy_shipped_text(const char *name)
{
	for (size_t i = 0; i < COUNT(shipped); i++)
		if (strcmp(shipped[i].name, name) == 0)
			return str_of(shipped[i].text);
	return (struct str){0};
}
