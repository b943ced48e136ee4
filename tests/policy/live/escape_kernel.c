/*
 * escape_kernel: a program of the repository that attacks the machine, under `policy exec`.
 *
 *     escape_kernel DEV-TEAM
 *
 * No rule about words is in its way: the policy lets it run. Each attack is refused or ended; then
 * no process of the run is left, no listener was reached, no file outside and no process outside
 * was touched. Each is run with all layers, without namespaces, and with nothing but them. A result
 * is good only where the attacker said that it began, and ended as it is bound to.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/sandbox/sandbox.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/policy/live/attacker.h"

/* SLOW_S: the time limit of another try where the machine was too busy to begin within one's own.
 */
enum { HIGH_FD = 57, CAP = 65536, TIMED_OUT = 124, SLOW_S = 30 };

/* What ends a program that spins, and one that calls as another processor does. Both limits of
 * processor time are the same, so that the kernel need not warn. */
enum { KILLED = 128 + SIGKILL, WARNED = 128 + SIGXCPU };
#ifdef __x86_64__
enum { FILTERED = 128 + SIGSYS, UNKNOWN = 128 + SIGSEGV };
#else
enum { FILTERED = 0, UNKNOWN = 0 }; /* there is no such call to try */
#endif

static const struct layers {
	const char *name, *kernel;
	bool spaces, filters;
} layers[] = {
	{"all layers", "{landlock: best_effort}", true, true},
	{"no namespaces", "{processes: off, network: off, mounts: off}", false, true},
	{"namespaces alone", "{landlock: off, seccomp: off}", true, false},
};

/* What has to be there for an attack to be refused. */
enum { BY_ANY, BY_FILTERS, BY_SPACES, BY_COUNT };

static const struct attack {
	const char *name, *attack, *limits;
	unsigned timeout_s;
	int by;
	int ends[2]; /* its status is one of these */
} attacks[] = {
	{"as many processes as it can", "bomb", "processes: 320", 40, BY_COUNT, {0, 0}},
	{"processes without end", "endless-bomb", "processes: 320", 1, BY_COUNT,
		{TIMED_OUT, TIMED_OUT}},
	{"a daemon", "daemon", NULL, 40, BY_ANY, {0, 0}},
	{"a program that hears no signal", "deaf", NULL, 1, BY_ANY, {TIMED_OUT, TIMED_OUT}},
	{"64 MiB of output", "flood", NULL, 40, BY_ANY, {0, 0}},
	{"output without end", "endless-flood", NULL, 1, BY_ANY, {TIMED_OUT, TIMED_OUT}},
	{"the network", "net", NULL, 40, BY_FILTERS, {0, 0}},
	{"the network, by its namespace", "net", NULL, 40, BY_SPACES, {0, 0}},
	{"descriptors that were open", "descriptors", NULL, 40, BY_ANY, {0, 0}},
	{"processes outside", "processes", NULL, 40, BY_FILTERS, {0, 0}},
	{"shared memory", "shm", NULL, 40, BY_SPACES, {0, 0}},
	{"calls of the kernel", "kernel", NULL, 40, BY_FILTERS, {0, 0}},
	{"calls of another processor", "old-calls", NULL, 40, BY_FILTERS, {FILTERED, UNKNOWN}},
	{"memory without end", "memory", "memory: 96M", 40, BY_ANY, {0, 0}},
	{"a file without end", "disk", "file_size: 1M", 40, BY_ANY, {128 + SIGXFSZ, 128 + SIGXFSZ}},
	{"processor time without end", "spin", "cpu: 1", 40, BY_ANY, {KILLED, WARNED}},
};

struct outside {
	struct arena arena;
	const char *program, *dir, *token;
	struct host host;
	int tcp, udp, path, abstract, canary;
	struct lure_args args;
	struct buf said;
	int status;
};

static const char *in_dir(struct outside *o, const char *name)
{
	return path_join(&o->arena, o->dir, name);
}

static int listening(int family, int type, const void *to, socklen_t n)
{
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, to, n) < 0 || (type == SOCK_STREAM && listen(fd, 8) < 0))
		die("cannot lay a lure: %s", strerror(errno));
	return fd;
}

static int on_loopback(int type, int *port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(in);
	int fd = listening(AF_INET, type, &in, n);

	if (getsockname(fd, (struct sockaddr *)&in, &n) < 0)
		die("cannot name a lure");
	*port = ntohs(in.sin_port);
	return fd;
}

