#include "tests/lib/records_rig.h"

static struct error err;

static int by_kind(const void *x, const void *y)
{
	return strcmp(((const struct leak *)x)->kind, ((const struct leak *)y)->kind);
}

/* The kinds of all leaks, sorted, with blanks between them. */
static const char *leaks(void)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct leak *list;
	size_t n;

	if (pool_audit(&arena, &pool, &list, &n, &err) < 0)
		fail_msg("%s", err.text);
	if (n)
		qsort(list, n, sizeof(*list), by_kind);
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s%s", i ? " " : "", list[i].kind);
	return arena_dup(&arena, buf_str(&out));
}

/* ---- audit ---- */

RECORDS_TEST(what_fits_together_is_clean)
{
	struct allocation child;

	assert_string_equal(leaks(), "");
	whole("one", 4000);
	whole("two", 4002);
	assert_string_equal(leaks(), "");
	/* A subdirectory, a clone, a file: none of them is an orphaned worktree. */
	tree_mkdirs(in_pool("clone/.git/objects"));
	write_text(in_pool("notes.txt"), "x");
	write_text(in_pool(".pool"), "");
	tree_mkdirs(in_pool(".cache/x"));
	child = record_of("other");
	child.path = in_pool("owner/repo/feat");
	child.common = at("elsewhere/.git");
	tree_mkdirs(child.common);
	put_record(child);
	tree_mkdirs(child.path);
	assert_string_equal(leaks(), "");
}

RECORDS_TEST(ports_without_records_are_found)
{
	char digest[DIGEST_TEXT];

	whole("one", 4000);
	put_key("port/5000", "0123456789abcdef0123456789abcdef");
	assert_string_equal(leaks(), "orphan-port");
	put_key("port/5001", "");
	put_key("port/0", "0123456789abcdef0123456789abcdef");
	put_key("port/70000", "0123456789abcdef0123456789abcdef");
	put_key("port/x", "0123456789abcdef0123456789abcdef");
	assert_string_equal(leaks(), "orphan-port orphan-port orphan-port orphan-port orphan-port");
	for (size_t i = 0; i < 5; i++)
		del_key((const char *[]){
			"port/5000", "port/5001", "port/0", "port/70000", "port/x"}[i]);
	record_digest(in_pool("one"), digest);
	put_key("port/4002", digest);
	assert_string_equal(leaks(), "stray-port");
}

RECORDS_TEST(records_without_ports_are_found)
{
	struct allocation two = record_of("two");
	char digest[DIGEST_TEXT];

	whole("one", 4000);
	del_key("port/4001");
	assert_string_equal(leaks(), "missing-port");
	make_worktree(pool.repo, two.path);
	put_record(two);
	record_digest(two.path, digest);
	put_key("port/4001", digest);
	assert_string_equal(leaks(), "shared-port stray-port");
	two.port = 70000;
	two.ports = 1;
	two.path = in_pool("three");
	two.slug = "three";
	make_worktree(pool.repo, two.path);
	put_key(key_at(&arena, two.path), arena_dup(&arena, record_text(&arena, &two)));
	assert_string_equal(leaks(), "bad-record shared-port stray-port");
}

/* Two records with the same port: it is held for one of them. */
RECORDS_TEST(a_shared_port_is_found_across_repositories)
{
	struct allocation other = record_of("other");

	whole("one", 4000);
	other.common = at("elsewhere/.git");
	other.path = at("elsewhere-pool/other");
	tree_mkdirs(other.common);
	other.port = 4001;
	other.ports = 1;
	put_key(key_at(&arena, other.path), arena_dup(&arena, record_text(&arena, &other)));
	assert_string_equal(leaks(), "shared-port");
}

RECORDS_TEST(a_change_that_cannot_be_stored_is_an_error)
{
	bool refused = true;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_put(&c, "", STR("x"));
	assert_int_equal(change_commit(&c, NULL, &refused, &err), -1);
	assert_false(refused);
	assert_int_equal(err.code, ERR_INPUT);
}

RECORDS_TEST(children_are_held_to_their_parents)
{
	struct allocation parent = record_of("parent"), child = record_of("child");
	char digest[DIGEST_TEXT];

	parent.port = 4000;
	parent.ports = 1;
	parent.slots = 1;
	parent.slot_ports = 2;
	put_record(parent);
	make_worktree(pool.repo, parent.path);
	child.parent = parent.path;
	child.port = 4001;
	child.ports = 1;
	make_worktree(pool.repo, child.path);
	put_key(key_at(&arena, child.path), arena_dup(&arena, record_text(&arena, &child)));
	assert_string_equal(leaks(), "shared-port"); /* the parent has it still */
	record_digest(child.path, digest);
	put_key("port/4001", digest);
	assert_string_equal(leaks(), "");
	put_key("port/4002", digest); /* the child has it, though its record does not */
	assert_string_equal(leaks(), "stray-port");
	whole("one", 4100);
	record_digest(in_pool("one"), digest);
	put_key("port/4002", digest);
	assert_string_equal(leaks(), "shared-port stray-port");
	record_digest(parent.path, digest);
	put_key("port/4002", digest);
	record_digest(child.path, digest);
	child.port = 4000;
	put_key(key_at(&arena, child.path), arena_dup(&arena, record_text(&arena, &child)));
	put_key("port/4000", digest);
	assert_string_equal(leaks(), "child-outside shared-port stray-port");
	child.port = 4001;
	child.parent = in_pool("nobody");
	put_key(key_at(&arena, child.path), arena_dup(&arena, record_text(&arena, &child)));
	assert_non_null(strstr(leaks(), "orphan-child"));
}

