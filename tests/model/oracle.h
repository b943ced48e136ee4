/*
 * oracle.h: compares each call of a simulator with the model (reference.h). Before a call it reads
 * the document and the journal into the model; after it, what the model made of the call must be
 * what the engine made of it. So each call is compared on its own, whatever a person, a crash or
 * an earlier call did to the document.
 */
#ifndef DT_MODEL_ORACLE_H
#define DT_MODEL_ORACLE_H

#include "src/verify/simulator.h"
#include "tests/model/audit.h"

enum { ORACLE_DIFFERENCE = 1200 };

struct oracle {
	size_t compared, skipped;
	const struct audit *audit; /* of the journal, after crashes too; may be NULL */
	bool paused;
	bool faulty; /* a fault is injected into this call: compare it only if it succeeds */
	char difference[ORACLE_DIFFERENCE]; /* the first one; "": none */
};

/* As simulator_invoke(); compares the call. */
int oracle_call(struct oracle *o, struct simulator *s, const struct simulator_call *c,
	json **printed, struct error *err);

#endif
