#include <errno.h>
#include <sys/random.h>
#include "src/sys/path.h"
#include "src/policy/protected_internal.h"

enum { TRIES = 16 };

int take_away(int dir, const char *name)
{
	CLEANUP(base_close) int fd = -1;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	fd = list_folder(dir, name);
	if (fd < 0)
		return -1;
	beneath_empty(fd);
	return unlinkat(dir, name, AT_REMOVEDIR);
}

/* Of somebody else's: only who may give files away can mend that. */
static int set_owner(int fd, const struct stat *was)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if ((st.st_uid != was->st_uid || st.st_gid != was->st_gid) &&
		fchown(fd, was->st_uid, was->st_gid) < 0 && errno != EPERM)
		return -1;
	return fchmod(fd, was->st_mode & 07777);
}

/* Written aside and moved: a name that shares its file with others gets one of its own. */
static int put_file(int dir, const char *name, const struct kept *k)
{
	char aside[48];
	struct error ignored;
	CLEANUP(base_close) int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		uint64_t number = 0;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		(void)snprintf(
			aside, sizeof(aside), ".dev-team-%016llx", (unsigned long long)number);
		fd = beneath_open(dir, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600,
			BENEATH | NO_LINKS);
	}
	if (fd < 0)
		return -1;
	if (sys_write_all(fd, (struct str){k->text, k->n}, name, &ignored) == 0 &&
		set_owner(fd, &k->st) == 0 && renameat(dir, aside, dir, name) == 0)
		return 0;
	(void)unlinkat(dir, aside, 0);
	return -1;
}

static int put_folder(int dir, const char *name, const struct kept *k)
{
	CLEANUP(base_close) int fd = -1;

	if (mkdirat(dir, name, 0700) < 0)
		return -1;
	fd = list_folder(dir, name);
	return fd < 0 ? -1 : set_owner(fd, &k->st);
}

int put_back(int dir, const char *name, const struct kept *k)
{
	errno = ENODATA;
	if (S_ISDIR(k->st.st_mode))
		return put_folder(dir, name, k);
	if (!k->copied)
		return -1;
	if (S_ISREG(k->st.st_mode))
		return put_file(dir, name, k);
	return S_ISLNK(k->st.st_mode) ? symlinkat(k->text, dir, name) : -1;
}
