/*
 * log.h: reads the journal of the file backend from its first commit to its last: the events, and
 * the document as of each commit.
 *
 * A transaction is a group of lines, appended in one write:
 *
 *     {"seq":7,"rev":4,"ts":"2026-11-21T03:48:12Z","type":"answer",...}      its events
 *     {"change":4,"key":"doc/T-1.md","from":SUM,"to":SUM,"delta":[...]}      one per document
 *     {"commit":4,"format":2,"ts":...,"note":{...},"put":{...},...,"sum":SUM}   the commit
 *
 * Lines that no commit follows were never committed.
 */
#ifndef DT_STORE_LOG_H
#define DT_STORE_LOG_H

#include "src/base/json.h"
#include "src/store/disk.h"

struct store_log;

struct store_commit {
	int64_t rev;
	const json *head;         /* the commit's own line */
	const json *note;         /* NULL: none */
	const json *events;       /* array, with seq, rev, ts */
	const char *ts, *actor;   /* actor NULL: none */
	const char *document_key; /* the document that it changed; NULL: none */
	bool removed;             /* the document was deleted */
	struct str document;      /* its text from this commit on, if document_key is not NULL */
	struct str lines;         /* of the journal; they live until store_log_close() */
};

/* Reads up to the last whole commit, without a lock. -1: ERR_INPUT: there is no such journal, or it
 * has another format; ERR_SYSTEM. */
int store_log_open(struct store_log **out, struct disk *disk, const char *dir, const char *name,
	struct error *err);
/*
 * The next commit: 1, 0 at the end, -1 with ERR_INPUT naming file and line where the journal is
 * damaged (a wrong checksum, a repeated revision). What *c points to lives until the next call.
 * Only the documents are rebuilt, no keys.
 */
int store_log_next(struct store_log *l, struct store_commit *c, struct error *err);
/*
 * The same without the events and the text of the document, which are neither parsed nor checked
 * beyond the checksum of the lines. What *c points to is in *head, which is the caller's. Do not
 * mix with store_log_next().
 */
int store_log_next_head(
	struct store_log *l, struct store_commit *c, json **head, struct error *err);
void store_log_close(struct store_log **l); /* for CLEANUP; safe on NULL */

#endif
