/*
 * internal.h: shared by the files of the file backend alone.
 *
 * Offsets in the journal are logical: compaction cuts off the beginning of a journal, and offsets
 * keep counting from the beginning that was cut off. physical = logical - shift.
 *
 * The commit line:
 *
 *     "commit":REV "format":2 "ts" "actor"
 *     "seq": of the last event
 *     "from","at": where the transaction begins, and where this line does
 *     "gone":{KEY:SUM}: documents whose files are to be removed, and their last checksum
 *     "del":[KEY] "put":{KEY:[VALUE,CREATE,MOD,UNTIL,TTL]}
 *     "doc":{KEY:[SUM,BEFORE,WHOLE,SINCE,CREATE,MOD,PLACED,EARLIER]}: see struct state_entry
 *     "all":{"put":...,"doc":...}: the whole state as of this commit
 *     "base": where the last line with "all" begins
 *     "note":{...}
 *     "sum": checksum of all bytes from "from" to here
 *
 * Empty members are left out. The first line of a journal is `{"format":2}`.
 */
#ifndef DT_STORE_FILE_INTERNAL_H
#define DT_STORE_FILE_INTERNAL_H

#include "src/base/vec.h"
#include "src/store/store.h"
#include "src/sys/digest.h"

#define FILE_HEADER "{\"format\":2"
#define FILE_COMMIT "{\"commit\":"
#define FILE_CHANGE "{\"change\":"

enum {
	FILE_FORMAT = 2,
	FILE_DUMP = 8 << 10,      /* journal bytes between two lines with "all", about */
	FILE_WHOLE = 64 << 10,    /* bytes of changes between two whole texts, about */
	FILE_RECHECK = 256 << 10, /* documents up to this size are compared twice */
	FILE_WINDOW = 16 << 10,   /* bytes of the journal that are read first */
};

/* ---- state.c: the keys as of the last commit ---- */

struct state_entry {
	char *key, *value; /* value: NULL for a document */
	size_t n;
	int64_t create, mod;
	int64_t until; /* of a lease */
	int ttl;       /* 0: it is none */
	bool document;
	char sum[DIGEST_TEXT];    /* checksum */
	char before[DIGEST_TEXT]; /* of the text that the last exchange replaced */
	int64_t whole, since;     /* offset of the last whole text; bytes of changes since */
	int64_t placed, earlier;  /* revisions of the last exchange and of the one before it */
};

struct store_state {
	int64_t rev, seq;
	int64_t base, base_rev;       /* of the last line with "all" */
	int64_t base_size;            /* its bytes */
	VEC(struct state_entry) keys; /* sorted by bytes */
};

void store_state_clear(struct store_state *s);
size_t store_state_index(
	const struct store_state *s, const char *key); /* of the first key >= `key` */
struct state_entry *store_state_find(const struct store_state *s, const char *key);
/* The same, but NULL too when it is a lease that has ended. */
struct state_entry *store_state_find_alive(
	const struct store_state *s, const char *key, int64_t now);
/* Finds or adds; the value is copied. A new entry has `create` 0. */
struct state_entry *store_state_put(struct store_state *s, const char *key, struct str value);
void store_state_delete(struct store_state *s, const char *key);
/* A clock that is set back does not lengthen a lease. */
int64_t state_entry_until(const struct state_entry *e, int64_t now);
void state_entry_kv(
	const struct state_entry *e, struct arena *a, int64_t now, struct store_kv *out);
void store_state_write(struct json_writer *w, const struct store_state *s); /* "all":{...} */
void state_entry_write(struct json_writer *w, const struct state_entry *e); /* KEY:[...] */
/* Rows of "put" and "doc". False: malformed. */
bool state_entry_read_key(const json *item, struct store_kv *kv);
bool state_entry_read_document(const json *item, struct state_entry *e);
/* Applies a commit line of `n` bytes. False: malformed. */
bool store_state_apply(struct store_state *s, const json *commit, size_t n);

/* ---- backend.c ---- */

struct file_store {
	struct store base;
	struct disk *disk;
	enum store_mode mode;
	bool begun;  /* there is a mark */
	bool damage; /* STORE_HISTORY: opened in spite of damage; nothing but history is read */
	unsigned wait_ms;
	struct arena arena;                          /* of the paths */
	char *dir, *journal_path, *lock_path, *mark; /* mark: NULL: none is wanted */
	struct disk_lock *lock;    /* STORE_HOLD: always; STORE_WRITE: during an operation */
	struct disk_file *journal; /* NULL: there is none yet (STORE_READ) */
	int64_t end, shift;        /* physical end of the last whole commit */
	bool fresh;                /* the journal's name may not be durable yet */
	bool unsynced;             /* nor may the journal's end, which a kill can have left */
	bool committed;            /* there is a commit */
	char sum[DIGEST_TEXT];     /* of the last commit */
	struct error
		broken; /* code not 0: the outcome of a commit is unknown, see store_file_break() */
	struct store_state state;
	/* The document that recovery has read, for the first get after it. */
	char recovered_key[STORE_DOCUMENT_KEY_MAX + 1];
	struct buf recovered;
};

/* Reads the state from the disk; under the lock, also recovers from a kill or a power cut. */
int store_file_load(struct file_store *f, struct error *err);
/* From now on every operation fails with STORE_UNKNOWN: a commit may or may not be on the disk. */
enum store_status store_file_break(struct file_store *f, struct error *err);

/* ---- journal_read.c: where the journal ends, what it says, and recovery ---- */

int journal_sync(struct file_store *f, struct error *err);

struct journal {
	struct disk_file *file;
	const char *path;
	int64_t end, shift; /* physical end of the last whole commit; 0: there is none */
	json *commit;       /* its line; NULL: there is none */
	size_t n;           /* bytes of the line with its newline */
	char sum[DIGEST_TEXT];
	bool broken;       /* damaged beyond one unfinished transaction at the end */
	struct buf window; /* the part of the journal's end that was read */
	int64_t window_at;
};

