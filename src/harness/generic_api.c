#include "src/base/json.h"
#include "src/sys/http.h"
#include "src/harness/output_parser.h"

/*
 * Any API with an OpenAI-compatible POST BASE/chat/completions. It has no tools and no files; its
 * result is the text of the answer.
 */

#define BASE_URL "DEV_TEAM_API_BASE_URL"
#define KEY      "DEV_TEAM_API_KEY"
#define MODEL    "DEV_TEAM_API_MODEL"

enum {
	HEALTH_MAX = 4 << 20,
	STATUS_OK = 200,
	STATUS_REDIRECT = 300,
	STATUS_ERROR = 400,
	PLAIN_SHOWN = 500
};

struct api_endpoint {
	const char *url;
	const char *headers[3]; /* NULL-terminated */
};

/* Returns NULL, or why the API cannot be called. Texts live in the arena, the key among them. */
static const char *endpoint_of(
	struct arena *a, const char *const *env, const char *path, struct api_endpoint *out)
{
	const char *base = harness_env_get(env, BASE_URL), *key = harness_env_get(env, KEY);
	struct str stem = str_of(base);

	if (!base || !*base)
		return BASE_URL " is not set";
	if (key && *key && !str_starts(stem, "https://") && !http_loopback(base))
		return "the key would be sent unencrypted to the host of " BASE_URL;
	while (str_ends(stem, "/"))
		stem.n--;
	out->url = arena_printf(a, "%.*s%s", (int)stem.n, stem.p, path);
	memset(out->headers, 0, sizeof(out->headers));
	out->headers[0] = "Content-Type: application/json";
	if (key && *key)
		out->headers[1] = arena_printf(a, "Authorization: Bearer %s", key);
	return NULL;
}

/* A server that lists no models is fine: not all of them do. */
static const char *health(struct arena *a, const char *const *env, unsigned seconds)
{
	struct http_answer answer = {0};
	struct api_endpoint at = {0};
	struct error err;
	const char *fault = endpoint_of(a, env, "/models", &at);
	struct http_request r = {.method = "GET",
		.url = at.url,
		.headers = at.headers,
		.connect_timeout_s = seconds,
		.timeout_s = seconds,
		.max = HEALTH_MAX};

	if (fault)
		return fault;
	if (http_send(&r, &answer, &err) < 0)
		fault = arena_dup(a, str_of(err.text));
	else if (answer.outcome != HTTP_ANSWERED)
		fault = arena_printf(a, "no answer from the API of " BASE_URL ": %s", answer.why);
	else if (harness_api_status_unavailable(answer.status))
		fault = arena_printf(
			a, "the API of " BASE_URL " answered with status %ld", answer.status);
	buf_release(&answer.body);
	return fault;
}

/* ---- the answer ---- */

/*
 * The answer of POST /chat/completions: a stream of events, one JSON value from a server that does
 * not stream, or a fault.
 */
struct chat_answer {
	struct session *session;
	long status; /* of HTTP */
	long retry_after_s;
	struct line_splitter lines;
	struct buf plain; /* everything before the first event */
	struct buf text;
	bool streamed;   /* an event has come */
	bool ended;      /* the model, or the stream, said that the answer is complete */
	const char *cut; /* why the answer is incomplete; NULL: it is complete */
};

static void generic_api_add_text(struct chat_answer *c, const char *text)
{
	if (!text || !*text)
		return;
	if (c->text.len < TEXT_KEPT)
		buf_adds(&c->text, text);
	session_progress(c->session, 0, "text");
}

/* Some servers send the sum so far with each event: the last one counts. */
static void generic_api_take_usage(struct session *s, const json *usage)
{
	static const struct usage_form form = {.input = "prompt_tokens",
		.output = "completion_tokens",
		.cache_read = "prompt_tokens_details.cached_tokens",
		.input_has_cached = true};

	if (!json_is_object(usage))
		return;
	usage_clear_tokens(&s->usage);
	(void)session_usage(s, usage, &form);
}

/* `stop` ends a complete answer; the other reasons leave it incomplete. */
static void take_finish(struct chat_answer *c, const char *reason)
{
	if (!reason)
		return;
	c->ended = true;
	if (strcmp(reason, "length") == 0)
		c->cut = "the answer was cut off at the token limit of the model";
	else if (strcmp(reason, "content_filter") == 0)
		c->cut = "the API filtered the answer";
	else if (strcmp(reason, "tool_calls") == 0 || strcmp(reason, "function_call") == 0)
		c->cut = "the model asked for a tool, but has none";
}

