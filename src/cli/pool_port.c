#include "context/file.h"
#include "src/cli/places.h"
#include "src/cli/pool.h"

static json *port_json(const struct port_request *ask, const struct port_report *got)
{
	json *j = json_object(), *ports = json_array(), *tried = json_array();

	for (unsigned i = 0; i < ask->count; i++)
		json_push_int(ports, (int64_t)(got->answer.first + i));
	for (size_t i = 0; i < got->answer.n_tried; i++)
		json_push_int(tried, got->answer.tried[i]);
	json_put_str(j, "path", str_of(got->path));
	json_put_int(j, "basePort", ask->base);
	if (got->candidate)
		json_put_int(j, "candidate", got->candidate);
	json_put_int(j, "port", got->answer.first);
	json_put(j, "ports", ports);
	json_put_str(j, "source", str_of(port_source_word(got->source)));
	json_put(j, "attempted", tried);
	return j;
}

/* Events go where there is a folder for them; a path outside of any repository has none. */
static const char *artifacts_of(struct invocation *in)
{
	struct error ignored;
	char *dir;

	if (artifacts_folder(in->arena, in->args->value[POOL_ARTIFACTS], in->args->value[POOL_REPO],
		    &dir, &ignored) < 0)
		return NULL;
	return dir;
}

int pool_run_port(struct invocation *in, struct error *err)
{
	struct worktree_pool_spec spec;
	struct port_request ask = {.path = in->args->words[1],
		.override = in->args->value[POOL_PORT],
		.issue = in->args->value[POOL_ISSUE]};
	struct port_report got;
	char *state;

	if (pool_spec(in, &spec, err) < 0 || context_folder(in->arena, &state, err) < 0 ||
		pool_number(in, POOL_BASE, 1024, 65000, spec.base_port, &ask.base, err) < 0 ||
		pool_number(in, POOL_COUNT, 1, PORTS_MAX, 1, &ask.count, err) < 0)
		return -1;
	if (!ask.override)
		ask.override = getenv("PORT");
	ask.state = state;
	ask.artifacts = artifacts_of(in);
	if (pool_port(in->arena, &ask, &got, err) < 0)
		return -1;
	if (in->args->value[POOL_JSON]) {
		put_line(in->out, port_json(&ask, &got));
		return 0;
	}
	for (unsigned i = 0; i < ask.count; i++)
		buf_addf(in->out, "%u\n", got.answer.first + i);
	return 0;
}
