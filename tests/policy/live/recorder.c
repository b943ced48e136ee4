/*
 * recorder: stands for every program while the differential test runs lines for real. Adds its
 * arguments to the file $DT_RECORD, each with a NUL behind it and an empty one at the end, in one
 * write. Ends as the dice fall, so that loops end and both branches are seen.
 *
 * Called as `.recorder` (by the shell's handler for unknown commands) its first argument is the
 * name.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORD_MAX = 16 << 10, FILE_MAX = 32 << 10 };

/* The sequence of Thue and Morse: no loop falls into step with it. */
static int odd(unsigned long n)
{
	int bits = 0;

	for (; n; n >>= 1)
		bits ^= (int)(n & 1);
	return bits;
}

int main(int argc, char **argv)
{
	static char record[RECORD_MAX];
	const char *file = getenv("DT_RECORD");
	const char *base = strrchr(argv[0], '/');
	size_t n = 0;
	struct stat st;
	int opened = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1, fd;

	/* Where standard output is closed, the file must not come to stand in its place. */
	fd = fcntl(opened, F_DUPFD_CLOEXEC, 10);
	close(opened);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 125;
	if (st.st_size > FILE_MAX)
		kill(0, SIGKILL); /* a loop without end: the group is this one line's */
	for (int i = base && strcmp(base, "/.recorder") == 0; i < argc; i++) {
		size_t length = strlen(argv[i]) + 1;

		if (n + length + 4 > sizeof(record))
			return 125;
		record[n++] = '=';
		memcpy(record + n, argv[i], length);
		n += length;
	}
	record[n++] = '\0';
	if (write(fd, record, n) != (ssize_t)n)
		return 125;
	(void)!write(1, "out put\n", 8);
	return odd((unsigned long)st.st_size / 4);
}
