#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utime.h>
#include "tests/unit/unit.h"
#include "tests/unit/scratch.h"
#include "src/artifact/run_state.h"
#include "src/base/clock.h"
#include "src/base/procfs.h"
#include "src/pool/pool_internal.h"

static struct pool pool;

static int open_pool(void **state)
{
	struct error err;

	(void)state;
	base = tree_scratch("unit");
	pool = (struct pool){.name = "main",
		.dir = at("pool"),
		.repo = at("repo"),
		.common = at("repo/.git"),
		.artifacts = at("artifacts"),
		.state = at("state"),
		.base_port = 3190,
		.stale_days = 14,
		.disk = disk_real()};
	tree_mkdirs(at("pool"));
	tree_mkdirs(at("repo/.git"));
	return store_open(&pool.store, pool.disk, at("state"), "pools", STORE_WRITE, 1000, &err);
}

static int close_pool(void **state)
{
	store_close(&pool.store);
	clock_fix(-1);
	return scratch_remove(state);
}

/* ---- things to find fault with ---- */

static char *in_pool(const char *name)
{
	return path_join(&arena, pool.dir, name);
}

static void write_text(const char *path, const char *text)
{
	tree_write(path, str_of(text));
}

/* As git makes them: a folder, its pointer, and the admin folder that points back. */
static void make_worktree(const char *repo, const char *path)
{
	const char *name = path_base(path).p;
	const char *admin = arena_printf(&arena, "%s/.git/worktrees/%s", repo, name);

	write_text(
		arena_printf(&arena, "%s/.git", path), arena_printf(&arena, "gitdir: %s\n", admin));
	write_text(
		arena_printf(&arena, "%s/gitdir", admin), arena_printf(&arena, "%s/.git\n", path));
	write_text(arena_printf(&arena, "%s/HEAD", admin),
		arena_printf(&arena, "ref: refs/heads/%s\n", name));
}

static struct allocation record_of(const char *name)
{
	return (struct allocation){.branch = name,
		.slug = name,
		.path = in_pool(name),
		.repo = pool.repo,
		.common = pool.common,
		.pool = pool.name,
		.state = ALLOCATION_LIVE,
		.created = 1};
}

static void put_record(struct allocation of)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_record(&c, &of);
	for (unsigned i = 0; i < of.ports + of.slots * of.slot_ports; i++)
		port_take(&c, of.port + i, of.path, 0);
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

static void put_key(const char *key, const char *value)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_put(&c, key, str_of(value));
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

static void del_key(const char *key)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_del(&c, key);
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

static void whole(const char *name, unsigned port)
{
	struct allocation of = record_of(name);

	of.port = port;
	of.ports = 2;
	put_record(of);
	make_worktree(pool.repo, of.path);
}

static int by_kind(const void *x, const void *y)
{
	return strcmp(((const struct leak *)x)->kind, ((const struct leak *)y)->kind);
}

/* "KIND KIND ..." of what the audit says, sorted. */
static const char *leaks(void)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct leak *list;
	struct error err;
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

