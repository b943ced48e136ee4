/* documents.c: the files of documents, their texts in the journal, and edits by hand. */
#include "src/base/clock.h"
#include "src/store/file/internal.h"

#define PREFIX "doc/"

enum { WRITING_MS = 250 }; /* how long the store waits for an edit that has begun */

bool store_key_is_document(const char *key)
{
	return strncmp(key, PREFIX, sizeof(PREFIX) - 1) == 0;
}

char *store_document_path(const struct file_store *f, struct arena *a, const char *key)
{
	return arena_printf(a, "%s/%s", f->dir, key + sizeof(PREFIX) - 1);
}

char *store_document_staged_path(
	const struct file_store *f, struct arena *a, const char *key, int64_t rev)
{
	return arena_printf(a, "%s/.%s.new%lld", f->dir, key + sizeof(PREFIX) - 1, (long long)rev);
}

int store_document_read(struct file_store *f, const char *path, struct buf *out,
	char sum[DIGEST_TEXT], struct error *err)
{
	bool missing = false;

	buf_clear(out);
	sum[0] = '\0';
	if (f->disk->ops->read(f->disk, path, STORE_DOCUMENT_MAX, out, &missing, err) < 0)
		return missing ? 0 : -1;
	if (!missing)
		digest_text(buf_str(out), sum);
	return 0;
}

/* ---- the text as of a commit ---- */

/* *spare is swapped with *text. */
static int apply_line(
	struct str line, const char *key, struct buf *text, struct buf *spare, struct error *err)
{
	CLEANUP(json_free) json *change = NULL;
	const char *of;
	struct buf swap;

	if (json_parse(&change, line, err) < 0)
		return -1;
	of = json_get_str(change, "key");
	if (!of || strcmp(of, key) != 0)
		return 0;
	buf_clear(spare);
	buf_reserve(spare, text->len + line.n);
	if (json_get(change, "to") &&
		delta_apply(json_get(change, "delta"), buf_str(text), spare, err) < 0)
		return -1;
	swap = *text;
	*text = *spare;
	*spare = swap;
	return 0;
}

int store_document_apply(
	struct str lines, const struct state_entry *e, struct buf *text, struct error *err)
{
	CLEANUP(buf_release) struct buf spare = BUF_INIT;
	char sum[DIGEST_TEXT];
	struct str line;

	while (str_line(&lines, &line))
		if (str_starts(line, FILE_CHANGE) &&
			apply_line(line, e->key, text, &spare, err) < 0)
			return -1;
	digest_text(buf_str(text), sum);
	if (strcmp(sum, e->sum) == 0)
		return 0;
	return error_set(
		err, ERR_INPUT, "damaged: the changes of '%s' have a wrong checksum", e->key);
}

int store_document_rebuild(struct file_store *f, const struct state_entry *e, int64_t end,
	struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	int64_t from = e->whole - f->shift;

	buf_clear(out);
	if (from < 0 || from >= end)
		return error_set(err, ERR_INPUT, "damaged: there is no text of '%s'", e->key);
	if (f->journal->ops->pread(f->journal, from, (size_t)(end - from), &lines, err) < 0)
		return -1;
	return store_document_apply(buf_str(&lines), e, out, err);
}

/* ---- from the staged file to the document ---- */

/* A call that reports a failure may have taken effect. */
bool store_document_is(struct file_store *f, const char *path, const char *sum)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	char is[DIGEST_TEXT];

	return store_document_read(f, path, &text, is, &ignored) == 0 && strcmp(is, sum) == 0;
}

/* The text is in the journal anyway, but a file that a power cut reverts would look like another
 * edit. */
static int make_durable(struct file_store *f, const char *path, struct error *err)
{
	struct disk_file *file = NULL;
	int rc;

	if (f->disk->ops->open(f->disk, path, false, NULL, &file, err) < 0)
		return -1;
	rc = file->ops->sync(file, err);
	file->ops->close(file);
	return rc < 0 ? -1 : f->disk->ops->sync_directory(f->disk, f->dir, err);
}

/* The checksum of the file that the last exchange has left. One that is missing or long, or is no
 * file, has none: it is taken for the text before. */
static void read_replaced(struct file_store *f, const struct state_entry *e, char sum[DIGEST_TEXT])
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct disk_file *file;
	struct error ignored;
	int64_t size;

	memcpy(sum, e->before, DIGEST_TEXT);
	if (f->disk->ops->open(f->disk, store_document_staged_path(f, &a, e->key, e->placed), false,
		    NULL, &file, &ignored) < 0)
		return;
	if (file->ops->size(file, &size, &ignored) == 0 && size <= FILE_RECHECK &&
		file->ops->pread(file, 0, (size_t)size, &text, &ignored) == 0)
		digest_text(buf_str(&text), sum);
	file->ops->close(file);
}

static bool is_late_edit(const struct state_entry *e, const char *sum)
{
	return sum[0] && strcmp(sum, e->before) != 0 && strcmp(sum, e->sum) != 0;
}

