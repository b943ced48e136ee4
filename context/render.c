/* render.c: a document written, byte for byte as read but for what was changed. */
#include "context/internal.h"
#include "src/store/delta.h"
#include "src/store/store.h"

struct render_output {
	struct buf *text;
	struct delta *kept; /* may be NULL */
};

/* A range of the document as read. */
static void render_keep(const struct context *c, struct render_output *out, size_t from, size_t to)
{
	if (out->kept && from < to)
		delta_keep(out->kept, out->text->len, from, to - from);
	buf_add(out->text, str_sub(c->text, from, to));
}

static void render_add_value(struct buf *out, const struct field *f)
{
	if (f->raw || (f->value.n && f->value.p[0] == '{' &&
			      (str_is(f->key, "attempts") || str_is(f->key, "visits") ||
				      str_is(f->key, "failures"))))
		buf_add(out, f->value);
	else
		yaml_add_scalar(out, f->value);
}

static void replace_value(const struct context *c, struct buf *out, const struct field *f)
{
	CLEANUP(buf_release) struct buf scalar = BUF_INIT;

	render_add_value(&scalar, f);
	yaml_add_replaced(out, c->text, f->from, f->to, buf_str(&scalar));
}

static void drop_space(struct render_output *o)
{
	o->text->s[--o->text->len] = '\0';
	if (o->kept && o->kept->n)
		o->kept->items[o->kept->n - 1].n--;
}

static void render_head(const struct context *c, struct render_output *o)
{
	struct buf *out = o->text;
	size_t pos = 0;

	/* Fields that were read are in the order of the file. */
	for (size_t i = 0; i < c->fields.n; i++) {
		const struct field *f = &c->fields.items[i];

		if (!f->changed || !f->node)
			continue;
		render_keep(c, o, pos, f->from);
		if (!f->value.n && out->len && out->s[out->len - 1] == ' ')
			drop_space(o); /* as a key that was never set */
		replace_value(c, out, f);
		pos = f->to;
	}
	render_keep(c, o, pos, c->head_end);
	for (size_t i = 0; i < c->fields.n; i++) {
		if (c->fields.items[i].node)
			continue;
		buf_add(out, c->fields.items[i].key);
		buf_adds(out, c->fields.items[i].value.n ? ": " : ":");
		render_add_value(out, &c->fields.items[i]);
		buf_adds(out, c->newline);
	}
}

static void render_end_line(const struct context *c, struct buf *out)
{
	if (out->len && out->s[out->len - 1] != '\n')
		buf_adds(out, c->newline);
}

static void blank_line(const struct context *c, struct buf *out)
{
	render_end_line(c, out);
	if (!str_ends(buf_str(out), "\n\n") && !str_ends(buf_str(out), "\n\r\n"))
		buf_adds(out, c->newline);
}

static void add_content(const struct context *c, struct buf *out, const struct section *s)
{
	buf_adds(out, c->newline);
	context_escape(out, s->text);
	buf_adds(out, c->newline);
}

/* A section may be long, and one line of it be new: what begins at `at` is compared with what was
 * there. */
static void keep_common(
	const struct context *c, struct render_output *o, const struct section *s, size_t at)
{
	struct delta same = {0};

	if (!o->kept)
		return;
	delta_between(&same, str_sub(c->text, s->body, s->to),
		str_sub(buf_str(o->text), at, o->text->len));
	for (size_t i = 0; i < same.n; i++)
		delta_keep(o->kept, at + same.items[i].at, s->body + same.items[i].from,
			same.items[i].n);
	delta_release(&same);
}

static size_t render_sections(const struct context *c, struct render_output *o, size_t pos)
{
	struct buf *out = o->text;

	for (size_t i = 0; i < c->sections.n; i++) {
		const struct section *s = &c->sections.items[i];
		size_t at;

		if (s->added || !s->changed)
			continue;
		render_keep(c, o, pos, s->removed ? s->from : s->body);
		pos = s->to;
		if (s->removed)
			continue;
		render_end_line(c, out);
		at = out->len;
		add_content(c, out, s);
		if (s->to < c->text.n)
			buf_adds(out, c->newline);
		keep_common(c, o, s, at);
	}
	return pos;
}

int context_render(const struct context *c, struct buf *out, struct delta *kept, struct error *err)
{
	struct render_output o = {out, kept};

	buf_reserve(out, c->text.n + 4096);
	render_head(c, &o);
	render_keep(c, &o, render_sections(c, &o, c->head_end), c->text.n);
	for (size_t i = 0; i < c->sections.n; i++) {
		if (!c->sections.items[i].added || c->sections.items[i].removed)
			continue;
		blank_line(c, out);
		buf_addf(out, "<!-- section:%.*s -->%s", (int)c->sections.items[i].name.n,
			c->sections.items[i].name.p, c->newline);
		add_content(c, out, &c->sections.items[i]);
	}
	if (out->len > CONTEXT_MAX)
		return error_set(err, ERR_INPUT, "'%s' would grow over 16 MiB", c->file);
	return 0;
}
