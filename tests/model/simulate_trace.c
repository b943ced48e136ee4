#include <stdarg.h>
#include "src/base/clock.h"
#include "tests/model/simulate_play.h"

static const char *const fault_words[] = {
	[SIM_NONE] = "",
	[SIM_EIO] = "fails with EIO",
	[SIM_ENOSPC] = "finds the disk full",
	[SIM_HALF] = "fails half done",
	[SIM_STOP] = "is never made: the machine stops",
	[SIM_STOP_AFTER] = "is the last: the machine stops",
	[SIM_STOP_HALF] = "is half made: the machine stops",
};

static void line_begin(struct play *p)
{
	char now[CLOCK_TEXT];

	clock_text(p->simulator->now, now);
	buf_addf(p->trace, "%4u  %s  ", p->calls, now);
}

/* p->said has what was called. */
void trace_call(struct play *p, const char *result)
{
	if (!p->trace)
		return;
	line_begin(p);
	buf_addf(p->trace, "%s\n", p->said.s);
	if (p->fired)
		buf_addf(p->trace, "      disk call %u %s\n", p->fault_at, fault_words[p->fault]);
	buf_addf(p->trace, "      %s\n", p->stopped ? "the process did not live to say" : result);
}

void trace_note(struct play *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!p->trace)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line_begin(p);
	buf_addf(p->trace, "%s\n", text);
}

void trace_actions(struct buf *out, const json *actions)
{
	const json *first = json_first(actions);

	if (first && strcmp(json_get_str(first, "action"), "done") == 0) {
		buf_addf(out, "done: %s, %s", json_get_str(first, "result"),
			json_get_str(first, "reason"));
		return;
	}
	for (const json *a = first; a; a = json_next(a))
		buf_addf(out, "%s%s", a == first ? "asks for " : ", ", json_get_str(a, "id"));
}

/* On one line, at its first words. */
void trace_text(struct buf *out, struct str text)
{
	size_t n = text.n > 60 ? 60 : text.n;

	buf_addc(out, '"');
	for (size_t i = 0; i < n; i++)
		buf_addc(out,
			(unsigned char)text.p[i] < ' ' || (text.p[i] & 0x80) ? '.' : text.p[i]);
	buf_addf(out, "\"%s", n < text.n ? "..." : "");
}
