/*
 * arguments.c: what a command sees, as arguments of bwrap: reads by an allow list, few places to
 * write, and an environment by an allow list. As root a list matters most: modes protect nothing.
 */
#include <sys/stat.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

static void arguments_put(struct sandbox *s, const char *const *words)
{
	for (; *words; words++)
		buf_add(&s->arguments, (struct str){*words, strlen(*words) + 1});
}

#define PUT(s, ...) arguments_put(s, (const char *const[]){__VA_ARGS__, NULL})

static bool sandbox_is_offline(const struct sandbox *s)
{
	return s->x->policy->network == NETWORK_NONE && !s->x->policy->hosts.n;
}

static void read_only(struct sandbox *s, const char *path)
{
	if (path_exists(path))
		PUT(s, "--ro-bind", path, path);
}

/* ---- the system ---- */

static const char *const system_names[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/opt", "/nix/store", "/snap", "/var/lib/dpkg"};

static void put_system(struct sandbox *s)
{
	char target[PATH_MAX];

	for (size_t i = 0; i < COUNT(system_names); i++) {
		ssize_t n = readlink(system_names[i], target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (n > 0)
			PUT(s, "--symlink", target, system_names[i]);
		else
			read_only(s, system_names[i]);
	}
	if (path_exists("/sys/fs/cgroup/memory.max")) /* of a container: programs look for it */
		read_only(s, "/sys/fs/cgroup");
}

/* Whether nothing has changed since the copy was made. What was added, replaced, renamed or removed
 * shows at the directory; some files are written in place. */
static bool arguments_is_fresh(const char *made)
{
	static const char *const paths[] = {"/etc", "/etc/alternatives", "/etc/ssl/certs",
		"/etc/hosts", "/etc/resolv.conf", "/etc/passwd", "/etc/group", "/etc/hostname"};
	struct stat then, now;

	if (stat(made, &then) < 0)
		return false;
	for (size_t i = 0; i < COUNT(paths); i++)
		if (stat(paths[i], &now) == 0 && now.st_ctim.tv_sec >= then.st_mtim.tv_sec)
			return false;
	return true;
}

/* Files without secrets; `*` and `?` as the shell has them. */
#define ETC_NAMES                                                                                  \
	"alternatives bash.bashrc bash_completion.d ca-certificates ca-certificates.conf "         \
	"crypto-policies debian_version default/locale dotnet emacs fonts gai.conf group "         \
	"host.conf hostname hosts inputrc java* ld.so.* localtime locale* lsb-release "            \
	"machine-id magic* mailcap manpath.config maven mime.types mke2fs.conf nsswitch.conf "     \
	"os-release passwd perl php pki protocols python* redhat-release resolv.conf rpc "         \
	"services shells skel ssl/certs ssl/openssl.cnf terminfo texmf timezone vim xdg"

static int copy_etc(struct sandbox *s, const char *etc, struct error *err)
{
	static const char script[] = "cd /etc && mkdir -p -- \"$0/ssh\" && "
				     "cp -RH --parents -- " ETC_NAMES " \"$0\" 2>/dev/null\n"
				     "chmod -R u+rwX -- \"$0\" && touch -- \"$0/.made\"";
	const char *fresh = arena_printf(s->arena, "%s.%ld", etc, (long)getpid());
	const char *old = arena_printf(s->arena, "%s.old", fresh);
	const char *const argv[] = {"/bin/sh", "-c", script, fresh, NULL};
	struct process p = {.argv = argv, .output = -1};
	struct process_end end;

	if (process_run(&p, &end, err) < 0 ||
		sandbox_write_file(path_join(s->arena, fresh, "ssh/ssh_config"),
			STR("Match exec \"env | grep -q ^https_proxy=http://127.0.0.1\"\n"
			    "  ProxyCommand " BOX_CONNECT " %h %p\n"),
			0644, err) < 0)
		return -1;
	(void)(rename(etc, old) + 0);
	if (rename(fresh, etc) < 0)
		return error_errno(err, "cannot make '%s'", etc);
	sandbox_remove_tree(old);
	return 0;
}

/* A file from memory: `--file`, or `--ro-bind-data` over one that is there. */
static int arguments_put_file(
	struct sandbox *s, const char *option, struct str text, const char *to, struct error *err)
{
	int fd = sandbox_memory_file(s, text, err);

	if (fd < 0)
		return -1;
	PUT(s, option, arena_printf(s->arena, "%d", fd), to);
	return 0;
}

/* In a copy: a mount for each file would take longer than the command. */
static int put_etc(struct sandbox *s, struct error *err)
{
	const char *etc = path_join(s->arena, s->state, "sandbox/etc");
	CLEANUP(buf_release) struct buf hosts = BUF_INIT;

	if (!arguments_is_fresh(path_join(s->arena, etc, ".made")) && copy_etc(s, etc, err) < 0)
		return -1;
	PUT(s, "--ro-bind", etc, "/etc");
	sandbox_network_hosts(s, &hosts);
	if (!hosts.len)
		return 0;
	buf_add(&hosts, str_of(sandbox_read_text(s->arena, "/etc/hosts")));
	return arguments_put_file(s, "--ro-bind-data", buf_str(&hosts), "/etc/hosts", err);
}

/* ---- toolchains ---- */

/* Once: mounts take most of the time of a short command. */
static void put_tool(struct sandbox *s, const char *path)
{
	if (path_below_any(str_of(path), s->tools.items, s->tools.n))
		return;
	vec_push_in(s->arena, &s->tools, path);
	read_only(s, path);
}

/* A directory of PATH, and what programs look for next to it. */
static void put_path(struct sandbox *s, const char *dir)
{
	static const char *const beside[] = {"lib", "lib64", "libexec", "include", "pkg", "src"};
	struct str base = path_base(dir);
	const char *prefix = arena_dup(s->arena, path_dir(dir)), *home = getenv("HOME");

	put_tool(s, dir);
	if (!str_is(base, "bin") || strcmp(prefix, "/") == 0 || (home && strcmp(prefix, home) == 0))
		return;
	for (size_t i = 0; i < COUNT(beside); i++)
		put_tool(s, path_join(s->arena, prefix, beside[i]));
}

/* HOME begins empty: settings and programs that one command leaves there would act in those of
 * other roles. A client that is contained as a whole has its sessions there, and runs no other's
 * text. Caches are shared. Without a network they are the user's downloads, where there are some,
 * which nothing inside can change. */
static int put_home(struct sandbox *s, const char *home, struct error *err)
{
	/* The first ones can be the user's. */
	static const char *const caches[] = {".cargo/registry", ".cargo/git", "go/pkg/mod",
		".m2/repository", ".cache", ".npm/_cacache", ".gradle/caches"};
	enum { SEEDS = 4 };
	const char *kept = path_join(s->arena, s->dir, "home");

	if (!s->x->keep_environment)
		PUT(s, "--tmpfs", home, "--bind", s->caches, BOX_CACHES);
	else if (path_mkdirs(kept, err) < 0)
		return -1;
	else
		PUT(s, "--bind", kept, home);
	for (size_t i = 0; i < COUNT(caches); i++) {
		const char *at = path_join(s->arena, home, caches[i]);
		const char *cache = path_join(s->arena, s->caches, caches[i]);

		if (i < SEEDS && sandbox_is_offline(s) && path_exists(at))
			PUT(s, "--ro-bind", at, at);
		else if (path_mkdirs(cache, err) < 0)
			return -1;
		else if (s->x->keep_environment)
			PUT(s, "--bind", cache, at);
		else
			PUT(s, "--symlink", path_join(s->arena, BOX_CACHES, caches[i]), at);
	}
	return 0;
}

static void put_toolchains(struct sandbox *s)
{
	static const char *const in_home[] = {".rustup", ".pyenv", ".nvm", ".sdkman", ".volta",
		".asdf", ".bun", ".deno/bin", ".dotnet", ".ghcup", ".cargo/bin", ".cargo/env",
		"go/bin", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pnpm",
		".local/share/uv", ".local/share/mise"};
	static const char *const variables[] = {
		"JAVA_HOME", "GOROOT", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV"};
	const char *home = getenv("HOME"), *value;
	struct str rest = str_of(getenv("PATH")), dir;

	for (size_t i = 0; home && i < COUNT(in_home); i++)
		put_tool(s, path_join(s->arena, home, in_home[i]));
	for (size_t i = 0; i < COUNT(variables); i++)
		if ((value = getenv(variables[i])) && value[0] == '/' &&
			!path_below_any(str_of(value), system_names, COUNT(system_names)) &&
			(!home || strcmp(value, home) != 0) && value[1])
			put_tool(s, value);
	while (str_piece(&rest, ':', &dir))
		if (str_starts(dir, "/") && dir.n > 1 &&
			!path_below_any(dir, system_names, COUNT(system_names)))
			put_path(s, arena_dup(s->arena, dir));
}

/* ---- the program's own files ---- */

/* git's settings below those of the repository. */
static int put_gitconfig(struct sandbox *s, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT, name = BUF_INIT, email = BUF_INIT;
	const char *copied = path_join(s->arena, s->dir, "config");
	struct str config = str_of(sandbox_read_text(s->arena, copied)), line;

	buf_adds(&out, "[gc]\n\tauto = 0\n\tpackRefs = false\n\twriteCommitGraph = false\n"
		       "[repack]\n\tupdateServerInfo = false\n[safe]\n\tdirectory = *\n"
		       "[maintenance]\n\tauto = false\n");
	if (git_config_identity(s->x->root->path, &name, &email))
		buf_addf(&out, "[user]\n\tname = \"%s\"\n\temail = \"%s\"\n", name.s, email.s);
	while (s->brokered && s->view.common && str_line(&config, &line)) {
		line = str_trim(line);
		if (str_starts(line, "[remote \"") && str_ends(line, "\"]"))
			buf_addf(&out, "%.*s\n\tvcs = " GIT_HELPER "\n", (int)line.n, line.p);
	}
	return arguments_put_file(s, "--file", buf_str(&out), BOX "/gitconfig", err);
}

/* The program of inner.c, as a file. */
__asm__(".pushsection .rodata\n"
	".globl sandbox_inner_begin, sandbox_inner_end\n"
	"sandbox_inner_begin:\n"
	".incbin \"" SANDBOX_INNER "\"\n"
	"sandbox_inner_end:\n"
	".popsection\n");
extern const char sandbox_inner_begin[], sandbox_inner_end[];

/* ssh's ProxyCommand: `connect HOST PORT`, through the proxy at PROXY_PORT (network.c). */
static const char connect_script[] =
	"#!/bin/bash\n"
	"exec 3<>/dev/tcp/127.0.0.1/3128 &&\n"
	"\tprintf 'CONNECT %s:%s HTTP/1.1\\r\\n\\r\\n' \"$1\" \"$2\" >&3 &&\n"
	"\tread -r _ status _ <&3 && [ \"$status\" = 200 ] || exit 1\n"
	"while read -r line <&3 && [ \"$line\" != $'\\r' ]; do :; done\n"
	"cat <&3 &\n"
	"cat >&3\n"
	"wait\n";

static int put_program(struct sandbox *s, struct str text, const char *to, struct error *err)
{
	PUT(s, "--perms", "0755");
	return arguments_put_file(s, "--file", text, to, err);
}

/* The program is git's remote helper and the forge's program, too, by these names. */
static int put_box(struct sandbox *s, struct error *err)
{
	static const char *const forges[] = {"gh", "glab"};
	struct str inner = {sandbox_inner_begin, (size_t)(sandbox_inner_end - sandbox_inner_begin)};
	bool blocked;

	if (put_program(s, inner, BOX_PROGRAM, err) < 0 ||
		(s->x->policy->hosts.n &&
			put_program(s, str_of(connect_script), BOX_CONNECT, err) < 0))
		return -1;
	/* `git init` in the worktree would copy the samples of hooks, which are protected. */
	PUT(s, "--dir", BOX "/template/hooks", "--dir", BOX "/template/info");
	PUT(s, "--symlink", BOX_PROGRAM, BOX "/bin/git-remote-" GIT_HELPER);
	for (size_t i = 0; s->x->policy->forge.n && i < COUNT(forges); i++)
		if (path_find_program(s->arena, forges[i], &blocked))
			PUT(s, "--symlink", BOX_PROGRAM,
				arena_printf(s->arena, BOX "/bin/%s", forges[i]));
	return put_gitconfig(s, err);
}

/* ---- the root and its repository ---- */

static enum directory_visit hide_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	static const char *const large[] = {
		"objects", "refs", "logs", "hooks", "info", "lfs", NULL};
	static const char *const settings[] = {"config", "config.worktree", NULL};
	struct sandbox *s = data;
	const char *path = path_join(s->arena, s->hidden_in, e->path), *text = NULL;
	CLEANUP(buf_release) struct buf shown = BUF_INIT;

	if (e->type == FILE_DIRECTORY)
		return str_in(str_of(e->name), large) ? DIRECTORY_SKIP : DIRECTORY_CONTINUE;
	if (str_in(str_of(e->name), settings))
		text = sandbox_read_text(s->arena, path);
	if (e->type == FILE_OTHER || (text && *text && str_starts(str_of(e->path), "worktrees/")))
		PUT(s, "--ro-bind", "/dev/null", path);
	else if (text && !sandbox_git_settings(text, &shown) &&
		 arguments_put_file(s, "--ro-bind-data", buf_str(&shown), path, err) < 0)
		return DIRECTORY_STOP;
	return DIRECTORY_CONTINUE;
}

/* What a bound directory of git has that a command must not see: sockets, such as that of git's
 * file system monitor, settings of other worktrees, and secrets in settings. */
static int put_hidden(struct sandbox *s, const char *dir, struct error *err)
{
	s->hidden_in = dir;
	return directory_walk(dir, hide_entry, s, err);
}

static int put_git(struct sandbox *s, struct error *err)
{
	static const char *const shared[] = {"hooks", "modules", "lfs"};
	static const char *const objects[] = {"objects", "objects/info"};
	static const char *const fixed[] = {"commondir", "gitdir", "config.worktree"};
	const char *bind = s->view.write ? "--bind" : "--ro-bind";
	struct str others, line;

	if (!s->view.common)
		return 0;
	others = str_of(sandbox_read_text(
		s->arena, path_join(s->arena, s->view.common, "objects/info/alternates")));
	while (str_line(&others, &line))
		if (str_starts(line, "/"))
			read_only(s, arena_dup(s->arena, line));
	if (!s->view.copy) {
		PUT(s, "--ro-bind", s->view.common, s->view.common);
		return put_hidden(s, s->view.common, err);
	}
	/* A copy for a policy without `write` is written by `git worktree add`, and is not taken
	 * over. */
	PUT(s, s->view.own ? "--bind" : "--ro-bind", s->view.copy, s->view.common);
	PUT(s, "--ro-bind", path_join(s->arena, s->view.common, "objects"), BOX_OBJECTS);
	/* A command cannot put links in the place of mounts, nor name other objects. */
	for (size_t i = 0; i < COUNT(objects) && s->view.own; i++)
		PUT(s, i ? "--ro-bind" : "--bind", path_join(s->arena, s->view.copy, objects[i]),
			path_join(s->arena, s->view.common, objects[i]));
	for (size_t i = 0; i < COUNT(shared); i++)
		read_only(s, path_join(s->arena, s->view.common, shared[i]));
	if (!s->view.write)
		read_only(s, path_join(s->arena, s->view.common, "logs"));
	if (put_hidden(s, path_join(s->arena, s->view.common, "modules"), err) < 0)
		return -1;
	if (!s->view.own)
		return 0;
	PUT(s, bind, s->view.own, s->view.own);
	for (size_t i = 0; i < COUNT(fixed); i++)
		read_only(s, path_join(s->arena, s->view.own, fixed[i]));
	return put_hidden(s, s->view.own, err);
}

/* Directories above a mount could be renamed, and it with them; those that are mounts cannot. */
static void put_above(struct sandbox *s, const char *name)
{
	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
		const char *above = path_join(s->arena, s->x->root->path,
			arena_dup(s->arena, (struct str){name, (size_t)(end - name)}));

		if (path_is_directory(above))
			PUT(s, s->x->policy->write ? "--bind" : "--ro-bind", above, above);
	}
}

static int put_root(struct sandbox *s, struct error *err)
{
	const char *root = s->x->root->path, *git = path_join(s->arena, root, ".git");
	struct stat st;

	for (size_t i = 0; i < s->x->policy->read.n; i++)
		read_only(s, s->x->policy->read.p[i]);
	for (const char *const *d = s->x->read; d && *d; d++)
		read_only(s, *d);
	for (const char *const *d = s->x->write; d && *d; d++)
		PUT(s, "--bind", *d, *d);
	if (s->x->artifacts)
		PUT(s, "--bind", s->x->artifacts, s->x->artifacts);
	PUT(s, s->x->policy->write ? "--bind" : "--ro-bind", root, root);
	if (lstat(git, &st) == 0 && S_ISREG(st.st_mode))
		read_only(s, git);
	for (size_t i = 0; i < s->kept.n; i++) {
		const struct kept_name *k = &s->kept.items[i];
		const char *path = path_join(s->arena, root, k->name);

		if (k->kind == KEPT_COPY || k->kind == KEPT_READ_ONLY)
			put_above(s, k->name);
		if (k->kind == KEPT_COPY)
			PUT(s, "--bind", arena_printf(s->arena, "%s/protected/%s", s->dir, k->name),
				path);
		else if (k->kind == KEPT_READ_ONLY)
			read_only(s, path);
	}
	return put_git(s, err);
}

int sandbox_arguments(struct sandbox *s, struct error *err)
{
	const char *home = getenv("HOME");

	PUT(s, "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent", "--cap-drop",
		"ALL");
	if (geteuid() != 0)
		PUT(s, "--unshare-user");
	if (s->x->policy->network == NETWORK_NONE)
		PUT(s, "--unshare-net");
	put_system(s);
	if (put_etc(s, err) < 0)
		return -1;
	PUT(s, "--proc", "/proc");
	/* Its files belong to uid 0, capabilities or not. */
	if (geteuid() == 0)
		PUT(s, "--ro-bind", "/proc/sys", "/proc/sys");
	PUT(s, "--dev", "/dev", "--bind", s->tmp, "/tmp", "--symlink", "/tmp", "/var/tmp");
	PUT(s, "--bind", s->tmp, s->tmp);
	if (home && home[0] == '/' && home[1] && put_home(s, home, err) < 0)
		return -1;
	put_toolchains(s);
	if (put_root(s, err) < 0 || put_box(s, err) < 0)
		return -1;
	PUT(s, "--chdir", s->cwd);
	return 0;
}

/* ---- the environment ---- */

static bool is_passed(const struct sandbox *s, struct str name)
{
	static const char *const set[] = {"PATH", "HOME", "TMPDIR", "GIT_CONFIG_SYSTEM",
		"GIT_TERMINAL_PROMPT", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_WORK_TREE",
		"SSH_AUTH_SOCK", NULL};
	static const char *const names[] = {"LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM",
		"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "USER", "LOGNAME", "SHELL", "EDITOR",
		"VISUAL", "PAGER", "COLUMNS", "LINES", "DEBIAN_FRONTEND", "SOURCE_DATE_EPOCH",
		"JAVA_HOME", "GOROOT", "GOFLAGS", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
		"RUST_BACKTRACE", "NVM_DIR", "NVM_BIN", "NODE_ENV", "PYENV_ROOT", "PYENV_VERSION",
		"VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH", "CC",
		"CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS",
		"PKG_CONFIG_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "DEV_TEAM_ID",
		"ARTIFACTS_DIR", "DEV_TEAM_BRANCH", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
		"GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
		"GIT_COMMITTER_DATE", "PORT", "HOST", NULL};

	if (s->x->keep_environment)
		return !str_in(name, set) && !str_starts(name, "LD_") &&
		       !(s->x->policy->hosts.n && str_ends(name, "_proxy"));
	return str_in(name, names) || str_starts(name, "LC_") ||
	       texts_have(&s->x->policy->environment, name);
}

/* Without a network package managers would try for minutes. */
static const char *const no_network[] = {"npm_config_fetch_retries=0", "npm_config_audit=false",
	"npm_config_fund=false", "npm_config_update_notifier=false", "PIP_RETRIES=0",
	"PIP_DISABLE_PIP_VERSION_CHECK=1", "CARGO_NET_RETRY=0", "GOPROXY=off"};

const char *const *sandbox_environment(struct sandbox *s)
{
	const char *path = getenv("PATH"), *home = getenv("HOME");
	struct arena *a = s->arena;

	for (char **e = environ; *e; e++)
		if (is_passed(s, str_sub(str_of(*e), 0, strcspn(*e, "="))))
			vec_push_in(a, &s->environment, *e);
	vec_push_in(a, &s->environment,
		arena_printf(a, "PATH=" BOX "/bin:%s", path && *path ? path : "/usr/bin:/bin"));
	vec_push_in(a, &s->environment,
		arena_printf(a, "HOME=%s", home && home[0] == '/' ? home : "/tmp"));
	vec_push_in(a, &s->environment, arena_printf(a, "TMPDIR=%s", s->tmp));
	vec_push_in(a, &s->environment, "GIT_CONFIG_SYSTEM=" BOX "/gitconfig");
	vec_push_in(a, &s->environment, "GIT_TERMINAL_PROMPT=0");
	vec_push_in(a, &s->environment, "GIT_TEMPLATE_DIR=" BOX "/template");
	if (!s->view.write)
		vec_push_in(a, &s->environment, "GIT_OPTIONAL_LOCKS=0");
	for (size_t i = 0; sandbox_is_offline(s) && i < COUNT(no_network); i++)
		vec_push_in(a, &s->environment, no_network[i]);
	for (const char *const *e = s->x->variables; e && *e; e++)
		vec_push_in(a, &s->environment, *e);
	sandbox_network_variables(s);
	vec_push_in(a, &s->environment, NULL);
	return s->environment.items;
}
