/*
 * The processes of the system, and the end of those that a program leaves behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ENVIRONMENT_MAX = 4 << 20 };
enum { QUIET_MS = 2000, STEP_MS = 50 }; /* of process_abandoned() */
enum { FORKED_NO_EXEC = 0x40 };         /* the kernel's PF_FORKNOEXEC */

static bool process_table_read_file(pid_t pid, const char *name, struct buf *out)
{
	char path[96];
	struct error ignored;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return sys_read_file(out, path, ENVIRONMENT_MAX, NULL, &ignored) == 0;
}

/* The second field, the program's name in parentheses, may contain anything: the last one ends it.
 */
static bool parse_stat(const char *text, struct process_info *info)
{
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	int parent, session, terminal;
	unsigned flags;

	if (!name || !end || end < name ||
		sscanf(end,
			") %c %d %*s %d %d %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			"%*s %" SCNu64,
			&info->state, &parent, &session, &terminal, &flags, &info->start) != 6)
		return false;
	info->parent = (pid_t)parent;
	info->unborn = flags & FORKED_NO_EXEC;
	info->terminal = session == info->pid && terminal;
	(void)snprintf(info->name, sizeof(info->name), "%.*s", (int)(end - name - 1), name + 1);
	return true;
}

bool process_info(pid_t pid, struct process_info *info)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	info->pid = pid;
	return process_table_read_file(pid, "stat", &text) && text.len && parse_stat(text.s, info);
}

/* 0 at the end. */
static pid_t next_pid(struct directory *proc)
{
	const char *name;
	uint64_t pid;

	while ((name = directory_next(proc, NULL)))
		if (number_parse(str_of(name), 1, INT_MAX, &pid))
			return (pid_t)pid;
	return 0;
}

void process_each(void (*fn)(const struct process_info *info, void *arg), void *arg)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct process_info info;
	struct error ignored;
	pid_t pid;

	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return;
	while ((pid = next_pid(&proc)))
		if (process_info(pid, &info))
			fn(&info, arg);
}

static int read_boot(struct arena *a, const char **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, "/proc/sys/kernel/random/boot_id", 4096, NULL, err) < 0)
		return -1;
	*out = arena_dup(a, str_trim(buf_str(&text)));
	return 0;
}

char *process_host(struct arena *a)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	char host[64] = "";

	(void)gethostname(host, sizeof(host) - 1);
	buf_adds(&name, host);
	buf_utf8_repair(&name);
	return arena_dup(a, buf_str(&name));
}

int process_identify(struct arena *a, pid_t pid, struct process_identity *out, struct error *err)
{
	struct process_info info;
	char space[64];
	ssize_t n;

	if (read_boot(a, &out->boot, err) < 0)
		return -1;
	if (!process_info(pid, &info))
		return error_set(err, ERR_SYSTEM, "cannot read process %d in '/proc'", (int)pid);
	out->host = process_host(a);
	n = readlink("/proc/self/ns/pid", space, sizeof(space));
	if (n < 0 && errno != ENOENT) /* all others would seem to be in another container */
		return error_errno(err, "cannot read '/proc/self/ns/pid'");
	out->space = arena_dup(a, (struct str){space, n > 0 ? (size_t)n : 0});
	out->pid = pid;
	out->start = info.start;
	return 0;
}

bool process_lives(pid_t pid, uint64_t start)
{
	struct process_info info;

	if (pid <= 0)
		return false;
	if (!process_info(pid, &info))
		return kill(pid, 0) == 0 || errno != ESRCH;
	return info.start == start && !strchr("ZXx", info.state);
}

enum process_life process_life(
	const struct process_identity *p, const struct process_identity *self)
{
	bool same_boot = strcmp(p->boot, self->boot) == 0;

	if (!same_boot) /* this machine has been restarted since, or it is another one */
		return strcmp(p->host, self->host) == 0 ? PROCESS_DEAD : PROCESS_AWAY;
	if (strcmp(p->space, self->space) != 0)
		return PROCESS_AWAY;
	return process_lives(p->pid, p->start) ? PROCESS_ALIVE : PROCESS_DEAD;
}

