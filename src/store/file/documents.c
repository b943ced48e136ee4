/* documents.c: the files of documents, their texts in the journal, and edits by hand. */
#include "src/base/clock.h"
#include "src/store/file/internal.h"

#define PREFIX "doc/"

bool key_is_document(const char *key)
{
	return strncmp(key, PREFIX, sizeof(PREFIX) - 1) == 0;
}

char *document_path(const struct file_store *f, struct arena *a, const char *key)
{
	return arena_printf(a, "%s/%s", f->dir, key + sizeof(PREFIX) - 1);
}

char *document_staged_path(const struct file_store *f, struct arena *a, const char *key, int slot)
{
	return arena_printf(a, "%s/.%s.new%s", f->dir, key + sizeof(PREFIX) - 1, slot ? "2" : "");
}

int document_read(struct file_store *f, const char *path, struct buf *out, char sum[DIGEST_TEXT],
	struct error *err)
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

/* ---- the text as of the last commit ---- */

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
	if (json_get(change, "to") &&
		delta_apply(json_get(change, "delta"), buf_str(text), spare, err) < 0)
		return -1;
	swap = *text;
	*text = *spare;
	*spare = swap;
	return 0;
}

int document_rebuild(
	struct file_store *f, const struct state_entry *e, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT, spare = BUF_INIT;
	int64_t from = e->whole - f->shift;
	char sum[DIGEST_TEXT];
	struct str rest, line;

	buf_clear(out);
	if (from < 0 || from >= f->end)
		return error_set(err, ERR_INPUT, "'%s' is damaged", f->journal_path);
	if (f->journal->ops->pread(f->journal, from, (size_t)(f->end - from), &lines, err) < 0)
		return -1;
	for (rest = buf_str(&lines); str_line(&rest, &line);)
		if (str_starts(line, FILE_CHANGE) && apply_line(line, e->key, out, &spare, err) < 0)
			return -1;
	digest_text(buf_str(out), sum);
	if (strcmp(sum, e->sum) == 0)
		return 0;
	return error_set(err, ERR_INPUT,
		"'%s' is damaged: the changes of '%s' have a wrong checksum", f->journal_path,
		e->key);
}

/* ---- edits by hand ---- */

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
	return rc < 0 ? -1 : f->disk->ops->sync_folder(f->disk, f->dir, err);
}

static enum store_status commit_edit(
	struct file_store *f, const struct planned_change *c, const char *what, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *note = json_object();
	struct commit_plan p = {.actor = "hand", .note = note, .external = true};

	json_put_str(note, "op", str_of(what));
	plan_begin(&p, &a, f);
	vec_push_in(&a, &p.changes, *c);
	return journal_commit(f, &p, err);
}

static enum store_status commit_new_text(
	struct file_store *f, const char *key, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(delta_release) struct delta delta = {0};
	const struct state_entry *e = state_find(&f->state, key);
	struct planned_change c = {.key = key, .value = text};
	struct error ignored;

	if (make_durable(f, document_path(f, &a, key), err) < 0)
		return STORE_DOWN;
	if (e && document_rebuild(f, e, &before, &ignored) == 0) {
		delta_between(&delta, buf_str(&before), text);
		c.delta = &delta;
	}
	return commit_edit(f, &c, "edit", err);
}

/* A kill may have left staged files of a document that was never committed. Recovery, which goes
 * by the state, does not see those. */
static void remove_staged(struct file_store *f, const char *key)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	for (int slot = 0; slot < 2; slot++)
		(void)f->disk->ops->unlink(
			f->disk, document_staged_path(f, &a, key, slot), &ignored);
}

enum store_status commit_external_edit(
	struct file_store *f, const char *key, struct buf *out, bool *by_hand, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct state_entry *e = state_find(&f->state, key);
	char sum[DIGEST_TEXT];

	*by_hand = false;
	if (document_read(f, document_path(f, &a, key), out, sum, err) < 0)
		return STORE_DOWN;
	if (!e)
		remove_staged(f, key);
	*by_hand = strcmp(sum, e ? e->sum : "") != 0;
	if (!*by_hand)
		return STORE_OK;
	if (sum[0])
		return commit_new_text(f, key, buf_str(out), err);
	return commit_edit(f, &(struct planned_change){.key = key, .del = true}, "removed", err);
}

/* ---- get ---- */

/* Between a writer's commit and its rename, the staged file is the document. */
static int read_committed(
	struct file_store *f, const char *key, struct buf *out, int64_t *mod, struct error *err)
{
	char sum[DIGEST_TEXT];
	CLEANUP(arena_release) struct arena a = {0};
	const struct state_entry *e = NULL;

	for (int tries = 0; tries < 5; tries++) {
		if (tries && file_load(f, err) < 0)
			return -1;
		e = state_find(&f->state, key);
		*mod = e ? e->mod : 0;
		if (document_read(f, document_path(f, &a, key), out, sum, err) < 0)
			return -1;
		if (strcmp(sum, e ? e->sum : "") == 0)
			return 0;
		if (e && document_read(
				 f, document_staged_path(f, &a, key, e->slot), out, sum, err) < 0)
			return -1;
		if (e && strcmp(sum, e->sum) == 0)
			return 0;
	}
	/* Edited by hand since, and no writer has committed that yet. */
	if (document_read(f, document_path(f, &a, key), out, sum, err) < 0)
		return -1;
	*mod = !sum[0] ? 0 : e ? e->mod : f->state.rev + 1;
	return 0;
}

static enum store_status get_document(struct file_store *f, const char *key, struct buf *out,
	int64_t *mod, bool *by_hand, struct error *err)
{
	const struct state_entry *e;
	enum store_status got;

	*by_hand = false;
	if (f->mode == STORE_READ)
		return read_committed(f, key, out, mod, err) < 0 ? STORE_DOWN : STORE_OK;
	got = commit_external_edit(f, key, out, by_hand, err);
	e = state_find(&f->state, key);
	*mod = got == STORE_OK && e ? e->mod : 0;
	return got;
}

enum store_status file_get_document(struct store *s, const char *key, struct buf *out, int64_t *mod,
	bool *by_hand, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, false, err);
	bool edited = false;

	*mod = 0;
	if (got != STORE_OK)
		return got;
	got = get_document(f, key, out, mod, &edited, err);
	if (by_hand)
		*by_hand = edited;
	file_end(f);
	return got;
}

/* store_get() returns the text until the next operation. */
static enum store_status get_text(
	struct file_store *f, const char *key, struct store_kv *out, struct error *err)
{
	const struct state_entry *e;
	bool edited;
	enum store_status got = get_document(f, key, &f->text, &out->mod, &edited, err);

	if (got != STORE_OK || !out->mod)
		return got;
	out->value = buf_str(&f->text);
	e = state_find(&f->state, key);
	out->create = e ? e->create : out->mod;
	return STORE_OK;
}

enum store_status file_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, false, err);
	const struct state_entry *e;

	*out = (struct store_kv){.key = arena_str(a, str_of(key))};
	if (got != STORE_OK)
		return got;
	if (key_is_document(key))
		got = get_text(f, key, out, err);
	else if ((e = state_find_alive(&f->state, key, clock_now())))
		state_entry_kv(e, a, out);
	file_end(f);
	return got;
}
