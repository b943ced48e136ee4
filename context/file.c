#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "context/file.h"
#include "src/base/clock.h"
#include "src/base/path.h"
#include "src/store/document.h"
#include "src/store/journal.h"
#include "src/store/lock.h"

/* 200 writers of one file finish well within it, even on a disk whose fsync takes 50 ms. */
enum { LOCK_WAIT_MS = 30000 };

/* What is no number of milliseconds, up to an hour, is as if it were not set. */
static unsigned lock_wait(void)
{
	const char *set = getenv("DEV_TEAM_LOCK_WAIT_MS");
	size_t n = set ? strspn(set, "0123456789") : 0;
	long ms = n && n <= 7 && !set[n] ? strtol(set, NULL, 10) : LOCK_WAIT_MS;

	return ms > 3600000 ? LOCK_WAIT_MS : (unsigned)ms;
}

/* What we make is for its owner: whoever can write the document can have commands run, and logs may
 * hold what nobody else should read. Folders that are there keep their mode. */
static int make_folder(const char *dir, struct error *err)
{
	mode_t others = umask(077);
	int rc = path_mkdirs(dir, err);

	(void)umask(others);
	return rc;
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
	return 0;
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

	if (realpath(path, real))
		return set_path(f, real, err);
	if (set_path(f, path_absolute(a, path), err) < 0)
		return -1;
	if (mode == CONTEXT_MAY_CREATE && make_folder(f->dir, err) < 0)
		return -1;
	if (!realpath(f->dir, real))
		return 0;
	return set_path(f, path_join(a, real, path_base(f->path).p), err);
}

static char *beside(struct context_file *f, const char *prefix, const char *suffix)
{
	return arena_printf(&f->doc.arena, "%s/%s%s%s", f->dir, prefix, f->name, suffix);
}

static int take_lock(struct context_file *f, enum context_mode mode, struct error *err)
{
	if (mode == CONTEXT_MUST_EXIST && !path_exists(f->path))
		return error_set(err, ERR_INPUT, "no context file '%s'", f->path);
	return lock_take(&f->lock, beside(f, ".", ".lock"), lock_wait(), err);
}

/* The names were made in the arena that a new document starts anew, so they move over. */
static void keep_names(struct context_file *f, struct arena *names)
{
	struct arena *a = &f->doc.arena;

	f->path = arena_dup(a, str_of(f->path));
	f->dir = arena_dup(a, str_of(f->dir));
	f->name = arena_dup(a, str_of(f->name));
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
 * The journal saw a later document than this one, or this one does not say what it has seen:
 * numbers of actions that were given out must not be given out again. Rare, so nobody else pays for
 * it.
 */
static int recall(struct context_file *f, struct error *err)
{
	uint64_t seen = journal_rev(f->journal);

	if (seen <= context_count(&f->doc, "revision") &&
		(!seen || context_has(&f->doc, "attempts")))
		return 0;
	return context_recall_attempts(&f->doc, beside(f, "", ".events.jsonl"), err);
}

int context_create(struct context_file *f, const char *id, const char *state, struct error *err)
{
	struct arena names = f->doc.arena;
	char now[CLOCK_TEXT];
	int rc;

	clock_text(clock_now(), now);
	rc = context_new(&f->doc, f->path, id, state, now, err);
	keep_names(f, &names);
	return rc < 0 ? rc : recall(f, err);
}

static int load(struct context_file *f, enum context_mode mode, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (file_read(&text, f->path, CONTEXT_MAX, &f->created, err) == 0)
		return parse(f, &text, err);
	if (!f->created)
		return -1;
	if (mode == CONTEXT_MAY_CREATE)
		return 0;
	return error_set(err, ERR_INPUT, "no context file '%s'", f->path);
}

int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err)
{
	uint64_t rev = 0;

	*f = (struct context_file){.events = json_array()};
	if (set_names(f, path, mode, err) < 0)
		return -1;
	if (mode == CONTEXT_READ_ONLY)
		return load(f, mode, err);
	if (take_lock(f, mode, err) < 0 || load(f, mode, err) < 0)
		return -1;
	if (!f->created && context_get(&f->doc, "revision").n == 0)
		rev = JOURNAL_REV_UNKNOWN;
	else if (!f->created)
		rev = context_count(&f->doc, "revision");
	if (journal_open(&f->journal, beside(f, "", ".events.jsonl"), rev, err) < 0)
		return -1;
	return f->created ? 0 : recall(f, err);
}

