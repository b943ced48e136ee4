/*
 * resource_rig.h: short forms for directories of resources.
 */
#ifndef DT_TESTS_RESOURCE_RIG_H
#define DT_TESTS_RESOURCE_RIG_H

#include "src/config/decode.h"
#include "src/config/resource.h"
#include "tests/lib/scratch.h"

#define HEAD(kind, name)                                                                           \
	"apiVersion: dev-team/v1\nkind: " kind "\nmetadata:\n  name: " name "\nspec:\n"

#define PLAN_TEXT(name, of)                                                                        \
	HEAD("SubscriptionPlan", name) "  harness: " of "\n  billingMode: pay-per-token\n"

#define STAGES "  stages:\n    - name: only\n      holdsMergeGate: true\n"

struct resources resource_load_all(const char *dir);

/* All faults, one per line, without the directory. */
char *resource_faults_text(const struct resources *r);
struct resources resource_good(const char *text);
void resource_assert_faults(const char *text, const char *expected);

#endif
