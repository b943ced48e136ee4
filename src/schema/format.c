#include "src/schema/format_internal.h"

static const char *const names[] = {"date", "date-time", "duration", "uri", NULL};
static format_fn *const functions[] = {
	format_date, format_date_time, format_duration, format_uri, NULL};

const char *const *format_names(void)
{
	return names;
}

format_fn *format_named(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return functions[i];
	return NULL;
}
