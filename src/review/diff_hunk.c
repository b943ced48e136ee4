#include "src/review/diff_internal.h"

enum { LINES_MAX = 100000000 };

static bool number(struct str *s, int64_t *n)
{
	size_t i = 0;

	for (*n = 0; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
		if ((*n = *n * 10 + s->p[i] - '0') > LINES_MAX)
			return false;
	*s = str_sub(*s, i, s->n);
	return i > 0;
}

/* `-12,3`: the number of lines is 1 when it is left out. */
static bool range(struct str *s, char sign, int64_t *lines)
{
	int64_t first;

	if (!s->n || s->p[0] != sign)
		return false;
	*s = str_sub(*s, 1, s->n);
	*lines = 1;
	if (!number(s, &first))
		return false;
	if (!s->n || s->p[0] != ',')
		return true;
	*s = str_sub(*s, 1, s->n);
	return number(s, lines);
}

static bool ranges(struct str s, int64_t *old, int64_t *new)
{
	if (!range(&s, '-', old) || !str_starts(s, " "))
		return false;
	s = str_sub(s, 1, s.n);
	return range(&s, '+', new) && str_starts(s, " @@");
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A line that could be part of a text over several lines, or that goes on in the next one. */
static bool blanks_may_mean(struct str line)
{
	static const char *const marks[] = {"`", "\"\"\"", "'''", "R\"", "@\"", "@$\""};

	while (line.n && blank(line.p[line.n - 1]))
		line.n--;
	for (size_t i = 0; i < COUNT(marks); i++)
		if (str_find(line, str_of(marks[i])) < line.n)
			return true;
	return str_ends(line, "\\") || str_ends(line, "?\?/");
}

static void add_trimmed(struct buf *to, struct str line)
{
	while (line.n && blank(line.p[line.n - 1]))
		line.n--;
	while (line.n && blank(line.p[0]))
		line = str_sub(line, 1, line.n);
	if (!line.n)
		return;
	buf_add(to, line);
	buf_addc(to, '\n');
}

/* Lines that were moved past others are another block: they are no blanks. */
static void end_block(struct reader *r)
{
	if (!r->out.len && !r->in.len)
		return;
	if (!str_eq(buf_str(&r->out), buf_str(&r->in)))
		r->file.blanks_only = false;
	buf_clear(&r->out);
	buf_clear(&r->in);
}

static void take_changed(struct reader *r, struct str line, bool added)
{
	*(added ? &r->added : &r->removed) += 1;
	r->file.blocks++;
	if (r->file.blanks_only)
		add_trimmed(added ? &r->in : &r->out, str_sub(line, 1, line.n));
}

/* Some mailers cut the blank of an empty line of context off. */
static int take_line(struct reader *r, struct str line, int64_t *old, int64_t *new)
{
	char first = line.n ? line.p[0] : ' ';

	if (blanks_may_mean(line))
		r->file.blanks_only = false;
	switch (first) {
	case ' ':
		end_block(r);
		--*old;
		--*new;
		break;
	case '-':
		if (r->in.len)
			end_block(r);
		--*old;
		take_changed(r, line, false);
		break;
	case '+':
		--*new;
		take_changed(r, line, true);
		break;
	case '\\':
		return 0;
	default:
		return diff_fault(r, "a line of a hunk must begin with a blank, '+', '-' or '\\'");
	}
	return *old < 0 || *new < 0 ? diff_fault(r, "the hunk has more lines than it says") : 0;
}

/* `\ No newline at end of file` may stand behind the last line. */
static void skip_no_newline(struct reader *r)
{
	struct str line;

	if (str_starts(r->rest, "\\ "))
		(void)diff_next_line(r, &line);
}

int diff_take_hunk(struct reader *r, struct str text)
{
	int64_t old, new;
	struct str line;

	if (!r->file.sides || !ranges(text, &old, &new))
		return diff_fault(r, "a hunk that is not understood");
	while (old > 0 || new > 0) {
		if (!diff_next_line(r, &line))
			return diff_fault(r, "the diff ends within a hunk");
		if (take_line(r, line, &old, &new) < 0)
			return -1;
	}
	skip_no_newline(r);
	end_block(r);
	return 0;
}

/* `literal N` or `delta N`, lines of base 85, an empty line; twice. */
static bool binary_line(struct str line)
{
	if (str_starts(line, "literal ") || str_starts(line, "delta ") || !line.n)
		return true;
	return line.n <= 67 && !memchr(line.p, ' ', line.n);
}

int diff_skip_binary(struct reader *r)
{
	struct str line;

	while (r->rest.n && !str_starts(r->rest, "diff --git ")) {
		(void)diff_next_line(r, &line);
		if (!binary_line(line))
			return diff_fault(r, "this line is not understood");
	}
	return 0;
}
