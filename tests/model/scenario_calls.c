/* scenario_calls.c: one invocation of the program, the checks after it, and its line of the trace.
 */
#include <stdarg.h>
#include "context/file.h"
#include "src/base/clock.h"
#include "tests/model/scenario.h"

/* ---- the trace ---- */

static const char *const disk_fault_text[] = {
	[SIM_NONE] = "",
	[SIM_EIO] = "fails with EIO",
	[SIM_ENOSPC] = "finds the disk full",
	[SIM_HALF] = "fails half done",
	[SIM_STOP] = "is never made: the machine stops",
	[SIM_STOP_AFTER] = "is the last: the machine stops",
	[SIM_STOP_HALF] = "is half made: the machine stops",
};

static void begin_line(struct scenario *p)
{
	char now[CLOCK_TEXT];

	clock_text(p->simulator->now, now);
	buf_addf(p->trace, "%4u  %s  ", p->calls, now);
}

static void trace_call(struct scenario *p, const char *result)
{
	if (!p->trace)
		return;
	begin_line(p);
	buf_addf(p->trace, "%s\n", p->call_text.s);
	if (p->fired)
		buf_addf(p->trace, "      disk call %u %s\n", p->fault_at,
			disk_fault_text[p->fault]);
	buf_addf(p->trace, "      %s\n", p->stopped ? "the process was stopped" : result);
}

void scenario_note(struct scenario *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!p->trace)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	begin_line(p);
	buf_addf(p->trace, "%s\n", text);
}

static void trace_actions(struct buf *out, const json *actions)
{
	const json *first = json_first(actions);

	if (first && strcmp(json_get_str(first, "action"), "done") == 0) {
		buf_addf(out, "done: %s, %s", json_get_str(first, "result"),
			json_get_str(first, "reason"));
		return;
	}
	for (const json *a = first; a; a = json_next(a))
		buf_addf(out, "%s%s", a == first ? "requests " : ", ", json_get_str(a, "id"));
}

/* The beginning, on one line. */
static void trace_text(struct buf *out, struct str text)
{
	size_t n = text.n > 60 ? 60 : text.n;

	buf_addc(out, '"');
	for (size_t i = 0; i < n; i++)
		buf_addc(out,
			(unsigned char)text.p[i] < ' ' || (text.p[i] & 0x80) ? '.' : text.p[i]);
	buf_addf(out, "\"%s", n < text.n ? "..." : "");
}

/* ---- calls ---- */

/* About the number of disk calls of a step. */
enum { DISK_CALLS = 12 };

static void plan_fault(struct scenario *p)
{
	static const enum sim_fault kinds[] = {SIM_STOP, SIM_STOP_AFTER, SIM_STOP_HALF,
		SIM_STOP_HALF, SIM_EIO, SIM_ENOSPC, SIM_HALF};

	p->fault = SIM_NONE;
	p->fired = p->stopped = false;
	p->calls_before = sim_disk_calls(sim_disk_of(p->simulator));
	if (p->crash_at) {
		p->fault = SIM_STOP;
		p->fault_at = p->crash_at;
	} else if (!p->fault_free && random_chance(&p->random, p->rates.disk)) {
		p->fault = kinds[random_below(&p->random, COUNT(kinds))];
		p->fault_at = 1 + random_below(&p->random, DISK_CALLS);
	}
	p->oracle.faulty = p->fault != SIM_NONE;
	if (p->fault != SIM_NONE)
		sim_disk_plan(sim_disk_of(p->simulator), p->fault_at, p->fault);
}

static void count_disk_fault(struct scenario *p, bool power)
{
	if (p->stopped)
		count_fault(p, power ? FAULT_POWER : FAULT_KILL);
	else if (p->fault == SIM_HALF)
		count_fault(p, FAULT_HALF);
	else
		count_fault(p, p->fault == SIM_EIO ? FAULT_EIO : FAULT_ENOSPC);
}

/* Whether the fault was reached; restarts a machine that stopped. */
static void end_disk_fault(struct scenario *p)
{
	bool power;

	if (p->fault == SIM_NONE)
		return;
	p->fired = sim_disk_calls(sim_disk_of(p->simulator)) - p->calls_before >= p->fault_at;
	p->stopped = sim_disk_stopped(sim_disk_of(p->simulator));
	sim_disk_plan(sim_disk_of(p->simulator), 0, SIM_NONE);
	if (!p->fired && !p->stopped)
		return;
	power = p->stopped && (p->crash_at ? p->crash_power : random_chance(&p->random, 400));
	count_disk_fault(p, power);
	if (power && p->crash_at)
		sim_disk_seed(sim_disk_of(p->simulator), p->crash_power);
	if (p->stopped)
		sim_disk_restart(sim_disk_of(p->simulator), power);
}

