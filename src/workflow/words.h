/*
 * words.h: the names that a workflow file may use, and how a name from outside is shown in a
 * message.
 */
#ifndef DT_WORDS_H
#define DT_WORDS_H

#include "src/base/buf.h"

/* A state, trigger or result word: 1 to 64 of A-Z a-z 0-9 _ -, with no - at either end. */
bool word_valid(struct str s);
/* An agent or a skill: as above, and `.` and `:` inside (plugin:skill), up to 100. */
bool skill_valid(struct str s);

enum { SHOWN = 64 };
/* At most 60 bytes of `s`, cut between characters, control characters as `?`. Returns out. */
const char *shown(struct str s, char out[SHOWN]);

#endif
