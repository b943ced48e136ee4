/*
 * kinds.h: the tables of the kinds of resources, and what is printed from them: the JSON Schema of
 * a kind, its page for people, and the fields of a resource with their origin.
 */
#ifndef DT_CONFIG_KINDS_H
#define DT_CONFIG_KINDS_H

#include "src/config/decode.h"
#include "src/config/resource.h"

struct resource_kind {
	const char *name, *about;
	const struct config_field *fields; /* of the whole document */
	size_t size;                       /* of the struct: name, file, ... */
	/* Defaults that depend on other fields. */
	void (*complete)(struct arena *a, const struct yaml *tree, void *of);
	size_t list_at, count_at; /* in struct resources */
};
extern const struct resource_kind resource_kinds[]; /* ended by a NULL name */
const struct resource_kind *resource_kind(const char *name);

extern const char *const harness_words[], *const capability_words[];
extern const struct config_field pipeline_fields[], worktree_pool_fields[],
	subscription_plan_fields[], database_pool_fields[];
void pipeline_complete(struct arena *a, const struct yaml *tree, void *of);
void worktree_pool_complete(struct arena *a, const struct yaml *tree, void *of);
void subscription_plan_complete(struct arena *a, const struct yaml *tree, void *of);

/* What a single document cannot tell: days that do not exist, references, duplicate names, the
 * conditions of parallel work. Adds to the reader's faults, which are sorted afterwards. */
void resource_rules_check(struct config_reader *reader, const struct resources *r);

/* Draft 2020-12, two-space JSON and a line feed. What is checked beyond it: docs/resources.md. */
void resource_schema(const struct resource_kind *kind, struct buf *out);
/* Markdown: a table of its fields. */
void resource_page(const struct resource_kind *kind, struct buf *out);

enum origin { ORIGIN_WRITTEN, ORIGIN_DEFAULT, ORIGIN_DERIVED, ORIGIN_ENVIRONMENT };

/* A field of a resource: `spec.parallelism.maxConcurrent`, `spec.stages[0].harness`. */
struct shown_field {
	const char *path;
	json *value; /* shown_release() frees it */
	enum origin origin;
	const char *file; /* WRITTEN */
	unsigned line;
	const char *why; /* DERIVED: of what; ENVIRONMENT: the variable; may be NULL */
	bool inert;      /* it has no effect */
};
struct shown {
	struct shown_field *items;
	size_t n, cap;
};
/* Every field that has a value, in the order of the table. */
void resource_shown(struct arena *a, const struct resources *r, const struct resource_doc *doc,
	enum parallelism_mode mode, struct shown *out);
void shown_release(struct shown *s);

/*
 * For the tables: the beginning of a field. IN(member) is the place in the struct of the table;
 * AT_LIST(member) that of a struct words.
 */
#define TEXT(name, of, member) .key = name, .kind = CONFIG_TEXT, .form = &config_##of, IN(member)
#define WORD(name, member, ...)                                                                    \
	.key = name, .kind = CONFIG_WORD, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define WORD_TEXT(name, member, ...)                                                               \
	.key = name, .kind = CONFIG_WORD_TEXT, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define SWITCH(name, member, no, yes)                                                              \
	.key = name, .kind = CONFIG_SWITCH, IN(member), CONFIG_WORDS(no, yes)
#define INTEGER(name, member, least, most)                                                         \
	.key = name, .kind = CONFIG_INTEGER, IN(member), CONFIG_RANGE(least, most)
#define NUMBER(name, member) .key = name, .kind = CONFIG_NUMBER, IN(member)
#define BOOL(name, member)   .key = name, .kind = CONFIG_BOOL, IN(member)
#define DURATION(name, member)                                                                     \
	.key = name, .kind = CONFIG_DURATION, .form = &config_duration, IN(member)
#define TEXTS(name, member)                                                                        \
	.key = name, .kind = CONFIG_TEXTS, .max = LIST_MAX, IN(member.list), COUNT_IN(member.n)
#define NAMES(name, member) TEXTS(name, member), .form = &config_name
#define GROUP(name, table)  .key = name, .kind = CONFIG_GROUP, .fields = table
#define OPEN(name)          .key = name, .kind = CONFIG_OPEN
#define REFUSED(name, why)  .key = name, .kind = CONFIG_REFUSED, .hint = why

enum { LIST_MAX = 100 };

extern const char *const api_versions[];
extern const struct config_field metadata_fields[]; /* the name is the struct's first member */

/* clang-format off */
#define DOCUMENT(name, table) { \
	{.key = "apiVersion", .kind = CONFIG_WORD_TEXT, .required = true, .words = api_versions, \
		.about = "Version of the format; the groups mean the same."}, \
	{.key = "kind", .kind = CONFIG_WORD_TEXT, .required = true, CONFIG_WORDS(name), \
		.about = "The kind of the resource."}, \
	{GROUP("metadata", metadata_fields), .required = true, .about = "Its name and labels."}, \
	{GROUP("spec", table), .required = true, .about = "The resource itself."}, \
	{OPEN("status"), .inert = true, .about = "Written by controllers."}, \
	{0}}
/* clang-format on */

#endif
