/*
 * policy_fields.h: the keys of a policy, for policy.c alone.
 */
#ifndef DT_POLICY_POLICY_FIELDS_H
#define DT_POLICY_POLICY_FIELDS_H

#include "src/policy/fields.h"

/* Into *out, which has the defaults. */
int policy_fields(const struct fields *f, const struct yml *map, struct policy *out);

#endif
