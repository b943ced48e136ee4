#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "context/file.h"
#include "context/lease.h"
#include "src/store/disk.h"
#include "tests/lib/scratch.h"
#include "tests/lib/wire.h"

static struct error err;

SCRATCH_TEST(a_lock_dies_with_its_holder)
{
	struct disk_lock *l = NULL;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(disk_lock_take(&l, at("l"), 0, &err) == 0 ? 7 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(disk_lock_take(&l, at("l"), 0, &err), 0);
	disk_lock_drop(&l);
}

static void create(void)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_true(f.created);
	assert_int_equal(context_create(&f, "ADR-7", "init", &err), 0);
	(void)context_event(&f, "started");
	assert_int_equal(context_save(&f, &err), 0);
}

SCRATCH_TEST(a_save_appends_its_events_and_its_document)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	create();
	assert_true(tree_read(at("ADR-7.events.jsonl"), &journal));
	assert_non_null(strstr(journal.s, "\n{\"seq\":1,\"rev\":1,\"ts\":\"2026-11-21T01:34:55Z\","
					  "\"type\":\"started\"}\n{\"change\":1,"));
	for (int i = 0; i < 2; i++) {
		CLEANUP(context_close) struct context_file f = {0};

		assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
		assert_int_equal(context_count(&f.doc, WIRE_FIXES), i ? i + 4 : 0);
		context_set_count(&f.doc, WIRE_FIXES, (unsigned long)i + 5);
		assert_int_equal(context_save(&f, &err), 0);
	}
}