bool store_document_edited_late(struct file_store *f, const struct state_entry *e)
{
	char is[DIGEST_TEXT];

	read_replaced(f, e, is);
	return is_late_edit(e, is);
}

/* ---- edits by hand ---- */

/* `late`: the edit is in the file that the last exchange has replaced. It is committed like a file
 * that was staged to replace the text of the last commit. */
static enum store_status commit_edit(struct file_store *f, const char *key, const char *path,
	struct str text, bool removed, bool late, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(json_free) json *note = json_object();
	struct state_entry *e = store_state_find(&f->state, key);
	struct planned_change c = {.key = key, .del = removed, .value = text};
	struct commit_plan p = {.actor = "hand", .note = note, .external = true};
	struct error ignored;

	if (late)
		memcpy(e->before, e->sum, DIGEST_TEXT);
	if (!removed && make_durable(f, path, err) < 0)
		return STORE_DOWN;
	if (e && !removed && store_document_rebuild(f, e, f->end, &before, &ignored) == 0)
		c.before = &before;
	json_put_str(note, "op", removed ? STR("removed") : STR("edit"));
	commit_plan_begin(&p, &a, f);
	vec_push_in(&a, &p.changes, c);
	return journal_commit(f, &p, err);
}

static bool documents_is_missing(struct file_store *f, const char *path)
{
	struct error ignored;
	bool there;

	return f->disk->ops->exists(f->disk, path, &there, &ignored) == 0 && !there;
}

void store_document_wait(struct file_store *f, const char *path, bool expected)
{
	for (int ms = 0; ms < WRITING_MS && f->disk->ops->being_written &&
			 (f->disk->ops->being_written(f->disk, path) ||
				 (expected && documents_is_missing(f, path)));
		ms++)
		clock_pause(1);
}

/* Commits what the file has, if that is an edit. A late one becomes the document, unless that was
 * edited too: then it is the older one. */
static enum store_status commit_file(struct file_store *f, const char *key, const char *path,
	bool late, struct buf *out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf present = BUF_INIT;
	const struct state_entry *e = store_state_find(&f->state, key);
	char sum[DIGEST_TEXT], is[DIGEST_TEXT];
	enum store_status got;
	bool newer = false;

	for (int reads = 0; reads < 2; reads++) {
		if (reads)
			store_document_wait(f, path, e && !late);
		if (store_document_read(f, path, out, sum, err) < 0)
			return STORE_DOWN;
		if (late ? !is_late_edit(e, sum) : strcmp(sum, e ? e->sum : "") == 0)
			return STORE_OK;
	}
	if (late) {
		if (store_document_read(f, store_document_path(f, &a, key), &present, is, err) < 0)
			return STORE_DOWN;
		newer = strcmp(is, e->sum) != 0;
	}
	got = commit_edit(f, key, path, buf_str(out), !sum[0], late, err);
	if (got == STORE_OK && late &&
		(newer ? f->disk->ops->unlink(f->disk, path, err)
		       : store_document_place(f, key, err)) < 0)
		return store_file_break(f, err);
	return got;
}

int store_document_place(struct file_store *f, const char *key, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct state_entry *e = store_state_find(&f->state, key);
	const char *staged = store_document_staged_path(f, &a, key, e->placed),
		   *path = store_document_path(f, &a, key);
	char was[DIGEST_TEXT];
	struct error ignored;

	for (int tries = 0; f->disk->ops->exchange(f->disk, staged, path, err) < 0 &&
			    !store_document_is(f, path, e->sum);
		tries++)
		if (tries)
			return -1;
	read_replaced(f, e, was);
	if (is_late_edit(e, was))
		return commit_file(f, key, staged, true, &text, err) == STORE_OK ? 0 : -1;
	if (strcmp(was, e->sum) == 0)
		(void)f->disk->ops->unlink(f->disk, staged, &ignored);
	return 0;
}

/* A kill may have left the staged file of a document that was never committed. Recovery, which goes
 * by the state, does not see that. */
static void remove_staged(struct file_store *f, const char *key)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	(void)f->disk->ops->unlink(
		f->disk, store_document_staged_path(f, &a, key, f->state.rev + 1), &ignored);
}

enum store_status store_document_commit_edit(
	struct file_store *f, const char *key, struct buf *out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct state_entry *e = store_state_find(&f->state, key);
	enum store_status got = STORE_OK;

	if (strcmp(key, f->recovered_key) == 0) {
		buf_release(out);
		*out = f->recovered;
		f->recovered = (struct buf)BUF_INIT;
		f->recovered_key[0] = '\0';
		return STORE_OK;
	}
	if (!e)
		remove_staged(f, key);
	if (e && store_document_edited_late(f, e))
		got = commit_file(
			f, key, store_document_staged_path(f, &a, key, e->placed), true, out, err);
	return got == STORE_OK
		       ? commit_file(f, key, store_document_path(f, &a, key), false, out, err)
		       : got;
}
