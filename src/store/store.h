/*
 * store.h: the state of a work item, or of another room, as keys and values that change together or
 * not at all. Its operations are such that a backend which spans machines can implement them: get,
 * list, guarded transaction, watch, history. docs/store.md.
 *
 * Revisions. A transaction commits at one revision, greater than every earlier one and never used
 * again, also after a restart. All keys that it puts get it as their `mod`; `create` is the
 * revision at which the key was created. 0: there is no such key.
 *
 * A lease is a key with a time to live: it is deleted at its end, unless it was put again, which
 * renews it. A holder can guard its writes with CREATED_AT: that guard no longer holds once the
 * lease has ended, whoever has taken it since.
 *
 * Keys are 1 to 200 bytes of `A-Za-z0-9/._-`. Values are UTF-8 text without NUL, at most 64 KiB. A
 * transaction has at most 64 operations, each on its own key, and 512 KiB. A document is a key
 * `doc/NAME` with a value of up to 16 MiB, any bytes: a file NAME that people find, read and edit.
 * NAME is any UTF-8 text that is not hidden and not a journal's. An edit by hand is the transaction
 * of another client (actor `hand`). In a store that is open for writing it is committed by the next
 * get of the document, or before the next transaction that names it in an operation or a guard.
 *
 * Ownership: returned texts live in the arena of the caller. A
 * store belongs to one thread.
 */
#ifndef DT_STORE_H
#define DT_STORE_H

#include "src/base/json.h"
#include "src/store/delta.h"
#include "src/store/disk.h"

struct store;

enum {
	STORE_KEY_MAX = 200,
	STORE_DOCUMENT_KEY_MAX = 240,
	STORE_VALUE_MAX = 64 << 10,
	STORE_OPS_MAX = 64,
	STORE_TXN_MAX = 512 << 10,
	STORE_DOCUMENT_MAX = 16 << 20,
	STORE_BLOB_MAX = 128 << 20,
	STORE_TTL_MIN_S = 10,
	STORE_TTL_MAX_S = 30 * 86400,
};

#define STORE_JOURNAL_SUFFIX ".events.jsonl" /* of a journal; no document has it */
#define STORE_UNCOMMITTED    INT64_MAX       /* as a revision: later than all of them */

/* The outcome of an operation. All but STORE_OK and STORE_REFUSED fill *err. */
enum store_status {
	STORE_OK = 0,
	STORE_REFUSED,   /* a guard does not hold: nothing happened; `now` has the current keys */
	STORE_UNKNOWN,   /* it may have happened: a new open shows it */
	STORE_COMPACTED, /* the watched history is not kept: list, then watch from there */
	STORE_TIMEOUT,   /* nothing happened: the store was locked too long */
	STORE_DOWN,      /* nothing happened: the disk or the backend fails */
	STORE_BAD,       /* nothing happened: the request breaks a limit, a fault of the caller */
};

struct store_kv {
	struct str key, value;
	int64_t create, mod;
	int64_t until; /* of a lease: its end, in seconds since 1970; else 0 */
	int ttl_s;     /* as it was put */
};

struct store_guard {
	const char *key;
	enum { STORE_MOD_IS, STORE_CREATED_AT } what;
	int64_t rev; /* 0: must be absent */
};

struct store_op {
	enum { STORE_PUT, STORE_DEL } what;
	const char *key;
	struct str value;
	int ttl_s; /* of a lease: its time to live; 0: the key stays */
	/* Of a document, if the caller knows it: from the text at the current `mod` of the key. A
	 * wrong one is ignored. */
	const struct delta *delta;
};

struct store_txn {
	/* Who, and a text that no other operation of this actor has; both or neither. The same
	 * commit sets `rcpt/ACTOR` to OPID, which shows after UNKNOWN whether it happened. A
	 * transaction whose opid is in the receipt is not repeated: STORE_OK with its commit.
	 * (A backend that is `uncertain` gets an opid without an actor where the caller gives none,
	 * and must recognise it when it is sent again at once; it is no key.) */
	const char *actor, *opid;
	const struct store_guard *guards;
	size_t n_guards;
	const struct store_op *ops; /* none is a commit too */
	size_t n_ops;
	/* Array of objects: lines of the log, in this order; may be NULL. They have no `seq` and
	 * `rev`, and get the `ts` of the transaction if they have none. */
	const json *events;
	const json *note; /* object stored with the commit; may be NULL */
	const char *ts;   /* RFC 3339 time for the log; NULL: now */
};

struct store_result {
	int64_t rev; /* STORE_OK: the commit's */
	struct store_kv
		*now; /* STORE_REFUSED: the keys of the guards, in their order, mod 0 if absent */
	size_t n_now;
};

struct store_change {
	int64_t rev;
	bool deleted;
	struct store_kv kv; /* of a document: without its text */
};

