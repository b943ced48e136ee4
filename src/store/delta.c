#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/store/store.h"

/* ---- copies ---- */

void delta_keep(struct delta *d, size_t at, size_t from, size_t n)
{
	struct delta_copy *last = d->n ? &d->items[d->n - 1] : NULL;

	if (!n)
		return;
	if (last && last->at + last->n == at && last->from + last->n == from) {
		last->n += n;
		return;
	}
	vec_push(d, (struct delta_copy){at, from, n});
}

void delta_release(struct delta *d)
{
	vec_release(d);
}

/* ---- comparing two texts ---- */

enum { STRIDE = 4096 };

static size_t same_start(struct str a, struct str b)
{
	size_t max = a.n < b.n ? a.n : b.n, n = 0;

	while (max - n >= STRIDE && memcmp(a.p + n, b.p + n, STRIDE) == 0)
		n += STRIDE;
	while (n < max && a.p[n] == b.p[n])
		n++;
	return n;
}

static size_t same_end(struct str a, struct str b, size_t max)
{
	size_t n = 0;

	while (max - n >= STRIDE &&
		memcmp(a.p + a.n - n - STRIDE, b.p + b.n - n - STRIDE, STRIDE) == 0)
		n += STRIDE;
	while (n < max && a.p[a.n - n - 1] == b.p[b.n - n - 1])
		n++;
	return n;
}

static bool inside_character(struct str s, size_t at)
{
	return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

/* The common start ends after a whole line, or at least after a whole character. */
static size_t end_of_lines(struct str s, size_t n)
{
	const char *nl = n && n < s.n ? memrchr(s.p, '\n', n) : NULL;

	if (nl)
		return (size_t)(nl - s.p) + 1;
	while (n && inside_character(s, n))
		n--;
	return n;
}

/* The common end begins with a whole line, or at least with a whole character. */
static size_t begin_of_lines(struct str s, size_t n)
{
	size_t at = s.n - n;
	const char *nl;

	if (!n || !at || s.p[at - 1] == '\n')
		return n;
	nl = memchr(s.p + at, '\n', n);
	if (nl)
		return (size_t)(s.p + s.n - nl - 1);
	while (at < s.n && inside_character(s, at))
		at++;
	return s.n - at;
}

void delta_between(struct delta *d, struct str old_text, struct str new_text)
{
	size_t start = same_start(old_text, new_text), end, rest;

	if (start < old_text.n || start < new_text.n)
		start = start == new_text.n ? start : end_of_lines(new_text, start);
	rest = (old_text.n < new_text.n ? old_text.n : new_text.n) - start;
	end = begin_of_lines(new_text, same_end(old_text, new_text, rest));
	delta_keep(d, 0, 0, start);
	delta_keep(d, new_text.n - end, old_text.n - end, end);
}

/* ---- bytes that are not UTF-8 ---- */

static void add_hex(struct buf *out, struct str s)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < s.n; i++) {
		buf_addc(out, digits[(unsigned char)s.p[i] >> 4]);
		buf_addc(out, digits[s.p[i] & 15]);
	}
}

static bool add_bytes(struct buf *out, struct str hex)
{
	uint64_t byte;

	for (; hex.n; hex = str_sub(hex, 2, hex.n)) {
		if (hex.n == 1 || !number_hex(str_sub(hex, 0, 2), &byte))
			return false;
		buf_addc(out, (char)byte);
	}
	return true;
}

/* ---- the JSON ---- */

static void write_new(struct json_writer *w, struct str s)
{
	CLEANUP(buf_release) struct buf hex = BUF_INIT;

	if (!str_utf8_fault(s)) {
		json_write_str(w, NULL, s);
		return;
	}
	add_hex(&hex, s);
	json_write_open(w, NULL, '{');
	json_write_str(w, "hex", buf_str(&hex));
	json_write_close(w, '}');
}

static void write_range(struct json_writer *w, size_t from, size_t to)
{
	json_write_open(w, NULL, '[');
	json_write_int(w, NULL, (int64_t)from);
	json_write_int(w, NULL, (int64_t)to);
	json_write_close(w, ']');
}

void delta_write(struct json_writer *w, const char *key, const struct delta *d, struct str new_text)
{
	size_t done = 0;

	json_write_open(w, key, '[');
	for (size_t i = 0; i < d->n; i++) {
		struct delta_copy c = d->items[i];
		size_t end = c.at + c.n < new_text.n ? c.at + c.n : new_text.n;

		if (c.at < done || c.at >= end)
			continue;
		if (c.at > done)
			write_new(w, str_sub(new_text, done, c.at));
		write_range(w, c.from, c.from + (end - c.at));
		done = end;
	}
	if (done < new_text.n)
		write_new(w, str_sub(new_text, done, new_text.n));
	json_write_close(w, ']');
}

bool delta_holds(const struct delta *d, struct str old_text, struct str new_text)
{
	for (size_t i = 0; i < d->n; i++) {
		struct delta_copy c = d->items[i];

		if (c.at > new_text.n || c.from > old_text.n)
			return false;
		if (c.n > new_text.n - c.at)
			c.n = new_text.n - c.at;
		if (c.n > old_text.n - c.from ||
			memcmp(new_text.p + c.at, old_text.p + c.from, c.n) != 0)
			return false;
	}
	return true;
}

static int64_t delta_number(const json *array, size_t i)
{
	return json_int(json_at(array, i), -1);
}

static int apply_item(const json *item, struct str old_text, struct buf *out, struct error *err)
{
	const char *text = json_text(item);

	if (text) {
		buf_adds(out, text);
		return 0;
	}
	if (json_is_array(item) && json_len(item) == 2) {
		int64_t from = delta_number(item, 0), to = delta_number(item, 1);

		if (from < 0 || to < from || (uint64_t)to > old_text.n)
			return error_set(
				err, ERR_INPUT, "a delta reaches past the end of the old text");
		buf_add(out, str_sub(old_text, (size_t)from, (size_t)to));
		return 0;
	}
	text = json_is_object(item) ? json_get_str(item, "hex") : NULL;
	if (text && add_bytes(out, str_of(text)))
		return 0;
	return error_set(err, ERR_INPUT, "an item of a delta is neither a range nor a text");
}

int delta_apply(const json *array, struct str old_text, struct buf *out, struct error *err)
{
	size_t begin = out->len;

	if (!json_is_array(array))
		return error_set(err, ERR_INPUT, "a delta is not an array");
	for (const json *i = json_first(array); i; i = json_next(i)) {
		if (apply_item(i, old_text, out, err) < 0)
			return -1;
		if (out->len - begin > STORE_DOCUMENT_MAX)
			return error_set(err, ERR_INPUT, "a delta produces more than 16 MiB");
	}
	return 0;
}
