/*
 * notation.h: the notation of binary.h, compiled: what a program's row says of its options and
 * operands. All in the arena.
 */
#ifndef DT_POLICY_NOTATION_H
#define DT_POLICY_NOTATION_H

#include "src/policy/binary.h"

enum option_value { OPTION_ALONE, OPTION_NEEDS, OPTION_MAY };

struct option_row {
	struct str name;  /* with its dashes */
	struct str first; /* of its aliases */
	struct str kind;  /* of the value */
	enum option_value value;
	bool write;
};

struct notation {
	struct option_row *rows;
	size_t n;
	const struct option_row *letter[128]; /* `-a` */
	const struct option_row *number;      /* `-#` */
	bool words;                           /* has `-word` somewhere */
	bool ends;                            /* `+`: options end at the first operand */
	bool apart;                           /* `=`: letters are not joined */
};

struct operand_row {
	struct str kind;
	char repeat;       /* 0, '*' or '+' */
	struct str unless; /* `-e,-f` */
};

enum { OPERAND_ROWS = 8 };

struct operand_list {
	struct operand_row p[OPERAND_ROWS];
	size_t n;
};

/* 0, or -1 with what is wrong in *err. */
int notation_options(struct arena *a, const char *options, struct notation *out, struct error *err);
int notation_operands(const char *operands, struct operand_list *out, struct error *err);
/* The row of a long or one-dash name; NULL: none. */
const struct option_row *notation_find(const struct notation *n, struct str name);

#endif
