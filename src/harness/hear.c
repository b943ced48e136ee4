#include "src/harness/hear.h"

void hearing_release(struct hearing *r)
{
	lines_release(&r->lines);
	lines_release(&r->error_lines);
	buf_release(&r->errors.kept);
	buf_release(&r->plain.kept);
	buf_release(&r->whole);
	buf_release(&r->said);
	buf_release(&r->printed);
}

static void take_line(void *data, struct str line)
{
	struct hearing *r = data;
	const struct harness *h = r->s->harness;
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	if (line.p[0] == '{' && json_parse(&value, line, &ignored) == 0) {
		h->object(r->s, value);
		return;
	}
	tail_take(&r->plain, line);
	tail_take(&r->plain, STR("\n"));
	if (h->line)
		h->line(r->s, line);
}

static void take_error_line(void *data, struct str line)
{
	struct hearing *r = data;

	if (r->s->harness->error_line)
		r->s->harness->error_line(r->s, line);
}

void hearing_begin(struct hearing *r, struct session *s)
{
	*r = (struct hearing){.s = s,
		.lines = {.max = LINE_KEPT, .line = take_line, .data = r},
		.error_lines = {.max = ERRORS_KEPT, .line = take_error_line, .data = r},
		.errors = {.max = ERRORS_KEPT},
		.plain = {.max = ERRORS_KEPT}};
}

static void hear_errors(struct hearing *r, struct str piece)
{
	tail_take(&r->errors, piece);
	lines_take(&r->error_lines, piece);
}

bool hearing_take(void *hearing, bool errors, struct str piece)
{
	struct hearing *r = hearing;
	size_t room = WHOLE_KEPT - r->whole.len;

	if (errors)
		hear_errors(r, piece);
	else if (r->s->harness->form == OUTPUT_WHOLE)
		buf_add(&r->whole, str_sub(piece, 0, piece.n < room ? piece.n : room));
	else
		lines_take(&r->lines, piece);
	return !r->s->stop;
}

/* What begins in the middle may begin in the middle of a secret: that word is left out. */
static void mask_tail(const struct secrets *secrets, struct tail *t, struct buf *out)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	size_t from = t->cut ? secrets_longest(secrets) : 0;

	utf8_mend(&t->kept);
	secrets_mask(secrets, buf_str(&t->kept), &masked);
	while (t->cut && from < masked.len && !strchr(" \t\r\n", masked.s[from]))
		from++;
	buf_add(out, str_sub(buf_str(&masked), from < masked.len ? from : masked.len, masked.len));
}

static void take_last(struct hearing *r)
{
	const struct harness *h = r->s->harness;

	lines_end(&r->lines);
	lines_end(&r->error_lines);
	mask_tail(&r->s->secrets, &r->errors, &r->said);
	mask_tail(&r->s->secrets, &r->plain, &r->printed);
	if (h->form != OUTPUT_WHOLE)
		return;
	utf8_mend(&r->whole);
	if (r->whole.len)
		h->whole(r->s, buf_str(&r->whole));
}

/* What it said last, of its stderr, else of what it printed and nobody understood. */
static struct str last_words(const struct hearing *r)
{
	struct str said = last_characters(buf_str(&r->said), DETAIL_KEPT);

	return said.n ? said : last_characters(buf_str(&r->printed), DETAIL_KEPT);
}

static void verdict_with_words(struct hearing *r, enum harness_status verdict, const char *what)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	struct str said = last_words(r);

	buf_adds(&why, what);
	if (r->lines.skipped)
		buf_addf(&why, " (%zu lines of more than %d MiB were left out)", r->lines.skipped,
			LINE_KEPT >> 20);
	if (said.n) {
		buf_adds(&why, ": ");
		buf_add(&why, said);
	}
	session_verdict(r->s, verdict, buf_str(&why));
}

/* What its exit status says, when nothing was said before. */
static void judge_status(struct hearing *r, int status)
{
	struct arena *a = r->s->arena;

	if (status > 128)
		verdict_with_words(r, HARNESS_FAILURE,
			arena_printf(a, "it was ended by signal %d", status - 128));
	else if (status)
		verdict_with_words(r, HARNESS_FAILURE, arena_printf(a, "exit status %d", status));
	else if (r->s->harness->needs_finish && !r->s->finished)
		verdict_with_words(r, HARNESS_FAILURE, "it ended without a result");
}

static void judge_budget(struct session *s)
{
	double max = s->input->max_budget_usd;

	if (max > 0 && s->usage.cost_usd > max)
		session_verdict(s, HARNESS_BUDGET,
			str_of(arena_printf(s->arena, "it cost %.4f USD; at most %.4f were allowed",
				s->usage.cost_usd, max)));
}

/* An end that we were asked for is no fault of the harness's, and leads to no other one. */
static void judge_cancel(struct session *s)
{
	s->judged = false;
	s->verdict = HARNESS_SUCCESS;
	session_verdict(s, HARNESS_FAILURE, STR("cancelled"));
}

/* What it was busy with when its time was over: trying again and again is not its content. */
static void judge_timeout(struct hearing *r)
{
	struct session *s = r->s;
	const char *what = arena_printf(s->arena, "it did not end within %u s", session_seconds(s));

	if (!s->retrying) {
		verdict_with_words(r, HARNESS_TIMEOUT, what);
		return;
	}
	session_verdict(s, HARNESS_UNAVAILABLE,
		str_of(arena_printf(s->arena, "%s; it was trying again: %s", what,
			s->retry_why.len ? s->retry_why.s : "nothing more is known")));
	s->rate_limited = s->rate_limited || s->retry_limited;
}

void hearing_end(struct hearing *r, const struct process_end *end)
{
	struct session *s = r->s;
	struct ending e = {.exit_code = end->status, .timed_out = end->timed_out};

	take_last(r);
	s->exit_code = end->status;
	if (end->cancelled && !s->stop) {
		judge_cancel(s);
		return;
	}
	e.cancelled = end->cancelled;
	e.errors = buf_str(&r->said);
	if (s->harness->judge)
		s->harness->judge(s, &e);
	judge_budget(s);
	if (end->timed_out)
		judge_timeout(r);
	judge_status(r, end->status);
}
