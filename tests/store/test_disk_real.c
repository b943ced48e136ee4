#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/store/store.h"
#include "tests/lib/scratch.h"
#include "tests/lib/disk_cases.h"

static int begin(void **state)
{
	(void)scratch_make(state);
	case_disk = disk_real();
	case_root = base;
	return 0;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(at(name), &st), 0);
	return st.st_mode & 07777;
}

#define REAL_TEST(name) UNIT_TEST(name, begin, scratch_remove)

REAL_TEST(a_file_is_its_owners_alone_unless_somebody_chose)
{
	case_put("a", STR("x"));
	assert_int_equal(mode_of("a"), 0600);
	assert_int_equal(chmod(at("a"), 0644), 0);
	disk_does(write, at("b"), at("a"), STR("x"));
	assert_int_equal(mode_of("b"), 0644);
	case_put("b", STR("x"));
	assert_int_equal(mode_of("b"), 0600);
	disk_does(mkdirs, at("c/d"));
	assert_int_equal(mode_of("c"), 0700);
	assert_int_equal(mode_of("c/d"), 0700);
}

/* Nothing is written through a link that somebody else has put there. */
REAL_TEST(nothing_is_written_through_a_link)
{
	struct disk_file *f;

	case_put("victim", STR("whole"));
	assert_int_equal(symlink("victim", at("link")), 0);
	disk_fails(ERR_INPUT, open, at("link"), true, NULL, &f);
	case_put("link", STR("mine"));
	case_assert_file("victim", "whole");
	case_assert_file("link", "mine");
	assert_int_equal(link(at("victim"), at("second")), 0);
	case_put("second", STR("mine"));
	case_assert_file("victim", "whole");
}

/* A client of its own commits the text. */
static int put_document(const char *text, struct error *err)
{
	CLEANUP(store_close) struct store *s = NULL;
	struct store_op op = {.what = STORE_PUT, .key = "doc/D.md", .value = str_of(text)};
	struct store_result result;

	return store_open(&s, store_files(case_disk), base, "D", STORE_WRITE, 0, err) < 0 ||
			       store_txn(s, &arena, &(struct store_txn){.ops = &op, .n_ops = 1},
				       &result, err) != STORE_OK
		       ? -1
		       : 0;
}

REAL_TEST(what_has_the_name_of_a_staged_file_is_no_edit_and_a_directory_is_named)
{
	struct error err;

	case_put("other", STR("not ours"));
	assert_int_equal(put_document("one", &err), 0);
	assert_int_equal(put_document("two", &err), 0);
	assert_int_equal(unlink(at(".D.md.new2")), 0);
	assert_int_equal(symlink("other", at(".D.md.new2")), 0);
	assert_int_equal(put_document("three", &err), 0);
	case_assert_file("D.md", "three");
	assert_int_equal(mkdir(at(".D.md.new4"), 0700), 0);
	assert_int_equal(put_document("four", &err), -1);
	assert_string_equal(
		err.text, arena_printf(&arena,
				  "'%s' is a directory where the store keeps a file: move it away",
				  at(".D.md.new4")));
	assert_int_equal(rmdir(at(".D.md.new4")), 0);
	assert_int_equal(put_document("four", &err), 0);
	case_assert_file("D.md", "four");
	case_assert_file("other", "not ours");
}

REAL_TEST(a_pipe_is_no_file_and_blocks_nobody)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	bool missing;

	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	disk_fails(ERR_INPUT, read, at("pipe"), 10, &got, &missing);
	disk_fails(ERR_INPUT, open, at("pipe"), true, NULL, &f);
}

/* A file of the kernel reports length 0, and has content. */
REAL_TEST(a_file_that_says_it_is_empty_is_read_to_its_end)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	bool missing;

	disk_does(read, "/proc/self/status", 1 << 20, &got, &missing);
	assert_non_null(strstr(got.s, "Pid:"));
}

TEST(the_kernels_number_identifies_network_file_systems)
{
	static const uint32_t local[] = {0x65735546 /* FUSE */, 0xef53 /* ext4 */,
		0x01021994 /* tmpfs */, 0x9123683e /* btrfs */, 0x58465342 /* xfs */,
		0x794c7630 /* overlay */, 0};

	static const struct {
		uint32_t magic;
		const char *name;
	} network[] = {{0x6969, "nfs"}, {0xff534d42, "cifs"}, {0x01021997, "9p"}};
	const char *name;

	for (size_t i = 0; i < COUNT(network); i++) {
		assert_int_equal(disk_kind(network[i].magic, &name), DISK_NETWORK);
		assert_string_equal(name, network[i].name);
	}
	for (size_t i = 0; i < COUNT(local); i++)
		assert_int_not_equal(disk_kind(local[i], &name), DISK_NETWORK);
}

