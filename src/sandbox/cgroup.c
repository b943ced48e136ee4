#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/sandbox/sandbox_internal.h"

/* A run's group is OURS<pid of its creator>.<start time of that process>.<number>. */
#define OURS "dev-team-run."

static bool at(char *out, size_t size, const char *dir, const char *name)
{
	int n = snprintf(out, size, "%s/%s", dir, name);

	return n > 0 && (size_t)n < size;
}

static bool put(const char *dir, const char *name, const char *text)
{
	char path[4096];
	CLEANUP(base_close) int fd = -1;

	if (!at(path, sizeof(path), dir, name))
		return false;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool has_word(const char *dir, const char *name, const char *word)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err;
	char path[4096];
	struct str all;

	if (!at(path, sizeof(path), dir, name) || sys_read_file(&text, path, 65536, NULL, &err) < 0)
		return false;
	all = buf_str(&text);
	for (size_t i = str_find(all, str_of(word)); i < all.n;) {
		char after = i + strlen(word) < all.n ? all.p[i + strlen(word)] : '\n';

		if ((i == 0 || all.p[i - 1] == ' ') && (after == ' ' || after == '\n'))
			return true;
		all = str_sub(all, i + 1, all.n);
		i = str_find(all, str_of(word));
	}
	return false;
}

/* The caller's own group of version 2, or of version 1's `pids`: its path in that tree. */
static bool own_group(bool v2, char *out, size_t size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err;
	struct str rest, line, name;

	if (sys_read_file(&text, "/proc/self/cgroup", 65536, NULL, &err) < 0)
		return false;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		size_t colon = str_find(line, STR(":"));

		line = str_sub(line, colon < line.n ? colon + 1 : line.n, line.n);
		colon = str_find(line, STR(":"));
		name = str_sub(line, 0, colon);
		if (colon == line.n || (v2 ? name.n != 0 : !str_is(name, "pids")))
			continue;
		line = str_sub(line, colon + 1, line.n);
		return snprintf(out, size, "%.*s", (int)line.n, line.p) < (int)size;
	}
	return false;
}

/* Whether a group can probably be created there and processes moved into it; cgroup_prepare() tries
 * it. */
static bool usable(const char *dir)
{
	char path[4096];

	return access(dir, W_OK) == 0 && at(path, sizeof(path), dir, "cgroup.procs") &&
	       access(path, W_OK) == 0;
}

static void look_v2(struct host *h)
{
	const char *mounted = path_exists("/sys/fs/cgroup/cgroup.controllers")
				      ? "/sys/fs/cgroup"
				      : "/sys/fs/cgroup/unified";
	char own[256], dir[sizeof(h->groups)];

	if (!own_group(true, own, sizeof(own)) || !path_exists(mounted))
		return;
	/* Our own group, then the one above it: whoever delegates a tree puts us into a leaf. */
	for (int i = 0; i < 2; i++) {
		snprintf(dir, sizeof(dir), "%s%s", mounted, strcmp(own, "/") == 0 ? "" : own);
		if (usable(dir) && (!h->groups[0] || !h->groups_count)) {
			memcpy(h->groups, dir, sizeof(dir));
			h->groups_v2 = true;
			h->groups_count = has_word(dir, "cgroup.subtree_control", "pids");
		}
		if (!strrchr(own, '/') || h->groups_count)
			return;
		*strrchr(own, '/') = '\0';
	}
}

static void look_v1(struct host *h)
{
	char own[256], dir[sizeof(h->groups)];

	if (!own_group(false, own, sizeof(own)))
		return;
	snprintf(dir, sizeof(dir), "/sys/fs/cgroup/pids%s", strcmp(own, "/") == 0 ? "" : own);
	if (!usable(dir))
		return;
	memcpy(h->groups, dir, sizeof(dir));
	h->groups_v2 = false;
	h->groups_count = true;
}

