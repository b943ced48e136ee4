/*
 * status.h: what people ask about work items: in which state they are, who works on them since
 * when, what they cost, what they wait for, and how they go on. `dev-team status` and the slash
 * command of that name have the same source.
 */
#ifndef DT_RUN_STATUS_H
#define DT_RUN_STATUS_H

#include "context/lease.h"

/*
 * The item of one document as an object: the members are in docs/verbs.md. Never fails: what cannot
 * be read has the status `broken`, and the members `error` and `continue` (the remedy). `brief`:
 * without what explains a failure. The caller frees it.
 */
json *status_item(const char *document, bool brief);
/* The status of an item whose document is missing but whose history exists; NULL: there is none. */
json *status_lost(const char *document);
/* The items whose documents are in `dir` and below as an array: those at work come first, then
 * those that wait for a person, then the others. -1: the directory cannot be read. */
int status_items(const char *dir, json **items, struct error *err);
/* In that order, after others were added. */
void status_sort(json **items);
/* The children of the item that have begun, those of one name in their order. */
json *status_children(const char *document);
/* The directory of the documents of this repository's items, in the arena. */
int status_directory(struct arena *a, const char *repo, const char **dir, struct error *err);

/* The document of the work item `id`: `context_file`, else at the default place of the repository.
 * -1: as status_refuse_unknown(). */
int status_find(struct arena *a, const char *id, const char *repo, const char *context_file,
	const char **document, struct error *err);
/* -1: ERR_INPUT, there is no work item `id`, since there is no `document`; ERR_STATE, it is gone.
 */
int status_refuse_unknown(const char *id, const char *document, struct error *err);

/* A line for each item, and a line with their number. `all`: the directory above those of several
 * repositories, which each line names then; NULL: there is one. */
void status_add_table(struct buf *out, const json *items, const char *all);
/* One line for the items at work and those that wait for an answer; nothing if there is none. */
void status_add_line(struct buf *out, const json *items);
/* A line that names an item, its status and its state. */
void status_add_title(struct buf *out, const json *item);
/* All of an item, a line for each fact. */
void status_add_details(struct buf *out, const json *item);

/* The process of the `dev-team run` that works on the item, for people; NULL: none does. */
const char *status_run_active(struct arena *a, const char *document);

/* -1: ERR_STATE, somebody works on the item, or one of its scripts runs; the message says who, and
 * how that ends. */
int status_check_free(struct arena *a, const char *document, const char *id, struct error *err);
/* A run from which somebody took the item may have agents at work in its worktree. -1: ERR_STATE,
 * its process lives. */
int status_check_worktree_free(
	struct arena *a, const char *document, const char *id, struct error *err);
/* Refuses for that reason: always -1 with ERR_STATE. */
int status_refuse_beside(pid_t pid, const char *id, const char *directory, struct error *err);
/* Adds the command that continues the item: that of its last run, else that of a session; or the
 * one that approves what it waits for. */
void status_add_continuation(struct buf *out, struct context_file *f);
/* Adds a line with that command after an answer; of a child that of the item above all, which
 * drives it. */
void status_add_next(struct buf *out, struct context_file *f);

/* The work item's id and, unless the document is at its default place of the repository,
 * `--context-file`: what a command about the item needs, quoted for a shell. `repo` NULL: the one
 * around the working directory. */
void status_add_address(struct buf *out, const char *id, const char *document, const char *repo);
/* Adds `--repo`, unless the working directory is in that repository. */
void status_add_repository(struct buf *out, const char *repo);

#endif
