/*
 * told.h: every event that any test lets be written must be as the schema says: tree_remove() looks
 * at the events of each folder before it goes.
 */
#ifndef DT_TESTS_EVENT_CHECK_H
#define DT_TESTS_EVENT_CHECK_H

#include "src/base/buf.h"

/*
 * Ends the program when a line of the file is an event of the table's name and not of its form.
 * What tests plant there to be passed over (torn lines, events of other programs) is passed over.
 */
void event_check_file(const char *path);

#endif
