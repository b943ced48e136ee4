/*
 * oracle.h: compares each call of a simulator with the model (reference.h). Before a call it reads
 * the document into the model; after it, the model's document, events and printed array must be
 * those of the engine. So each call is compared on its own, whatever a person, a crash or an
 * earlier call did to the document.
 */
#ifndef DT_MODEL_ORACLE_H
#define DT_MODEL_ORACLE_H

#include "src/sys/digest.h"
#include "src/verify/simulator.h"
#include "tests/model/audit.h"
#include "tests/model/reference.h"

enum { ORACLE_DIFFERENCE = 1200 };

struct oracle {
	size_t compared, skipped;
	const struct audit *audit; /* of the journal, after crashes too; may be NULL */
	bool paused;
	bool faulty; /* a fault is injected into this call: compare it only if it succeeds */
	char difference[ORACLE_DIFFERENCE]; /* the first one; "": none */
	/* of the call */
	bool readable;
	bool pending;               /* the document says that an agent was asked */
	char document[DIGEST_TEXT]; /* before */
	struct arena arena;
	struct model model;
	size_t journal; /* its length before */
};

/* As simulator_invoke(); compares the call. */
int oracle_call(struct oracle *o, struct simulator *s, const struct simulator_call *c,
	json **printed, struct error *err);
void oracle_release(struct oracle *o);

#endif
