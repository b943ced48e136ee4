/*
 * document.h: replacing a whole file so that a kill or a full disk at any moment leaves the old
 * bytes or the new ones: temporary file in the same folder, fsync, rename, fsync of the folder.
 *
 * The caller holds the lock that guards the path; the temporary name is fixed, so that a leftover
 * of a killed process is overwritten by the next, never piled up.
 */
#ifndef DT_DOCUMENT_H
#define DT_DOCUMENT_H

#include "src/base/buf.h"

/* Writes `text` beside `path` and makes it durable. On -1 (ERR_SYSTEM) nothing is left. */
int document_stage(const char *path, struct str text, struct error *err);
/*
 * Puts what was staged in the place of `path`. *replaced tells whether the new bytes are there: on
 * -1 they may be, when only the folder could not be synced.
 */
int document_commit(const char *path, bool *replaced, struct error *err);
/* Forgets what was staged; also what a killed process left. */
void document_discard(const char *path);
/* Both in one. */
int document_replace(const char *path, struct str text, struct error *err);

#endif