REAL_TEST(a_probe_of_a_local_directory_passes_and_leaves_nothing)
{
	assert_int_equal(disk_probe(base, &case_err), 0);
	assert_int_equal(tree_entries(base), 0);
	assert_fails(disk_probe(at("missing"), &case_err), case_err, ERR_SYSTEM);
}

/* Simulates a file system on which the system call `nr` returns `error` (0: success) and does
 * nothing. `arg`: only with this second argument; -1: with any. */
static int break_call(int nr, int arg, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)arg, 0, arg < 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {COUNT(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void child_succeeds(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void probe_fails(int nr, int arg, int error, const char *what)
{
	pid_t child = fork();

	if (!child) {
		if (break_call(nr, arg, error) < 0)
			_exit(77);
		_exit(disk_probe(base, &case_err) == 0 || case_err.code != ERR_STATE ||
			!strstr(case_err.text, what) || tree_entries(base) != 0);
	}
	child_succeeds(child);
}

REAL_TEST(a_file_system_without_locks_or_renames_is_refused)
{
	probe_fails(SYS_fcntl, F_OFD_SETLK, 0, "working locks"); /* both are granted */
	probe_fails(SYS_fcntl, F_OFD_SETLK, ENOSYS, "working locks");
	probe_fails(SYS_rename, -1, 0, "rename does not replace"); /* nothing is renamed */
	probe_fails(SYS_rename, -1, EEXIST, "rename does not replace");
}

/* In a process of its own: on a file system that lacks these calls. */
static void exchange_without(int error, bool links, const char *left)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	bool missing;
	pid_t child;

	case_put("old", STR("old"));
	case_put("new", STR("new"));
	child = fork();
	if (!child) {
		if (break_call(SYS_renameat2, -1, error) < 0 ||
			(!links && break_call(SYS_link, -1, EPERM) < 0))
			_exit(77);
		_exit(DISK(exchange, at("new"), at("old")) != 0);
	}
	child_succeeds(child);
	case_assert_file("old", "new");
	(void)DISK(read, at("new"), 10, &got, &missing);
	assert_string_equal(missing ? "" : got.s, left);
	assert_int_equal(tree_entries(base), missing ? 1 : 2);
}

REAL_TEST(a_file_system_that_cannot_exchange_files_keeps_the_replaced_one_by_a_link)
{
	case_put("new~", STR("left by a kill"));
	exchange_without(EINVAL, true, "old");
	exchange_without(ENOSYS, true, "old");
	exchange_without(EPERM, true, "old");
	exchange_without(EINVAL, false, "");
}

REAL_TEST(a_file_is_being_written_while_a_program_has_it_open_for_that)
{
	int reader, writer;

	case_put("a", STR("x"));
	reader = open(at("a"), O_RDONLY | O_CLOEXEC);
	assert_false(case_disk->ops->being_written(case_disk, at("a")));
	writer = open(at("a"), O_WRONLY | O_CLOEXEC);
	assert_true(case_disk->ops->being_written(case_disk, at("a")));
	close(writer);
	assert_false(case_disk->ops->being_written(case_disk, at("a")));
	assert_false(case_disk->ops->being_written(case_disk, at("missing")));
	close(reader);
}

/* Another process that keeps the same text is killed while it writes. */
static int killed_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	_exit(case_disk->ops->write(d, path, like, str_sub(text, 0, text.n / 2), err));
}

static struct disk other;
static struct disk_ops other_ops;

static int rename_after_other(struct disk *d, const char *from, const char *to, struct error *err)
{
	char *path;
	int status;
	pid_t child = fork();

	if (!child) {
		other_ops.write = killed_write;
		(void)store_keep_blob(
			store_files(&other), &arena, base, "x", STR("a text"), &path, err);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return case_disk->ops->rename(d, from, to, err);
}

/* The path of the blob. */
static const char *keep_text(struct disk *d)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	char *path;

	assert_int_equal(
		store_keep_blob(store_files(d), &arena, base, "x", STR("a text"), &path, &case_err),
		0);
	assert_int_equal(store_read_blob(store_files(d), path, &got, &case_err), 0);
	assert_string_equal(got.s, "a text");
	return path;
}

REAL_TEST(two_processes_that_keep_the_same_text_do_not_share_a_file)
{
	other_ops = *case_disk->ops;
	other_ops.write_whole = NULL; /* as on a file system without files that have no name */
	other_ops.rename = rename_after_other;
	other.ops = &other_ops;
	keep_text(&other);
}

/* No call that a kill can follow leaves a file that has another name. */
static int no_second_name(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)d, (void)like, (void)text, (void)err;
	fail_msg("'%s' is written", path);
	return -1;
}

