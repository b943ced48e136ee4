#include "src/event/artifact_internal.h"
#include "src/sys/path.h"

enum { STEP = 64 << 10, TAIL_MAX = 1 << 20 };

static void file_close(struct disk_file **f)
{
	if (*f)
		(*f)->ops->close(*f);
	*f = NULL;
}

/* Where the last line that has an end is over. */
static int whole_lines(struct disk_file *f, int64_t size, int64_t *end, struct error *err)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	while (size > 0) {
		size_t n = size < STEP ? (size_t)size : STEP;
		const char *feed;

		buf_clear(&b);
		if (f->ops->pread(f, size - (int64_t)n, n, &b, err) < 0)
			return -1;
		feed = memrchr(b.s, '\n', n);
		size -= (int64_t)n;
		if (feed) {
			*end = size + (feed - b.s) + 1;
			return 0;
		}
	}
	*end = 0;
	return 0;
}

/* A line that somebody wrote without a line feed is whole all the same. */
static int tail_is_whole(
	struct disk_file *f, int64_t from, int64_t size, bool *whole, struct error *err)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;
	struct error odd;

	*whole = false;
	if (size - from > TAIL_MAX)
		return 0;
	if (f->ops->pread(f, from, (size_t)(size - from), &b, err) < 0)
		return -1;
	*whole = json_parse(&j, buf_str(&b), &odd) == 0 && json_is_object(j);
	return 0;
}

/* What a kill or a full disk left of a line goes; *size is what is there afterwards. */
static int mend_tail(struct disk_file *f, int64_t *size, struct error *err)
{
	int64_t end;
	bool whole;

	if (f->ops->size(f, size, err) < 0 || whole_lines(f, *size, &end, err) < 0)
		return -1;
	if (end == *size)
		return 0;
	if (tail_is_whole(f, end, *size, &whole, err) < 0)
		return -1;
	if (whole) {
		*size += 1;
		return f->ops->append(f, STR("\n"), err);
	}
	*size = end;
	return f->ops->truncate(f, end, err);
}

/* What was written of a line that failed goes at once: others read without a lock. */
static int append_line(struct disk_file *f, struct str line, struct error *err)
{
	struct error late;
	int64_t size;

	if (mend_tail(f, &size, err) < 0)
		return -1;
	if (f->ops->append(f, line, err) == 0 && f->ops->sync(f, err) == 0)
		return 0;
	(void)f->ops->truncate(f, size, &late);
	return -1;
}

int artifact_add_line(const struct artifact_place *at, struct str line, struct error *err)
{
	CLEANUP(artifact_unlock) struct disk_lock *lock = NULL;
	CLEANUP(file_close) struct disk_file *f = NULL;
	const struct disk_ops *ops = at->disk->ops;
	struct arena a = {0};
	bool made = false;
	char *path, *folder;
	int rc = artifact_lock(at, &lock, err);

	if (rc == 0)
		rc = artifact_find(&a, at, &path, err);
	if (rc == 0) {
		folder = arena_dup(&a, path_dir(path));
		rc = ops->mkdirs(at->disk, folder, err);
		if (rc == 0)
			rc = ops->open(at->disk, path, true, &made, &f, err);
		if (rc == 0)
			rc = append_line(f, line, err);
		if (rc == 0 && made)
			rc = ops->sync_folder(at->disk, folder, err);
	}
	arena_release(&a);
	return rc;
}

int artifact_append(
	const char *dir, const char *issue, const char *name, const json *line, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print(&text, line);
	buf_addc(&text, '\n');
	return artifact_add_line(ARTIFACT_AT(dir, issue, name), buf_str(&text), err);
}

int artifact_edit(const char *dir, const char *issue, const char *name,
	int (*edit)(void *data, struct str old, struct buf *fresh, struct error *err), void *data,
	struct error *err)
{
	CLEANUP(artifact_unlock) struct disk_lock *lock = NULL;
	CLEANUP(buf_release) struct buf old = BUF_INIT, fresh = BUF_INIT;
	const struct artifact_place *at = ARTIFACT_AT(dir, issue, name);
	bool missing;

	if (artifact_lock(at, &lock, err) < 0 || artifact_get(at, &old, &missing, err) < 0)
		return -1;
	if (missing)
		return error_set(err, ERR_STATE, "there is no '%s' in '%s'", name, dir);
	if (edit(data, buf_str(&old), &fresh, err) < 0)
		return -1;
	return artifact_replace(at, buf_str(&fresh), err);
}
