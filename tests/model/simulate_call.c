#include "context/file.h"
#include "src/base/clock.h"
#include "tests/model/simulate_play.h"

/* A call to the disk that a fault may meet: the last of a step are about so many. */
enum { DISK_CALLS = 12 };

static void plan_fault(struct play *p)
{
	static const enum sim_fault kinds[] = {SIM_STOP, SIM_STOP_AFTER, SIM_STOP_HALF,
		SIM_STOP_HALF, SIM_EIO, SIM_ENOSPC, SIM_HALF};

	p->fault = SIM_NONE;
	p->fired = p->stopped = false;
	p->calls_before = sim_disk_calls(p->simulator->disk);
	if (p->crash_at) {
		p->fault = SIM_STOP;
		p->fault_at = p->crash_at;
	} else if (!p->fair && dice_chance(&p->dice, p->odds.disk)) {
		p->fault = kinds[dice_below(&p->dice, COUNT(kinds))];
		p->fault_at = 1 + dice_below(&p->dice, DISK_CALLS);
	}
	if (p->fault != SIM_NONE)
		sim_disk_plan(p->simulator->disk, p->fault_at, p->fault);
}

static void count_met(struct play *p, bool power)
{
	if (p->stopped)
		count_fault(p, power ? FAULT_POWER : FAULT_KILL);
	else if (p->fault == SIM_HALF)
		count_fault(p, FAULT_HALF);
	else
		count_fault(p, p->fault == SIM_EIO ? FAULT_EIO : FAULT_ENOSPC);
}

/* Was the fault met; what is left of the machine runs again. */
static void meet_fault(struct play *p)
{
	bool power;

	if (p->fault == SIM_NONE)
		return;
	p->fired = sim_disk_calls(p->simulator->disk) - p->calls_before >= p->fault_at;
	p->stopped = sim_disk_stopped(p->simulator->disk);
	sim_disk_plan(p->simulator->disk, 0, SIM_NONE);
	if (!p->fired && !p->stopped)
		return;
	power = p->stopped && (p->crash_at ? p->crash_power : dice_chance(&p->dice, 400));
	count_met(p, power);
	if (power && p->crash_at)
		sim_disk_seed(p->simulator->disk, p->crash_power);
	if (p->stopped)
		sim_disk_restart(p->simulator->disk, power);
}

/* An edit that no call had seen must be in the history now, whatever came of it since. */
static void check_edit(struct audit *a, bool good)
{
	if (good && a->edited && !a->hand_seen)
		audit_broken(a, "an edit by hand is not in the history");
	if (good || a->hand_seen)
		a->edited = false;
}

/* What holds after each call. `rc`: what it returned. */
static int look(struct play *p, int rc)
{
	struct audit *a = &p->audit;
	bool good = rc == 0 && !p->stopped, at_rest = !p->fired && !p->stopped;

	p->calls++;
	p->sums->calls++;
	if (p->plan->sabotage)
		p->plan->sabotage(p->simulator, p->calls);
	audit_read(a, p->simulator->disk, p->journal, good);
	p->sums->answers += a->answers;
	check_edit(a, good);
	if (good && at_rest)
		audit_document(a, p->simulator->disk, p->simulator->path);
	return good ? 0 : -1;
}

static void surprise(struct play *p, const char *what, const struct error *err)
{
	audit_broken(&p->audit, "%s without a reason: %.300s", what, err->text);
}

/* Somebody else by name holds it, and surely so. */
static bool held(const struct play *p, const char *owner)
{
	const struct audit *a = &p->audit;

	return a->owner[0] && !(owner && strcmp(a->owner, owner) == 0) &&
	       p->simulator->now < p->sure && !audit_ended(a);
}

static bool maybe_held(const struct play *p, const char *owner)
{
	const struct audit *a = &p->audit;

	return !owner || !a->owner[0] || strcmp(a->owner, owner) != 0
		       ? p->simulator->now <= p->maybe
		       : false;
}

/*
 * Who has called and was let in has the lease for its full time from now; whose call failed,
 * perhaps. What another's lease was says nothing about a new one.
 */
static void renewed(struct play *p, const char *owner, bool surely)
{
	const struct audit *a = &p->audit;
	int64_t until = p->simulator->now + p->ttl;
	bool own = owner && strcmp(a->owner, owner) == 0;

	if (a->fence != p->fence || p->simulator->now >= p->sure)
		p->sure = 0;     /* what was over may stay so when the clock is put back */
	if (until - 1 < p->sure) /* renewed by a clock that was put back, perhaps */
		p->sure = until - 1;
	if ((own || a->fence != p->fence || p->simulator->now <= p->maybe) && until >= p->maybe)
		p->maybe = until + 1;
	if (own && surely) {
		p->sure = until - 1;
		p->maybe = until + 1;
	}
	p->fence = a->fence;
}