REAL_TEST(a_text_that_is_kept_has_no_second_name)
{
	static const char damaged[] = "another";
	const char *path;
	bool able;

	other_ops = *case_disk->ops;
	other_ops.write = no_second_name;
	other.ops = &other_ops;
	path = keep_text(&other);
	assert_int_equal(
		case_disk->ops->write_whole(case_disk, path, STR("x"), &able, &case_err), -1);
	assert_false(able);
	disk_does(write, path, NULL, STR(damaged));
	keep_text(case_disk);
}

static struct disk_file *open_file;

#define CALL(name, call)                                                                           \
	static int name(void)                                                                      \
	{                                                                                          \
		return call;                                                                       \
	}

CALL(do_write, DISK(write, at("b"), at("a"), STR("x")))
CALL(do_rename, DISK(rename, at("a"), at("b")))
CALL(do_exchange, DISK(exchange, at("a"), at("b")))
CALL(do_exchange_by_link, break_call(SYS_renameat2, -1, EINVAL) < 0 ? -1 : do_exchange())
CALL(do_unlink, DISK(unlink, at("a")))
CALL(do_exists, DISK(exists, at("a"), &(bool){0}))
CALL(do_sync_directory, DISK(sync_directory, base))
CALL(do_mkdirs, DISK(mkdirs, at("d/e")))
CALL(do_trusted, DISK(trusted, base))
CALL(do_lock, DISK(lock, at("l"), 0, &(struct disk_lock *){0}))
CALL(do_append, open_file->ops->append(open_file, STR("x"), &case_err))
CALL(do_truncate, open_file->ops->truncate(open_file, 0, &case_err))
CALL(do_rewrite, open_file->ops->rewrite(open_file, 0, &case_err))
CALL(do_sync, open_file->ops->sync(open_file, &case_err))

static int do_pread(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	return open_file->ops->pread(open_file, 0, 1, &text, &case_err);
}

REAL_TEST(a_call_that_fails_is_an_error_of_the_disk)
{
	static const struct {
		int (*call)(void);
		int nr, error; /* nr 0: fsync() and fdatasync() */
	} table[] = {
		{do_write, SYS_fchmod, EPERM},
		{do_write, SYS_write, ENOSPC},
		{do_write, 0, EIO},
		{do_write, SYS_close, EIO},
		{do_rename, SYS_rename, EIO},
		{do_exchange, SYS_renameat2, EIO},
		{do_exchange, SYS_renameat2, ENOSPC},
		{do_exchange_by_link, SYS_rename, EIO},
		{do_unlink, SYS_unlink, EIO},
		{do_exists, SYS_access, EIO},
		{do_sync_directory, 0, EIO},
		{do_mkdirs, SYS_mkdir, ENOSPC},
		{do_mkdirs, 0, EIO},
		{do_trusted, SYS_statfs, EIO},
		{do_lock, SYS_fcntl, EIO},
		{do_append, SYS_write, ENOSPC},
		{do_pread, SYS_pread64, EIO},
		{do_truncate, SYS_ftruncate, EIO},
		{do_rewrite, SYS_pread64, EIO},
		{do_rewrite, SYS_pwrite64, EIO},
		{do_sync, 0, EIO},
	};

	case_put("a", STR("x"));
	assert_int_equal(chmod(at("a"), 0644), 0);
	open_file = case_open("a", true);
	for (size_t i = 0; i < COUNT(table); i++) {
		pid_t child = fork();

		if (!child) {
			unit_sync_error = table[i].nr ? 0 : table[i].error;
			if (table[i].nr && break_call(table[i].nr, -1, table[i].error) < 0)
				_exit(77);
			_exit(table[i].call() != -1 || case_err.code != ERR_SYSTEM ||
				!strstr(case_err.text, strerror(table[i].error)));
		}
		child_succeeds(child);
	}
	open_file->ops->close(open_file);
}

