/*
 * subcommands.h: verbs whose first word says what they do. Each subcommand has options and a number
 * of words of its own; what it does not take is refused.
 */
#ifndef DT_CLI_SUBCOMMANDS_H
#define DT_CLI_SUBCOMMANDS_H

#include "src/cli/cli.h"

#define OPTION(k) (1u << (k)) /* by index in the verb's option table */

struct subcommand {
	const char *name;
	int (*run)(struct invocation *in, struct error *err);
	unsigned options;              /* of OPTION() */
	unsigned min_words, max_words; /* behind its name */
};

/* `list` is ended by a NULL name. -1: ERR_USAGE, or as the subcommand says. */
int subcommand_run(const struct verb *v, const struct subcommand *list, struct invocation *in,
	struct error *err);

#endif
