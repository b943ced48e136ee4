#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "context/file.h"
#include "context/file_internal.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/path.h"

/* 200 writers of one file finish well within it, even on a disk whose fsync takes 50 ms. */
enum { LOCK_WAIT_MS = 30000, LOCK_WAIT_MOST_MS = 3600000 };

static unsigned lock_wait(void)
{
	return (unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", LOCK_WAIT_MOST_MS, LOCK_WAIT_MS);
}

static int set_path(struct context_file *f, const char *path, struct error *err)
{
	struct arena *a = &f->doc.arena;
	struct str base = path_base(path);

	if (utf8_fault(str_of(path)))
		return error_set(err, ERR_USAGE, "the path of the context file is not UTF-8");
	if (!base.n || strlen(path) > PATH_MAX - 64 || base.n > NAME_MAX - 32)
		return error_set(err, ERR_USAGE, "'%.200s' is not a file name", path);
	f->path = arena_dup(a, str_of(path));
	f->dir = arena_dup(a, path_dir(path));
	f->name = arena_dup(a, str_ends(base, ".md") ? str_sub(base, 0, base.n - 3) : base);
	f->key = arena_printf(a, "doc/%.*s", (int)base.n, base.p);
	return 0;
}

/* Not known is not "not there": behind another name would be another work item. */
static bool is_fault(int error)
{
	return error == EIO || error == EINTR || error == ENOMEM;
}

/*
 * A document behind a symbolic link is replaced where it really is. One that is not there yet gets
 * the name that it will have when it is, so that what is printed about it never changes.
 */
static int set_names(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err)
{
	struct arena *a = &f->doc.arena;
	char real[PATH_MAX];

	if (f->disk != disk_real())
		return set_path(f, path, err);
	if (realpath(path, real))
		return set_path(f, real, err);
	if (is_fault(errno))
		return error_errno(err, "cannot look for '%s'", path);
	if (set_path(f, path_absolute(a, path), err) < 0)
		return -1;
	if (mode == CONTEXT_MAY_CREATE && f->disk->ops->mkdirs(f->disk, f->dir, err) < 0)
		return -1;
	if (!realpath(f->dir, real))
		return is_fault(errno) ? error_errno(err, "cannot look for '%s'", f->dir) : 0;
	return set_path(f, path_join(a, real, path_base(f->path).p), err);
}

char *context_journal(struct context_file *f)
{
	return arena_printf(&f->doc.arena, "%s/%s.events.jsonl", f->dir, f->name);
}

/* The names were made in the arena that a new document starts anew, so they move over. */
static void keep_names(struct context_file *f, struct arena *names)
{
	struct arena *a = &f->doc.arena;

	f->path = arena_dup(a, str_of(f->path));
	f->dir = arena_dup(a, str_of(f->dir));
	f->name = arena_dup(a, str_of(f->name));
	f->key = arena_dup(a, str_of(f->key));
	arena_release(names);
}

static int parse(struct context_file *f, struct buf *text, struct error *err)
{
	struct arena names = f->doc.arena;
	int rc = context_adopt(&f->doc, f->path, text, err);

	keep_names(f, &names);
	return rc;
}

/*
 * A document that was put back or edited by hand may not say which numbers of actions were given
 * out, and they must not be given out again. Rare, so nobody else pays for it.
 */
static int recall(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;

	if (f->mod == (int64_t)context_count(&f->doc, "revision") && !f->created)
		return 0;
	if (!store_revision(f->store))
		return 0;
	if (f->disk->ops->read(f->disk, context_journal(f), JOURNAL_MAX, &text, &missing, err) < 0)
		return -1;
	context_recall_attempts(&f->doc, buf_str(&text));
	return 0;
}

int context_create(struct context_file *f, const char *id, const char *state, struct error *err)
{
	struct arena names = f->doc.arena;
	char now[CLOCK_TEXT];
	int rc;

	clock_text(f->now, now);
	rc = context_new(&f->doc, f->path, id, state, now, err);
	keep_names(f, &names);
	return rc < 0 ? rc : recall(f, err);
}

static int no_file(const struct context_file *f, struct error *err)
{
	return error_set(err, ERR_INPUT, "no context file '%s'", f->path);
}

/* A reader is not to be kept from the document by a journal that is damaged. */
static int read_file(
	struct disk *disk, const char *path, struct buf *out, bool *missing, struct error *err)
{
	buf_clear(out);
	*missing = false;
	if (disk->ops->read(disk, path, CONTEXT_MAX, out, missing, err) < 0 && !*missing)
		return -1;
	return 0;
}

int context_read(
	struct disk *disk, const char *path, struct buf *out, bool *missing, struct error *err)
{
	CLEANUP(store_close) struct store *store = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	struct str base = path_base(path);
	char *dir = arena_dup(&a, path_dir(path));
	char *name = arena_dup(&a, str_ends(base, ".md") ? str_sub(base, 0, base.n - 3) : base);
	int64_t mod;

	if (store_open(&store, disk, dir, name, STORE_READ, 0, err) < 0)
		return err->code == ERR_INPUT ? read_file(disk, path, out, missing, err) : -1;
	if (store_get_document(store, arena_printf(&a, "doc/%.*s", (int)base.n, base.p), out, &mod,
		    NULL, err) != STORE_OK)
		return -1;
	*missing = !mod;
	return 0;
}

static int read_only(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (context_read(f->disk, f->path, &text, &f->created, err) < 0)
		return -1;
	return f->created ? no_file(f, err) : parse(f, &text, err);
}

/* Broken by hand: what was there before is in the history. */
static int broken(struct context_file *f, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_kv kv = {0};
	struct error ignored;
	size_t n = strlen(err->text);

	(void)store_get(f->store, &a, f->key, &kv, &ignored);
	if (err->code == ERR_INPUT && kv.create < kv.mod && !f->doc.other_format)
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; 'dev-team context restore' undoes the edit");
	return -1;
}

static int load(struct context_file *f, enum context_mode mode, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (store_get_document(f->store, f->key, &text, &f->mod, NULL, err) != STORE_OK)
		return -1;
	f->created = !f->mod;
	f->read_mod = f->mod;
	if (f->created)
		return mode == CONTEXT_MAY_CREATE ? 0 : no_file(f, err);
	if (parse(f, &text, err) < 0)
		return broken(f, err);
	return recall(f, err);
}

/* A document without a journal becomes the first commit of a new one. */
static int import(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_op document = {.what = STORE_PUT, .key = f->key};
	bool missing;
	int rc;

	if (f->disk->ops->read(f->disk, f->path, CONTEXT_MAX, &text, &missing, err) < 0)
		return missing ? 0 : -1;
	document.value = buf_str(&text);
	json_put_str(context_op(f, "import"), "file", str_of(f->path));
	rc = context_commit(f, &document, err);
	json_free(&f->op);
	return rc;
}

/* What a killed process committed but did not put in place is there too. */
static int must_be_there(struct context_file *f, struct error *err)
{
	bool there;

	if (f->disk->ops->exists(f->disk, f->path, &there, err) < 0)
		return -1;
	if (!there && f->disk->ops->exists(f->disk, context_journal(f), &there, err) < 0)
		return -1;
	return there ? 0 : no_file(f, err);
}

int context_open_on(struct context_file *f, struct disk *disk, const char *path,
	enum context_mode mode, struct error *err)
{
	*f = (struct context_file){.disk = disk, .events = json_array(), .seen = json_array()};
	if (set_names(f, path, mode, err) < 0)
		return -1;
	f->now = clock_now();
	if (mode == CONTEXT_READ_ONLY)
		return read_only(f, err);
	if (mode == CONTEXT_MUST_EXIST && must_be_there(f, err) < 0)
		return -1;
	if (store_open(&f->store, disk, f->dir, f->name, STORE_HOLD, lock_wait(), err) < 0)
		return -1;
	f->now = clock_now();
	if (!store_revision(f->store) && import(f, err) < 0)
		return -1;
	return load(f, mode, err);
}

int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err)
{
	return context_open_on(f, disk_real(), path, mode, err);
}