/* A call is repeated when it was interrupted, which errno does not say of one that succeeded. */
REAL_TEST(a_call_that_succeeds_is_not_repeated)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	const struct disk_ops *ops = case_disk->ops;
	struct disk_file *f;

	errno = EINTR;
	assert_int_equal(ops->mkdirs(case_disk, at("d"), &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->trusted(case_disk, at("d"), &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->open(case_disk, at("a"), true, NULL, &f, &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->append(f, STR("x"), &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->sync(f, &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->pread(f, 0, 1, &text, &case_err), 0);
	errno = EINTR;
	assert_int_equal(ops->truncate(f, 0, &case_err), 0);
	ops->close(f);
	errno = EINTR;
	assert_int_equal(ops->lock(case_disk, at("l"), 0, &lock, &case_err), 0);
}

REAL_TEST(a_lock_is_looked_at_without_taking_it)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL, *second = NULL;
	bool held = true;

	assert_int_equal(disk_lock_look(at("no/l"), &held, &holder, &case_err), 0);
	assert_false(held);
	assert_int_equal(disk_lock_take(&lock, at("l"), 0, &case_err), 0);
	disk_lock_note(lock, "the reason");
	assert_int_equal(disk_lock_look(at("l"), &held, &holder, &case_err), 0);
	assert_true(held);
	assert_non_null(strstr(holder.s, arena_printf(&arena, "pid %ld on ", (long)getpid())));
	assert_true(str_ends(buf_str(&holder), ": the reason"));
	assert_fails(disk_lock_take(&second, at("l"), 0, &case_err), case_err, ERR_STATE);
	assert_non_null(strstr(case_err.text, arena_printf(&arena, "(%s)", holder.s)));
	disk_lock_drop(&lock);
	assert_int_equal(disk_lock_look(at("l"), &held, &holder, &case_err), 0);
	assert_false(held);
	assert_int_equal(symlink("l", at("link")), 0);
	assert_fails(disk_lock_look(at("link"), &held, &holder, &case_err), case_err, ERR_SYSTEM);
}

REAL_TEST(the_directory_of_stores_is_made)
{
	assert_int_equal(store_prepare(store_backend(), at("x/y"), &case_err), 0);
	assert_int_equal(mode_of("x/y"), 0700);
	for (int i = 0; i < 2; i++) {
		bool there = !i;

		assert_int_equal(
			store_exists(store_backend(), at("x/y"), "T", "T.md", &there, &case_err),
			0);
		assert_int_equal(there, i);
		case_put("x/y/T.events.jsonl", STR("x"));
	}
}

REAL_TEST(a_directory_is_judged_by_the_nearest_one_above_it)
{
	char *deep = at("no/such/directory");

	disk_does(trusted, deep);
	disk_does(trusted, "no-such-directory");
	case_put("file", STR("x"));
	disk_fails(ERR_SYSTEM, trusted, at("file/x"));
	assert_non_null(strstr(case_err.text, "cannot look at the file system of"));
}

DISK_CASES(begin, scratch_remove)

static int lowest_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

REAL_TEST(what_is_closed_leaves_no_descriptor)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct disk_ops *ops = case_disk->ops;
	int before = lowest_descriptor();
	struct disk_lock *lock;
	struct disk_file *f;
	bool flag;

	assert_int_equal(ops->open(case_disk, at("a"), true, &flag, &f, &case_err), 0);
	assert_int_equal(ops->append(f, STR("x"), &case_err), 0);
	ops->close(f);
	assert_int_equal(lowest_descriptor(), before);
	assert_int_equal(ops->lock(case_disk, at("l"), 0, &lock, &case_err), 0);
	ops->unlock(lock);
	assert_int_equal(lowest_descriptor(), before);
	assert_int_equal(ops->write(case_disk, at("b"), at("a"), STR("y"), &case_err), 0);
	assert_int_equal(ops->read(case_disk, at("b"), 10, &text, &flag, &case_err), 0);
	assert_int_equal(ops->read(case_disk, at("b"), 0, &text, &flag, &case_err), -1);
	assert_int_equal(ops->read(case_disk, base, 10, &text, &flag, &case_err), -1);
	assert_int_equal(ops->mkdirs(case_disk, at("c/d/e"), &case_err), 0);
	assert_int_equal(ops->sync_directory(case_disk, at("c"), &case_err), 0);
	assert_int_equal(ops->trusted(case_disk, at("c"), &case_err), 0);
	assert_int_equal(lowest_descriptor(), before);
}

/* As another user, where this one may read everything. */
REAL_TEST(a_directory_that_cannot_be_read_is_an_error_of_the_list)
{
	int status;
	pid_t pid;

	assert_int_equal(mkdir(at("closed"), 0), 0);
	assert_int_equal(chmod(at("."), 0755), 0);
	pid = fork();
	if (pid == 0) {
		struct error fault = {0};
		struct store_paths paths;

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		_exit(store_documents(store_files(disk_real()), &arena, at("."), &paths, &fault) <
						0 &&
					fault.code == ERR_SYSTEM
				? 0
				: 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
