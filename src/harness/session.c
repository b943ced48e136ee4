#include "src/base/clock.h"
#include "src/harness/environment.h"
#include "src/harness/lines.h"
#include "src/harness/session.h"

enum {
	MODEL_SHOWN = 200,
	FAULT_SHOWN = 4000,
	RAW_KEPT = 2 * TEXT_KEPT, /* of any text, until its secrets are masked */
	CHARACTER_MAX = 4,        /* bytes of one */
	COST_MAX = 1000000000
};

void session_begin(struct session *s)
{
	s->env = harness_environment(s->arena, s->harness, s->input);
	secrets_add(s->arena, &s->secrets, (const char *const *)environ, s->harness->credentials);
	secrets_add(s->arena, &s->secrets, s->env, s->harness->credentials);
	s->from = clock_ticks();
	s->usage = (struct usage)USAGE_NONE;
	s->exit_code = -1;
}

void session_tell(struct session *s, struct harness_event *e)
{
	e->at = clock_now();
	if (s->listener)
		s->listener(s->listener_data, e);
}

/* Not cut to what is shown of it: a secret must be whole when it is masked. */
static void replace(struct buf *b, struct str text)
{
	buf_clear(b);
	buf_add(b, first_bytes(text, RAW_KEPT));
	utf8_mend(b);
}

void session_text(struct session *s, struct str text)
{
	replace(&s->text, text);
}

void session_model(struct session *s, struct str model)
{
	replace(&s->model, model);
}

void session_verdict(struct session *s, enum harness_status verdict, struct str why)
{
	bool replaces = verdict == HARNESS_UNAVAILABLE && s->verdict != HARNESS_UNAVAILABLE;

	if (s->judged && !replaces)
		return;
	s->judged = true;
	s->verdict = verdict;
	replace(&s->fault, why);
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

const char *session_env(const struct session *s, const char *name)
{
	return environment_get(s->env, name);
}

void session_retrying(struct session *s, bool limited, struct str why)
{
	s->retrying = true;
	s->retry_limited = limited;
	replace(&s->retry_why, why);
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

/* The first `max` bytes of it. What RAW_KEPT has cut off may have been the end of a secret. */
static const char *masked(struct session *s, const struct buf *b, bool shapes, size_t max)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str text;

	if (shapes)
		secrets_mask(&s->secrets, buf_str(b), &out);
	else
		secrets_mask_values(&s->secrets, buf_str(b), &out);
	text = buf_str(&out);
	if (b->len + CHARACTER_MAX > RAW_KEPT) {
		size_t longest = secrets_longest(&s->secrets);

		text = first_bytes(text, text.n > longest ? text.n - longest : 0);
	}
	return arena_dup(s->arena, first_bytes(text, max));
}

void session_result(struct session *s, struct harness_result *out)
{
	*out = (struct harness_result){
		.status = s->verdict,
		.exit_code = s->exit_code,
		.usage = s->usage,
		.text = masked(s, &s->text, false, TEXT_KEPT),
		.model = s->model.len ? masked(s, &s->model, true, MODEL_SHOWN) : NULL,
		.detail = s->verdict == HARNESS_SUCCESS ? NULL
							: masked(s, &s->fault, true, FAULT_SHOWN),
		.rate_limited = s->verdict == HARNESS_UNAVAILABLE && s->rate_limited,
		.worked = s->worked || s->usage.output_tokens > 0,
	};
	out->usage.ms = clock_ticks() - s->from;
	/* A cost that no run can have was misread. */
	if (!(s->usage.cost_usd >= 0 && s->usage.cost_usd < COST_MAX))
		out->usage.cost_usd = -1;
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
