/*
 * cli.h: the verbs. A verb is one file: its struct of option values, its tables, its functions, and
 * its descriptor (src/base/option.h). Its functions call lower rooms and format the result;
 * main.c alone writes to standard output and exits. src/cli/list.h names all verbs.
 *
 * CONTRIBUTING.md has the recipe for a new verb.
 */
#ifndef DT_CLI_H
#define DT_CLI_H

#include "src/base/json.h"
#include "src/base/option.h"

#define X(name) extern const struct verb verb_##name;
#include "src/cli/list.h"
#undef X

/* The program: its subcommands are the verbs. */
extern const struct verb cli_program;

/* A row of a table of subcommands; the text about it comes last, then its other fields. */
#define CLI_SUBCOMMAND(name_, words_, run_, ...)                                                   \
	&(const struct verb)                                                                       \
	{                                                                                          \
		.name = (name_), .words = (words_), .run = (run_), .about = __VA_ARGS__            \
	}

/* Rows that many verbs have; `type` has a field of that name. */
#define CLI_JSON(type)       OPTION_FLAG(type, json, "json", "print the result as JSON")
#define CLI_JSON_TABLE(type) ((const struct option[]){CLI_JSON(type), OPTION_END})
#define CLI_ARTIFACTS(type)                                                                        \
	OPTION_TEXT(type, artifacts, "artifacts", "DIR",                                           \
		"directory of the artifacts; default: $ARTIFACTS_DIR, else one in the state "      \
		"directory")
#define CLI_RESOURCES(type)                                                                        \
	OPTION_TEXT(type, resources, "resources", "DIR",                                           \
		"directory (or file) of the resources; default: .dev-team/resources or .ai-sdlc "  \
		"of the repository")
#define CLI_PLUGIN_ROOT(type)                                                                      \
	OPTION_TEXT(type, plugin_root, "plugin-root", "DIR",                                       \
		"directory that holds workflows/; default: the installation")
#define CLI_REPO(type)                                                                             \
	OPTION_TEXT(type, repo, "repo", "DIR",                                                     \
		"the repository; default: the one around the working directory")
#define CLI_DOCUMENT(type)                                                                         \
	OPTION_TEXT(type, context_file, "context-file", "FILE",                                    \
		"the work item's document; default: as 'context path' prints")

/* The options of `step`, of a struct run_step_call (run/run.h); `run` takes them too. */
extern const struct option cli_step_options[];

/* The options that name agents, of a struct run_request at the start of the verb's own. */
extern const struct option cli_agent_options[];

/* What verbs about one work item, their first word, have at the start of their own. */
struct cli_item {
	const char *repo, *context_file;
};
extern const struct option cli_item_options[];
/* Its document. -1: ERR_INPUT, there is no such item. */
int cli_find_item(struct invocation *in, const char **document, struct error *err);

/* The options that name a pool of worktrees, of `pool` and `gate`: a struct pool_choice
 * (run/locate.h) at the start of their own. */
extern const struct option cli_pool_options[];

/* All of standard input, UTF-8 or not; ERR_USAGE when it is a terminal. */
int cli_read_input(struct buf *out, size_t max, struct error *err);
/* `file`, or standard input when it is NULL or "-". */
int cli_read_text(struct buf *out, const char *file, size_t max, struct error *err);

/* The document of a work item: `word` is its id, or a path: with a `/` in it, or ending in .md or
 * .jsonl. An id is one of the repository around the working directory; -1, ERR_INPUT, if there is
 * neither its document nor its journal. */
int cli_find_document(
	struct invocation *in, const char *word, const char **path, struct error *err);
/* The same of an action: `file` if it is given, else of the word, else of the item that the
 * action's id begins with. */
int cli_find_action_document(struct invocation *in, const char *file, const char *action,
	const char **path, struct error *err);

/* Progress of a run on standard error (progress.c): lines when actions begin and end, their sums,
 * and on a terminal one line with what works now and for how long. One run at a time. */
struct run_request;
void progress_listen(struct run_request *q);

typedef int screen_text(void *data, struct buf *out, struct error *err);
/*
 * Fills the terminal with what `text` gives and draws it again when it changes (screen.c). Calls
 * `text` at least once a second unless that takes too long, until Ctrl-C, `q` or a signal; the
 * terminal is as before then. The last line says how many lines do not fit. Not on a terminal:
 * prints the text whenever it has changed. -1: as `text`, or ERR_SYSTEM.
 */
int screen_watch(screen_text *text, void *data, struct error *err);

struct quota_entry;
struct quota_window;
struct quota_point;
struct subscription_plan;
/* Adds an SVG image: tokens left, target, hard cap, reservations, and off-peak hours if the plan is
 * known. The window has begun and has a quota. */
void cli_put_chart(const struct quota_entry *e, const struct quota_window *w,
	const struct subscription_plan *p, const struct quota_point *points, size_t n, int64_t now,
	struct buf *out);

/* Prints what there is and empties it: for verbs that show things as they happen. */
int cli_flush(struct buf *out, struct error *err);

/* `as_json`: the JSON as a line instead of the text that is in in->out. Frees it. */
void cli_put_json(struct invocation *in, bool as_json, json *j);
/* A task of the backlog; the caller frees it. */
struct backlog;
struct task;
json *cli_task_json(struct arena *a, const struct backlog *b, const struct task *t);
/*
 * Adds the open tasks of the backlog to what status_items() found in `dir`: one without a work item
 * is {id, status, state, reason, since, file} with the status `queued`, its state in the backlog
 * and why it waits; a parked one has the status `parked`, also if it has an item. Starts nothing,
 * and asks nobody: the reason is that of the last tick, else of the backlog. -1: the backlog cannot
 * be read.
 */
int cli_add_tasks(const char *repo, const char *dir, json **items, struct error *err);
/* Pushes the branch that is checked out in `repo`, and opens the pull request of the task. */
int cli_publish_task(struct invocation *in, const char *repo, const struct task *t, bool as_json,
	struct error *err);

/* land_branch() under the gate, with the databases of the branch. */
struct gate_ask;
struct land;
struct land_ask;
struct pool;
int cli_land_branch(struct invocation *in, struct pool *p, struct land_ask *ask,
	const struct gate_ask *wait, struct land *out, struct error *err);

/* The exit status after ticks whose result is `rc`. status 0 with rc -1: an error of this call. */
int cli_end_ticks(struct invocation *in, int rc, int status, struct error *err);

/* A row of a table ends without blanks. */
void cli_end_row(struct buf *out);

/* Records the answer of the person who calls to the approval that the item waits for. `text` empty:
 * the word and the person. -1: ERR_STATE, it waits for none. */
int cli_answer_approval(struct invocation *in, const char *document, const char *word,
	struct str text, struct error *err);

#endif
