/*
 * simulate_audit.h: a second pair of eyes. Reads the journal as it lies on the simulated disk, by
 * itself and commit by commit, keeps its own account of what was dispatched, answered and used up,
 * and says what must never happen. It trusts nothing that the store says about itself.
 */
#ifndef DT_SIMULATE_AUDIT_H
#define DT_SIMULATE_AUDIT_H

#include "src/base/json.h"
#include "tests/model/sim_disk.h"
#include "src/workflow/workflow.h"

enum { AUDIT_NAME = 80, AUDIT_FAULT = 400 };

/* What is known of one action. */
struct audit_action {
	char id[AUDIT_NAME],
		owner[AUDIT_NAME];        /* owner: to whom it was printed; "": to nobody yet */
	int64_t dispatched;               /* revision; 0: never by the machine */
	bool outstanding, answered, used; /* used: was outstanding, is no more */
	bool ever;                /* an answer was taken at some time, whatever people did since */
	bool wordless;            /* its answer had no word so far */
	bool by_hand;             /* a person had the document meanwhile */
	bool here, says_answered; /* in the commit that is being read */
};

/* All of it is the reader's to look at. */
struct audit {
	struct buf journal;  /* as far as it is read: to the end of a commit */
	size_t acknowledged; /* of it: what a call that succeeded has left behind */
	struct buf document; /* as the journal has it */
	bool exists;
	int64_t rev, seq, saved; /* saved: highest `revision` in the document */
	char state[AUDIT_NAME];
	char owner[AUDIT_NAME]; /* of the work item; "": nobody */
	uint64_t fence;
	struct audit_action *actions;
	size_t n, cap;
	bool changed;               /* the document, by them, not by hand */
	unsigned refusals, answers; /* events of them */
	bool edited;    /* a person has made the document what `hand` says (empty: removed it) */
	bool hand_seen; /* and that is in the journal */
	struct buf hand;
	const struct workflow *workflow;
	char fault[AUDIT_FAULT]; /* the first promise that was broken; "": none */
};

void audit_init(struct audit *a, const struct workflow *w);
void audit_copy(struct audit *to, const struct audit *from);
void audit_release(struct audit *a); /* for CLEANUP */

/*
 * Reads what is new in `journal` on `d`. `acknowledged`: the call before has succeeded, so what is
 * there now may never be lost.
 */
void audit_read(struct audit *a, const struct disk *d, const char *journal, bool acknowledged);
/* The document at `path` must be the one of the journal. */
void audit_document(struct audit *a, const struct disk *d, const char *path);
/*
 * `id` was printed to `owner` (NULL: nobody by name). An action belongs to one of them for ever;
 * only a script that is at work may be waited for by its next owner.
 */
void audit_printed(struct audit *a, const char *id, const char *owner, bool running);
struct audit_action *audit_find(const struct audit *a, const char *id);
/* The state is an end of the workflow. */
bool audit_ended(const struct audit *a);
/* A value of the document's frontmatter; empty when there is none. */
struct str audit_value(const struct audit *a, const char *key);

/* A person puts `text` in the document's place; NULL: removes it. No call has seen it yet. */
void audit_edit(struct audit *a, const struct buf *text);

/* Notes a broken promise, unless there is one already. */
void audit_broken(struct audit *a, const char *fmt, ...) PRINTF(2, 3);

#endif