RECORDS_TEST(worktrees_without_records_are_found)
{
	make_worktree(pool.repo, in_pool("one"));
	assert_string_equal(leaks(), "unrecorded-worktree");
	/* It belongs to another repository that shares the directory, whose own audit reports it.
	 */
	make_worktree(at("elsewhere"), in_pool("two"));
	assert_string_equal(leaks(), "unrecorded-worktree");
	tree_remove(at("elsewhere"));
	assert_string_equal(leaks(), "broken-worktree unrecorded-worktree");
	tree_remove(in_pool("one"));
	tree_remove(in_pool("two"));
	tree_remove(at("repo/.git/worktrees/one"));
	assert_string_equal(leaks(), "");
	write_text(in_pool("three/.git"), "not a pointer\n");
	assert_string_equal(leaks(), "broken-worktree");
	tree_remove(in_pool("three"));
	tree_mkdirs(in_pool("four/src"));
	assert_string_equal(leaks(), "stray-folder");
}

RECORDS_TEST(records_without_worktrees_are_found)
{
	whole("one", 4000);
	tree_remove(in_pool("one"));
	assert_string_equal(leaks(), "orphan-admin record-without-worktree");
	tree_remove(at("repo/.git/worktrees/one"));
	assert_string_equal(leaks(), "record-without-worktree");
	tree_mkdirs(in_pool("one"));
	assert_string_equal(leaks(), "record-without-worktree");
	tree_remove(in_pool("one"));
	make_worktree(at("elsewhere"), in_pool("one"));
	assert_string_equal(leaks(), "foreign-worktree");
	tree_remove(in_pool("one"));
	make_worktree(pool.repo, in_pool("one"));
	assert_string_equal(leaks(), "");
	tree_remove(at("repo/.git/worktrees/one"));
	assert_string_equal(leaks(), "worktree-without-admin");
}

RECORDS_TEST(admin_directories_without_worktrees_are_found)
{
	make_worktree(pool.repo, in_pool("one"));
	tree_remove(in_pool("one"));
	assert_string_equal(leaks(), "orphan-admin");
	write_text(at("repo/.git/worktrees/one/locked"), "initializing");
	assert_string_equal(leaks(), ""); /* git is creating it */
	tree_remove(at("repo/.git/worktrees/one"));
	/* A worktree that a user created elsewhere belongs to the user. */
	make_worktree(pool.repo, at("desk/two"));
	tree_remove(at("desk/two"));
	assert_string_equal(leaks(), "");
	tree_mkdirs(at("repo/.git/worktrees/three"));
	assert_string_equal(leaks(), "orphan-admin");
}

RECORDS_TEST(what_is_half_done_is_a_leak_of_the_dead)
{
	struct allocation one = record_of("one"), two = record_of("two");
	pid_t pid = somebody();
	struct process_info info;

	assert_true(process_info(pid, &info));
	one.state = ALLOCATION_MAKING;
	two.state = ALLOCATION_REMOVING;
	one.pid = two.pid = pid;
	one.start = two.start = info.start;
	one.boot = two.boot = boot_id();
	put_record(one);
	put_record(two);
	tree_mkdirs(trash_path(&arena, two.path));
	tree_mkdirs(trash_admin_path(&arena, &pool, two.path));
	tree_mkdirs(one.path);
	assert_string_equal(leaks(), "");
	somebody_ends(pid);
	assert_non_null(strstr(leaks(), "half-made"));
	assert_non_null(strstr(leaks(), "half-removed"));
	assert_non_null(strstr(leaks(), "trash"));
	assert_non_null(strstr(leaks(), "trash-admin"));
}

RECORDS_TEST(marks_and_records_agree)
{
	struct allocation one = record_of("one");

	put_key("doing/0123456789abcdef0123456789abcdef", pool.common);
	assert_string_equal(leaks(), "orphan-mark");
	del_key("doing/0123456789abcdef0123456789abcdef");
	one.state = ALLOCATION_MAKING;
	put_record(one);
	assert_string_equal(leaks(), "half-made");
	del_key(key_doing(&arena, one.path));
	assert_string_equal(leaks(), "half-made missing-mark");
}

RECORDS_TEST(damaged_records_are_found)
{
	struct allocation one = record_of("one");

	put_key(key_at(&arena, one.path), "{}");
	assert_string_equal(leaks(), "bad-record");
	put_key(key_at(&arena, one.path), arena_dup(&arena, record_text(&arena, &one)));
	make_worktree(pool.repo, one.path);
	assert_string_equal(leaks(), "");
	put_key(key_at(&arena, "/another"), arena_dup(&arena, record_text(&arena, &one)));
	assert_string_equal(leaks(), "bad-record");
}

RECORDS_TEST(records_of_a_repository_that_is_gone_are_found)
{
	struct allocation of = record_of("one");
	struct pool_entry *list;
	size_t n;

	of.common = at("gone/.git");
	of.path = at("gone-pool/one");
	of.port = 4000;
	of.ports = 2;
	put_record(of);
	assert_string_equal(leaks(), "record-without-repository");
	assert_int_equal(pool_sweep(&arena, &pool, false, false, clock_now(), &list, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_false(list[0].removed);
	assert_string_equal(leaks(), "record-without-repository");
	assert_int_equal(pool_sweep(&arena, &pool, true, false, clock_now(), &list, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_true(list[0].removed);
	assert_string_equal(leaks(), "");
}

/* ---- list ---- */
