#include "src/base/clock.h"
#include "src/harness/environment.h"
#include "src/harness/session.h"

enum { MODEL_KEPT = 200, FAULT_KEPT = 4000, COST_MAX = 1000000000 };

void session_begin(struct session *s)
{
	s->env = harness_environment(s->arena, s->harness, s->input);
	secrets_add(s->arena, &s->secrets, (const char *const *)environ, s->harness->credentials);
	secrets_add(s->arena, &s->secrets, s->env, s->harness->credentials);
	s->from = clock_ticks();
	s->cost_usd = -1;
	s->input_tokens = s->output_tokens = s->cache_tokens = -1;
	s->exit_code = -1;
}

void session_tell(struct session *s, struct harness_event *e)
{
	e->at = clock_now();
	if (s->listener)
		s->listener(s->listener_data, e);
}

/* The first `max` bytes, not within a character. */
static void replace(struct buf *b, struct str text, size_t max)
{
	buf_clear(b);
	if (text.n > max) {
		text.n = max;
		while (text.n && (text.p[text.n] & 0xC0) == 0x80)
			text.n--;
	}
	buf_add(b, text);
	utf8_mend(b);
}

void session_text(struct session *s, struct str text)
{
	replace(&s->text, text, TEXT_KEPT);
}

void session_model(struct session *s, struct str model)
{
	replace(&s->model, model, MODEL_KEPT);
}

void session_verdict(struct session *s, enum harness_status verdict, struct str why)
{
	bool replaces = verdict == HARNESS_UNAVAILABLE && s->verdict != HARNESS_UNAVAILABLE;

	if (s->judged && !replaces)
		return;
	s->judged = true;
	s->verdict = verdict;
	replace(&s->fault, why, FAULT_KEPT);
}

void session_progress(struct session *s, int64_t tokens, const char *message)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct harness_event e = {.kind = HARNESS_PROGRESS};

	s->progress += tokens > 0 ? tokens : 0;
	s->worked = s->worked || tokens > 0 || message;
	e.tokens = s->progress;
	if (message) {
		secrets_mask(&s->secrets, str_of(message), &masked);
		e.message = masked.s;
	}
	session_tell(s, &e);
}

static void count(int64_t *sum, int64_t more)
{
	if (more < 0)
		return;
	*sum = *sum < 0 ? more : *sum > JSON_MAX_INT - more ? JSON_MAX_INT : *sum + more;
}

void session_tokens(struct session *s, int64_t input, int64_t output, int64_t cache)
{
	count(&s->input_tokens, input);
	count(&s->output_tokens, output);
	count(&s->cache_tokens, cache);
}

const char *session_env(const struct session *s, const char *name)
{
	return environment_get(s->env, name);
}

void session_retrying(struct session *s, bool limited, struct str why)
{
	s->retrying = true;
	s->retry_limited = limited;
	replace(&s->retry_why, why, FAULT_KEPT);
}

void session_going(struct session *s)
{
	s->retrying = false;
}

void session_give_up(struct session *s, bool limited, struct str why)
{
	session_verdict(s, HARNESS_UNAVAILABLE, why);
	s->rate_limited = s->rate_limited || limited;
	s->stop = true;
}

static const char *masked(struct session *s, const struct buf *b, bool shapes)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (shapes)
		secrets_mask(&s->secrets, buf_str(b), &out);
	else
		secrets_mask_values(&s->secrets, buf_str(b), &out);
	return arena_dup(s->arena, buf_str(&out));
}

void session_result(struct session *s, struct harness_result *out)
{
	*out = (struct harness_result){
		.status = s->verdict,
		.exit_code = s->exit_code,
		/* What no run can cost was not understood. */
		.cost_usd = s->cost_usd >= 0 && s->cost_usd < COST_MAX ? s->cost_usd : -1,
		.input_tokens = s->input_tokens,
		.output_tokens = s->output_tokens,
		.cache_tokens = s->cache_tokens,
		.text = masked(s, &s->text, false),
		.model = s->model.len ? masked(s, &s->model, true) : NULL,
		.detail = s->verdict == HARNESS_SUCCESS ? NULL : masked(s, &s->fault, true),
		.rate_limited = s->verdict == HARNESS_UNAVAILABLE && s->rate_limited,
		.worked = s->worked || s->output_tokens > 0,
		.ms = clock_ticks() - s->from,
	};
}

unsigned session_seconds(const struct session *s)
{
	return s->input->timeout_s ? s->input->timeout_s : HARNESS_TIMEOUT_S;
}

void session_release(struct session *s)
{
	buf_release(&s->text);
	buf_release(&s->model);
	buf_release(&s->fault);
	buf_release(&s->retry_why);
	buf_release(&s->note);
}