/* A process that ends at the first signal, whoever sends it. */
static pid_t victim(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void lay(struct outside *o)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	socklen_t at = offsetof(struct sockaddr_un, sun_path);

	o->tcp = on_loopback(SOCK_STREAM, &o->args.tcp);
	o->udp = on_loopback(SOCK_DGRAM, &o->args.udp);
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/socket", o->dir);
	o->path = listening(AF_UNIX, SOCK_STREAM, &un, sizeof(un));
	memset(un.sun_path, 0, sizeof(un.sun_path));
	o->abstract = listening(AF_UNIX, SOCK_STREAM, &un,
		at + 1 +
			(socklen_t)snprintf(
				un.sun_path + 1, sizeof(un.sun_path) - 1, "%s", o->dir));
	o->args.shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	o->args.pid = victim();
	o->args.dir = o->dir;
	tree_write(in_dir(o, "canary"), STR("canary\n"));
	/* Left open for whoever inherits it. */
	o->canary = open(in_dir(o, "canary"), O_RDWR);
	if (o->args.shm < 0 || dup2(o->canary, HIGH_FD) < 0 ||
		dup2(open(o->dir, O_RDONLY | O_DIRECTORY), HIGH_FD + 1) < 0)
		die("cannot lay a lure: %s", strerror(errno));
}

static void take_up(struct outside *o)
{
	kill(o->args.pid, SIGKILL);
	while (waitpid(o->args.pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)shmctl(o->args.shm, IPC_RMID, NULL);
}

static void copy_self(struct outside *o)
{
	const char *to = in_dir(o, "tree/attack");
	CLEANUP(buf_release) struct buf self = BUF_INIT;

	if (!tree_read("/proc/self/exe", &self))
		die("cannot read this program");
	tree_write(to, buf_str(&self));
	if (chmod(to, 0755) < 0)
		die("cannot make '%s' a program", to);
}

static void execute(
	struct outside *o, const struct layers *l, const struct attack *a, unsigned timeout_s)
{
	const char *policy = in_dir(o, "policy.yaml");
	const char *line = arena_printf(&o->arena, "./attack %s %d %d %d %d %s", a->attack,
		o->args.tcp, o->args.udp, o->args.pid, o->args.shm, o->token);
	const char *argv[] = {o->program, "policy", "exec", "--policy", policy, "--", line, NULL};
	struct run r = {.argv = argv, .cwd = in_dir(o, "tree"), .limit_s = 90};

	tree_write(policy,
		str_of(arena_printf(&o->arena,
			"name: escape\nallow: [\"true\"]\nscripts: [attack]\nwrite: "
			"true\nlimits: {output: 64K, timeout: %u%s%s}\nkernel: %s\n",
			timeout_s, a->limits ? ", " : "", a->limits ? a->limits : "", l->kernel)));
	run(&r);
	buf_clear(&o->said);
	buf_add(&o->said, buf_str(&r.out));
	buf_add(&o->said, buf_str(&r.err));
	o->status = r.timed_out ? -2 : r.status;
	run_release(&r);
}

/* Processes that were started with our token. */
struct left {
	const char *token;
	int n;
};

static void count_left(const struct process_info *info, void *arg)
{
	struct left *left = arg;
	CLEANUP(buf_release) struct buf words = BUF_INIT;
	char path[64];
	struct error err;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)info->pid);
	if (info->state == 'Z')
		return;
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || sys_read_all(&words, fd, 1 << 20, path, &err) < 0)
		return;
	left->n += str_find(buf_str(&words), str_of(left->token)) < words.len;
}

static bool reached(int fd)
{
	char byte[8];
	int type = 0;
	socklen_t n = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_DGRAM)
		return recv(fd, byte, sizeof(byte), 0) >= 0;
	CLEANUP(base_close) int got = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	return got >= 0;
}

/* What is not as it was, or NULL. */
static const char *touched(struct outside *o)
{
	CLEANUP(buf_release) struct buf canary = BUF_INIT;
	struct left left = {.token = o->token};
	struct shmid_ds ds;

	process_each(count_left, &left);
	if (left.n)
		return arena_printf(&o->arena, "%d processes are left", left.n);
	if (reached(o->tcp) || reached(o->udp) || reached(o->path) || reached(o->abstract))
		return "a listener was reached";
	if (!tree_read(in_dir(o, "canary"), &canary) || strcmp(canary.s, "canary\n") != 0)
		return "a file was written";
	if (waitpid(o->args.pid, NULL, WNOHANG) != 0)
		return "a process was ended";
	if (shmctl(o->args.shm, IPC_STAT, &ds) < 0 || ds.shm_nattch)
		return "shared memory was used";
	return NULL;
}

