#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include "src/sys/path.h"
#include "src/store/netfs.h"

enum { MOUNTINFO_MAX = 16 << 20 };

/* The kernel's numbers; not all kernels' headers have them all. */
static const struct {
	uint32_t magic;
	const char *name;
} remote[] = {
	{0x6969, "nfs"},
	{0x517b, "smb"},
	{0xff534d42, "cifs"},
	{0xfe534d42, "smb2"},
	{0x5346414f, "afs"},
	{0x6b414653, "afs"},
	{0x73757245, "coda"},
	{0x564c, "ncp"},
	{0x01021997, "9p"},
	{0x00c36400, "ceph"},
	{0x0bd00bd0, "lustre"},
	{0x01161970, "gfs2"},
	{0x7461636f, "ocfs2"},
	{0x47504653, "gpfs"},
	{0x19830326, "beegfs"},
	{0xaad7aaea, "panfs"},
	{0x20030528, "orangefs"},
	{0x786f4256, "vboxsf"},
	{0xbacbacbc, "vmhgfs"},
};

/* What stands behind `fuse.` in the type of a mount whose files are elsewhere. */
static const char *const fuse_remote[] = {"acd_cli", "alluxio-fuse", "blobfuse", "blobfuse2",
	"ceph", "ceph-fuse", "curlftpfs", "cvmfs2", "davfs", "davfs2", "dbxfs", "fuse_dfs",
	"fusesmb", "gcsfuse", "glusterfs", "goofys", "google-drive-ocamlfuse", "gvfsd-fuse", "hdfs",
	"httpdirfs", "juicefs", "JuiceFS", "lizardfs", "mfs", "moosefs", "mount-s3",
	"mountpoint-s3", "nfs", "objectivefs", "onedriver", "quobyte", "rclone", "s3backer", "s3fs",
	"s3ql", "seaweedfs", "smbnetfs", "sshfs", "xrootdfs"};

enum netfs netfs_of_magic(uint32_t magic, const char **name)
{
	*name = NULL;
	if (magic == 0x65735546)
		return NETFS_FUSE;
	for (size_t i = 0; i < COUNT(remote); i++) {
		if (remote[i].magic != magic)
			continue;
		*name = remote[i].name;
		return NETFS_REMOTE;
	}
	return NETFS_LOCAL;
}

static struct str next_word(struct str *rest)
{
	struct str word = str_sub(*rest, 0, str_find(*rest, STR(" ")));

	*rest = str_sub(*rest, word.n < rest->n ? word.n + 1 : rest->n, rest->n);
	return word;
}

/* `https://...`, `user@host:/path`: a source that says where it is, whatever the type is called.
 * `one:two` is how some that join local folders name themselves. */
static bool source_is_remote(struct str source)
{
	size_t colon = str_find(source, STR(":/"));

	return colon > 0 && colon < source.n &&
	       str_find(str_sub(source, 0, colon), STR("/")) == colon;
}

static bool type_is_remote(struct str type)
{
	if (!str_starts(type, "fuse."))
		return false;
	for (size_t i = 0; i < COUNT(fuse_remote); i++)
		if (str_is(str_sub(type, 5, type.n), fuse_remote[i]))
			return true;
	return false;
}

/* `36 35 98:0 /root /mount options [more] - type source options`, proc(5). */
static bool line_is_remote(struct str line, const char *device, struct str *name)
{
	size_t dash = str_find(line, STR(" - "));
	struct str tail = str_sub(line, dash < line.n ? dash + 3 : line.n, line.n), source;

	(void)next_word(&line);
	(void)next_word(&line);
	if (!str_is(next_word(&line), device))
		return false;
	*name = next_word(&tail);
	source = next_word(&tail);
	return type_is_remote(*name) || source_is_remote(source);
}

bool netfs_of_mount(struct str mountinfo, unsigned major, unsigned minor, struct str *name)
{
	char device[32];
	struct str line;

	(void)snprintf(device, sizeof(device), "%u:%u", major, minor);
	while (str_line(&mountinfo, &line))
		if (line_is_remote(line, device, name))
			return true;
	*name = (struct str){0};
	return false;
}

static int refuse(const char *dir, struct str name, struct error *err)
{
	return error_set(err, ERR_STATE,
		"'%.400s' is on a network file system (%.*s), where locks and syncs cannot be "
		"trusted: set DEV_TEAM_STATE_DIR to a folder on a local disk",
		dir, (int)name.n, name.p);
}

/* Without /proc nobody knows: most file systems of this kind are local. */
static int check_fuse(const char *dir, const char *there, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct stat st;
	struct str name;

	if (stat(there, &st) < 0)
		return error_errno(err, "cannot look at '%s'", there);
	if (file_read(&text, "/proc/self/mountinfo", MOUNTINFO_MAX, NULL, &ignored) < 0)
		return 0;
	if (!netfs_of_mount(buf_str(&text), major(st.st_dev), minor(st.st_dev), &name))
		return 0;
	return refuse(dir, name, err);
}

/* Cuts `path` down to what is there. */
static int look(char path[PATH_MAX], struct statfs *fs, struct error *err)
{
	while (statfs(path, fs) < 0) {
		struct str up = path_dir(path);

		if (errno == EINTR)
			continue;
		if (errno != ENOENT || str_is(up, path))
			return error_errno(err, "cannot look at the file system of '%s'", path);
		if (up.p == path)
			path[up.n] = '\0';
		else
			(void)snprintf(path, PATH_MAX, ".");
	}
	return 0;
}

int netfs_check(const char *dir, struct error *err)
{
	char path[PATH_MAX];
	struct statfs fs;
	const char *name;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
		return error_set(err, ERR_SYSTEM, "path too long: '%.200s'", dir);
	if (look(path, &fs, err) < 0)
		return -1;
	switch (netfs_of_magic((uint32_t)fs.f_type, &name)) {
	case NETFS_REMOTE:
		return refuse(dir, str_of(name), err);
	case NETFS_FUSE:
		return check_fuse(dir, path, err);
	case NETFS_LOCAL:
		break;
	}
	return 0;
}
