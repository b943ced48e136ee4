#include <inttypes.h>
#include "src/verify/protocol_report.h"

void protocol_report(struct buf *out, const struct protocol_plan *plan,
	const struct protocol_sums *s, struct str trace)
{
	buf_add(out, trace);
	buf_addf(out, "two loops, depth %u, crashes up to %u\n", plan->depth, plan->crashes);
	buf_addf(out,
		"states: %" PRIu64 "; moves %" PRIu64 ", of them crashes %" PRIu64
		", to a known state %" PRIu64 "; ways out tried %" PRIu64 "\n",
		s->states, s->moves, s->crashes, s->merged, s->progress);
	buf_addf(out, "time: %" PRId64 ".%03d s\n", s->ms / 1000, (int)(s->ms % 1000));
	if (s->fault[0])
		buf_addf(out, "broken: %s\n", s->fault);
	else
		buf_adds(out, "every promise holds in every state\n");
}

void protocol_report_json(struct buf *out, const struct protocol_plan *plan,
	const struct protocol_sums *s, struct str trace)
{
	CLEANUP(json_free) json *j = json_object();
	json *lines = json_array();
	struct str line;

	json_put_int(j, "depth", plan->depth);
	json_put_int(j, "crashes_at_most", plan->crashes);
	json_put_int(j, "states", (int64_t)s->states);
	json_put_int(j, "moves", (int64_t)s->moves);
	json_put_int(j, "merged", (int64_t)s->merged);
	json_put_int(j, "crashes", (int64_t)s->crashes);
	json_put_int(j, "ways_out", (int64_t)s->progress);
	json_put_int(j, "ms", s->ms);
	while (str_line(&trace, &line))
		json_push_str(lines, line);
	if (s->fault[0]) {
		json_put_str(j, "broken", str_of(s->fault));
		json_put(j, "trace", lines);
	} else {
		json_free(&lines);
	}
	json_print(out, j);
	buf_addc(out, '\n');
}
