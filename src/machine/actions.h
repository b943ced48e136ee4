/*
 * actions.h: what somebody outside must do, as the JSON objects that a step prints
 * (docs/action-protocol.md), and the outstanding ones as they stand in the document's section
 * `Actions`, one a line.
 */
#ifndef DT_ACTIONS_H
#define DT_ACTIONS_H

#include "context/file.h"

/* The outstanding actions. -1: ERR_INPUT when somebody broke the section; names file and line. */
int actions_load(const struct context *c, json **array, struct error *err);
/* Puts them back; an empty array removes the section. */
void actions_store(struct context *c, const json *array);

/* The action `id` in `array`, or NULL. */
json *actions_find(const json *array, const char *id);
/* The troubleshooter is called, not an agent of the step. */
bool action_is_troubleshooter(const json *action);
/* True when the action's section has text, or its answer was recorded. */
bool action_answered(const struct context *c, const json *action);
/* The answer's text: the section, of the troubleshooter's log the entry of this action; trimmed. */
struct str action_text(const struct context *c, const json *action);
/* The result word: as recorded, else as the section's text says, if it is one of the action's
 * words; else "". */
struct str action_word(const struct context *c, const json *action);
/* True when `word` is one of the words of `result_format` ("a | b | c"). */
bool action_takes(const json *action, struct str word);

enum answer_fate {
	ANSWER_TAKEN,
	ANSWER_AGAIN, /* the same bytes and word a second time, also when they were used meanwhile:
			 nothing to do */
};

/*
 * Takes an answer into the document (not saved yet) and notes the event. -1: ERR_STATE when the id
 * is unknown, stale or answered already, ERR_INPUT when the word is not one of the action's or
 * contradicts the text.
 */
int action_answer(struct context_file *f, const char *id, const char *word, struct str text,
	enum answer_fate *fate, struct error *err);

/*
 * One answer from outside, whole: checks, saves, and when it is refused keeps the text under logs/
 * and says so in the journal and in *err.
 */
int action_record(struct context_file *f, const char *id, const char *word, struct str text,
	enum answer_fate *fate, struct error *err);
/*
 * The same by `owner` (NULL: not said), whose lease it renews; of who has lost the work item it is
 * refused. Without an owner the id alone counts, and an answer that is taken renews the lease of
 * whoever holds the work item.
 */
int action_record_by(struct context_file *f, const char *owner, const char *id, const char *word,
	struct str text, enum answer_fate *fate, struct error *err);

#endif