SCRATCH_TEST(nothing_changed_is_nothing_written)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct stat before, after;

	create();
	assert_int_equal(stat(at("ADR-7.md"), &before), 0);
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	assert_int_equal(context_save(&f, &err), 0);
	assert_int_equal(stat(at("ADR-7.md"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

SCRATCH_TEST(a_document_behind_a_link_is_replaced_where_it_is)
{
	struct stat st;

	tree_mkdirs(at("real"));
	create();
	assert_int_equal(rename(at("ADR-7.md"), at("real/ADR-7.md")), 0);
	assert_int_equal(symlink("real/ADR-7.md", at("link.md")), 0);
	{
		CLEANUP(context_close) struct context_file f = {0};

		assert_int_equal(context_open(&f, at("link.md"), CONTEXT_MUST_EXIST, &err), 0);
		context_set(&f.doc, "outcome", STR("x"));
		assert_int_equal(context_save(&f, &err), 0);
	}
	assert_int_equal(lstat(at("link.md"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_true(path_exists(at("real/ADR-7.events.jsonl")));
}

SCRATCH_TEST(a_link_that_leads_nowhere_keeps_its_place_and_gets_its_target)
{
	CLEANUP(context_close) struct context_file f = {0}, circle = {0};
	struct stat st;

	assert_int_equal(symlink("second.md", at("first.md")), 0);
	assert_int_equal(symlink("real/ADR-7.md", at("second.md")), 0);
	assert_int_equal(context_open(&f, at("first.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_int_equal(context_create(&f, "ADR-7", "init", &err), 0);
	assert_int_equal(context_save(&f, &err), 0);
	assert_int_equal(lstat(at("first.md"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_true(path_exists(at("real/ADR-7.md")));
	assert_int_equal(symlink("circle.md", at("circle.md")), 0);
	assert_fails(
		context_open(&circle, at("circle.md"), CONTEXT_MAY_CREATE, &err), err, ERR_SYSTEM);
}

SCRATCH_TEST(a_broken_document_is_left_as_it_was)
{
	CLEANUP(context_close) struct context_file f = {0};

	scratch_write("ADR-7.md", "");
	assert_fails(context_open(&f, at("ADR-7.md"), CONTEXT_MAY_CREATE, &err), err, ERR_INPUT);
	assert_true(path_exists(at("ADR-7.md")));
	assert_string_equal(scratch_read("ADR-7.md"), "");
}

SCRATCH_TEST(what_is_kept_has_a_name_of_its_own)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *one, *two;

	create();
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("one"), &one, &err), 0);
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("two"), &two, &err), 0);
	assert_string_equal(
		scratch_read("logs/ADR-7-x-0a1c6d4cf41eb499911faba7321fe1a0.txt"), "one");
	assert_string_equal(
		scratch_read("logs/ADR-7-x-35d5c8cc887e4da96c0560bdcb29998b.txt"), "two");
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("one"), &two, &err), 0);
	assert_string_equal(one, two);
	assert_true(str_starts(str_of(one), "logs/"));
	one = at(one);
	tree_write(one, STR("on")); /* as a power cut may leave it */
	assert_fails(store_read_blob(store_backend(), one, &text, &err), err, ERR_INPUT);
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("one"), &two, &err), 0);
	buf_clear(&text);
	assert_int_equal(store_read_blob(store_backend(), one, &text, &err), 0);
	assert_string_equal(text.s, "one");
	assert_fails(
		store_read_blob(store_backend(), at("logs/none.txt"), &text, &err), err, ERR_INPUT);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* In place of the sleep, the caller that waits for the lock ends its holder, if there is one. */
static struct disk_lock *holder;
static unsigned waits;

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted, (void)left;
	waits++;
	disk_lock_drop(&holder);
	return 0;
}

/* Opens W-1 while its lock is held; `ends`: until another caller waits for it. */
static int open_while_held(const char *wait, bool ends)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct disk_lock *mine = NULL;
	int rc;

	assert_int_equal(disk_lock_take(&mine, at(".W-1.lock"), 0, &err), 0);
	holder = ends ? mine : NULL;
	waits = 0;
	setenv("DEV_TEAM_LOCK_WAIT_MS", wait, 1);
	rc = context_open(&f, at("W-1.md"), CONTEXT_MAY_CREATE, &err);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	if (!ends)
		disk_lock_drop(&mine);
	return rc;
}

SCRATCH_TEST(a_wait_that_is_no_number_is_the_usual_one)
{
	static const char *const none[] = {"", "abc", "-1", "5s", " 7", "99999999999999999999"};

	assert_int_equal(open_while_held("0", false), -1);
	assert_int_equal(waits, 0);
	assert_int_equal(open_while_held("20", false), -1);
	assert_true(waits > 0);
	for (size_t i = 0; i < COUNT(none); i++) {
		assert_int_equal(open_while_held(none[i], true), 0);
		assert_int_equal(waits, 1);
	}
}

SCRATCH_TEST(whoever_finds_the_lock_held_reads_what_for)
{
	CLEANUP(context_close) struct context_file f = {0}, second = {0};

	create();
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	context_note(&f, "git push");
	setenv("DEV_TEAM_LOCK_WAIT_MS", "0", 1);
	assert_fails(
		context_open(&second, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), err, ERR_STATE);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	assert_non_null(strstr(err.text, ": git push)"));
}

SCRATCH_TEST(a_document_in_a_directory_that_is_not_there_is_missing)
{
	static const enum context_mode modes[] = {CONTEXT_READ_ONLY, CONTEXT_MUST_EXIST};

	for (size_t i = 0; i < COUNT(modes); i++) {
		CLEANUP(context_close) struct context_file f = {0};

		err = (struct error){0};
		assert_fails(context_open(&f, at("none/ADR-7.md"), modes[i], &err), err, ERR_INPUT);
		assert_non_null(strstr(err.text, "no context file '"));
	}
}

SCRATCH_TEST(what_is_made_is_for_its_owner_alone)
{
	static const char *const directories[] = {"s", "s/org", "s/org/logs"},
				 *const files[] = {"s/org/.W-1.lock", "s/org/W-1.md",
					 "s/org/W-1.events.jsonl",
					 "s/org/logs/x-5c7401c0ec22eeeeeaf06c6480b2cd11.txt"};
	mode_t before = umask(0);

	for (int again = 0; again < 2; again++) {
		CLEANUP(context_close) struct context_file f = {0};
		char *kept;

		assert_int_equal(context_open(&f, at("s/org/W-1.md"), CONTEXT_MAY_CREATE, &err), 0);
		if (f.created)
			assert_int_equal(context_create(&f, "W-1", "init", &err), 0);
		context_set(&f.doc, "note", again ? STR("a") : STR("b"));
		(void)context_event(&f, "x");
		assert_int_equal(context_save(&f, &err), 0);
		if (again)
			break;
		assert_int_equal(context_keep(&f, "x", STR("x"), &kept, &err), 0);
		for (size_t i = 0; i < COUNT(directories); i++)
			assert_int_equal(mode_of(at(directories[i])), 0700);
		for (size_t i = 0; i < COUNT(files); i++) {
			assert_int_equal(mode_of(at(files[i])), 0600);
			assert_int_equal(chmod(at(files[i]), 0640), 0);
		}
	}
	assert_int_equal(umask(before), 0);
	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(mode_of(at(files[i])), 0640);
}

SCRATCH_TEST(paths_come_from_the_slug_and_the_id)
{
	char *path;

	setenv("DEV_TEAM_STATE_DIR", "/s", 1);
	assert_int_equal(context_path(&arena, "org/repo", "ADR-7", &path, &err), 0);
	assert_string_equal(path, "/s/org/repo/ADR-7.md");
	assert_fails(context_path(&arena, "org/repo", "../x", &path, &err), err, ERR_USAGE);
	assert_fails(context_path(&arena, "org/../repo", "x", &path, &err), err, ERR_STATE);
	unsetenv("DEV_TEAM_STATE_DIR");
	setenv("HOME", "/home/ada", 1);
	assert_int_equal(context_path(&arena, "a/b/c", "x", &path, &err), 0);
	assert_string_equal(path, "/home/ada/.dev-team/a/b/c/x.md");
}

static int fix_clock(void **state)
{
	(void)state;
	return setenv("DEV_TEAM_NOW", "2026-11-21T01:34:55Z", 1);
}

UNIT_GROUP(fix_clock, NULL)

static int open_at(const char *path, enum context_mode mode)
{
	CLEANUP(context_close) struct context_file f = {0};

	return context_open(&f, path, mode, &err);
}

SCRATCH_TEST(what_cannot_be_the_name_of_a_document_is_refused)
{
	char name[NAME_MAX];

	assert_fails(open_at(at("new/"), CONTEXT_MAY_CREATE), err, ERR_USAGE);
	assert_error(&err, arena_printf(&arena, "dev-team: '%s' is not a file name", at("new/")));
	assert_int_equal(open_at(at("a\xff"), CONTEXT_MAY_CREATE), -1);
	assert_error(&err, "dev-team: the path of the context file is not UTF-8");
	memset(name, 'x', sizeof(name));
	name[NAME_MAX - 31] = '\0';
	assert_fails(open_at(at(name), CONTEXT_MAY_CREATE), err, ERR_USAGE);
	name[NAME_MAX - 32] = '\0';
	assert_int_equal(open_at(at(name), CONTEXT_MAY_CREATE), 0);
	assert_int_equal(access(at("new"), F_OK), -1);
}

static void open_and_read_note(struct context_file *f)
{
	struct str value;

	create();
	assert_int_equal(context_open(f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	assert_int_equal(context_get_key(f, "note", &value, &err), 0);
}

/* What f itself put is no change by another. */
SCRATCH_TEST(a_key_that_was_read_and_put_can_be_put_again)
{
	CLEANUP(context_close) struct context_file f = {0};

	open_and_read_note(&f);
	for (int i = 0; i < 3; i++) {
		context_put_key(&f, "note", i == 1 ? STR("") : STR("x"));
		assert_int_equal(context_log(&f, &err), 0);
	}
}

SCRATCH_TEST(events_and_keys_that_were_refused_are_not_offered_again)
{
	CLEANUP(context_close) struct context_file f = {0};

	open_and_read_note(&f);
	f.read.items[0].rev = 1; /* as if it had been there */
	context_put_key(&f, "note", STR("x"));
	(void)context_event(&f, "noted");
	assert_fails(context_log(&f, &err), err, ERR_STATE);
	assert_int_equal(f.ops.n, 0);
	assert_null(json_first(f.events));
}

SCRATCH_TEST(an_input_is_noted_with_its_time)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	char *now = arena_dup(&arena, str_of(getenv("DEV_TEAM_NOW")));

	create();
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	(void)context_op(&f, "step");
	setenv("DEV_TEAM_NOW", "2026-11-21T02:00:00Z", 1);
	context_seen(&f, "push", NULL);
	setenv("DEV_TEAM_NOW", now, 1);
	context_set(&f.doc, "note", STR("x"));
	assert_int_equal(context_save(&f, &err), 0);
	assert_true(tree_read(at("ADR-7.events.jsonl"), &journal));
	assert_non_null(strstr(journal.s, "{\"what\":\"push\",\"at\":\"2026-11-21T02:00:00Z\"}"));
}

SCRATCH_TEST(an_owner_is_not_read_from_a_damaged_journal)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	create();
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_READ_ONLY, &err), 0);
	assert_int_equal(lease_read(&f, &h, &err), 0);
	assert_null(h.owner);
	scratch_write("ADR-7.events.jsonl", "lost\n");
	assert_fails(lease_read(&f, &h, &err), err, ERR_INPUT);
}
