#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/quota/quota.h"

/*
 * The burn-down of a window: how many of its tokens are left over time, as SVG that follows the
 * reader's light or dark scheme. Whole numbers only, so that the same ledger draws the same file.
 */

enum {
	WIDTH = 760,
	HEIGHT = 380,
	LEFT = 64,
	RIGHT = 740,
	TOP = 64,
	BOTTOM = 336,
	HOUR_S = 3600,
	DAY_S = 86400,
	TICKS_MAX = 8,
};

static const char style[] =
	"<style>\n"
	"text{font:12px system-ui,sans-serif;fill:#24292f}\n"
	".t{font-size:15px;font-weight:600}\n"
	".paper{fill:#ffffff}\n"
	".grid{stroke:#d0d7de}\n"
	".night{fill:#ddf4ff}\n"
	".left{fill:none;stroke:#0969da;stroke-width:2.5}\n"
	".target{fill:none;stroke:#1a7f37;stroke-width:2;stroke-dasharray:6 4}\n"
	".cap{stroke:#cf222e;stroke-width:2}\n"
	".now{stroke:#57606a;stroke-dasharray:2 3}\n"
	".held{stroke:#bf8700;stroke-width:6}\n"
	"@media(prefers-color-scheme:dark){\n"
	"text{fill:#e6edf3}\n"
	".paper{fill:#0d1117}\n"
	".grid{stroke:#30363d}\n"
	".night{fill:#132d4a}\n"
	".left{stroke:#58a6ff}\n"
	".target{stroke:#3fb950}\n"
	".cap{stroke:#ff7b72}\n"
	".now{stroke:#8b949e}\n"
	".held{stroke:#d29922}\n"
	"}\n"
	"</style>\n";

struct chart {
	struct buf *out;
	const struct quota_window *w;
	int64_t end; /* of the time that is shown */
};

static int x_of(const struct chart *c, int64_t t)
{
	int64_t span = c->end - c->w->start, in = t - c->w->start;

	return LEFT + (int)((in < 0 ? 0 : in > span ? span : in) * (RIGHT - LEFT) / span);
}

/* `used`: what is not left. */
static int y_of(const struct chart *c, int64_t used)
{
	int64_t most = c->w->quota, at = used < 0 ? 0 : used > most ? most : used;

	return TOP + (int)((double)at / (double)most * (BOTTOM - TOP) + 0.5);
}

static void line(const struct chart *c, const char *kind, int x1, int y1, int x2, int y2)
{
	buf_addf(c->out, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", kind, x1,
		y1, x2, y2);
}

static void label(const struct chart *c, int x, int y, const char *anchor, const char *text)
{
	buf_addf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
		text);
}

static void tokens_text(int64_t n, char *out, size_t size)
{
	if (n >= 10000000)
		(void)snprintf(out, size, "%lldM", (long long)(n / 1000000));
	else if (n >= 10000)
		(void)snprintf(out, size, "%lldk", (long long)(n / 1000));
	else
		(void)snprintf(out, size, "%lld", (long long)n);
}

static void draw_off_peak(const struct chart *c, const struct subscription_plan *p)
{
	int64_t t = c->w->start;

	while (p && p->off_peak && t < c->end) {
		bool on = quota_off_peak(p, t);
		int64_t next = quota_off_peak_next(p, t, on),
			to = next && next < c->end ? next : c->end;

		if (on)
			buf_addf(c->out,
				"<rect class=\"night\" x=\"%d\" y=\"%d\" width=\"%d\" "
				"height=\"%d\"/>\n",
				x_of(c, t), TOP, x_of(c, to) - x_of(c, t), BOTTOM - TOP);
		t = to;
	}
}

