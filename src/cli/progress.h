/* progress.h: what people see of a run while it works. */
#ifndef DT_CLI_PROGRESS_H
#define DT_CLI_PROGRESS_H

#include "src/run/run.h"

/* Lines on standard error when actions begin and end, their sums at the end, and, on a terminal,
 * one line with what works now and for how long. One run at a time. */
void progress_listen(struct run_request *q);

#endif
