#include "context/file.h"
#include "src/verify/history.h"

/* The last request of a state. */
struct last_request {
	const char *state; /* NULL: any */
	bool agent;        /* not a script's */
	int64_t rev;       /* 0: there was none */
};

/* A context_visit. The troubleshooter is called by itself, if it is needed again. */
static bool find_request(const json *event, void *data)
{
	struct last_request *l = data;
	const char *id = json_get_str(event, "action");

	if (json_str_is(event, "type", "dispatch") && id && !strstr(id, "/troubleshooter/") &&
		(!l->state || json_str_is(event, "state", l->state)) &&
		(!l->agent || json_get(event, "agent")))
		l->rev = json_get_int(event, "rev", 0);
	return !l->rev;
}

int history_last_request(const struct context_file *f, const char *state, bool agent, int64_t *rev,
	struct error *err)
{
	struct last_request last = {.state = state, .agent = agent};

	if (context_read_events(f, "\"dispatch\"", find_request, &last, err) < 0)
		return -1;
	*rev = last.rev;
	return 0;
}