static void draw_grid(const struct chart *c)
{
	int64_t span = c->end - c->w->start, step = span > 2 * DAY_S ? DAY_S : HOUR_S;
	char text[CLOCK_TEXT];

	for (int i = 0; i <= 4; i++) {
		int64_t used = c->w->quota / 4 * i;

		tokens_text(c->w->quota - used, text, sizeof(text));
		line(c, "grid", LEFT, y_of(c, used), RIGHT, y_of(c, used));
		label(c, LEFT - 8, y_of(c, used) + 4, "end", i == 4 ? "0" : text);
	}
	while (span / step > TICKS_MAX)
		step *= 2;
	for (int64_t t = c->w->start; t <= c->end; t += step) {
		clock_text(t, text);
		text[step >= DAY_S ? 10 : 16] = '\0';
		label(c, x_of(c, t), BOTTOM + 18, "middle", text + (step >= DAY_S ? 5 : 11));
	}
}

static void draw_left(const struct chart *c, const struct quota_point *p, size_t n, int64_t now)
{
	int64_t used = 0;

	buf_addf(c->out, "<polyline class=\"left\" points=\"%d,%d", LEFT, y_of(c, 0));
	for (size_t i = 0; i < n && p[i].at <= now; i++) {
		buf_addf(c->out, " %d,%d %d,%d", x_of(c, p[i].at), y_of(c, used), x_of(c, p[i].at),
			y_of(c, p[i].consumed));
		used = p[i].consumed;
	}
	/* What was booked in another way, such as by a reconciliation. */
	buf_addf(c->out, " %d,%d %d,%d\"/>\n", x_of(c, now), y_of(c, used), x_of(c, now),
		y_of(c, c->w->consumed));
}

static void draw_legend(const struct chart *c, bool off_peak, int64_t reserved)
{
	static const struct {
		const char *kind, *text;
		int x;
	} rows[] = {{"left", "left", LEFT}, {"target", "target", 150}, {"cap", "hard cap", 250},
		{"held", "reserved", 360}};

	for (size_t i = 0; i < COUNT(rows) - !reserved; i++) {
		line(c, rows[i].kind, rows[i].x, 46, rows[i].x + 26, 46);
		label(c, rows[i].x + 32, 50, "start", rows[i].text);
	}
	if (!off_peak)
		return;
	buf_addf(c->out, "<rect class=\"night\" x=\"470\" y=\"39\" width=\"26\" height=\"14\"/>\n");
	label(c, 502, 50, "start", "off-peak");
}

static void draw_title(const struct chart *c, const struct quota_entry *e)
{
	char from[CLOCK_TEXT], to[CLOCK_TEXT];

	clock_text(c->w->start, from);
	clock_text(c->end, to);
	buf_addf(c->out, "<text class=\"t\" x=\"%d\" y=\"24\">", LEFT);
	buf_adds(c->out, c->w->plan);
	if (c->w->seat > 1)
		buf_addf(c->out, " (seat %u)", c->w->seat);
	buf_adds(c->out, ": tokens left</text>\n");
	buf_addf(c->out, "<text x=\"%d\" y=\"%d\">%.10s %.5s to %.10s %.5s UTC, ", LEFT, HEIGHT - 8,
		from, from + 11, to, to + 11);
	buf_adds(c->out, e->harness);
	buf_adds(c->out, "</text>\n");
}

void cli_put_chart(const struct quota_entry *e, const struct quota_window *w,
	const struct subscription_plan *p, const struct quota_point *points, size_t n, int64_t now,
	struct buf *out)
{
	struct chart c = {out, w, w->end};
	int64_t reserved = quota_reserved(e, w), at = now < w->end ? now : w->end;
	int x = x_of(&c, at);

	buf_addf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\" aria-label=\"tokens left\">\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	buf_adds(out, style);
	buf_addf(out, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
	draw_off_peak(&c, p);
	draw_grid(&c);
	line(&c, "target", LEFT, y_of(&c, 0), RIGHT, y_of(&c, quota_part(w->quota, w->pacing)));
	line(&c, "cap", LEFT, y_of(&c, w->cap), RIGHT, y_of(&c, w->cap));
	line(&c, "now", x, TOP, x, BOTTOM);
	if (reserved)
		line(&c, "held", x, y_of(&c, w->consumed), x, y_of(&c, w->consumed + reserved));
	draw_left(&c, points, n, at);
	draw_legend(&c, p && p->off_peak, reserved);
	draw_title(&c, e);
	buf_adds(out, "</svg>\n");
}
