/*
 * action.h: what agents and scripts must do, as the JSON objects that a step prints
 * (docs/action-protocol.md), and the outstanding ones, which the document keeps in its section
 * `Actions`, one per line.
 */
#ifndef DT_ACTION_H
#define DT_ACTION_H

#include "context/file.h"

/* The outstanding actions. -1: ERR_INPUT with file and line if the section was edited into
 * something that the engine never writes. */
int action_load(const struct context *c, json **array, struct error *err);
/* Writes them back; an empty array removes the section. */
void action_store(struct context *c, const json *array);

/* The action `id` in `array`, or NULL. */
json *action_find(const json *array, const char *id);
/* True for a call of the troubleshooter, false for an action of a step. */
bool action_is_troubleshooter(const json *action);
/* True if the action's section has text or its answer was recorded. */
bool action_answered(const struct context *c, const json *action);
/* The answer's text, trimmed: the section; for the troubleshooter, this action's entry in the log.
 */
struct str action_text(const struct context *c, const json *action);
/* The result word: as recorded, else as the text says, if the action accepts it; else "". */
struct str action_word(const struct context *c, const json *action);
/* The result word that `text` itself gives, copied to `out`; false if the action does not accept it
 * or there is none. */
bool action_word_in(const json *action, struct str text, char *out, size_t size);
/* True if `word` is one of the words of `result_format` ("a | b | c"). */
bool action_accepts(const json *action, struct str word);
/* `## ID: TRIGGER`, the line above an entry of the troubleshooter's log. */
char *action_log_heading(struct arena *a, const json *action);

/*
 * The store also keeps the ids of the actions that wait for an answer. The document says so too,
 * but people restore older versions of it: an action that was answered, fenced or given up since
 * must not wait again under the same id, or a late answer to it would be taken a second time.
 */
/* Notes those of `array` that have no answer and are `noted` already (NULL: all); written by the
 * next save. -1: ERR_SYSTEM. */
int action_note_unanswered(
	struct context_file *f, const json *array, const json *noted, struct error *err);
/* *ids: those that were noted. It stays NULL if none were: a document of another program. */
int action_noted(struct context_file *f, json **ids, struct error *err);
/* True if `id` is one of them, or if there are none. */
bool action_is_noted(const json *ids, const char *id);

#endif
