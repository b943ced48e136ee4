/*
 * rules.h: what rules.c and its parts share.
 */
#ifndef DT_RESOURCE_RULES_H
#define DT_RESOURCE_RULES_H

#include "src/config/rows.h"

struct rules {
	struct arena *a;
	const struct resources *r;
	struct faults *faults;
};

/* A fault at `path` of the document, or the nearest node above it that there is. */
void rule_fault(const struct rules *s, const struct resource_doc *doc, const char *path,
	const char *fmt, ...) PRINTF(4, 5);

void pipeline_rules(const struct rules *s, const struct resource_doc *doc);
void plan_rules(const struct rules *s, const struct resource_doc *doc);
/* Each name in the list at `path` is a resource of that kind. */
void reference_rules(const struct rules *s, const struct resource_doc *doc, const char *path,
	const struct words *names, const char *kind);

#endif