/* After a successful call an edit by hand must be in the history. */
static void check_edit(struct audit *a, bool good)
{
	if (good && a->edited && !a->edit_seen)
		audit_fail(a, "an edit by hand is not in the history");
	if (good || a->edit_seen)
		a->edited = false;
}

/* The checks after each call, which returned `rc`. */
static int audit_call(struct scenario *p, int rc)
{
	struct audit *a = &p->audit;
	bool good = rc == 0 && !p->stopped, at_rest = !p->fired && !p->stopped;

	p->calls++;
	p->counts->calls++;
	if (p->plan->plant_fault)
		p->plan->plant_fault(p->simulator, p->calls);
	audit_read(a, sim_disk_of(p->simulator), p->journal, good);
	if (p->oracle.difference[0])
		audit_fail(a, "%s", p->oracle.difference);
	p->counts->answers += a->answers;
	check_edit(a, good);
	if (good && at_rest)
		audit_check_document(a, sim_disk_of(p->simulator), p->simulator->path);
	return good ? 0 : -1;
}

static void fail_unexpected(struct scenario *p, const char *what, const struct error *err)
{
	audit_fail(&p->audit, "%s without a cause: %.300s", what, err->text);
}

/* Another named owner certainly holds the work item. */
static bool is_held(const struct scenario *p, const char *owner)
{
	const struct audit *a = &p->audit;

	return a->owner[0] && !(owner && strcmp(a->owner, owner) == 0) &&
	       p->simulator->now < p->valid_until && !audit_is_final(a);
}

static bool may_be_held(const struct scenario *p, const char *owner)
{
	const struct audit *a = &p->audit;

	return !owner || !a->owner[0] || strcmp(a->owner, owner) != 0
		       ? p->simulator->now <= p->over_after
		       : false;
}

/*
 * A successful call by the owner renews the lease for its full time; a failed call may have renewed
 * it. A new fence begins a new lease.
 */
static void update_lease(struct scenario *p, const char *owner, bool surely)
{
	const struct audit *a = &p->audit;
	int64_t until = p->simulator->now + p->ttl;
	bool own = owner && strcmp(a->owner, owner) == 0;

	if (a->fence != p->fence || p->simulator->now >= p->valid_until)
		p->valid_until = 0; /* an expired lease may stay so when the clock is set back */
	if (until - 1 < p->valid_until) /* perhaps renewed by a clock that was set back */
		p->valid_until = until - 1;
	if ((own || a->fence != p->fence || p->simulator->now <= p->over_after) &&
		until >= p->over_after)
		p->over_after = until + 1;
	if (own && surely) {
		p->valid_until = until - 1;
		p->over_after = until + 1;
	}
	p->fence = a->fence;
}

static bool outcomes_are_good(const struct scenario *p)
{
	const struct simulator_environment *w = &p->simulator->environment;

	return w->specs == 1 && !w->find_fails && !w->commit_fails && !w->push_fails &&
	       !w->enter_fails;
}

/* A step must not fail without an injected fault or another owner. */
static void step_failed(struct scenario *p, bool may_hold, const struct error *err)
{
	p->counts->refused += err->code == ERR_STATE;
	if (p->fired || p->unreadable || !outcomes_are_good(p))
		return;
	if (err->code != ERR_STATE || !may_hold)
		fail_unexpected(p, "a step is refused", err);
}

/* All printed actions are on the disk and belong to the caller. */
static void check_printed(struct scenario *p, const struct loop *l, const json *actions)
{
	for (const json *x = json_first(actions); x; x = json_next(x)) {
		const char *id = json_get_str(x, "id");

		if (id)
			audit_check_printed(&p->audit, id, l->owner, strcmp(id, p->running) == 0);
	}
}

static void describe_step(struct scenario *p, const struct simulator_call *c)
{
	buf_clear(&p->call_text);
	if (!p->trace)
		return;
	buf_addf(&p->call_text, "step%s%s%s%s%s%s", c->owner ? " --owner " : "",
		c->owner ? c->owner : "", c->take_over ? " --take-over" : "",
		c->cancel ? " (cancel)" : "", c->returned ? " --returned" : "",
		c->returned_id ? "=" : "");
	buf_adds(&p->call_text, c->returned_id ? c->returned_id : "");
}

