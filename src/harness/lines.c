#include "src/harness/lines.h"

static void pass(struct lines *l)
{
	utf8_mend(&l->part);
	if (l->skipping)
		l->skipped++;
	else if (str_trim(buf_str(&l->part)).n)
		l->line(l->data, str_trim(buf_str(&l->part)));
	l->skipping = false;
	buf_clear(&l->part);
}

static void keep(struct lines *l, struct str text)
{
	if (l->skipping)
		return;
	l->skipping = l->part.len + text.n > l->max;
	if (l->skipping)
		buf_release(&l->part);
	else
		buf_add(&l->part, text);
}

void lines_take(struct lines *l, struct str piece)
{
	while (piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;

		keep(l, str_sub(piece, 0, n));
		if (!end)
			return;
		pass(l);
		piece = str_sub(piece, n + 1, piece.n);
	}
}

void lines_end(struct lines *l)
{
	if (l->part.len || l->skipping)
		pass(l);
}

void lines_release(struct lines *l)
{
	buf_release(&l->part);
}

void tail_take(struct tail *t, struct str piece)
{
	struct buf last = BUF_INIT;

	if (piece.n > t->max) {
		piece = str_sub(piece, piece.n - t->max, piece.n);
		buf_clear(&t->kept);
		t->cut = true;
	}
	buf_add(&t->kept, piece);
	if (t->kept.len <= 2 * t->max)
		return;
	t->cut = true;
	buf_add(&last, str_sub(buf_str(&t->kept), t->kept.len - t->max, t->kept.len));
	buf_release(&t->kept);
	t->kept = last;
}

struct str last_characters(struct str text, size_t chars)
{
	size_t from;

	text = str_trim(text);
	for (from = text.n; from && chars; chars--)
		do
			from--;
		while (from && (text.p[from] & 0xC0) == 0x80);
	return str_sub(text, from, text.n);
}

struct str first_bytes(struct str text, size_t max)
{
	if (text.n <= max)
		return text;
	while (max && (text.p[max] & 0xC0) == 0x80)
		max--;
	return str_sub(text, 0, max);
}