static bool world_is_friendly(const struct play *p)
{
	const struct simulator_environment *w = &p->simulator->environment;

	return w->specs == 1 && !w->find_fails && !w->commit_fails && !w->push_fails;
}

/* A step that is let in by nobody's fault must succeed: nobody is locked out for ever. */
static void step_failed(struct play *p, bool maybe, const struct error *err)
{
	p->sums->refused += err->code == ERR_STATE;
	if (p->fired || p->broken_by_hand || !world_is_friendly(p))
		return;
	if (err->code != ERR_STATE || !maybe)
		surprise(p, "a step is refused", err);
}

/* All that is printed is on the disk, and nobody else's. */
static void check_printed(struct play *p, const struct loop *l, const json *actions)
{
	for (const json *x = json_first(actions); x; x = json_next(x)) {
		const char *id = json_get_str(x, "id");

		if (id)
			audit_printed(&p->audit, id, l->owner, strcmp(id, p->running) == 0);
	}
}

static void say_step(struct play *p, const struct simulator_call *c)
{
	buf_clear(&p->said);
	if (!p->trace)
		return;
	buf_addf(&p->said, "step%s%s%s%s%s", c->owner ? " --owner " : "", c->owner ? c->owner : "",
		c->take_over ? " --take-over" : "", c->returned ? " --returned" : "",
		c->returned_id ? "=" : "");
	buf_adds(&p->said, c->returned_id ? c->returned_id : "");
}

static void show_step(struct play *p, const json *actions, const struct error *err)
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

int call_step(struct play *p, const struct loop *l, const struct simulator_call *how,
	json **actions, struct error *err)
{
	struct simulator_call c = *how;
	bool was_held, maybe;
	int rc;

	c.owner = l->owner;
	c.take_over = how->take_over && l->owner;
	world_now(p);
	plan_fault(p);
	was_held = !c.take_over && held(p, l->owner);
	maybe = !c.take_over && maybe_held(p, l->owner);
	say_step(p, &c);
	*actions = NULL;
	rc = simulator_step(p->simulator, &c, actions, err);
	meet_fault(p);
	show_step(p, rc < 0 ? NULL : *actions, err);
	rc = look(p, rc);
	renewed(p, l->owner, rc == 0);
	if (rc < 0) {
		json_free(actions);
		if (!p->stopped)
			step_failed(p, maybe, err);
		return -1;
	}
	if (was_held && !audit_ended(&p->audit)) /* an end is told to everybody */
		audit_broken(&p->audit, "'%s' steps while '%s' holds it",
			l->owner ? l->owner : "somebody", p->audit.owner);
	check_printed(p, l, *actions);
	return 0;
}

/* What must become of an answer, before it is given. */
enum fate {
	MUST_BE_TAKEN,
	MUST_BE_REFUSED,
	MAY_BE_KNOWN, /* it is there already, or refused */
	MAY_BE_EITHER,
};

static enum fate fate_of(const struct play *p, const struct flight *f)
{
	const struct audit *a = &p->audit;
	const struct audit_action *x = audit_find(a, f->id);

	if (p->broken_by_hand || p->audit.edited || !a->exists)
		return MAY_BE_EITHER;
	if (f->owner && a->owner[0] && strcmp(a->owner, f->owner) != 0)
		return x && x->ever ? MAY_BE_KNOWN : MUST_BE_REFUSED;
	if (!x || !x->outstanding)
		return x && x->ever ? MAY_BE_KNOWN : MUST_BE_REFUSED;
	if (x->by_hand || (x->answered && x->wordless))
		return MAY_BE_EITHER;
	if (x->answered)
		return MAY_BE_KNOWN;
	return f->fit ? MUST_BE_TAKEN : MUST_BE_REFUSED;
}

/* Where the program said that it kept a text. */
static bool kept_in(const struct error *err, char *path, size_t size)
{
	static const char words[] = "kept in ";
	const char *at = strstr(err->text, words);

	if (!at)
		return false;
	(void)snprintf(path, size, "%s", at + strlen(words));
	return true;
}

static void kept_add(struct play *p, const char *path, struct str text)
{
	struct kept *k = &p->kept[p->n_kept++];

	(void)snprintf(k->path, sizeof(k->path), "%s", path);
	digest_text(text, k->sum);
}

