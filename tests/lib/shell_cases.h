/*
 * shell_cases.h: tables of command texts: with the drawing of their tree, and with their denial as
 * verdict_line() puts it behind `deny `.
 */
#ifndef DT_TESTS_SHELL_CASES_H
#define DT_TESTS_SHELL_CASES_H

#include "src/shell/parse.h"
#include "tests/lib/scratch.h"

/* The drawing is on one line: the nodes below a node are in brackets, not indented. */
struct drawn {
	const char *text, *drawing;
};

struct denied {
	const char *text, *line;
};

struct node *shell_tree(struct str text);

void assert_drawn(const struct drawn *cases, size_t n);
void assert_denied_as(struct str text, const char *line);
void assert_denied(const struct denied *cases, size_t n);

#endif
