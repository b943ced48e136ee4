#include "src/base/error.h"
#include "context/lease.h"
#include "src/event/run_state.h"
#include "src/base/clock.h"
#include "src/run/run_serving.h"

static void write_state(const struct staff *s, const char *stage, enum run_status status)
{
	struct run_state now = {
		.issue = s->id, .stage = stage, .status = status, .worktree = s->repo};
	struct arena a = {0};
	struct error ignored;
	struct run_state was;
	bool there = false;

	if (run_state_read(&a, s->artifacts, s->id, &was, &there, &ignored) == 0 && there &&
		was.status == RUN_RUNNING)
		now.started = was.started;
	if (!now.started)
		now.started = clock_now();
	(void)run_state_write(s->artifacts, &now, &ignored);
	arena_release(&a);
}

void staff_state(const struct staff *s, const char *stage, enum run_status status)
{
	write_state(s, stage, status);
}

/* An agent may work longer than the lease of the work item lasts without an answer. */
static void keep_lease(const struct staff *s)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct holder h;

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live || h.until - clock_now() > h.ttl_s / 2)
		return;
	(void)context_op(&f, "run");
	lease_renew(&f, &h);
	(void)context_log(&f, &ignored);
}

void serving_listen(void *data, const struct harness_event *e)
{
	struct serving *s = data;
	int64_t now = clock_now();
	struct error ignored;

	(void)e;
	if (now >= s->beaten && now - s->beaten < HEARTBEAT_S)
		return;
	s->beaten = now;
	write_state(s->staff, s->stage, RUN_RUNNING);
	keep_lease(s->staff);
	/* One that has lost it is ended by who took it: its processes carry the hold. */
	if (s->gate)
		(void)gate_check(s->gate, &ignored);
}

static json *note_of(
	const struct serving *s, const struct harness *h, const struct harness_result *r)
{
	static const struct usage_member members[] = {{USAGE_MS, "ms"},
		{USAGE_INPUT, "input_tokens"}, {USAGE_OUTPUT, "output_tokens"},
		{USAGE_COST, "cost_usd"}, {0}};
	json *note = json_object();

	json_put_str(note, "action", str_of(s->id));
	json_put_str(note, "harness", str_of(h ? harness_name(h) : ""));
	if (r->model)
		json_put_str(note, "model", str_of(r->model));
	json_put_str(note, "status", str_of(harness_status_name(r->status)));
	if (r->detail)
		json_put_str(note, "detail", str_of(r->detail));
	usage_put(note, &r->usage, members, false);
	return note;
}

static int none_left(const struct serving *s, const struct harness_result *r, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < s->chain.effective.n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", s->chain.effective.list[i]);
	return error_set(err, ERR_SYSTEM, "no harness can be used for '%s' (%s): %.600s", s->id,
		names.s ? names.s : "none declared", r->detail ? r->detail : "unavailable");
}

int serving_ended(struct serving *s, const struct harness *h, const struct harness_result *r,
	struct str text, struct served *out, struct error *err)
{
	if (!h)
		return none_left(s, r, err);
	if (chain_record(s->staff->artifacts, s->staff->id, s->stage, h, &s->chain, r, err) < 0)
		return -1;
	out->note = note_of(s, h, r);
	out->answered = r->status == HARNESS_SUCCESS && str_trim(text).n;
	out->text = text;
	out->how = arena_printf(s->arena, "%s: %s", harness_name(h),
		r->status == HARNESS_SUCCESS ? "no answer" : harness_status_name(r->status));
	if (r->status != HARNESS_SUCCESS && r->detail)
		log_line("dev-team: %s on %s: %s: %.400s", s->id, harness_name(h),
			harness_status_name(r->status), r->detail);
	return 0;
}