static const char *missing(const struct outside *o, const struct layers *l, const struct attack *a)
{
	const struct host_layer *h = o->host.layers;
	bool filters = l->filters && h[LAYER_LANDLOCK].state != LAYER_ABSENT &&
		       h[LAYER_SECCOMP].state != LAYER_ABSENT;
	bool spaces = l->spaces && h[LAYER_PROCESSES].state != LAYER_ABSENT &&
		      h[LAYER_NETWORK].state != LAYER_ABSENT &&
		      h[LAYER_MOUNTS].state != LAYER_ABSENT;
	bool counted = geteuid() != 0 || (spaces && o->host.pid_limit) || o->host.groups_count;

#ifdef SANITIZED
	if (strcmp(a->attack, "memory") == 0)
		return "the sanitizer has more than any limit";
#endif
	if (a->by == BY_FILTERS && !filters)
		return "landlock and seccomp are not on";
	/* Its own scope is what holds signals back where there is no namespace. */
	if (a->by == BY_FILTERS && !spaces && o->host.landlock_abi < 6)
		return "Landlock has no scopes";
	if (a->by == BY_SPACES && !spaces)
		return "namespaces are not on";
	return a->by == BY_COUNT && !counted ? "nothing counts root's processes" : NULL;
}

/* The attacker's first word: without it nothing was run, and nothing is shown. */
static bool began(const struct outside *o, const struct attack *a)
{
	const char *word = strstr(o->said.s, "began: ");
	size_t n = strlen(a->attack);

	if (!word)
		return false;
	word += strlen("began: ");
	return strncmp(word, a->attack, n) == 0 && word[n] == '\n';
}

static bool ended(const struct outside *o, const struct attack *a)
{
	return o->status == a->ends[0] || o->status == a->ends[1];
}

static bool within(const struct outside *o, const struct attack *a)
{
	const char *children = strstr(o->said.s, "children: ");

	if (strcmp(a->attack, "bomb") == 0)
		return children && strtol(children + strlen("children: "), NULL, 10) <= 320;
	return o->said.len < CAP + 4096;
}

static void try_attack(struct outside *o, const struct layers *l, const struct attack *a)
{
	const char *name = arena_printf(&o->arena, "%s: %s", l->name, a->name);
	const char *why = missing(o, l, a), *what;
	bool good;

	if (why) {
		tap_skip(name, why);
		return;
	}
	execute(o, l, a, a->timeout_s);
	if (o->status == TIMED_OUT && !began(o, a) && a->timeout_s < SLOW_S)
		execute(o, l, a, SLOW_S);
	what = touched(o);
	good = !what && began(o, a) && ended(o, a) && !strstr(o->said.s, "escaped: ") &&
	       within(o, a);
	if (tap(good, "%s", name))
		return;
	tap_notef("status %d, wanted %d or %d%s%s%s", o->status, a->ends[0], a->ends[1],
		began(o, a) ? "" : ", it never began", what ? ", " : "", what ? what : "");
	tap_note(str_sub(buf_str(&o->said), 0, o->said.len < 2000 ? o->said.len : 2000));
}

static _Noreturn void as_attacker(char **argv)
{
	struct lure_args to = {.tcp = (int)strtol(argv[2], NULL, 10),
		.udp = (int)strtol(argv[3], NULL, 10),
		.pid = (int)strtol(argv[4], NULL, 10),
		.shm = (int)strtol(argv[5], NULL, 10),
		.dir = argv[6]};

	(void)dprintf(1, "began: %s\n", argv[1]);
	/* Not by exit(): a sanitizer would look for leaks, for which it traces, which is refused.
	 */
	_exit(attack(argv[1], &to));
}

int main(int argc, char **argv)
{
	struct outside o = {0};
	CLEANUP(base_free) char *dir = NULL;

	if (argc == 7)
		as_attacker(argv);
	if (argc != 2)
		die("usage: escape_kernel DEV-TEAM");
	o.program = path_absolute(&o.arena, argv[1]);
	o.token = o.dir = dir = tree_scratch("escape-kernel");
	host_probe(&o.host);
	tree_mkdirs(in_dir(&o, "tree"));
	copy_self(&o);
	lay(&o);
	for (size_t i = 0; i < COUNT(layers); i++)
		for (size_t j = 0; j < COUNT(attacks); j++)
			try_attack(&o, &layers[i], &attacks[j]);
	take_up(&o);
	tree_remove(dir);
	buf_release(&o.said);
	arena_release(&o.arena);
	return tap_end();
}