/* `code` may be a status or the name of a limit. */
static void generic_api_take_fault(struct chat_answer *c, const json *error, long status)
{
	const json *code = json_get(error, "code");
	const char *text = json_get_str(error, "message"), *word = json_text(code);
	const char *type = json_get_str(error, "type");

	if (!text)
		text = json_text(error);
	if (status < STATUS_ERROR)
		status = (long)json_int(code, STATUS_ERROR);
	if ((word && harness_api_code_limited(str_of(word))) ||
		(type && harness_api_code_limited(str_of(type))))
		c->session->rate_limited = true;
	if (c->session->rate_limited)
		session_verdict(c->session, HARNESS_UNAVAILABLE, str_of(text));
	else
		session_api_verdict(c->session, status, str_of(text ? text : "it gave no reason"));
}

static void generic_api_take_value(struct chat_answer *c, const json *value)
{
	const json *choice = json_first(json_get(value, "choices"));
	const char *model = json_get_str(value, "model");
	const json *error = json_get(value, "error");

	if (model && *model)
		session_model(c->session, str_of(model));
	generic_api_take_usage(c->session, json_get(value, "usage"));
	generic_api_add_text(c, json_get_str(json_get(choice, "delta"), "content"));
	generic_api_add_text(c, json_get_str(json_get(choice, "message"), "content"));
	take_finish(c, json_get_str(choice, "finish_reason"));
	if (error && !json_is_null(error))
		generic_api_take_fault(c, error, STATUS_OK);
}

static void generic_api_take_event(struct chat_answer *c, struct str data)
{
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	c->streamed = true;
	if (str_is(data, "[DONE]"))
		c->ended = true;
	else if (json_parse(&value, data, &ignored) == 0)
		generic_api_take_value(c, value);
	else
		session_verdict(
			c->session, HARNESS_FAILURE, STR("the API sent an event that is not JSON"));
}

static void generic_api_take_line(void *data, struct str line)
{
	struct chat_answer *c = data;

	if (str_starts(line, "data:")) {
		generic_api_take_event(c, str_trim(str_sub(line, 5, line.n)));
	} else if (!c->streamed && c->plain.len < WHOLE_KEPT) {
		buf_add(&c->plain, line);
		buf_addc(&c->plain, '\n');
	}
}

/* An error status; its body is usually JSON. */
static void generic_api_end_fault(struct chat_answer *c)
{
	CLEANUP(json_free) json *value = NULL;
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct str plain = str_trim(buf_str(&c->plain));
	struct error ignored;

	if (json_parse(&value, plain, &ignored) == 0 && json_get(value, "error")) {
		generic_api_take_fault(c, json_get(value, "error"), c->status);
	} else {
		secrets_mask(&c->session->secrets, plain, &masked);
		buf_addf(&why, "the API answered with status %ld", c->status);
		if (c->status < STATUS_ERROR)
			buf_adds(&why, ", a redirect; redirects are not followed");
		else if (plain.n) {
			buf_adds(&why, ": ");
			buf_add(&why, str_cut(buf_str(&masked), PLAIN_SHOWN));
		}
		session_api_verdict(c->session, c->status, buf_str(&why));
	}
	if (c->retry_after_s >= 0 && c->session->verdict == HARNESS_UNAVAILABLE)
		buf_addf(&c->session->fault, " (retry after %ld s)", c->retry_after_s);
}

static void end_plain(struct chat_answer *c)
{
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	if (json_parse(&value, str_trim(buf_str(&c->plain)), &ignored) == 0)
		generic_api_take_value(c, value);
}

static void chat_end(struct chat_answer *c)
{
	struct session *s = c->session;

	line_splitter_end(&c->lines);
	if (c->status >= STATUS_REDIRECT) {
		generic_api_end_fault(c);
		return;
	}
	if (!c->streamed)
		end_plain(c);
	session_output(s, buf_str(&c->text));
	session_text(s, buf_str(&c->text));
	if (s->judged)
		return;
	if (c->cut)
		session_verdict(s, HARNESS_FAILURE, str_of(c->cut));
	else if (!c->ended && c->streamed)
		session_verdict(s, HARNESS_UNAVAILABLE,
			STR("the API closed the connection before the end of its answer"));
	else if (!c->ended)
		session_verdict(
			s, HARNESS_FAILURE, STR("the answer is not one of /chat/completions"));
	s->finished = true;
	s->exit_code = s->judged ? s->exit_code : 0;
}

