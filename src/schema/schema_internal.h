/*
 * schema_internal.h: a compiled schema: a tree of nodes, one a subschema, each with its rules, one
 * a keyword that can fail. keywords.c has the table of keywords; compile*.c read them, check*.c
 * hold an instance to them.
 */
#ifndef DT_SCHEMA_INTERNAL_H
#define DT_SCHEMA_INTERNAL_H

#include "src/schema/format.h"
#include "src/schema/pattern.h"
#include "src/schema/schema.h"

enum { FAULTS_MAX = 100, SCHEMA_MAX = 4 << 20 };

/* Kinds of values, as bits. A whole number is a number, too. */
enum {
	IS_NULL = 1,
	IS_BOOL = 2,
	IS_NUMBER = 4,
	IS_INTEGER = 8,
	IS_TEXT = 16,
	IS_ARRAY = 32,
	IS_OBJECT = 64,
};
unsigned value_kinds(const json *j);
unsigned kind_named(const char *word); /* 0: there is none */
const char *kind_word(unsigned bit);   /* for people */

struct node;

struct rule {
	const struct keyword *keyword;
	const char *at; /* its place in the schema, a JSON pointer */
	double number;
	const char *text;          /* `pattern`, `format`, `$ref` as written */
	format_fn *format;         /* of `format` */
	unsigned kinds;            /* of `type` */
	const char **names;        /* members, or values in their one form (value.c) */
	struct pattern **patterns; /* of `pattern` and `patternProperties` */
	struct node **nodes;
	size_t n; /* of names, patterns, nodes */
	const struct rule *next;
};

struct node {
	const char *at; /* JSON pointer into the schema */
	bool never;     /* the schema `false` */
	int visit;      /* of the search for circles */
	const struct rule *rules;
	struct rule **end;
};

struct schema {
	const char *name;
	const struct node *root;
};

/* While it is compiled. */
struct compiler {
	struct arena *arena;
	const char *name;
	struct str text;
	struct node **nodes;
	size_t n, cap;
	struct error *err;
};

/* While an instance is held to it. */
struct spot {
	const struct spot *up;
	const char *key; /* NULL: an item */
	size_t index;
	const json *value;
};

struct tally {
	size_t n;          /* faults */
	size_t mismatches; /* of which the value is another form altogether */
};

struct checker {
	struct arena *arena;
	struct schema_fault *list;
	const json **values; /* what each fault is about */
	size_t listed;
	long budget;
	bool mute;        /* only the tally counts */
	const json *form; /* whose form is asked for */
	struct tally tally;
};

enum value_kind {
	VALUE_NOTHING, /* words for people: nothing to do */
	VALUE_DRAFT,   /* `$schema` */
	VALUE_KINDS,
	VALUE_NUMBER,
	VALUE_ABOVE_ZERO,
	VALUE_COUNT,
	VALUE_BOOL,
	VALUE_NAMES,
	VALUE_PATTERN,
	VALUE_FORMAT,
	VALUE_ANY,  /* `const` */
	VALUE_ANYS, /* `enum` */
	VALUE_SCHEMA,
	VALUE_SCHEMAS,
	VALUE_SCHEMA_MAP,
	VALUE_PATTERN_MAP,
	VALUE_NAMES_MAP, /* `dependentRequired` */
	VALUE_REF,
};

struct keyword {
	const char *name;
	enum value_kind value;
	unsigned kinds; /* of instances that it has to do with; 0: all */
	bool in_place;  /* its schemas hold the same instance */
	void (*check)(struct checker *c, const struct node *n, const struct rule *r,
		const struct spot *s);
};

extern const struct keyword keywords[]; /* sorted by name; ended by a NULL name */
const struct keyword *keyword_named(const char *name);
const struct rule *node_rule(const struct node *n, const char *keyword);

/* check.c */
void hold_node(struct checker *c, const struct node *n, const struct spot *s);
/* Whether it holds; no fault is told. */
struct tally hold_quietly(struct checker *c, const struct node *n, const struct spot *s);
void hold_fault(struct checker *c, const struct rule *r, const struct spot *s, const char *fmt, ...)
	PRINTF(4, 5);

/* For a fault's text; empty when nobody will read it. */
const char *hold_shown(const struct checker *c, const json *value);
const char *hold_shown_text(const struct checker *c, const char *text);

/* The functions of the table. */
#define HOLD(name)                                                                                 \
	void hold_##name(struct checker *c, const struct node *n, const struct rule *r,            \
		const struct spot *s)
HOLD(type);
HOLD(const);
HOLD(enum);
HOLD(maximum);
HOLD(exclusive_maximum);
HOLD(minimum);
HOLD(exclusive_minimum);
HOLD(multiple_of);
HOLD(max_length);
HOLD(min_length);
HOLD(pattern);
HOLD(format);
HOLD(max_items);
HOLD(min_items);
HOLD(unique_items);
HOLD(items);
HOLD(prefix_items);
HOLD(contains);
HOLD(max_properties);
HOLD(min_properties);
HOLD(required);
HOLD(dependent_required);
HOLD(properties);
HOLD(pattern_properties);
HOLD(additional_properties);
HOLD(property_names);
HOLD(ref);
HOLD(all_of);
HOLD(any_of);
HOLD(one_of);
HOLD(not );
HOLD(if);
#undef HOLD

/* value.c: one text for all values that are equal, whatever the order of their members. */
void value_form(struct buf *out, const json *j);
char *value_of(struct arena *a, const json *j);
/* For people: at most 60 bytes. */
const char *value_shown(struct arena *a, const json *j);
const char *text_shown(struct arena *a, const char *text);

/* compile_value.c: reads what stands behind a keyword. -1 with c->err. */
int compile_value(struct compiler *c, struct rule *r, const json *value);
/* compile.c */
struct node *compile_node(struct compiler *c, const char *at, const json *value);
int compile_fault(struct compiler *c, const char *at, const char *fmt, ...) PRINTF(3, 4);
char *pointer_add(struct arena *a, const char *at, const char *key);

#endif
