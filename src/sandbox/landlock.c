/*
 * landlock.c: a command that only reads, on a host without user namespaces: Landlock opens the
 * system, toolchains, the root and its repository for reading, and private directories for HOME and
 * TMPDIR. A filter refuses sockets and changes of modes, owners and times, which Landlock does not
 * know. There is no /proc, and stdin is at its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* As <linux/landlock.h> of newer systems has them. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, BENEATH = 1 };
enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	READS = EXECUTE | READ_FILE | READ_DIR,
	ALL_FIRST = (1 << 13) - 1,
	REFER = 1 << 13,
	TRUNCATE = 1 << 14,
	NEEDED = 3, /* the version that knows truncate(2) */
	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE,
	TCP = 3,    /* bind and connect, from version 4 on */
	SCOPES = 3, /* abstract sockets and signals, from version 6 on */
	CAPABILITIES = 64
};

struct landlock_rules {
	uint64_t files, tcp, scoped;
};
struct landlock_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

static long landlock_version(void)
{
	return syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
}

bool sandbox_landlock_serves(const struct sandbox_command *x)
{
	const struct policy *p = x->policy;

	return !p->write && p->network == NETWORK_NONE && !p->hosts.n && !p->forge.n &&
	       !p->push.n && !x->n_services && landlock_version() >= NEEDED;
}

/* ---- outside ---- */

static bool landlock_pass_on(void *data, bool errors, struct str piece)
{
	struct error ignored;

	(void)data;
	(void)sys_write_all(errors ? STDERR_FILENO : STDOUT_FILENO, piece, "output", &ignored);
	return true;
}

/* Each after its letter: r, what is read, w, what is written. */
static void landlock_add_paths(struct sandbox *s, const char *home, struct buf *plan)
{
	static const char *const system[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
		"/opt", "/nix/store", "/snap", "/etc/alternatives", "/etc/bash.bashrc",
		"/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/locale.alias",
		"/etc/localtime", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/dev/urandom", "/dev/zero"};
	const struct sandbox_command *x = s->x;
	/* A directory of PATH, and what programs look for next to it. */
	static const char *const beside[] = {"", "/../lib", "/../lib64", "/../libexec"};
	const char *own[] = {home, s->tmp, "/dev/null", x->artifacts};
	struct str rest = str_of(getenv("PATH")), dir;

	for (size_t i = 0; i < COUNT(system); i++)
		buf_addf(plan, "r%s\n", system[i]);
	while (str_piece(&rest, ':', &dir))
		for (size_t i = 0; str_starts(dir, "/") && i < COUNT(beside); i++)
			buf_addf(plan, "r%.*s%s\n", (int)dir.n, dir.p, beside[i]);
	buf_addf(plan, "r%s\nr%s\n", x->root->path, s->view.common ? s->view.common : "/dev/null");
	for (size_t i = 0; i < x->policy->read.n; i++)
		buf_addf(plan, "r%s\n", x->policy->read.p[i]);
	for (const char *const *d = x->read; d && *d; d++)
		buf_addf(plan, "r%s\n", *d);
	for (size_t i = 0; i < COUNT(own); i++)
		if (own[i])
			buf_addf(plan, "w%s\n", own[i]);
}

int sandbox_landlock_run(struct sandbox *s, struct error *err)
{
	CLEANUP(buf_release) struct buf plan = BUF_INIT;
	const struct sandbox_command *x = s->x;
	const char *self = path_own_program(s->arena);
	const char *const argv[] = {self, "sandbox-readonly", NULL};
	struct process p = {.argv = argv,
		.cwd = s->cwd,
		.env_whole = true,
		.output = -1,
		.on_output = landlock_pass_on,
		.timeout_s = x->timeout_s ? x->timeout_s : x->policy->limits.timeout_s,
		.cancel = x->cancel > 0 ? x->cancel : 0};
	/* Of this command alone: what it leaves there must not act in the next one. */
	const char *home = arena_printf(s->arena, "%s/home.%ld", s->dir, (long)getpid());
	struct process_end end;
	int rc;

	if (!self)
		return error_set(err, ERR_SYSTEM, "the path of this program is unknown: no /proc");
	buf_add(&plan, (struct str){(const char *)&x->policy->limits, sizeof(x->policy->limits)});
	landlock_add_paths(s, home, &plan);
	buf_addc(&plan, '\n');
	buf_add(&plan, x->text);
	p.input = buf_str(&plan);
	(void)setenv("HOME", home, 1);
	p.env = sandbox_environment(s);
	sandbox_remove_tree(home); /* of a run that was killed */
	rc = path_mkdirs(home, err) < 0 ? -1 : process_run(&p, &end, err);
	sandbox_remove_tree(home);
	if (rc < 0)
		return -1;
	s->end->started = true;
	s->end->timed_out = end.timed_out;
	s->end->cancelled = end.cancelled;
	s->end->ms = end.ms;
	s->end->status = end.timed_out ? SANDBOX_TIMED_OUT : end.status;
	return 0;
}

/* ---- inside ---- */

static bool allow(int rules, const char *path, uint64_t rights)
{
	CLEANUP(base_close) int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_beneath rule = {rights, fd};

	if (!path_is_directory(path))
		rule.allowed &= OF_FILES;
	return fd < 0 || syscall(ADD_RULE, rules, BENEATH, &rule, 0) == 0;
}

static bool landlock_enter(struct arena *a, struct str *plan)
{
	long version = landlock_version();
	struct landlock_rules all = {.files = ALL_FIRST | REFER | TRUNCATE,
		.tcp = version >= 4 ? TCP : 0,
		.scoped = version >= 6 ? SCOPES : 0};
	CLEANUP(base_close)
	int rules = (int)syscall(CREATE_RULESET, &all,
		version >= 6   ? sizeof(all)
		: version >= 4 ? offsetof(struct landlock_rules, scoped)
			       : sizeof(all.files),
		0);
	struct str line;

	if (rules < 0)
		return false;
	while (str_line(plan, &line) && line.n)
		if (!allow(rules, arena_dup(a, str_sub(line, 1, line.n)),
			    line.p[0] == 'w' ? all.files : READS))
			return false;
	for (int i = 0; i < CAPABILITIES; i++)
		(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(RESTRICT_SELF, rules, 0) == 0 &&
	       sandbox_filter_enter(true, version >= 6) == 0;
}

int sandbox_landlock_inner(int argc, char **argv)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str plan;
	struct error err;

	if (argc != 2 || strcmp(argv[1], "sandbox-readonly") != 0)
		return -1;
	if (sys_read_all(&text, STDIN_FILENO, (size_t)1 << 21, "plan", &err) < 0)
		return SANDBOX_FAILED;
	plan = buf_str(&text);
	if (!sandbox_take_limits(&plan))
		return SANDBOX_FAILED;
	if (landlock_enter(&a, &plan))
		(void)execl("/bin/bash", "bash", "--noprofile", "--norc", "-c", arena_dup(&a, plan),
			(char *)NULL);
	error_log("dev-team: bash cannot be started under Landlock: %s", strerror(errno));
	return SANDBOX_FAILED;
}
