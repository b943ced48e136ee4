#include <inttypes.h>
#include "src/verify/simulate_report.h"

static uint64_t per_second(const struct simulate_sums *s)
{
	return s->ms > 0 ? s->runs * 1000 / (uint64_t)s->ms : s->runs * 1000;
}

static void row(struct buf *out, const char *title, const char *const *names, const uint64_t *n,
	unsigned kinds)
{
	const char *before = " ";

	buf_addf(out, "%s:", title);
	for (unsigned i = 0; i < kinds; i++) {
		if (!n[i])
			continue;
		buf_addf(out, "%s%s %" PRIu64, before, names[i], n[i]);
		before = ", ";
	}
	buf_adds(out, *before == ' ' ? " none\n" : "\n");
}

void simulate_report(struct buf *out, const struct simulate_plan *plan,
	const struct simulate_sums *s, struct str trace)
{
	buf_add(out, trace);
	buf_addf(out, "%" PRIu64 " runs of '%s', seeds from %" PRIu64 "\n", s->runs,
		plan->workflow->file, plan->seed);
	buf_addf(out,
		"calls: %" PRIu64 "; actions %" PRIu64 ", answers taken %" PRIu64
		", calls refused %" PRIu64 "\n",
		s->calls, s->actions, s->answers, s->refused);
	row(out, "faults", simulate_fault_names, s->faults, FAULT_KINDS);
	row(out, "ends", simulate_end_names, s->ends, END_KINDS);
	buf_addf(out, "time: %" PRId64 ".%03d s, %" PRIu64 " runs a second\n", s->ms / 1000,
		(int)(s->ms % 1000), per_second(s));
	if (s->broken)
		buf_addf(out,
			"broken: %s\nagain: dev-team simulate '%s' --runs 1 --seed %" PRIu64
			" --max-actions %u\n",
			s->fault, plan->workflow->file, s->broken_seed, plan->max_actions);
	else
		buf_adds(out, "nothing was lost, nothing was used twice\n");
}

static json *numbers(const char *const *names, const uint64_t *n, unsigned kinds)
{
	json *j = json_object();

	for (unsigned i = 0; i < kinds; i++)
		json_put_int(j, names[i], (int64_t)n[i]);
	return j;
}

static json *broken(const struct simulate_sums *s, struct str trace)
{
	json *j = json_object(), *lines = json_array();
	struct str line;

	json_put_str(j, "what", str_of(s->fault));
	json_put_int(j, "seed", (int64_t)s->broken_seed);
	while (str_line(&trace, &line))
		json_push_str(lines, line);
	json_put(j, "trace", lines);
	return j;
}

void simulate_report_json(struct buf *out, const struct simulate_plan *plan,
	const struct simulate_sums *s, struct str trace)
{
	CLEANUP(json_free) json *j = json_object();

	json_put_str(j, "workflow", str_of(plan->workflow->file));
	json_put_int(j, "seed", (int64_t)plan->seed);
	json_put_int(j, "runs", (int64_t)s->runs);
	json_put_int(j, "calls", (int64_t)s->calls);
	json_put_int(j, "actions", (int64_t)s->actions);
	json_put_int(j, "answers", (int64_t)s->answers);
	json_put_int(j, "refused", (int64_t)s->refused);
	json_put(j, "faults", numbers(simulate_fault_names, s->faults, FAULT_KINDS));
	json_put(j, "ends", numbers(simulate_end_names, s->ends, END_KINDS));
	json_put_int(j, "ms", s->ms);
	json_put_int(j, "runs_per_second", (int64_t)per_second(s));
	if (s->broken)
		json_put(j, "broken", broken(s, trace));
	json_print(out, j);
	buf_addc(out, '\n');
}
