#include <fcntl.h>
#include <sys/stat.h>
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

void scratch_write(const char *name, const char *text)
{
	tree_write(at(name), str_of(text));
}

void scratch_program(const char *name, const char *text)
{
	scratch_write(name, arena_printf(&arena, "#!/bin/sh\n%s\n", text));
	assert_int_equal(chmod(at(name), 0755), 0);
}

char *scratch_read(const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	return arena_dup(&arena, tree_read(at(name), &text) ? buf_str(&text) : STR(""));
}

struct str repeated(const char *before, const char *what, size_t n, const char *behind)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, before);
	for (size_t i = 0; i < n; i++)
		buf_adds(&b, what);
	buf_adds(&b, behind);
	return str_of(arena_dup(&arena, buf_str(&b)));
}

size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}