/* What was offered and refused is not lost, and the history knows of it. */
static void check_kept(struct play *p, const struct flight *f, const struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[512];

	if (!p->audit.exists || p->broken_by_hand || p->audit.edited)
		return;
	if (p->audit.changed)
		audit_broken(&p->audit, "a refused answer to '%s' changes the document", f->id);
	if (!p->audit.refusals)
		audit_broken(&p->audit, "a refused answer to '%s' is not in the history: %.200s",
			f->id, err->text);
	if (!f->text.len)
		return;
	if (!kept_in(err, path, sizeof(path)) || !sim_disk_get(p->simulator->disk, path, &text) ||
		!str_eq(buf_str(&text), buf_str(&f->text)))
		audit_broken(&p->audit, "a refused answer to '%s' is not kept: %.200s", f->id,
			err->text);
	else if (p->n_kept < MAX_KEPT)
		kept_add(p, path, buf_str(&f->text));
}

static void check_record(struct play *p, const struct flight *f, enum fate fate, int rc,
	enum answer_fate taken, const struct error *err)
{
	if (rc == 0 && (fate == MUST_BE_REFUSED || (fate == MAY_BE_KNOWN && taken == ANSWER_TAKEN)))
		audit_broken(&p->audit, "an answer to '%s' is taken that must be refused", f->id);
	if (rc == 0 && taken == ANSWER_TAKEN && !p->audit.answers)
		audit_broken(&p->audit, "the answer to '%s' was acknowledged and is lost", f->id);
	if (rc == 0 || p->stopped)
		return;
	p->sums->refused++;
	if (p->fired)
		return;
	if (fate == MUST_BE_TAKEN || err->code == ERR_SYSTEM)
		surprise(p, "a good answer is refused", err);
	check_kept(p, f, err);
}

static void say_record(struct play *p, const struct flight *f)
{
	buf_clear(&p->said);
	if (!p->trace)
		return;
	buf_addf(&p->said, "record%s%s --action %s%s%s <<< ", f->owner ? " --owner " : "",
		f->owner ? f->owner : "", f->id, f->word[0] ? " --result " : "", f->word);
	trace_text(&p->said, buf_str(&f->text));
}

static void show(struct play *p, int rc, const char *good, const struct error *err)
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

int call_record(struct play *p, struct flight *f, struct error *err)
{
	enum answer_fate taken = ANSWER_TAKEN;
	enum fate fate;
	int rc;

	plan_fault(p);
	fate = fate_of(p, f);
	say_record(p, f);
	if (strcmp(p->running, f->id) == 0)
		p->running[0] = '\0';
	rc = simulator_record(p->simulator, f->owner, f->id, f->word[0] ? f->word : NULL,
		buf_str(&f->text), &taken, err);
	meet_fault(p);
	show(p, rc, taken == ANSWER_AGAIN ? "recorded (it was there already)" : "recorded", err);
	rc = look(p, rc);
	renewed(p, f->owner, rc == 0);
	check_record(p, f, fate, rc, taken, err);
	return rc;
}

int call_set(struct play *p, const char *key, const char *value, struct error *err)
{
	int rc;

	plan_fault(p);
	buf_clear(&p->said);
	buf_addf(&p->said, "context set %s <<< '%s'", key, value);
	rc = simulator_set(p->simulator, key, str_of(value), err);
	meet_fault(p);
	show(p, rc, "set", err);
	rc = look(p, rc);
	renewed(p, NULL, false);
	if (rc < 0 && !p->fired && !p->stopped && !p->broken_by_hand && p->audit.exists)
		surprise(p, "'context set' is refused", err);
	return rc;
}

static int restore(struct play *p, struct str text, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	clock_fix(++p->simulator->now);
	if (context_open_on(&f, p->simulator->disk, p->simulator->path, CONTEXT_MAY_CREATE, err) <
			0 &&
		!f.store)
		return -1;
	(void)context_op(&f, "restore");
	return context_replace(&f, text, err);
}

int call_restore(struct play *p, struct error *err)
{
	CLEANUP(buf_release) struct buf good = BUF_INIT;
	int rc;

	buf_add(&good, buf_str(&p->earlier));
	plan_fault(p);
	buf_clear(&p->said);
	buf_adds(&p->said, "context restore");
	rc = restore(p, buf_str(&good), err);
	meet_fault(p);
	show(p, rc, "restored", err);
	rc = look(p, rc);
	if (rc == 0)
		p->broken_by_hand = false;
	else if (!p->fired && !p->stopped)
		surprise(p, "'context restore' is refused", err);
	return rc;
}
