/*
 * run_show.h: what a person sees of a run while it goes on: a line on stderr for each action that
 * was served. Plain unless stderr is a terminal.
 */
#ifndef DT_RUN_SHOW_H
#define DT_RUN_SHOW_H

#include "src/base/json.h"

struct show {
	int64_t begun; /* clock_ticks() */
	bool colour;
};

void show_begin(struct show *s);
/* `word` is the answer's, "" when there was none. */
void show_part(const struct show *s, const json *action, const char *word);
void show_done(const struct show *s, const json *done);

#endif
