#include "tests/worktree/crowd/rig.h"
#include <limits.h>
#include "src/sys/path.h"

static void set_directory(struct rig *r, const char *variable, const char *name)
{
	const char *dir = path_join(&r->arena, r->live, name);

	tree_mkdirs(dir);
	setenv(variable, dir, 1);
}

void rig_open(struct rig *r, unsigned files)
{
	*r = (struct rig){.dir = tree_scratch("pool")};
	r->live = path_join(&r->arena, r->dir, "live");
	r->work = path_join(&r->arena, r->live, "work");
	set_directory(r, "HOME", "home");
	set_directory(r, "DEV_TEAM_STATE_DIR", "state");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	run_wait_for_locks();
	unsetenv("PORT");
	tree_write(path_join(&r->arena, r->live, "home/.gitconfig"),
		STR("[user]\n\tname = Test\n\temail = test@example.org\n[gc]\n\tauto = 0\n"));
	tree_mkdirs(r->work);
	for (unsigned i = 0; i < files; i++)
		tree_write(arena_printf(&r->arena, "%s/src/%u/file-%u.txt", r->work, i % 10, i),
			str_of(arena_printf(&r->arena, "text of file %u\n", i)));
	GIT_MUST(r, "init", "-q", "--template=", "-b", "main", ".");
	GIT_MUST(r, "init", "-q", "--template=", "--bare", "-b", "main", "../acme/tool.git");
	GIT_MUST(r, "remote", "add", "origin", path_join(&r->arena, r->live, "acme/tool.git"));
	GIT_MUST(r, "add", ".");
	GIT_MUST(r, "commit", "-q", "-m", "first commit");
	GIT_MUST(r, "push", "-q", "-u", "origin", "main");
}

void rig_close(struct rig *r)
{
	tree_remove(r->dir);
	free(r->dir);
	arena_release(&r->arena);
}

void rig_keep(struct rig *r)
{
	const char *before = path_join(&r->arena, r->dir, "before");

	if (path_exists(before))
		tree_remove(before);
	tree_copy(r->live, before);
}

void rig_restore(struct rig *r)
{
	struct arena a = {0};

	tree_remove(r->live);
	tree_copy(path_join(&a, r->dir, "before"), r->live);
	arena_release(&a);
}

struct run rig_run(struct rig *r, const char *const *words)
{
	struct run run_of = {.argv = words, .cwd = r->work, .limit_s = WAIT_LIMIT_S};

	run(&run_of);
	return run_of;
}

void rig_must(struct rig *r, const char *const *words)
{
	struct run run_of = rig_run(r, words);

	if (run_of.status)
		die("'%s %s %s': exit status %d: %s", words[0], words[1], words[2] ? words[2] : "",
			run_of.status, run_of.err.s ? run_of.err.s : "");
	run_release(&run_of);
}

const char *rig_audit(struct rig *r)
{
	struct run audit = RIG(r, "pool", "audit");
	const char *said = "";

	if (audit.status || audit.err.len)
		said = arena_printf(&r->arena, "audit: exit status %d: %s%s", audit.status,
			audit.out.s ? audit.out.s : "", audit.err.s ? audit.err.s : "");
	run_release(&audit);
	return said;
}

static bool read_allocated(struct rig *r, const struct run *run_of, struct allocated *out)
{
	CLEANUP(json_free) json *j = NULL;
	struct error err;
	const char *path, *branch;

	if (json_parse(&j, str_trim(buf_str(&run_of->out)), &err) < 0)
		return false;
	path = json_get_str(j, "path");
	branch = json_get_str(j, "branch");
	if (!path || !branch)
		return false;
	*out = (struct allocated){.path = arena_dup(&r->arena, str_of(path)),
		.branch = arena_dup(&r->arena, str_of(branch)),
		.port = (unsigned)json_get_int(j, "port", 0),
		.ports = (unsigned)json_len(json_get(j, "ports")),
		.created = json_is_true(json_get(j, "created"))};
	return out->port && out->ports;
}

bool rig_allocate(
	struct rig *r, const char *const *words, struct allocated *out, const char **fault)
{
	struct run run_of = rig_run(r, words);
	bool good = run_of.status == 0 && read_allocated(r, &run_of, out);

	if (!good)
		*fault = arena_printf(&r->arena, "allocate: exit status %d: %s%s", run_of.status,
			run_of.out.s ? run_of.out.s : "", run_of.err.s ? run_of.err.s : "");
	run_release(&run_of);
	return good;
}
