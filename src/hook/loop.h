/*
 * loop.h: what the two forms of the loop in the client have in common (loop.c). Texts live in the
 * arena.
 */
#ifndef DT_HOOK_LOOP_H
#define DT_HOOK_LOOP_H

#include "src/hook/hook_internal.h"
#include "src/machine/answer.h"
#include "src/run/run.h"

struct hook_loop {
	struct arena *arena;
	const char *session;
	struct hook_item item;
	int64_t until;    /* scripts are waited for; of clock_ticks() */
	bool others_work; /* agents of the array, beside those that have returned */
};

/* The document of action `id`, which may be one of a child of the item. */
const char *hook_loop_document(const struct hook_loop *l, const char *id);
/* Sets the item of that id, or of an action with that id, also of its child; NULL: the only one of
 * the session. */
bool hook_loop_find(struct hook_loop *l, const char *id);
/*
 * One step, and further ones while only scripts are requested: these are run. returned NULL: the
 * agents of the last array have not returned; else the id of one of its actions. *next, freed by
 * the caller, is an array: the actions of agents, those of scripts that take too long, or the item
 * `done`.
 */
int hook_loop_advance(struct hook_loop *l, const char *returned, json **next, struct error *err);

/* Starts the scripts of the array; `wait`: until they end, or l->until. *late: one has not ended.
 */
int hook_loop_run_scripts(
	struct hook_loop *l, const json *array, bool wait, bool *late, struct error *err);
/* Of the array: the scripts, or all others. */
json *hook_loop_copy_kind(const json *array, bool scripts);

/* ---- the tasks of the backlog (tick.c) ---- */

/* The same as hook_loop_advance() for all tasks that the session works on; `returned`: ids,
 * separated by commas. New items are recorded as driven like l->item. */
int hook_tick_advance(struct hook_loop *l, const char *returned, json **next, struct error *err);
/* Records the items of an array as `like`, without the conductor's own. */
int hook_tick_record(struct arena *a, const char *session, const struct hook_item *like,
	const char *items, const json *array, struct error *err);

/* ---- agents and what the client writes about them (transcript.c) ---- */

/* An agent of the loop, as its prompt says: two lines, the document and the id of its action. */
struct hook_agent {
	struct hook_loop loop;
	const char *id;
	bool briefed; /* the prompt has its brief, too */
};

/* false: the prompt is none of an item that the event's session drives. */
bool hook_agent_read(struct arena *a, const json *event, const char *prompt, struct hook_agent *g);
/* The same of the agent of that transcript, which the client may write a moment after the event.
 * path NULL: false. */
bool hook_agent_read_transcript(
	struct arena *a, const json *event, const char *path, int wait_ms, struct hook_agent *g);
/* The agent of an event, by the client's id. After /clear the event names the new session's
 * directory, but the prompt is in that of the session which started the agent. */
bool hook_agent_find(struct arena *a, const json *event, const char *agent, struct hook_agent *g);
/* Whether the agent of a tool call was started for the action, as its prompt says. */
bool hook_agent_has(struct arena *a, const json *call, const char *document, const char *id);
/* The transcript of an agent of the session; NULL: the event or the id names none. */
const char *hook_transcript_path(struct arena *a, const json *event, struct str agent);
/* Adds its last `max` bytes. -1: it cannot be read. */
int hook_transcript_end(const char *path, size_t max, struct buf *out);
/* Whether its last row says that the user stopped the agent, which ends without an event. */
bool hook_transcript_is_interrupted(const char *path);
/* The text of its last message that has one; NULL: there is none. */
const char *hook_transcript_last_text(struct arena *a, const char *path);
/* What the client notes about an agent that has ended, freed by the caller; NULL: it works, or an
 * older client notes nothing. */
json *hook_transcript_notes(struct arena *a, const char *path);
/* For an agent with such notes whose SubagentStop was killed, or hung: its last message is taken as
 * its answer, if it is one. */
int hook_agent_take_ended(struct arena *a, const json *event, const char *agent, const json *notes,
	struct error *err);
/* Notes and books what an agent that the user stopped has used. */
void hook_agent_stopped(const json *event, const struct hook_loop *l, const struct hook_worker *w);
/* What the agent has used for action `id`, as its transcript says. The client may write its last
 * message or tool call, `last` (NULL: any), a moment after the event. NULL: unknown, *err says why.
 */
struct agent_run *hook_agent_used(struct arena *a, const json *event, const char *agent,
	const char *id, const char *last, struct error *err);

/* ---- actions and answers ---- */

/* The outstanding actions of the item and its children that can be carried out. */
struct hook_outstanding {
	struct run_outstanding all;
	json *array; /* all.open */
	size_t n_agents, n_scripts;
};
int hook_outstanding(const char *file, struct hook_outstanding *o, struct error *err);
void hook_outstanding_free(struct hook_outstanding *o);
bool hook_is_script(const json *action);
/* The client's type of the agent that carries the action out. */
const char *hook_action_type(struct arena *a, const json *action);

enum hook_recorded { HOOK_RECORDED, HOOK_DISCARDED, HOOK_REFUSED };
/*
 * Records the answer of an agent of that type; `call`: as for hook_agent_fault(). HOOK_DISCARDED:
 * it does not count, *err says why; HOOK_REFUSED: the agent must correct it. A script's result, and
 * an answer that the agent recorded with its command, were recorded before. *word: the recorded
 * word; NULL: none.
 */
enum hook_recorded hook_loop_record(struct hook_loop *l, const json *call, const char *type,
	struct answer_offer *offer, const char **word, struct error *err);
/* Notes what an agent has used where no answer can carry it; NULL: nothing. Best effort: what fails
 * is logged. */
void hook_loop_note_run(const struct hook_loop *l, const struct agent_run *run);
/* Whether the answer to `id` completed the array. Of concurrent answers exactly one did, because
 * the journal orders them. */
bool hook_loop_is_last(struct hook_loop *l, const char *id);

#endif
