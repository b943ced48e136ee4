/*
 * coverage.c: linked into the library of tools/mutate, whose objects call these functions. Marks
 * each function that runs, in a file that all processes of a test share: the byte at the function's
 * offset in the library becomes 1. A process that is killed or leaves with _exit() has left its
 * marks.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __ehdr_start[]; /* where the library begins; defined by the linker */

static unsigned char *marks;
static size_t n_marks;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

__attribute__((constructor, no_instrument_function)) static void open_marks(void)
{
	int fd = open("/tmp/coverage", O_RDWR | O_CLOEXEC);
	struct stat st;
	void *m;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		m = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (m != MAP_FAILED) {
			marks = m;
			n_marks = (size_t)st.st_size;
		}
	}
	(void)close(fd);
}

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *caller)
{
	size_t at = (size_t)((const char *)function - __ehdr_start);

	(void)caller;
	if (marks && at < n_marks)
		marks[at] = 1;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
