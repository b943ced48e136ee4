/*
 * file.h: the context document on disk: lock, load, save with its events, in the order that a kill
 * anywhere leaves either the old or the new state.
 *
 *     <dir>/<ID>.md   <dir>/<ID>.events.jsonl   <dir>/.<ID>.lock   <dir>/logs/
 */
#ifndef DT_CONTEXT_FILE_H
#define DT_CONTEXT_FILE_H

#include "context/context.h"
#include "src/base/json.h"

struct context_file {
	struct context doc;
	char *path;       /* absolute */
	char *dir, *name; /* name: without `.md` */
	bool created;     /* there was no document yet; doc is empty until context_new() */
	struct lock *lock;
	struct journal *journal;
	json *events; /* array: what the next save will append */
};

enum context_mode {
	CONTEXT_MUST_EXIST = 0,
	CONTEXT_MAY_CREATE = 1,
	CONTEXT_READ_ONLY = 2, /* no lock: a reader sees the old document or the new one */
};

/* -1: ERR_STATE when the lock is held too long; ERR_INPUT with a place when the document is broken.
 */
int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err);
/* Makes the document that was not there yet (f->created), at its first state; context_save() writes
 * it. */
int context_create(struct context_file *f, const char *id, const char *state, struct error *err);
/* For CLEANUP: gives the lock back; what was not saved is forgotten. */
void context_close(struct context_file *f);

/* Adds an event of `type` to the next save; the caller puts more members into it. Belongs to f. */
json *context_event(struct context_file *f, const char *type);

/* Appends the events, replaces the document. Nothing to do when neither changed. -1: ERR_INPUT when
 * a load would refuse what is to be saved, ERR_SYSTEM; the document is the old one. */
int context_save(struct context_file *f, struct error *err);

/* Forgets the events that no save has appended yet. */
void context_forget(struct context_file *f);
/*
 * Appends the events alone (refusals): the document stays as it is on disk, byte for byte.
 */
int context_log(struct context_file *f, struct error *err);

/* Keeps `text` in logs/ under a name of its own that begins with `stem`; `*path` in the document's
 * arena. */
int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err);

/* `<base>/<slug>/<id>.md`; base is DEV_TEAM_STATE_DIR or ~/.dev-team. -1: ERR_USAGE for a bad id,
 * ERR_STATE for a bad slug. */
int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err);

#endif
