#include "src/store/netfs.h"
#include "tests/lib/scratch.h"

/* A machine with something of everything. */
static const char mounts[] =
	"22 28 0:20 / /sys rw,nosuid - sysfs sysfs rw\n"
	"28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	"30 28 0:41 / /home/me/far rw,nosuid shared:17 - fuse.sshfs me@far.example:/home/me rw\n"
	"31 28 0:42 / /mnt/bucket rw - fuse.s3fs s3fs rw\n"
	"32 28 0:43 / /mnt/gluster rw shared:2 master:3 - fuse.glusterfs one.example:/vol rw\n"
	"33 28 0:44 / /mnt/cloud rw - fuse.rclone drive: rw\n"
	"34 28 0:45 / /mnt/dav rw - fuse https://dav.example/me rw\n"
	"35 28 0:46 / /mnt/pool rw - fuse.mergerfs one:two rw\n"
	"36 28 8:33 / /mnt/usb rw - fuseblk /dev/sdc1 rw\n"
	"37 28 0:47 / /mnt/secret rw - fuse.gocryptfs /home/me/cipher rw\n"
	"38 28 0:48 / /mnt/odd rw - fuse.sshfs-like local rw\n"
	"39 28 0:49 / /mnt/joined rw - fuse.mergerfs /a:/b rw\n"
	"40 28 0:50 /sub /mnt/a\\040-\\040b rw - fuse.sshfs far:/ rw\n"
	"broken\n"
	"\n"
	"41 28 0:51";

static void assert_mount(unsigned minor, const char *name)
{
	struct str got;
	bool remote = netfs_of_mount(STR(mounts), 0, minor, &got);

	assert_int_equal(remote, name != NULL);
	if (name)
		assert_true(str_is(got, name));
	else
		assert_int_equal(got.n, 0);
}

static void a_mount_is_told_by_type_or_source(void **state)
{
	struct str got;

	(void)state;
	assert_mount(41, "fuse.sshfs");
	assert_mount(42, "fuse.s3fs");
	assert_mount(43, "fuse.glusterfs");
	assert_mount(44, "fuse.rclone");
	assert_mount(45, "fuse");
	assert_mount(46, NULL);
	assert_mount(47, NULL);
	assert_mount(48, NULL);
	assert_mount(49, NULL);
	assert_mount(50, "fuse.sshfs");
	assert_mount(51, NULL);
	assert_mount(4, NULL);
	assert_mount(99, NULL);
	assert_false(netfs_of_mount(STR(mounts), 8, 33, &got));
	assert_false(netfs_of_mount((struct str){0}, 0, 41, &got));
}

static void a_number_tells_network_file_systems(void **state)
{
	const char *name;

	(void)state;
	assert_int_equal(netfs_of_magic(0x6969, &name), NETFS_REMOTE);
	assert_string_equal(name, "nfs");
	assert_int_equal(netfs_of_magic(0xff534d42, &name), NETFS_REMOTE);
	assert_string_equal(name, "cifs");
	assert_int_equal(netfs_of_magic(0x01021997, &name), NETFS_REMOTE);
	assert_string_equal(name, "9p");
	assert_int_equal(netfs_of_magic(0x65735546, &name), NETFS_FUSE);
	assert_null(name);
	assert_int_equal(netfs_of_magic(0xef53, &name), NETFS_LOCAL);     /* ext4 */
	assert_int_equal(netfs_of_magic(0x01021994, &name), NETFS_LOCAL); /* tmpfs */
	assert_int_equal(netfs_of_magic(0x9123683e, &name), NETFS_LOCAL); /* btrfs */
	assert_int_equal(netfs_of_magic(0x58465342, &name), NETFS_LOCAL); /* xfs */
	assert_int_equal(netfs_of_magic(0x794c7630, &name), NETFS_LOCAL); /* overlay */
	assert_int_equal(netfs_of_magic(0, &name), NETFS_LOCAL);
}

static void a_folder_that_is_not_there_is_looked_at_from_above(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(netfs_check(base, &err), 0);
	assert_int_equal(netfs_check(at("not/yet/there"), &err), 0);
	assert_int_equal(netfs_check("not-yet-there", &err), 0);
	assert_int_equal(netfs_check(".", &err), 0);
	assert_int_equal(netfs_check("/", &err), 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mount_is_told_by_type_or_source),
		cmocka_unit_test(a_number_tells_network_file_systems),
		scratch_test(a_folder_that_is_not_there_is_looked_at_from_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