void journal_release(struct journal *j);
/* The first line of a compacted journal. */
struct journal_header {
	int64_t begin;     /* physical, of the first transaction */
	int64_t shift;     /* of all offsets */
	int64_t compacted; /* the first revision that is kept */
};

/* All 0 where the first line is not that. */
int journal_read_header(const struct file_store *f, struct journal_header *h, struct error *err);
/* Finds the last whole commit in the first `size` bytes. -1: ERR_SYSTEM, or ERR_INPUT for another
 * format. */
int journal_find_tail(struct journal *j, int64_t size, struct error *err);
/* Reads the state from the commits since the "base" of the last one. */
int journal_load_state(struct journal *j, struct store_state *s, struct error *err);
/* Under the lock: cuts the `size` bytes of the journal to f->end, puts documents in place that the
 * last commit (NULL: none) staged, and removes other staged files. */
int journal_recover(struct file_store *f, const json *commit, int64_t size, struct error *err);
/* True when `line` (without its newline) is a commit line; its revision. */
bool journal_is_commit(struct str line, int64_t *rev);
/* The number of the line that begins at `at`; 1 if it cannot be read. */
unsigned journal_line_number(struct disk_file *f, int64_t at);
/* Start of the last commit line of text[0..end), or -1. */
ssize_t journal_last_commit(struct str text, size_t end);
/* STORE_HISTORY: f->end is behind the last commit line of `size` bytes, whole or damaged. */
int journal_find_last_line(
	struct file_store *f, const struct journal *j, int64_t size, struct error *err);
/* The checksum that a commit line contains, and the offset of that member; NULL: none. */
const char *journal_line_sum(struct str line, size_t *at);

/* ---- journal_write.c: one commit, from its lines to the documents in their places ---- */

struct planned_change {
	const char *key;
	bool del;
	struct str value;
	int ttl;
	const struct delta *delta; /* of a document; NULL: none known */
	struct buf *before;        /* its text before; NULL: not known */
	int64_t replaced;          /* revision of the last exchange; set by journal_commit() */
};

struct commit_plan {
	VEC(struct planned_change) changes;
	const char *actor, *ts;
	int64_t now;
	const json *events, *note;
	bool external; /* an external edit: the files are on the disk already */
	bool edited;   /* set by journal_commit(): a document was edited meanwhile; start over */
	int64_t rev;   /* set by journal_commit(); a late edit may have come after it */
	bool full;     /* write the whole state and all documents, for a compaction */
};

/* The changes of a plan live in `a`. Leases that have ended are in the plan from the beginning. */
void commit_plan_begin(struct commit_plan *p, struct arena *a, const struct file_store *f);
/* STORE_REFUSED: nothing happened, p->edited; STORE_DOWN: nothing happened; STORE_UNKNOWN: see
 * store_file_break(). */
enum store_status journal_commit(struct file_store *f, struct commit_plan *p, struct error *err);

/* ---- history.c ---- */

struct store_changes {
	struct store_change *items;
	size_t n, cap;
};

/* What a commit line put and deleted, in the place of *out; the texts are those of `head`. */
void journal_changes(const json *head, struct store_changes *out);
/* Reads up to f->end; f must not be used for anything else meanwhile. */
int file_walk(struct file_store *f, const struct store_range *range, struct store_history **out,
	struct error *err);
/* Where the first transaction begins that has the revision or a later one. */
int file_find(struct file_store *f, int64_t rev, int64_t *at, struct error *err);

/* ---- documents.c: the files, and external edits of them ---- */

bool store_key_is_document(const char *key);
char *store_document_path(const struct file_store *f, struct arena *a, const char *key);
/* Where the commit of revision `rev` stages the document. The name tells to which commit a file
 * belongs that was left behind, also where the files of a store were moved or restored. */
char *store_document_staged_path(
	const struct file_store *f, struct arena *a, const char *key, int64_t rev);
/* Reads a file into *out. The checksum is empty when there is none. */
int store_document_read(struct file_store *f, const char *path, struct buf *out,
	char sum[DIGEST_TEXT], struct error *err);
/* The text as of the commit that ends at `end` and has the row `e`, from the journal. */
int store_document_rebuild(struct file_store *f, const struct state_entry *e, int64_t end,
	struct buf *out, struct error *err);
/* Applies the changes of the document in `lines` to *text, which then must be the text of the row.
 * -1: ERR_INPUT. */
int store_document_apply(
	struct str lines, const struct state_entry *e, struct buf *text, struct error *err);
/* Waits, for a moment, until no program has the file open for writing: before, it may have a part
 * of a text. `expected`: also until it exists: an editor may rename it before it writes another. */
void store_document_wait(struct file_store *f, const char *path, bool expected);
/* Whether the file has the text with this sum; empty: whether it is missing. */
bool store_document_is(struct file_store *f, const char *path, const char *sum);
/*
 * The staged file becomes the document. Its name has then the file that it replaced, until the next
 * commit of the document: a program that opened the document before may write to it. A file that
 * has the text of the commit would be taken for a commit in progress, so it is removed.
 */
int store_document_place(struct file_store *f, const char *key, struct error *err);
/* Whether the file that the last exchange has replaced was edited since. A long one is not read. */
bool store_document_edited_late(struct file_store *f, const struct state_entry *e);
/* Reads the document; if it differs from the last commit, commits it as an edit by hand. A file
 * that was edited late becomes the document again: the edit comes after the commit that replaced
 * it. */
enum store_status store_document_commit_edit(
	struct file_store *f, const char *key, struct buf *out, struct error *err);

#endif
