/*
 * fields.h: YAML maps into structs by tables of fields, for policies and clearance files. Unknown
 * keys, values of the wrong form and missing keys are refused at their place; duplicate keys are by
 * yml_parse().
 */
#ifndef DT_POLICY_FIELDS_H
#define DT_POLICY_FIELDS_H

#include "src/base/yml.h"
#include "src/policy/policy.h"

struct fields {
	struct arena *arena;
	const char *file; /* NULL: there are no places (rows of JSON) */
	struct error *err;
};

typedef int field_fn(const struct fields *f, const struct yml *v, const char *key, void *into);

struct field {
	const char *key;
	field_fn *read;
	size_t offset; /* of what is read, in the struct */
	bool needed;
};

/* `table` has n rows; *into is the struct. */
int fields_read(const struct fields *f, const struct yml *map, const char *what,
	const struct field *table, size_t n, void *into);
/* ERR_INPUT at the node's place. */
int field_fault(const struct fields *f, const struct yml *at, const char *fmt, ...) PRINTF(3, 4);

/* The text of a scalar that is not empty and has no control characters, NUL-ended. */
int field_text(const struct fields *f, const struct yml *v, const char *key, const char **out);
/* A list of texts that are all `valid`, into struct texts, sorted. `form` ends the message: "a name
 * of a program". */
int field_texts(const struct fields *f, const struct yml *v, const char *key,
	bool (*valid)(struct str text), const char *form, struct texts *out);
/* Which of the n words it is; the message lists them. */
int field_word(const struct fields *f, const struct yml *v, const char *key,
	const char *const *words, size_t n, size_t *out);

field_fn field_bool;    /* bool */
field_fn field_seconds; /* unsigned; 1..86400 or `none` (0) */
field_fn field_count;   /* unsigned; 1..1000000 or `none` */
field_fn field_size;    /* uint64_t; bytes, also with K, M or G behind, or `none` */
field_fn field_id;      /* unsigned; of a user or group, 1..4294967294 */

/* Letters, digits and `._+-`, the first one a letter, a digit or `_`; at most 64 bytes. */
bool name_valid(struct str text);

#endif
