/*
 * session.c: records which work items a session of the client drives, in the store
 * sessions/SESSION of the state directory. The store exists only while the session drives an item,
 * or its agents may work for one that was cancelled or taken over, so the script bin/dev-team can
 * tell without this program that it drives none. An item has the key
 * `item/DIGEST`, of the path of its document. `stop/DIGEST` counts the turns that ended too early,
 * of the session or of an agent: MARK, a blank, N. `works/AGENT` has the id of the action that
 * an agent in the background carries out, a blank, and its client; `ended/AGENT` is there when it
 * has ended.
 */
#include "context/file.h"
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/hook/hook_internal.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { LOCK_WAIT_MS = 10000, ITEMS_MAX = 1000 };

#define ITEM  "item/"
#define STOP  "stop/"
#define WORKS "works/"
#define ENDED "ended/"

struct session_store {
	const char *dir;
	bool there;
	struct store *store;
};

static void session_close(struct session_store *s)
{
	store_close(&s->store);
}

/* Opens the store; with `make`, creates it if necessary. */
static int session_open(struct arena *a, const char *session, enum store_mode mode, bool make,
	struct session_store *s, struct error *err)
{
	char *state;

	if (context_state_directory(a, &state, err) < 0)
		return -1;
	s->dir = path_join(a, state, "sessions");
	if (!make && store_exists(store_backend(), s->dir, session,
			     arena_printf(a, "%s.md", session), &s->there, err) < 0)
		return -1;
	s->there |= make;
	return s->there ? store_open(&s->store, store_backend(), s->dir, session, mode,
				  LOCK_WAIT_MS, err)
			: 0;
}

static const char *item_key(struct arena *a, const char *kind, const char *what)
{
	char sum[DIGEST_TEXT];

	digest_text(str_of(what), sum);
	return arena_printf(a, "%s%s", kind, sum);
}

static struct str item_text(struct arena *a, const struct hook_item *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free)
	json *j = JSON_OBJECT(JSON_TEXT("id", item->id), JSON_TEXT("workflow", item->workflow),
		JSON_TEXT("repo", item->repo), JSON_TEXT("context_file", item->context_file),
		JSON_TEXT("form", item->form),
		JSON_IF(item->conductor, JSON_TEXT("conductor", item->conductor)),
		JSON_IF(item->former, JSON_TEXT("former", item->former)),
		JSON_IF(item->client, JSON_TEXT("client", item->client)),
		JSON_IF(item->owner, JSON_TEXT("owner", item->owner)),
		JSON_IF(item->tick, JSON_TEXT("tick", item->tick)),
		JSON_IF(item->task, JSON_TEXT("task", item->task)),
		JSON_IF(item->poll, JSON_BOOL("poll", true)));

	json_print(&text, j);
	return arena_str(a, buf_str(&text));
}

static const char *hook_session_text_or_null(struct arena *a, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text ? arena_dup(a, str_of(text)) : NULL;
}

static int hook_session_read_item(
	struct arena *a, struct str text, struct hook_item *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const struct {
		const char *key, **to;
	} members[] = {{"id", &out->id}, {"workflow", &out->workflow}, {"repo", &out->repo},
		{"context_file", &out->context_file}, {"form", &out->form}};

	if (json_parse(&j, text, err) < 0)
		return -1;
	out->conductor = hook_session_text_or_null(a, j, "conductor");
	out->former = hook_session_text_or_null(a, j, "former");
	out->client = hook_session_text_or_null(a, j, "client");
	out->owner = hook_session_text_or_null(a, j, "owner");
	out->tick = hook_session_text_or_null(a, j, "tick");
	out->task = hook_session_text_or_null(a, j, "task");
	out->poll = json_is_true(json_get(j, "poll"));
	for (size_t i = 0; i < COUNT(members); i++) {
		const char *value = json_get_str(j, members[i].key);

		if (!value)
			return error_set(err, ERR_INPUT, "an item of a session lacks its '%s'",
				members[i].key);
		*members[i].to = arena_dup(a, str_of(value));
	}
	return 0;
}

int hook_session_check(const char *session, struct error *err)
{
	return path_is_id(str_of(session))
		       ? 0
		       : error_set(err, ERR_INPUT, "bad session id '%.120s'", session);
}

int hook_session_items(
	struct arena *a, const char *session, struct hook_items *out, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	struct store_kv *kv;
	size_t n = 0;
	int64_t at;

	*out = (struct hook_items){0};
	if (!path_is_id(str_of(session)))
		return 0;
	if (session_open(a, session, STORE_READ, false, &s, err) < 0)
		return -1;
	if (s.there && store_list(s.store, a, ITEM, NULL, ITEMS_MAX, &kv, &n, &at, err) != STORE_OK)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct hook_item item;

		if (hook_session_read_item(a, kv[i].value, &item, err) < 0)
			return -1;
		vec_push_in(a, out, item);
	}
	return 0;
}

