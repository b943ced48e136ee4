#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "src/sys/path.h"
#include "tests/crash/trace.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"

/* Which argument is the file. */
enum file { NO_FILE, FD, PATH, PATH_AT };

static const struct {
	long nr;
	unsigned kind;
	enum file file;
} calls[] = {
	{SYS_write, CALL_WRITE, FD},
	{SYS_writev, CALL_WRITE, FD},
	{SYS_pwrite64, CALL_WRITE, FD},
	{SYS_pwritev, CALL_WRITE, FD},
	{SYS_fsync, CALL_SYNC, FD},
	{SYS_fdatasync, CALL_SYNC, FD},
	{SYS_renameat, CALL_RENAME, PATH_AT},
	{SYS_renameat2, CALL_RENAME, PATH_AT},
	{SYS_openat, CALL_OPEN, PATH_AT},
	{SYS_ftruncate, CALL_TRUNCATE, FD},
	{SYS_truncate, CALL_TRUNCATE, PATH},
	{SYS_mkdirat, CALL_MKDIR, PATH_AT},
	{SYS_linkat, CALL_LINK, PATH_AT},
	{SYS_symlinkat, CALL_LINK, NO_FILE},
	{SYS_unlinkat, CALL_UNLINK, PATH_AT},
	{SYS_fchmod, CALL_MODE, FD},
	{SYS_fchmodat, CALL_MODE, PATH_AT},
	{SYS_close, CALL_CLOSE, FD},
	{SYS_read, CALL_READ, FD},
	{SYS_pread64, CALL_READ, FD},
	{SYS_fcntl, CALL_LOCK, FD},
	{SYS_flock, CALL_LOCK, FD},
	{SYS_fstat, CALL_LOOK, FD},
	{SYS_newfstatat, CALL_LOOK, PATH_AT},
	{SYS_statx, CALL_LOOK, PATH_AT},
	{SYS_faccessat, CALL_LOOK, PATH_AT},
	{SYS_faccessat2, CALL_LOOK, PATH_AT},
	{SYS_statfs, CALL_LOOK, PATH},
	{SYS_fstatfs, CALL_LOOK, FD},
	{SYS_readlinkat, CALL_LOOK, PATH_AT},
	{SYS_getdents64, CALL_LOOK, FD},
	{SYS_lseek, CALL_LOOK, FD},
#ifdef SYS_rename /* the older calls, which AArch64 does without */
	{SYS_rename, CALL_RENAME, PATH},
	{SYS_open, CALL_OPEN, PATH},
	{SYS_mkdir, CALL_MKDIR, PATH},
	{SYS_link, CALL_LINK, PATH},
	{SYS_symlink, CALL_LINK, NO_FILE},
	{SYS_unlink, CALL_UNLINK, PATH},
	{SYS_chmod, CALL_MODE, PATH},
	{SYS_stat, CALL_LOOK, PATH},
	{SYS_lstat, CALL_LOOK, PATH},
	{SYS_access, CALL_LOOK, PATH},
	{SYS_readlink, CALL_LOOK, PATH},
#endif
};

static const char *const names[CALL_KINDS] = {"write", "sync", "rename", "open", "truncate",
	"mkdir", "link", "unlink", "mode", "close", "read", "lock", "look"};

const char *call_name(unsigned kind)
{
	for (unsigned i = 0; i < CALL_KINDS; i++)
		if (kind == 1u << i)
			return names[i];
	return "other";
}

unsigned call_of_name(const char *name)
{
	for (unsigned i = 0; i < CALL_KINDS; i++)
		if (strcmp(name, names[i]) == 0)
			return 1u << i;
	return 0;
}

static bool is_lock(uint64_t command)
{
	return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
	       command == F_OFD_SETLKW;
}

static unsigned kind_of(const struct __ptrace_syscall_info *info, enum file *file)
{
	unsigned kind = 0;

	*file = NO_FILE;
	for (size_t i = 0; i < COUNT(calls) && !kind; i++) {
		if ((uint64_t)calls[i].nr != info->entry.nr)
			continue;
		kind = calls[i].kind;
		*file = calls[i].file;
	}
	if (kind == CALL_LOCK && info->entry.nr == SYS_fcntl && !is_lock(info->entry.args[1]))
		return 0;
	if (kind == CALL_OPEN &&
		!(info->entry.args[*file == PATH_AT ? 2 : 1] & (O_WRONLY | O_RDWR | O_CREAT)))
		return CALL_LOOK;
	return kind;
}

/* The machine-dependent part: another call number, another result, another third argument. */
#if defined(__x86_64__)
static void set_register(pid_t pid, long call, long result, long third)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
		die("cannot read registers");
	if (call)
		r.orig_rax = (unsigned long long)call;
	if (result)
		r.rax = (unsigned long long)result;
	if (third)
		r.rdx = (unsigned long long)third;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &r) < 0)
		die("cannot write registers");
}
#elif defined(__aarch64__)
static void set_register(pid_t pid, long call, long result, long third)
{
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};
	int nr = (int)call;
	struct iovec nr_io = {&nr, sizeof(nr)};

	if (call && ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &nr_io) < 0)
		die("cannot change the system call");
	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) < 0)
		die("cannot read registers");
	if (result)
		r.regs[0] = (unsigned long long)result;
	if (third)
		r.regs[2] = (unsigned long long)third;
	if (ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &io) < 0)
		die("cannot write registers");
}
#else
#error "killat: add set_register() for this machine"
#endif

