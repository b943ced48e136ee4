/*
 * file_compact.c: forgetting a journal's beginning. First a commit that tells everything anew, then
 * a journal that begins later takes the place of the old one; its first line says where:
 * `{"format":2,"kept":OFFSET,"compacted":REV}`: the byte behind that line has this offset.
 */
#include "src/store/file/file_internal.h"

enum { LINE = 128 };

int file_compacted(struct file_store *f, int64_t *rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *head = NULL;
	size_t n = f->end < LINE ? (size_t)f->end : LINE;
	struct str rest, line;

	*rev = 0;
	if (!f->shift)
		return 0;
	if (f->journal->ops->pread(f->journal, 0, n, &text, err) < 0)
		return -1;
	rest = buf_str(&text);
	if (!str_line(&rest, &line) || json_parse(&head, line, err) < 0)
		return error_set(err, ERR_INPUT, "'%s' is damaged in line 1", f->journal_path);
	*rev = json_get_int(head, "compacted", 0);
	return 0;
}

/* Offset of the first transaction that stays. */
static size_t cut_at(struct str text, int64_t rev)
{
	struct str rest = text, line;
	size_t at = 0;
	int64_t is;

	while (str_line(&rest, &line)) {
		if (!line_commit(line, &is))
			continue;
		if (is >= rev)
			break;
		at = text.n - rest.n;
	}
	return at;
}

static int replace(struct file_store *f, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct disk *d = f->disk;
	const char *fresh = arena_printf(&a, "%s.new", f->journal_path);
	struct error ignored;

	if (d->ops->write(d, fresh, f->journal_path, text, err) < 0 ||
		d->ops->sync_folder(d, f->dir, err) < 0 ||
		d->ops->rename(d, fresh, f->journal_path, err) < 0) {
		(void)d->ops->unlink(d, fresh, &ignored);
		return -1;
	}
	return d->ops->sync_folder(d, f->dir, err);
}

static int forget(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, text = BUF_INIT;
	size_t cut;

	if (f->journal->ops->pread(f->journal, 0, (size_t)f->end, &old, err) < 0)
		return -1;
	cut = cut_at(buf_str(&old), rev);
	if (!cut)
		return 0;
	buf_addf(&text, FILE_HEADER ",\"kept\":%lld,\"compacted\":%lld}\n",
		(long long)cut + (long long)f->shift, (long long)rev);
	buf_add(&text, str_sub(buf_str(&old), cut, old.len));
	return replace(f, buf_str(&text), err);
}

/* Which of the two journals is there now is seen from the disk. */
static enum store_status shorten(struct file_store *f, int64_t rev, struct error *err)
{
	struct error why, later;
	int rc = forget(f, rev, &why);

	f->committed = false;
	if (file_load(f, &later) < 0) {
		*err = later;
		return file_break(f, err);
	}
	if (rc < 0)
		*err = why;
	return rc < 0 ? STORE_DOWN : STORE_OK;
}

static enum store_status compact(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct work w = {.whole = true};
	enum store_status got;
	int64_t kept;

	if (file_compacted(f, &kept, err) < 0)
		return STORE_DOWN;
	if (rev > f->state.rev)
		rev = f->state.rev + 1;
	if (!f->committed || rev <= 1 || rev <= kept)
		return STORE_OK;
	work_begin(&w, &a, f, 0, 0);
	got = file_commit(f, &w, err);
	return got == STORE_OK ? shorten(f, rev, err) : got;
}

enum store_status file_compact(struct store *s, int64_t rev, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, true, err);

	if (got != STORE_OK)
		return got;
	got = compact(f, rev, err);
	file_leave(f);
	return got;
}
