/*
 * run_part.h: one action of an array, done by `run`: a scripted agent is played, a harness is
 * asked, or a script is run. For run.c and run_jobs.c.
 */
#ifndef DT_RUN_PART_H
#define DT_RUN_PART_H

#include "src/run/run_staff.h"
#include "src/machine/script_agents.h"

struct stage {
	const char *id, *repo, *context_file;
	const char *script;        /* file of the agents; NULL: none */
	const struct staff *staff; /* real agents; NULL: none */
	int cancel;                /* descriptor; see interrupt.h */
};

struct part {
	const json *action;
	const struct script_entry
		*entry;              /* NULL: none; a script is run as it is, an agent is asked */
	const struct scripted *turn; /* of the entry */
};

enum { WORD_SIZE = 80 };

/* Does it and records the answer. `word` is the answer's; "" when there is no answer. */
int part_play(const struct stage *s, const struct part *p, char word[WORD_SIZE], struct error *err);

#endif