struct tracer {
	struct trace *t;
	pid_t root;
	bool started;                /* the program itself runs: after execve */
	uint64_t loader, loader_end; /* address of its dynamic loader */
	pid_t meddling;              /* process whose call's result is still to be changed */
	pid_t live[64]; /* number of traced processes, without orphans that a subreaper adopts */
	size_t n;
};

_Noreturn static void child(const struct trace *t, int in, int out, int err)
{
	/* Makes the calls the same every time: no random addresses. */
	(void)personality(ADDR_NO_RANDOMIZE);
	setpgid(0, 0);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
		(t->cwd && chdir(t->cwd) < 0))
		_exit(126);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(125);
	raise(SIGSTOP);
	execvp(t->argv[0], (char *const *)(uintptr_t)t->argv);
	_exit(127);
}

static bool watched(const struct tracer *tr, pid_t pid)
{
	return tr->started &&
	       (tr->t->who == TRACE_ALL || (tr->t->who == TRACE_PARENT) == (pid == tr->root));
}

static void read_proc(pid_t pid, const char *name, struct buf *out)
{
	char path[64];
	struct error err;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	if (sys_read_file(out, path, (size_t)1 << 20, NULL, &err) < 0)
		die("%s", err.text);
}

/* The address of the dynamic loader: it is at AT_BASE, and its parts have the same name. */
static void find_loader(struct tracer *tr)
{
	CLEANUP(buf_release) struct buf auxv = BUF_INIT, maps = BUF_INIT;
	struct str rest, line, name = {0};
	ElfW(auxv_t) a;

	tr->loader = 0;
	read_proc(tr->root, "auxv", &auxv);
	for (size_t at = 0; at + sizeof(a) <= auxv.len && !tr->loader; at += sizeof(a)) {
		memcpy(&a, auxv.s + at, sizeof(a));
		tr->loader = a.a_type == AT_BASE ? a.a_un.a_val : 0;
	}
	read_proc(tr->root, "maps", &maps);
	for (rest = buf_str(&maps); tr->loader && str_line(&rest, &line);) {
		struct str file = str_sub(line, str_find(line, STR("/")), line.n);
		char *end;

		if (strtoull(line.p, &end, 16) == tr->loader)
			name = file;
		if (name.n && str_eq(file, name))
			tr->loader_end = strtoull(end + 1, NULL, 16);
	}
}

/* The name in the process, as far as it fits. */
static void read_name(pid_t pid, uint64_t at, char *out, size_t size)
{
	size_t n = 0;

	while (n < size - 1) { /* by pages: the next page may not be mapped */
		size_t part = 4096 - (at + n) % 4096;
		struct iovec to = {out + n, part < size - 1 - n ? part : size - 1 - n};
		struct iovec from = {(void *)(uintptr_t)(at + n), to.iov_len};
		ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

		if (got <= 0 || memchr(out + n, '\0', (size_t)got))
			break;
		n += (size_t)got;
	}
	out[size - 1] = '\0';
}

static void note_path(
	struct trace *t, pid_t pid, const struct __ptrace_syscall_info *info, enum file file)
{
	const uint64_t *args = info->entry.args;
	char link[64];
	ssize_t n = 0;

	memset(t->hit_path, 0, sizeof(t->hit_path));
	if (file == PATH || file == PATH_AT)
		read_name(pid, args[file == PATH_AT], t->hit_path, sizeof(t->hit_path));
	if (file == FD || (file == PATH_AT && !t->hit_path[0])) {
		(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)args[0]);
		n = readlink(link, t->hit_path, sizeof(t->hit_path) - 1);
		t->hit_path[n > 0 ? n : 0] = '\0';
	}
}

static bool is_counted(
	struct tracer *tr, pid_t pid, const struct __ptrace_syscall_info *info, unsigned kind)
{
	const struct trace *t = tr->t;

	if (!watched(tr, pid))
		return false;
	return t->kinds == CALL_ANY ||
	       ((t->kinds & kind) && (info->instruction_pointer < tr->loader ||
					     info->instruction_pointer >= tr->loader_end));
}

static void at_entry(struct tracer *tr, pid_t pid, const struct __ptrace_syscall_info *info)
{
	struct trace *t = tr->t;
	enum file file;
	unsigned kind = kind_of(info, &file);

	if (t->hit || !is_counted(tr, pid, info, kind))
		return;
	t->count++;
	if (!t->first_effect && (kind & CALL_EFFECTS))
		t->first_effect = t->count;
	if (t->count != t->at || t->act == TRACE_COUNT)
		return;
	note_path(t, pid, info, file);
	t->hit = true;
	t->hit_kind = kind;
	if (t->act == TRACE_KILL)
		kill(pid, SIGKILL);
	else if (t->act == TRACE_FAIL)
		set_register(pid, -1, 0, 0);
	else if (info->entry.args[2] > 1)
		set_register(pid, 0, 0, 1);
	tr->meddling = t->act == TRACE_FAIL ? pid : 0;
}