void context_close(struct context_file *f)
{
	journal_close(&f->journal);
	lock_drop(&f->lock);
	json_free(&f->events);
	context_release(&f->doc);
}

json *context_event(struct context_file *f, const char *type)
{
	json *event = json_object();
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	json_put_str(event, "ts", str_of(now));
	json_put_str(event, "type", str_of(type));
	json_push(f->events, event);
	return event;
}

void context_forget(struct context_file *f)
{
	json_free(&f->events);
	f->events = json_array();
}

/* Above both: a document that was put back by hand must not reuse revisions that the journal has
 * seen. What no document can reach was not written by a save. */
static uint64_t next_revision(const struct context_file *f)
{
	uint64_t own = context_count(&f->doc, "revision"), seen = journal_rev(f->journal);

	return (seen >= FIELD_MAX || own > seen ? own : seen) + 1;
}

int context_save(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char now[CLOCK_TEXT];
	uint64_t rev;
	bool replaced = false;

	if (!f->doc.changed)
		return context_log(f, err);
	rev = next_revision(f);
	clock_text(clock_now(), now);
	context_set(&f->doc, "last_updated", str_of(now));
	context_set_count(&f->doc, "revision", rev);
	if (context_render(&f->doc, &text, err) < 0 ||
		context_check(&f->doc, buf_str(&text), err) < 0)
		return -1;
	if (document_stage(f->path, buf_str(&text), err) < 0)
		return -1;
	if (journal_append(f->journal, f->events, rev, err) < 0) {
		document_discard(f->path);
		return -1;
	}
	context_forget(f);
	f->doc.changed = false;
	if (document_commit(f->path, &replaced, err) == 0)
		return 0;
	if (!replaced)
		journal_undo(f->journal);
	return -1;
}

int context_log(struct context_file *f, struct error *err)
{
	int rc = 0;

	if (json_first(f->events))
		rc = journal_append(f->journal, f->events, context_count(&f->doc, "revision"), err);
	context_forget(f);
	return rc;
}

int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err)
{
	char stamp[CLOCK_TEXT];
	char *dir = path_join(&f->doc.arena, f->dir, "logs");

	clock_stamp(clock_now(), stamp);
	if (make_folder(dir, err) < 0)
		return -1;
	for (unsigned i = 1; i < 100000; i++) {
		CLEANUP(close_fd) int fd = -1;

		*path = arena_printf(&f->doc.arena, "%s/%s-%s-%u.txt", dir, stem, stamp, i);
		fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd_write_all(fd, text, *path, err);
		if (errno != EEXIST)
			return error_errno(err, "cannot write '%s'", *path);
	}
	return error_set(err, ERR_SYSTEM, "no free name left for '%s/%s'", dir, stem);
}

int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err)
{
	const char *base = getenv("DEV_TEAM_STATE_DIR"), *home = getenv("HOME");

	if (id_check(id, err) < 0)
		return -1;
	if (!slug_valid(str_of(slug)))
		return error_set(err, ERR_STATE, "bad repository slug '%.120s'", slug);
	if (!base || !*base) {
		if (!home || home[0] != '/')
			return error_set(err, ERR_STATE,
				"no state folder: neither DEV_TEAM_STATE_DIR nor HOME is set");
		base = path_join(a, home, ".dev-team");
	}
	*path = path_absolute(a, arena_printf(a, "%s/%s/%s.md", base, slug, id));
	return 0;
}
