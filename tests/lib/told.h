/*
 * told.h: every event that any test lets be written must be as the schema says: tree_remove() looks
 * at the events of each folder before it goes.
 */
#ifndef DT_TESTS_TOLD_H
#define DT_TESTS_TOLD_H

#include "src/base/buf.h"

/*
 * Ends the program when a line of the file is an event of the table's name and not of its form.
 * What tests plant there to be passed over (torn lines, events of other programs) is passed over.
 */
void told_check(const char *path);

#endif
