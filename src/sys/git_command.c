/*
 * git_command.c: runs the program git, with an environment of its own and no prompt.
 */
#include <signal.h>
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { OUTPUT_MAX = 16 << 20, LOCAL_S = 120 };

/* git exports them to aliases and hooks. They name the caller's repository, or say how the caller's
 * command was meant. */
#define CALLERS_REPOSITORY                                                                         \
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX",              \
		"GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE",                        \
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",                        \
		"GIT_REPLACE_REF_BASE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",             \
		"GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF",                \
		"GIT_DIFF_OPTS", "GIT_REFLOG_ACTION", "GIT_DEFAULT_HASH", "GIT_CONFIG"

/*
 * No prompt, no editor, no window: an empty GIT_ASKPASS has precedence over core.askPass and leaves
 * the credential helpers alone. refs/replace and grafts, which anyone with access to the repository
 * can make, do not replace commits. A repository among the files, which an agent may have made,
 * starts no file system monitor; git passes this on to submodules.
 */
static const char *const git_environment[] = {"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
	"GIT_EDITOR=true", "GIT_ASKPASS=", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE=never", "GPG_TTY",
	"DISPLAY", "WAYLAND_DISPLAY", CALLERS_REPOSITORY, "GIT_NO_REPLACE_OBJECTS=1",
	"GIT_GRAFT_FILE=/dev/null/none", "GIT_CONFIG_PARAMETERS='core.fsmonitor=false'"};

void git_forget_caller(void)
{
	static const char *const names[] = {CALLERS_REPOSITORY, "GIT_GRAFT_FILE",
		"GIT_IMPLICIT_WORK_TREE",
		"GIT_CONFIG_PARAMETERS"}; /* of `git -c`, for one command */

	for (size_t i = 0; i < COUNT(names); i++)
		(void)unsetenv(names[i]);
}

struct heard {
	struct buf *out, errors;
};

/* What is too much is dropped. */
static void git_command_add_output(struct buf *to, struct str text)
{
	size_t room = OUTPUT_MAX - to->len;

	buf_add(to, str_sub(text, 0, text.n < room ? text.n : room));
}

static bool git_command_hear(void *data, bool errors, struct str piece)
{
	struct heard *h = data;

	git_command_add_output(errors ? &h->errors : h->out, piece);
	return true;
}

/* Another git, or one that was killed, has left a lock file. git's advice does not name it again.
 */
static bool is_locked(const char *name, struct str output, struct error *err)
{
	static const char before[] = "Unable to create '", after[] = ".lock': File exists";
	size_t from = str_find(output, STR(before)), end;
	struct str path;

	if (from == output.n)
		return false;
	path = str_sub(output, from + strlen(before), output.n);
	end = str_find(path, STR(after));
	if (end == path.n || memchr(path.p, '\n', end))
		return false;
	path.n = end + strlen(".lock");
	(void)error_set(err, ERR_SYSTEM,
		"'%s' failed: %s%.*s': File exists: unless a git is running there, remove '%.*s' "
		"and run the same command again",
		name, before, (int)path.n, path.p, (int)path.n, path.p);
	return true;
}

/* TERM at our death: git then removes its lock files. */
static int git_command_run(const struct git_command *c, const char *const *env, struct buf *out,
	int *status, struct error *err)
{
	struct heard heard = {.out = out};
	struct process p = {.argv = c->argv,
		.cwd = c->dir,
		.env = env,
		.input = c->input,
		.output = -1,
		.on_output = git_command_hear,
		.data = &heard,
		.timeout_s = c->limit_s ? c->limit_s : LOCAL_S,
		.inherit = c->inherit,
		.cancel = c->cancel,
		.on_death = SIGTERM};
	struct process_end end;
	int rc = process_run(&p, &end, err);

	if (rc == 0 && (c->warnings || end.status || end.timed_out))
		git_command_add_output(out, buf_str(&heard.errors));
	buf_release(&heard.errors);
	if (rc < 0)
		return -1;
	if (end.cancelled)
		return error_set(err, ERR_STATE, "interrupted");
	if (status && (!end.timed_out || c->late)) {
		*status = end.timed_out ? GIT_LATE : end.status;
		return 0;
	}
	if (end.status && is_locked(c->name, buf_str(out), err))
		return -1;
	return process_check(&p, &end, c->name, buf_str(out), err);
}

/* While another git makes a worktree, HEAD of that names no commit for a moment: a fetch fails. */
static bool has_met_new_worktree(const struct buf *out, size_t from)
{
	return str_find(str_sub(buf_str(out), from, out->len),
		       STR("fatal: bad object worktrees/")) < out->len - from;
}

int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	VEC(const char *) env = {0};
	struct buf *to = out ? out : &own;
	size_t from = to->len;
	int rc;

	for (size_t i = 0; i < COUNT(git_environment); i++)
		vec_push(&env, git_environment[i]);
	vec_push(&env, c->refresh ? "GIT_OPTIONAL_LOCKS=1" : "GIT_OPTIONAL_LOCKS=0");
	/* A broken worktree must not pass for the repository around it. */
	if (c->dir && c->dir[0] == '/')
		vec_push(&env, arena_printf(&a, "GIT_CEILING_DIRECTORIES=%s",
				       arena_dup(&a, path_dir(c->dir))));
	if (c->batch_ssh)
		vec_push(&env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes");
	for (const char *const *e = c->env; e && *e; e++)
		vec_push(&env, *e);
	vec_push(&env, NULL);
	rc = git_command_run(c, env.items, to, status, err);
	if ((rc < 0 || (status && *status)) && has_met_new_worktree(to, from)) {
		buf_cut(to, from);
		*err = (struct error){0};
		rc = git_command_run(c, env.items, to, status, err);
	}
	vec_release(&env);
	return rc;
}

int git_check_status(
	const char *name, int status, const struct buf *output, bool refused, struct error *err)
{
	if (status && is_locked(name, buf_str(output), err))
		return -1;
	if (process_check(&(struct process){0}, &(struct process_end){.status = status}, name,
		    buf_str(output), err) == 0)
		return 0;
	err->code = refused ? ERR_CHECK : ERR_SYSTEM;
	return -1;
}
