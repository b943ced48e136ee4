#include "src/event/event.h"
#include "src/config/parallelism.h"

#define MEMBER "resolvedParallelism"

json *pipeline_parallelism_json(const struct pipeline *p, const struct parallelism *r)
{
	json *j = json_object(), *list;

	json_put_str(j, "pipeline", str_of(p->name));
	json_put_int(j, "maxConcurrent", r->max);
	json_put_str(j, "source", str_of(parallelism_word(r->source)));
	if (r->before != r->max)
		json_put_int(j, "clampedFrom", r->before);
	if (r->source != PARALLELISM_PLANS)
		return j;
	list = json_array();
	for (size_t i = 0; i < r->plans.n; i++)
		json_push_str(list, str_of(r->plans.list[i]));
	json_put(j, "plans", list);
	json_put(j, "harnesses", list = json_object());
	for (size_t i = 0; i < r->n_shares; i++)
		json_put_int(list, r->shares[i].harness, r->shares[i].value);
	return j;
}

int pipeline_report_parallelism(
	const char *dir, const struct pipeline *p, const struct parallelism *r, struct error *err)
{
	CLEANUP(json_free) json *fields = pipeline_parallelism_json(p, r), *members = json_object();
	const struct event h = {.id = EVENT_RESOLVED_PARALLELISM, .fields = fields};
	json *row, *record;

	if (!dir)
		return 0;
	row = json_object();
	record = json_copy(fields);
	json_drop(record, "pipeline");
	json_put(row, p->name, record);
	json_put(members, MEMBER, row);
	if (runtime_merge(dir, PIPELINE_SCOPE, members, err) < 0)
		return -1;
	return event_emit(dir, &h, err);
}

int pipeline_recorded_parallelism(
	const char *dir, const char *pipeline, unsigned *max, struct error *err)
{
	CLEANUP(json_free) json *all = NULL;
	int64_t n;

	*max = 0;
	if (runtime_read(dir, PIPELINE_SCOPE, &all, err) < 0)
		return -1;
	n = json_get_int(json_get(json_get(all, MEMBER), pipeline), "maxConcurrent", 0);
	if (n > CONCURRENT_MAX)
		return error_set(err, ERR_INPUT,
			"runtime.json of the pipelines says that '%.253s' works on %lld issues at "
			"one time: at most %d",
			pipeline, (long long)n, CONCURRENT_MAX);
	*max = (unsigned)n;
	return 0;
}
