#include "tests/lib/records_rig.h"

/* Which ports this machine uses does not matter. */
static bool every_port_is_free(unsigned port)
{
	(void)port;
	return true;
}

int open_pool(void **state)
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
		.is_free = every_port_is_free};
	tree_mkdirs(at("pool"));
	tree_mkdirs(at("repo/.git"));
	return store_open(
		&pool.store, store_backend(), at("state"), "pools", STORE_WRITE, 1000, &err);
}

int close_pool(void **state)
{
	store_close(&pool.store);
	clock_fix(-1);
	return scratch_remove(state);
}

char *in_pool(const char *name)
{
	return path_join(&arena, pool.dir, name);
}

void write_text(const char *path, const char *text)
{
	tree_write(path, str_of(text));
}

void make_worktree(const char *repo, const char *path)
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

struct allocation record_of(const char *name)
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

void put_record(struct allocation of)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_record(&c, &of);
	for (unsigned i = 0; i < of.ports + of.slots * of.slot_ports; i++)
		port_take(&c, of.port + i, of.path, 0);
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

void put_key(const char *key, const char *value)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_put(&c, key, str_of(value));
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

void del_key(const char *key)
{
	struct error err;
	struct change c;

	change_begin(&c, &arena, &pool);
	change_del(&c, key);
	assert_int_equal(change_commit(&c, NULL, NULL, &err), 0);
}

void whole(const char *name, unsigned port)
{
	struct allocation of = record_of(name);

	of.port = port;
	of.ports = 2;
	put_record(of);
	make_worktree(pool.repo, of.path);
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

void somebody_ends(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
