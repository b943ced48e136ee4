#include "src/machine/agent_runs.h"

static bool is_own(const char *key)
{
	static const char *const own[] = {"seq", "rev", "ts", "type"};

	for (size_t i = 0; i < COUNT(own); i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	return false;
}

void agent_run_note(struct context_file *f, const json *members)
{
	json *event = context_event(f, AGENT_RUN);

	for (const json *m = json_first(members); m; m = json_next(m))
		if (!is_own(json_key(m)))
			json_put(event, json_key(m), json_copy(m));
}
