/*
 * tick.c: the loop of several tasks of the backlog. One conductor, or session, drives them all: the
 * step between its arrays is a tick, which may also start tasks.
 */
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/hook/loop.h"
#include "src/run/status.h"
#include "src/tick/tick.h"

int hook_tick_record(struct arena *a, const char *session, const struct hook_item *like,
	const char *items, const json *array, struct error *err)
{
	struct hook_items known;

	if (hook_session_items(a, session, &known, err) < 0)
		return -1;
	for (const json *it = json_first(array); it; it = json_next(it)) {
		const char *id = json_get_str(it, "id");
		struct hook_item item = *like;
		size_t i = 0;

		if (!json_get(it, "action") || json_str_is(it, "action", "done"))
			continue;
		item.id = arena_dup(a, (struct str){id, strcspn(id, "/.")});
		item.context_file = arena_printf(a, "%s/%s.md", items, item.id);
		while (i < known.n &&
			(strcmp(known.items[i].context_file, item.context_file) != 0 ||
				strcmp(known.items[i].form, item.form) != 0))
			i++;
		if (i == known.n && hook_session_begin(a, session, &item, err) < 0)
			return -1;
	}
	return 0;
}

/* What agents did not have to wait for ends before the tick looks at it. */
static int await_scripts(struct hook_loop *l, struct error *err)
{
	struct hook_items items;

	if (hook_session_items(l->arena, l->session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
		struct error ignored;
		bool late;

		if (items.items[i].tick &&
			hook_outstanding(items.items[i].context_file, &o, &ignored) == 0 &&
			hook_loop_run_scripts(l, o.array, true, &late, err) < 0)
			return -1;
	}
	return 0;
}

static int end_finished(struct hook_loop *l, struct error *err)
{
	struct hook_items items;

	if (hook_session_items(l->arena, l->session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++)
		if (items.items[i].tick && hook_item_over(l->arena, l->session, &items.items[i]) &&
			hook_item_end(l->arena, l->session, &items.items[i], err) < 0)
			return -1;
	return 0;
}

static const char *join_ids(struct arena *a, const json *array)
{
	CLEANUP(buf_release) struct buf ids = BUF_INIT;

	for (const json *i = json_first(array); i; i = json_next(i))
		buf_addf(&ids, "%s%s", ids.len ? "," : "", json_get_str(i, "id"));
	return arena_dup(a, buf_str(&ids));
}

/* One tick. If it requested only scripts and these have ended, *next stays NULL, and *returned
 * names them. */
static int make_tick(struct hook_loop *l, const char **returned, json **next, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *array = NULL, *agents = NULL;
	uint64_t max = 1;
	struct tick_call call = {.mode = l->item.poll ? TICK_POLL : TICK_CARRY_OUT,
		.repo = l->item.repo,
		.task = l->item.task,
		.owner = hook_item_owner(&l->item, l->session),
		.returned = *returned};
	const char *items;
	int status;
	bool late;

	(void)number_digits(str_of(l->item.tick), &max);
	call.max_concurrent = (int64_t)max;
	if (status_directory(l->arena, l->item.repo, &items, err) < 0 ||
		tick(l->arena, &call, &text, &status, err) < 0 ||
		json_parse(&array, buf_str(&text), err) < 0 ||
		hook_tick_record(l->arena, l->session, &l->item, items, array, err) < 0)
		return -1;
	if (status) {
		*next = json_copy(array);
		return end_finished(l, err);
	}
	agents = hook_loop_copy_kind(array, false);
	if (hook_loop_run_scripts(l, array, !json_len(agents), &late, err) < 0)
		return -1;
	if (json_len(agents) || late)
		*next = json_len(agents) ? json_copy(agents) : json_copy(array);
	else
		*returned = join_ids(l->arena, array);
	return 0;
}

int hook_tick_advance(struct hook_loop *l, const char *returned, json **next, struct error *err)
{
	*next = NULL;
	if (await_scripts(l, err) < 0)
		return -1;
	while (!*next)
		if (make_tick(l, &returned, next, err) < 0) {
			json_free(next);
			return -1;
		}
	return 0;
}
