#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/merge/gate_internal.h"

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

struct watched {
	struct gate *g;
	int ends[2];
	int64_t due; /* when the lease is to be renewed */
	struct error err;
	struct buf *out;  /* its output */
	struct buf words; /* its messages for people */
};

static bool hear(void *data, bool errors, struct str piece)
{
	struct watched *w = data;
	struct buf *b = errors ? &w->words : w->out;
	size_t room = OUTPUT_MAX - b->len;

	buf_add(b, str_sub(piece, 0, piece.n < room ? piece.n : room));
	return true;
}

static bool interrupted(struct gate *g)
{
	struct pollfd fd = {.fd = g->cancel, .events = POLLIN};

	return g->cancel && poll(&fd, 1, 0) == 1 && fd.revents;
}

int gate_pause(struct gate *g, unsigned ms, struct error *err)
{
	for (unsigned i = 0; i < ms && !interrupted(g); i += TICK_MS)
		clock_pause(TICK_MS);
	return interrupted(g) ? error_set(err, ERR_STATE, "interrupted") : gate_check(g, err);
}

/* The cleanup after an interrupt must not be interrupted by it again. */
static bool go_on(struct watched *w)
{
	if (interrupted(w->g)) {
		w->g->cancel = 0;
		error_set(&w->err, ERR_STATE, "interrupted");
		return false;
	}
	if (clock_ticks() < w->due)
		return true;
	w->due = clock_ticks() + gate_round_ms(w->g);
	return gate_alive(w->g, &w->err);
}

static void look_around(void *data)
{
	struct watched *w = data;
	ssize_t ignored;

	if (w->ends[1] < 0 || go_on(w))
		return;
	ignored = write(w->ends[1], "", 1);
	(void)ignored;
	base_close(&w->ends[1]);
	w->ends[1] = -1;
}

static void unwatch(struct watched *w)
{
	base_close(&w->ends[0]);
	base_close(&w->ends[1]);
	buf_release(&w->words);
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
	CLEANUP(unwatch)
	struct watched w = {
		.g = g, .ends = {-1, -1}, .out = out, .due = clock_ticks() + gate_round_ms(g)};
	const char *argv[ARGS_MAX];
	struct process p = {.argv = without_monitor(c->argv, argv),
		.cwd = c->cwd,
		.env = environment_of(g, c),
		.output = -1,
		.on_output = hear,
		.timeout_s = c->timeout_s ? c->timeout_s : LOCAL_S,
		.on_death = SIGTERM,
		.tick = look_around,
		.tick_ms = TICK_MS,
		.data = &w};
	struct process_end end;
	int rc;

	if (pipe2(w.ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	p.cancel = w.ends[0];
	buf_clear(out);
	if (process_run(&p, &end, err) < 0)
		return -1;
	if (end.cancelled) {
		*err = w.err;
		return -1;
	}
	rc = process_check(&p, &end, c->name, buf_str(w.words.len ? &w.words : out), err);
	if (!status || end.timed_out)
		return rc;
	*status = end.status;
	return 0;
}
