#include "src/sys/http.h"
#include "src/harness/api_status.h"
#include "src/harness/chat.h"
#include "src/harness/environment.h"
#include "src/harness/session.h"

/*
 * Any API that answers POST BASE/chat/completions as OpenAI's does. It has no tools and no files:
 * what it makes is the text of its answer.
 */

#define BASE_URL "DEV_TEAM_API_BASE_URL"
#define KEY      "DEV_TEAM_API_KEY"
#define MODEL    "DEV_TEAM_API_MODEL"

enum { LIST_S = 5, LIST_MAX = 4 << 20, OK = 200, NO_SUCH = 404, NO_METHOD = 405 };

static const char *const credentials[] = {KEY, NULL};
static const char *const variables[] = {BASE_URL, MODEL, NULL};

struct place {
	const char *url;
	const char *headers[3]; /* NULL-ended */
};

/* NULL, or why nothing can be asked there. Texts are in the arena, the key among them. */
static const char *place_of(
	struct arena *a, const char *const *env, const char *path, struct place *out)
{
	const char *base = environment_get(env, BASE_URL), *key = environment_get(env, KEY);
	struct str stem = str_of(base);

	if (!base || !*base)
		return BASE_URL " is not set";
	if (key && *key && !str_starts(stem, "https://") && !http_loopback(base))
		return "the key would go unencrypted to the host of " BASE_URL;
	while (str_ends(stem, "/"))
		stem.n--;
	out->url = arena_printf(a, "%.*s%s", (int)stem.n, stem.p, path);
	memset(out->headers, 0, sizeof(out->headers));
	out->headers[0] = "Content-Type: application/json";
	if (key && *key)
		out->headers[1] = arena_printf(a, "Authorization: Bearer %s", key);
	return NULL;
}

/* Whether there is an answer at all; if not, *why. */
static bool asked(struct arena *a, const struct place *at, struct http_answer *answer,
	const char **why, struct error *err)
{
	struct http_request r = {.method = "GET",
		.url = at->url,
		.headers = at->headers,
		.connect_timeout_s = LIST_S,
		.timeout_s = LIST_S,
		.max = LIST_MAX};

	*why = NULL;
	if (http_send(&r, answer, err) < 0)
		*why = arena_dup(a, str_of(err->text));
	else if (answer->fate != HTTP_ANSWERED)
		*why = arena_printf(a, "the API of " BASE_URL " cannot be asked: %s", answer->why);
	else if (api_status_unavailable(answer->status))
		*why = arena_printf(
			a, "the API of " BASE_URL " answers with status %ld", answer->status);
	return !*why;
}

/* That it lists no models is no fault: not all of them do. */
static void health(
	struct arena *a, const struct harness *h, const char *const *env, struct availability *v)
{
	struct http_answer answer = {0};
	struct place at;
	struct error err;
	const char *why = place_of(a, env, "/models", &at);

	(void)h;
	if (!why)
		(void)asked(a, &at, &answer, &why, &err);
	buf_release(&answer.body);
	if (!why)
		return;
	v->available = false;
	v->reason = HEALTH_CHECK_FAILED;
	v->detail = why;
}

static const char *const *ids_of(struct arena *a, const json *list)
{
	const char **ids = arena_alloc(a, (json_len(list) + 1) * sizeof(*ids));
	size_t n = 0;

	for (const json *m = json_first(list); m; m = json_next(m)) {
		const char *id = json_get_str(m, "id");

		if (id)
			ids[n++] = arena_dup(a, str_of(id));
	}
	return ids;
}

static int list_models(struct arena *a, const char *const **out, struct error *err)
{
	const struct harness_input nothing = {0};
	const char *const *env = harness_environment(a, &harness_generic_api, &nothing);
	struct http_answer answer = {0};
	CLEANUP(json_free) json *value = NULL;
	struct place at;
	const char *why = place_of(a, env, "/models", &at);
	int rc = 0;

	if (why)
		return error_set(err, ERR_STATE, "%s", why);
	if (!asked(a, &at, &answer, &why, err))
		rc = error_set(err, ERR_SYSTEM, "%s", why);
	else if (answer.status != NO_SUCH && answer.status != NO_METHOD)
		rc = answer.status == OK
			     ? json_parse(&value, buf_str(&answer.body), err)
			     : error_set(err, ERR_SYSTEM,
				       "the API of " BASE_URL " lists its models with status %ld",
				       answer.status);
	if (value)
		*out = ids_of(a, json_get(value, "data"));
	buf_release(&answer.body);
	return rc;
}

