#include "context/file.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
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

/* ---- what the word means ---- */

static bool is_path(const char *word)
{
	return word[0] == '/' || strcmp(word, ".") == 0 || strcmp(word, "..") == 0 ||
	       strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0 || !*word;
}

/* By branch, else by slug. *path NULL: no pool here has it. */
static void find_allocation(
	struct invocation *in, const char *word, const char **path, unsigned *ports)
{
	CLEANUP(pool_close) struct pool p = {0};
	const struct pool_entry *found = NULL;
	struct pool_entry *list;
	struct error ignored;
	size_t n = 0;

	*path = NULL;
	if (pool_of(in, &p, &ignored) < 0 || pool_list(in->arena, &p, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct allocation *of = &list[i].of;

		if (!list[i].recorded || !of->ports)
			continue;
		if (strcmp(of->branch, word) == 0 || (!found && strcmp(of->slug, word) == 0))
			found = &list[i];
	}
	if (!found)
		return;
	*path = found->of.path;
	*ports = found->of.ports;
}

/* A branch that is taken for a path would have a port like any other, and the wrong one. */
static int read_word(struct invocation *in, struct port_request *ask, struct error *err)
{
	const char *word = in->args->words[1], *path;
	unsigned ports;

	ask->path = word;
	if (!is_path(word)) {
		find_allocation(in, word, &path, &ports);
		if (!path && !path_exists(word))
			return error_set(err, ERR_STATE,
				"'%.200s' is no branch of the pool and no path that is there; of "
				"one to come write './%.200s'",
				word, word);
		if (path) {
			ask->path = path;
			ask->count = in->args->value[POOL_COUNT] ? ask->count : ports;
			return 0;
		}
	}
	if (!ask->override)
		ask->override = getenv("PORT");
	return 0;
}

int pool_run_port(struct invocation *in, struct error *err)
{
	struct worktree_pool_spec spec;
	struct port_request ask = {
		.override = in->args->value[POOL_PORT], .issue = in->args->value[POOL_ISSUE]};
	struct port_report got;
	char *state;

	if (pool_spec(in, &spec, err) < 0 || context_folder(in->arena, &state, err) < 0 ||
		pool_number(in, POOL_BASE, 1024, 65000, spec.base_port, &ask.base, err) < 0 ||
		pool_number(in, POOL_COUNT, 1, PORTS_MAX, 1, &ask.count, err) < 0)
		return -1;
	if (read_word(in, &ask, err) < 0)
		return -1;
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