static void trace_step(struct scenario *p, const json *actions, const struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!p->trace)
		return;
	if (actions)
		trace_actions(&text, actions);
	else
		buf_addf(&text, "exit %d: %s", (int)err->code, err->text);
	trace_call(p, text.s);
}

int scenario_step(struct scenario *p, const struct loop *l, const struct simulator_call *how,
	json **actions, struct error *err)
{
	struct simulator_call c = *how;
	bool was_held, may_hold;
	int rc;

	c.owner = l->owner;
	c.take_over = how->take_over && l->owner;
	scenario_set_outcomes(p);
	plan_fault(p);
	was_held = !c.take_over && is_held(p, l->owner);
	may_hold = !c.take_over && may_be_held(p, l->owner);
	/* What has ended is not cancelled: a person may have ended it. */
	may_hold |= c.cancel && (p->audit.edited || audit_is_final(&p->audit));
	describe_step(p, &c);
	*actions = NULL;
	rc = oracle_call(&p->oracle, p->simulator, &c, actions, err);
	end_disk_fault(p);
	trace_step(p, rc < 0 ? NULL : *actions, err);
	rc = audit_call(p, rc);
	update_lease(p, l->owner, rc == 0);
	if (rc < 0) {
		json_free(actions);
		if (!p->stopped)
			step_failed(p, may_hold, err);
		return -1;
	}
	if (was_held && !audit_is_final(&p->audit)) /* every caller is told the end */
		audit_fail(&p->audit, "'%s' steps while '%s' holds it",
			l->owner ? l->owner : "an unnamed caller", p->audit.owner);
	check_printed(p, l, *actions);
	return 0;
}

/* The outcomes of `record` that are correct. */
enum expected_result {
	EXPECT_TAKEN,
	EXPECT_REFUSED,
	EXPECT_KNOWN, /* as already recorded, or refused */
	EXPECT_EITHER,
};

static enum expected_result expected_of(const struct scenario *p, const struct submission *f)
{
	const struct audit *a = &p->audit;
	const struct audit_action *x = audit_find(a, f->id);

	if (p->unreadable || p->audit.edited || !a->exists)
		return EXPECT_EITHER;
	if (f->owner && a->owner[0] && strcmp(a->owner, f->owner) != 0)
		return x && x->ever_answered ? EXPECT_KNOWN : EXPECT_REFUSED;
	if (!x || !x->outstanding)
		return x && x->ever_answered ? EXPECT_KNOWN : EXPECT_REFUSED;
	if (x->by_hand)
		return EXPECT_EITHER;
	if (x->answered)
		return EXPECT_KNOWN;
	return f->valid ? EXPECT_TAKEN : EXPECT_REFUSED;
}

/* The path in a message that a text was kept. */
static bool kept_path(const struct error *err, char *path, size_t size)
{
	static const char words[] = "kept in ";
	const char *at = strstr(err->text, words);

	if (!at)
		return false;
	(void)snprintf(path, size, "%s", at + strlen(words));
	return true;
}

static void add_kept(struct scenario *p, const char *path, struct str text)
{
	struct kept_text *k = &p->kept[p->n_kept++];

	(void)snprintf(k->path, sizeof(k->path), "%s", path);
	digest_text(text, k->sum);
}

/* The text of a refused answer is kept, and the refusal is in the history. */
static void check_kept(struct scenario *p, const struct submission *f, const struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[512];

	if (!p->audit.exists || p->unreadable || p->audit.edited)
		return;
	if (p->audit.changed)
		audit_fail(&p->audit, "a refused answer to '%s' changes the document", f->id);
	if (!p->audit.refusals)
		audit_fail(&p->audit, "a refused answer to '%s' is not in the history: %.200s",
			f->id, err->text);
	if (!f->text.len)
		return;
	if (!kept_path(err, path, sizeof(path)) ||
		!sim_disk_get(sim_disk_of(p->simulator), path, &text) ||
		!str_eq(buf_str(&text), buf_str(&f->text)))
		audit_fail(&p->audit, "a refused answer to '%s' is not kept: %.200s", f->id,
			err->text);
	else if (p->n_kept < MAX_KEPT)
		add_kept(p, path, buf_str(&f->text));
}

