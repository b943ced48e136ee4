/*
 * audit.h: an independent reader of the journal. It reads the journal on the simulated disk commit
 * by commit, records what was dispatched, answered and used, and notes what must never occur. It
 * uses nothing that the store reports.
 */
#ifndef DT_MODEL_AUDIT_H
#define DT_MODEL_AUDIT_H

#include "src/base/json.h"
#include "tests/model/sim_disk.h"
#include "src/workflow/workflow.h"

enum { AUDIT_NAME = 80, AUDIT_FAULT = 400 };

/* One action. */
struct audit_action {
	char id[AUDIT_NAME],
		owner[AUDIT_NAME];        /* owner: it was printed to this one; "": not printed */
	int64_t dispatched;               /* revision; 0: not by the engine */
	bool outstanding, answered, used; /* used: no longer outstanding */
	bool ever_answered;               /* an answer was accepted, whatever was edited since */
	bool by_hand;                     /* the document was edited meanwhile */
	bool listed, marked_answered;     /* in the commit that is being read */
};

struct audit {
	struct buf journal;  /* as far as it was read: to the end of a commit */
	size_t acknowledged; /* bytes of it after the last call that succeeded */
	struct buf document; /* rebuilt from the journal */
	bool exists;
	int64_t rev, seq;
	char state[AUDIT_NAME];
	char owner[AUDIT_NAME]; /* of the work item; "": none */
	uint64_t fence;
	struct audit_action *actions;
	size_t n, cap;
	bool changed;               /* the document, by the calls just read */
	unsigned refusals, answers; /* events just read */
	bool edited;                /* the document was replaced by `edit_text` (empty: removed) */
	bool edit_seen;             /* and the edit is in the journal */
	struct buf edit_text;
	const struct workflow *workflow;
	char fault[AUDIT_FAULT]; /* the first check that failed; "": none */
};

void audit_init(struct audit *a, const struct workflow *w);
void audit_copy(struct audit *to, const struct audit *from);
void audit_release(struct audit *a); /* for CLEANUP */

/*
 * Reads the new commits of `journal` on `d`. `acknowledged`: the last call succeeded, so what the
 * journal has now must not be lost.
 */
void audit_read(struct audit *a, const struct disk *d, const char *journal, bool acknowledged);
/* Checks that the document at `path` is the one of the journal. */
void audit_check_document(struct audit *a, const struct disk *d, const char *path);
/*
 * `id` was printed to `owner` (NULL: unnamed). An action belongs to one owner, but the next owner
 * may wait for a script that still runs.
 */
void audit_check_printed(struct audit *a, const char *id, const char *owner, bool running);
struct audit_action *audit_find(const struct audit *a, const char *id);
/* The state is terminal. */
bool audit_is_final(const struct audit *a);
/* A value of the document's frontmatter; empty when there is none. */
struct str audit_value(const struct audit *a, const char *key);

/* The document was replaced by `text` (NULL: removed) by hand. */
void audit_note_edit(struct audit *a, const struct buf *text);

/* Notes a failed check, unless there is one. */
void audit_fail(struct audit *a, const char *fmt, ...) PRINTF(2, 3);

#endif