static void what_fits_together_is_clean(void **state)
{
	struct allocation child;

	(void)state;
	assert_string_equal(leaks(), "");
	whole("one", 4000);
	whole("two", 4002);
	assert_string_equal(leaks(), "");
	/* Another's folder below, a clone, a file: none of them is a worktree that leaked. */
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

static void ports_without_records_are_found(void **state)
{
	char digest[DIGEST_TEXT];

	(void)state;
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

static void records_without_ports_are_found(void **state)
{
	struct allocation two = record_of("two");
	char digest[DIGEST_TEXT];

	(void)state;
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

/* Two records of one port: it is held for one of them. */
static void a_shared_port_is_found_across_repositories(void **state)
{
	struct allocation other = record_of("other");

	(void)state;
	whole("one", 4000);
	other.common = at("elsewhere/.git");
	other.path = at("elsewhere-pool/other");
	tree_mkdirs(other.common);
	other.port = 4001;
	other.ports = 1;
	put_key(key_at(&arena, other.path), arena_dup(&arena, record_text(&arena, &other)));
	assert_string_equal(leaks(), "shared-port");
}

static void children_are_held_to_their_parents(void **state)
{
	struct allocation parent = record_of("parent"), child = record_of("child");
	char digest[DIGEST_TEXT];

	(void)state;
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
	child.port = 4000;
	put_key(key_at(&arena, child.path), arena_dup(&arena, record_text(&arena, &child)));
	put_key("port/4000", digest);
	assert_non_null(strstr(leaks(), "child-outside"));
	child.port = 4001;
	child.parent = in_pool("nobody");
	put_key(key_at(&arena, child.path), arena_dup(&arena, record_text(&arena, &child)));
	assert_non_null(strstr(leaks(), "orphan-child"));
}

static void worktrees_without_records_are_found(void **state)
{
	(void)state;
	make_worktree(pool.repo, in_pool("one"));
	assert_string_equal(leaks(), "unrecorded-worktree");
	/* Of another repository that shares the folder: its own audit tells. */
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

static void records_without_worktrees_are_found(void **state)
{
	(void)state;
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

static void admin_folders_without_worktrees_are_found(void **state)
{
	(void)state;
	make_worktree(pool.repo, in_pool("one"));
	tree_remove(in_pool("one"));
	assert_string_equal(leaks(), "orphan-admin");
	write_text(at("repo/.git/worktrees/one/locked"), "initializing");
	assert_string_equal(leaks(), ""); /* git is just making it */
	tree_remove(at("repo/.git/worktrees/one"));
	/* Where people have made one elsewhere, that is theirs. */
	make_worktree(pool.repo, at("desk/two"));
	tree_remove(at("desk/two"));
	assert_string_equal(leaks(), "");
	tree_mkdirs(at("repo/.git/worktrees/three"));
	assert_string_equal(leaks(), "orphan-admin");
}

static pid_t somebody(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static void somebody_ends(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* While a process is at it nothing is expected; what a dead one left is a leak. */
static void what_is_half_done_is_a_leak_of_the_dead(void **state)
{
	struct allocation one = record_of("one"), two = record_of("two");
	pid_t pid = somebody();
	struct proc_info info;

	(void)state;
	assert_true(proc_info(pid, &info));
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

static void marks_and_records_agree(void **state)
{
	struct allocation one = record_of("one");

	(void)state;
	put_key("doing/0123456789abcdef0123456789abcdef", pool.common);
	assert_string_equal(leaks(), "orphan-mark");
	del_key("doing/0123456789abcdef0123456789abcdef");
	one.state = ALLOCATION_MAKING;
	put_record(one);
	assert_string_equal(leaks(), "half-made");
	del_key(key_doing(&arena, one.path));
	assert_string_equal(leaks(), "half-made missing-mark");
}

static void damaged_records_are_found(void **state)
{
	struct allocation one = record_of("one");

	(void)state;
	put_key(key_at(&arena, one.path), "{}");
	assert_string_equal(leaks(), "bad-record");
	put_key(key_at(&arena, one.path), arena_dup(&arena, record_text(&arena, &one)));
	make_worktree(pool.repo, one.path);
	assert_string_equal(leaks(), "");
	put_key(key_at(&arena, "/another"), arena_dup(&arena, record_text(&arena, &one)));
	assert_string_equal(leaks(), "bad-record");
}

static void records_of_a_repository_that_is_gone_are_found(void **state)
{
	struct allocation of = record_of("one");
	struct pool_entry *list;
	struct error err;
	size_t n;

	(void)state;
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

static void a_list_has_records_and_what_is_there(void **state)
{
	struct pool_entry *list;
	struct error err;
	size_t n;

	(void)state;
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_int_equal(n, 0);
	tree_remove(pool.dir);
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_int_equal(n, 0);
	whole("b", 4000);
	put_record(record_of("a"));
	make_worktree(pool.repo, in_pool("c"));
	make_worktree(at("elsewhere"), in_pool("d"));
	tree_mkdirs(in_pool("e/.git/objects"));
	tree_mkdirs(in_pool(".hidden"));
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_int_equal(n, 4);
	assert_string_equal(list[0].of.slug, "a");
	assert_true(list[0].recorded && !list[0].there && !list[0].stale);
	assert_true(list[1].recorded && list[1].there);
	assert_string_equal(list[2].of.branch, "c");
	assert_true(!list[2].recorded && list[2].there && list[2].keep == KEEP_NOTHING);
	assert_int_equal(list[3].keep, KEEP_FOREIGN);
}

static void stale_is_by_the_folders_time(void **state)
{
	static const struct {
		int64_t age;
		bool stale;
	} rows[] = {{0, false}, {14 * 86400, false}, {14 * 86400 + 1, true}, {30 * 86400, true},
		{-30 * 86400, false}};
	int64_t now = 1800000000;
	struct pool_entry *list;
	struct error err;
	size_t n;

	(void)state;
	whole("one", 4000);
	clock_fix(now);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct utimbuf times = {now - rows[i].age, now - rows[i].age};

		assert_int_equal(utime(in_pool("one"), &times), 0);
		assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
		assert_int_equal(list[0].stale, rows[i].stale);
		assert_int_equal(list[0].changed, now - rows[i].age);
	}
	/* And the clock jumps. */
	clock_fix(now + 60 * 86400);
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_true(list[0].stale);
	clock_fix(1000);
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_false(list[0].stale);
}

/* ---- live ---- */

static const char *live(const struct allocation *of)
{
	const char *who;
	struct error err;

	if (pool_live(&arena, &pool, of, &who, &err) < 0)
		fail_msg("%s", err.text);
	return who;
}

static void a_process_in_the_record_is_live(void **state)
{
	struct allocation one = record_of("one");
	struct proc_info info;
	pid_t pid = somebody();

	(void)state;
	assert_null(live(&one));
	assert_true(proc_info(pid, &info));
	one.pid = pid;
	one.start = info.start;
	one.boot = boot_id();
	assert_non_null(live(&one));
	/* A number that is used again, or was used before the machine was started anew. */
	one.start--;
	assert_null(live(&one));
	one.start++;
	one.boot = "another";
	assert_null(live(&one));
	one.boot = boot_id();
	somebody_ends(pid);
	assert_null(live(&one));
	record_claim(&arena, &one);
	assert_null(live(&one)); /* ourselves */
}

static void a_fresh_heartbeat_is_live(void **state)
{
	struct allocation one = record_of("one");
	struct run_state s = {
		.issue = "T-1", .stage = "code", .status = RUN_RUNNING, .worktree = one.path};
	struct error err;

	(void)state;
	clock_fix(1800000000);
	assert_int_equal(run_state_write(pool.artifacts, &s, &err), 0);
	assert_non_null(live(&one));
	clock_fix(1800000000 + HEARTBEAT_STALE_S + 1);
	assert_null(live(&one));
	clock_fix(1800000000 - 86400); /* the clock went back: it is as fresh as can be */
	assert_non_null(live(&one));
	s.status = RUN_SUCCESS;
	assert_int_equal(run_state_write(pool.artifacts, &s, &err), 0);
	assert_null(live(&one));
	s.status = RUN_RUNNING;
	s.worktree = in_pool("another");
	assert_int_equal(run_state_write(pool.artifacts, &s, &err), 0);
	assert_null(live(&one));
	s.worktree = NULL;
	assert_int_equal(run_state_write(pool.artifacts, &s, &err), 0);
	assert_null(live(&one));
	one.run = "T-1";
	assert_non_null(live(&one));
}

static void a_process_that_works_in_it_is_live(void **state)
{
	struct allocation one = record_of("one"), longer = record_of("one-more");
	int in[2];
	pid_t pid;
	char c;

	(void)state;
	tree_mkdirs(in_pool("one/src/deep"));
	tree_mkdirs(in_pool("one-more"));
	assert_int_equal(pipe(in), 0);
	pid = fork();
	if (pid == 0) {
		if (chdir(in_pool("one/src/deep")) < 0 || write(in[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(in[0], &c, 1), 1);
	assert_non_null(live(&one));
	assert_null(live(&longer));
	somebody_ends(pid);
	assert_null(live(&one));
	close(in[0]);
	close(in[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pool, close_pool)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_fits_together_is_clean),
		TEST(ports_without_records_are_found),
		TEST(records_without_ports_are_found),
		TEST(a_shared_port_is_found_across_repositories),
		TEST(children_are_held_to_their_parents),
		TEST(worktrees_without_records_are_found),
		TEST(records_without_worktrees_are_found),
		TEST(admin_folders_without_worktrees_are_found),
		TEST(what_is_half_done_is_a_leak_of_the_dead),
		TEST(marks_and_records_agree),
		TEST(damaged_records_are_found),
		TEST(records_of_a_repository_that_is_gone_are_found),
		TEST(a_list_has_records_and_what_is_there),
		TEST(stale_is_by_the_folders_time),
		TEST(a_process_in_the_record_is_live),
		TEST(a_fresh_heartbeat_is_live),
		TEST(a_process_that_works_in_it_is_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
