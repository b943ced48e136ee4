#include "context/lease.h"
#include "src/base/clock.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/tick/board.h"

const char *const board_decisions[] = {"approved", "held", "dropped", NULL};

static json *board_of(const struct tick_memory *m)
{
	return (json *)(uintptr_t)json_get(m->all, "board");
}

static bool tick_board_is_of(const json *request, const struct task *t)
{
	return t->id && json_str_is(request, "task", t->id);
}

bool board_has(const struct tick_memory *m, const struct task *t)
{
	const json *r = json_first(board_of(m));

	while (r && !tick_board_is_of(r, t))
		r = json_next(r);
	return r != NULL;
}

/* ---- its requests ---- */

/* What the action was called before: the same agent of the same state, for the same section. */
static const json *find_former(const json *board, const json *action)
{
	const char *id = json_get_str(action, "id");
	const json *r = json_get(board, id);

	for (r = r ? r : json_first(board); r && strcmp(json_key(r), id) != 0; r = json_next(r))
		if (str_eq(path_dir(json_key(r)), path_dir(id)) &&
			json_str_is(r, "section", json_get_str(action, "write_section")))
			break;
	return r;
}

bool board_put(struct tick_memory *m, const struct task *t, const json *actions)
{
	const json *old = board_of(m);
	json *new = json_object();
	bool added = false;
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	for (const json *r = json_first(old); r; r = json_next(r))
		if (!tick_board_is_of(r, t))
			json_put(new, json_key(r), json_copy(r));
	for (const json *a = json_first(actions); a; a = json_next(a)) {
		const json *former = find_former(old, a);
		const char *agent = json_get_str(a, "agent"),
			   *since = json_get_str(former, "since"),
			   *decision = json_get_str(former, "decision");

		added |= !json_get(old, json_get_str(a, "id"));
		json_put(new, json_get_str(a, "id"),
			JSON_OBJECT(JSON_TEXT("task", t->id),
				JSON_TEXT("what", agent ? agent : "script"),
				JSON_TEXT("section", json_get_str(a, "write_section")),
				JSON_TEXT("since", since ? since : now),
				JSON_IF(decision, JSON_TEXT("decision", decision))));
	}
	json_set(m->all, "board", new);
	return added;
}

static const char *decision_of(const struct tick_memory *m, const json *request)
{
	const char *own = json_get_str(request, "decision");
	const json *task = json_get(json_get(m->all, "tasks"), json_get_str(request, "task"));

	return own ? own : json_get_str(task, "board");
}

const char *board_refusal(const struct tick_memory *m, const struct task *t)
{
	for (const json *r = json_first(board_of(m)); r; r = json_next(r)) {
		const char *decision =
			tick_board_is_of(r, t) ? decision_of(m, r) : board_decisions[0];

		if (!decision || strcmp(decision, board_decisions[BOARD_HELD]) == 0)
			return arena_printf(m->arena, "'%s' %s since %s", json_key(r),
				decision ? "is held on the board; it waits"
					 : "waits on the board for approval",
				json_get_str(r, "since"));
	}
	return NULL;
}

const char *board_oldest(const struct tick_memory *m)
{
	const char *oldest = NULL;

	for (const json *r = json_first(board_of(m)); r; r = json_next(r)) {
		const char *since = json_get_str(r, "since");

		oldest = !oldest || strcmp(since, oldest) < 0 ? since : oldest;
	}
	return oldest;
}

void board_sweep(struct tick_memory *m, const struct backlog *b)
{
	json *board = json_inner(m->all, "board");

	for (const json *r = json_first(board), *next; r; r = next) {
		const char *id = json_get_str(r, "task");
		const struct task *t = backlog_find(b, id);

		next = json_next(r);
		if ((t && t->state == TASK_DONE) || tick_memory_is_gone(m, b, id))
			json_remove(board, r);
	}
}

/* ---- the board, for people ---- */

static void tick_board_describe(struct tick_memory *m, const json *request, json *list)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *task = json_get_str(request, "task"), *decision = decision_of(m, request),
		   *document = tick_memory_document(m, task);
	struct lease_holder h = {0};
	struct error ignored;
	bool taken = context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
		     lease_read(&f, &h, &ignored) == 0 && h.live && !lease_is_dead(m->arena, &h);

	if (!run_is_outstanding(document, json_key(request)))
		return;
	json_push(list, JSON_OBJECT(JSON_TEXT("id", json_key(request)), JSON_TEXT("task", task),
				JSON_TEXT("what", json_get_str(request, "what")),
				JSON_TEXT("state", taken      ? "taken"
						   : decision ? decision
							      : "waiting"),
				JSON_TEXT("since", json_get_str(request, "since")),
				JSON_IF(taken, JSON_TEXT("owner", h.owner)),
				JSON_TEXT("context_file", document)));
}

