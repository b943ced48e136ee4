/* Several Unix users with one repository. Only root can become them. */
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

enum { ANN = 2001, BOB = 2002, TEAM = 3000 };

static const char shared[] = "chown -R 2001:3000 . && git config -f r/.git/config "
			     "core.sharedRepository group && chmod -R g+rwX . "
			     "&& find . -type d -exec chmod g+s {} +";

/* `r` and the directory around it belong to Ann; each user trusts it. */
static int users_setup(void **state)
{
	(void)pool_rig_spec(state);
	sh("chmod 755 . && chown -R 2001:2001 .\n"
	   "for u in 2001 2002; do mkdir home$u && git config -f home$u/.gitconfig safe.directory "
	   "$PWD/r && chown -R $u:$u home$u; done");
	return 0;
}

#define USERS_TEST(name)                                                                           \
	static void users_##name(void);                                                            \
	UNIT_TEST(name, users_setup, scratch_remove)                                               \
	{                                                                                          \
		(void)state;                                                                       \
		if (geteuid() != 0)                                                                \
			skip();                                                                    \
		users_##name();                                                                    \
	}                                                                                          \
	static void users_##name(void)

/* What body() returns, or -1 with its error in the file `said`, in a process of that user. */
static int as(uid_t user, int (*body)(struct pool *p))
{
	const gid_t groups[] = {TEAM};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct pool p = {0};
		const char *home = arena_printf(&arena, "%s/home%u", base, user);
		int rc;

		if (setgroups(COUNT(groups), groups) < 0 || setresgid(user, user, user) < 0 ||
			setresuid(user, user, user) < 0)
			_exit(99);
		(void)umask(022);
		setenv("HOME", home, 1);
		setenv("DEV_TEAM_LOCK_WAIT_MS", "0", 1);
		rc = pool_open(
			&arena, &spec, at("r"), path_join(&arena, home, "state"), NULL, &p, &err);
		rc = rc < 0 ? -1 : body(&p);
		if (rc < 0)
			tree_write(path_join(&arena, home, "said"), str_of(err.text));
		_exit(rc < 0 ? 98 : rc);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 99);
	return WEXITSTATUS(status) == 98 ? -1 : WEXITSTATUS(status);
}

static const char *said(uid_t user)
{
	return scratch_read(arena_printf(&arena, "home%u/said", user));
}

static int make(struct pool *p, const char *branch)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;
	bool created;

	return pool_allocate(&arena, p, &ask, &of, &created, &err);
}

static int make_a(struct pool *p)
{
	return make(p, "a");
}

static int make_b(struct pool *p)
{
	return make(p, "b");
}

static void add_one(void *data, const char *kind, const char *path, const char *text)
{
	(void)kind;
	(void)path;
	(void)text;
	++*(size_t *)data;
}

static int count(struct pool *p)
{
	struct allocation *list;
	size_t n, n_odd = 0;

	if (pool_audit(&arena, p, add_one, &n_odd, &err) < 0 ||
		pool_list(&arena, p, &list, &n, &err) < 0)
		return -1;
	return n_odd ? 90 : (int)n;
}

static int drop_a(struct pool *p)
{
	bool removed = false;

	return pool_reclaim(&arena, p, "a", true, &removed, &err) < 0 ? -1 : removed;
}

/* As a process leaves it that is killed while the files are checked out. */
static int begin_x(struct pool *p)
{
	struct op o = {.a = &arena, .p = p, .err = &err};
	const struct allocation x = {.branch = "x",
		.slug = "x",
		.path = path_join(&arena, p->dir, "x"),
		.pool = p->spec.name,
		.admin = "x",
		.state = ALLOCATION_MAKING,
		.made_branch = true};
	const char *const lock[] = {"worktree", "lock", x.path, NULL};

	if (make(p, "x") < 0 || op_begin(&o) < 0 || op_git(&o, NULL, lock) < 0 ||
		record_put(&o, &x) < 0)
		return -1;
	pool_unlock(p);
	return 0;
}

USERS_TEST(users_of_a_shared_repository_see_the_same)
{
	sh(shared);
	assert_int_equal(as(ANN, make_a), 0);
	assert_int_equal(as(BOB, make_b), 0);
	assert_int_equal(as(ANN, count), 2);
	assert_int_equal(as(BOB, count), 2);
	assert_int_equal(as(BOB, make_a), 0); /* it is adopted */
	assert_int_equal(as(BOB, drop_a), -1);
	assert_true(contains(said(BOB), "belongs to the user 2001"));
	assert_int_equal(as(ANN, drop_a), 1);
	assert_int_equal(as(BOB, count), 1);
}

USERS_TEST(a_user_undoes_what_another_one_left)
{
	sh(shared);
	assert_int_equal(as(ANN, begin_x), 0);
	assert_int_equal(as(BOB, count), 0);
	sh("test ! -e pool/x && test -z \"$(ls r/.git/worktrees 2>/dev/null)\"");
}

USERS_TEST(a_user_waits_for_the_lock_of_another_one)
{
	struct disk_lock *lock = NULL;

	sh(shared);
	assert_int_equal(as(ANN, make_a), 0);
	assert_int_equal(disk_lock_take(&lock, at("r/.git/dev-team-worktrees.lock"), 0, &err), 0);
	assert_int_equal(as(BOB, make_b), -1);
	assert_true(contains(said(BOB), "is locked by another process"));
	disk_lock_drop(&lock);
	assert_int_equal(as(BOB, make_b), 0);
}

USERS_TEST(a_user_of_a_repository_that_is_not_shared_changes_nothing)
{
	assert_int_equal(as(ANN, make_a), 0);
	assert_int_equal(as(BOB, make_b), -1);
	assert_true(contains(said(BOB), "Permission denied"));
	assert_int_equal(as(ANN, count), 1);
}

USERS_TEST(a_user_who_does_not_trust_the_repository_is_told_how)
{
	sh(shared);
	sh("rm home2002/.gitconfig");
	assert_int_equal(as(BOB, make_b), -1);
	assert_true(contains(said(BOB), "git config --global --add safe.directory"));
}

UNIT_GROUP(NULL, arena_end)
