/*
 * envelope.h: the rows that all kinds have around their `spec`, and words for the tables. For the
 * files of tables alone.
 */
#ifndef DT_RESOURCE_ENVELOPE_H
#define DT_RESOURCE_ENVELOPE_H

#include "src/config/rows.h"

#define AT(type, member)   .at = offsetof(struct type, member)
#define SEEN(type, member) .seen_at = offsetof(struct type, member)
#define WORDS(...)                                                                                 \
	.words = (const char *const[])                                                             \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define RANGE(least, most) .min = least, .max = most
#define TEXTS_MAX          100

extern const char *const api_versions[];
extern const struct row metadata_rows[]; /* the name is the first member of each struct */

/* clang-format off */
#define API_VERSION_ROW \
	{.key = "apiVersion", .kind = ROW_WORD_TEXT, .needed = true, .at = NOWHERE, \
		.words = api_versions, .about = "The format's version; both groups are the same."}
#define KIND_ROW(name) \
	{.key = "kind", .kind = ROW_WORD_TEXT, .needed = true, .at = NOWHERE, WORDS(name), \
		.about = "What it is."}
#define METADATA_ROW \
	{.key = "metadata", .kind = ROW_GROUP, .needed = true, .rows = metadata_rows, \
		.about = "Who it is."}
#define SPEC_ROW(spec_rows) \
	{.key = "spec", .kind = ROW_GROUP, .needed = true, .rows = spec_rows, \
		.about = "What it says."}
#define STATUS_ROW \
	{.key = "status", .kind = ROW_OPEN, .inert = true, .at = NOWHERE, \
		.about = "Left by controllers."}
#define DOCUMENT_ROWS(name, spec_rows) \
	{API_VERSION_ROW, KIND_ROW(name), METADATA_ROW, SPEC_ROW(spec_rows), STATUS_ROW, {0}}
/* clang-format on */

#endif
