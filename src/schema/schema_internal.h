/*
 * schema_internal.h: a compiled schema: a tree of nodes, one per subschema, each with its rules,
 * one per keyword. compile.c builds it, check.c holds the table of keywords and checks an instance,
 * value.c compares and displays JSON values and knows those of `format`. For these files only.
 */
#ifndef DT_SCHEMA_INTERNAL_H
#define DT_SCHEMA_INTERNAL_H

#include "src/schema/schema.h"
#include "src/sys/regex.h"

enum { SCHEMA_FAULTS_MAX = 100, SCHEMA_MAX = 4 << 20 };

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

/* A value of the keyword `format`: texts that match `pattern` and that `accepts` accepts. */
struct schema_format {
	const char *name;
	bool (*accepts)(struct str text); /* a C string too; NULL: every text */
	const char *pattern;              /* NULL: every text */
};

struct schema_node;
struct schema_keyword;

struct schema_rule {
	const struct schema_keyword *keyword;
	const struct schema_node *node; /* that it is a rule of */
	const char *at;                 /* its position in the schema, a JSON pointer */
	double number;
	const char *text;                 /* `pattern`, `format`, `$ref` as written */
	bool (*accepts)(struct str text); /* of `format`; may be NULL */
	unsigned kinds;                   /* of `type` */
	const char **names;               /* members, or values in canonical form (value.c) */
	struct regex **patterns;          /* of `pattern`, `patternProperties`, `format` */
	struct schema_node **nodes;
	size_t n; /* of names, patterns, nodes */
	const struct schema_rule *next;
};

struct schema_node {
	const char *at; /* JSON pointer into the schema */
	bool never;     /* the schema `false` */
	int visit;      /* of the search for cycles */
	const struct schema_rule *rules;
	struct schema_rule **end;
};

struct schema {
	const char *name;
	const struct schema_node *root;
};

/* The form of a keyword's value in a schema. */
enum schema_value {
	VALUE_ANNOTATION, /* for people: no effect */
	VALUE_DRAFT,      /* `$schema` */
	VALUE_KINDS,
	VALUE_NUMBER,
	VALUE_ABOVE_ZERO,
	VALUE_COUNT,
	VALUE_BOOL,
	VALUE_NAMES,
	VALUE_PATTERN,
	VALUE_FORMAT,
	VALUE_CONST,
	VALUE_ENUM,
	VALUE_SCHEMA,
	VALUE_SCHEMAS,
	VALUE_SCHEMA_MAP,
	VALUE_PATTERN_MAP,
	VALUE_NAMES_MAP, /* `dependentRequired` */
	VALUE_REF,
};

struct schema_checker;
struct schema_location;

struct schema_keyword {
	const char *name;
	enum schema_value value;
	unsigned kinds; /* of instances that it applies to; 0: all */
	bool in_place;  /* its subschemas apply to the same instance */
	void (*check)(struct schema_checker *c, const struct schema_rule *r,
		const struct schema_location *loc);
};

/* NULL: unknown. */
const struct schema_keyword *schema_keyword_find(const char *name);
/* `at` with one more part, escaped. */
char *schema_pointer_add(struct arena *a, const char *at, const char *key);

/* value.c */
unsigned schema_kinds(const json *value);
unsigned schema_kind_find(const char *word);   /* 0: unknown */
const char *schema_kind_display(unsigned bit); /* "a string" */
/* The same text for all values that are equal, whatever the order of their members. */
void schema_canonical(struct buf *out, const json *value);
char *schema_canonical_text(struct arena *a, const json *value);
/* For messages: at most 60 bytes. */
const char *schema_display(struct arena *a, const json *value);
const char *schema_display_text(struct arena *a, const char *text);
const struct schema_format *schema_format_find(const char *name); /* NULL: unknown */

#endif
