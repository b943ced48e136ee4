/*
 * answer.h: answers to actions: which are accepted, how they are recorded, and what the journal
 * knows about actions that are no longer outstanding. Rules: docs/action-protocol.md, "Answering".
 *
 * Refused are a text that is empty or not UTF-8, an answer without a result word or with an unknown
 * one, a word that the text's last JSON object contradicts, and an action that is unknown, of
 * another work item, superseded, answered already, or a script that the offer does not come from.
 * The same answer may be sent again: the agent may not have learnt that it was recorded.
 */
#ifndef DT_ANSWER_H
#define DT_ANSWER_H

#include "src/machine/action.h"
#include "src/machine/agents.h"

enum answer_outcome {
	ANSWER_TAKEN,
	ANSWER_AGAIN, /* the same bytes and word were recorded before, and may have been used since:
			 only the lease is renewed */
	ANSWER_REFUSED,
};

/* An answer that somebody offers. */
struct answer_offer {
	const char *owner;     /* the session that answers; NULL: it gives no name */
	const char *id, *word; /* word: NULL or empty if only the text has it */
	const char *caller;    /* the action that the caller was started for; NULL: not known */
	bool ran;              /* it is the result of a script that was run (or simulated) */
	const char *person;    /* who gives it: `user@host`; an approval needs one; else NULL */
	int64_t ms;            /* how long it took, as the caller says; 0: not known */
	const char *log;       /* a blob with the output of the script that gave it; NULL: none */
	const struct agent_run *run; /* noted with the answer, or its refusal; NULL: none */
	struct str text;
	/* set by answer_record() */
	enum answer_outcome outcome;
	const char *section; /* of the action, if it is outstanding; lives with the document */
	const char *given;   /* the result word, if it is; lives with the document */
};

/*
 * Records one answer and saves. -1 with ANSWER_REFUSED: ERR_STATE if the id is unknown, stale or
 * already answered; ERR_INPUT if there is no word, the action does not accept it, or the text
 * contradicts it.
 * The text of a refused answer is kept under logs/; the journal and *err say where. A save that an
 * edit by hand prevents is repeated, see context_update().
 *
 * An owner is refused if another session has taken the work item. An accepted answer renews the
 * lease of the holder.
 */
int answer_record(struct context_file *f, struct answer_offer *o, struct error *err);
/* Opens the document of that path for an answer with this text. If it is locked for too long,
 * missing though it has a journal, or broken, or its journal is damaged, the text is kept under
 * logs/ and *err says where. */
int answer_open(
	struct context_file *f, const char *context_file, struct str text, struct error *err);
/* Both; *recorded is the result word. */
int answer_record_file(struct arena *a, const char *context_file, struct answer_offer *o,
	const char **recorded, struct error *err);

/* True if the journal has an answer to action `id`. Reads the whole journal. */
bool answer_is_recorded(const struct context_file *f, const char *id);

/* True if no caller waits for the answer of action `id`, for example after `cancel`. The action is
 * not outstanding, and no take-over has replaced it by one that is outstanding or answered. Reads
 * the whole journal. */
bool answer_is_dropped(const struct context_file *f, const char *id);

/*
 * Refuses with ERR_STATE what record calls foreign: the id of another work item, and one that was
 * never requested. f is open for writing, or has recalled its counts.
 */
int answer_check_requested(const struct context_file *f, const char *id, struct error *err);

/*
 * Refuses action `id`, which is not outstanding: always -1 with ERR_STATE. The message names the
 * action that replaced it after a take-over, unless that was dropped. Reads the whole journal.
 */
int answer_refuse_stale(const struct context_file *f, const char *id, struct error *err);

#endif