static void describe_all(struct tick_memory *m, json **list)
{
	*list = json_array();
	for (const json *r = json_first(board_of(m)); r; r = json_next(r))
		tick_board_describe(m, r, *list);
}

int board_list(struct arena *a, const char *repo, json **list, struct error *err)
{
	CLEANUP(tick_memory_close) struct tick_memory m = {0};
	const char *items;

	if (status_directory(a, repo, &items, err) < 0 || tick_memory_look(a, items, &m, err) < 0)
		return -1;
	describe_all(&m, list);
	return 0;
}

/* ---- decisions ---- */

struct deciding {
	struct tick_memory *memory;
	struct backlog backlog;
	enum board_decision decision;
	const json *list; /* as board_list() */
};

static bool tick_board_is_meant(const json *row, const char *word)
{
	return !word || json_str_is(row, "id", word) ||
	       task_same_id(json_get_str(row, "task"), word);
}

static int tick_board_check_word(const struct deciding *d, const char *word, struct error *err)
{
	const struct task *task;
	struct error ignored;
	bool found = !word || backlog_require(&d->backlog, word, &task, &ignored) == 0;

	for (const json *r = json_first(d->list); r; r = json_next(r)) {
		found |= tick_board_is_meant(r, word);
		if (tick_board_is_meant(r, word) && d->decision == BOARD_DROPPED &&
			json_str_is(r, "state", "taken"))
			return error_set(err, ERR_STATE,
				"'%s' works on '%s': stop that session, or end the work with "
				"'dev-team cancel %s --take-over'",
				json_get_str(r, "owner"), json_get_str(r, "id"),
				json_get_str(r, "task"));
	}
	return found ? 0
		     : error_set(err, ERR_INPUT,
			       "'%.200s' is neither a request on the board nor a task: 'dev-team "
			       "board list' shows the requests",
			       word);
}

static void decide_task(struct deciding *d, const struct task *t)
{
	for (const json *r = json_first(board_of(d->memory)); r; r = json_next(r))
		if (tick_board_is_of(r, t))
			json_drop((json *)(uintptr_t)r, "decision");
	JSON_SET(tick_memory_of(d->memory, t), JSON_TEXT("board", board_decisions[d->decision]));
}

static void decide_word(struct deciding *d, const char *word)
{
	json *request = (json *)(uintptr_t)json_get(board_of(d->memory), word);
	const char *id = json_get_str(request, "task");
	const struct task *t = NULL;
	struct error ignored;

	if (backlog_require(&d->backlog, request ? id : word, &t, &ignored) < 0)
		return;
	tick_memory_report(d->memory, EVENT_TICK_DECIDED, t,
		JSON_OBJECT(JSON_TEXT("decision", board_decisions[d->decision]),
			JSON_TEXT("subject", word)));
	if (d->decision == BOARD_DROPPED) {
		(void)board_put(d->memory, t, NULL);
		tick_memory_park(d->memory, t, "dropped from the board", 0);
	} else if (request)
		JSON_SET(request, JSON_TEXT("decision", board_decisions[d->decision]));
	else
		decide_task(d, t);
}

static int decide_all(struct deciding *d, const char *const *words, size_t *n, struct error *err)
{
	size_t w = 0;

	do
		if (tick_board_check_word(d, words[w], err) < 0)
			return -1;
	while (words[w] && words[++w]);
	for (const json *r = json_first(d->list); r; r = json_next(r)) {
		size_t i = 0;

		while (words[i] && !tick_board_is_meant(r, words[i]))
			i++;
		*n += !words[0] || words[i];
		if (!words[0])
			decide_word(d, json_get_str(r, "id"));
	}
	for (size_t i = 0; words[i]; i++)
		decide_word(d, words[i]);
	return 0;
}

int board_decide(struct arena *a, const char *repo, enum board_decision decision,
	const char *const *words, size_t *n, struct error *err)
{
	CLEANUP(tick_memory_close) struct tick_memory m = {0};
	CLEANUP(json_free) json *list = NULL;
	struct deciding d = {.memory = &m, .decision = decision};
	const char *items;

	*n = 0;
	if (tick_memory_edit(a, repo, &d.backlog, &m, &items, err) < 0)
		return -1;
	describe_all(&m, &list);
	d.list = list;
	return decide_all(&d, words, n, err) < 0 ? -1 : tick_memory_save(&m, err);
}