pid_t process_client(void)
{
	static const char *const between[] = {"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox",
		"env", "timeout", "nohup", "setsid", "stdbuf", "xargs", "dev-team", NULL};
	struct process_info info;
	pid_t pid = getppid();

	while (pid > 1 && process_info(pid, &info)) {
		if (info.terminal || !str_in(str_of(info.name), between))
			return pid;
		pid = info.parent;
	}
	return pid > 1 ? 0 : pid;
}

char *process_name(struct arena *a, pid_t pid)
{
	struct process_identity p;
	struct error ignored;

	if (process_identify(a, pid, &p, &ignored) < 0)
		return NULL;
	return arena_printf(a, "%s %s %s %d %" PRIu64, *p.host ? p.host : "-", p.boot,
		*p.space ? p.space : "-", (int)p.pid, p.start);
}

char *process_client_name(struct arena *a)
{
	pid_t pid = process_client();

	return pid > 1 ? process_name(a, pid) : NULL;
}

char *process_own_name(struct arena *a)
{
	return process_name(a, getpid());
}

struct name_parts {
	char host[80], boot[80], space[80];
};

/* False: it is no such line. `out` points into `text`. */
static bool process_table_parse_name(
	const char *name, struct name_parts *text, struct process_identity *out)
{
	*out = (struct process_identity){
		.host = text->host, .boot = text->boot, .space = text->space};
	return sscanf(name, "%79s %79s %79s %d %" SCNu64, text->host, text->boot, text->space,
		       &out->pid, &out->start) == 5;
}

pid_t process_name_pid(const char *name)
{
	struct name_parts text;
	struct process_identity p;

	return name && process_table_parse_name(name, &text, &p) ? p.pid : 0;
}

bool process_name_ended(struct arena *a, const char *name)
{
	struct name_parts text;
	struct process_identity p, self;
	struct error ignored;

	return process_table_parse_name(name, &text, &p) &&
	       process_identify(a, getpid(), &self, &ignored) == 0 &&
	       process_life(&p, &self) == PROCESS_DEAD;
}

char *process_name_describe(struct arena *a, const char *name)
{
	struct name_parts text;
	struct process_identity p, self;
	struct process_info info;
	struct error ignored;
	enum process_life life;

	if (!process_table_parse_name(name, &text, &p) ||
		process_identify(a, getpid(), &self, &ignored) < 0)
		return NULL;
	life = process_life(&p, &self);
	if (life == PROCESS_ALIVE && process_info(p.pid, &info))
		return arena_printf(a, "'%s', process %d",
			arena_printable(a, str_of(info.name), 16), (int)p.pid);
	return life == PROCESS_AWAY
		       ? arena_printf(a, "process %d on '%s'", (int)p.pid,
				 arena_printable(a, str_of(text.host), sizeof(text.host)))
		       : NULL;
}

bool process_has_env(pid_t pid, const char *entry)
{
	CLEANUP(buf_release) struct buf env = BUF_INIT;
	size_t n = strlen(entry) + 1;

	if (!process_table_read_file(pid, "environ", &env))
		return false;
	for (size_t at = 0; at + n <= env.len + 1; at += strlen(env.s + at) + 1)
		if (memcmp(env.s + at, entry, n) == 0)
			return true;
	return false;
}

void process_add_command(pid_t pid, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!process_table_read_file(pid, "cmdline", &text) || !text.len)
		return;
	for (size_t i = 0; i + 1 < text.len; i++)
		buf_addc(out, text.s[i] ? text.s[i] : ' ');
}

static bool works_within(pid_t pid, const char *dir, size_t n)
{
	char link[64], cwd[PATH_MAX]; /* the first part of a longer path is enough */
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	length = readlink(link, cwd, sizeof(cwd));
	return length >= (ssize_t)n && memcmp(cwd, dir, n) == 0 &&
	       ((size_t)length == n || cwd[n] == '/' || n == 1);
}