static void chat_release(struct chat_answer *c)
{
	buf_release(&c->lines.partial);
	buf_release(&c->plain);
	buf_release(&c->text);
}

/* ---- the request ---- */

static void print_request(struct buf *out, const char *model, struct str prompt)
{
	json *messages = json_array();
	CLEANUP(json_free)
	json *body = JSON_OBJECT(JSON_TEXT("model", model), JSON_VALUE("messages", messages),
		JSON_BOOL("stream", true),
		JSON_VALUE("stream_options", JSON_OBJECT(JSON_BOOL("include_usage", true))));

	json_push(messages,
		JSON_OBJECT(JSON_TEXT("role", "user"), JSON_VALUE("content", json_string(prompt))));
	json_print(out, body);
}

static int on_data(void *data, long status, struct str piece, struct error *err)
{
	struct chat_answer *chat = data;

	(void)err;
	chat->status = status;
	line_splitter_add(&chat->lines, piece);
	return 0;
}

static void generic_api_on_tick(void *data)
{
	struct chat_answer *chat = data;

	session_heartbeat(chat->session);
}

/* A transfer that failed decides the verdict; else the answer does. */
static void generic_api_judge(
	struct session *s, struct chat_answer *chat, const struct http_answer *a, unsigned limit)
{
	static const char *const words[] = {[HTTP_UNREACHABLE] = "the API cannot be reached",
		[HTTP_BROKEN] = "the API closed the connection"};

	chat->status = a->status;
	chat->retry_after_s = a->retry_after_s;
	switch (a->outcome) {
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
			str_of(arena_printf(s->arena, "%s: %s", words[a->outcome], a->why)));
		return;
	}
}

static int send_request(struct session *s, const struct api_endpoint *at, const char *model)
{
	CLEANUP(buf_release) struct buf body = BUF_INIT;
	CLEANUP(chat_release)
	struct chat_answer chat = {.session = s,
		.retry_after_s = -1,
		.lines = {.max = LINE_KEPT, .line = generic_api_take_line, .data = &chat}};
	struct http_request r = {.method = "POST",
		.url = at->url,
		.headers = at->headers,
		.timeout_s = s->input->timeout_s,
		.max = WHOLE_KEPT,
		.cancel = s->input->cancel,
		.on_data = on_data,
		.tick = generic_api_on_tick,
		.tick_ms = s->input->heartbeat_ms,
		.data = &chat};
	struct http_answer answer;
	struct error err;

	print_request(&body, model, s->input->prompt);
	r.body = buf_str(&body);
	if (http_send(&r, &answer, &err) < 0)
		session_verdict(s, HARNESS_FAILURE, str_of(err.text));
	else
		generic_api_judge(s, &chat, &answer, r.timeout_s);
	buf_release(&answer.body);
	return 0;
}

static int generic_api_invoke(struct session *s, struct error *err)
{
	const char *model = s->input->model ? s->input->model : harness_env_get(s->env, MODEL),
		   *why;
	struct api_endpoint at;

	if (!model || !*model)
		return error_set(err, ERR_INPUT,
			"no model given and " MODEL
			" is not set: generic-api has no default model");
	why = endpoint_of(s->arena, s->env, "/chat/completions", &at);
	if (!why)
		return send_request(s, &at, model);
	session_verdict(s, HARNESS_UNAVAILABLE, str_of(why));
	return 0;
}

const struct harness harness_generic_api = {
	.name = "generic-api",
	.range = "",
	.install = "set " BASE_URL ", and " KEY " if it requires a key",
	.can = {HARNESS_YES, HARNESS_NO, HARNESS_DEPENDS, HARNESS_YES, HARNESS_NO, HARNESS_PARTIAL},
	.credentials = HARNESS_NAMES(KEY),
	.variables = HARNESS_NAMES(BASE_URL, MODEL),
	.models_open = true,
	.health = health,
	.invoke = generic_api_invoke,
};
