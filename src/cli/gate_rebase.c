#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/gate.h"
#include "src/run/interrupt.h"

static bool is_meant(const struct allocation *of, const char *what, const char *path)
{
	return strcmp(of->branch, what) == 0 || strcmp(of->slug, what) == 0 ||
	       (path && strcmp(of->path, path) == 0);
}

static int find(struct invocation *in, struct pool *p, const char *what, struct allocation *out,
	struct error *err)
{
	CLEANUP(free_ptr) char *path = realpath(what, NULL);
	struct pool_entry *list;
	size_t n;

	if (pool_list(in->arena, p, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!list[i].recorded || !is_meant(&list[i].of, what, path))
			continue;
		*out = list[i].of;
		if (list[i].there && out->state == ALLOCATION_LIVE)
			return 0;
		return error_set(err, ERR_STATE, "the worktree of '%s' is not there", what);
	}
	return error_set(err, ERR_STATE, "no worktree of '%s' in this pool", what);
}

static json *outcome_json(const struct rebase *r)
{
	json *j = json_object();

	json_put_str(j, "outcome", str_of(rebase_word(r->fate)));
	json_put_str(j, "branch", str_of(r->branch));
	json_put_str(j, "target", str_of(r->target));
	json_put_str(j, "before", str_of(r->before ? r->before : ""));
	if (r->after)
		json_put_str(j, "after", str_of(r->after));
	if (r->onto)
		json_put_str(j, "onto", str_of(r->onto));
	if (r->paths)
		json_put(j, "paths", gate_paths_json(r->paths));
	json_put_int(j, "attempt", r->attempt);
	json_put_int(j, "fence", r->fence);
	json_put_bool(j, "repaired", r->repaired);
	if (r->kept)
		json_put_str(j, "kept", str_of(r->kept));
	return j;
}

static void put_text(struct buf *out, const struct rebase *r)
{
	switch (r->fate) {
	case REBASE_CURRENT:
		buf_addf(out, "current: '%s' has all of '%s', and origin has it\n", r->branch,
			r->target);
		break;
	case REBASE_PUSHED:
		buf_addf(out, "pushed: '%s' at %.12s, on '%s' at %.12s\n", r->branch, r->after,
			r->target, r->onto);
		break;
	case REBASE_CONFLICT:
		buf_addf(out, "suspended: '%s' does not rebase onto '%s', conflict %u:", r->branch,
			r->target, r->attempt);
		break;
	case REBASE_EXHAUSTED:
		buf_addf(out, "exhausted: '%s' did not rebase onto '%s' %u times%s", r->branch,
			r->target, r->attempt, r->paths ? ":" : "; --again tries once more\n");
		break;
	case REBASE_MOVED:
		buf_addf(out,
			"moved: '%s' on origin is not what this worktree knows: nothing is "
			"pushed over it\n",
			r->branch);
		break;
	}
	for (size_t i = 0; r->paths && r->paths[i]; i++)
		buf_addf(out, " %s%s", r->paths[i], r->paths[i + 1] ? "" : "\n");
}

static int exit_code(enum rebase_fate f)
{
	switch (f) {
	case REBASE_CURRENT:
	case REBASE_PUSHED:
		return 0;
	case REBASE_MOVED:
		return ERR_STATE;
	default:
		return ERR_CHECK;
	}
}

static int rebase(struct invocation *in, struct pool *p, const struct rebase_ask *ask,
	struct rebase *out, struct error *err)
{
	CLEANUP(gate_drop) struct gate *g = NULL;
	const char *who = in->args->value[GATE_WHO];
	unsigned wait_ms;
	int ttl_s, fd, rc;

	if (!who)
		who = arena_printf(in->arena, "rebase %.150s", ask->of->branch);
	if (gate_times(in, &wait_ms, &ttl_s, err) < 0 ||
		gate_take(in->arena, p, who, wait_ms, ttl_s, &g, err) < 0)
		return -1;
	if (interrupt_begin(&fd, err) < 0)
		return -1;
	gate_cancel_on(g, fd);
	rc = gate_rebase(in->arena, p, ask, g, out, err);
	interrupt_end();
	return rc;
}

int gate_run_rebase(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct allocation of;
	struct rebase_ask ask = {.of = &of,
		.target = in->args->value[GATE_TARGET],
		.issue = in->args->value[GATE_ISSUE],
		.again = in->args->value[GATE_AGAIN] != NULL};
	struct rebase r;
	int64_t attempts;

	if (in->args->n < 2)
		return error_set(err, ERR_USAGE, "'gate rebase' needs a branch");
	if (ask.issue && id_check(ask.issue, err) < 0)
		return -1;
	if (gate_number(in, GATE_ATTEMPTS, 1, 100, REBASE_ATTEMPTS, &attempts, err) < 0 ||
		pool_of(in, &p, err) < 0 || find(in, &p, in->args->words[1], &of, err) < 0)
		return -1;
	ask.attempts_max = (unsigned)attempts;
	if (rebase(in, &p, &ask, &r, err) < 0)
		return -1;
	if (r.kept)
		log_line("dev-team: what was written in '%s' meanwhile, such as '%s', is the stash "
			 "%.12s",
			of.path, r.kept_path, r.kept);
	if (in->args->value[GATE_JSON])
		put_line(in->out, outcome_json(&r));
	else
		put_text(in->out, &r);
	return exit_code(r.fate);
}
