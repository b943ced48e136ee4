/*
 * recover.h: what a tick does when a step of a task, or its work item, has failed.
 */
#ifndef DT_TICK_RECOVER_H
#define DT_TICK_RECOVER_H

#include "src/tick/memory.h"
#include "src/tick/playbook.h"

struct recovery {
	struct arena *arena;
	struct tick_memory *memory;
	const struct playbook *playbook;
	const char *repo, *document; /* of the item */
	const struct task *task;
};

/* The work item has failed: *again, its last request is made again, with the playbook's feedback in
 * its brief. Else the failure counts, and commits that no remote has get a branch. */
int recover_item(const struct recovery *r, const char *reason, bool *again, struct error *err);
/* A step has failed. */
void recover_step(const struct recovery *r, const char *reason);
/* An item that works: parks it if it has had a pull request and no progress for too long. */
void recover_idle(const struct recovery *r);
/* The item was retried, so its task is parked no more. */
bool recover_is_retried(const char *document);

#endif
