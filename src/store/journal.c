#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/base/path.h"
#include "src/store/journal.h"

enum { TAIL = 4096 };

struct journal {
	int fd;
	char *path;
	off_t size;
	uint64_t seq, rev; /* of the last line */
	struct mark {
		off_t size;
		uint64_t seq, rev;
	} before; /* the last append */
};

struct line_head {
	uint64_t seq, rev;
};

/* False for a line that is not one of ours (torn, or blocks that a power cut left empty). */
static bool read_head(struct str line, struct line_head *head)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	int64_t seq, rev;

	if (json_parse(&j, line, &ignored) < 0)
		return false;
	seq = json_get_int(j, "seq", -1);
	rev = json_get_int(j, "rev", -1);
	if (seq < 0 || rev < 0)
		return false;
	*head = (struct line_head){(uint64_t)seq, (uint64_t)rev};
	return true;
}

/* Start of the last line of text[0..end). */
static size_t line_start(struct str text, size_t end)
{
	const char *nl = end ? memrchr(text.p, '\n', end - 1) : NULL;

	return nl ? (size_t)(nl - text.p) + 1 : 0;
}

static int read_tail(struct journal *j, size_t window, struct buf *out, struct error *err)
{
	size_t n = (off_t)window < j->size ? window : (size_t)j->size, got = 0;

	buf_clear(out);
	buf_reserve(out, n);
	while (got < n) {
		ssize_t r = pread(j->fd, out->s + got, n - got, j->size - (off_t)(n - got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return error_errno(err, "cannot read '%s'", j->path);
		got += (size_t)r;
	}
	out->len = n;
	out->s[n] = '\0';
	return 0;
}

/*
 * Walks back over the window: drops a torn end and the lines of revision `rev` + 1. Returns how
 * many bytes of the window stay, or -1 when the answer lies before the window.
 */
static ssize_t walk_back(struct journal *j, struct str text, uint64_t rev, bool whole)
{
	size_t end = text.n;

	while (end) {
		size_t start = line_start(text, end);
		struct line_head head;

		if (start == 0 && !whole)
			return -1;
		if (text.p[end - 1] == '\n' && read_head(str_sub(text, start, end - 1), &head) &&
			head.rev != rev + 1) {
			j->seq = head.seq;
			j->rev = head.rev;
			return (ssize_t)end;
		}
		end = start;
	}
	j->seq = j->rev = 0;
	return 0;
}

static int repair(struct journal *j, uint64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf tail = BUF_INIT;
	size_t window = TAIL;
	ssize_t keep = -1;

	for (; keep < 0; window *= 4) {
		bool whole = (off_t)window >= j->size;

		if (read_tail(j, window, &tail, err) < 0)
			return -1;
		keep = walk_back(j, buf_str(&tail), rev, whole);
	}
	if ((size_t)keep == tail.len)
		return 0;
	j->size -= (off_t)(tail.len - (size_t)keep);
	if (ftruncate(j->fd, j->size) < 0 || fdatasync(j->fd) < 0)
		return error_errno(err, "cannot repair '%s'", j->path);
	return 0;
}

int journal_open(struct journal **out, const char *path, uint64_t rev, struct error *err)
{
	struct journal *j = xmalloc(sizeof(*j));
	struct stat st;

	*j = (struct journal){.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
	j->path = strdup(path);
	if (!j->path)
		base_oom();
	*out = j;
	if (j->fd < 0 || fstat(j->fd, &st) < 0)
		error_errno(err, "cannot open '%s'", path);
	else if (!S_ISREG(st.st_mode))
		error_set(err, ERR_INPUT, "'%s' is not a regular file", path);
	else {
		j->size = st.st_size;
		if (!j->size || repair(j, rev, err) == 0)
			return 0;
	}
	journal_close(out);
	return -1;
}

void journal_close(struct journal **j)
{
	if (!*j)
		return;
	if ((*j)->fd >= 0)
		close((*j)->fd);
	free((*j)->path);
	free(*j);
	*j = NULL;
}

uint64_t journal_rev(const struct journal *j)
{
	return j->rev;
}

static void add_line(struct buf *out, uint64_t seq, uint64_t rev, const json *event)
{
	size_t at;

	buf_addf(out, "{\"seq\":%llu,\"rev\":%llu,", (unsigned long long)seq,
		(unsigned long long)rev);
	at = out->len;
	json_print(out, event);
	memmove(out->s + at, out->s + at + 1, out->len - at); /* the object's own brace */
	out->len--;
	buf_addc(out, '\n');
}

int journal_append(struct journal *j, const json *events, uint64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	uint64_t seq = j->seq;

	for (const json *e = json_first(events); e; e = json_next(e))
		add_line(&text, ++seq, rev, e);
	j->before = (struct mark){j->size, j->seq, j->rev};
	if (fd_write_all(j->fd, buf_str(&text), j->path, err) < 0) {
		journal_undo(j);
		return -1;
	}
	if (fdatasync(j->fd) < 0) {
		error_errno(err, "cannot write '%s'", j->path);
		journal_undo(j);
		return -1;
	}
	j->size += (off_t)text.len;
	j->seq = seq;
	j->rev = rev;
	return 0;
}

void journal_undo(struct journal *j)
{
	(void)!ftruncate(j->fd, j->before.size);
	j->size = j->before.size;
	j->seq = j->before.seq;
	j->rev = j->before.rev;
}
