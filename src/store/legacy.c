#include "src/store/file/file_internal.h"
#include "src/store/legacy.h"

/* A revision that no work item reaches says that the line is none of ours. */
enum { REV_MOST = 999999999 };

struct line_head {
	int64_t seq, rev;
};

/* False for a line that is not one of ours (torn, or blocks that a power cut left empty). */
static bool read_head(struct str line, struct line_head *head)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;

	if (json_parse(&j, line, &ignored) < 0)
		return false;
	head->seq = json_get_int(j, "seq", -1);
	head->rev = json_get_int(j, "rev", -1);
	return head->seq >= 0 && head->rev >= 0;
}

/* Start of the last line of text[0..end). */
static size_t line_start(struct str text, size_t end)
{
	const char *nl = end ? memrchr(text.p, '\n', end - 1) : NULL;

	return nl ? (size_t)(nl - text.p) + 1 : 0;
}

/* Bytes that stay: not the piece of a line at the end, and not the last lines of revision rev + 1.
 * What is none of ours is not ours to cut. */
static size_t walk_back(struct str text, uint64_t rev)
{
	size_t end = text.n;
	struct line_head head;

	if (end && text.p[end - 1] != '\n')
		end = line_start(text, end);
	while (end) {
		size_t start = line_start(text, end);

		if (!read_head(str_sub(text, start, end - 1), &head) ||
			(uint64_t)head.rev != rev + 1)
			break;
		end = start;
	}
	return end;
}

static int64_t last_seq(struct str text)
{
	struct line_head head;

	for (size_t end = text.n; end; end = line_start(text, end))
		if (read_head(str_sub(text, line_start(text, end), end - 1), &head))
			return head.seq;
	return 0;
}

static bool number(struct str *s, const char *before, int64_t *n)
{
	size_t i = strlen(before);

	if (!str_starts(*s, before))
		return false;
	for (*n = 0; i < s->n && s->p[i] >= '0' && s->p[i] <= '9' && *n <= REV_MOST; i++)
		*n = *n * 10 + (s->p[i] - '0');
	*s = str_sub(*s, i, s->n);
	return true;
}

/* As all lines begin that were not written by hand: there may be very many. */
static bool quick_head(struct str line, struct line_head *head)
{
	return number(&line, "{\"seq\":", &head->seq) && number(&line, ",\"rev\":", &head->rev) &&
	       str_starts(line, ",\"");
}

static int64_t highest(struct str text, uint64_t rev)
{
	int64_t most = rev == STORE_REV_UNKNOWN ? 0 : (int64_t)rev;
	struct str line;

	while (str_line(&text, &line)) {
		struct line_head head;

		if ((quick_head(line, &head) || read_head(line, &head)) && head.rev > most &&
			head.rev <= REV_MOST)
			most = head.rev;
	}
	return most;
}

static int cut(struct file_store *f, size_t keep, struct error *err)
{
	if ((int64_t)keep == f->end)
		return 0;
	f->end = (int64_t)keep;
	if (f->journal->ops->truncate(f->journal, f->end, err) < 0)
		return -1;
	return f->journal->ops->sync(f->journal, err);
}

int store_adopt(struct store *s, uint64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct file_store *f = file_of(s);
	size_t keep;

	if (!f || f->committed)
		return 0;
	if (f->end && f->journal->ops->pread(f->journal, 0, (size_t)f->end, &text, err) < 0)
		return -1;
	keep = walk_back(buf_str(&text), rev);
	f->state.seq = last_seq((struct str){text.s, keep});
	f->state.rev = highest((struct str){text.s, keep}, rev);
	f->adopted = true;
	return cut(f, keep, err);
}
