#include "src/sys/path.h"
#include "src/verify/redo_internal.h"
#include "src/verify/memory_disk.h"

static void set_path(struct redo *r, const char *path)
{
	struct str s = str_of(path);

	r->path = arena_dup(&r->arena, s);
	if (str_ends(s, ".md"))
		s.n -= 3;
	r->journal = arena_printf(&r->arena, "%.*s.events.jsonl", (int)s.n, s.p);
}

void redo_init(struct redo *r, const struct history_place *place)
{
	*r = (struct redo){.place = place, .disk = memory_disk_new()};
	set_path(r, place->path);
}

void redo_shut(struct redo *r)
{
	context_close(&r->file);
	r->file = (struct context_file){0};
}

void redo_close(struct redo *r)
{
	redo_shut(r);
	memory_disk_free(&r->disk);
	arena_release(&r->arena);
	arena_release(&r->workflow_arena);
	clock_fix(-1);
}

/* ---- the disk ---- */

static void close_file(struct disk_file **f)
{
	if (*f)
		(*f)->ops->close(*f);
}

/* Makes the journal the recorded one up to `to`. */
static int lay_journal(struct redo *r, struct str journal, size_t to, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;
	int64_t size;

	if (r->at == to)
		return 0;
	redo_shut(r);
	if (r->disk->ops->mkdirs(r->disk, arena_dup(&r->arena, path_dir(r->journal)), err) < 0 ||
		r->disk->ops->open(r->disk, r->journal, true, NULL, &f, err) < 0)
		return -1;
	if (f->ops->size(f, &size, err) < 0)
		return -1;
	if (size > (int64_t)r->at && f->ops->truncate(f, (int64_t)r->at, err) < 0)
		return -1;
	if (r->at < to && f->ops->append(f, str_sub(journal, r->at, to), err) < 0)
		return -1;
	r->at = to;
	return f->ops->sync(f, err);
}

void redo_lay_document(struct redo *r, bool there, struct str text)
{
	if (there)
		memory_disk_put(r->disk, r->path, text);
	else
		memory_disk_remove(r->disk, r->path);
}

int redo_take(struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const struct once *last = operation_last(op);

	redo_lay_document(r, last->there, buf_str(&last->document));
	return lay_journal(r, journal, last->to, err);
}

int redo_result(struct redo *r, struct buf *out, struct error *err)
{
	CLEANUP(close_file) struct disk_file *f = NULL;
	int64_t size;
	bool there;

	buf_clear(out);
	if (r->disk->ops->exists(r->disk, r->journal, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	if (r->disk->ops->open(r->disk, r->journal, false, NULL, &f, err) < 0)
		return -1;
	if (f->ops->size(f, &size, err) < 0)
		return -1;
	if (size <= (int64_t)r->at)
		return 0;
	return f->ops->pread(f, (int64_t)r->at, (size_t)size - r->at, out, err);
}

/* Where the document was: a step says it, of all else the journal has the name alone. */
static const char *path_of(struct redo *r, const struct once *c)
{
	const char *file = strcmp(c->op, "step") == 0 ? json_get_str(c->note, "file") : NULL;
	struct str key = str_of(c->key), base = path_base(r->path);

	if (file || !str_starts(key, "doc/") || str_eq(str_sub(key, 4, key.n), base))
		return file ? file : r->path;
	return arena_printf(&r->arena, "%.*s%s", (int)(base.p - r->path), r->path, c->key + 4);
}

/* The document was moved to another folder or name meanwhile: so it is moved on the disk. */
static int follow(struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const char *path = path_of(r, &op->list[0]);
	CLEANUP(buf_release) struct buf document = BUF_INIT;
	size_t at = r->at;
	bool there;

	if (strcmp(path, r->path) == 0)
		return 0;
	there = memory_disk_get(r->disk, r->path, &document);
	memory_disk_remove(r->disk, r->path);
	redo_shut(r);
	set_path(r, path);
	r->at = 0;
	redo_lay_document(r, there, buf_str(&document));
	return lay_journal(r, journal, at, err);
}

/* When it began: as its first event says, which may be before what it waited for. */
static int set_clock(const struct once *first)
{
	const char *ts = json_get_str(json_first(first->events), "ts");
	int64_t t;

	if (clock_parse(ts ? ts : first->ts, &t) < 0)
		return -1;
	clock_fix(t);
	return 0;
}

int redo_operation(
	struct redo *r, struct str journal, const struct operation *op, struct error *err)
{
	const struct once *first = &op->list[0];

	r->err = (struct error){0};
	if (follow(r, journal, op, err) < 0 || lay_journal(r, journal, first->from, err) < 0)
		return -1;
	if (first->part != 1 || set_clock(first) < 0)
		return 0;
	return redo_by_kind(r, op);
}
