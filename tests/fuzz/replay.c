/*
 * replay.c: runs a fuzz target over every file of its corpus and prints TAP, so that every earlier
 * finding is tested. Usage: replay_NAME DIRECTORY
 */
#include <dirent.h>
#include "src/sys/path.h"
#include "tests/fuzz/fuzz.h"

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
	struct dirent **names = NULL;
	int n = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1, done = 0, bad = 0;

	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.') {
			bool good;

			printf("# %s\n", names[i]->d_name);
			fflush(stdout);
			good = replay(argv[1], names[i]->d_name);

			printf("%sok %d - %s\n", good ? "" : "not ", ++done, names[i]->d_name);
			fflush(stdout);
			bad += !good;
		}
		free(names[i]);
	}
	free(names);
	if (!done)
		printf("not ok %d - there is a corpus in '%s'\n", ++done, argc == 2 ? argv[1] : "");
	printf("1..%d\n", done);
	return n < 0 || bad || fflush(stdout) != 0;
}
