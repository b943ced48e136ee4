/*
 * change.h: how much of a text a change concerns.
 */
#ifndef DT_CHANGE_H
#define DT_CHANGE_H

#include "src/base/buf.h"

/* Lines that are new and lines that are gone; one that only moved is neither. */
void change_count(struct str from, struct str to, size_t *added, size_t *removed);
/* The first line, from 1, that is not the same in both; 0: all are. The lines without their end;
 * where a text has ended, empty. */
size_t change_first(struct str from, struct str to, struct str *line_from, struct str *line_to);

#endif
