#include "src/base/clock.h"
#include "src/harness/output_parser.h"

/* ---- lines and tails ---- */

static void output_parser_end_line(struct line_splitter *l)
{
	buf_utf8_repair(&l->partial);
	if (l->dropping)
		l->dropped++;
	else if (str_trim(buf_str(&l->partial)).n)
		l->line(l->data, str_trim(buf_str(&l->partial)));
	l->dropping = false;
	buf_clear(&l->partial);
}

static void add_partial(struct line_splitter *l, struct str text)
{
	if (l->dropping)
		return;
	l->dropping = l->partial.len + text.n > l->max;
	if (l->dropping)
		buf_release(&l->partial);
	else
		buf_add(&l->partial, text);
}

void line_splitter_add(struct line_splitter *l, struct str piece)
{
	while (piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;

		add_partial(l, str_sub(piece, 0, n));
		if (!end)
			return;
		output_parser_end_line(l);
		piece = str_sub(piece, n + 1, piece.n);
	}
}

void line_splitter_end(struct line_splitter *l)
{
	if (l->partial.len || l->dropping)
		output_parser_end_line(l);
}

void tail_buffer_add(struct tail_buffer *t, struct str piece)
{
	buf_add(&t->kept, piece);
	if (t->kept.len <= 2 * t->max)
		return;
	t->cut = true;
	memmove(t->kept.s, t->kept.s + t->kept.len - t->max, t->max);
	buf_cut(&t->kept, t->max);
}

struct str output_parser_last_characters(struct str text, size_t chars)
{
	size_t from;

	text = str_trim(text);
	for (from = text.n; from && chars; chars--)
		do
			from--;
		while (from && (text.p[from] & 0xC0) == 0x80);
	return str_sub(text, from, text.n);
}

/* ---- output ---- */

static void output_parser_dispatch(struct session *s, const json *value)
{
	struct str type = harness_member(value, "type");

	for (const struct harness_handler *h = s->harness->handlers; h->handle; h++)
		if (!h->type || str_is(type, h->type)) {
			h->handle(s, value);
			return;
		}
}

static void output_parser_take_line(void *data, struct str line)
{
	struct output_parser *p = data;
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	session_output(p->session, line);
	if (p->session->harness->whole)
		return;
	if (line.p[0] == '{' && json_parse(&value, line, &ignored) == 0) {
		output_parser_dispatch(p->session, value);
		return;
	}
	tail_buffer_add(&p->plain, line);
	tail_buffer_add(&p->plain, STR("\n"));
}

static void take_error_line(void *data, struct str line)
{
	struct output_parser *p = data;

	session_output(p->session, line);
	if (p->session->harness->error_line)
		p->session->harness->error_line(p->session, line);
}

void output_parser_begin(struct output_parser *p, struct session *s)
{
	*p = (struct output_parser){.session = s,
		.lines = {.max = LINE_KEPT, .line = output_parser_take_line, .data = p},
		.error_lines = {.max = ERRORS_KEPT, .line = take_error_line, .data = p},
		.errors = {.max = ERRORS_KEPT},
		.plain = {.max = ERRORS_KEPT}};
}

/* The result has arrived: a program that hangs afterwards is ended, even if it still prints. */
static void note_end(struct session *s)
{
	if (!s->finished)
		s->until = 0;
	else if (!s->until)
		s->until = clock_ticks() + s->input->stay_ms;
}

bool output_parser_add(void *parser, bool errors, struct str piece)
{
	struct output_parser *p = parser;
	size_t room = WHOLE_KEPT - p->whole.len;

	if (errors) {
		tail_buffer_add(&p->errors, piece);
		line_splitter_add(&p->error_lines, piece);
	} else {
		if (p->session->harness->whole)
			buf_add(&p->whole, str_sub(piece, 0, piece.n < room ? piece.n : room));
		line_splitter_add(&p->lines, piece);
	}
	note_end(p->session);
	return !p->session->stop;
}

void output_parser_release(struct output_parser *p)
{
	buf_release(&p->lines.partial);
	buf_release(&p->error_lines.partial);
	buf_release(&p->errors.kept);
	buf_release(&p->plain.kept);
	buf_release(&p->whole);
	buf_release(&p->errors_masked);
	buf_release(&p->plain_masked);
}

