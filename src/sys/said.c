#include "src/sys/said.h"

enum { LINES = 5, WORDS_MAX = 600 };

/* Without the `user:secret` of a URL. */
static void add_word(struct buf *out, struct str word)
{
	size_t scheme = str_find(word, STR("://"));
	struct str rest = scheme < word.n ? str_sub(word, scheme + 3, word.n) : word;
	struct str authority = str_sub(rest, 0, str_find(rest, STR("/")));
	size_t at = authority.n;

	while (scheme < word.n && at > 0 && authority.p[at - 1] != '@')
		at--;
	if (scheme == word.n || !at) {
		buf_add(out, word);
		return;
	}
	buf_add(out, str_sub(word, 0, scheme + 3));
	buf_adds(out, "***");
	buf_add(out, str_sub(rest, at - 1, rest.n));
}

static void add_line(struct buf *out, struct str line)
{
	if (out->len)
		buf_adds(out, "; ");
	while (line.n) {
		size_t n = 0;

		while (n < line.n && (unsigned char)line.p[n] > ' ')
			n++;
		if (n)
			add_word(out, str_sub(line, 0, n));
		line = str_sub(line, n, line.n);
		for (n = 0; n < line.n && (unsigned char)line.p[n] <= ' ';)
			n++;
		if (n && line.n > n)
			buf_addc(out, ' ');
		line = str_sub(line, n, line.n);
	}
}

static bool worth(struct str line)
{
	return line.n && !str_starts(line, "hint:") && !str_starts(line, "remote: Resolving");
}

void said_last(struct str said, struct buf *out)
{
	struct str last[LINES], line, rest = said;
	size_t n = 0;

	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n > WORDS_MAX)
			line.n = WORDS_MAX; /* before anything is done to it: it may be the whole
					       output */
		if (worth(line))
			last[n++ % LINES] = line;
	}
	for (size_t i = n > LINES ? n - LINES : 0; i < n; i++)
		add_line(out, last[i % LINES]);
	utf8_mend(out);
	if (out->len > WORDS_MAX)
		out->len = WORDS_MAX;
	while (out->len && utf8_fault(buf_str(out)))
		out->len--;
	if (out->s)
		out->s[out->len] = '\0';
}

int said_check(const struct process *p, const struct process_end *end, const char *name,
	struct str said, struct error *err)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	if (end->timed_out)
		return error_set(
			err, ERR_SYSTEM, "'%s' did not end within %u s", name, p->timeout_s);
	if (!end->status)
		return 0;
	said_last(said, &words);
	if (!words.len)
		return error_set(err, ERR_SYSTEM, "'%s' failed with status %d", name, end->status);
	return error_set(err, ERR_SYSTEM, "'%s' failed: %s", name, words.s);
}
