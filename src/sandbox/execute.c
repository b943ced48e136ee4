/*
 * One run: everything that needs memory or may fail is prepared here; then one process is forked,
 * which enters the kernel's layers and runs the tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/policy/beneath.h"
#include "src/sandbox/execute_internal.h"
#include "src/sandbox/sandbox_internal.h"

enum {
	NOT_ENTERED = 125,
	OTHERS_WRITE = 022,
	TRUNCATE_ABI = 3,
};

static int fault(int fd, const char *what)
{
	(void)dprintf(fd, "%s: %s", what, strerror(errno));
	return -1;
}

/* A descriptor from before shows none of the run's own mounts: the root is opened again. */
static int reopen_root(struct run *r, struct root *out)
{
	struct stat was, is;

	*out = *r->x->root;
	out->fd = shell_lift(open(out->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (out->fd < 0 || fstat(out->fd, &is) < 0 || fstat(r->x->root->fd, &was) < 0)
		return fault(r->faults[1], "cannot open the root again");
	errno = ESTALE;
	return same_file(&was, &is) ? 0 : fault(r->faults[1], "the root is another directory now");
}

/* The parent may have died before this process requested the signal. */
static bool is_alone(const struct run *r)
{
	struct pollfd fd = {.fd = r->alarm[1]};

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLERR;
}

static void close_others(int first, int second)
{
	int low = first < second ? first : second, high = first < second ? second : first;

	(void)syscall(SYS_close_range, SHELL_FDS, low - 1, 0);
	if (high > low + 1)
		(void)syscall(SYS_close_range, low + 1, high - 1, 0);
	(void)syscall(SYS_close_range, high + 1, ~0U, 0);
}

static int mark_each(void)
{
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *e;

	while (list && (e = readdir(list))) {
		int fd = e->d_name[0] == '.' ? -1 : (int)strtol(e->d_name, NULL, 10);

		if (fd >= SHELL_FDS && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
			closedir(list);
			return -1;
		}
	}
	return list ? closedir(list) : -1;
}

/* From here on no program inherits a descriptor of the caller. */
static int mark_others(void)
{
	if (syscall(SYS_close_range, SHELL_FDS, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */) == 0)
		return 0;
	return mark_each(); /* before Linux 5.11 */
}

static _Noreturn void child(struct run *r)
{
	struct root root;
	int alarm = r->alarm[1];

	base_close(&r->alarm[0]);
	base_close(&r->faults[0]);
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)umask(umask(077) | OTHERS_WRITE);
	if (dup2(r->in, STDIN_FILENO) < 0 || dup2(r->outputs[0], STDOUT_FILENO) < 0 ||
		dup2(r->outputs[1], STDERR_FILENO) < 0) {
		(void)fault(r->faults[1], "cannot give the run its descriptors");
		_exit(NOT_ENTERED);
	}
	if (mark_others() < 0) {
		(void)fault(r->faults[1], "cannot close the descriptors of the caller");
		_exit(NOT_ENTERED);
	}
	if (sandbox_enter(&r->sandbox) < 0 || reopen_root(r, &root) < 0)
		_exit(NOT_ENTERED);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of uid clears the request */
	(void)prctl(PR_SET_DUMPABLE, 0);        /* its programs must not read it */
	if (is_alone(r))
		_exit(NOT_ENTERED);
	close_others(root.fd, alarm);
	atomic_store(&r->shared->started, 1);
	_exit(interpret_shared(r->x, &root, r->environment, r->shared, alarm));
}

static int open_pipe(int ends[2])
{
	return shell_pipe(ends) < 0 ? -1 : fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

/* Two descriptors of the same file get one pipe, which keeps the order of the output. */
static bool same_output(const struct execution *x)
{
	struct stat a, b;

	return x->out == x->err ||
	       (fstat(x->out, &a) == 0 && fstat(x->err, &b) == 0 && same_file(&a, &b));
}

static int open_streams(struct run *r)
{
	int to[2] = {r->x->out, r->x->err};
	int n = same_output(r->x) ? 1 : 2;

	for (int i = 0; i < n; i++) {
		int ends[2];

		if (open_pipe(ends) < 0)
			return -1;
		r->streams[i] = (struct stream){
			.from = ends[0], .to = to[i], .waiting = xmalloc(RELAY_BYTES)};
		r->outputs[i] = ends[1];
	}
	if (n == 1)
		r->outputs[1] = fcntl(r->outputs[0], F_DUPFD_CLOEXEC, SHELL_OWN_FD);
	return r->outputs[1] < 0 ? -1 : 0;
}

/* A descriptor that cannot be read, or is closed, counts as none. */
static int open_input(int in)
{
	int mode = in < 0 ? -1 : fcntl(in, F_GETFL);

	if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY)
		return shell_lift(open("/dev/null", O_RDONLY | O_CLOEXEC));
	return fcntl(in, F_DUPFD_CLOEXEC, SHELL_OWN_FD);
}

static int plumb(struct run *r, struct error *err)
{
	r->in = open_input(r->x->in);
	r->shared = shared_make();
	if (r->in < 0 || !r->shared || open_streams(r) < 0 || open_pipe(r->alarm) < 0 ||
		open_pipe(r->faults) < 0)
		return error_errno(err, "cannot start the command");
	return 0;
}

static int make_sandbox(struct run *r, struct error *err)
{
	const struct policy *p = r->x->policy;

	if (private_make(r->arena, &r->directories, p->uid, p->gid, err) < 0)
		return -1;
	r->environment = run_environment(r->arena, r->x, r->directories.home, r->directories.tmp);
	r->sandbox = (struct sandbox){.policy = p,
		.root = r->x->root,
		.host = r->x->host,
		.home = r->directories.home,
		.tmp = r->directories.tmp,
		.error = r->faults[1]};
	return sandbox_prepare(r->arena, &r->sandbox, err);
}

/* Handlers of the caller's must not run in the child. */
static int start(struct run *r, struct error *err)
{
	sigset_t all, before;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	r->pid = sandbox_fork(&r->sandbox, &r->handle);
	if (r->pid == 0)
		child(r);
	if (r->pid < 0)
		(void)error_errno(err, "cannot start the command");
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r->pid < 0 ? -1 : 0;
}

static void close_both(int ends[2])
{
	for (int i = 0; i < 2; i++) {
		base_close(&ends[i]);
		ends[i] = -1;
	}
}

static void close_childs(struct run *r)
{
	close_both(r->outputs);
	base_close(&r->alarm[1]);
	base_close(&r->faults[1]);
	base_close(&r->in);
	r->alarm[1] = r->faults[1] = r->in = -1;
}

/* The run did not reach its first command. */
static int not_started(struct run *r, struct error *err)
{
	char text[512];
	ssize_t n = read(r->faults[0], text, sizeof(text) - 1);

	if (n <= 0)
		return error_set(err, ERR_SYSTEM, "the command was ended before it began");
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return error_set(err, ERR_STATE, "cannot enter the sandbox: %s", text);
}

static void run_release(struct run *r)
{
	close_childs(r);
	close_both(r->alarm);
	close_both(r->faults);
	base_close(&r->handle);
	for (int i = 0; i < 2; i++) {
		base_close(&r->streams[i].from);
		free(r->streams[i].waiting);
	}
	if (r->sandbox.state)
		sandbox_release(&r->sandbox);
	subreaper_end(&r->orphans);
	(void)sigaction(SIGPIPE, &r->was_pipe, NULL);
	private_remove(&r->directories);
	protected_release(&r->protected);
	shared_drop(&r->shared);
}

/* Landlock restricts truncate(2) since its third version. */
static int remember(struct run *r, struct error *err)
{
	const bool *on = r->sandbox.state->on;
	bool confined = on[LAYER_MOUNTS] ||
			(on[LAYER_LANDLOCK] && r->x->host->landlock_abi >= TRUNCATE_ABI);

	if (confined && !r->x->policy->write)
		return 0;
	return protected_remember(r->arena, r->x->root, r->x->policy,
		(struct keeping){.mounted = on[LAYER_MOUNTS], .confined = confined}, &r->protected,
		err);
}

static void run_begin(struct run *r)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	(void)sigaction(SIGPIPE, &ignore, &r->was_pipe);
	subreaper_begin(&r->orphans);
}

