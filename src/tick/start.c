/*
 * start.c: the unattended loop: ticks, carries out what they print with scripted agents or with a
 * harness, and waits while there is nothing to do.
 */
#include "src/base/clock.h"
#include "src/harness/harness.h"
#include "src/run/locate.h"
#include "src/run/status.h"
#include "src/setup/setup.h"
#include "src/store/disk.h"
#include "src/sys/path.h"
#include "src/tick/tick.h"

#define SPAWNER_AGENT "claude-code"
#define UNAVAILABLE   "spawner-unavailable: "

int64_t tick_interval(int64_t base, int64_t idle)
{
	while (idle-- > 0 && base < TICK_INTERVAL_MAX_S)
		base *= 2;
	return base < TICK_INTERVAL_MAX_S ? base : TICK_INTERVAL_MAX_S;
}

/* ---- who pays ---- */

/* The harness of the request, of the settings, or Claude Code. */
static int tick_start_find_harness(
	struct arena *a, struct run_request *q, const struct harness **h, struct error *err)
{
	struct settings settings;
	struct str rest, first;

	if (!q->harness && settings_load(a, q->call.repo, &settings, err) < 0)
		return -1;
	if (!q->harness)
		q->harness = settings.harness ? settings.harness : SPAWNER_AGENT;
	rest = str_of(q->harness);
	return !str_next_item(&rest, &first) ? error_set(err, ERR_USAGE, "--harness names none")
					     : harness_find(arena_dup(a, first), h, err);
}

static int set_harness(
	struct arena *a, const char *spawner, struct run_request *q, struct error *err)
{
	CLEANUP(buf_release) struct buf removed = BUF_INIT;
	const struct harness *h = NULL;
	bool by_key = strcmp(spawner, "api-key") == 0;

	if ((q->harness || !q->pipeline) && tick_start_find_harness(a, q, &h, err) < 0)
		return -1;
	if (by_key && h && !harness_key(h))
		return error_set(err, ERR_STATE, UNAVAILABLE "'%s': '%s' has no key: set %s",
			spawner, h->name, h->credentials ? h->credentials[0] : "one");
	if (!by_key)
		harness_remove_keys(&removed);
	if (h && harness_require(h, err) < 0)
		return -1;
	if (by_key)
		error_log("dev-team: agents are paid by API key%s%s", h ? ": " : "",
			h ? harness_key(h) : "");
	else
		error_log("dev-team: agents use the login of %s%s%s", h ? h->name : "their harness",
			removed.len ? "; not passed on: " : "", removed.len ? removed.s : "");
	return 0;
}

int tick_spawner(const char *otherwise, const char **spawner, struct error *err)
{
	static const char *const words[] = {
		"inline", "claude-cli", "harness", "api-key", "mock", NULL};
	const char *env = getenv("AI_SDLC_ORCHESTRATOR_SPAWNER");

	if (!*spawner)
		*spawner = env && *env ? env : otherwise;
	return str_in(str_of(*spawner), words)
		       ? 0
		       : error_set(err, ERR_USAGE,
				 "AI_SDLC_ORCHESTRATOR_SPAWNER must be inline, claude-cli, "
				 "harness, api-key or mock, not '%.40s'",
				 *spawner);
}

static int set_spawner(
	struct arena *a, const char *spawner, struct run_request *q, struct error *err)
{
	static const char *const harnesses[] = {"harness", "api-key", NULL};

	if (str_in(str_of(spawner), harnesses))
		return set_harness(a, spawner, q, err);
	if (strcmp(spawner, "mock") != 0)
		return error_set(err, ERR_USAGE,
			"spawner '%.40s' needs a session of the client: "
			"/dev-team:orchestrator-tick; without one use 'harness', 'api-key' or "
			"'mock'",
			spawner);
	if (!q->agents || q->harness || q->pipeline)
		return error_set(err, ERR_USAGE,
			"spawner 'mock' needs --agents, and neither --harness nor --pipeline");
	error_log("dev-team: agents are scripted: '%s'", q->agents);
	return 0;
}

/* ---- the loop ---- */

struct tick_loop {
	const struct tick_start_call *call;
	int64_t ticks;
	int status;       /* of the last tick */
	struct buf *line; /* that it printed, if there was nothing to carry out */
	struct buf *said; /* the failures that were reported */
	bool changed;     /* since the tick before */
	bool begun;       /* as `passed` of a tick */
};