static void at_call(struct tracer *tr, pid_t pid)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
		return; /* killed meanwhile */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		at_entry(tr, pid, &info);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && tr->meddling == pid) {
		set_register(pid, 0, -(long)tr->t->error, 0);
		tr->meddling = 0;
	}
}

static void add_live(struct tracer *tr, pid_t pid)
{
	if (tr->n == COUNT(tr->live))
		die("too many processes to follow");
	tr->live[tr->n++] = pid;
}

static bool drop_live(struct tracer *tr, pid_t pid)
{
	for (size_t i = 0; i < tr->n; i++) {
		if (tr->live[i] != pid)
			continue;
		tr->live[i] = tr->live[--tr->n];
		return true;
	}
	return false;
}

/* Handles a stopped process; returns the signal to pass on. */
static int at_stop(struct tracer *tr, pid_t pid, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (sig == (SIGTRAP | 0x80)) {
		at_call(tr, pid);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC && pid == tr->root) {
		tr->started = true;
		find_loader(tr);
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		event == PTRACE_EVENT_CLONE) {
		unsigned long new = 0;

		(void)ptrace(PTRACE_GETEVENTMSG, pid, NULL, &new);
		add_live(tr, (pid_t) new);
	}
	if (event || sig == SIGSTOP) /* a new process begins with a stop */
		return 0;
	return sig;
}

static volatile sig_atomic_t alarmed;

static void on_alarm(int sig)
{
	(void)sig;
	alarmed = 1;
}

/* A test that hangs shows nothing. */
static void set_alarm(void)
{
	struct sigaction act = {.sa_handler = on_alarm};

	alarmed = 0;
	(void)sigaction(SIGALRM, &act, NULL);
	alarm(WAIT_LIMIT_S);
}

/* A subreaper adopts orphans: every process that the program left running has to end. */
static void wait_for_orphans(void)
{
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		if (alarmed)
			die("something that the traced program left does not come to its end");
}

static void follow(struct tracer *tr)
{
	while (tr->n > 0) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);

		if (alarmed)
			die("'%s %s' with %s %u meddled with has not come to its end",
				tr->t->argv[0], tr->t->argv[1], call_name(tr->t->hit_kind),
				tr->t->at);
		if (pid < 0 && errno == EINTR)
			continue;
		/* A child may end before its parent's event arrives, and is never reported then. */
		if (pid < 0 && errno == ECHILD)
			break;
		if (pid < 0)
			die("cannot wait for the traced program");
		if (WIFSTOPPED(status)) {
			int sig = at_stop(tr, pid, status);

			/* When nothing more is to be disturbed, it runs at full speed. */
			(void)ptrace(tr->t->hit && !tr->meddling ? PTRACE_CONT : PTRACE_SYSCALL,
				pid, NULL, (void *)(intptr_t)sig);
			continue;
		}
		if (drop_live(tr, pid) && pid == tr->root)
			tr->t->status =
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

static int attach(struct tracer *tr)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC;
	int status;

	if (tr->t->who != TRACE_PARENT)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	if (waitpid(tr->root, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	if (ptrace(PTRACE_SETOPTIONS, tr->root, NULL, (void *)options) < 0 ||
		ptrace(PTRACE_SYSCALL, tr->root, NULL, NULL) < 0) {
		kill(tr->root, SIGKILL);
		(void)waitpid(tr->root, &status, 0);
		return -1;
	}
	return 0;
}

static void collect(struct buf *into, int fd)
{
	struct error err;

	buf_clear(into);
	if (lseek(fd, 0, SEEK_SET) < 0 ||
		sys_read_all(into, fd, (size_t)1 << 30, "output", &err) < 0)
		die("cannot read the output");
}

int trace_run(struct trace *t)
{
	CLEANUP(base_close) int in = run_file("input", t->input);
	CLEANUP(base_close) int out = run_file("output", (struct str){0});
	CLEANUP(base_close) int err = run_file("errors", (struct str){0});
	struct tracer tr = {.t = t};

	t->count = t->hit_kind = t->first_effect = 0;
	t->hit = false;
	tr.root = fork();
	if (tr.root < 0)
		die("cannot fork");
	if (tr.root == 0)
		child(t, in, out, err);
	add_live(&tr, tr.root);
	if (attach(&tr) < 0)
		return -1;
	set_alarm();
	follow(&tr);
	wait_for_orphans();
	alarm(0);
	collect(&t->out, out);
	collect(&t->err, err);
	return 0;
}

void trace_release(struct trace *t)
{
	buf_release(&t->out);
	buf_release(&t->err);
}
