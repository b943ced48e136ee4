/*
 * The holder and the ports of a worktree, written into its git directory. The record is in the
 * state directory of one user; a process with another state directory reads the mark instead.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

#define MARK "dev-team-holder"

enum { MARK_MAX = 64 << 10 };

static char *mark_path(struct arena *a, const char *path)
{
	const char *text;
	char *admin;

	if (!worktree_pointer(a, path, &admin, &text) || !admin)
		return NULL;
	return path_join(a, admin, MARK);
}

static struct str mark_text(struct arena *a, const struct pool *p, const struct allocation *of)
{
	return json_print_in(a,
		JSON_OBJECT(JSON_INT("port", of->port), JSON_INT("ports", slot_block(of)),
			JSON_INT("pid", of->pid), JSON_INT("start", of->start),
			JSON_IF(of->boot, JSON_TEXT("boot", of->boot)),
			JSON_IF(of->run, JSON_TEXT("run", of->run)), JSON_TEXT("state", p->state)));
}

int pool_replace_file(struct arena *a, const char *path, struct str text, struct error *err)
{
	char *fresh = arena_printf(a, "%s.new", path);
	CLEANUP(base_close) int fd = -1;
	struct stat st;

	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return error_errno(err, "cannot create '%s'", fresh);
	if (stat(path, &st) == 0 && fchmod(fd, st.st_mode & 0777) < 0)
		return error_errno(err, "cannot set the mode of '%s'", fresh);
	if (sys_write_all(fd, text, fresh, err) < 0)
		return -1;
	return rename(fresh, path) < 0 ? error_errno(err, "cannot create '%s'", path) : 0;
}

static bool read_mark(struct arena *a, const char *dir, json **out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path = mark_path(a, dir);
	struct error ignored;

	return path && sys_read_file(&text, path, MARK_MAX, NULL, &ignored) == 0 &&
	       json_parse(out, buf_str(&text), &ignored) == 0;
}

bool mark_ports(struct arena *a, const char *dir, unsigned *first, unsigned *n)
{
	CLEANUP(json_free) json *j = NULL;
	int64_t port, ports;

	if (!read_mark(a, dir, &j))
		return false;
	port = json_get_int(j, "port", 0);
	ports = json_get_int(j, "ports", 0);
	if (port < 1 || ports < 1 || ports > PORT_LAST || port + ports - 1 > PORT_LAST)
		return false;
	*first = (unsigned)port;
	*n = (unsigned)ports;
	return true;
}

/* An invalid mark has no owner. */
bool mark_live(struct arena *a, const char *dir, struct allocation *of, const char **state)
{
	CLEANUP(json_free) json *j = NULL;
	const char *boot, *run, *at;

	*of = (struct allocation){.state = ALLOCATION_LIVE};
	if (!read_mark(a, dir, &j))
		return false;
	boot = json_get_str(j, "boot");
	run = json_get_str(j, "run");
	at = json_get_str(j, "state");
	of->pid = (pid_t)json_get_int(j, "pid", 0);
	of->start = (uint64_t)json_get_int(j, "start", 0);
	of->boot = boot ? arena_dup(a, str_of(boot)) : NULL;
	of->run = run ? arena_dup(a, str_of(run)) : NULL;
	*state = arena_dup(a, str_of(at ? at : ""));
	return record_alive(of);
}

int mark_put(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	char *path = mark_path(a, of->path);
	struct allocation other;
	const char *state;

	/* Writes nothing into another clone. */
	if (!path || !path_beneath(p->common, path_settle(a, path)))
		return 0;
	/* A process that holds nothing does not change another's mark. */
	if (!of->pid && mark_live(a, of->path, &other, &state))
		return 0;
	return pool_replace_file(a, path, mark_text(a, p, of), err);
}
