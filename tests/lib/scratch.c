#include <fcntl.h>
#include "tests/lib/scratch.h"

struct arena arena;
char *base;

int arena_end(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int scratch_make(void **state)
{
	(void)state;
	base = tree_scratch("unit");
	return 0;
}

int scratch_remove(void **state)
{
	tree_remove(base);
	free(base);
	base = NULL;
	return arena_end(state);
}

int scratch_enter(void **state)
{
	return scratch_make(state) < 0 ? -1 : chdir(base);
}

int scratch_leave(void **state)
{
	return chdir("/") < 0 ? -1 : scratch_remove(state);
}

char *at(const char *name)
{
	return path_join(&arena, base, name);
}

size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}
