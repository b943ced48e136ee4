/*
 * corpus.h: reads a table of tests/corpus: one JSON object per line.
 */
#ifndef DT_TESTS_CORPUS_H
#define DT_TESTS_CORPUS_H

#include "src/base/json.h"
#include "tests/lib/unit.h"

/* Calls `row` for each row of tests/corpus/`name`; the rows are freed afterwards. */
void corpus_each(const char *name, void (*row)(const json *row, void *data), void *data);

#endif
