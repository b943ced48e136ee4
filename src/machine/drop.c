/*
 * drop.c: actions that wait in the document and are no longer wanted, because people changed it.
 */
#include "src/machine/asked.h"
#include "src/machine/engine_internal.h"

/* `<id>/<state>/<n>` */
static bool asked_in(const json *action, const char *id, const char *state)
{
	struct str rest = str_of(json_get_str(action, "id"));
	size_t n = strlen(id), k = strlen(state);

	return str_starts(rest, id) && rest.n > n + k + 2 && rest.p[n] == '/' &&
	       memcmp(rest.p + n + 1, state, k) == 0 && rest.p[n + 1 + k] == '/';
}

/* When somebody set the state by hand, what the old state asked for is no longer wanted. */
void run_drop_other_states(struct run *r)
{
	json *rest = json_array();
	bool dropped = false;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (action_is_troubleshooter(a) || asked_in(a, r->m->id, run_state(r))) {
			json_push(rest, json_copy(a));
			continue;
		}
		run_note_failure(r, json_get_str(a, "id"), "the state was changed by hand",
			context_count(r->doc, "consecutive_failures"));
		dropped = true;
	}
	if (dropped) {
		json_free(&r->outstanding);
		r->outstanding = rest;
		run_store(r);
		if (!json_first(rest))
			context_set(r->doc, "pending_agent", (struct str){0});
	} else {
		json_free(&rest);
	}
}

/*
 * An older document was put back: what it waits for was answered, fenced or given up on since, and
 * is asked anew under a new id. A script that still runs keeps its own.
 */
int run_drop_dealt_with(struct run *r, struct error *err)
{
	json *rest = json_array();
	bool still = true;
	int rc = 0;

	for (const json *a = json_first(r->outstanding); a && rc == 0; a = json_next(a)) {
		const char *id = json_get_str(a, "id");

		rc = action_answered(r->doc, a) ? 0 : asked_still(r->m->file, id, &still, err);
		if (action_answered(r->doc, a) || still || run_at_work(r, a))
			json_push(rest, json_copy(a));
		else
			run_note_failure(r, id,
				"it was dealt with before the document was put back",
				context_count(r->doc, "consecutive_failures"));
	}
	if (rc == 0 && json_len(rest) < json_len(r->outstanding)) {
		json_free(&r->outstanding);
		r->outstanding = rest;
		run_store(r);
		return 0;
	}
	json_free(&rest);
	return rc;
}
