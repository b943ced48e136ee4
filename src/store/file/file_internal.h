/*
 * file_internal.h: what the parts of the file backend share, and nobody else.
 *
 * Offsets in the journal are logical: a journal whose beginning was forgotten goes on counting, so
 * that what is written in it stays true. physical = logical - shift.
 *
 * The commit line:
 *
 *     "commit":REV "format":2 "ts" "actor" "seq": of the last event
 *     "from","at": where the transaction begins, and this line
 *     "base": where the last line with "all" begins
 *     "put":{KEY:[VALUE,CREATE,MOD,LEASE]} "del":[KEY] "lease":{ID:[UNTIL,TTL]} "over":[ID]
 *     "doc":{KEY:[SUM,SUM-BEFORE,WHOLE,SINCE,CREATE,MOD,SLOT]}: whole: where its last change line
 * with the whole text begins; since: bytes of change lines behind that one; slot: which of two
 * names it was staged under "all":{"put":...,"doc":...,"lease":...}: everything as it is from this
 * commit on "gone":{KEY:SUM}: documents whose files are to be removed, with the sum before
 *     "note":{...} "sum": of all bytes from "from" to here
 *
 * Members that would be empty are left out. The first transaction of a journal begins with the line
 * `{"format":2}`.
 */
#ifndef DT_STORE_FILE_INTERNAL_H
#define DT_STORE_FILE_INTERNAL_H

#include "src/sys/digest.h"
#include "src/store/store.h"

#define FILE_HEADER "{\"format\":2"
#define FILE_COMMIT "{\"commit\":"
#define FILE_CHANGE "{\"change\":"

enum {
	FILE_FORMAT = 2,
	FILE_DUMP = 8 << 10,         /* bytes of journal that an open reads, about */
	FILE_WHOLE = 64 << 10,       /* bytes of change lines that a rebuild reads, about */
	FILE_LOOK_AGAIN = 256 << 10, /* bytes of a document that is looked at twice */
	FILE_WINDOW = 16 << 10,
};

/* ---- file_state.c: the keys and leases as of the last commit ---- */

struct entry {
	char *key, *value; /* of a document: value is NULL */
	size_t n;
	int64_t create, mod;
	uint64_t lease;
	bool document;
	char sum[DIGEST_TEXT], before[DIGEST_TEXT]; /* before: empty when there was none */
	int64_t whole, since;
	int slot;
};

struct lease {
	uint64_t id;
	int64_t until;
	int ttl; /* 0: over */
};

struct state {
	int64_t rev, seq;
	int64_t base, base_rev; /* of the last line with "all" */
	int64_t dump;           /* its bytes */
	struct entry *keys;     /* sorted by bytes */
	size_t n, cap;
	struct lease *leases; /* sorted by id */
	size_t n_leases, cap_leases;
};

void state_clear(struct state *s);
size_t state_place(const struct state *s, const char *key); /* of the first key >= key */
struct entry *state_find(const struct state *s, const char *key);
/* Finds or adds; the value becomes a copy. A new one has no create yet. */
struct entry *state_put(struct state *s, const char *key, struct str value);
void state_delete(struct state *s, const char *key);
struct lease *state_lease(const struct state *s, uint64_t id);
void state_set_lease(struct state *s, struct lease l); /* ttl 0: removes */
/* The end of a lease: a clock that was put back does not lengthen it. */
int64_t lease_end(const struct lease *l, int64_t now);
bool lease_alive(const struct lease *l, int64_t now);
void entry_kv(const struct entry *e, struct arena *a, struct store_kv *out);
/* NULL too when the key's lease is over. */
struct entry *state_alive(const struct state *s, const char *key, int64_t now);
void state_print(struct buf *out, const struct state *s);       /* "all":{...} */
void state_print_entry(struct buf *out, const struct entry *e); /* KEY:[...] */
/* Makes `s` what it is after the commit. `at`: the line's offset, `n`: its length. */
int state_load(struct state *s, const json *commit, size_t n, struct error *err);

/* ---- file_tail.c: where the journal ends ---- */

struct tail {
	int64_t end, shift; /* physical end of the last whole commit; 0: there is none */
	json *commit;       /* its line; NULL: there is none */
	size_t n;           /* bytes of the line with its newline */
	char sum[DIGEST_TEXT];
	bool broken;       /* more does not hold than one transaction that was not finished */
	struct buf window; /* what was read of the journal's end */
	int64_t window_at;
};

void tail_release(struct tail *t);
/* What is whole of the first `size` bytes. -1: ERR_SYSTEM, or ERR_INPUT for another format. */
int tail_find(
	struct disk_file *f, const char *path, int64_t size, struct tail *t, struct error *err);
/* Reads from `base` of the last commit to the end. */
int tail_load(
	struct disk_file *f, const char *path, struct tail *t, struct state *s, struct error *err);
/* "put" and "doc" rows. False: it is none. */
bool row_key(const json *item, struct store_kv *kv);
bool row_document(const json *item, struct entry *e);
/* True when `line` (without its newline) is a commit line, and its revision. */
bool line_commit(struct str line, int64_t *rev);
/* The sum that a commit line says of itself, and where the sum's member begins; NULL: none. */
const char *line_sum(struct str line, size_t *at);

