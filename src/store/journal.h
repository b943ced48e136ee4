/*
 * journal.h: an append-only file of JSON lines, each `{"seq":N,"rev":N,...}`: seq counts lines, rev
 * names the revision of the document that the line leads to. Lines are written before the document
 * is replaced; a line whose revision the document never reached was cut off by a kill, and the next
 * open removes it.
 *
 * The caller holds the document's lock.
 */
#ifndef DT_JOURNAL_H
#define DT_JOURNAL_H

#include "src/base/json.h"

struct journal;

/* In the place of the revision of a document that does not say it: nothing can be told from it. */
#define JOURNAL_REV_UNKNOWN (UINT64_MAX - 1)

/*
 * Opens (makes) the journal of a document at revision `rev` and repairs its tail: cuts a torn last
 * line, and lines of revision rev + 1. `*out` is the caller's until journal_close().
 */
int journal_open(struct journal **out, const char *path, uint64_t rev, struct error *err);
void journal_close(struct journal **j);

/* The highest revision that the journal knows; above `rev` when an older document was put back by
 * hand. */
uint64_t journal_rev(const struct journal *j);

/*
 * Appends each object of `events` as a line, with seq and `rev` in front, in one write, made
 * durable. On -1 the journal is as it was.
 */
int journal_append(struct journal *j, const json *events, uint64_t rev, struct error *err);
/* Takes the last journal_append() back. */
void journal_undo(struct journal *j);

#endif
