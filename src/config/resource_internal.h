/*
 * resource_internal.h: the kinds of resources: the table of a kind's fields, its defaults and its
 * rules. resource.c reads documents and holds what all kinds have; pipeline.c and pools.c describe
 * one kind or a few. For these files and describe.c.
 */
#ifndef DT_RESOURCE_INTERNAL_H
#define DT_RESOURCE_INTERNAL_H

#include "src/config/decode.h"
#include "src/config/resource.h"

/* A document whose rules are checked. */
struct resource_check {
	const struct resources *resources;
	const struct resource_doc *doc;
	struct config_reader *reader; /* collects the faults, which are sorted afterwards */
};

/* A fault at `path` of the document, or at the nearest node above it. */
void resource_fault(const struct resource_check *c, const char *path, const char *fmt, ...)
	PRINTF(3, 4);
/* Every name in the list at `path` is that of a resource of the kind. */
void resource_check_references(const struct resource_check *c, const char *path,
	const struct text_list *names, const struct resource_kind *kind);

/* Sets what depends on several resources: `databases`, `max_branches`. */
void resources_link_databases(struct arena *a, struct resources *r);

extern const char *const resource_harness_words[], *const resource_capability_words[];

/*
 * For the tables: the beginning of a field. IN(member) is the place in the struct of the table;
 * AT_LIST(member) that of a struct text_list.
 */
#define TEXT(name, of, member) .key = name, .kind = CONFIG_TEXT, .form = &config_##of, IN(member)
/* Checked, but not kept. */
#define CHECKED_TEXT(name, of)  .key = name, .kind = CONFIG_TEXT, .form = &config_##of
#define CHECKED_WORD(name, ...) .key = name, .kind = CONFIG_WORD_TEXT, CONFIG_WORDS(__VA_ARGS__)
#define WORD(name, member, ...)                                                                    \
	.key = name, .kind = CONFIG_WORD, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define WORD_TEXT(name, member, ...)                                                               \
	.key = name, .kind = CONFIG_WORD_TEXT, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define HARNESS(name, member, choice)                                                              \
	.key = name, .kind = CONFIG_WORD_TEXT, IN(member), .words = choice, .hint = "UnknownHarness"
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
#define LIST(name, type, member, least, most, table)                                               \
	.key = name, .kind = CONFIG_LIST, CONFIG_ITEMS_AT(type, member, n_##member),               \
	CONFIG_RANGE(least, most), .fields = table
#define GROUP(name, table) .key = name, .kind = CONFIG_GROUP, .fields = table
#define OPEN(name)         .key = name, .kind = CONFIG_OPEN
#define LABELS(name)       .key = name, .kind = CONFIG_LABELS
#define REFUSED(name, why) .key = name, .kind = CONFIG_REFUSED, .hint = why

enum { LIST_MAX = 100 };

extern const char *const resource_api_versions[];
extern const struct config_field
	resource_metadata_fields[]; /* the name is the struct's first member */

/* The members of a struct resource_kind that say what its documents are. */
#define KIND(text, type, table, member)                                                            \
	.name = text, .fields = (const struct config_field[])DOCUMENT(text, table),                \
	.size = sizeof(struct type), .count_at = offsetof(struct resources, n_##member)

/* clang-format off */
#define DOCUMENT(name, table) { \
	{.key = "apiVersion", .kind = CONFIG_WORD_TEXT, .required = true, .words = resource_api_versions, \
		.about = "Version of the format; the groups mean the same."}, \
	{.key = "kind", .kind = CONFIG_WORD_TEXT, .required = true, CONFIG_WORDS(name), \
		.about = "The kind of the resource."}, \
	{GROUP("metadata", resource_metadata_fields), .required = true, .about = "Its name and labels."}, \
	{GROUP("spec", table), .required = true, .about = "The resource itself."}, \
	{OPEN("status"), .inert = true, .about = "Written by controllers."}, \
	{0}}
/* clang-format on */

#endif
