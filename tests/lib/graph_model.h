/*
 * graph_model.h: random graphs, and a small model of how they run. It shares no code with the
 * product: it applies the rules of docs/manifests.md word by word to arrays.
 */
#ifndef DT_TESTS_GRAPH_MODEL_H
#define DT_TESTS_GRAPH_MODEL_H

#include "src/base/buf.h"
#include "tests/lib/random.h"

enum { MODEL_NODES = 9, MODEL_EDGES = MODEL_NODES * MODEL_NODES, MODEL_ALWAYS = 3 };
enum { MODEL_PARALLEL = 1, MODEL_SEQUENTIAL = 3, MODEL_UNROLLED = 4, MODEL_BLOCKS = 5 };
enum model_status { MODEL_WAIT, MODEL_READY, MODEL_OPEN, MODEL_ENDED, MODEL_SKIPPED };

struct model_edge {
	int from, to;
	int on;          /* of success, validation_fail, failure; or MODEL_ALWAYS */
	bool event, had; /* only with an event in the answer; only after a failed validation */
	bool taken;
};

struct graph_model {
	int n, n_edges;
	bool any[MODEL_NODES];
	int block[MODEL_NODES]; /* 0: none; 1, 2: parallel; 3: sequential; 4: retry-unrolled */
	int retries[MODEL_NODES];
	struct model_edge edges[MODEL_EDGES];
	/* What has happened. */
	bool open[MODEL_NODES], ended[MODEL_NODES];
	int how[MODEL_NODES], tried[MODEL_NODES];
	bool failed_validation; /* ever */
	bool aborted;
};

/* Every node but the first has an edge from the first. */
void graph_model_make(struct random *r, struct graph_model *g);
void graph_model_status(const struct graph_model *g, enum model_status *out);
/* The node, which is open, gives this status. */
void graph_model_answer(struct graph_model *g, int node, int status, bool event);
/* Everything has ended or is skipped, and what was no success was taken by an edge. */
bool graph_model_succeeds(const struct graph_model *g);

#endif
