/*
 * legacy.h: journals of format 1, which had events and no commits: the revision of the document
 * said how far the events held. The file backend takes them in as they are.
 */
#ifndef DT_STORE_LEGACY_H
#define DT_STORE_LEGACY_H

#include "src/store/store.h"

/* In the place of the revision of a document that does not say it: nothing can be told from it. */
#define STORE_REV_UNKNOWN (UINT64_MAX - 1)

/*
 * For a store of the file backend, open with STORE_HOLD, that has no commit yet (store_revision()
 * is 0); else nothing is done. Cuts a torn last line of the journal and its lines of revision
 * rev + 1, whose document was never replaced. Then store_revision() is the highest of `rev` and
 * what the lines say, so that the next commit is above them all. -1: ERR_SYSTEM.
 */
int store_adopt(struct store *s, uint64_t rev, struct error *err);

#endif
