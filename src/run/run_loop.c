#include "src/base/error.h"
#include "src/run/run_loop.h"
#include "src/run/interrupt.h"
#include "src/machine/agent_events.h"
#include <signal.h>

static int plan_one(struct loop *l, const json *action, struct part *p, struct error *err)
{
	size_t uses;

	*p = (struct part){.action = action};
	if (agents_find(&l->agents, action, &p->entry, err) < 0)
		return -1;
	if (!p->entry)
		return 0;
	if (agent_turns_played(l->call.context_file, p->entry->key, json_get_str(action, "id"),
		    &uses, err) < 0)
		return -1;
	return agents_turn(&l->agents, p->entry, uses, action, &p->turn, err);
}

/* Nothing of an array is done before all of it can be. */
static int plan(struct arena *a, struct loop *l, struct part **parts, struct error *err)
{
	size_t n = json_len(l->array), i = 0;

	*parts = arena_alloc(a, n * sizeof(**parts));
	for (const json *action = json_first(l->array); action; action = json_next(action))
		if (plan_one(l, action, &(*parts)[i++], err) < 0)
			return -1;
	if (l->served + n > l->max)
		return error_set(
			err, ERR_STATE, "stopped after %lu actions (see --max-actions)", l->served);
	l->served += n;
	return 0;
}

static void part_done(void *data, const struct part *p, const struct outcome *o)
{
	const struct loop *l = data;

	show_part(&l->show, p->action, o->word);
}

static int serve(struct loop *l, struct error *err)
{
	struct arena a = {0};
	struct part *parts;
	int rc = plan(&a, l, &parts, err);

	if (rc == 0)
		rc = jobs_run(&l->stage, parts, json_len(l->array), part_done, l, err);
	arena_release(&a);
	l->call.returned = true;
	l->call.take_over = false;
	return rc;
}

static bool is_done(const json *array)
{
	return strcmp(json_get_str(json_first(array), "action"), "done") == 0;
}

/* 1: served, go on. 0: done, and l->line says how. */
static int round_of(struct loop *l, bool *good, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	struct arena a = {0};
	int rc;

	buf_clear(&l->line);
	rc = step_run(&a, &l->call, &l->line, err);
	arena_release(&a);
	if (rc < 0 || json_parse(&array, buf_str(&l->line), err) < 0)
		return -1;
	l->array = array;
	if (is_done(array)) {
		show_done(&l->show, json_first(array));
		*good = strcmp(json_get_str(json_first(array), "result"), "success") == 0;
		if (l->stage.staff)
			staff_state(&l->staff, "done", *good ? RUN_SUCCESS : RUN_FAILURE);
		return 0;
	}
	return interrupt_caught() || serve(l, err) < 0 ? -1 : 1;
}

/* What was answered stays answered; the caller sees a program that was ended by
 * the signal. */
static void die_of(int signal)
{
	log_line("dev-team: interrupted; the same command goes on from here");
	(void)raise(signal);
}

int loop_go(struct loop *l, struct buf *out, struct error *err)
{
	bool good = false;
	int rc, signal;

	if (interrupt_begin(&l->stage.cancel, err) < 0)
		return -1;
	if (l->stage.staff)
		staff_state(&l->staff, "init", RUN_RUNNING);
	show_begin(&l->show);
	do
		rc = round_of(l, &good, err);
	while (rc > 0);
	signal = rc < 0 ? interrupt_caught() : 0;
	interrupt_end();
	if (rc < 0)
		step_give_back(&l->call);
	if (rc < 0 && l->stage.staff)
		staff_state(&l->staff, "stopped",
			!signal && err->code == ERR_CHECK ? RUN_FAILURE : RUN_PENDING);
	if (signal) {
		die_of(signal);
		return error_set(err, ERR_STATE, "interrupted by signal %d", signal);
	}
	if (rc < 0)
		return -1;
	buf_add(out, buf_str(&l->line));
	buf_addc(out, '\n');
	return good ? 0 : ERR_CHECK;
}
