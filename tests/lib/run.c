#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

int run_file(const char *name, struct str text)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	struct error err;

	if (fd < 0 || sys_write_all(fd, text, "memory", &err) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		die("cannot make a file in memory");
	return fd;
}

_Noreturn static void child(const struct run *r, int in, int out, int err)
{
	setpgid(0, 0);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
		(r->cwd && chdir(r->cwd) < 0))
		_exit(126);
	execvp(r->argv[0], (char *const *)(uintptr_t)r->argv);
	_exit(127);
}

static bool drain(int *fd, struct buf *into)
{
	ssize_t n;

	buf_reserve(into, 4096);
	n = read(*fd, into->s + into->len, into->cap - into->len - 1);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return false;
	}
	into->len += (size_t)n;
	into->s[into->len] = '\0';
	return true;
}

static void collect(struct run *r, int *out, int *err, pid_t pid)
{
	int64_t end = clock_ticks() + (int64_t)r->limit_s * 1000;

	while (*out >= 0 || *err >= 0) {
		struct pollfd p[] = {{*out, POLLIN, 0}, {*err, POLLIN, 0}};
		int64_t left = r->limit_s ? end - clock_ticks() : -1;

		if (r->limit_s && left <= 0) {
			r->timed_out = true;
			kill(-pid, SIGKILL);
			return;
		}
		if (poll(p, 2, (int)left) < 0 && errno != EINTR)
			die("cannot wait for output");
		if (*out >= 0 && p[0].revents)
			drain(out, &r->out);
		if (*err >= 0 && p[1].revents)
			drain(err, &r->err);
	}
}

void run(struct run *r)
{
	/* A file, so that the test need not write and read at the same time. */
	CLEANUP(base_close)
	int in = r->input.n ? run_file("input", r->input) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out[2], err[2], status;
	pid_t pid;

	buf_clear(&r->out);
	buf_clear(&r->err);
	r->timed_out = false;
	if (in < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		die("cannot prepare '%s'", r->argv[0]);
	pid = vfork(); /* a copy of a process with a sanitizer takes longer than most programs */
	if (pid < 0)
		die("cannot start '%s'", r->argv[0]);
	if (pid == 0)
		child(r, in, out[1], err[1]);
	setpgid(pid, pid);
	close(out[1]);
	close(err[1]);
	if (r->kill_us) {
		(void)usleep(r->kill_us);
		(void)kill(-pid, SIGKILL);
	}
	collect(r, &out[0], &err[0], pid);
	base_close(&out[0]);
	base_close(&err[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("cannot wait for '%s'", r->argv[0]);
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void run_release(struct run *r)
{
	buf_release(&r->out);
	buf_release(&r->err);
}

bool run_succeeds(const char *const *argv)
{
	struct run r = {.argv = argv, .limit_s = WAIT_LIMIT_S};

	run(&r);
	run_release(&r);
	return r.status == 0;
}

unsigned run_processes(unsigned n, int (*work)(unsigned i, void *data), void *data)
{
	pid_t *pids = malloc(n * sizeof(*pids));
	unsigned good = 0;
	int status;

	fflush(NULL);
	for (unsigned i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("cannot fork");
		if (!pids[i])
			_exit(work(i, data));
	}
	for (unsigned i = 0; i < n; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			die("cannot wait");
		good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	free(pids);
	return good;
}

void *run_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("cannot share memory");
	return p;
}

void run_wait_for_locks(void)
{
	char ms[16];

	(void)snprintf(ms, sizeof(ms), "%d", WAIT_LIMIT_S * 1000);
	setenv("DEV_TEAM_LOCK_WAIT_MS", ms, 1);
}

bool run_on_memory(void)
{
	return getenv("STORE") && strcmp(getenv("STORE"), "memory") == 0;
}

const char *run_find_build(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	static char dir[PATH_MAX];

	if (readlink("/proc/self/exe", dir, sizeof(dir) - 1) < 0)
		die("cannot read /proc/self/exe");
	do {
		dir[path_dir(dir).n] = '\0';
		buf_clear(&text);
		buf_addf(&text, "%s/dev-team", dir);
		if (strlen(dir) < 2)
			die("there is no 'dev-team' above this test program: run make");
	} while (access(text.s, X_OK) != 0);
	buf_clear(&text);
	buf_addf(&text, "%s%s", dir, run_on_memory() ? "/tests/spec/memory" : "");
	(void)snprintf(dir, sizeof(dir), "%s", text.s);
	buf_addf(&text, ":%s", getenv("PATH"));
	setenv("PATH", text.s, 1);
	return dir;
}

char *run_plugin_without_evidence(const char *root)
{
	static const char script[] =
		"ln -s \"$1\"/* \"$2\" && rm \"$2/workflows\" && mkdir \"$2/workflows\" && "
		"ln -s \"$1\"/workflows/*.yaml \"$2/workflows\" && "
		"for f in \"$1\"/workflows/*.md; do sed 's/^evidence: .*/evidence: []/' \"$f\" "
		">\"$2/workflows/${f##*/}\"; done";
	char *dir = tree_scratch("plugin");
	const char *const argv[] = {"sh", "-c", script, "sh", root, dir, NULL};
	struct run r = {.argv = argv, .limit_s = 300};

	run(&r);
	if (r.status)
		die("cannot make an installation without evidence");
	run_release(&r);
	return dir;
}
