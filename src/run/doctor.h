/*
 * doctor.h: checks of everything that a run needs: programs, the state directory, the sandbox, the
 * installation, the repository.
 */
#ifndef DT_RUN_DOCTOR_H
#define DT_RUN_DOCTOR_H

#include "src/base/buf.h"

/*
 * Adds one line for each finding: "ok", "warn" (a run can do without it) or "fail", the subject,
 * the state, and how to repair it. `repo` NULL: the repository around the working directory. False:
 * a check failed.
 */
bool doctor_check(struct arena *a, const char *repo, struct buf *out);

#endif