/* ---- file_open.c ---- */

struct file_store {
	struct store store;
	struct disk *disk;
	enum store_mode mode;
	unsigned wait_ms;
	char *dir, *journal_path, *lock_path;
	struct disk_lock *lock;    /* STORE_HOLD: always; STORE_WRITE: during an operation */
	struct disk_file *journal; /* NULL: there is none yet (STORE_READ) */
	int64_t end, shift;        /* of the journal, physical; all behind is not ours */
	bool fresh;                /* the journal's name may not be durable */
	bool committed;            /* there is a commit */
	char sum[DIGEST_TEXT];     /* of the last commit */
	struct error broken;       /* code not 0: an undo failed, nothing more can be done */
	struct state state;
	struct buf text; /* the document that was handed out last */
};

struct file_store *file_of(struct store *s); /* NULL for another backend's */

/* Takes the lock and sees what others did, as the mode wants it; every operation is between the
 * two. `write`: refused on a reader. */
enum store_status file_enter(struct file_store *f, bool write, struct error *err);
void file_leave(struct file_store *f);
/* Reads the state from the disk; under the lock, what was left behind is put in order too. */
int file_load(struct file_store *f, struct error *err);
/* Nothing more can be done with this handle: a commit may be there or not. */
enum store_status file_break(struct file_store *f, struct error *err);
enum store_status status_of(const struct error *err);

/* ---- file_recover.c ---- */

/* Under the lock: cuts the `size` bytes of the journal to f->end; finishes what the last commit
 * (NULL: none) staged, discards what no commit came to. */
int file_recover(struct file_store *f, const json *commit, int64_t size, struct error *err);

/* ---- file_commit.c: one commit, from the lines to the document in its place ---- */

struct change {
	const char *key;
	bool del;
	struct str value;
	uint64_t lease;
	const struct delta *delta; /* of a document; NULL: none known */
	struct buf *before;        /* its text before; NULL: not known */
	int slot;                  /* file_commit() sets it */
};

struct work {
	struct change *changes;
	size_t n;
	struct lease *leases; /* as they are afterwards */
	size_t n_leases;
	const char *actor, *ts;
	int64_t now;
	const json *events, *note;
	bool by_hand; /* the documents are on disk already as they are to be */
	bool edited;  /* said by file_commit(): settle the documents and begin anew */
	bool whole;   /* everything is told anew, so that nothing before is needed */
};

/* Room for so many changes and leases, and in it already what goes without being asked: leases that
 * are over, and their keys. */
void work_begin(
	struct work *w, struct arena *a, const struct file_store *f, size_t changes, size_t leases);
void work_lease(struct work *w, struct lease l);
/* STORE_REFUSED: nothing happened, w->edited; STORE_DOWN: nothing happened; STORE_UNKNOWN: nothing
 * more can be done with f. */
enum store_status file_commit(struct file_store *f, struct work *w, struct error *err);
/* Adds the lines of the commit that comes next and makes the state what it is after it. */
int file_print(struct file_store *f, const struct work *w, struct buf *out, char sum[DIGEST_TEXT],
	struct error *err);

/* ---- file_documents.c ---- */

char *file_document(const struct file_store *f, struct arena *a, const char *key);
/* Two names in turn: a rename that is not durable yet must find its file after a power cut, when
 * the next one is being staged. */
char *file_staged(const struct file_store *f, struct arena *a, const char *key, int slot);
bool is_document(const char *key);
/* Sum of the file; empty when there is none. The text is in *out. */
int file_digest(struct file_store *f, const char *path, struct buf *out, char sum[DIGEST_TEXT],
	struct error *err);
/* Commits what people did to the document; its text is in *out. */
enum store_status file_settle(
	struct file_store *f, const char *key, struct buf *out, bool *by_hand, struct error *err);
/* The text of a document as of the last commit, from the journal. */
int file_rebuild(struct file_store *f, const struct entry *e, struct buf *out, struct error *err);
enum store_status file_get_document(struct store *s, const char *key, struct buf *out, int64_t *mod,
	bool *by_hand, struct error *err);

/* ---- the other operations ---- */

enum store_status file_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err);
enum store_status file_list(struct store *s, struct arena *a, const char *prefix, const char *after,
	size_t max, struct store_kv **out, size_t *n, int64_t *at, struct error *err);
enum store_status file_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err);
enum store_status file_grant(struct store *s, uint64_t id, int ttl_s, struct error *err);
enum store_status file_renew(struct store *s, uint64_t id, int *left_s, struct error *err);
enum store_status file_revoke(struct store *s, uint64_t id, struct error *err);
enum store_status file_lease_end(struct store *s, uint64_t id, int64_t *until, struct error *err);
enum store_status file_watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err);
enum store_status file_compact(struct store *s, int64_t rev, struct error *err);
/* The first revision that is kept; 0: all are. */
int file_compacted(struct file_store *f, int64_t *rev, struct error *err);
enum store_status lease_gone(uint64_t id, struct error *err);

#endif