int hook_session_begin(
	struct arena *a, const char *session, const struct hook_item *item, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	const struct store_op put = {.what = STORE_PUT,
		.key = item_key(a, ITEM, item->context_file),
		.value = item_text(a, item)};
	struct store_result result;
	struct store_kv old;

	if (hook_session_check(session, err) < 0 ||
		session_open(a, session, STORE_HOLD, true, &s, err) < 0 ||
		store_get(s.store, a, put.key, &old, err) != STORE_OK)
		return -1;
	if (old.mod && str_eq(old.value, put.value))
		return 0;
	return store_txn(s.store, a, &(struct store_txn){.ops = &put, .n_ops = 1}, &result, err) ==
			       STORE_OK
		       ? 0
		       : -1;
}

int hook_session_loop_ended(
	struct arena *a, const char *session, const char *context_file, struct error *err)
{
	const struct hook_item *ended = NULL;
	struct hook_items items;

	if (hook_session_items(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n && !ended; i++)
		if (strcmp(items.items[i].context_file, context_file) == 0)
			ended = &items.items[i];
	for (size_t i = 0; i < items.n && ended; i++) {
		struct hook_item item = items.items[i];

		if (&items.items[i] != ended && !(item.tick && ended->tick))
			continue;
		item.conductor = NULL;
		if (strcmp(item.form, "workflow") == 0)
			item.form = "command";
		if (hook_session_begin(a, session, &item, err) < 0)
			return -1;
	}
	return 0;
}

static const char *hook_session_ended_key(struct arena *a, const char *agent)
{
	return arena_printf(a, ENDED "%s", agent);
}

/* *marked: the session drives an item, so its record has the mark. */
static int mark_ended(
	struct arena *a, const char *session, const char *agent, bool *marked, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	const struct store_op put = {
		.what = STORE_PUT, .key = hook_session_ended_key(a, agent), .value = STR("1")};
	struct store_result result;
	struct store_kv *kv;
	size_t n = 0;
	int64_t at;

	*marked = false;
	if (session_open(a, session, STORE_HOLD, false, &s, err) < 0)
		return -1;
	if (!s.there)
		return 0;
	if (store_list(s.store, a, ITEM, NULL, 1, &kv, &n, &at, err) != STORE_OK)
		return -1;
	if (!n) /* removed by another process, and made again by this opening */
		return store_remove(s.store, err) == STORE_OK ? 0 : -1;
	*marked = true;
	return store_txn(s.store, a, &(struct store_txn){.ops = &put, .n_ops = 1}, &result, err) ==
			       STORE_OK
		       ? 0
		       : -1;
}

/* Whether the session drives an item that `former` drove before /clear. */
static bool has_adopted(struct arena *a, const char *session, const char *former)
{
	struct hook_items items;
	struct error ignored;

	if (hook_session_items(a, session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (items.items[i].owner && strcmp(items.items[i].owner, former) == 0)
			return true;
	return false;
}

int hook_session_agent_ended(
	struct arena *a, const char *session, const char *agent, struct error *err)
{
	struct store_paths sessions;
	bool marked;

	if (!path_is_id(str_of(session)) || !path_is_id(str_of(agent)))
		return 0;
	if (mark_ended(a, session, agent, &marked, err) < 0)
		return -1;
	if (marked)
		return 0;
	if (hook_sessions(a, &sessions, err) < 0)
		return -1;
	for (size_t i = 0; i < sessions.n; i++)
		if (has_adopted(a, sessions.items[i], session) &&
			mark_ended(a, sessions.items[i], agent, &marked, err) < 0)
			return -1;
	return 0;
}

int hook_session_agents_begin(struct arena *a, const char *session, const char *client,
	const struct hook_workers *w, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	struct store_op *puts = arena_alloc(a, (w->n + 1) * sizeof(*puts));
	struct store_result result;
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (path_is_id(str_of(w->items[i].agent)))
			puts[n++] = (struct store_op){.what = STORE_PUT,
				.key = arena_printf(a, WORKS "%s", w->items[i].agent),
				.value = str_of(
					arena_printf(a, "%s %s", w->items[i].action, client))};
	if (!n || !path_is_id(str_of(session)))
		return 0;
	if (session_open(a, session, STORE_HOLD, false, &s, err) < 0)
		return -1;
	return !s.there || store_txn(s.store, a, &(struct store_txn){.ops = puts, .n_ops = n},
				   &result, err) == STORE_OK
		       ? 0
		       : -1;
}

int hook_session_agents(struct arena *a, const char *session, const char *client,
	struct hook_workers *out, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	struct store_kv *kv, ended;
	size_t n = 0;
	int64_t at;

	*out = (struct hook_workers){0};
	if (session_open(a, session, STORE_READ, false, &s, err) < 0 ||
		(s.there && store_list(s.store, a, WORKS, NULL, ITEMS_MAX, &kv, &n, &at, err) !=
				    STORE_OK))
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t blank = str_find(kv[i].value, STR(" "));
		struct hook_worker w = {
			.agent = arena_dup(a, str_sub(kv[i].key, strlen(WORKS), kv[i].key.n)),
			.action = arena_dup(a, str_sub(kv[i].value, 0, blank))};

		if (!str_is(str_sub(kv[i].value, blank + 1, kv[i].value.n), client))
			continue; /* it ended with its client */
		if (store_get(s.store, a, hook_session_ended_key(a, w.agent), &ended, err) !=
			STORE_OK)
			return -1;
		w.ended = ended.mod != 0;
		vec_push_in(a, out, w);
	}
	return 0;
}

const char *hook_item_owner(const struct hook_item *item, const char *session)
{
	return item->owner ? item->owner : session;
}

bool hook_item_is_driven(struct arena *a, const struct hook_item *item)
{
	bool driven = item->client && (item->conductor || strcmp(item->form, "workflow") == 0);
	const char *own = driven ? process_client_name(a) : NULL;

	return own && strcmp(item->client, own) == 0;
}

/* Removes the store together with the last item, in one change. */
static int drop_item(struct arena *a, struct store *s, const char *context_file, struct error *err)
{
	const char *key = item_key(a, ITEM, context_file);
	const struct store_op del[] = {{.what = STORE_DEL, .key = key},
		{.what = STORE_DEL, .key = item_key(a, STOP, context_file)}};
	struct store_result result;
	enum store_status got;
	struct store_kv *kv;
	size_t n;
	int64_t at;

	got = store_list(s, a, ITEM, NULL, 2, &kv, &n, &at, err);
	if (got == STORE_OK && (n == 0 || (n == 1 && str_is(kv[0].key, key))))
		got = store_remove(s, err);
	else if (got == STORE_OK)
		got = store_txn(
			s, a, &(struct store_txn){.ops = del, .n_ops = COUNT(del)}, &result, err);
	return got == STORE_OK ? 0 : -1;
}

int hook_session_end(
	struct arena *a, const char *session, const char *context_file, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};

	if (!path_is_id(str_of(session)))
		return 0;
	if (session_open(a, session, STORE_HOLD, false, &s, err) < 0)
		return -1;
	return s.there ? drop_item(a, s.store, context_file, err) : 0;
}

/* Under the lock of `from`: what is marked there later is marked in `to`, which has the item by
 * then. */
int hook_session_move(struct arena *a, const char *from, const char *to,
	const struct hook_item *item, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	const char *client = process_client_name(a);
	struct hook_workers all;
	struct store_kv *kv;
	size_t n = 0;
	int64_t at;
	bool marked;

	if (hook_session_begin(a, to, item, err) < 0 ||
		hook_session_agents(a, from, client ? client : "", &all, err) < 0 ||
		hook_session_agents_begin(a, to, client ? client : "", &all, err) < 0 ||
		session_open(a, from, STORE_HOLD, false, &s, err) < 0)
		return -1;
	if (!s.there)
		return 0;
	if (store_list(s.store, a, ENDED, NULL, ITEMS_MAX, &kv, &n, &at, err) != STORE_OK)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct str agent = str_sub(kv[i].key, strlen(ENDED), kv[i].key.n);

		if (mark_ended(a, to, arena_dup(a, agent), &marked, err) < 0)
			return -1;
	}
	return drop_item(a, s.store, item->context_file, err);
}

