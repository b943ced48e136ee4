/*
 * version.h: versions of three numbers, and ranges of them: `>=2.0.0 <3.0.0`.
 *
 * A range is any number of constraints with blanks between, all of which must hold; each is one of
 * >= > <= < = right before X.Y.Z. One that is written in another way holds for no version. Of a
 * version only its leading X.Y.Z counts; what follows (`-beta.1`, `+build`) is passed over.
 */
#ifndef DT_VERSION_H
#define DT_VERSION_H

#include "src/base/buf.h"

struct version {
	uint64_t part[3];
};

/* The leading X.Y.Z of `text`. False: there is none, or a number has more than 18 digits. */
bool version_parse(struct str text, struct version *out);
/* The first X.Y.Z anywhere in `text`, as it is written; NULL: none. */
const char *version_find(struct arena *a, struct str text);
/* Whether `version` is one and lies in `range`. */
bool version_in(struct str version, struct str range);
bool range_valid(struct str range);

#endif
