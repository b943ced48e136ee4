/* Programs under the gate. They inherit its lock, and so does all that they start. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/merge/gate_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { OUTPUT_MAX = 4 << 20, LOCAL_S = 120, TICK_MS = 100, ARGS_MAX = 40 };

/* No prompt, no editor, no window. A caller's GIT_DIR and similar variables (we may run in a hook)
 * do not apply; other settings of the user do. */
static const char *const quiet[] = {"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
	"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_OPTIONAL_LOCKS=0",
	"GIT_ASKPASS=", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE=never", "GPG_TTY", "GIT_PAGER=cat",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX",
	"GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
	"GIT_REFLOG_ACTION", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_LITERAL_PATHSPECS",
	"GIT_EXTERNAL_DIFF", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none"};

struct heard {
	struct buf *out;  /* its output */
	struct buf words; /* its messages for people */
};

static bool gate_run_hear(void *data, bool errors, struct str piece)
{
	struct heard *h = data;
	struct buf *b = errors ? &h->words : h->out;
	size_t room = OUTPUT_MAX - b->len;

	buf_add(b, str_sub(piece, 0, piece.n < room ? piece.n : room));
	return true;
}

static void heard_release(struct heard *h)
{
	buf_release(&h->words);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd && poll(&p, 1, 0) == 1 && p.revents;
}

int gate_pause(struct gate *g, unsigned ms, struct error *err)
{
	for (unsigned i = 0; i < ms && !is_readable(g->cancel); i += TICK_MS)
		clock_pause(TICK_MS);
	return is_readable(g->cancel) ? error_set(err, ERR_STATE, "interrupted")
				      : gate_check(g, err);
}

static const char *const *environment_of(const struct gate *g, const struct git_call *c)
{
	VEC(const char *) env = {0};

	for (size_t i = 0; i < COUNT(quiet); i++)
		vec_push_in(g->a, &env, quiet[i]);
	vec_push_in(g->a, &env, g->env[0]);
	vec_push_in(g->a, &env, g->env[1]);
	for (size_t i = 0; c->env && c->env[i]; i++)
		vec_push_in(g->a, &env, c->env[i]);
	if (c->batch_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH"))
		vec_push_in(g->a, &env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes");
	vec_push_in(g->a, &env, NULL);
	return env.items;
}

/* An agent can write the repository's configuration: none of its programs may watch the files. */
static const char *const *without_monitor(const char *const *argv, const char *own[ARGS_MAX])
{
	static const char *const off[] = {"git", "-c", "core.fsmonitor=false"};
	size_t n = COUNT(off);

	if (strcmp(argv[0], "git") != 0)
		return argv;
	memcpy(own, off, sizeof(off));
	for (size_t i = 1; argv[i] && n < ARGS_MAX - 1; i++)
		own[n++] = argv[i];
	own[n] = NULL;
	return own;
}

int gate_git(
	struct gate *g, const struct git_call *c, struct buf *out, int *status, struct error *err)
{
	CLEANUP(heard_release) struct heard heard = {.out = out};
	const char *argv[ARGS_MAX];
	struct process p = {.argv = without_monitor(c->argv, argv),
		.cwd = c->cwd,
		.env = environment_of(g, c),
		.output = -1,
		.on_output = gate_run_hear,
		.timeout_s = c->timeout_s ? c->timeout_s : LOCAL_S,
		.on_death = SIGTERM,
		.cancel = g->cancel,
		.inherit = gate_descriptor(g),
		.data = &heard};
	struct process_end end;
	int rc;

	buf_clear(out);
	if (process_run(&p, &end, err) < 0)
		return -1;
	if (end.cancelled) {
		g->cancel = 0; /* the cleanup after an interrupt must not be interrupted by it */
		return error_set(err, ERR_STATE, "interrupted");
	}
	rc = process_check(&p, &end, c->name, buf_str(heard.words.len ? &heard.words : out), err);
	if (!status || end.timed_out)
		return rc;
	*status = end.status;
	return 0;
}

/* ---- a command of the user ---- */

static bool gate_run_pass_on(void *data, bool errors, struct str piece)
{
	struct error ignored;

	(void)data;
	(void)sys_write_all(errors ? STDERR_FILENO : STDOUT_FILENO, piece, "output", &ignored);
	return true; /* a reader that has closed the output must not interrupt a change */
}

int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err)
{
	CLEANUP(gate_drop) struct gate *g = NULL;
	const struct gate_ask wait = {.who = ask->who,
		.wait_ms = ask->wait_ms,
		.cancel = ask->cancel,
		.lease = ask->lease,
		.lease_s = ask->lease_s};
	struct process program = {.argv = ask->argv,
		.cwd = ask->cwd,
		.output = ask->output,
		.on_output = ask->output < 0 ? gate_run_pass_on : NULL,
		.cancel = ask->cancel};
	struct process_end end;

	if (gate_take(a, p, &wait, &g, err) < 0)
		return -1;
	ask->fence = g->fence;
	if (is_readable(ask->cancel))
		return error_set(err, ERR_STATE, "interrupted before the command was started");
	program.env = g->env;
	program.inherit = gate_descriptor(g);
	if (process_run(&program, &end, err) < 0)
		return -1;
	*status = end.status;
	return 0;
}