int hook_item_end(
	struct arena *a, const char *session, const struct hook_item *item, struct error *err)
{
	if (hook_session_end(a, session, item->context_file, err) < 0)
		return -1;
	return item->owner ? hook_session_end(a, item->owner, item->context_file, err) : 0;
}

int hook_sessions(struct arena *a, struct store_paths *out, struct error *err)
{
	char *state;

	return context_state_directory(a, &state, err) < 0
		       ? -1
		       : store_names(store_backend(), a, path_join(a, state, "sessions"), out, err);
}

int hook_session_stop(struct arena *a, const char *session, const char *what, const char *mark,
	unsigned *n, struct error *err)
{
	CLEANUP(session_close) struct session_store s = {0};
	struct store_op put = {.what = STORE_PUT, .key = item_key(a, STOP, what)};
	struct store_result result;
	struct store_kv old;
	struct str head = str_of(arena_printf(a, "%s ", mark));

	*n = 1;
	if (hook_session_check(session, err) < 0 ||
		session_open(a, session, STORE_HOLD, false, &s, err) < 0)
		return -1;
	if (!s.there)
		return error_set(err, ERR_STATE, "the session '%s' drives no item", session);
	if (store_get(s.store, a, put.key, &old, err) != STORE_OK)
		return -1;
	if (old.mod && str_eq(str_sub(old.value, 0, head.n), head))
		*n += (unsigned)number_or(
			str_sub(old.value, head.n, old.value.n), HOOK_STOPS_MAX, HOOK_STOPS_MAX);
	if (*n > HOOK_STOPS_MAX)
		return 0;
	put.value = str_of(arena_printf(a, "%s%u", head.p, *n));
	return store_txn(s.store, a, &(struct store_txn){.ops = &put, .n_ops = 1}, &result, err) ==
			       STORE_OK
		       ? 0
		       : -1;
}

bool hook_is_end(struct str array)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	const json *first;

	if (json_parse(&j, array, &ignored) < 0)
		return false;
	first = json_at(j, 0);
	return first && json_str_is(first, "action", "done") && !json_get(first, "question") &&
	       !json_str_is(first, "result", "waiting");
}
