#include <signal.h>
#include <sys/wait.h>
#include "context/lease.h"
#include "src/machine/place.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

struct pool pool;
struct worktree_pool_spec spec;

void pool_again(void)
{
	pool_close(&pool);
	assert_int_equal(
		pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err), 0);
}

int pool_rig_spec(void **state)
{
	(void)rig_setup(state);
	spec = (struct worktree_pool_spec){.name = "p",
		.root = at("pool"),
		.strict = true,
		.stale_days = 14,
		.base_port = 3190};
	return 0;
}

int pool_setup(void **state)
{
	(void)pool_rig_spec(state);
	return pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err);
}

int pool_teardown(void **state)
{
	pool_close(&pool);
	return scratch_remove(state);
}

void item_in(const char *id, const char *path, const char *state, const char *owner)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct item_place place = {.directory = path};
	struct lease_holder h;
	char *slug, *document;

	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 0);
	document = arena_printf(&arena, "%s/%s/%s.md", at("state"), slug, id);
	sh("rm -rf state");
	assert_int_equal(path_mkdirs(arena_dup(&arena, path_dir(document)), &err), 0);
	assert_int_equal(context_open(&f, document, CONTEXT_MAY_CREATE, &err), 0);
	assert_int_equal(context_create(&f, id, state, &err), 0);
	assert_int_equal(lease_read(&f, &h, &err), 0);
	place_store(&f, &place);
	if (owner)
		lease_take(&f, &h, owner, NULL, 300);
	assert_int_equal(context_save(&f, &err), 0);
}

int allocate(const struct allocate_ask *ask, struct allocation *of)
{
	bool created;

	return pool_allocate(&arena, &pool, ask, of, &created, &err);
}

struct allocation have(const char *branch)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;

	if (allocate(&ask, &of) < 0)
		fail_msg("%s", err.text);
	return of;
}

struct allocation take(const char *branch, bool created)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;
	bool got = !created;

	if (pool_allocate(&arena, &pool, &ask, &of, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got, created);
	return of;
}

bool take_refused(const char *branch, enum err code, const char *part)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;

	return refused(allocate(&ask, &of), code, part);
}

static bool is_kept(const char *what, bool confirmed, const char *why)
{
	bool removed = true;

	return refused(pool_reclaim(&arena, &pool, what, confirmed, &removed, &err), ERR_STATE,
		       why) &&
	       !removed;
}

bool stays(const char *what, const char *why)
{
	return is_kept(what, false, why);
}

bool stays_confirmed(const char *what, const char *why)
{
	return is_kept(what, true, why);
}

void goes(const char *what, bool confirmed)
{
	bool removed = false;

	if (pool_reclaim(&arena, &pool, what, confirmed, &removed, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(removed);
}

size_t keys(const char *prefix)
{
	struct store_kv *list;
	size_t n;
	int64_t rev;

	assert_int_equal(
		store_list(pool.store, &arena, prefix, NULL, 100, &list, &n, &rev, &err), STORE_OK);
	return n;
}

void nothing_is_left_of_x(void)
{
	sh("test ! -e pool/x && test -z \"$(ls r/.git/worktrees 2>/dev/null)\" && test -z \"$(ls "
	   "-A pool)\"");
	assert_int_equal(keys(""), 0);
}

void change_stays(const char *act, const char *why)
{
	(void)have("x");
	sh(arena_printf(&arena, "cd pool/x\n%s", act));
	if (!stays("x", "uncommitted changes in") || !contains(err.text, why))
		fail_msg("%s", act);
	sh("test -d pool/x && test -z \"$(ls -A pool | grep removing)\"");
	goes("x", true);
	sh("git -C r config --unset status.showUntrackedFiles || :\n"
	   "git -C r config --unset diff.ignoreSubmodules || :");
	nothing_is_left_of_x();
}

void commit_stays(const char *act, bool kept)
{
	(void)have("x");
	sh(arena_printf(&arena, "cd pool/x\n%s", act));
	if (kept && !stays("x", "unpushed commits in"))
		fail_msg("%s", act);
	if (kept)
		sh("git -C pool/x rev-parse --short=12 HEAD >/dev/null");
	goes("x", kept);
	sh("cd r; { git branch -qD x; git branch -qD copy; git tag -d t; git push -q origin :x; "
	   "git push -q origin :y; } >/dev/null 2>&1 || :");
}

void pool_put(const struct allocation *of)
{
	struct op o = {.a = &arena, .p = &pool, .err = &err};

	assert_int_equal(record_put(&o, of), 0);
}

static void settle(void)
{
	struct op o = {.a = &arena, .p = &pool, .err = &err};

	pool_again();
	if (op_begin(&o) < 0)
		fail_msg("%s", err.text);
	pool_unlock(&pool);
}

void half_made(const char *act)
{
	struct allocation of = have("x");

	sh("git -C r worktree lock --reason making ../pool/x");
	sh(act);
	of.state = ALLOCATION_MAKING;
	pool_put(&of);
	settle();
}

void half_removed(const char *act)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_REMOVING;
	pool_put(&of);
	sh(act);
	settle();
}

static void add_kind(void *data, const char *kind, const char *path, const char *text)
{
	struct buf *out = data;

	assert_true(*path && *text);
	buf_addf(out, "%s%s", out->len ? " " : "", kind);
}

const char *leaks(void)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (pool_audit(&arena, &pool, add_kind, &out, &err) < 0)
		fail_msg("%s", err.text);
	return arena_dup(&arena, buf_str(&out));
}

pid_t somebody(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

pid_t somebody_in(const char *dir)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (chdir(at(dir)) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

void somebody_ends(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
