/*
 * failure.h: explains why a work item has failed or waits for a person, how to continue it, and why
 * an answer was refused. All of it is read from the document and the journal.
 */
#ifndef DT_FAILURE_H
#define DT_FAILURE_H

#include "context/file.h"

enum {
	FAILURE_WORDS_MAX = 600, /* bytes of the last words */
	FAILURE_LOG_MAX = 4096   /* of the end of a log */
};

/* What `done` adds to the reason of a failure. Texts live in the arena; NULL: there is none. */
struct failure {
	const char *limit;  /* which limit ended it, after how many attempts of what */
	const char *log;    /* file with all of the last answer or of the last script's output */
	const char *words;  /* the end of it, secrets masked */
	const char *repair; /* the shell command that lets the next step continue; not NULL */
};

/* True if the work item has failed, or waits for a person. */
bool failure_is(const struct context *c);
/* Why, in one line. */
const char *failure_reason(struct arena *a, const struct context *c);
/* What people are told of its state: `failed` also where a troubleshooter has given up and the key
 * `state` still names the state that did not get done. */
const char *failure_state(const struct context *c);
/* The verb that repeats its last request, or, if nothing was requested, begins again; a blank
 * follows. */
const char *failure_verb(const struct context_file *f);
/* `initial`: the workflow's initial state. */
void failure_explain(
	struct arena *a, const struct context_file *f, const char *initial, struct failure *out);
/* What the outcome begins with when the troubleshooter has ended the run. */
#define FAILURE_TERMINATED "ended by the troubleshooter: "
/* Whether the item ended because the user, a policy or the troubleshooter wanted it to: then
 * nothing but the user may begin it again. */
bool failure_is_final(struct str outcome);
/* The note for the next briefs with this advice added; NULL: it has that already. */
const char *failure_note(struct arena *a, const struct context *c, const char *advice);
/* Adds a line `ID: REASON` for each failure of the action that writes `section` since it began to
 * fail, of a state with an order. */
void failure_add_attempts(struct buf *out, const struct context_file *f, const char *section);
/* For another attempt, in one commit: the document is `text`, that of revision `to` with what
 * people have edited since (to 0: it stays), and the counters of failures and fixes begin at 0
 * again. The next section `Fix N` keeps its number, because the text of an earlier one would count
 * as its answer. For context_update(). */
int failure_retry(struct context_file *f, int64_t to, struct str text, struct error *err);

/* The end of the script's log that a section names after `log: `: whole lines, at most
 * FAILURE_LOG_MAX bytes, secrets masked. `text` is NULL if there is no such file in the work item's
 * logs/. */
struct failure_log {
	const char *path, *text;
};
void failure_read_log(struct arena *a, const struct context_file *f, const char *section,
	struct failure_log *out);

/* Why the last answer for `section` was refused, in the arena; NULL: none has been refused since
 * the state was entered, or a later one was accepted. */
const char *failure_refusal(struct arena *a, const struct context_file *f, const char *section);

/* `reason`, why the item waits for the answer to action `id`; and, where an answer to an earlier
 * request of it did not count, why it is asked again. */
const char *failure_waiting_reason(
	struct arena *a, const struct context_file *f, const char *id, const char *reason);

#endif
