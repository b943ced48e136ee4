/*
 * artifact_internal.h: what the files of artifact.h share, on any disk. `issue` is an id, one of
 * the scopes that begin with `_`, or NULL: the folder of artifacts itself.
 */
#ifndef DT_ARTIFACT_INTERNAL_H
#define DT_ARTIFACT_INTERNAL_H

#include "src/event/artifact.h"
#include "src/store/disk.h"

enum { ARTIFACT_MAX = 16 << 20 };

struct artifact_place {
	struct disk *disk;
	const char *dir, *issue, *name;
};

#define ARTIFACT_AT(dir, issue, name)                                                              \
	(&(struct artifact_place){disk_real(), (dir), (issue), (name)})

/* Its path; -1 also when a link is in the way: ERR_STATE. */
int artifact_find(struct arena *a, const struct artifact_place *at, char **path, struct error *err);
/* Adds its text. *missing: there is none, and 0. -1: ERR_STATE when a link is in the way. */
int artifact_get(
	const struct artifact_place *at, struct buf *out, bool *missing, struct error *err);
/* One writer at a time in the folder of an issue; all writers take it. */
int artifact_lock(const struct artifact_place *at, struct disk_lock **out, struct error *err);
void artifact_unlock(struct disk_lock **l); /* for CLEANUP; safe on NULL */
/* With the lock: by a file of another name. */
int artifact_replace(const struct artifact_place *at, struct str text, struct error *err);
/* The three of artifact.h on any disk; lines end in a line feed. */
int artifact_put(const struct artifact_place *at, struct str text, struct error *err);
int artifact_add_line(const struct artifact_place *at, struct str line, struct error *err);
int runtime_merge_at(const struct artifact_place *at, const json *members, struct error *err);

#endif
