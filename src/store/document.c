#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/base/path.h"
#include "src/store/document.h"

static int staged_name(char out[PATH_MAX], const char *path, struct error *err)
{
	struct str dir = path_dir(path), base = path_base(path);
	int n = snprintf(out, PATH_MAX, "%.*s/.%.*s.new", (int)dir.n, dir.p, (int)base.n, base.p);

	if (n < 0 || n >= PATH_MAX)
		return error_set(err, ERR_SYSTEM, "path too long: '%.200s'", path);
	return 0;
}

/* A person's chmod of the document is kept. */
static int take_mode(int fd, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? fchmod(fd, st.st_mode & 07777) : 0;
}

/* close() is checked: some file systems tell of a lost write only there. */
static int write_staged(const char *name, const char *path, struct str text, struct error *err)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = 0;

	if (fd < 0)
		return error_errno(err, "cannot write '%s'", name);
	if (take_mode(fd, path) < 0)
		rc = error_errno(err, "cannot set the mode of '%s'", name);
	else if (fd_write_all(fd, text, name, err) < 0)
		rc = -1;
	else if (fsync(fd) < 0)
		rc = error_errno(err, "cannot write '%s'", name);
	if (close(fd) < 0 && rc == 0 && errno != EINTR)
		rc = error_errno(err, "cannot write '%s'", name);
	return rc;
}

int document_stage(const char *path, struct str text, struct error *err)
{
	char name[PATH_MAX];

	if (staged_name(name, path, err) < 0)
		return -1;
	if (write_staged(name, path, text, err) == 0)
		return 0;
	(void)unlink(name);
	return -1;
}

static int sync_folder(const char *path, struct error *err)
{
	char name[PATH_MAX];
	struct str dir = path_dir(path);
	int fd, rc = 0;

	(void)snprintf(name, sizeof(name), "%.*s", (int)dir.n, dir.p);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		rc = error_errno(err, "cannot sync folder '%s'", name);
	if (fd >= 0)
		close(fd);
	return rc;
}

int document_commit(const char *path, bool *replaced, struct error *err)
{
	char name[PATH_MAX];

	*replaced = false;
	if (staged_name(name, path, err) < 0)
		return -1;
	if (rename(name, path) < 0) {
		error_errno(err, "cannot replace '%s'", path);
		(void)unlink(name);
		return -1;
	}
	*replaced = true;
	return sync_folder(path, err);
}

void document_discard(const char *path)
{
	char name[PATH_MAX];
	struct error ignored;

	if (staged_name(name, path, &ignored) == 0)
		(void)unlink(name);
}

int document_replace(const char *path, struct str text, struct error *err)
{
	bool replaced;

	if (document_stage(path, text, err) < 0)
		return -1;
	return document_commit(path, &replaced, err);
}
