/*
 * recover.h: what a tick does when a step of a task, or its work item, has failed, and the playbook
 * for it: a YAML list of modes. The shipped one is playbooks/failures.yaml, that of a repository
 * .dev-team/failures.yaml. docs/backlog.md.
 */
#ifndef DT_TICK_RECOVER_H
#define DT_TICK_RECOVER_H

#include "src/tick/memory.h"

#define PLAYBOOK_FILE ".dev-team/failures.yaml"

enum playbook_action { PLAYBOOK_RETRY, PLAYBOOK_PARK };
extern const char *const playbook_actions[]; /* "retry", "park" */

struct regex;

struct playbook_mode {
	const char *name, *feedback;
	enum playbook_action action;
	unsigned budget; /* how often for one task */
	int64_t wait_s;  /* before it is tried again */
	int64_t idle_s;  /* of an item with a pull request; 0: `match` counts */
	const char **match;
	size_t n_match;
	struct regex **compiled;
};
struct playbook {
	struct playbook_mode *modes;
	size_t n;
};

/* That of the repository, else the shipped one. -1: ERR_INPUT with the place. */
int playbook_load(struct arena *a, const char *repo, struct playbook *out, struct error *err);
int playbook_parse(struct arena *a, const char *file, struct str text, struct playbook *out,
	struct error *err);
/* The first mode that the text of a failure is of; NULL: none. */
const struct playbook_mode *playbook_find(const struct playbook *p, struct str failure);
/* The first mode of an item that has had a pull request, and no change for so long. */
const struct playbook_mode *playbook_find_idle(const struct playbook *p, int64_t idle_s);

#define RECOVER_STATE "fixing-pr"
#define RECOVER_LABEL "needs-human-attention"

enum { RECOVER_WAIT_S = 60, RECOVER_PULLS_MAX = 3 };

struct recovery {
	struct arena *arena;
	struct tick_memory *memory;
	const struct playbook *playbook;
	const char *repo, *document; /* of the item */
	const struct task *task;
	const struct playbook_mode *remedy; /* set by recover_remedy() */
};

/* The work item has failed: *again, the last request to an agent is made again, with the playbook's
 * feedback in its brief. Else the failure counts, and commits that no remote has get a branch. */
int recover_item(const struct recovery *r, const char *reason, bool *again, struct error *err);
/* As of struct run_step_call, with the recovery as data, whose `remedy` becomes the mode of the
 * failure if that has one, and some of its budget is left. The step may yet fail: it is counted
 * after that. */
const char *recover_remedy(void *recovery, const char *failed, int64_t *until);
void recover_count(const struct recovery *r, const struct playbook_mode *mode);
/* The pull request of the item; NULL: it has none. */
const char *recover_pull_url(const struct recovery *r);
/* Marks it as ready, or gives it RECOVER_LABEL, or takes that away. false: it failed, which is
 * logged. */
bool recover_mark(const struct recovery *r, enum forge_mark mark);
/* The item was approved. A draft is marked as ready. If its pull request conflicts with its target,
 * its checks have failed or people have requested changes since, *again: it goes on in
 * RECOVER_STATE, after a while that is longer each time; the requeue rules (src/merge/requeue.h)
 * decide whether it is triaged again. A task that comes back too often, or in a storm of triages,
 * or whose pull request was closed, is parked. */
int recover_pull(const struct recovery *r, const struct admission_facts *facts, bool *again,
	struct error *err);
/* What the forge says of it. Without a `state`, and not `missing`: it could not be asked. */
struct forge_view recover_view(const struct recovery *r);
/* A step has failed: the next repeats the last request to an agent, or the failure counts. */
void recover_step(const struct recovery *r, const char *reason);
/* An item that has outstanding actions: if it has had a pull request and no change for too long,
 * *again, they are to be requested again, with the feedback in the briefs; else it is parked. */
int recover_idle(const struct recovery *r, bool *again, struct error *err);

#endif
