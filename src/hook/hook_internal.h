/*
 * hook_internal.h: shared by the files of src/hook: the answer to each event, and how a tool call
 * is judged.
 */
#ifndef DT_HOOK_INTERNAL_H
#define DT_HOOK_INTERNAL_H

#include "src/base/json.h"
#include "src/hook/hook.h"
#include "src/policy/check.h"

/*
 * PreToolUse: the decision about a tool call, by the persona's clearance (.dev-team/clearance.yaml)
 * and policy. Without an answer, the client decides as if there were no hook. If a clearance file
 * bounds the agent, a call that cannot be read or judged is denied.
 */
int hook_permission(struct arena *a, struct str input, struct buf *out, struct error *err);
/*
 * UserPromptExpansion: makes the first step of a slash command, or describes the state, and adds
 * the result or the error to the prompt. The arguments arrive as the user typed them, so they never
 * pass through a shell. Nothing for a command that is not the plugin's.
 */
int hook_command(struct arena *a, struct str input, struct buf *out, struct error *err);
/*
 * UserPromptSubmit of `dev-team tick [--poll] [--max-concurrent N]`, also after `/loop [INTERVAL]`:
 * makes the tick, and tells the session to start a conductor. A prompt that is due and finds
 * nothing to do, or a conductor, does not reach the model. The client does not expand a slash
 * command that it repeats (measured with 2.1.329), so such a command is refused after `/loop`.
 * *repeated: the prompt was one of these.
 */
int hook_command_repeat(
	struct arena *a, const json *event, struct buf *out, bool *repeated, struct error *err);
/*
 * SessionStart: one line for each item in progress that the session drives, or that the session
 * before /clear drove, and how to continue it.
 */
int hook_session_start(struct arena *a, struct str input, struct buf *out, struct error *err);
/*
 * Stop: continues a turn that ends while an item of the session has outstanding actions, at most
 * HOOK_STOPS_MAX times without progress. A turn may end while the client has work in the
 * background, after a question to the user or an interruption, and in plan mode.
 */
int hook_stop(struct arena *a, struct str input, struct buf *out, struct error *err);
/* Adds `dev-team: ID is in progress (STATE, ...)`, without a newline. */
int hook_add_progress(struct arena *a, const char *session, const struct hook_item *item,
	struct buf *out, struct error *err);
/* Adds the command that makes the next step. owner NULL: without --owner. */
void hook_add_step(struct buf *out, const struct hook_item *item, const char *owner);

/* PreToolUse of the tools Workflow and StructuredOutput: the loop as a script of the client
 * (workflow.c). */
int hook_workflow(struct arena *a, struct str input, struct buf *out, struct error *err);
/* SubagentStart: the brief and the skill of an agent of that script. */
int hook_agent_start(struct arena *a, struct str input, struct buf *out, struct error *err);

/* Why the item's agents must stop: it has ended, or another session has taken it over. NULL: it is
 * in progress. */
const char *hook_item_over(struct arena *a, const char *session, const struct hook_item *item);
/* Of all items of a session, read at the first question. */
struct hook_drive {
	bool read;
	size_t n;         /* items */
	const char *over; /* why all are over; NULL: one is in progress, or there is none */
};
const char *hook_session_over(struct arena *a, const char *session, struct hook_drive *d);
/* Whether one of the items is in progress. */
bool hook_session_drives(struct arena *a, const char *session, struct hook_drive *d);

/* Whether a script or a conductor of this client drives the item. After the client was killed it
 * does not. */
bool hook_item_is_driven(struct arena *a, const struct hook_item *item);

/* The name under which the session owns the item. */
const char *hook_item_owner(const struct hook_item *item, const char *session);
/* Ends the item, also in the record of its owner: a kill may have left it there when this session
 * took the item over. */
int hook_item_end(
	struct arena *a, const char *session, const struct hook_item *item, struct error *err);

/* The loop as a conversation (conversation.c). PreToolUse of the tool Agent: the brief and the
 * skill of an agent that the session or the conductor starts. */
int hook_agent_call(struct arena *a, struct str input, struct buf *out, struct error *err);
/* SubagentStop: its last message is recorded as its answer. */
int hook_agent_stop(struct arena *a, struct str input, struct buf *out, struct error *err);
/* StopFailure: an agent has ended because of an error of the model's service. */
int hook_agent_failed(struct arena *a, struct str input, struct buf *out, struct error *err);
/* PreToolUse of the tool SubagentHandback: its message is recorded as the agent's answer. */
int hook_agent_handback(struct arena *a, struct str input, struct buf *out, struct error *err);
/* PostToolUse of the tool Agent: what the session sees of the answer. */
int hook_agent_returned(struct arena *a, struct str input, struct buf *out, struct error *err);
/* The step after the agents of an array have ended (batch.c): PostToolBatch, UserPromptSubmit. */
int hook_batch(struct arena *a, struct str input, struct buf *out, struct error *err);
int hook_prompt(struct arena *a, struct str input, struct buf *out, struct error *err);

/* The row of a conversation that the client adds when the user interrupts it. In a quoted text,
 * such as this one, the quotes are escaped. */
#define HOOK_INTERRUPTED "\"text\":\"[Request interrupted by user"

/* ---- the conductor (conductor.c) ---- */

/* SessionStart: the client has compacted its conversation, and its task with it. */
int hook_conductor_start(struct arena *a, const json *event, struct buf *out, struct error *err);
/* PreToolUse of the tool Agent: a conductor that hook_command_repeat() has asked for gets its task.
 * *found: the call was for one. */
