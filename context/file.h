/*
 * file.h: the context document in its store: lock, load, save with its events,
 * so that a kill anywhere leaves either the old or the new state.
 *
 *     <dir>/<ID>.md   <dir>/<ID>.events.jsonl   <dir>/.<ID>.lock   <dir>/logs/
 *
 * What a save needs besides the document to be done again by `history verify`
 * goes with it: the operation (context_op), what came in from outside
 * (context_seen), and one time of day for all that happens between two of these
 * (f->now).
 */
#ifndef DT_CONTEXT_FILE_H
#define DT_CONTEXT_FILE_H

#include "context/context.h"
#include "src/store/store.h"

struct context_file {
	struct context doc;
	char *path;       /* absolute */
	char *dir, *name; /* name: without `.md` */
	char *key;        /* of the document in the store */
	bool created;     /* there was no document yet; doc is empty until
			     context_create() */
	struct disk *disk;
	struct store *store;  /* NULL for a reader */
	int64_t mod;          /* revision of the document as loaded or saved; 0: none */
	int64_t read_mod;     /* the one that doc.text is of */
	int64_t now;          /* seconds; what the next events and save say */
	json *events;         /* array: what the next save will append */
	json *op;             /* object: the operation; NULL: none was said */
	json *seen;           /* array: what came in from outside since the operation began */
	unsigned saves;       /* of this operation */
	const json *replay;   /* history verify alone: the `seen` of the save that is
				 done again */
	size_t replayed;      /* how many of it are used up */
	struct store_op *ops; /* keys that go with the next save */
	size_t n_ops, cap_ops;
	uint64_t lease; /* renewed by each save; 0: none */
	int lease_ttl_s;
};

enum context_mode {
	CONTEXT_MUST_EXIST = 0,
	CONTEXT_MAY_CREATE = 1,
	CONTEXT_READ_ONLY = 2, /* no lock: a reader sees the old document or the new one */
};

/* -1: ERR_STATE when the lock is held too long; ERR_INPUT with a place when the
 * document is broken (it is in the history then, and f->store is open:
 * context_restore() can be called). An edit by hand is in the history before
 * this returns. */
int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err);
/* On a disk that need not be the machine's. `path` must be absolute then. */
int context_open_on(struct context_file *f, struct disk *disk, const char *path,
	enum context_mode mode, struct error *err);
/* As if it was closed and opened for writing again, but the lock is never given back and the
 * journal not read anew: for those who play many invocations on a disk of their own. */
int context_again(struct context_file *f, enum context_mode mode, struct error *err);
/*
 * The document's bytes as a reader sees them, parsed or not: what was committed last, or what
 * people made of it since. Also what a kill or a power cut kept from its place.
 */
int context_read(
	struct disk *disk, const char *path, struct buf *out, bool *missing, struct error *err);
/* Makes the document that was not there yet (f->created), at its first state;
 * context_save() writes it. */
int context_create(struct context_file *f, const char *id, const char *state, struct error *err);
/* For CLEANUP: gives the lock back; what was not saved is forgotten. */
void context_close(struct context_file *f);
/* Tells those who wait for the lock what takes so long. */
void context_note(struct context_file *f, const char *what);

/* Begins an operation: `{"op":NAME}`, kept with each save from now on; the
 * caller puts its inputs into it. Belongs to f. Ends the one before. */
json *context_op(struct context_file *f, const char *name);
/*
 * Something came in from outside, which a replay could not know:
 * `{"what":W,"value":V,"at":TIME}` goes with the next saves of this operation;
 * takes V (NULL: null). Also reads the clock anew.
 */
void context_seen(struct context_file *f, const char *what, json *value);
/* A replay: the next `seen` if it is a `what`, else NULL; its time becomes
 * f->now. */
const json *context_replayed(struct context_file *f, const char *what);

/* Adds an event of `type` to the next save; the caller puts more members into
 * it. Belongs to f. */
json *context_event(struct context_file *f, const char *type);
/* A key that goes with the next save. An empty value deletes it. Texts are
 * copied. */
void context_put_key(struct context_file *f, const char *key, struct str value);
/* The value of a key, in the document's arena; empty when there is none or f is
 * a reader's. */
int context_get_key(struct context_file *f, const char *key, struct str *value, struct error *err);

/* Appends the events, replaces the document, puts the keys, renews the lease:
 * one commit. Nothing to do when there is none of them. -1: ERR_INPUT when a
 * load would refuse what is to be saved, ERR_SYSTEM; the document is the old
 * one. */
int context_save(struct context_file *f, struct error *err);

/* Forgets the events and keys that no save has appended yet. */
void context_forget(struct context_file *f);
/*
 * Commits the events, keys and lease alone (refusals): the document stays as it
 * is on disk, byte for byte.
 */
int context_log(struct context_file *f, struct error *err);

/* Puts `text` in the document's place, whatever stands there now (a broken
 * edit, nothing), and saves that. The document is not parsed: close f
 * afterwards. */
int context_replace(struct context_file *f, struct str text, struct error *err);

/* Keeps `text` in logs/ under a name of its own that begins with `stem`;
 * `*path` in the document's arena. */
int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err);

/* The state folder: DEV_TEAM_STATE_DIR or ~/.dev-team, absolute. -1: ERR_STATE. */
int context_folder(struct arena *a, char **path, struct error *err);
/* `<base>/<slug>/<id>.md`; base is the state folder. -1:
 * ERR_USAGE for a bad id, ERR_STATE for a bad slug. */
int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err);

#endif
