#include "src/schema/schema_internal.h"

/* Sorted. What is not here is refused: a rule that is not known would be one that does not hold. */
const struct keyword keywords[] = {
	{"$comment", VALUE_NOTHING, 0, false, NULL},
	{"$defs", VALUE_SCHEMA_MAP, 0, false, NULL},
	{"$id", VALUE_NOTHING, 0, false, NULL},
	{"$ref", VALUE_REF, 0, true, hold_ref},
	{"$schema", VALUE_DRAFT, 0, false, NULL},
	{"additionalProperties", VALUE_SCHEMA, IS_OBJECT, false, hold_additional_properties},
	{"allOf", VALUE_SCHEMAS, 0, true, hold_all_of},
	{"anyOf", VALUE_SCHEMAS, 0, true, hold_any_of},
	{"const", VALUE_ANY, 0, false, hold_const},
	{"contains", VALUE_SCHEMA, IS_ARRAY, false, hold_contains},
	{"default", VALUE_NOTHING, 0, false, NULL},
	{"dependentRequired", VALUE_NAMES_MAP, IS_OBJECT, false, hold_dependent_required},
	{"deprecated", VALUE_NOTHING, 0, false, NULL},
	{"description", VALUE_NOTHING, 0, false, NULL},
	{"else", VALUE_SCHEMA, 0, true, NULL},
	{"enum", VALUE_ANYS, 0, false, hold_enum},
	{"examples", VALUE_NOTHING, 0, false, NULL},
	{"exclusiveMaximum", VALUE_NUMBER, IS_NUMBER, false, hold_exclusive_maximum},
	{"exclusiveMinimum", VALUE_NUMBER, IS_NUMBER, false, hold_exclusive_minimum},
	{"format", VALUE_FORMAT, IS_TEXT, false, hold_format},
	{"if", VALUE_SCHEMA, 0, true, hold_if},
	{"items", VALUE_SCHEMA, IS_ARRAY, false, hold_items},
	{"maxItems", VALUE_COUNT, IS_ARRAY, false, hold_max_items},
	{"maxLength", VALUE_COUNT, IS_TEXT, false, hold_max_length},
	{"maxProperties", VALUE_COUNT, IS_OBJECT, false, hold_max_properties},
	{"maximum", VALUE_NUMBER, IS_NUMBER, false, hold_maximum},
	{"minItems", VALUE_COUNT, IS_ARRAY, false, hold_min_items},
	{"minLength", VALUE_COUNT, IS_TEXT, false, hold_min_length},
	{"minProperties", VALUE_COUNT, IS_OBJECT, false, hold_min_properties},
	{"minimum", VALUE_NUMBER, IS_NUMBER, false, hold_minimum},
	{"multipleOf", VALUE_ABOVE_ZERO, IS_NUMBER, false, hold_multiple_of},
	{"not", VALUE_SCHEMA, 0, true, hold_not},
	{"oneOf", VALUE_SCHEMAS, 0, true, hold_one_of},
	{"pattern", VALUE_PATTERN, IS_TEXT, false, hold_pattern},
	{"patternProperties", VALUE_PATTERN_MAP, IS_OBJECT, false, hold_pattern_properties},
	{"prefixItems", VALUE_SCHEMAS, IS_ARRAY, false, hold_prefix_items},
	{"properties", VALUE_SCHEMA_MAP, IS_OBJECT, false, hold_properties},
	{"propertyNames", VALUE_SCHEMA, IS_OBJECT, false, hold_property_names},
	{"readOnly", VALUE_NOTHING, 0, false, NULL},
	{"required", VALUE_NAMES, IS_OBJECT, false, hold_required},
	{"then", VALUE_SCHEMA, 0, true, NULL},
	{"title", VALUE_NOTHING, 0, false, NULL},
	{"type", VALUE_KINDS, 0, false, hold_type},
	{"uniqueItems", VALUE_BOOL, IS_ARRAY, false, hold_unique_items},
	{"writeOnly", VALUE_NOTHING, 0, false, NULL},
	{0},
};

static int by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct keyword *)row)->name);
}

const struct keyword *keyword_named(const char *name)
{
	return bsearch(name, keywords, COUNT(keywords) - 1, sizeof(keywords[0]), by_name);
}

const struct rule *node_rule(const struct node *n, const char *keyword)
{
	const struct rule *r = n->rules;

	while (r && strcmp(r->keyword->name, keyword) != 0)
		r = r->next;
	return r;
}