int hook_conductor_call(
	struct arena *a, const json *event, struct buf *out, bool *found, struct error *err);
/* SubagentStop: as hook_stop(), unless agents of its item still work. */
int hook_conductor_stop(struct arena *a, const json *event, struct buf *out, struct error *err);
/* StopFailure. */
int hook_conductor_failed(struct arena *a, const json *event, struct error *err);
/* *block: the session or the conductor must continue its turn, because actions of the item are
 * outstanding; at most HOOK_STOPS_MAX times without progress. */
int hook_block_end(struct arena *a, const char *session, const struct hook_item *item,
	struct buf *out, bool *block, struct error *err);

/* ---- who acts ---- */

/* The agent of the slash commands (agents/conductor.md), which drives a work item. */
#define HOOK_CONDUCTOR      "dev-team:conductor"
#define HOOK_CONDUCTOR_TICK "dev-team tick" /* its prompt, before the hook replaces it */
bool hook_is_conductor(const json *event);
/* Whether the event is one of the session itself or of a conductor, which may drive an item. */
bool hook_may_drive(const json *event);

/* ---- answers to the client ---- */

/* Adds the text to what the model reads. */
void hook_put_context(struct buf *out, const char *event, const char *text);
/* PreToolUse: denies the call for the reason; reason NULL: allows it, with `input` in place of its
 * own (taken; NULL: unchanged). */
void hook_put_decision(struct buf *out, const char *reason, json *input);
/* UserPromptExpansion: the user gets the reason, and the model nothing. Stop, SubagentStop: the
 * turn goes on with the reason. */
void hook_put_block(struct buf *out, const char *reason);

/* ---- the user's rules (user_rules.c) ---- */

/* Whether a rule that denies or asks, in the settings of the user, the project or the machine, may
 * apply to the command. `project` NULL: unknown. */
bool hook_user_decides(struct arena *a, const char *project, const char *command);

/* ---- agents of `dev-team run` in a client of their own (headless.c) ---- */

struct persona;
/* Whether this is the client of such an agent, whose calls are judged: *out says by what. */
bool hook_headless(struct persona *out);
/* Whether its tools may use a file outside of its root: a temporary one, its artifacts; and read
 * its item's logs and what is next to its skill. `project`: the root. */
bool hook_headless_may(struct arena *a, const char *project, const char *file, bool write);

/* ---- the decision about a tool call ---- */

/* -1 with *v: the call records an answer to an action that was requested from another agent. */
int hook_answer_check(struct arena *a, const json *call, struct verdict *v);
/* -1 with *v: the agent carries out a node of a manifest, whose persona does not have the tool.
 * `self`: this program, absolute. */
int hook_tools_check(struct arena *a, const json *call, const char *self, struct hook_drive *d,
	struct verdict *v);
/* The client's type for the agent that actions name `agent`. */
const char *hook_agent_type(struct arena *a, const char *agent);
/* Whether the client starts an agent of this type for an action of `agent`. */
bool hook_agent_matches(struct arena *a, const char *type, const char *agent);
/* Why an agent of that type (NULL: the session) may not answer an action of `agent`; NULL: it has
 * the type, or is a task-runner that was started for this action, as its prompt says, which is read
 * by its `call` (NULL: the caller has read it). */
const char *hook_agent_fault(struct arena *a, const json *call, const char *type, const char *agent,
	const char *document, const char *id);
/* The worktree that contains `path`, if it is that of a work item which the session owns; else
 * NULL. */
const char *hook_place_of(struct arena *a, const char *session, const char *path);
/*
 * Adds what comes before a command in the worktree `place` of the call's agent: under the merge
 * gate with a lease of the action, if the agent's stage holds it (`dev-team gate run ... -- `), and
 * with the databases of the stage, if the pool of worktrees has some (`dev-team db env ... -- `).
 * `common`: the repository's git directory; `self`: this program.
 */
int hook_place_stage(struct arena *a, const json *call, const char *place, const char *common,
	const char *self, struct buf *out, struct error *err);
/* Whether `path` is a log of a work item which the session owns. */
bool hook_is_log_of(struct arena *a, const char *session, const char *path);
/* Whether `path` is a file or directory for temporary files, or can become one: below TMPDIR or
 * /tmp, and not in the project or the state directory. */
bool hook_is_temporary(struct arena *a, const char *project, const char *path);
/* The directory of a command `cd DIRECTORY && REST`; NULL for other commands. */
const char *hook_leading_cd(struct arena *a, struct str command, struct str *rest);

/* The commands with which agents call this program (brief, record, exec, context, events). They are
 * allowed without being named in a policy, because no agent can work without them. */
struct hook_protocol {
	struct arena *arena;
	const struct root *root;
	const char *cwd;  /* absolute */
	const char *self; /* this program, absolute */
	/* NULL: the commands of an agent; else those of this session: its step, and the user's
	 * answer */
	const char *session;
};
/* Whether `command` begins as one of them. */
bool hook_protocol_begins(struct str command, const char *self);
/*
 * 0 with the text to run in *out (this program by its path), or -1 with *v. Allowed is one command
 * in the form that the brief shows, with the answer in a here document. Its document must be in the
 * state directory, where the agent cannot write, because `exec` runs what the document says.
 */
int hook_protocol_check(
	const struct hook_protocol *p, struct str command, struct buf *out, struct verdict *v);

#endif
