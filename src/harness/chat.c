#include "src/harness/chat.h"
#include "src/harness/api_status.h"

enum { OK = 200, REDIRECT = 300, BAD = 400, PLAIN_SHOWN = 500 };

static void add_text(struct chat *c, const char *text)
{
	if (!text || !*text)
		return;
	if (c->text.len < TEXT_KEPT)
		buf_adds(&c->text, text);
	session_progress(c->session, 0, "text");
}

static void take_usage(struct session *s, const json *usage)
{
	int64_t input = json_get_int(usage, "prompt_tokens", 0);
	int64_t output = json_get_int(usage, "completion_tokens", 0);
	int64_t cached = json_get_int(json_get(usage, "prompt_tokens_details"), "cached_tokens", 0);

	if (!json_is_object(usage))
		return;
	/* Some servers send the sum so far with each event: the last one counts. */
	s->usage = (struct usage){-1, -1, -1, s->usage.cost_usd, 0};
	usage_add_tokens(&s->usage, input >= cached ? input - cached : 0, output, cached);
}

/* `stop` is what it said all of it; the others are reasons why it did not. */
static void take_finish(struct chat *c, const char *reason)
{
	if (!reason)
		return;
	c->ended = true;
	if (strcmp(reason, "length") == 0)
		c->cut = "the answer is cut off at the model's limit of tokens";
	else if (strcmp(reason, "content_filter") == 0)
		c->cut = "the API has filtered the answer";
	else if (strcmp(reason, "tool_calls") == 0 || strcmp(reason, "function_call") == 0)
		c->cut = "the model asks for a tool, and it was given none";
}

/* `code` may be a status, or a word for a limit. */
static void take_fault(struct chat *c, const json *error, long status)
{
	const json *code = json_get(error, "code");
	const char *text = json_get_str(error, "message"), *word = json_text(code);
	const char *type = json_get_str(error, "type");

	if (!text)
		text = json_text(error);
	if (status < BAD)
		status = (long)json_int(code, BAD);
	if ((word && api_word_limited(str_of(word))) || (type && api_word_limited(str_of(type))))
		c->session->rate_limited = true;
	if (c->session->rate_limited)
		session_verdict(c->session, HARNESS_UNAVAILABLE, str_of(text));
	else
		api_status_verdict(c->session, status, str_of(text ? text : "it does not say why"));
}

static void take_value(struct chat *c, const json *value)
{
	const json *choice = json_first(json_get(value, "choices"));
	const char *model = json_get_str(value, "model");
	const json *error = json_get(value, "error");

	if (model && *model)
		session_model(c->session, str_of(model));
	take_usage(c->session, json_get(value, "usage"));
	add_text(c, json_get_str(json_get(choice, "delta"), "content"));
	add_text(c, json_get_str(json_get(choice, "message"), "content"));
	take_finish(c, json_get_str(choice, "finish_reason"));
	if (error && !json_is_null(error))
		take_fault(c, error, OK);
}

static void take_event(struct chat *c, struct str data)
{
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	c->streamed = true;
	if (str_is(data, "[DONE]"))
		c->ended = true;
	else if (json_parse(&value, data, &ignored) == 0)
		take_value(c, value);
	else
		session_verdict(c->session, HARNESS_FAILURE, STR("an event of the API is no JSON"));
}

static void take_line(void *data, struct str line)
{
	struct chat *c = data;

	if (str_starts(line, "data:")) {
		take_event(c, str_trim(str_sub(line, 5, line.n)));
	} else if (!c->streamed && c->plain.len < WHOLE_KEPT) {
		buf_add(&c->plain, line);
		buf_addc(&c->plain, '\n');
	}
}

void chat_take(struct chat *c, struct str piece)
{
	c->lines.max = LINE_KEPT;
	c->lines.line = take_line;
	c->lines.data = c;
	lines_take(&c->lines, piece);
}

/* `... (try again in 20 s)` */
static void add_wait(struct chat *c)
{
	if (c->retry_after_s >= 0 && c->session->verdict == HARNESS_UNAVAILABLE)
		buf_addf(&c->session->fault, " (it says to try again in %ld s)", c->retry_after_s);
}

/* A fault that came with a status: its message is JSON, most of the time. */
static void end_fault(struct chat *c)
{
	CLEANUP(json_free) json *value = NULL;
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct str plain = str_trim(buf_str(&c->plain));
	struct error ignored;

	if (json_parse(&value, plain, &ignored) == 0 && json_get(value, "error")) {
		take_fault(c, json_get(value, "error"), c->status);
	} else {
		secrets_mask(&c->session->secrets, plain, &masked);
		buf_addf(&why, "the API answers with status %ld", c->status);
		if (c->status < BAD)
			buf_adds(&why, ", a redirect, which is not followed");
		else if (plain.n) {
			buf_adds(&why, ": ");
			buf_add(&why, first_bytes(buf_str(&masked), PLAIN_SHOWN));
		}
		api_status_verdict(c->session, c->status, buf_str(&why));
	}
	add_wait(c);
}

static void end_plain(struct chat *c)
{
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	if (json_parse(&value, str_trim(buf_str(&c->plain)), &ignored) == 0)
		take_value(c, value);
}

void chat_end(struct chat *c)
{
	struct session *s = c->session;

	lines_end(&c->lines);
	if (c->status >= REDIRECT) {
		end_fault(c);
		return;
	}
	if (!c->streamed)
		end_plain(c);
	session_text(s, buf_str(&c->text));
	if (s->judged)
		return;
	if (c->cut)
		session_verdict(s, HARNESS_FAILURE, str_of(c->cut));
	else if (!c->ended && c->streamed)
		session_verdict(s, HARNESS_UNAVAILABLE, STR("the API broke its answer off"));
	else if (!c->ended)
		session_verdict(s, HARNESS_FAILURE,
			STR("what the API answers is no answer of /chat/completions"));
	s->finished = true;
	s->exit_code = s->judged ? s->exit_code : 0;
}

void chat_release(struct chat *c)
{
	lines_release(&c->lines);
	buf_release(&c->plain);
	buf_release(&c->text);
}
