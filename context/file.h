/*
 * file.h: a document in its store: lock, load, save and events. A kill at any point leaves either
 * the old or the new state.
 *
 *     <dir>/<ID>.md   <dir>/<ID>.events.jsonl   <dir>/.<ID>.lock   <dir>/logs/
 *
 * Each save also commits what `history verify` needs to repeat it: the operation (context_op) and
 * its inputs from outside (context_seen). The clock is read again only with an input (f->now).
 */
#ifndef DT_CONTEXT_FILE_H
#define DT_CONTEXT_FILE_H

#include "context/context.h"
#include "src/store/store.h"

enum context_mode {
	CONTEXT_MUST_EXIST = 0,
	CONTEXT_MAY_CREATE = 1,
	CONTEXT_READ_ONLY = 2, /* no lock: a reader sees the old document or the new one */
	CONTEXT_REPLACE = 3,   /* it may have a fault, or be missing: doc is empty then */
};

#define CONTEXT_LEASE_KEY "lease"

struct context_file {
	struct context doc;
	struct arena arena; /* of the names */
	char *path;         /* absolute */
	char *dir, *name;   /* name: without `.md` */
	char *key;          /* of the document in the store */
	enum context_mode mode;
	bool created; /* there was no document yet; doc is empty until context_create() */
	bool refused; /* the last commit: what it depends on was changed meanwhile */
	struct store_backend *backend;
	struct store *store;          /* NULL for a reader */
	int64_t mod;                  /* revision of the document as loaded or saved; 0: none */
	int64_t read_mod;             /* the revision that doc.text is of */
	int64_t now;                  /* seconds; the time of the next events and save */
	json *events;                 /* array: what the next save appends */
	json *op;                     /* object: the operation; NULL: none */
	json *seen;                   /* array: inputs from outside since the operation began */
	unsigned saves;               /* of this operation */
	struct str attempts;          /* the numbers of actions that the store has */
	VEC(struct store_op) ops;     /* keys of the next save */
	VEC(struct store_guard) read; /* keys that were read */
	int64_t lease;                /* fence of the lease that each save renews; 0: none */
	int lease_ttl_s;
};

/* -1: ERR_STATE when another process holds the lock too long; ERR_INPUT with a place when the
 * document is broken. An edit by hand is committed first, except for a reader. */
int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err);
/* In a backend that need not be the product's. `path` must be absolute then. */
int context_open_on(struct context_file *f, struct store_backend *b, const char *path,
	enum context_mode mode, struct error *err);
/* The same as a close and a second open for writing, without releasing the lock and without reading
 * the journal again. */
int context_reopen(struct context_file *f, struct error *err);
/* True, with ERR_STATE, if the document is gone though its history has events: a second one would
 * lose what the first one had. f->created must be set. */
bool context_is_lost(const struct context_file *f, struct error *err);
/* True if the error is a fault of the document. */
bool context_has_fault(const struct context_file *f, const struct error *err);
/*
 * Calls `change`, which changes f and saves it, once or more often. If a save is refused because a
 * person or another process has changed the document or a key that f has read, f is opened again
 * and `change` is called again, until the time for a lock is over. The events that f had before the
 * call belong to each attempt. What an earlier attempt has saved stays saved: `change` must look in
 * the document for what is done already. -1: as `change`; ERR_STATE with f->refused if every
 * attempt was refused.
 */
typedef int context_change(struct context_file *f, void *data, struct error *err);
int context_update(struct context_file *f, context_change *change, void *data, struct error *err);
/* The document's bytes as they are on the disk, also if they cannot be parsed. Takes no lock. */
int context_read(struct store_backend *b, const char *path, struct buf *out, bool *missing,
	struct error *err);
/* Makes the document that did not exist (f->created) in its first state; context_save() writes it.
 */
int context_create(struct context_file *f, const char *id, const char *state, struct error *err);
/* For CLEANUP: releases the lock. Unsaved changes are lost. */
void context_close(struct context_file *f);
/* Status text shown to processes that wait for the lock. */
void context_note(struct context_file *f, const char *what);

/* Begins an operation, `{"op":NAME}`, which is committed with each save from now on; the caller
 * adds its inputs. Belongs to f. Ends the operation before. */
json *context_op(struct context_file *f, const char *name);
/* Records an input from outside: `{"what":W,"value":V,"at":TIME}` is committed with
 * the next saves of this operation; takes V (NULL: none). Also reads the clock again. */
void context_seen(struct context_file *f, const char *what, json *value);

/* Adds an event of `type` to the next save; the caller adds more members. Belongs to f. */
json *context_event(struct context_file *f, const char *type);
/* Sees one event; false: stop. */
typedef bool context_visit(const json *event, void *data);
/* Calls `visit` for the saved events whose line contains `mark` ("": all), the last one first.
 * Reads the journal only as far back as needed. */
int context_read_events(const struct context_file *f, const char *mark, context_visit *visit,
	void *data, struct error *err);
/* The same, for none further back than the history can be read. */
void context_each_event(
	const struct context_file *f, const char *mark, context_visit *visit, void *data);
/* Sets a key with the next save; an empty value deletes it. Texts are copied. */
void context_put_key(struct context_file *f, const char *key, struct str value);
/* Opens the store of a reader as well, whose keys it can read then. Closed with f. */
int context_open_keys(struct context_file *f, struct error *err);
/* For a reader: replaces the document's counts of attempts by those of the store, as a writer has
 * them. */
int context_read_counts(struct context_file *f, struct error *err);
/* The value of a key, in the document's arena; empty when there is none, or f is a reader's whose
 * keys are not open. */
int context_get_key(struct context_file *f, const char *key, struct str *value, struct error *err);
/* The same of a value that is JSON; *out NULL: there is none. */
int context_get_json(struct context_file *f, const char *key, json **out, struct error *err);
void context_put_json(struct context_file *f, const char *key, const json *value);

/* Appends the events, replaces the document, puts the keys, renews the lease: one commit, or none
 * if there is nothing to do. -1: ERR_INPUT when a load would refuse the new document; ERR_STATE
 * with f->refused when what was read has changed; ERR_SYSTEM. Nothing was saved, unless the message
 * says that this is not known. */
int context_save(struct context_file *f, struct error *err);
/* Drops the events and keys that are not saved yet. */
void context_forget(struct context_file *f);
/* Commits events, keys and lease only; the document on the disk stays as it is. The events and keys
 * are dropped also when that fails. */
int context_log(struct context_file *f, struct error *err);
/* As `context set` does: sets a key to a value that was checked, and saves unless it has that
 * value. -1: ERR_STATE for the answer to a question that is not open. */
int context_set_key(struct context_file *f, const char *key, struct str value, struct error *err);
/* Saves `text` as the document, whatever is there now. It is not parsed: close f afterwards. */
int context_replace(struct context_file *f, struct str text, struct error *err);
/* Replaces the loaded document with `text`, an earlier revision; context_save() writes it. */
int context_revert(struct context_file *f, struct str text, struct error *err);
/* Keeps `text` in logs/ in a file whose name begins with `stem` and contains a checksum. `*path` is
 * below the directory of the document, and in the document's arena. */
int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err);

/* DEV_TEAM_STATE_DIR or ~/.dev-team, absolute. -1: ERR_STATE. */
int context_state_directory(struct arena *a, char **path, struct error *err);
/* `<state directory>/<slug>/<id>.md`. -1: ERR_USAGE for a bad id, ERR_STATE for a bad slug. */
int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err);

#endif