/* A run_next. */
static int next_array(
	void *data, const struct run_step_call *like, struct buf *array, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct tick_loop *l = data;
	struct tick_call call = l->call->tick;

	if (l->call->max_ticks && l->ticks >= l->call->max_ticks)
		return 0;
	l->ticks++;
	call.like = like;
	call.passed = &l->begun;
	if (tick(&a, &call, &line, &l->status, err) < 0)
		return -1;
	if (!l->status) {
		buf_clear(l->line); /* nothing waits for a time that this tick knows */
		buf_add(array, buf_str(&line));
		l->changed = true;
		return 0;
	}
	l->changed |= !str_eq(buf_str(l->line), buf_str(&line));
	buf_clear(l->line);
	buf_add(l->line, buf_str(&line));
	return 0;
}

/* The time for which the first task waits; 0: none does. `say`: why there is nothing to do. */
static int64_t first_wait(const struct tick_loop *l, bool say)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;
	int64_t first = 0;

	if (!l->line->len || json_parse(&array, buf_str(l->line), &ignored) < 0)
		return 0;
	if (say)
		error_log("dev-team: waits: %s", json_get_str(json_first(array), "reason"));
	if (json_get(json_first(array), "until"))
		(void)clock_parse(json_get_str(json_first(array), "until"), &first);
	return first;
}

/* Until the interval is over, or until the first task that waits for a time goes on. */
static void wait_idle(const struct tick_loop *l, int64_t interval)
{
	int64_t now = clock_now(), until = now + interval, first = first_wait(l, l->changed);

	if (first && first < until)
		until = first > now ? first : now;
	if (!clock_move(until))
		clock_pause((unsigned)(until - now) * 1000);
}

static int tick_start_run_loop(struct arena *a, struct tick_loop *l, struct error *err)
{
	const struct tick_start_call *c = l->call;
	struct run_request q = c->request;
	int64_t idle = 0;

	for (;;) {
		struct error fault = {0};
		int rc;

		l->changed = false;
		rc = run_actions(a, &q, next_array, l, &fault);
		q.call.take_over = false; /* once */
		if ((rc < 0 && (!l->begun || c->until_idle || run_interrupt_caught())) ||
			l->status == TICK_FINISHED || (c->max_ticks && l->ticks >= c->max_ticks) ||
			(c->until_idle && l->status == TICK_IDLE && !first_wait(l, false))) {
			*err = fault;
			return rc;
		}
		if (rc < 0)
			error_print_once(&fault, l->said, "it is tried again");
		idle = rc < 0 || !l->changed ? idle + 1 : 0;
		wait_idle(l, tick_interval(c->interval_s, idle));
	}
}

int tick_start(
	struct arena *a, struct tick_start_call *c, struct buf *out, int *status, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(buf_release) struct buf line = BUF_INIT, said = BUF_INIT;
	struct tick_loop l = {.call = c, .line = &line, .said = &said};
	struct run_request *q = &c->request;
	const char *items;

	*status = 0;
	if (tick_check_enabled(err) < 0 ||
		run_place_repository(a, q->call.repo, NULL, &q->call.repo, err) < 0 ||
		status_directory(a, q->call.repo, &items, err) < 0 || path_mkdirs(items, err) < 0 ||
		tick_spawner(q->agents ? "mock" : "harness", &c->spawner, err) < 0 ||
		set_spawner(a, c->spawner, q, err) < 0)
		return -1;
	/* Ticks, and what agents and scripts call, look for it there. */
	if (q->artifacts && setenv("ARTIFACTS_DIR", path_absolute(a, q->artifacts), 1) < 0)
		return error_errno(err, "cannot set ARTIFACTS_DIR");
	if (disk_lock_take(&lock, path_join(a, items, ".start.lock"), 0, err) < 0)
		return error_prefix(err, "another 'dev-team start' works on this backlog");
	c->tick.repo = q->call.repo;
	q->call.workflow = TICK_WORKFLOW;
	q->call.owner = "dev-team start";
	q->max_actions = INT64_MAX;
	if (tick_start_run_loop(a, &l, err) < 0) {
		*status = l.status == TICK_GATE_FAILED ? l.status : 0;
		return -1;
	}
	buf_add(out, buf_str(&line));
	*status = l.status == TICK_FINISHED ? 0 : l.status;
	return 0;
}