int process_within(const char *dir, pid_t *pid)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct error ignored;

	*pid = 0;
	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return -1;
	do
		*pid = next_pid(&proc);
	while (*pid && (*pid == getpid() || !works_within(*pid, dir, strlen(dir))));
	return 0;
}

/* Whether the process has the file open, `locked`: and holds a lock through that descriptor: a line
 * of /proc/PID/fdinfo/N then begins with `lock:`. */
static bool has_descriptor(pid_t pid, const char *path, bool locked)
{
	CLEANUP(directory_close) struct directory fds = {0};
	char dir[64], to[PATH_MAX];
	struct error ignored;
	const char *name;
	bool found = false;

	(void)snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	if (directory_open(&fds, AT_FDCWD, dir, NULL, &ignored) < 0)
		return false;
	while (!found && (name = directory_next(&fds, NULL))) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		ssize_t n = readlinkat(fds.fd, name, to, sizeof(to));

		if (n != (ssize_t)strlen(path) || memcmp(to, path, (size_t)n) != 0)
			continue;
		(void)snprintf(dir, sizeof(dir), "fdinfo/%.20s", name);
		found = !locked ||
			(process_table_read_file(pid, dir, &text) && strstr(text.s, "\nlock:"));
	}
	return found;
}

bool process_has_locked(pid_t pid, const char *path)
{
	return has_descriptor(pid, path, true);
}

static bool any_has_open(const char *path)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct error ignored;
	pid_t pid = 0;

	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return false;
	do
		pid = next_pid(&proc);
	while (pid && !has_descriptor(pid, path, false));
	return pid;
}

static bool process_table_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool process_abandoned(const char *path)
{
	const struct timespec moment = {.tv_nsec = STEP_MS * 1000000L};
	int64_t until = clock_ticks() + QUIET_MS;
	struct stat first, now;

	if (lstat(path, &first) < 0 || !S_ISREG(first.st_mode))
		return false;
	while (clock_ticks() < until) {
		nanosleep(&moment, NULL);
		if (lstat(path, &now) < 0 || !process_table_same(&first, &now))
			return false;
	}
	return !any_has_open(path);
}

void process_clear_abandoned(const char *path)
{
	if (process_abandoned(path))
		(void)unlink(path);
}

/* ---- processes that a program leaves behind ---- */

static bool pid_listed(const struct pid_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == pid)
			return true;
	return false;
}

static bool is_childless(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void process_table_add_child(const struct process_info *info, void *arg)
{
	if (info->parent == getpid())
		vec_push((struct pid_list *)arg, info->pid);
}

void subreaper_begin(struct subreaper *s)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	*s = (struct subreaper){0};
	/* A caller may have left SIGCHLD ignored, which would take the exit statuses away. */
	(void)sigaction(SIGCHLD, &usual, &s->was_sigchld);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &s->was_subreaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!is_childless())
		process_each(process_table_add_child, &s->before);
}

struct reap_round {
	struct subreaper *s;
	bool kill;
	size_t seen;
};

static void end_orphan(const struct process_info *info, void *arg)
{
	struct reap_round *r = arg;

	if (info->parent != getpid() || pid_listed(&r->s->before, info->pid))
		return;
	r->seen++; /* also one that ends here: it may leave children behind */
	if (waitpid(info->pid, NULL, WNOHANG) != 0)
		return;
	if (r->kill) {
		(void)kill(info->pid, SIGKILL);
	} else if (!pid_listed(&r->s->terminated, info->pid)) {
		vec_push(&r->s->terminated, info->pid);
		(void)kill(info->pid, SIGTERM);
		(void)kill(info->pid, SIGCONT);
	}
}

size_t subreaper_round(struct subreaper *s, bool kill_now)
{
	struct reap_round r = {s, kill_now, 0};

	if (!is_childless())
		process_each(end_orphan, &r);
	return r.seen;
}

void subreaper_end(struct subreaper *s)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, s->was_subreaper);
	(void)sigaction(SIGCHLD, &s->was_sigchld, NULL);
	vec_release(&s->before);
	vec_release(&s->terminated);
}
