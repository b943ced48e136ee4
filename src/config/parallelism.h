/*
 * parallelism.h: how many issues a pipeline works on at one time: as it declares, or made from the
 * plans of the harnesses that its stages run on. Settled once, when the pipeline is loaded.
 * docs/resources.md#how-many-at-one-time.
 */
#ifndef DT_RESOURCE_PARALLELISM_H
#define DT_RESOURCE_PARALLELISM_H

#include "src/base/json.h"
#include "src/config/resource.h"

enum parallelism_source {
	PARALLELISM_SERIAL,   /* the pipeline has no `parallelism` */
	PARALLELISM_DECLARED, /* maxConcurrent */
	PARALLELISM_PLANS,
	PARALLELISM_NO_PLAN,  /* none for a harness of its stages */
	PARALLELISM_DISABLED, /* AI_SDLC_PARALLELISM is off */
};

struct harness_share {
	const char *harness;
	unsigned value;
};

struct parallelism {
	unsigned max; /* 1..CONCURRENT_MAX */
	enum parallelism_source source;
	unsigned before;    /* before it was brought into the range */
	struct words plans; /* that counted; two seats are two */
	struct harness_share *shares;
	size_t n_shares;
};

/* "serial", "declared", "plans", "no-plan", "disabled" */
const char *parallelism_word(enum parallelism_source s);

void parallelism_resolve(struct arena *a, const struct resources *r, const struct pipeline *p,
	enum parallelism_mode mode, struct parallelism *out);

/* What a plan of that name stands for; 1 for a name that is not in the table. */
unsigned plan_seats(const char *name);

#endif
