/*
 * plays.h: random graphs and manifests that are played beside the model, some by the tests, more by
 * the proof.
 */
#ifndef DT_TESTS_GRAPH_PLAYS_H
#define DT_TESTS_GRAPH_PLAYS_H

/* `n` random graphs from this seed, through the frontier alone. */
void play_graphs(unsigned seed, unsigned n);
/* `n` random manifests, through the engine. */
void play_manifests(unsigned seed, unsigned n);

#endif