/* Which commits, and what of them. */
struct store_range {
	int64_t from;      /* forwards: the first revision; backwards: the last, 0: the newest */
	int64_t after_seq; /* forwards: from the first commit with a later event; 0: from `from` */
	bool backwards;
	bool texts;   /* with the texts of documents */
	bool changes; /* with the changes instead, where the backend has them: cheaper */
};

/* A commit of the history. */
struct store_commit {
	int64_t rev;
	const char *ts, *actor;             /* actor NULL: none */
	const json *note;                   /* NULL: none */
	struct str events;                  /* JSON with seq, rev and ts, each on a line */
	const struct store_change *changes; /* all keys that it put or deleted */
	size_t n_changes;
	const char *document; /* key of the document that it put or deleted; NULL: none */
	bool removed;         /* it was deleted */
	const char *sum;      /* checksum of the text, equal for equal texts; deleted: empty */
	struct str text;      /* if asked for; empty if a compaction has dropped it */
	struct str change;    /* what makes the text of the one before: store_history_text() */
	const char *digest;   /* as store_digest() returned it after the commit */
};

enum store_mode {
	STORE_READ = 0,  /* takes no lock, changes nothing, sees whole commits */
	STORE_WRITE = 1, /* each operation takes the lock */
	STORE_HOLD = 2,  /* the lock is held from open to close */
	/* For store_history() and store_revision() alone. A store that does not exist is ERR_INPUT.
	 * Damage is an error of the read that meets it. */
	STORE_HISTORY = 3,
	/* Or'ed to another: a mark apart from the store says that it had commits, so that one whose
	 * commits were lost is refused with ERR_INPUT and left alone, not taken for a new one. */
	STORE_MARKED = 4,
};

/* Plain files on a disk. */
struct store_backend *store_files(struct disk *d);
/* What the product keeps its stores in: files on the machine's disk. */
struct store_backend *store_backend(void);
/* For tests: another one, or NULL for the product's. */
void store_set_backend(struct store_backend *b);

/*
 * The file backend: DIR/NAME.events.jsonl is the journal, DIR/.NAME.lock the lock, DIR/FILE each
 * document. The directory is created. `wait_ms`: how long to wait for the lock, each time.
 *
 * A commit that a kill or a power cut interrupted is finished or undone first; whatever follows the
 * last whole commit is cut. -1: ERR_STATE (locked, or a network file system), ERR_INPUT (a journal
 * of another format, or damaged at its end; it is left alone), ERR_SYSTEM.
 */
int store_open(struct store **out, struct store_backend *b, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err);
/* Whether there is the store or the document `file`. -1: unknown. */
int store_exists(struct store_backend *b, const char *dir, const char *name, const char *file,
	bool *there, struct error *err);
struct store_paths {
	const char **items;
	size_t n, cap;
};
/* The paths of the documents NAME.md of stores NAME below `dir`, sorted; in `a`. Those in worktrees
 * of git, which may be in the state directory too, are left out. -1: ERR_SYSTEM. */
int store_documents(struct store_backend *b, struct arena *a, const char *dir,
	struct store_paths *out, struct error *err);
/* The names of the stores in `dir`, not below it, sorted; in `a`. -1: ERR_SYSTEM. */
int store_names(struct store_backend *b, struct arena *a, const char *dir, struct store_paths *out,
	struct error *err);
/* Creates the directory of stores that are to be created. */
int store_prepare(struct store_backend *b, const char *dir, struct error *err);
/* The text of a document as people see it, without its store: it may have none, or a damaged one.
 * *missing: -1 because there is no such document. */
int store_read_file(struct store_backend *b, const char *dir, const char *file, struct buf *out,
	bool *missing, struct error *err);
/*
 * Keeps a text of any bytes, up to STORE_BLOB_MAX, in DIR under a name that begins with `stem` and
 * contains the text's checksum, so that a repeated call changes nothing. For what is too long for a
 * value, and for logs. *path: for people, and for store_read_blob(); in `a`.
 */
int store_keep_blob(struct store_backend *b, struct arena *a, const char *dir, const char *stem,
	struct str text, char **path, struct error *err);
/* -1: ERR_INPUT when there is none, or its checksum is wrong. */
int store_read_blob(struct store_backend *b, const char *path, struct buf *out, struct error *err);
void store_close(struct store **s); /* for CLEANUP too; safe on NULL */
/* STORE_HOLD: the reason that others see while they wait. */
void store_note(struct store *s, const char *what);
/* The operations of a backend: files, an adapter for another store, a test. */
struct store_methods;

/* The revision of the last commit as of the last operation; 0 for a new store. */
int64_t store_revision(struct store *s);
/* Where a watch begins that is to miss nothing after the last operation. */
int64_t store_cursor(struct store *s);
/* The `seq` of the last event. */
int64_t store_last_seq(struct store *s);
/* The checksum of the last commit: of its revision, events, keys, documents and note. Two histories
 * with equal checksums have the same last commit. NULL: the backend keeps no checksums. */
