#include <stdarg.h>
#include "src/config/read.h"

enum { SHOWN = 60, FAULTS_MAX = 1000 };

void fault_add(struct faults *f, const char *file, const struct yml *at, const char *fmt, ...)
{
	char text[sizeof(f->list->text)];
	va_list args;

	if (f->n == FAULTS_MAX)
		return;
	if (f->n == f->cap) {
		struct error *more =
			arena_alloc(f->arena, (f->cap = f->cap ? f->cap * 2 : 4) * sizeof(*more));

		if (f->n)
			memcpy(more, f->list, f->n * sizeof(*more));
		f->list = more;
	}
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_at(&f->list[f->n++], file, at->line, at->col, "%s", text);
}

/* Copied up to 60 bytes, never through the middle of a character. */
const char *scalar_shown(struct arena *a, const struct yml *v)
{
	struct buf b = BUF_INIT;
	const char *copy;
	size_t n;

	if (v->kind != YML_SCALAR)
		return v->kind == YML_LIST ? "a list" : "a map";
	if (yml_is_null(v))
		return "nothing";
	n = v->text.n > SHOWN ? SHOWN : v->text.n;
	while (n < v->text.n && n && ((unsigned char)v->text.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)v->text.p[i];

		if (c < ' ' || c == 0x7f)
			buf_addf(&b, "\\x%02x", c);
		else
			buf_addc(&b, (char)c);
	}
	copy = arena_printf(a, "%s'%s%s'",
		!v->plain && v->text.n &&
				scalar_of(&(struct yml){.plain = true, .text = v->text}) !=
					SCALAR_TEXT
			? "the text "
			: "",
		b.s ? b.s : "", n < v->text.n ? ".." : "");
	buf_release(&b);
	return copy;
}

/* "'KEY' must be WHAT, not VALUE (HINT)" */
bool row_refuse(const struct reading *r, const struct row *row, const struct yml *v,
	const char *what, bool secret)
{
	fault_add(r->faults, r->file, v, "'%s' must be %s%s%s%s%s%s", row->key, what,
		secret ? "" : ", not ", secret ? "" : scalar_shown(r->faults->arena, v),
		row->hint ? " (" : "", row->hint ? row->hint : "", row->hint ? ")" : "");
	return false;
}