static int finish(struct run *r, struct error *err)
{
	struct execution_end *end = r->end;

	end->started = atomic_load(&r->shared->started);
	if (r->protected && protected_restore(r->protected, &end->changed, err) < 0)
		return -1;
	if (!end->started && !end->timed_out && !end->cancelled)
		return not_started(r, err);
	shared_verdict(r->arena, r->shared, &end->verdict);
	end->denied = end->verdict.denied;
	if (end->denied)
		end->status = 1;
	end->layers = sandbox_report(&r->sandbox);
	return 0;
}

int policy_execute(
	struct arena *a, const struct execution *x, struct execution_end *end, struct error *err)
{
	CLEANUP(run_release)
	struct run r = {.x = x,
		.end = end,
		.arena = a,
		.directories = PRIVATE_INIT,
		.pid = -1,
		.handle = -1,
		.in = -1,
		.streams = {{.from = -1}, {.from = -1}},
		.outputs = {-1, -1},
		.alarm = {-1, -1},
		.faults = {-1, -1}};
	int64_t from = clock_ticks();

	*end = (struct execution_end){0};
	run_begin(&r);
	if (plumb(&r, err) < 0 || make_sandbox(&r, err) < 0 || remember(&r, err) < 0 ||
		start(&r, err) < 0)
		return -1;
	close_childs(&r);
	supervise(&r);
	end->ms = clock_ticks() - from;
	return finish(&r, err);
}
