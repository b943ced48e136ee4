#include "tests/model/protocol_internal.h"

/* Actions that one may still answer: those before the last few have the same future. */
enum { ANSWERABLE = 4 };

const char *const who_names[WHO_ALL] = {"A", "B", NULL};

void state_init(struct play *to, const struct simulate_plan *plan, struct simulate_sums *sums)
{
	*to = (struct play){.plan = plan, .sums = sums};
	run_begin(to);
	to->loops[0].owner = who_names[WHO_A];
	to->loops[1].owner = who_names[WHO_B];
}

void state_copy(struct play *to, const struct play *from)
{
	*to = *from;
	to->simulator = simulator_copy(from->simulator);
	if (to->plan->sabotage)
		to->plan->sabotage(to->simulator, 0);
	to->journal = arena_dup(&to->simulator->arena, str_of(from->journal));
	to->audit = (struct audit){0};
	audit_copy(&to->audit, &from->audit);
	to->said = (struct buf)BUF_INIT;
	to->earlier = (struct buf)BUF_INIT;
	memset(to->flights, 0, sizeof(to->flights));
}

void state_release(struct play *p)
{
	run_end(p);
}

static bool unsafe(const struct play *p)
{
	return p->audit.acknowledged != p->audit.journal.len || p->crashed;
}

unsigned moves_from(const struct play *p, struct move *moves)
{
	size_t n = p->audit.n, first = n > ANSWERABLE ? n - ANSWERABLE : 0;
	unsigned k = 0;

	for (unsigned char who = WHO_A; who <= WHO_B; who++) {
		moves[k++] = (struct move){.kind = MOVE_STEP, .who = who};
		moves[k++] = (struct move){.kind = MOVE_TAKE_OVER, .who = who};
		if (p->loops[who].last[0])
			moves[k++] = (struct move){.kind = MOVE_RETURNED, .who = who};
	}
	moves[k++] = (struct move){.kind = MOVE_STEP, .who = WHO_NOBODY};
	for (size_t i = first; i < n; i++)
		for (unsigned char who = WHO_A; who <= WHO_NOBODY; who++)
			moves[k++] = (struct move){
				.kind = MOVE_RECORD, .who = who, .action = (unsigned short)i};
	if (p->audit.owner[0] && p->simulator->now <= p->maybe)
		moves[k++] = (struct move){.kind = MOVE_CLOCK};
	if (unsafe(p))
		moves[k++] = (struct move){.kind = MOVE_BLACKOUT};
	return k;
}

static void step(struct play *p, const struct move *m)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	struct loop nobody = {0}, *l = m->who == WHO_NOBODY ? &nobody : &p->loops[m->who];
	struct simulator_call how = {.take_over = m->kind == MOVE_TAKE_OVER,
		.returned = m->kind == MOVE_RETURNED,
		.returned_id = m->kind == MOVE_RETURNED ? l->last : NULL};
	const char *id;

	if (call_step(p, l, &how, &array, &err) < 0) {
		if (p->stopped)
			l->last[0] = '\0';
		return;
	}
	id = json_get_str(json_first(array), "id");
	(void)snprintf(l->last, sizeof(l->last), "%s", id ? id : "");
}

/* Each says the same each time, and what no other says. */
static void record(struct play *p, const struct move *m)
{
	struct flight f = {.owner = who_names[m->who], .fit = true};
	struct error err = {0};

	memcpy(f.id, p->audit.actions[m->action].id, sizeof(f.id));
	buf_addf(&f.text, "passed: by %s\n{\"status\":\"passed\",\"action\":\"continue\"}",
		f.owner ? f.owner : "nobody");
	(void)call_record(p, &f, &err);
	buf_release(&f.text);
}

unsigned move_make(struct play *p, const struct move *m)
{
	unsigned before = sim_disk_calls(p->simulator->disk);

	p->turn++;
	p->crash_at = m->crash_at;
	p->crash_power = m->power;
	switch ((enum move_kind)m->kind) {
	case MOVE_CLOCK:
		p->simulator->now = p->maybe + 1;
		trace_note(p, "the lease runs out");
		break;
	case MOVE_BLACKOUT:
		world_blackout(p);
		p->crashed = false;
		break;
	case MOVE_RECORD:
		record(p, m);
		break;
	default:
		step(p, m);
	}
	p->crash_at = 0;
	if (p->stopped)
		p->crashed = !m->power;
	return sim_disk_calls(p->simulator->disk) - before;
}

/* Steps and good answers by one of them, until the end. */
static void walk_on(struct play *p, struct move first, struct protocol_sums *sums)
{
	p->fair = true;
	(void)move_make(p, &first);
	sums->progress++;
	if (!p->audit.fault[0] && !p->loops[first.who].last[0] && !audit_ended(&p->audit))
		audit_broken(&p->audit, "'%s' is locked out", who_names[first.who]);
	for (unsigned i = 0; i < 40 && !audit_ended(&p->audit) && !p->audit.fault[0]; i++) {
		struct move m = {.kind = MOVE_RETURNED, .who = first.who};

		for (size_t k = 0; k < p->audit.n; k++) {
			struct move r = {
				.kind = MOVE_RECORD, .who = first.who, .action = (unsigned short)k};

			if (p->audit.actions[k].outstanding && !p->audit.actions[k].answered)
				(void)move_make(p, &r);
		}
		(void)move_make(p, &m);
	}
	if (!audit_ended(&p->audit))
		audit_broken(&p->audit, "'%s' comes to no end", who_names[first.who]);
}

static void try_way(const struct play *p, struct move first, bool wait, struct protocol_sums *sums)
{
	struct play way;

	state_copy(&way, p);
	if (wait)
		way.simulator->now = way.maybe + 10;
	walk_on(&way, first, sums);
	if (way.audit.fault[0])
		audit_broken((struct audit *)&p->audit, "%s", way.audit.fault);
	state_release(&way);
}

void check_progress(const struct play *p, struct protocol_sums *sums)
{
	try_way(p, (struct move){.kind = MOVE_TAKE_OVER, .who = WHO_B}, false, sums);
	try_way(p, (struct move){.kind = MOVE_STEP, .who = WHO_A}, true, sums);
}