void cgroup_look(struct host *h)
{
	struct host_layer *l = &h->layers[LAYER_CGROUP];

	look_v2(h);
	if (!h->groups_count)
		look_v1(h);
	l->state = !h->groups[0]                     ? LAYER_ABSENT
		   : h->groups_v2 && h->groups_count ? LAYER_THERE
						     : LAYER_PARTIAL;
	snprintf(l->note, sizeof(l->note), "%s",
		!h->groups[0]     ? "no permission to create a cgroup"
		: !h->groups_v2   ? "version 1: counts processes, does not end them"
		: h->groups_count ? "version 2"
				  : "version 2: ends processes, does not count them");
}

static bool maker_is_gone(const char *name)
{
	struct process_info info;
	char *end;
	long pid = strtol(name + strlen(OURS), &end, 10);

	if (pid <= 0 || *end != '.')
		return false;
	return !process_info((pid_t)pid, &info) || info.start != strtoull(end + 1, NULL, 10);
}

/* Removes groups of runs whose dev-team was killed before it could remove them. rmdir() refuses
 * those with processes. */
static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, OURS, strlen(OURS)) == 0 && maker_is_gone(e->d_name))
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
}

int cgroup_prepare(struct sandbox *s, struct error *err)
{
	static unsigned number;
	struct cgroup *g = &s->state->cgroup;
	char text[96], procs[sizeof(g->path) + 16];
	struct process_info self = {0};

	sweep(s->host->groups);
	process_info(getpid(), &self);
	snprintf(text, sizeof(text), OURS "%d.%llu.%u", (int)getpid(),
		(unsigned long long)self.start, ++number);
	if (!at(g->path, sizeof(g->path), s->host->groups, text) || mkdir(g->path, 0700) < 0) {
		g->path[0] = '\0';
		return error_errno(
			err, "cannot make a group of processes in '%s'", s->host->groups);
	}
	snprintf(text, sizeof(text), "%u", s->policy->limits.processes);
	if (s->host->groups_count && s->policy->limits.processes && !put(g->path, "pids.max", text))
		return error_errno(err, "cannot bound the processes of '%s'", g->path);
	g->fd = open(g->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!s->host->groups_v2 && at(procs, sizeof(procs), g->path, "cgroup.procs"))
		g->procs = open(procs, O_WRONLY | O_CLOEXEC);
	if (g->fd < 0 || (!s->host->groups_v2 && g->procs < 0))
		return error_errno(err, "cannot open '%s'", g->path);
	return 0;
}

int cgroup_enter(const struct sandbox *s)
{
	const struct cgroup *g = &s->state->cgroup;

	if (g->procs >= 0 && write(g->procs, "0", 1) != 1)
		return layer_failed(s, "cgroup", "cannot join");
	return 0;
}

/* Killed processes take a moment to end; half a second is ample. */
enum { ROUNDS = 500 };

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Version 1 has no call for it: repeats until no process is left that could fork. */
static void kill_each(const char *path)
{
	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct error err;
		char procs[4112];
		struct str rest, line;

		if (!at(procs, sizeof(procs), path, "cgroup.procs") ||
			sys_read_file(&text, procs, 1 << 20, NULL, &err) < 0 || !text.len)
			return;
		rest = buf_str(&text);
		while (str_line(&rest, &line)) {
			long pid = strtol(line.p, NULL, 10);

			if (pid > 1)
				kill((pid_t)pid, SIGKILL);
		}
		wait_a_little();
	}
}

void sandbox_kill(struct sandbox *s)
{
	const struct cgroup *g = &s->state->cgroup;

	if (g->path[0] && !put(g->path, "cgroup.kill", "1"))
		kill_each(g->path);
}

void cgroup_release(struct sandbox *s)
{
	struct cgroup *g = &s->state->cgroup;

	base_close(&g->fd);
	base_close(&g->procs);
	g->fd = g->procs = -1;
	for (int round = 0; g->path[0] && rmdir(g->path) < 0 && errno == EBUSY; round++) {
		if (round == ROUNDS)
			break;
		wait_a_little();
	}
	g->path[0] = '\0';
}
