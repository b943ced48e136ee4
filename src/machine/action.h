/*
 * action.h: what agents and scripts must do, as JSON objects. The document keeps the outstanding
 * ones in its section `Actions`, one per line, without a path of a host: `command` runs in the
 * item's directory, under the policy in `security`, if there is one, and after the script of
 * `first`, which has a policy of its own; `log_file` is below the directory of the document. What a
 * step prints (docs/action-protocol.md) is completed for this host.
 */
#ifndef DT_ACTION_H
#define DT_ACTION_H

#include "context/file.h"

enum action_kind {
	ACTION_AGENT,    /* its text is the answer, whoever wrote it */
	ACTION_SCRIPT,   /* only what was recorded is its answer; so it is of the others */
	ACTION_APPROVAL, /* a person answers it, with `dev-team approve` or `reject` */
	ACTION_CHILD,    /* a work item of its own, whose end is the answer */
	ACTION_KINDS
};
struct action_row {
	const char *name;    /* the member `action` */
	const char *subject; /* the member of the event `dispatch` that says what carries it out */
	const char *who;     /* for people; NULL: the subject's value */
	/* What follows the id where it is refused; NULL: it is not. */
	const char *no_record, *no_brief;
	const char *not_recorded; /* why a result that is only in the document does not count */
	/* Of a member of its own. */
	const char *(*fault)(const json *action);
};
extern const struct action_row action_rows[ACTION_KINDS];
/* ACTION_KINDS: it is none. */
enum action_kind action_kind(const json *action);

/* The outstanding actions. -1: ERR_INPUT with file and line if the section was edited into
 * something that the engine never writes. */
int action_load(const struct context *c, json **array, struct error *err);
/* Writes them back; an empty array removes the section. */
void action_store(struct context *c, const json *array);

struct item_place;
/* The action as it is printed, with the paths of this host; the caller's. */
json *action_complete(
	const struct context_file *f, const struct item_place *place, const json *action);

/* A line of a section with the path of the log that it names, if that is there. */
struct str action_complete_line(struct arena *a, const struct context_file *f, struct str line);

/* N of `ITEM/PART/N`, and PART, each of which counts from 1; 0 and "": the id has not this form. */
unsigned long action_number(const char *id, struct str *part);
/* The action `id` in `array`, or NULL. */
json *action_find(const json *array, const char *id);
/* The action in `array` that writes `section`, or NULL. */
json *action_writing(const json *array, const char *section);
/* The user and group that carry it out; 0: those of the caller. */
void action_user(const json *action, unsigned *uid, unsigned *gid);
/* True for a call of the troubleshooter, false for an action of a step. */
bool action_is_troubleshooter(const json *action);
/* Anybody can write text into the document: true if only what was recorded counts. */
bool action_is_observed(const json *action);
/* The approval that the work item waits for, or NULL. */
const json *action_open_approval(const struct context *c, const json *array);
/* Whether it waits for one. */
bool action_awaits_approval(const struct context *c);
/* True if its answer was recorded or, if it is an agent's, its section has text. */
bool action_answered(const struct context *c, const json *action);
/* The answer's text, trimmed: the section; for the troubleshooter, this action's entry in the log.
 */
struct str action_text(const struct context *c, const json *action);
/* The result word: as recorded, else that of the text, as action_result() says; else "". */
struct str action_word(const struct context *c, const json *action);
/* The word that the last JSON object of `text` names, copied to `out`, whether the action accepts
 * it or not; false: it names none. */
bool action_word_in(const json *action, struct str text, char *out, size_t size);
/* As verdict_text_word(), with the words of the action. */
int action_result(
	struct arena *a, const json *action, struct str text, const char **word, struct error *err);
/* True if `word` is one of the words of `result_format` ("a | b | c"), or of `format`. */
bool action_accepts(const json *action, struct str word);
bool action_format_has(const char *format, struct str word);
/* `## ID: TRIGGER`, the line above an entry of the troubleshooter's log. */
char *action_log_heading(struct arena *a, const json *action);

/*
 * The store also keeps the ids of the actions that wait for an answer. The document says so too,
 * but people restore older versions of it: an action that was answered, fenced or given up since
 * must not wait again under the same id, or a late answer to it would be taken a second time.
 * And it keeps the results of scripts: anyone can write one into the document.
 */
/* Notes those of `array` that have no answer and are `noted` already (NULL: all), and the results
 * of its scripts; written by the next save. -1: ERR_SYSTEM. */
int action_note(struct context_file *f, const json *array, const json *noted, struct error *err);
/* *noted stays NULL if nothing was: a document of another program. */
int action_noted(struct context_file *f, json **noted, struct error *err);
/* The outstanding actions and what was noted. A result of a script that was not noted is removed
 * from the document, unless that is open for reading. */
int action_load_noted(struct context_file *f, json **array, json **noted, struct error *err);
/* True if `id` waits for an answer, or if nothing was noted. *last (may be NULL): the entry that
 * was found last, where the search begins; entries are in the order of the array, so that a walk
 * through it takes linear time. */
bool action_is_noted(const json *noted, const char *id, const json **last);

#endif
