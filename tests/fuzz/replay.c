/*
 * replay.c: runs a fuzz target over every file of its corpus and prints TAP, so that every earlier
 * finding is tested. Usage: replay_NAME DIRECTORY
 */
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/tap.h"

enum { INPUT_MAX = 1 << 26 };

static bool replay(const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	struct error err = {0};
	uint8_t *exact;
	bool good = sys_read_file(&text, path_join(&a, dir, name), INPUT_MAX, NULL, &err) == 0;

	arena_release(&a);
	if (!good)
		return false;
	exact = xmalloc(text.len); /* so that a sanitizer sees a read past the end */
	if (text.len)
		memcpy(exact, text.s, text.len);
	(void)LLVMFuzzerTestOneInput(exact, text.len);
	free(exact);
	return true;
}

int main(int argc, char **argv)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct directory_names names = {0};
	struct error err;

	if (argc != 2 || directory_list(&a, argv[1], &names, NULL, &err) < 0)
		die("usage: replay_NAME DIRECTORY");
	for (size_t i = 0; i < names.n; i++) {
		if (names.items[i][0] == '.')
			continue;
		tap_notef("%s", names.items[i]);
		tap(replay(argv[1], names.items[i]), "%s", names.items[i]);
	}
	return tap_end();
}
