/*
 * predict.h: which branches would conflict with the target branch and with one another, as all of
 * them are now. Nothing is fetched, checked out or written but objects of git.
 */
#ifndef DT_PREDICT_H
#define DT_PREDICT_H

#include "src/base/json.h"

enum { PREDICT_MAX = 40 }; /* branches; each is merged with each */

struct predicted {
	const char *name, *branch; /* name: in the conflicts of others */
	/* Set by land_predict(): */
	bool there, merged; /* there: the branch exists here; merged: the target has its changes */
	/* Those that it conflicts with: [{"with": NAME, "paths": [PATH]}]; the caller's to free. */
	json *conflicts;
};

/* Only the first PREDICT_MAX branches are looked at. `target`: the name of a branch of origin, or
 * of a local one. -1: ERR_SYSTEM. */
int land_predict(struct arena *a, const char *repo, const char *target, struct predicted *list,
	size_t n, struct error *err);

#endif
