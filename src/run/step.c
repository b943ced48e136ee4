#include "context/lease.h"
#include "src/machine/engine.h"
#include "src/policy/policy.h"
#include "src/run/run_internal.h"
#include "src/sys/path.h"
#include "steps/steps.h"

struct str run_action_state(const char *id)
{
	const char *first = strchr(id, '/'), *last = strrchr(id, '/');

	return last > first ? (struct str){first + 1, (size_t)(last - first - 1)} : str_of(id);
}

static int check_utf8(const char *what, const char *path, struct error *err)
{
	if (str_utf8_fault(str_of(path)))
		return error_set(err, ERR_USAGE, "the path of the %s is not UTF-8", what);
	return 0;
}

int run_step_resolve(struct arena *a, struct run_step_call *call, struct error *err)
{
	if (path_check_id(call->id, err) < 0)
		return -1;
	if (call->take_over && !call->owner)
		return error_set(err, ERR_USAGE, "--take-over needs --owner");
	if ((call->owner && lease_check_owner(call->owner, err) < 0) ||
		locate_repository(a, call->repo, &call->repo, err) < 0 ||
		locate_workflow(a, call->workflow, call->plugin_root, &call->workflow, err) < 0 ||
		locate_document(a, call->context_file, call->repo, call->id, &call->context_file,
			err) < 0 ||
		check_utf8("repository", call->repo, err) < 0 ||
		check_utf8("workflow", call->workflow, err) < 0)
		return -1;
	return check_utf8("context file", call->context_file, err);
}

static void log_text(void *data, const char *text)
{
	(void)data;
	error_log("dev-team: %s", text);
}

/* Each is recorded, like any answer, before the step reads it. */
static int take_results(struct arena *a, struct context_file *f, const struct run_step_call *call,
	struct error *err)
{
	for (size_t i = 0; call->results[i]; i++) {
		struct str all = str_of(call->results[i]);
		size_t eq = str_find(all, STR("="));
		struct answer_offer offer = {.id = arena_dup(a, str_sub(all, 0, eq)),
			.text = str_sub(all, eq + 1, all.n)};

		if (eq == all.n || !eq)
			return error_set(
				err, ERR_USAGE, "--result must be ACTION=TEXT, not '%.60s'", all.p);
		if (answer_record(f, &offer, err) < 0)
			return -1;
	}
	return 0;
}

static const char *research_skill(const struct run_step_call *call, const struct workflow *w)
{
	if (call->research_skill && *call->research_skill)
		return call->research_skill;
	return w->research_skill ? w->research_skill : "researcher-plan";
}

/* Warned once, before an agent costs money for work that cannot be validated. */
static void warn_of_validation(
	struct arena *a, const struct run_step_call *call, const struct workflow *w)
{
	if (call->agents_cost && !w->validate && workflow_state(w, "validating") &&
		!path_exists(path_join(a, call->repo, "scripts/validate.sh")))
		error_log("dev-team: no 'scripts/validate.sh' in '%s': validating will fail; write "
			  "it, or set 'validate' in the workflow",
			call->repo);
}

static int step_locked(struct arena *a, const struct run_step_call *call, struct context_file *f,
	const struct workflow *w, struct buf *out, struct error *err)
{
	const char *repo = call->repo;
	struct environment environment = environment_local;
	struct engine e = {.file = f,
		.workflow = w,
		.step_for = steps_find,
		.environment = &environment,
		.id = call->id,
		.research_skill = research_skill(call, w),
		.repo = call->repo,
		.returned = call->returned != NULL,
		.returned_id = call->returned && *call->returned ? call->returned : NULL,
		.owner = call->owner,
		.take_over = call->take_over};

	environment.data = &repo;
	environment.say = log_text;
	if (f->created)
		warn_of_validation(a, call, w);
	if (f->created && call->results)
		return error_set(
			err, ERR_STATE, "'%s' does not exist yet: nothing is outstanding", f->path);
	if (call->results && (engine_admit(&e, err) < 0 || take_results(a, f, call, err) < 0))
		return -1;
	return engine_step(&e, out, err);
}

int run_step(struct arena *a, const struct run_step_call *call, struct buf *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct workflow w;

	if (workflow_load(a, call->workflow, &w, err) < 0 ||
		context_open(&f, call->context_file, CONTEXT_MAY_CREATE, err) < 0)
		return -1;
	return step_locked(a, call, &f, &w, out, err);
}

/* A policy file of the repository is read when the script runs; the shipped names are known. */
static size_t check_policy(struct arena *a, const struct workflow *w, struct buf *out)
{
	const struct workflow_security *s = &w->security;
	struct policy policy;
	struct error err = {0};

	if (!s->policy || strchr(s->policy, '/') || str_ends(str_of(s->policy), ".yaml") ||
		str_ends(str_of(s->policy), ".yml") ||
		policy_load(a, s->policy, &policy, &err) == 0)
		return 0;
	buf_addf(out, "%s:%u:%u: %s\n", w->file, s->line, s->col, err.text);
	return 1;
}

size_t run_workflow_check(struct arena *a, const struct workflow *w, struct buf *out)
{
	size_t n = workflow_check(w, steps_builtin(), out);

	return n + check_policy(a, w, out);
}

/* A context_change. */
static int release_lease(struct context_file *f, void *owner, struct error *err)
{
	struct lease_holder h;

	if (lease_read(f, &h, err) < 0 || !lease_held_by(&h, owner))
		return -1;
	(void)context_op(f, "give back");
	lease_release(f, &h);
	return context_log(f, err);
}

void run_step_release_lease(const struct run_step_call *call)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	if (context_open(&f, call->context_file, CONTEXT_MUST_EXIST, &ignored) == 0)
		(void)context_update(&f, release_lease, (void *)(uintptr_t)call->owner, &ignored);
}