const char *store_digest(struct store *s);

/* A key that is no document. Absent: STORE_OK with mod 0. */
enum store_status store_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err);
/* The same of a document; `out` is its text, the `value` is left out. A reader gets it as it is on
 * disk: with an edit by hand that is not committed yet; one that was never committed has the mod
 * STORE_UNCOMMITTED. */
enum store_status store_get_document(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err);
/* Up to `max` keys that begin with `prefix`, sorted by bytes, after `after` (NULL: from the first);
 * values of documents are left out. *at: the revision that the list shows. */
enum store_status store_list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err);
enum store_status store_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err);
/*
 * Changes of keys that begin with `prefix`, revisions >= `from`, in order, at most `max` of them
 * but never half a commit. Waits up to `wait_ms` for the first. *next: where to continue. Each is
 * seen at least once.
 */
enum store_status store_watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err);
/* Deletes the history before `rev`, for stores whose history is not read. Keys stay. */
enum store_status store_compact(struct store *s, int64_t rev, struct error *err);
/* Deletes the store with its history; one that is opened later under its name is new. BAD: s does
 * not hold it (STORE_HOLD), as every writer of such a store must, or it has a document. Close s
 * afterwards. */
enum store_status store_remove(struct store *s, struct error *err);

/* Reads commits, each once, in the order of their revisions or backwards. Costs what the commits
 * cost that are read, not what exists. Close *out before the next operation on s. */
struct store_history;
enum store_status store_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err);
/* The next commit: 1, 0 at the end, -1 (ERR_INPUT naming the place where the history is damaged,
 * ERR_SYSTEM). What *c points to lives until the next call. */
int store_history_next(struct store_history *h, struct store_commit *c, struct error *err);
/* *text: the document's text before a commit with a `change`; becomes the one after it. */
int store_history_text(
	struct store_history *h, const struct store_commit *c, struct buf *text, struct error *err);
void store_history_close(struct store_history **h); /* for CLEANUP; safe on NULL */
/* Cuts the next event whose line contains `mark` off *events; NULL at the end. The caller's. */
json *store_next_event(struct str *events, const char *mark);

struct store_methods {
	/* The longest document; 0: STORE_DOCUMENT_MAX. store.c keeps longer ones as blobs. */
	size_t document_max;
	/* It returns STORE_UNKNOWN for requests that can be repeated: store.c does that. */
	bool uncertain;
	enum store_status (*get)(
		struct store *, struct arena *, const char *, struct store_kv *, struct error *);
	enum store_status (*get_document)(
		struct store *, const char *, struct buf *, struct store_kv *, struct error *);
	enum store_status (*list)(struct store *, struct arena *, const char *, const char *,
		size_t, struct store_kv **, size_t *, int64_t *, struct error *);
	enum store_status (*txn)(struct store *, struct arena *, const struct store_txn *,
		struct store_result *, struct error *);
	enum store_status (*watch)(struct store *, struct arena *, const char *, int64_t, int,
		size_t, struct store_change **, size_t *, int64_t *, struct error *);
	enum store_status (*compact)(struct store *, int64_t, struct error *);
	enum store_status (*remove)(struct store *, struct error *);
	enum store_status (*history)(struct store *, const struct store_range *,
		struct store_history **, struct error *);
	int64_t (*revision)(struct store *);
	int64_t (*last_seq)(struct store *);
	const char *(*digest)(struct store *); /* may be NULL */
	void (*note)(struct store *, const char *);
	void (*close)(struct store *);
};

struct store_backend_ops {
	int (*open)(struct store_backend *, struct store **, const char *, const char *,
		enum store_mode, unsigned, struct error *);
	int (*exists)(struct store_backend *, const char *, const char *, const char *, bool *,
		struct error *);
	int (*documents)(struct store_backend *, struct arena *, const char *, struct store_paths *,
		struct error *);
	int (*names)(struct store_backend *, struct arena *, const char *, struct store_paths *,
		struct error *);
	int (*prepare)(struct store_backend *, const char *, struct error *);
	int (*read_file)(struct store_backend *, const char *, const char *, struct buf *, bool *,
		struct error *);
	int (*keep_blob)(struct store_backend *, const char *dir, const char *path, struct str text,
		struct error *);
	int (*read_blob)(struct store_backend *, const char *path, struct buf *, struct error *);
};

/* The first members of every backend's own structs. */
struct store {
	const struct store_methods *ops;
	/* store_open() sets the rest. */
	struct store_backend *backend;
	char *dir;
};
struct store_history {
	int (*next)(struct store_history *, struct store_commit *, struct error *);
	int (*text)(const struct store_commit *, struct buf *, struct error *); /* may be NULL */
	void (*close)(struct store_history *);
	struct store *of; /* store_history() sets the rest */
	struct buf blob;
};

#endif
