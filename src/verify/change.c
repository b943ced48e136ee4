#include "src/verify/change.h"

struct lines {
	struct str *list;
	size_t n;
};

static int by_bytes(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

static struct str whole_line(struct str text)
{
	const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

	return str_sub(text, 0, end ? (size_t)(end - text.p) + 1 : text.n);
}

static void lines_init(struct lines *l, struct str text)
{
	size_t n = 0, most = 1;

	for (size_t i = 0; i < text.n; i++)
		most += text.p[i] == '\n';
	l->list = xmalloc(most * sizeof(*l->list));
	while (text.n) {
		l->list[n] = whole_line(text);
		text = str_sub(text, l->list[n++].n, text.n);
	}
	l->n = n;
	qsort(l->list, n, sizeof(*l->list), by_bytes);
}

/* What both begin with, in whole lines. */
static size_t shared_start(struct str a, struct str b)
{
	size_t line = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '\n')
			line = i + 1;
	return line;
}

static size_t shared_end(struct str a, struct str b)
{
	size_t line = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[a.n - 1 - i] == b.p[b.n - 1 - i]; i++)
		if (a.p[a.n - 1 - i] == '\n')
			line = i;
	return line;
}

void change_count(struct str from, struct str to, size_t *added, size_t *removed)
{
	size_t start = shared_start(from, to), end, i = 0, k = 0;
	CLEANUP(free_ptr) struct str *old = NULL, *new = NULL;
	struct lines a, b;

	*added = *removed = 0;
	from = str_sub(from, start, from.n);
	to = str_sub(to, start, to.n);
	end = shared_end(from, to);
	lines_init(&a, str_sub(from, 0, from.n - end));
	lines_init(&b, str_sub(to, 0, to.n - end));
	old = a.list;
	new = b.list;
	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : by_bytes(&old[i], &new[k]);

		*removed += order < 0;
		*added += order > 0;
		i += order <= 0;
		k += order >= 0;
	}
}

static struct str without_end(struct str line)
{
	return str_sub(line, 0, line.n - (line.n && line.p[line.n - 1] == '\n'));
}

size_t change_first(struct str from, struct str to, struct str *line_from, struct str *line_to)
{
	size_t n = 0;

	*line_from = *line_to = (struct str){"", 0};
	while (from.n || to.n) {
		*line_from = whole_line(from);
		*line_to = whole_line(to);
		n++;
		if (!str_eq(*line_from, *line_to)) {
			*line_from = without_end(*line_from);
			*line_to = without_end(*line_to);
			return n;
		}
		from = str_sub(from, line_from->n, from.n);
		to = str_sub(to, line_to->n, to.n);
	}
	return 0;
}
