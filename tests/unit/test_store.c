#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "context/file.h"
#include "src/store/document.h"
#include "src/store/journal.h"
#include "src/store/lock.h"
#include "tests/unit/scratch.h"

static void holds(const char *name, const char *text)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	assert_true(tree_read(at(name), &got));
	assert_string_equal(got.len ? got.s : "", text);
}

static void a_document_is_replaced_and_leaves_nothing_beside_it(void **state)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	struct error err = {0};

	(void)state;
	tree_write(at("A.md"), STR("old"));
	assert_int_equal(chmod(at("A.md"), 0640), 0);
	assert_int_equal(document_replace(at("A.md"), STR("new"), &err), 0);
	holds("A.md", "new");
	tree_list(base, &list);
	assert_non_null(strstr(list.s, "A.md"));
	assert_null(strstr(list.s, ".new"));
}

static void the_mode_of_a_document_stays(void **state)
{
	struct stat st;
	struct error err = {0};

	(void)state;
	tree_write(at("A.md"), STR("old"));
	assert_int_equal(chmod(at("A.md"), 0600), 0);
	assert_int_equal(document_replace(at("A.md"), STR("new"), &err), 0);
	assert_int_equal(stat(at("A.md"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void what_is_staged_is_not_there_until_it_is_committed(void **state)
{
	struct error err = {0};
	bool replaced;

	(void)state;
	tree_write(at("A.md"), STR("old"));
	assert_int_equal(document_stage(at("A.md"), STR("new"), &err), 0);
	holds("A.md", "old");
	assert_int_equal(document_commit(at("A.md"), &replaced, &err), 0);
	assert_true(replaced);
	holds("A.md", "new");
}

static void a_symbolic_link_in_the_place_of_the_staged_file_is_not_followed(void **state)
{
	struct error err = {0};

	(void)state;
	tree_write(at("victim"), STR("precious"));
	assert_int_equal(symlink(at("victim"), at(".A.md.new")), 0);
	assert_int_equal(document_stage(at("A.md"), STR("new"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	holds("victim", "precious");
}

static void a_folder_that_is_not_there_is_an_error_of_the_system(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(document_replace(at("no/A.md"), STR("x"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "No such file or directory"));
}

static json *events_of(const char *types)
{
	json *array = json_array();

	for (; *types; types++) {
		json *e = json_object();

		json_put_str(e, "type", (struct str){types, 1});
		json_push(array, e);
	}
	return array;
}

static void append(struct journal *j, const char *types, uint64_t rev)
{
	CLEANUP(json_free) json *events = events_of(types);
	struct error err = {0};

	assert_int_equal(journal_append(j, events, rev, &err), 0);
}

#define A1 "{\"seq\":1,\"rev\":1,\"type\":\"a\"}\n"
#define B2 "{\"seq\":2,\"rev\":2,\"type\":\"b\"}\n"
#define C3 "{\"seq\":3,\"rev\":2,\"type\":\"c\"}\n"

static void opened_at(const char *before, uint64_t rev, const char *after)
{
	struct journal *j = NULL;
	struct error err = {0};

	tree_write(at("E.jsonl"), str_of(before));
	assert_int_equal(journal_open(&j, at("E.jsonl"), rev, &err), 0);
	journal_close(&j);
	holds("E.jsonl", after);
}

static void lines_are_numbered_on_across_openings(void **state)
{
	struct journal *j = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(journal_open(&j, at("E.jsonl"), 0, &err), 0);
	append(j, "a", 1);
	append(j, "bc", 2);
	journal_close(&j);
	holds("E.jsonl", A1 B2 C3);
	assert_int_equal(journal_open(&j, at("E.jsonl"), 2, &err), 0);
	assert_int_equal(journal_rev(j), 2);
	append(j, "d", 3);
	journal_close(&j);
	holds("E.jsonl", A1 B2 C3 "{\"seq\":4,\"rev\":3,\"type\":\"d\"}\n");
}

static void a_torn_last_line_is_cut(void **state)
{
	(void)state;
	opened_at(A1 "{\"seq\":2,\"re", 1, A1);
	opened_at(A1 "{\"seq\":2,\"rev\":2,\"type\":\"b\"}", 1, A1);
	opened_at(A1 "{\"seq\":2,\"rev\":2,\"type\":\"b\"}", 2, A1);
	opened_at("{", 0, "");
}

static void lines_whose_document_was_never_replaced_are_cut(void **state)
{
	(void)state;
	opened_at(A1 B2 C3, 1, A1);
	opened_at(A1 B2 C3, 2, A1 B2 C3);
	opened_at(A1 B2 "{\"seq\":3,\"rev", 1, A1);
	opened_at(A1, 0, "");
}

static void an_older_document_that_was_put_back_cuts_nothing(void **state)
{
	struct journal *j = NULL;
	struct error err = {0};

	(void)state;
	opened_at(A1 B2 C3, 0, A1 B2 C3);
	assert_int_equal(journal_open(&j, at("E.jsonl"), 0, &err), 0);
	assert_int_equal(journal_rev(j), 2);
	journal_close(&j);
}

static void a_batch_longer_than_the_window_is_cut_whole(void **state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)state;
	buf_adds(&text, A1);
	for (int i = 0; i < 2000; i++)
		buf_addf(&text, "{\"seq\":%d,\"rev\":2,\"type\":\"b\"}\n", i + 2);
	opened_at(text.s, 1, A1);
	opened_at(text.s, 2, text.s);
}

static void an_append_can_be_taken_back(void **state)
{
	struct journal *j = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(journal_open(&j, at("E.jsonl"), 0, &err), 0);
	append(j, "a", 1);
	append(j, "xyz", 2);
	journal_undo(j);
	append(j, "bc", 2);
	journal_close(&j);
	holds("E.jsonl", A1 B2 C3);
}

static void a_lock_that_another_holds_is_told_with_its_holder(void **state)
{
	struct lock *mine = NULL, *second = NULL;
	struct error err = {0};
	char want[64];

	(void)state;
	assert_int_equal(lock_take(&mine, at("l"), 0, &err), 0);
	assert_int_equal(lock_take(&second, at("l"), 0, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	(void)snprintf(want, sizeof(want), "(pid %ld on ", (long)getpid());
	assert_non_null(strstr(err.text, want));
	assert_null(second);
	lock_note(mine, "git push");
	assert_int_equal(lock_take(&second, at("l"), 0, &err), -1);
	assert_non_null(strstr(err.text, "Z: git push)"));
	lock_drop(&mine);
	assert_int_equal(lock_take(&second, at("l"), 0, &err), 0);
	lock_drop(&second);
}

static void a_lock_dies_with_its_holder(void **state)
{
	struct lock *l = NULL;
	struct error err = {0};
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(lock_take(&l, at("l"), 0, &err) == 0 ? 7 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(lock_take(&l, at("l"), 0, &err), 0);
	lock_drop(&l);
}

static void create(void)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err = {0};

	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_true(f.created);
	assert_int_equal(context_create(&f, "ADR-7", "init", &err), 0);
	(void)context_event(&f, "started");
	assert_int_equal(context_save(&f, &err), 0);
}

static void a_save_appends_its_events_and_counts_the_revision(void **state)
{
	struct error err = {0};

	(void)state;
	create();
	holds("ADR-7.events.jsonl",
		"{\"seq\":1,\"rev\":1,\"ts\":\"2026-11-21T01:34:55Z\",\"type\":\"started\"}\n");
	for (int i = 0; i < 2; i++) {
		CLEANUP(context_close) struct context_file f = {0};

		assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
		assert_int_equal(context_count(&f.doc, "revision"), i + 1);
		context_set_count(&f.doc, "fix_iteration", (unsigned long)i + 5);
		assert_int_equal(context_save(&f, &err), 0);
	}
}

static void nothing_changed_is_nothing_written(void **state)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct stat before, after;
	struct error err = {0};

	(void)state;
	create();
	assert_int_equal(stat(at("ADR-7.md"), &before), 0);
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	assert_int_equal(context_save(&f, &err), 0);
	assert_int_equal(stat(at("ADR-7.md"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

static void a_document_behind_a_link_is_replaced_where_it_is(void **state)
{
	struct error err = {0};
	struct stat st;

	(void)state;
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

static void a_broken_document_is_left_as_it_was(void **state)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err = {0};

	(void)state;
	tree_write(at("ADR-7.md"), STR(""));
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MAY_CREATE, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	holds("ADR-7.md", "");
}

static void what_is_kept_never_overwrites(void **state)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err = {0};
	char *one, *two;

	(void)state;
	create();
	assert_int_equal(context_open(&f, at("ADR-7.md"), CONTEXT_MUST_EXIST, &err), 0);
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("one"), &one, &err), 0);
	assert_int_equal(context_keep(&f, "ADR-7-x", STR("two"), &two, &err), 0);
	holds("logs/ADR-7-x-20261121T013455Z-1.txt", "one");
	holds("logs/ADR-7-x-20261121T013455Z-2.txt", "two");
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Another process holds the lock of W-1 for 300 ms. */
static int open_while_held(const char *wait)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lock *l = NULL;
	struct error err = {0};
	int rc, ready[2], status;
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		rc = lock_take(&l, at(".W-1.lock"), 0, &err);
		(void)!write(ready[1], "x", 1);
		usleep(300000);
		_exit(-rc);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	setenv("DEV_TEAM_LOCK_WAIT_MS", wait, 1);
	rc = context_open(&f, at("W-1.md"), CONTEXT_MAY_CREATE, &err);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return rc;
}

static void a_wait_that_is_no_number_is_the_usual_one(void **state)
{
	static const char *const none[] = {"", "abc", "-1", "5s", " 7", "99999999999999999999"};

	(void)state;
	assert_int_equal(open_while_held("0"), -1);
	assert_int_equal(open_while_held("20"), -1);
	for (size_t i = 0; i < COUNT(none); i++)
		assert_int_equal(open_while_held(none[i]), 0);
}

static void what_is_made_is_for_its_owner_alone(void **state)
{
	static const char *const folders[] = {"s", "s/org", "s/org/logs"},
				 *const files[] = {"s/org/.W-1.lock", "s/org/W-1.md",
					 "s/org/W-1.events.jsonl",
					 "s/org/logs/x-20261121T013455Z-1.txt"};
	struct error err = {0};
	mode_t before = umask(0);

	(void)state;
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
		for (size_t i = 0; i < COUNT(folders); i++)
			assert_int_equal(mode_of(at(folders[i])), 0700);
		for (size_t i = 0; i < COUNT(files); i++) {
			assert_int_equal(mode_of(at(files[i])), 0600);
			assert_int_equal(chmod(at(files[i]), 0640), 0);
		}
	}
	assert_int_equal(umask(before), 0);
	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(mode_of(at(files[i])), 0640);
}

static void paths_come_from_the_slug_and_the_id(void **state)
{
	struct error err = {0};
	char *path;

	(void)state;
	setenv("DEV_TEAM_STATE_DIR", "/s", 1);
	assert_int_equal(context_path(&arena, "org/repo", "ADR-7", &path, &err), 0);
	assert_string_equal(path, "/s/org/repo/ADR-7.md");
	assert_int_equal(context_path(&arena, "org/repo", "../x", &path, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(context_path(&arena, "org/../repo", "x", &path, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_document_is_replaced_and_leaves_nothing_beside_it),
		scratch_test(the_mode_of_a_document_stays),
		scratch_test(what_is_staged_is_not_there_until_it_is_committed),
		scratch_test(a_symbolic_link_in_the_place_of_the_staged_file_is_not_followed),
		scratch_test(a_folder_that_is_not_there_is_an_error_of_the_system),
		scratch_test(lines_are_numbered_on_across_openings),
		scratch_test(a_torn_last_line_is_cut),
		scratch_test(lines_whose_document_was_never_replaced_are_cut),
		scratch_test(an_older_document_that_was_put_back_cuts_nothing),
		scratch_test(a_batch_longer_than_the_window_is_cut_whole),
		scratch_test(an_append_can_be_taken_back),
		scratch_test(a_lock_that_another_holds_is_told_with_its_holder),
		scratch_test(a_lock_dies_with_its_holder),
		scratch_test(a_save_appends_its_events_and_counts_the_revision),
		scratch_test(nothing_changed_is_nothing_written),
		scratch_test(a_document_behind_a_link_is_replaced_where_it_is),
		scratch_test(a_broken_document_is_left_as_it_was),
		scratch_test(what_is_kept_never_overwrites),
		scratch_test(a_wait_that_is_no_number_is_the_usual_one),
		scratch_test(what_is_made_is_for_its_owner_alone),
		scratch_test(paths_come_from_the_slug_and_the_id),
	};

	return cmocka_run_group_tests(tests, fix_clock, NULL);
}
