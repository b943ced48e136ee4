/*
 * gate.c: the merge gate around whatever a stage does that holds it: agents, scripts, the effects
 * of its state, and the items that it waits for. The place in the line belongs to the work item. It
 * is kept between two actions, until the item leaves the stage or the process of the run ends.
 */
#include <fcntl.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/local/local.h"
#include "src/local/script.h"
#include "src/machine/wait.h"
#include "src/merge/gate.h"
#include "src/run/run_internal.h"
#include "src/sys/path.h"

enum { LEASE_S = 7 * 86400 }; /* it ends with the process */

/* The item that has the gate while this action works: that of the outermost stage which holds it;
 * NULL: none does. */
static const char *gate_item(struct arena *a, const struct run_item *r, const char *document,
	const char *id, const char *agent, const struct stage_spec **stage)
{
	const char *item = NULL;

	for (unsigned i = 0; id && i <= RUN_DEPTH_MAX; i++) {
		const struct stage_spec *s =
			run_agent_stage(a, r->pipeline, id, agent && i == 0 ? agent : "");

		if (s && gate_stage_holds(s)) {
			item = arena_dup(a, (struct str){id, strcspn(id, "/")});
			*stage = s;
		}
		id = run_parent_action(a, document);
		if (id)
			document = run_child_document(
				a, document, arena_dup(a, (struct str){id, strcspn(id, "/")}));
	}
	return item;
}

/* The same of the state that the document is in, and of its outstanding actions. */
static const char *gate_item_of_state(struct arena *a, const struct run_item *r,
	const struct context_file *f, const char *id, const struct stage_spec **stage)
{
	CLEANUP(json_free) json *array = NULL;
	const char *document = arena_dup(a, str_of(f->path)),
		   *state = arena_printf(a, "%s/%s/0", id, context_get(&f->doc, "state").p);
	const char *item = gate_item(a, r, document, state, NULL, stage);
	struct error ignored;

	if (item || action_load(&f->doc, &array, &ignored) < 0)
		return item;
	for (const json *i = json_first(array); i && !item; i = json_next(i))
		item = gate_item(
			a, r, document, json_get_str(i, "id"), json_get_str(i, "agent"), stage);
	return item;
}

static struct gate_ask gate_ask_for(
	const struct run_item *r, const char *item, const struct stage_spec *stage)
{
	return (struct gate_ask){.who = item,
		.wait_ms = run_agent_timeout(r, stage) * 1000,
		.cancel = r->cancel,
		.lease = r->keeper != NULL,
		.lease_s = LEASE_S,
		.keeper = r->keeper};
}

int run_gate_take(struct arena *a, struct run_item *r, const json *action, struct pool *pool,
	struct error *err)
{
	const struct stage_spec *stage = NULL;
	const char *item = gate_item(a, r, r->call.context_file, json_get_str(action, "id"),
		json_get_str(action, "agent"), &stage);
	struct gate_ask wait;

	if (!item)
		return 0;
	wait = gate_ask_for(r, item, stage);
	if (run_pool_open(a, &r->worktree, r->call.repo, pool, err) < 0 ||
		gate_take(a, pool, &wait, &r->gate, err) < 0)
		return -1;
	script_inherit = gate_descriptor(r->gate);
	for (const char *const *e = r->gate->env; *e; e++)
		(void)putenv(arena_dup(a, str_of(*e)));
	return 0;
}

/* The item of the run, or of the session, and in *w its worktree and pool. No process of a session
 * lives between two steps, so each effect takes the gate again. */
static int gate_run_of(const struct run_entry *e, struct run_worktree *w,
	const struct run_item **out, struct error *err)
{
	*out = e->call->run;
	if (!*out && run_quota_session(e->arena, e->call, out, err) < 0)
		return -1;
	if (!*out)
		return 0;
	*w = (*out)->worktree;
	if (!w->pool)
		w->pool = resources_pool(&(*out)->resources, (*out)->pipeline->worktree_pool);
	if (!w->pool)
		w->pool = locate_item_pool(&(*out)->resources);
	return 0;
}

int run_gate_carry_out(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	CLEANUP(pool_close) struct pool pool = {0};
	CLEANUP(gate_drop) struct gate *gate = NULL;
	const struct run_entry *e = data;
	const struct stage_spec *stage = NULL;
	const struct run_item *r;
	struct run_worktree w;
	struct gate_ask wait;
	const char *item;

	if (gate_run_of(e, &w, &r, err) < 0)
		return -1;
	item = r ? gate_item_of_state(e->arena, r, e->file, input->text, &stage) : NULL;
	if (!item)
		return environment_local.carry_out(data, a, input, answer, err);
	wait = gate_ask_for(r, item, stage);
	if (e->call->gate_busy)
		wait.wait_ms = 0;
	if (run_pool_open(e->arena, &w, e->call->repo, &pool, err) < 0)
		return -1;
	if (gate_take(e->arena, &pool, &wait, &gate, err) < 0) {
		if (e->call->gate_busy)
			*e->call->gate_busy = strstr(err->text, GATE_TIMEOUT) != NULL;
		return -1;
	}
	if (gate_descriptor(gate)) /* the programs of the effect have the lock, too */
		(void)fcntl(gate_descriptor(gate), F_SETFD, 0);
	return environment_local.carry_out(data, a, input, answer, err);
}

void run_gate_end(struct arena *a, const struct run_item *r, const char *item)
{
	CLEANUP(pool_close) struct pool pool = {0};
	const char *path = r->worktree.of.path;
	bool holds = false;
	struct error ignored;

	for (size_t i = 0; r->pipeline && i < r->pipeline->n_stages; i++)
		holds |= gate_stage_holds(&r->pipeline->stages[i]);
	if (holds && path)
		gate_end_lease(a, arena_dup(a, path_dir(path)), item);
	else if (holds && run_pool_open(a, &r->worktree, r->call.repo, &pool, &ignored) == 0)
		gate_end_lease(a, pool.dir, item);
}

void run_gate_leave(struct arena *a, const struct run_step_call *call, const struct context_file *f)
{
	CLEANUP(json_free) json *array = NULL;
	const struct stage_spec *stage;
	const char *item = NULL;
	struct error ignored;

	if (!call->run)
		return;
	if (!wait_is_open(&f->doc, clock_now()) && action_load(&f->doc, &array, &ignored) == 0 &&
		json_len(array))
		item = gate_item_of_state(a, call->run, f, call->id, &stage);
	if (!item || strcmp(item, call->id) != 0)
		run_gate_end(a, call->run, call->id);
}
