/*
 * walk_rig.h: a random walk through the engine, for each number always the same. The callers act in
 * any order: they step twice, answer late or not at all or with any word, and lose the push. A
 * repeated call changes nothing, and the journal can be replayed. (tests/model compares what each
 * call does.)
 */
#ifndef DT_TESTS_WALK_RIG_H
#define DT_TESTS_WALK_RIG_H

#include "tests/lib/engine_rig.h"

/* Counts in `ends` the walks that reached `done` and `failed`. */
void engine_walk(unsigned number, unsigned ends[2]);

#endif