static void check_record(struct scenario *p, const struct submission *f,
	enum expected_result expected, int rc, enum answer_outcome taken, const struct error *err)
{
	if (rc == 0 &&
		(expected == EXPECT_REFUSED || (expected == EXPECT_KNOWN && taken == ANSWER_TAKEN)))
		audit_fail(&p->audit, "an answer to '%s' is taken that must be refused", f->id);
	if (rc == 0 && taken == ANSWER_TAKEN && !p->audit.answers)
		audit_fail(&p->audit, "the answer to '%s' was acknowledged and is lost", f->id);
	if (rc == 0 || p->stopped)
		return;
	p->counts->refused++;
	if (p->fired)
		return;
	if (expected == EXPECT_TAKEN || err->code == ERR_SYSTEM)
		fail_unexpected(p, "a good answer is refused", err);
	check_kept(p, f, err);
}

static void describe_record(struct scenario *p, const struct submission *f)
{
	buf_clear(&p->call_text);
	if (!p->trace)
		return;
	buf_addf(&p->call_text, "record%s%s --action %s%s%s <<< ", f->owner ? " --owner " : "",
		f->owner ? f->owner : "", f->id, f->word[0] ? " --result " : "", f->word);
	trace_text(&p->call_text, buf_str(&f->text));
}

static void trace_result(struct scenario *p, int rc, const char *good, const struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!p->trace)
		return;
	if (rc == 0)
		buf_adds(&text, good);
	else
		buf_addf(&text, "exit %d: %s", (int)err->code, err->text);
	trace_call(p, text.s);
}

int scenario_record(struct scenario *p, struct submission *f, struct error *err)
{
	struct simulator_call call = {.owner = f->owner,
		.action = f->id,
		.word = f->word[0] ? f->word : NULL,
		.text = buf_str(&f->text)};
	enum answer_outcome taken;
	enum expected_result expected;
	int rc;

	plan_fault(p);
	expected = expected_of(p, f);
	describe_record(p, f);
	if (strcmp(p->running, f->id) == 0)
		p->running[0] = '\0';
	p->simulator->outcome = ANSWER_TAKEN;
	rc = oracle_call(&p->oracle, p->simulator, &call, NULL, err);
	taken = p->simulator->outcome;
	end_disk_fault(p);
	trace_result(
		p, rc, taken == ANSWER_AGAIN ? "recorded (already recorded)" : "recorded", err);
	rc = audit_call(p, rc);
	update_lease(p, f->owner, rc == 0);
	check_record(p, f, expected, rc, taken, err);
	return rc;
}

int scenario_set(struct scenario *p, const char *key, const char *value, struct error *err)
{
	struct simulator_call call = {.key = key, .text = str_of(value)};
	int rc;

	plan_fault(p);
	buf_clear(&p->call_text);
	buf_addf(&p->call_text, "context set %s <<< '%s'", key, value);
	rc = oracle_call(&p->oracle, p->simulator, &call, NULL, err);
	end_disk_fault(p);
	trace_result(p, rc, "set", err);
	rc = audit_call(p, rc);
	update_lease(p, NULL, false);
	if (rc < 0 && !p->fired && !p->stopped && !p->unreadable && p->audit.exists)
		fail_unexpected(p, "'context set' is refused", err);
	return rc;
}

static int put_back(struct scenario *p, struct str text, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	clock_fix(++p->simulator->now);
	if (context_open_on(
		    &f, p->simulator->backend, p->simulator->path, CONTEXT_MAY_CREATE, err) < 0 &&
		!f.store)
		return -1;
	(void)context_op(&f, "restore");
	return context_replace(&f, text, err);
}

int scenario_restore(struct scenario *p, struct error *err)
{
	CLEANUP(buf_release) struct buf good = BUF_INIT;
	int rc;

	buf_add(&good, buf_str(&p->earlier));
	plan_fault(p);
	buf_clear(&p->call_text);
	buf_adds(&p->call_text, "context restore");
	rc = put_back(p, buf_str(&good), err);
	end_disk_fault(p);
	trace_result(p, rc, "restored", err);
	rc = audit_call(p, rc);
	if (rc == 0)
		p->unreadable = false;
	else if (!p->fired && !p->stopped)
		fail_unexpected(p, "'context restore' is refused", err);
	return rc;
}