static void print_request(struct buf *out, const char *model, struct str prompt)
{
	CLEANUP(json_free) json *body = json_object();
	json *messages = json_array(), *message = json_object(), *options = json_object();

	json_put_str(message, "role", STR("user"));
	json_put_str(message, "content", prompt);
	json_push(messages, message);
	json_put_str(body, "model", str_of(model));
	json_put(body, "messages", messages);
	json_put_bool(body, "stream", true);
	json_put_bool(options, "include_usage", true);
	json_put(body, "stream_options", options);
	json_print(out, body);
}

static int on_data(void *data, long status, struct str piece, struct error *err)
{
	struct chat *chat = data;

	(void)err;
	chat->status = status;
	chat_take(chat, piece);
	return 0;
}

static void on_tick(void *data)
{
	struct chat *chat = data;
	struct harness_event e = {.kind = HARNESS_HEARTBEAT, .tokens = chat->session->progress};

	session_tell(chat->session, &e);
}

/* What became of the transfer; what the answer says comes after that. */
static void judge(struct session *s, struct chat *chat, const struct http_answer *a, unsigned limit)
{
	static const char *const words[] = {[HTTP_UNREACHABLE] = "the API cannot be reached",
		[HTTP_BROKEN] = "the API broke its answer off"};

	chat->status = a->status;
	chat->retry_after_s = a->retry_after_s;
	switch (a->fate) {
	case HTTP_ANSWERED:
		chat_end(chat);
		return;
	case HTTP_CANCELLED:
		session_verdict(s, HARNESS_FAILURE, STR("cancelled"));
		return;
	case HTTP_TIMEOUT:
		session_verdict(s, HARNESS_TIMEOUT,
			str_of(arena_printf(s->arena, "it did not end within %u s", limit)));
		return;
	case HTTP_UNREACHABLE:
	case HTTP_BROKEN:
		session_verdict(s, HARNESS_UNAVAILABLE,
			str_of(arena_printf(s->arena, "%s: %s", words[a->fate], a->why)));
		return;
	}
}

static int send_request(struct session *s, const struct place *at, const char *model)
{
	CLEANUP(buf_release) struct buf body = BUF_INIT;
	CLEANUP(chat_release) struct chat chat = {.session = s, .retry_after_s = -1};
	struct http_request r = {.method = "POST",
		.url = at->url,
		.headers = at->headers,
		.timeout_s = s->input->timeout_s ? s->input->timeout_s : HARNESS_TIMEOUT_S,
		.max = WHOLE_KEPT,
		.cancel = s->input->cancel,
		.on_data = on_data,
		.tick = on_tick,
		.tick_ms = s->heartbeat_ms,
		.data = &chat};
	struct http_answer answer;
	struct error err;

	print_request(&body, model, s->input->prompt);
	r.body = buf_str(&body);
	if (http_send(&r, &answer, &err) < 0)
		session_verdict(s, HARNESS_FAILURE, str_of(err.text));
	else
		judge(s, &chat, &answer, r.timeout_s);
	buf_release(&answer.body);
	return 0;
}

static int invoke(struct session *s, struct error *err)
{
	const char *model = s->input->model ? s->input->model : session_env(s, MODEL), *why;
	struct place at;

	if (!model || !*model)
		return error_set(err, ERR_INPUT,
			"no model is given, and " MODEL " is not set: generic-api has none of its "
			"own");
	why = place_of(s->arena, s->env, "/chat/completions", &at);
	if (!why)
		return send_request(s, &at, model);
	session_verdict(s, HARNESS_UNAVAILABLE, str_of(why));
	return 0;
}

const struct harness harness_generic_api = {
	.name = "generic-api",
	.range = "",
	.install = "set " BASE_URL ", and " KEY " unless it wants none",
	.can = {[FRESH_CONTEXT] = CAPABLE_YES,
		[CUSTOM_TOOLS] = CAPABLE_NO,
		[STREAMING] = CAPABLE_DEPENDS,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_NO,
		[ARTIFACT_WRITES] = CAPABLE_PARTIAL},
	.credentials = credentials,
	.variables = variables,
	.models_open = true,
	.health = health,
	.list_models = list_models,
	.invoke = invoke,
};
