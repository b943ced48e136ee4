/*
 * admission.h: which tasks of the backlog may be started now. The facts are gathered once for all
 * candidates (facts.c); each filter is a pure function of them and of one task. The table of
 * filters says what each reads, and whether a fact that could not be gathered admits or blocks.
 * docs/backlog.md.
 *
 * Ownership: everything lives in the arena of the backlog; admission_release() frees the detail.
 */
#ifndef DT_ADMISSION_H
#define DT_ADMISSION_H

#include "src/backlog/backlog.h"
#include "src/event/event.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"

struct admission_sign { /* that somebody works on a task */
	const struct task *task;
	const char *where; /* a worktree's path, a work item's state */
};
struct admission_process {
	pid_t pid;
	const char *command; /* its arguments */
};
struct admission_readiness {                              /* a line of the calibration log */
	const char *task, *verdict, *outcome, *signed_at; /* all but `task` may be NULL */
};
struct admission_pair { /* of ids */
	const char *task, *of;
};

struct admission_facts {
	struct backlog *backlog;
	struct git_default start; /* where work begins */
	bool pulls_read;
	const char *pulls_fault; /* why the open pull requests are not known; NULL: they are */
	struct forge_open_pulls pulls;
	VEC(struct admission_sign) worktrees, items;
	VEC(struct admission_process) processes;   /* agents */
	VEC(struct admission_readiness) readiness; /* in the order of the log */
	VEC(struct admission_pair) cleared;        /* external dependencies */
	VEC(const char *) captures;                /* ids that an undecided capture names */
	VEC(const struct task *) started;          /* admitted by this call */
	bool ignore_overlap;
	const char *ignore_overlap_of; /* id; may be NULL */
};

struct admission_case; /* admission.c */

struct admission_filter {
	const char *name, *title; /* for programs, for people */
	const char *reads;
	bool missing_blocks; /* a fact that could not be gathered blocks; else it admits */
	enum event_id event; /* that its rejection emits */
	/* The reason of a rejection; NULL: it passes. */
	const char *(*reject)(struct admission_case *c);
};
extern const struct admission_filter admission_filters[];
enum { ADMISSION_FILTERS = 10 };

/* What became of one candidate. */
struct admission {
	const struct task *task;
	const char *refused;                   /* its status, or its file; NULL */
	size_t n_passed;                       /* filters that let it pass, in their order */
	const struct admission_filter *failed; /* the one that did not; NULL: it is admitted */
	const char *reason;
	json *detail;     /* of the rejection: `kind` and what the filter found */
	const char *base; /* branch on which a stacked task starts; NULL: the default one */
};
/* Sets `begun` of the tasks that have a document in `dir`. */
int admission_find_items(struct backlog *b, const char *dir, struct error *err);
/* Reads the open pull requests, unless they were read. */
void admission_read_pulls(struct backlog *b, struct admission_facts *f);
/* Reads everything that the filters look at: one call of `gh`. What cannot be read is missing.
 * *out: zeros, or as admission_read_pulls() left it. -1: ERR_SYSTEM, ERR_STATE: the repository's
 * state directory cannot be found. */
int admission_gather(struct backlog *b, struct admission_facts *out, struct error *err);
/* The task that a branch such as `dev-team/DEMO-7` or `ai-sdlc/demo-7-teach` is of; NULL: none. */
const struct task *admission_branch_task(const struct backlog *b, const char *branch);
/* The branch of its work item. */
const char *admission_branch(struct arena *a, const struct task *t);

/* One that is admitted counts as started for those that are decided after it. */
void admission_decide(struct admission_facts *f, const struct task *t, struct admission *out);
void admission_release(struct admission *d); /* for CLEANUP */

/* A line for the task, each filter and the result. */
void admission_add_trace(struct buf *out, const struct admission *d);
json *admission_trace(const struct admission *d); /* an array: {filter, passed, reason, detail} */
/* Of the event of its rejection; the caller adds `tick`. */
json *admission_event_fields(const struct admission *d);
json *admission_json(const struct admission *d);

#endif
