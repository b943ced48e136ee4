#include "src/quota/quota_internal.h"
#include "src/sys/digest.h"

/* What a stage will use: measured, as soon as it was measured once. */

#define ESTIMATE_PREFIX "estimate/"
#define AGE_WEIGHT      0.85

void quota_average(const struct quota_sample *s, size_t n, int64_t *input, int64_t *output)
{
	double weight = 1, sum = 0, in = 0, out = 0;

	for (size_t i = n; i-- > 0; weight *= AGE_WEIGHT) {
		in += weight * (double)s[i].input;
		out += weight * (double)s[i].output;
		sum += weight;
	}
	*input = n ? (int64_t)(in / sum + 0.5) : 0;
	*output = n ? (int64_t)(out / sum + 0.5) : 0;
}

static char *estimate_key(struct arena *a, const struct quota_request *r)
{
	char digest[DIGEST_TEXT];

	digest_text(
		str_of(arena_printf(a, "%s\n%s\n%s", r->account, r->pipeline, r->stage)), digest);
	return arena_printf(a, ESTIMATE_PREFIX "%s", digest);
}

int estimate_read(struct arena *a, struct quota *q, const struct quota_request *r,
	struct estimate_record *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct store_kv kv;

	*out = (struct estimate_record){.key = estimate_key(a, r)};
	if (store_get(q->store, a, out->key, &kv, err) != STORE_OK)
		return -1;
	out->mod = kv.mod;
	if (!kv.mod)
		return 0;
	if (json_parse(&j, kv.value, err) < 0)
		return error_prefix(err, "the ledger's '%s'", out->key);
	out->bootstrapped = json_is_true(json_get(j, "bootstrapped"));
	for (const json *s = json_first(json_get(j, "samples")); s; s = json_next(s))
		vec_push_in(a, &out->samples,
			(struct quota_sample){json_get_int(s, "input", 0),
				json_get_int(s, "output", 0), json_get_int(s, "at", 0)});
	return 0;
}

struct str estimate_text(
	struct arena *a, const struct quota_request *r, const struct estimate_record *e)
{
	json *samples = json_array();

	for (size_t i = 0; i < e->samples.n; i++)
		json_push(samples, JSON_OBJECT(JSON_INT("input", e->samples.items[i].input),
					   JSON_INT("output", e->samples.items[i].output),
					   JSON_INT("at", e->samples.items[i].at)));
	return json_print_in(
		a, JSON_OBJECT(JSON_TEXT("pipeline", r->pipeline), JSON_TEXT("stage", r->stage),
			   JSON_BOOL("bootstrapped", e->bootstrapped),
			   JSON_VALUE("samples", samples)));
}

struct quota_estimate estimate_resolve(struct arena *a, const struct quota_request *r,
	struct estimate_record *e, struct quota_events *events, bool *changed)
{
	struct quota_estimate out = {ESTIMATE_MEASURED, 0, 0};
	bool declared = r->declared_in || r->declared_out;

	*changed = false;
	if (declared && (r->frozen || !e->samples.n))
		return (struct quota_estimate){r->frozen ? ESTIMATE_FROZEN : ESTIMATE_DECLARED,
			r->declared_in, r->declared_out};
	if (!e->samples.n) {
		events_add(a, events, EVENT_MISSING_ESTIMATE,
			JSON_OBJECT(JSON_INT("input", QUOTA_INPUT_DEFAULT),
				JSON_INT("output", QUOTA_OUTPUT_DEFAULT)));
		return (struct quota_estimate){
			ESTIMATE_DEFAULT, QUOTA_INPUT_DEFAULT, QUOTA_OUTPUT_DEFAULT};
	}
	quota_average(e->samples.items, e->samples.n, &out.input, &out.output);
	if (declared || e->bootstrapped)
		return out;
	e->bootstrapped = *changed = true;
	events_add(a, events, EVENT_ESTIMATE_BOOTSTRAPPED,
		JSON_OBJECT(JSON_INT("input", out.input), JSON_INT("output", out.output),
			JSON_NUMBER("inputRatio", (double)out.input / QUOTA_INPUT_DEFAULT),
			JSON_NUMBER("outputRatio", (double)out.output / QUOTA_OUTPUT_DEFAULT)));
	return out;
}

void estimate_add(struct arena *a, const struct quota_request *r, struct estimate_record *e,
	const struct quota_sample *s, struct quota_events *events)
{
	int64_t declared = r->declared_in + r->declared_out, observed = s->input + s->output,
		apart = observed > declared ? observed - declared : declared - observed;

	vec_push_in(a, &e->samples, *s);
	while (e->samples.n > QUOTA_SAMPLES)
		vec_remove(&e->samples, 0);
	if (declared && !r->frozen && apart * 2 > declared)
		events_add(a, events, EVENT_ESTIMATE_VARIANCE,
			JSON_OBJECT(JSON_INT("declared", declared), JSON_INT("observed", observed),
				JSON_NUMBER("ratio", (double)observed / (double)declared)));
}
