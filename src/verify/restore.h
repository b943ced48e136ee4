/*
 * restore.h: puts a document back as it was.
 */
#ifndef DT_RESTORE_H
#define DT_RESTORE_H

#include "context/file.h"
#include "src/verify/history.h"

struct restored {
	int64_t to;    /* the revision whose document is there now; 0: it was good as it was */
	int64_t stood; /* the one that has what stood there; 0: nothing was to be done */
};

/*
 * Puts the document in place as it was at `rev`; 0: the last good one, in the place of one that is
 * broken or gone. What stood there is in the history before that. -1: ERR_STATE when none ever was
 * good.
 */
int restore_document(
	const struct history_place *place, int64_t rev, struct restored *result, struct error *err);

/* The part of it that changes something: `text`, the document of revision `to`, is put into f,
 * which is open, if only with a broken document. */
int restore_into(struct context_file *f, int64_t to, struct str text, struct error *err);

#endif
