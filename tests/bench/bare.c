/*
 * bare: the minimum cost of a durable change of a file. Reads FILE, writes the same bytes to a
 * temporary file beside it, fsync, rename, fsync of the directory. No library but libc.
 *
 *     bare FILE
 *     bare --read DIRECTORY     only opens, reads and closes each file
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_all(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	*size = 0;
	while (text && *size < (size_t)st.st_size) {
		ssize_t n = read(fd, text + *size, (size_t)st.st_size - *size);

		if (n <= 0)
			return NULL;
		*size += (size_t)n;
	}
	close(fd);
	return text;
}

static int write_all(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return -1;
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n <= 0)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return fsync(fd) < 0 || close(fd) < 0 ? -1 : 0;
}

static int read_files(const char *path)
{
	static char text[1 << 16];
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		int fd = e->d_name[0] == '.' ? -1
					     : openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC);

		while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
			;
		if (fd >= 0)
			close(fd);
	}
	return !dir || closedir(dir) < 0;
}

int main(int argc, char **argv)
{
	char temp[PATH_MAX], dir[PATH_MAX];
	size_t size;
	char *text;
	int fd;

	if (argc == 3 && strcmp(argv[1], "--read") == 0)
		return read_files(argv[2]);
	if (argc != 2 || !(text = read_all(argv[1], &size)))
		return 1;
	(void)snprintf(temp, sizeof(temp), "%s.new", argv[1]);
	(void)snprintf(dir, sizeof(dir), "%s", argv[1]);
	if (write_all(temp, text, size) < 0 || rename(temp, argv[1]) < 0)
		return 1;
	fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return 1;
	close(fd);
	free(text);
	return 0;
}