int context_again(struct context_file *f, enum context_mode mode, struct error *err)
{
	struct context_file old = *f;
	int rc;

	*f = (struct context_file){.disk = old.disk,
		.store = old.store,
		.events = json_array(),
		.seen = json_array(),
		.now = clock_now()};
	rc = set_path(f, old.path, err);
	old.store = NULL;
	context_close(&old);
	return rc < 0 ? -1 : load(f, mode, err);
}

void context_close(struct context_file *f)
{
	store_close(&f->store);
	json_free(&f->events);
	json_free(&f->op);
	json_free(&f->seen);
	context_release(&f->doc);
}

void context_note(struct context_file *f, const char *what)
{
	if (f->store)
		store_note(f->store, what);
}

int context_folder(struct arena *a, char **path, struct error *err)
{
	const char *base = getenv("DEV_TEAM_STATE_DIR"), *home = getenv("HOME");

	if (!base || !*base) {
		if (!home || home[0] != '/')
			return error_set(err, ERR_STATE,
				"no state folder: neither DEV_TEAM_STATE_DIR nor HOME is set");
		base = path_join(a, home, ".dev-team");
	}
	*path = path_absolute(a, base);
	return 0;
}

int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err)
{
	char *base;

	if (id_check(id, err) < 0)
		return -1;
	if (!slug_valid(str_of(slug)))
		return error_set(err, ERR_STATE, "bad repository slug '%.120s'", slug);
	if (context_folder(a, &base, err) < 0)
		return -1;
	*path = arena_printf(a, "%s/%s/%s.md", base, slug, id);
	return 0;
}
