#include "src/sys/dot.h"
#include "src/sys/process.h"

enum {
	LABEL_MAX = 48, /* characters of a text; the rest is cut */
	SVG_MAX = 64 << 20,
	SVG_S = 120, /* time limit */
};

void dot_add_text(struct buf *out, struct str s)
{
	static const char *const named[] = {['<'] = "&lt;",
		['>'] = "&gt;",
		['&'] = "&amp;",
		['"'] = "&quot;",
		['\\'] = "&#92;&#92;"};
	size_t shown = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c & 0xc0) != 0x80 && ++shown > LABEL_MAX) {
			buf_adds(out, "…");
			return;
		}
		if (c < COUNT(named) && named[c])
			buf_adds(out, named[c]);
		else if (c == 0xef && i + 2 < s.n && (unsigned char)s.p[i + 1] == 0xbf &&
			 (unsigned char)s.p[i + 2] >= 0xbe)
			i += 2; /* U+FFFE, U+FFFF */
		else
			buf_addc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
	}
}

struct svg_output {
	struct buf *out, errors;
};

static bool take_svg(void *data, bool errors, struct str piece)
{
	struct svg_output *o = data;
	struct buf *to = errors ? &o->errors : o->out;

	buf_add(to, piece);
	return to->len <= SVG_MAX;
}

static void svg_output_release(struct svg_output *o)
{
	buf_release(&o->errors);
}

int dot_draw_svg(struct str dot, const char *instead, struct buf *out, struct error *err)
{
	CLEANUP(svg_output_release) struct svg_output o = {.out = out};
	struct process p = {.argv = (const char *const[]){"dot", "-q", "-Tsvg", NULL},
		.input = dot,
		.output = -1,
		.on_output = take_svg,
		.data = &o,
		.timeout_s = SVG_S};
	struct process_end end;
	size_t before = out->len;
	int rc;

	if (process_run(&p, &end, err) < 0)
		return !end.missing ? -1
				    : error_set(err, ERR_SYSTEM,
					      "cannot find 'dot', which draws SVG: install "
					      "Graphviz (the package 'graphviz'), or use %s",
					      instead);
	rc = process_check(&p, &end, "dot", buf_str(&o.errors), err);
	if (rc == 0 && (end.cancelled || !str_ends(buf_str(out), "</svg>\n")))
		rc = error_set(err, ERR_SYSTEM, "'dot' printed no SVG, or more than %d MiB",
			SVG_MAX >> 20);
	if (end.timed_out)
		rc = error_set(err, ERR_SYSTEM,
			"'dot' did not end within %d s: the diagram is too large for it; use %s",
			SVG_S, instead);
	if (rc < 0)
		buf_cut(out, before);
	return rc;
}