/* ---- the exit ---- */

/* A tail that was cut may begin inside a secret: its first word is dropped. */
static void mask_tail(const struct secrets *secrets, struct tail_buffer *t, struct buf *out)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	size_t from = t->cut ? secrets_longest(secrets) : 0;

	buf_utf8_repair(&t->kept);
	secrets_mask(secrets, buf_str(&t->kept), &masked);
	while (t->cut && from < masked.len && !strchr(" \t\r\n", masked.s[from]))
		from++;
	buf_add(out, str_sub(buf_str(&masked), from < masked.len ? from : masked.len, masked.len));
}

static void end_output(struct output_parser *p)
{
	struct session *s = p->session;

	line_splitter_end(&p->lines);
	line_splitter_end(&p->error_lines);
	mask_tail(&s->secrets, &p->errors, &p->errors_masked);
	mask_tail(&s->secrets, &p->plain, &p->plain_masked);
	buf_utf8_repair(&p->whole);
	if (p->whole.len)
		s->harness->whole(s, buf_str(&p->whole));
}

/* The reason ends with the last words of stderr, else of stdout that could not be parsed. */
static void verdict_with_output(
	struct output_parser *p, enum harness_status verdict, const char *what)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;
	struct str last = output_parser_last_characters(buf_str(&p->errors_masked), DETAIL_KEPT);

	if (!last.n)
		last = output_parser_last_characters(buf_str(&p->plain_masked), DETAIL_KEPT);
	buf_adds(&reason, what);
	if (p->lines.dropped)
		buf_addf(&reason, " (%zu lines of more than %d MiB were dropped)", p->lines.dropped,
			LINE_KEPT >> 20);
	if (last.n) {
		buf_adds(&reason, ": ");
		buf_add(&reason, last);
	}
	session_verdict(p->session, verdict, buf_str(&reason));
}

/* The exit status counts if the output said nothing. */
static void judge_status(struct output_parser *p, int status)
{
	const struct session *s = p->session;
	struct arena *a = s->arena;

	if (status > 128)
		verdict_with_output(p, HARNESS_FAILURE,
			arena_printf(a, "it was killed by signal %d", status - 128));
	else if (status)
		verdict_with_output(p, HARNESS_FAILURE, arena_printf(a, "exit status %d", status));
	else if (s->harness->needs_finish && !s->finished)
		verdict_with_output(p, HARNESS_FAILURE, "it exited without a result");
}

static void judge_budget(struct session *s)
{
	double max = s->input->max_budget_usd;

	if (max > 0 && s->usage.cost_usd > max)
		session_verdict(s, HARNESS_BUDGET,
			str_of(arena_printf(s->arena, "it cost %.4f USD; the limit is %.4f USD",
				s->usage.cost_usd, max)));
}

/* A program that is still retrying at the time limit could not reach its service. */
static void judge_timeout(struct output_parser *p)
{
	struct session *s = p->session;
	const char *what =
		arena_printf(s->arena, "it did not end within %u s", s->input->timeout_s);

	if (!s->retrying) {
		verdict_with_output(p, HARNESS_TIMEOUT, what);
		return;
	}
	session_verdict(s, HARNESS_UNAVAILABLE,
		str_of(arena_printf(s->arena, "%s; it was retrying: %s", what,
			s->retry_reason.len ? s->retry_reason.s : "it gave no reason")));
	s->rate_limited = s->rate_limited || s->retry_limited;
}

void output_parser_end(struct output_parser *p, const struct process_end *end)
{
	struct session *s = p->session;

	end_output(p);
	s->exit_code = end->status;
	if (end->cancelled && !s->stop) {
		/* The caller asked for it: not a fault of the harness, and no reason to fall back.
		 */
		s->judged = false;
		s->verdict = HARNESS_SUCCESS;
		session_verdict(s, HARNESS_FAILURE, STR("cancelled"));
		return;
	}
	if (s->harness->judge)
		s->harness->judge(s, buf_str(&p->errors_masked));
	judge_budget(s);
	if (end->timed_out && s->finished && !s->retrying)
		return; /* it stayed after its final result */
	if (end->timed_out)
		judge_timeout(p);
	if (!s->recovered || end->status > 128)
		judge_status(p, end->status);
}
