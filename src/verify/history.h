/*
 * history.h: the states of a work item's document, read from its journal without a lock. A revision
 * is one commit of the store; the document at a revision is the one of the last commit up to it
 * that changed the document.
 */
#ifndef DT_VERIFY_HISTORY_H
#define DT_VERIFY_HISTORY_H

#include "context/file.h"

/* Where a work item's files are. Texts are in the arena of history_find(). */
struct history_place {
	char *path; /* of the document, absolute, links followed as far as there are any */
	char *dir, *name, *journal;
};

/* Of the document `path`, which is absolute; links are not followed. */
void history_set_place(struct arena *a, const char *path, struct history_place *place);
/* `given`: the document, which need not be there, or its events file. -1: ERR_USAGE. */
int history_find(
	struct arena *a, const char *given, struct history_place *place, struct error *err);
/* `FILE@N`; without `@N` (or where a file has the whole name) *rev is 0. */
int history_split(
	struct arena *a, const char *given, const char **file, int64_t *rev, struct error *err);
/* A revision on the command line: 1 to 999999999999999. -1: ERR_USAGE. */
int history_rev(const char *text, int64_t *rev, struct error *err);

/* Reads commits. Zero it first. */
struct history {
	const struct history_place *place;
	struct store *store;
	struct store_history *reader;
	struct store_commit commit; /* the last one read; lives until the next call */
	bool changed;               /* the commit changed the document */
	struct buf before;          /* the document before it, if it changed; empty: none */
	struct buf document;        /* the document after it; empty: none */
	bool there;                 /* whether there is a document after it */
};

/* -1: ERR_INPUT when there is no journal or it has another format, ERR_SYSTEM. */
int history_open(struct history *p, const struct history_place *place,
	const struct store_range *range, struct error *err);
/* As store_history_next(). */
int history_next(struct history *p, struct error *err);
void history_close(struct history *p); /* for CLEANUP */

/*
 * The document as it was at `rev`, byte for byte; *made (may be NULL) is the commit that left it
 * so. -1: ERR_INPUT when there is no such revision or there was no document then.
 */
int history_document(const struct history_place *place, int64_t rev, struct buf *out, int64_t *made,
	struct error *err);

/* Adds the unified diff of the documents at two revisions; `to` 0: the present one. */
int history_diff(struct arena *a, const struct history_place *place, int64_t from, int64_t to,
	struct buf *out, struct error *err);

/* The last revision whose document is good, and in this state (NULL: in any); ERR_STATE when none
 * is. */
int history_last_good(const struct history_place *place, const char *state, struct buf *out,
	int64_t *made, struct error *err);

/*
 * Calls `each` for the committed events of a document, which may be given by its own path or by its
 * events file: for those with a number over `after`, and for the last `last` of them (0: all).
 */
typedef void history_event(void *data, const json *event, struct str line);
int history_events(struct arena *a, const char *given, int64_t after, int64_t last,
	history_event *each, void *data, struct error *err);

/* *rev: the revision of the last request, in that state (NULL: in any), or only of one to an agent;
 * not to the troubleshooter. 0: there was none. */
int history_last_request(const struct context_file *f, const char *state, bool agent, int64_t *rev,
	struct error *err);

struct workflow;
struct history_attempt {
	struct arena *arena;
	struct history_place place;
	const struct workflow *workflow; /* NULL: it is gone */
};
/*
 * For another attempt: puts the document back to the revision of a request; 0: it stays. In a state
 * whose actions wait for each other that is the last document in the state, without the answers
 * that are not good and those behind them, so that just these and what is missing are requested
 * again. What people have edited since is edited again: sections, and keys that only they write.
 * `h` is not used with 0.
 */
int history_put_back(
	const struct history_attempt *h, struct context_file *f, int64_t rev, struct error *err);

/* ---- list ---- */

/*
 * Adds a line for each of the last `last` commits (0: all), for people, or as JSON:
 * docs/history.md. What is in the file and not in the history yet is the row `now` below it.
 */
int history_list(const struct history_place *place, int64_t last, bool as_json, struct buf *out,
	struct error *err);

/* ---- differences ---- */

/* Added and removed lines; a line that only moved is neither. */
void history_diff_count(struct str from, struct str to, size_t *added, size_t *removed);
/* The first line, from 1, that is not the same in both; 0: all are. The lines without their end;
 * where a text has ended, empty. */
size_t history_diff_first(
	struct str from, struct str to, struct str *line_from, struct str *line_to);

/* ---- restore ---- */

struct history_restored {
	int64_t to;       /* the restored revision; 0: the document was good */
	int64_t replaced; /* the revision that keeps the replaced text; 0: nothing was replaced */
};

/*
 * Replaces the document with that of revision `rev`; 0: replaces a broken or missing document with
 * the last good one. The history keeps the replaced text. -1: ERR_STATE when none was ever good.
 */
int history_restore(const struct history_place *place, int64_t rev, struct history_restored *result,
	struct error *err);

/* ---- fork ---- */

struct history_forked {
	char *path, *state;      /* of the new one, in the arena */
	size_t carried, dropped; /* outstanding actions: with their answer, and without */
};

/*
 * Creates `to` (NULL: ID.md beside it), work item `id`, from the document of `from` at revision
 * `rev`. Counters and sections are kept. Outstanding actions get ids of the new work item; those
 * without an answer are dropped, so that the next step requests them again. The source is only
 * read. -1: ERR_STATE when there is a document or a history at `to` already; ERR_INPUT as
 * history_document(), and when the document was broken then.
 */
int history_fork(struct arena *a, const struct history_place *from, int64_t rev, const char *id,
	const char *to, struct history_forked *result, struct error *err);

#endif
