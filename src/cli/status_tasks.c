/*
 * status_tasks.c: the tasks of the backlog among the work items that `status` shows.
 */
#include "src/cli/cli.h"
#include "src/run/status.h"
#include "src/tick/board.h"
#include "src/verify/attest.h"

static json *find_item(json *items, const struct task *t)
{
	const json *i = json_first(items);

	while (i && !(t->id && json_get_str(i, "id") && task_same_id(json_get_str(i, "id"), t->id)))
		i = json_next(i);
	return (json *)(uintptr_t)i;
}

static void set_wait(struct tick_memory *m, json *item, const struct task *t, const char *status,
	const char *why, const char *verb)
{
	JSON_SET(item, JSON_TEXT("status", status), JSON_TEXT("reason", why),
		JSON_TEXT("continue", arena_printf(m->arena, "dev-team %s %s", verb, t->id)));
}

static void add_task(struct tick_memory *m, struct backlog *b, const struct task *t, json *items)
{
	const char *parked = tick_memory_parked(m, t), *reason, *since;
	const json *of = tick_memory_find(m, t);
	const char *others = sibling_text(m->arena, json_get(of, "others"), false);
	json *item = find_item(items, t);

	if (!item && t->id && (item = status_lost(tick_memory_document(m, t->id))))
		json_push(items, item);
	if (!item) {
		reason = json_get_str(of, json_get(of, "failure") ? "failure" : "reason");
		since = json_get_str(of, "since");
		item = JSON_OBJECT(JSON_TEXT("id", task_name(t)), JSON_TEXT("status", "queued"),
			JSON_TEXT("state", task_state_word(t->state)),
			JSON_TEXT("reason", reason ? reason : tick_waiting_reason(b, t)),
			JSON_IF(since, JSON_TEXT("since", since)), JSON_TEXT("file", t->file));
		json_push(items, item);
	}
	if (others)
		JSON_SET(item, JSON_TEXT("reason", arena_printf(m->arena, "%s; %s",
							   json_get_str(item, "reason"), others)));
	if (parked && t->id) {
		set_wait(m, item, t, "parked", parked,
			tick_memory_parked_item(m, t) ? "retry" : "backlog release");
		JSON_SET(item, JSON_TEXT("since", json_get_str(of, "parked")));
	} else if (!json_str_is(item, "status", "idle"))
		return;
	else if (board_refusal(m, t))
		set_wait(m, item, t, "queued", board_refusal(m, t), "board approve");
	else if (board_has(m, t))
		JSON_SET(item, JSON_TEXT("status", "queued"), JSON_TEXT("reason", BOARD_READY),
			JSON_TEXT("continue", "/dev-team:poll"));
}

int cli_add_tasks(const char *repo, const char *dir, json **items, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(tick_memory_close) struct tick_memory m = {0};
	struct backlog b;

	if (backlog_read(&a, repo, &b, err) < 0 || tick_memory_look(&a, dir, &m, err) < 0) {
		json_free(items);
		return -1;
	}
	tick_memory_name(&m, &b);
	for (size_t i = 0; i < b.n; i++)
		if (!b.tasks[i].hidden && b.tasks[i].state != TASK_DONE)
			add_task(&m, &b, &b.tasks[i], *items);
	status_sort(items);
	return 0;
}
