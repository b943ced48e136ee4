/*
 * playbook.h: what is done when a step of a task, or its work item, has failed: a YAML list of
 * modes. The shipped one is playbooks/failures.yaml, that of a repository .dev-team/failures.yaml.
 * docs/backlog.md.
 */
#ifndef DT_TICK_PLAYBOOK_H
#define DT_TICK_PLAYBOOK_H

#include "src/backlog/backlog.h"

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

#endif
